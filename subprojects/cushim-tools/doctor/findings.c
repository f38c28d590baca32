/* SPDX-License-Identifier: MIT */
/* Adds findings: their texts, and the line that a person reads first. */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Keeps a text. If there is no room left, it is cut. */
CUSHIM_PRINTF(2, 0)
static char *keep_text(struct doctor *doctor, const char *format, va_list arguments)
{
    char *text = doctor->texts + doctor->text_size;
    size_t room = sizeof doctor->texts - doctor->text_size;
    int length = vsnprintf(text, room, format, arguments);
    size_t used = length < 0 ? 1 : (size_t)length + 1;
    doctor->text_size += used < room ? used : room - 1; /* the last byte is an empty text */
    return text;
}

/* Writes the begin of a sentence that fits a line: without what is in brackets, or up to a comma or a colon. */
static void shorten(const char *message, char *line, size_t size)
{
    size_t used = 0, end = 0;
    for (const char *c = message; *c != '\0' && used + 1 < size; c++) {
        if (strncmp(c, " (", 2) == 0 && strchr(c, ')') != NULL)
            c = strchr(c, ')') + 1;
        if (*c == '\0')
            break;
        if (strchr(",;:.", *c) != NULL && (c[1] == ' ' || c[1] == '\0'))
            end = used;
        if (*c == '.' && end == used)
            break;
        line[used++] = *c;
    }
    if (end == 0) /* one long word, such as a path */
        end = used < size - 3 ? used : size - 3;
    snprintf(line + end, size - end, "%s", end == size - 3 ? ".." : ".");
}

void doctor_find(struct doctor *doctor, const char *check, enum verdict verdict, const char *message, ...)
{
    enum { LINE_WIDTH = 80 - 9 }; /* after the mark of the verdict */
    struct finding *finding = &doctor->findings[doctor->count < MAX_FINDINGS ? doctor->count++ : MAX_FINDINGS - 1];
    va_list arguments;
    va_start(arguments, message);
    char *text = keep_text(doctor, message, arguments), *newline = strchr(text, '\n');
    va_end(arguments);
    *finding = (struct finding){
        .check = check,
        .verdict = verdict <= VERDICT_PROBLEM && doctor->started ? VERDICT_NOTE : verdict,
        .message = text,
        .advice = "",
        .evidence = newline != NULL ? newline + 1 : "",
    };
    bool is_long = verdict <= VERDICT_PROBLEM && strcspn(text, "\n") > LINE_WIDTH;
    if (newline != NULL)
        *newline = is_long ? ' ' : '\0';
    if (!is_long || sizeof doctor->texts - doctor->text_size <= LINE_WIDTH + 1)
        return;
    char *line = doctor->texts + doctor->text_size;
    shorten(text, line, LINE_WIDTH + 1);
    doctor->text_size += strlen(line) + 1;
    finding->message = line;
    finding->evidence = text;
}

void doctor_advise(struct doctor *doctor, const char *advice, ...)
{
    va_list arguments;
    va_start(arguments, advice);
    doctor->findings[doctor->count - 1].advice = keep_text(doctor, advice, arguments);
    va_end(arguments);
}
