/* SPDX-License-Identifier: MIT */
/*
 * conformance - reports the behaviour of a CUDA driver, one line for each answer. The tests of the stream layer share
 * this main function.
 *
 *   conformance [--max-version 12.4] [--hide SLOT,SLOT...] [--per-thread] [--subject NAME]...
 *
 * Checks run in child processes. A crash or a hang is an answer ("crashed", "hung"), and the next checks run in a new
 * process. The driver is the one that cushim finds; CUSHIM_DRIVER selects another, and CONFORMANCE_DEVICE another
 * device than the first. Exit status: 0; 1 if an answer was unexpected; 77 if the machine has no driver or no device; 2
 * for an invalid argument.
 */
#if !defined(_WIN32)
#    define _GNU_SOURCE
#    include <sys/resource.h>
#    include <sys/wait.h>
#    include <unistd.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#if defined(_WIN32)
#    define popen _popen
#    define pclose _pclose
#    include <process.h>
#    include <windows.h>
#    define SHELL_PREFIX "\""
#    define SHELL_SUFFIX "\""
#else
#    define SHELL_PREFIX "exec "
#    define SHELL_SUFFIX ""
#endif

enum { MAX_SUBJECTS = 32, SECONDS_PER_CHECK = 20 };

struct options {
    int max_version;
    const char *hidden; /* slots, or NULL */
    bool per_thread;
    bool child; /* run checks in this process, */
    int from;   /* starting with this one */
    const char *only[MAX_SUBJECTS];
    int only_count;
};

static CUresult load(const struct options *options)
{
    struct cushim_load_options wanted = {
        .max_version = options->max_version,
        .hide = options->hidden,
    };
    CUresult result = cushim_load(&wanted);
    cu = options->per_thread ? cushim_table_per_thread() : cushim_table_legacy();
    cu_kind = options->per_thread ? CUSHIM_DEFAULT_STREAM_PER_THREAD : CUSHIM_DEFAULT_STREAM_LEGACY;
    return result;
}

static const struct check *find_check(int number)
{
    const struct check *check = check_list;
    while (check != NULL && number-- > 0)
        check = check->next;
    return check;
}

static bool is_alone(const struct check *check)
{
    return (check->flags & (CHECK_ALONE | CHECK_NO_INIT)) != 0;
}

static bool is_wanted(const struct options *options, const struct check *check)
{
    size_t length = strcspn(check->name, "."); /* of the name of its subject */
    for (int i = 0; i < options->only_count; i++) {
        if (strlen(options->only[i]) == length && strncmp(options->only[i], check->name, length) == 0)
            return true;
    }
    return options->only_count == 0;
}

/* Returns the next selected check, either of those with their own process or of the others; -1 at the end. */
static int next_check(const struct options *options, int from, bool alone)
{
    for (int i = from; find_check(i) != NULL; i++) {
        if (is_wanted(options, find_check(i)) && is_alone(find_check(i)) == alone)
            return i;
    }
    return -1;
}

/* The child: runs checks, and reports each one before it starts. */

static atomic_int beat;

void check_goes_on(void)
{
    atomic_fetch_add(&beat, 1);
}

static void *watch(void *unused)
{
    for (int last = -1, idle = 0; idle < SECONDS_PER_CHECK; idle++) {
        int now = atomic_load(&beat);
        if (now != last)
            idle = 0;
        last = now;
#if defined(_WIN32)
        Sleep(1000);
#else
        sleep(1);
#endif
    }
    printf("@hung\n");
    fflush(stdout);
    _exit(3);
}

