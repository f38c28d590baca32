/* SPDX-License-Identifier: MIT */
/* The summary of a trace: how often and how long each function was called, and what went wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/slot.h"
#include "findings_text.h"
#include "../model/kernels.h"
#include "../model/places.h"
#include "report.h"

/* Durations are counted in classes, 32 for each power of two, so that a quantile is exact to 3 percent. */
enum { CLASS_BITS = 5, CLASSES = (64 - CLASS_BITS + 1) << CLASS_BITS, MAX_SHOWN = 10, MAX_ANSWERS = 16 };

struct function {
    size_t slot;
    uint64_t calls, errors, total;
    uint32_t *classes;
};

/* The calls from one module. */
struct caller {
    char *path;
    uint64_t calls, errors, total;
};

struct summary {
    struct trace_kernels kernels;
    struct caller *callers;
    size_t caller_count;
    struct function *functions;
    struct trace_failed *failures;
    size_t failure_count;
    struct usual_answer {
        const char *meaning;
        unsigned slot;
        uint64_t calls;
    } answers[MAX_ANSWERS];
    uint64_t calls, errors, total, begin, end; /* begin: of the first call */
};

static size_t class_of(uint64_t value)
{
    size_t shift = 0;
    while (value >> shift >= (size_t)2 << CLASS_BITS)
        shift++;
    return (shift << CLASS_BITS) + (size_t)(value >> shift);
}

/* The middle of a class. */
static uint64_t class_value(size_t index)
{
    if (index < (size_t)2 << CLASS_BITS)
        return index;
    size_t shift = (index >> CLASS_BITS) - 1;
    return ((uint64_t)(index - (shift << CLASS_BITS)) << shift) + ((uint64_t)1 << shift) / 2;
}

/* The duration that a share of the calls does not exceed. */
static uint64_t quantile(const struct function *function, double share)
{
    uint64_t returned = 0, seen = 0;
    for (size_t i = 0; i < CLASSES; i++)
        returned += function->classes[i];
    for (size_t i = 0; i < CLASSES; i++) {
        seen += function->classes[i];
        if ((double)seen >= share * (double)returned)
            return class_value(i);
    }
    return 0;
}

