/* SPDX-License-Identifier: MIT */
/* The log of failed calls: its lines, and the functions of the program that get them on the thread of the call. */
#include "calls.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "os_thread.h"

enum { LINE_SIZE = 160, MAX_LINES = 2, MAX_ENTRIES = 100, MAX_DUMP = 25600, MAX_CALLBACKS = 32 };

static struct entry {
    char text[LINE_SIZE + 48]; /* as a dump writes it */
} entries[MAX_ENTRIES];
static CUlogIterator entry_count; /* of all entries so far; the newest ones are kept */

static struct CUlogsCallbackEntry_st {
    CUlogsCallback function; /* NULL: free */
    void *user;
    unsigned running; /* threads that call it */
} callbacks[MAX_CALLBACKS];

static void entry_add(const struct thread *thread, const char *line)
{
    time_t now = time(NULL);
    const struct tm *utc = gmtime(&now); /* its buffer belongs to the thread with the lock */
    snprintf(entries[entry_count++ % MAX_ENTRIES].text, sizeof entries[0].text,
             "[%02d:%02d:%02d.%03u][%llu][CUDA][E] %.*s\n", utc->tm_hour, utc->tm_min, utc->tm_sec,
             (unsigned)(os_clock() / 1000000 % 1000), thread != NULL ? (unsigned long long)thread->id : 0,
             LINE_SIZE - 1, line);
}

/* Calls each function with each line, without the lock. */
static void callbacks_run(struct thread *thread, char (*lines)[LINE_SIZE], size_t count)
{
    struct CUlogsCallbackEntry_st called[MAX_CALLBACKS];
    thread->logging = true; /* a call that one of the functions makes is only added to the log */
    memcpy(called, callbacks, sizeof called);
    for (size_t i = 0; i < MAX_CALLBACKS; i++)
        callbacks[i].running += called[i].function != NULL;
    os_unlock();
    for (size_t line = 0; line < count; line++)
        for (size_t i = 0; i < MAX_CALLBACKS; i++)
            if (called[i].function != NULL)
                called[i].function(called[i].user, CU_LOG_LEVEL_ERROR, lines[line], strlen(lines[line]));
    os_lock();
    for (size_t i = 0; i < MAX_CALLBACKS; i++)
        callbacks[i].running -= called[i].function != NULL;
    thread->logging = false;
    os_wake_all(OS_OP_DONE);
}

void log_failure(const char *symbol, CUresult result)
{
    char lines[MAX_LINES][LINE_SIZE];
    const char *name = "unknown";
    size_t count = 0;
    struct thread *thread = thread_self();
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)
        return;
    (void)soft_GetErrorName_v1(result, &name);
    if (thread != NULL && thread->explanation[0] != '\0')
        snprintf(lines[count++], LINE_SIZE, "%s", thread->explanation);
    snprintf(lines[count++], LINE_SIZE, "Returning %d (%s) from %s", (int)result, name, symbol);
    for (size_t i = 0; i < count; i++)
        entry_add(thread, lines[i]);
    if (thread != NULL && !thread->logging)
        callbacks_run(thread, lines, count);
}

CUresult soft_LogsRegisterCallback_v1(CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback)
{
    if (callbackFunc == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    size_t i = 0;
    while (i < MAX_CALLBACKS && (callbacks[i].function != NULL || callbacks[i].running > 0))
        i++;
    if (i == MAX_CALLBACKS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    callbacks[i].function = callbackFunc;
    callbacks[i].user = userData;
    if (callback != NULL)
        *callback = &callbacks[i];
    return CUDA_SUCCESS;
}

/* Afterwards no other thread is in the function, so that it can be unmapped. The threads of a parent process do not
 * exist in its child. */
CUresult soft_LogsUnregisterCallback_v1(CUlogsCallbackHandle callback)
{
    size_t i = 0;
    while (i < MAX_CALLBACKS && &callbacks[i] != callback)
        i++;
    if (i == MAX_CALLBACKS || callback->function == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    callback->function = NULL;
    while (callback->running > (thread_self()->logging ? 1u : 0u) && !queue_is_forked())
        os_wait(OS_OP_DONE);
    return CUDA_SUCCESS;
}

CUresult soft_LogsCurrent_v1(CUlogIterator *iterator, unsigned int flags)
{
    if (iterator == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *iterator = entry_count;
    return CUDA_SUCCESS;
}

static const char truncated[] = "Older log messages are missing here.\n";

/* The first entry of a dump of at most `size` bytes with its null character, and whether older ones are missing. */
static CUlogIterator dump_find_first(const CUlogIterator *iterator, size_t size, bool *out_truncated)
{
    CUlogIterator wanted = iterator != NULL ? *iterator : 0;
    CUlogIterator first = entry_count;
    size_t used = sizeof truncated;
    while (first > wanted && entry_count - first < MAX_ENTRIES) {
        used += strlen(entries[(first - 1) % MAX_ENTRIES].text);
        if (used > size)
            break;
        first--;
    }
    *out_truncated = first > wanted;
    return first;
}

CUresult soft_LogsDumpToMemory_v1(CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags)
{
    bool is_truncated;
    if (buffer == NULL)
        thread_explain("buffer cannot be NULL");
    if (buffer == NULL || size == NULL || *size == 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUlogIterator first = dump_find_first(iterator, *size < MAX_DUMP ? *size : MAX_DUMP, &is_truncated);
    size_t used = 0;
    buffer[0] = '\0';
    *size = 0;
    if (is_truncated && first == entry_count)
        return CUDA_ERROR_INVALID_VALUE; /* not even the newest one fits */
    if (is_truncated)
        used += strlen(strcpy(buffer, truncated));
    for (; first != entry_count; first++)
        used += strlen(strcpy(buffer + used, entries[first % MAX_ENTRIES].text));
    *size = used;
    if (iterator != NULL)
        *iterator = entry_count;
    return CUDA_SUCCESS;
}

CUresult soft_LogsDumpToFile_v1(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)
{
    static char dump[MAX_DUMP];
    CUlogIterator next = iterator != NULL ? *iterator : 0;
    size_t size = sizeof dump;
    FILE *file = pathToFile != NULL && flags == 0 ? fopen(pathToFile, "w") : NULL;
    if (file == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = soft_LogsDumpToMemory_v1(&next, dump, &size, 0);
    bool written = fputs(dump, file) >= 0;
    if (fclose(file) != 0 || !written || result != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (iterator != NULL)
        *iterator = next;
    return CUDA_SUCCESS;
}