/* Runs the ordinary checks from number `from` on, or only that one if it needs its own process. */
static int run_child(const struct options *options)
{
    pthread_t watcher;
#if !defined(_WIN32)
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
#endif
    if (load(options) != CUDA_SUCCESS)
        return 2;
    pthread_create(&watcher, NULL, watch, NULL);
    bool open = false;
    for (int i = options->from; find_check(i) != NULL; i++) {
        const struct check *check = find_check(i);
        if (!is_wanted(options, check) || (is_alone(check) && i != options->from))
            continue;
        printf("@check %d %s\n", i, check->name);
        fflush(stdout);
        check_goes_on();
        CUresult result = CUDA_SUCCESS;
        if ((check->flags & CHECK_NO_INIT) == 0 && !open)
            result = fixture_open();
        if (result != CUDA_SUCCESS) {
            printf("@unusable %d\n", (int)result);
            break;
        }
        open = true;
        check_run(check);
        if (is_alone(check))
            break;
        fixture_restore();
        destroy_objects();
    }
    printf("@broken %d\n@end\n", check_broken);
    fflush(stdout);
    return 0; /* leaks are searched for, and the coverage is written, at exit */
}

/* The parent: starts children and passes their answers on. It repeats those that fail at the end, because a runner may
 * show only the last lines. */

struct tally {
    int answers;
    int not_applicable;
    int broken;
    int lost; /* crashed or hung */
    int unusable;
    /* The number of checks by their outcome. */
    int passed;
    int failed;
    int skipped;
    char failures[8192];
    size_t failures_length;
};

static void note_failure(struct tally *tally, const char *name, const char *what)
{
    size_t space = sizeof tally->failures - tally->failures_length;
    int length = snprintf(tally->failures + tally->failures_length, space, "# failed: %s%s\n", name, what);
    if (length > 0 && (size_t)length < space)
        tally->failures_length += (size_t)length;
    else
        tally->failures[tally->failures_length] = '\0';
}

struct progress {
    int index; /* of the running check */
    char name[96];
    bool ended;
    bool hung;
    bool broken;  /* an answer was unexpected */
    bool skipped; /* the check is not applicable */
};

/* Called when the running check has ended. */
static void count_check(struct progress *progress, struct tally *tally, bool lost)
{
    if (progress->index >= 0)
        (*(progress->broken || lost ? &tally->failed : progress->skipped ? &tally->skipped : &tally->passed))++;
    progress->broken = progress->skipped = false;
}

static void parent_take_answer(const char *line, struct progress *progress, struct tally *tally)
{
    bool not_applicable = strstr(line, "\tnot-applicable") != NULL;
    tally->answers++;
    tally->not_applicable += not_applicable;
    if (strstr(line, "\texpected ") != NULL) {
        progress->broken = true;
        note_failure(tally, line, "");
    }
    progress->skipped |= not_applicable && strcspn(line, "\t") == strlen(progress->name);
    puts(line);
}

static void parent_take_line(char *line, struct progress *progress, struct tally *tally)
{
    int number = 0;
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] != '@') {
        parent_take_answer(line, progress, tally);
    } else if (strncmp(line, "@check ", 7) == 0) {
        count_check(progress, tally, false);
        (void)sscanf(line, "@check %d %95s", &progress->index, progress->name);
    } else if (sscanf(line, "@broken %d", &number) == 1) {
        tally->broken += number;
    } else if (sscanf(line, "@unusable %d", &number) == 1) {
        tally->unusable = number;
    } else if (strcmp(line, "@hung") == 0) {
        progress->hung = true;
    } else if (strcmp(line, "@end") == 0) {
        progress->ended = true;
    }
}

/* Runs a child to its end. Returns its status, or -1 if there is none. */
static int read_child(const char *command, struct progress *progress, struct tally *tally)
{
    char line[512];
    fflush(stdout);
    FILE *child = popen(command, "r");
    if (child == NULL)
        return -1;
    while (fgets(line, sizeof line, child) != NULL)
        parent_take_line(line, progress, tally);
    return pclose(child);
}