/* Returns false if there is not enough memory, and so does count_call(). */
static bool count_failure(struct summary *summary, const struct trace_call *call)
{
    size_t i = 0;
    while (i < summary->failure_count
           && (summary->failures[i].slot != call->slot || summary->failures[i].result != call->result))
        i++;
    if (i == summary->failure_count) {
        struct trace_failed *grown = realloc(summary->failures, (i + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        summary->failures = grown;
        grown[summary->failure_count++] = (struct trace_failed){call->slot, call->result, 0};
    }
    summary->failures[i].calls++;
    return true;
}

static void count_answer(struct summary *summary, const struct trace_call *call, const char *meaning)
{
    size_t i = 0;
    while (i < MAX_ANSWERS - 1 && summary->answers[i].meaning != NULL
           && (summary->answers[i].meaning != meaning || summary->answers[i].slot != call->slot))
        i++;
    summary->answers[i].meaning = meaning;
    summary->answers[i].slot = call->slot;
    summary->answers[i].calls++;
}

static bool count_call(struct summary *summary, const struct trace_reader *reader, const struct trace_call *call)
{
    struct function *function = &summary->functions[call->slot];
    uint64_t duration = call->end - call->begin;
    /* analyzer: trace_summary() frees the classes of every function */
    if (function->classes == NULL && (function->classes = calloc(CLASSES, sizeof *function->classes)) == NULL)
        return false;
    if (summary->calls++ == 0 || call->begin < summary->begin)
        summary->begin = call->begin;
    function->calls++;
    if (call->end > summary->end)
        summary->end = call->end;
    if (!call->returned)
        return true;
    function->total += duration;
    summary->total += duration;
    function->classes[class_of(duration)]++;
    const char *answer = trace_answer_of(reader, call);
    if (answer != NULL)
        count_answer(summary, call, answer);
    if (answer != NULL || call->result == CUDA_SUCCESS)
        return true;
    function->errors++;
    summary->errors++;
    return count_failure(summary, call);
}

/* Returns false if there is not enough memory. */
static bool count_caller(struct summary *summary, const struct trace_reader *reader, const struct trace_call *call)
{
    const struct trace_module *module = trace_module_find(reader, call->process, call->caller);
    const char *path = module == NULL || module->path[0] == '\0' ? "code of no file" : module->path;
    size_t i = 0;
    while (i < summary->caller_count && strcmp(summary->callers[i].path, path) != 0)
        i++;
    if (i == summary->caller_count) {
        struct caller *grown = realloc(summary->callers, (i + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        summary->callers = grown;
        grown[i] = (struct caller){.path = strdup(path)}; /* analyzer: trace_summary() frees the paths */
        if (grown[i].path == NULL)
            return false;
        summary->caller_count++;
    }
    summary->callers[i].calls++;
    summary->callers[i].errors += trace_has_failed(reader, call);
    summary->callers[i].total += call->end - call->begin;
    return true;
}

static int compare_functions(const void *a, const void *b)
{
    const struct function *one = a, *other = b;
    if (one->total != other->total)
        return one->total < other->total ? 1 : -1;
    return one->calls != other->calls ? (one->calls < other->calls ? 1 : -1) : (int)one->slot - (int)other->slot;
}

/* Whether the driver returns the sizes of arguments. */
static bool has_arguments(const struct trace_reader *reader)
{
    for (size_t i = 0; i < reader->slot_count; i++) {
        if (reader->slots[i].number == TRACE_FUNCTION_cuFuncGetParamInfo)
            return reader->slots[i].states[0] == CUSHIM_STATE_NATIVE;
    }
    return false;
}

static void print_summary_head(const struct trace_reader *reader, const struct summary *summary)
{
    const struct trace_header *header = reader->header;
    text_print(TONE_STRONG, "%s", header->command);
    printf("\n%" PRIu64 " call%s in %s, %" PRIu64 " failed, %zu process%s\n", summary->calls,
           trace_plural(summary->calls), trace_duration(summary->end - summary->begin).text, summary->errors,
           reader->process_count, reader->process_count == 1 ? "" : "es");
    const char *why = header->limit == TRACE_LIMIT_DISK       ? "the disk is full"
                      : header->limit == TRACE_LIMIT_RESOURCE ? "the process may not write a longer file (ulimit -f)"
                                                              : "there was no room (--size, --keep)";
    bool is_refused = header->is_refused != 0 && header->limit != TRACE_LIMIT_DISK;
    if (header->overwritten != 0)
        printf("%" PRIu64 " older calls are not in the file: %s\n", header->overwritten, why);
    if (header->dropped != 0)
        printf("%" PRIu64 " calls were not recorded: %s\n", header->dropped,
               is_refused ? "the system refused a process room in the file, as a sandbox can" : why);
    if (header->late != 0)
        printf("%" PRIu64 " calls of processes that outlived the program were not recorded: it had ended\n",
               header->late);
    if (header->interrupting != 0)
        printf("%" PRIu64 " calls of signal handlers were not recorded: they interrupted the recording of a call\n",
               header->interrupting);
    if (header->wants_arguments != 0 && summary->calls > 0 && !has_arguments(reader))
        puts("The arguments of kernels are not in the file: the driver is older than CUDA 12.4");
    if (header->lost_ranges != 0)
        printf("%" PRIu64 " beginnings or ends of ranges of NVTX were not recorded: there was no room, or a signal "
               "handler interrupted the recording of a call\n",
               header->lost_ranges);
    if (reader->damaged != 0)
        printf("%" PRIu64 " parts of the file are damaged, and calls in them are left out\n", reader->damaged);
}

static void print_functions(const struct trace_reader *reader, const struct summary *summary)
{
    printf("\n%8s %10s %10s %10s %10s %8s  function\n", "share", "total", "median", "99 %", "calls", "failed");
    for (size_t i = 0; i < reader->slot_count && summary->functions[i].calls > 0; i++) {
        const struct function *function = &summary->functions[i];
        printf("%6.1f %% %10s", summary->total > 0 ? 100 * (double)function->total / (double)summary->total : 0.0,
               trace_duration(function->total).text);
        printf(" %10s", trace_duration(quantile(function, 0.5)).text);
        printf(" %10s %10" PRIu64 " %8" PRIu64 "  ", trace_duration(quantile(function, 0.99)).text, function->calls,
               function->errors);
        text_put(TONE_PLAIN, reader->slots[function->slot].function, 0);
        puts("");
    }
}

static void print_failures(const struct trace_reader *reader, const struct summary *summary)
{
    if (summary->failure_count > 0)
        puts("\nFailed calls:");
    for (size_t i = 0; i < summary->failure_count; i++) {
        const struct trace_failed *failure = &summary->failures[i];
        printf("%10" PRIu64 "  ", failure->calls);
        text_print(TONE_BAD, "%s: %s", reader->slots[failure->slot].function, trace_result(failure->result).text);
        puts("");
    }
    if (summary->answers[0].meaning != NULL)
        puts("\nAnswers that are not failures:");
    for (size_t i = 0; i < MAX_ANSWERS && summary->answers[i].meaning != NULL; i++) {
        const struct usual_answer *answer = &summary->answers[i];
        printf("%10" PRIu64 "  ", answer->calls);
        text_print(TONE_PLAIN, "%s: %s", reader->slots[answer->slot].function, answer->meaning);
        puts("");
    }
}

/* The functions that the driver lacks. */
static void print_states(const struct trace_reader *reader, const struct summary *summary)
{
    bool has_title = false;
    for (size_t i = 0; i < reader->slot_count && summary->functions[i].calls > 0; i++) {
        const struct trace_slot *slot = &reader->slots[summary->functions[i].slot];
        unsigned char state = slot->states[0];
        if (state != CUSHIM_STATE_MISSING && state != CUSHIM_STATE_POLYFILL)
            continue;
        if (!has_title)
            puts("\nCalls of functions that this driver lacks:");
        has_title = true;
        printf("%10" PRIu64 "  ", summary->functions[i].calls);
        text_print(TONE_DOUBTFUL, "%s: %s", slot->function, slot_states[state].word);
        puts("");
    }
}

static int compare_callers(const void *a, const void *b)
{
    const struct caller *one = a, *other = b;
    return one->total != other->total ? (one->total < other->total ? 1 : -1) : strcmp(one->path, other->path);
}

static void print_callers(const struct summary *summary)
{
    size_t shown = summary->caller_count < MAX_SHOWN ? summary->caller_count : MAX_SHOWN;
    if (shown > 0)
        printf("\nCallers:\n%19s %32s %8s  module\n", "total", "calls", "failed");
    for (size_t i = 0; i < shown; i++) {
        const struct caller *caller = &summary->callers[i];
        printf("%19s %32" PRIu64 " %8" PRIu64 "  ", trace_duration(caller->total).text, caller->calls, caller->errors);
        text_put(TONE_PLAIN, caller->path, 0);
        puts("");
    }
    if (shown < summary->caller_count)
        printf("and %zu more\n", summary->caller_count - shown);
}

static void print_processes(const struct trace_reader *reader)
{
    if (reader->process_count < 2)
        return;
    puts("\nProcesses:");
    for (size_t i = 0; i < reader->process_count; i++) {
        const struct trace_process *process = &reader->processes[i];
        printf("%10ld  %10" PRIu64 " call%s  ", process->pid, process->calls, trace_plural(process->calls));
        text_print(TONE_PLAIN, "%s", process->command);
        puts("");
    }
}

static void print_summary(const struct trace_reader *reader, struct summary *summary,
                          const struct trace_findings *findings)
{
    print_summary_head(reader, summary);
    trace_print_verdict(reader, &findings->list, summary->failures, summary->failure_count);
    trace_print_comparison(&findings->orders, reader);
    trace_print_no_python(reader);
    trace_print_findings(reader, &findings->list, BAD, MAX_SHOWN);
    print_functions(reader, summary);
    print_callers(summary);
    trace_kernels_print(&summary->kernels, reader);
    print_failures(reader, summary);
    print_states(reader, summary);
    trace_print_findings(reader, &findings->list, NOTE, MAX_SHOWN);
    print_processes(reader);
}

static bool summary_read(struct summary *summary, struct trace_reader *reader, struct trace_findings *findings,
                         const struct trace_options *options)
{
    struct trace_call call;
    for (size_t i = 0; i < reader->slot_count; i++)
        summary->functions[i].slot = i;
    while (trace_next(reader, &call)) {
        if (!trace_findings_read(findings, &call)
            || (trace_selects(options, &findings->model, &call)
                && (!count_call(summary, reader, &call) || !count_caller(summary, reader, &call)
                    || !trace_kernels_read(&summary->kernels, &findings->model, &call))))
            return false;
    }
    return trace_findings_end(findings);
}

enum status trace_summary(struct trace_reader *reader, const struct trace_options *options)
{
    struct summary summary = {.functions = calloc(reader->slot_count + 1, sizeof *summary.functions)};
    struct trace_findings findings;
    bool has_memory = trace_findings_start(&findings, reader) && summary.functions != NULL
                      && summary_read(&summary, reader, &findings, options);
    if (!has_memory) {
        text_complain("trace: there is not enough memory");
    } else if (options->findings) {
        trace_print_verdict(reader, &findings.list, summary.failures, summary.failure_count);
        trace_print_comparison(&findings.orders, reader);
        trace_print_no_python(reader);
        trace_print_findings(reader, &findings.list, BAD, SIZE_MAX);
        trace_print_findings(reader, &findings.list, NOTE, SIZE_MAX);
    } else {
        qsort(summary.functions, reader->slot_count, sizeof *summary.functions, compare_functions);
        if (summary.caller_count > 0)
            qsort(summary.callers, summary.caller_count, sizeof *summary.callers, compare_callers);
        print_summary(reader, &summary, &findings);
    }
    for (size_t i = 0; summary.functions != NULL && i < reader->slot_count; i++)
        free(summary.functions[i].classes);
    for (size_t i = 0; i < summary.caller_count; i++)
        free(summary.callers[i].path);
    free(summary.callers);
    trace_kernels_free(&summary.kernels);
    free(summary.functions);
    free(summary.failures);
    trace_findings_free(&findings);
    return has_memory ? STATUS_USABLE : STATUS_UNUSABLE;
}
