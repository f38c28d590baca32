/* SPDX-License-Identifier: MIT */
/* The text of settings: numbers, the items of lists, what a wrong name was meant to be, and the message about it. */
#include "control.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char refusal[512];

void control_refuse(const char *where, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(refusal, sizeof refusal, "%.80s: ", where);
    va_start(arguments, format);
    vsnprintf(refusal + length, sizeof refusal - (size_t)length, format, arguments);
    va_end(arguments);
    fprintf(stderr, "softcuda: %s\n", refusal);
}

const char *control_refusal(void)
{
    return refusal;
}

const char *digits_read(const char *text, uint64_t *out_number)
{
    char *end = NULL;
    errno = 0;
    *out_number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return errno == 0 ? end : NULL;
}

bool number_read(const char *text, uint64_t limit, uint64_t *out_number)
{
    uint64_t number;
    const char *end = digits_read(text, &number);
    if (end == NULL || *end != '\0' || number > limit)
        return false;
    *out_number = number;
    return true;
}

bool list_next(const char **text, char *out_item)
{
    const char *at = *text + strspn(*text, ", ");
    size_t length = strcspn(at, ",");
    *text = at + length;
    while (length > 0 && at[length - 1] == ' ')
        length--;
    snprintf(out_item, MAX_ITEM, "%.*s", (int)length, at);
    return length > 0;
}

/* How many letters must be added, removed or replaced to make one text of the other, in any case of letters. */
static size_t text_distance(const char *a, const char *b)
{
    size_t row[MAX_ITEM], length = strlen(b);
    if (length >= MAX_ITEM)
        return MAX_ITEM;
    for (size_t k = 0; k <= length; k++)
        row[k] = k;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < length; k++) {
            size_t changed = diagonal + (toupper((unsigned char)a[i]) != toupper((unsigned char)b[k]));
            size_t least = row[k] < row[k + 1] ? row[k] : row[k + 1];
            diagonal = row[k + 1];
            row[k + 1] = changed <= least ? changed : least + 1;
        }
    }
    return row[length];
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->text), most = length / 3, other = strlen(candidate);
    if (length > other + most || other > length + most)
        return; /* at least as many letters are added or removed */
    size_t distance = text_distance(nearest->text, candidate);
    if (distance > most || (nearest->found != NULL && distance >= nearest->distance))
        return;
    nearest->found = candidate;
    nearest->distance = distance;
}

void nearest_refuse(const struct nearest *nearest, const char *where, const char *problem)
{
    if (nearest->found != NULL)
        control_refuse(where, "\"%s\": %s; did you mean \"%s\"?", nearest->text, problem, nearest->found);
    else
        control_refuse(where, "\"%s\": %s", nearest->text, problem);
}