/* Runs checks from `from` on in one child. Returns the check to continue with after a crash, or -1. */
static int run_part(const char *self, const struct options *options, int from, struct tally *tally)
{
    char command[2048];
    struct progress progress = {.index = -1};
    int length = snprintf(command, sizeof command, "%s\"%s\" --child %d --max-version %d.%d%s", SHELL_PREFIX, self,
                          from, options->max_version / 1000, options->max_version % 1000 / 10,
                          options->per_thread ? " --per-thread" : "");
    if (options->hidden != NULL)
        length += snprintf(command + length, sizeof command - (size_t)length, " --hide %s", options->hidden);
    for (int i = 0; i < options->only_count && length < 1900; i++)
        length += snprintf(command + length, sizeof command - (size_t)length, " --subject %s", options->only[i]);
    snprintf(command + length, sizeof command - (size_t)length, "%s", SHELL_SUFFIX);
    int status = read_child(command, &progress, tally);
    if (progress.index < 0 && !progress.ended) /* rarely, Wine's shell does not find the program */
        status = read_child(command, &progress, tally);
    bool failed_at_exit = status != 0 && CHECK_STRICT;
    count_check(&progress, tally, !progress.ended || failed_at_exit);
    if (progress.ended && !failed_at_exit)
        return -1;
    tally->lost++;
    if (progress.ended) {
        check_print("exit", "failed", "expected nothing to be left");
        note_failure(tally, "exit", ": expected nothing to be left");
        return -1;
    }
    const char *name = progress.name[0] != '\0' ? progress.name : "start";
    check_print(name, progress.hung ? "hung" : "crashed", NULL);
    note_failure(tally, name, progress.hung ? ": hung" : ": crashed");
    return progress.index >= 0 ? progress.index + 1 : -1;
}

/* The ordinary checks share a process until one crashes; the others have one each. */
static void run_children(const char *self, const struct options *options, struct tally *tally)
{
    for (int from = next_check(options, 0, false); from >= 0 && tally->unusable == 0;) {
        from = run_part(self, options, from, tally);
        if (from >= 0)
            from = next_check(options, from, false);
    }
    for (int i = next_check(options, 0, true); i >= 0 && tally->unusable == 0; i = next_check(options, i + 1, true)) {
        if (check_is_applicable(find_check(i)))
            (void)run_part(self, options, i, tally);
        else
            tally->answers++, tally->not_applicable++, tally->skipped++;
    }
}

static int run_all(const char *self, const struct options *options)
{
    struct tally tally = {0};
    int version = 0;
    if (load(options) != CUDA_SUCCESS) {
        printf("# skipped: %s\n", cushim_diagnosis_get()->message);
        return 77;
    }
    (void)cu->DriverGetVersion_v1(&version);
    printf("# driver for CUDA %d, used as %d, %s default stream\n", cushim_diagnosis_get()->cuda_version, version,
           options->per_thread ? "per-thread" : "legacy");
    run_children(self, options, &tally);
    if (tally.unusable != 0) {
        printf("# skipped: the driver cannot be used here: %d\n", tally.unusable);
        return 77;
    }
    fputs(tally.failures, stdout);
    if (CHECK_STRICT)
        printf("# %d passed, %d failed, %d skipped\n", tally.passed, tally.failed, tally.skipped);
    else
        printf("# answers %d, not applicable %d, not as a check expects %d, crashed or hung %d\n",
               tally.answers - tally.not_applicable, tally.not_applicable, tally.broken, tally.lost);
    return tally.broken != 0 || (CHECK_STRICT && (tally.lost != 0 || tally.passed == 0));
}

static bool parse(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        int major;
        int minor;
        if (strcmp(argv[i], "--per-thread") == 0)
            options->per_thread = true;
        else if (i + 1 == argc)
            return false;
        else if (strcmp(argv[i], "--max-version") == 0 && sscanf(argv[i + 1], "%d.%d", &major, &minor) == 2)
            options->max_version = 1000 * major + 10 * minor, i++;
        else if (strcmp(argv[i], "--hide") == 0)
            options->hidden = argv[++i];
        else if (strcmp(argv[i], "--child") == 0)
            options->child = true, options->from = atoi(argv[++i]);
        else if (strcmp(argv[i], "--subject") == 0 && options->only_count < MAX_SUBJECTS)
            options->only[options->only_count++] = argv[++i];
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    if (!parse(argc, argv, &options)) {
        fprintf(stderr,
                "usage: conformance [--max-version 12.4] [--hide SLOT,SLOT...] [--per-thread] [--subject NAME]...\n");
        return 2;
    }
    return options.child ? run_child(&options) : run_all(argv[0], &options);
}
