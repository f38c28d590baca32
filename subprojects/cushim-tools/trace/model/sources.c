/* SPDX-License-Identifier: MIT */
#include "sources.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PROGRAMS = 16 };

extern char **environ;

/* A module, with an addr2line that answers questions about it, if it has symbols. */
static struct source {
    char *path;
    bool is_fixed; /* the file has the addresses of the process */
    pid_t program; /* 0: none */
    FILE *questions, *answers;
} sources[MAX_PROGRAMS];
static size_t source_count;

/* Whether a file is as it was when it was recorded, and has symbols. */
static bool file_examine(const struct trace_module *module, bool *out_is_fixed)
{
    int file = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    ElfW(Ehdr) head;
    ElfW(Shdr) section;
    bool has_symbols = false;
    bool is_same =
        file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size == module->size
        && (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec == module->modified
        && pread(file, &head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0
        && head.e_shentsize == sizeof section;
    for (size_t i = 0; is_same && !has_symbols && i < head.e_shnum; i++) {
        off_t at = (off_t)(head.e_shoff + i * sizeof section);
        has_symbols =
            pread(file, &section, sizeof section, at) == (ssize_t)sizeof section && section.sh_type == SHT_SYMTAB;
    }
    *out_is_fixed = is_same && head.e_type == ET_EXEC;
    if (file >= 0)
        close(file);
    return has_symbols;
}

static void program_start(struct source *source)
{
    int questions[2], answers[2];
    char *arguments[] = {"addr2line", "-f", "-C", "-s", "-e", source->path, NULL};
    posix_spawn_file_actions_t actions;
    if (pipe2(questions, O_CLOEXEC) != 0)
        return;
    if (pipe2(answers, O_CLOEXEC) != 0) {
        close(questions[0]);
        close(questions[1]);
        return;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, questions[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&source->program, arguments[0], &actions, NULL, arguments, environ) != 0)
        source->program = 0;
    posix_spawn_file_actions_destroy(&actions);
    close(questions[0]);
    close(answers[1]);
    source->questions = fdopen(questions[1], "we");
    source->answers = fdopen(answers[0], "re");
}

static void program_end(struct source *source)
{
    if (source->questions != NULL)
        fclose(source->questions);
    if (source->answers != NULL)
        fclose(source->answers);
    if (source->program > 0)
        waitpid(source->program, NULL, 0);
    source->questions = source->answers = NULL;
    source->program = 0;
}

static struct source *source_find(const struct trace_module *module)
{
    for (size_t i = 0; i < source_count; i++) {
        if (strcmp(sources[i].path, module->path) == 0)
            return &sources[i];
    }
    char *path = source_count < MAX_PROGRAMS ? strdup(module->path) : NULL;
    if (path == NULL)
        return NULL;
    struct source *source = &sources[source_count++];
    *source = (struct source){.path = path};
    if (file_examine(module, &source->is_fixed))
        program_start(source);
    return source;
}

/* Returns false if addr2line is not there, or has ended. */
static bool ask(struct source *source, uint64_t address, char *function, char *line, int size)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    bool is_answered = fprintf(source->questions, "0x%" PRIx64 "\n", address) > 0 && fflush(source->questions) == 0
                       && fgets(function, size, source->answers) != NULL && fgets(line, size, source->answers) != NULL;
    sigaction(SIGPIPE, &before, NULL);
    if (!is_answered)
        program_end(source);
    return is_answered;
}

bool trace_source_find(const struct trace_module *module, uint64_t address, char *text, size_t size)
{
    char function[1024], line[1024];
    struct source *source = source_find(module);
    /* The call is before the address to which it returns. */
    if (source == NULL || source->questions == NULL || source->answers == NULL
        || !ask(source, address - 1 - (source->is_fixed ? 0 : module->base), function, line, sizeof line))
        return false;
    function[strcspn(function, "\n")] = '\0';
    line[strcspn(line, " \n")] = '\0'; /* "foo.c:12 (discriminator 3)" */
    if (strcmp(function, "??") == 0)
        return false;
    bool has_line = line[0] != '?' && strchr(line, '?') == NULL;
    snprintf(text, size, "%.255s%s%.200s", function, has_line ? ", " : "", has_line ? line : "");
    return true;
}

void trace_sources_free(void)
{
    for (size_t i = 0; i < source_count; i++) {
        program_end(&sources[i]);
        free(sources[i].path);
    }
    source_count = 0;
}
