/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../trace/file/format.h"
#include "../trace/report/report.h"

static const char default_file[] = "cushim.trace";

/* Finds the trace layer: in the build directory of this program, or where both are installed. */
static bool find_trace_layer(char *path, size_t size)
{
    static const char *const directories[] = {"../trace", CUSHIM_TRACE_DIRECTORY};
    char own[PLATFORM_PATH_SIZE], file[2 * PLATFORM_PATH_SIZE];
    if (!platform_own_directory(own, sizeof own))
        return false;
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        snprintf(file, sizeof file, "%s/%s/trace.so", own, directories[i]);
        if (platform_real_path(file, path, size))
            return true;
    }
    return false;
}

/* The program and its arguments, for the head of the report. */
static void join_words(char *const *words, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; words[i] != NULL && length < size - 1; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? " " : "", words[i]);
}

/* Makes the file, empty of calls, and names it in the environment of the program. */
static enum status make_file(const struct options *options, const char *path)
{
    char command[TRACE_COMMAND_SIZE], whole[PLATFORM_PATH_SIZE];
    uint64_t size = options->recording.size != 0 ? options->recording.size : (uint64_t)TRACE_DEFAULT_MEBIBYTES << 20;
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    join_words(options->program, command, sizeof command);
    bool made = file >= 0 && trace_file_make(file, size, !options->recording.keeps_first, command);
    int error = errno;
    if (file >= 0)
        close(file);
    if (!made || !platform_real_path(path, whole, sizeof whole)) {
        text_complain("trace: cannot write %s: %s", path, strerror(error));
        return STATUS_UNUSABLE;
    }
    return setenv("CUSHIM_TRACE", whole, 1) == 0 ? STATUS_USABLE : STATUS_UNUSABLE;
}

/* Runs the program in a child process, in which this program becomes it. Returns the status of wait(). */
static int run_child(const struct options *options)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        status = (int)command_exec(options);
        fflush(NULL);
        _exit(status);
    }
    /* The terminal sends these to the program as well, which decides. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 ? status : -1;
}

/* Ends the recording: cuts the room that was not used. */
static void cut_file(const char *path)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *mapped = file >= 0 ? mmap(NULL, TRACE_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (mapped != MAP_FAILED) {
        struct trace_header *header = mapped;
        /* Children of the program can still run. What they took is kept. */
        uint64_t taken = atomic_fetch_add(&header->taken, TRACE_CLOSED) & (TRACE_FULL - 1);
        if (taken > header->chunk_count)
            taken = header->chunk_count;
        if (ftruncate(file, (off_t)(TRACE_CHUNKS_AT + taken * TRACE_CHUNK_SIZE)) != 0)
            text_complain("trace: %s: %s", path, strerror(errno));
        munmap(mapped, TRACE_HEADER_SIZE);
    }
    if (file >= 0)
        close(file);
}

/* Prints the summary to stderr: stdout is the program's. */
static void print_summary(const char *path)
{
    const struct trace_options summary = {.file = NULL};
    fflush(stdout);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return;
    text_start();
    (void)trace_report(path, &summary);
    fflush(stdout);
}

/* Ends as the program did. */
static enum status end_as(int status)
{
    const struct rlimit no_core = {0, 0};
    if (!WIFSIGNALED(status))
        return (enum status)WEXITSTATUS(status);
    setrlimit(RLIMIT_CORE, &no_core); /* one is enough */
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return STATUS_UNUSABLE;
}

static enum status record(const struct options *options)
{
    struct options with_layer = *options;
    char layer[PLATFORM_PATH_SIZE];
    const char *path = options->trace.file != NULL ? options->trace.file : default_file;
    if (!find_trace_layer(layer, sizeof layer)) {
        text_complain("trace: the trace layer was not found beside this program");
        return STATUS_UNUSABLE;
    }
    enum status status = make_file(options, path);
    if (status != STATUS_USABLE)
        return status;
    /* On top of the other layers. The words "cushim" and "trace" of the command line leave room for it. */
    with_layer.names[with_layer.name_count++] = layer;
    int ended = run_child(&with_layer);
    if (ended == -1) {
        text_complain("trace: cannot start a process: %s", strerror(errno));
        return STATUS_UNUSABLE;
    }
    cut_file(path);
    print_summary(path);
    return end_as(ended);
}

/* Whether --stream names a stream: "3", "0x55d2a0", "legacy" or "per-thread". */
static bool is_stream(const char *text)
{
    bool is_hexadecimal = strncmp(text, "0x", 2) == 0;
    const char *digits = is_hexadecimal ? text + 2 : text;
    size_t length = strspn(digits, is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789");
    return (length > 0 && digits[length] == '\0') || strcmp(text, "legacy") == 0 || strcmp(text, "per-thread") == 0;
}

enum status command_trace(const struct options *options)
{
    enum { LEAST_SIZE = TRACE_CHUNKS_AT + TRACE_CHUNK_SIZE };
    bool reports = options->word_count > 0 && strcmp(options->words[0], "report") == 0;
    bool has_format = options->json || options->html;
    struct trace_options report = options->trace;
    if (has_format)
        report.format = options->json ? TRACE_FORMAT_JSON : TRACE_FORMAT_HTML;
    if (options->trace.calls + options->trace.findings + has_format > 1)
        return text_refuse("trace: --calls, --findings and --format exclude each other");
    if (options->trace.stream != NULL && !is_stream(options->trace.stream))
        return text_refuse("--stream: \"%s\" is not a stream such as 3, 0x55d2a0, legacy or per-thread",
                           options->trace.stream);
    if (options->recording.size != 0 && options->recording.size < LEAST_SIZE)
        return text_refuse("--size: the smallest size is %dK", LEAST_SIZE >> 10);
    if (options->program != NULL && options->program[0] != NULL && options->word_count == 0 && !has_format)
        return record(options);
    if (options->program == NULL && reports && options->word_count == 2)
        return trace_report(options->words[1], &report);
    return text_refuse("trace: use: cushim trace [-o FILE] -- PROGRAM ARGUMENTS, or: cushim trace report FILE");
}
