/* SPDX-License-Identifier: MIT */
/*
 * steps WORD...: a program that does what the words say, one after another:
 *
 *   rights   gives up those of root            root=DIRECTORY   goes there for ever
 *   memory   may not map more than 20 MB       load=FILE        opens a library, and goes on without it
 *   space=FILE  the same, in a namespace of its own
 *   open     opens the driver                  init             starts it
 *   context  makes a context                   copy             copies something into memory of the GPU
 *   fork     goes on in a child                run              runs another program
 *   visible=TEXT  sets CUDA_VISIBLE_DEVICES
 *   lookup   looks for a kernel of no module
 *   CODE     ends with this status             crash            reads from an address that nothing has
 *   name=TEXT  renames itself                  leave            ends by _exit()
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int call_fn(unsigned);
typedef int context_fn(void **context, unsigned flags, int device);
typedef int allocate_fn(unsigned long long *address, size_t size);
typedef int lookup_fn(void **function, void *module, const char *name);
typedef int copy_fn(unsigned long long address, const void *from, size_t size);

static void *driver;

/* A pointer to data becomes one to a function, as POSIX has it. */
#define CALL(type, name, ...)                                                                                          \
    do {                                                                                                               \
        type *function;                                                                                                \
        *(void **)&function = driver != NULL ? dlsym(driver, name) : NULL;                                             \
        if (function != NULL)                                                                                          \
            printf("%s: %d\n", name, function(__VA_ARGS__));                                                           \
    } while (0)

static void step(const char *word)
{
    static void *context, *kernel;
    static unsigned long long address;
    const char data[64] = {0};
    if (strcmp(word, "rights") == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
        perror(word);
    else if (strncmp(word, "root=", 5) == 0 && (chroot(word + 5) != 0 || chdir("/") != 0))
        perror(word);
    else if (strcmp(word, "memory") == 0)
        (void)setrlimit(RLIMIT_AS, &(struct rlimit){20000 << 10, 20000 << 10});
    else if (strncmp(word, "load=", 5) == 0 && dlopen(word + 5, RTLD_NOW) == NULL)
        printf("%s\n", dlerror());
    else if (strncmp(word, "space=", 6) == 0)
        driver = dlmopen(LM_ID_NEWLM, word + 6, RTLD_NOW);
    else if (strncmp(word, "visible=", 8) == 0)
        (void)setenv("CUDA_VISIBLE_DEVICES", word + 8, 1);
    else if (strcmp(word, "run") == 0 && system("true") != 0)
        perror(word);
    else if (strcmp(word, "fork") == 0 && fork() != 0) {
        (void)wait(NULL);
        exit(0);
    } else if (strcmp(word, "open") == 0)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    else if (strcmp(word, "init") == 0)
        CALL(call_fn, "cuInit", 0);
    else if (strcmp(word, "context") == 0)
        CALL(context_fn, "cuCtxCreate_v2", &context, 0, 0);
    else if (strcmp(word, "copy") == 0) {
        CALL(allocate_fn, "cuMemAlloc_v2", &address, sizeof data);
        CALL(copy_fn, "cuMemcpyHtoD_v2", address, data, sizeof data);
    } else if (strcmp(word, "lookup") == 0)
        CALL(lookup_fn, "cuModuleGetFunction", &kernel, NULL, "kernel");
    else if (strncmp(word, "name=", 5) == 0)
        (void)prctl(PR_SET_NAME, word + 5);
    else if (strcmp(word, "leave") == 0)
        _exit(0);
    else if (strcmp(word, "crash") == 0)
        raise(SIGSEGV);
    else if (word[0] >= '0' && word[0] <= '9')
        exit(atoi(word));
}

int main(int count, char **words)
{
    setbuf(stdout, NULL);
    for (int i = 1; i < count; i++)
        step(words[i]);
    return 0;
}
