/* SPDX-License-Identifier: MIT */
#include "demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The function of the C++ library, if this machine has that. */
static char *(*demangler(void))(const char *, char *, size_t *, int *)
{
    static char *(*function)(const char *, char *, size_t *, int *);
    static bool was_looked_up;
    if (!was_looked_up) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        void *symbol = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&function, &symbol, sizeof function);
        was_looked_up = true;
    }
    return function;
}

/*
 * "void ns::kernel<float, (Kind)1>(float*)" becomes "ns::kernel<float, (Kind)1>". The parameters are the last group in
 * parentheses, and the type of the result, which only templates have, ends with the last space outside of brackets.
 */
static void shorten(char *name)
{
    size_t end = strlen(name), start = 0;
    int depth = 0;
    if (end == 0 || name[end - 1] != ')')
        return;
    do {
        end--;
        depth += (name[end] == ')') - (name[end] == '(');
    } while (end > 0 && depth > 0);
    if (end == 0)
        return;
    name[end] = '\0';
    bool is_template = name[end - 1] == '>';
    for (size_t i = 0; is_template && i < end; i++) {
        depth += (strchr("<(", name[i]) != NULL) - (strchr(">)", name[i]) != NULL);
        if (depth == 0 && name[i] == ' ')
            start = i + 1;
    }
    memmove(name, name + start, end - start + 1);
}

char *trace_demangle(const char *name)
{
    int status = 0;
    char *(*function)(const char *, char *, size_t *, int *) = strncmp(name, "_Z", 2) == 0 ? demangler() : NULL;
    char *demangled = function != NULL ? function(name, NULL, NULL, &status) : NULL;
    if (demangled == NULL)
        return strdup(name);
    shorten(demangled);
    return demangled;
}
