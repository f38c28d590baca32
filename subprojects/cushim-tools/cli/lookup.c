/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"
#include "machine.h"
#include "in_child.h"
#include "selected_driver.h"

/* The stable names of the answers. */
static const char *const status_names[] = {
    [CUSHIM_LOOKUP_FOUND] = "found",
    [CUSHIM_LOOKUP_UNKNOWN] = "unknown",
    [CUSHIM_LOOKUP_SUFFIXED] = "suffixed",
    [CUSHIM_LOOKUP_TOO_NEW] = "too-new",
    [CUSHIM_LOOKUP_HIDDEN] = "hidden",
    [CUSHIM_LOOKUP_LIMITED] = "limited",
    [CUSHIM_LOOKUP_DRIVER_TOO_OLD] = "driver-too-old",
    [CUSHIM_LOOKUP_LACKING] = "lacking",
    [CUSHIM_LOOKUP_BAD_VERSION] = "bad-version",
    [CUSHIM_LOOKUP_NO_DRIVER] = "no-driver",
};

enum { VERSION_WIDTH = 9, ANSWER_WIDTH = 16, SINCE_WIDTH = 7 };

struct answer {
    const char *function;
    int version;
    enum cushim_lookup_status status;
    int since;           /* 0: not known */
    const char *symbol;  /* NULL: not found, or not exported by name */
    const char *message; /* why it was not found, or NULL; valid until the next lookup */
};

static struct answer answer_lookup(const char *function, int version, enum cushim_default_stream kind)
{
    struct answer answer = {.function = function, .version = version, .status = CUSHIM_LOOKUP_UNKNOWN};
    struct cushim_lookup_answer found;
    cushim_fn fn;
    if (cushim_lookup_explain(function, version, kind, &found) == CUDA_SUCCESS) {
        answer.status = found.status;
        answer.since = found.since;
    }
    if (cushim_lookup(function, version, kind, &fn) == CUDA_SUCCESS)
        answer.symbol = cushim_symbol_name(fn);
    else
        answer.message = cushim_error_last()->message;
    return answer;
}

static void write_answer(struct json *json, const struct answer *answer)
{
    json_open_object(json, NULL);
    json_string(json, "function", answer->function);
    json_integer(json, "version", answer->version);
    json_boolean(json, "found", answer->status == CUSHIM_LOOKUP_FOUND);
    json_string(json, "symbol", answer->symbol);
    json_string(json, "answer", status_names[answer->status]);
    json_known(json, "since", answer->since);
    json_string(json, "message", answer->message);
    json_close_object(json);
}

static void print_answer(const struct answer *answer, size_t width)
{
    bool found = answer->status == CUSHIM_LOOKUP_FOUND;
    text_put(TONE_PLAIN, answer->function, width + 2);
    text_put(TONE_PLAIN, text_version(answer->version).text, VERSION_WIDTH);
    text_put(found ? TONE_GOOD : TONE_BAD, status_names[answer->status], ANSWER_WIDTH);
    text_put(TONE_PLAIN, answer->since != 0 ? text_version(answer->since).text : "-", found ? SINCE_WIDTH : 0);
    if (found && answer->symbol != NULL)
        text_put(TONE_PLAIN, answer->symbol, 0);
    else if (found)
        text_put(TONE_FAINT, "(not exported by name)", 0);
    puts("");
}

static void print_head(size_t width)
{
    text_put(TONE_STRONG, "FUNCTION", width + 2);
    text_put(TONE_STRONG, "VERSION", VERSION_WIDTH);
    text_put(TONE_STRONG, "ANSWER", ANSWER_WIDTH);
    text_put(TONE_STRONG, "SINCE", SINCE_WIDTH);
    text_put(TONE_STRONG, "SYMBOL", 0);
    puts("");
}

static enum status lookup_all(const struct options *options)
{
    struct cushim_entry_point entry;
    struct json json = {0};
    size_t width = 0;
    for (size_t i = 0; cushim_entry_point_get_info(i, &entry) == CUDA_SUCCESS; i++)
        width = text_wider(width, entry.function);
    if (options->json)
        json_open_array(&json, NULL);
    else
        print_head(width);
    for (size_t i = 0; cushim_entry_point_get_info(i, &entry) == CUDA_SUCCESS; i++) {
        struct answer answer = answer_lookup(entry.function, entry.since, options->kind);
        if (options->json)
            write_answer(&json, &answer);
        else
            print_answer(&answer, width);
    }
    if (options->json)
        json_close_array(&json);
    return STATUS_USABLE;
}

static enum status lookup_one(const struct options *options, int version)
{
    struct answer answer = answer_lookup(options->arguments[0], version, options->kind);
    if (options->json) {
        struct json json = {0};
        json_open_array(&json, NULL);
        write_answer(&json, &answer);
        json_close_array(&json);
    } else {
        size_t width = text_wider(strlen("FUNCTION"), answer.function);
        print_head(width);
        print_answer(&answer, width);
    }
    if (answer.status == CUSHIM_LOOKUP_FOUND)
        return STATUS_USABLE;
    if (answer.status != CUSHIM_LOOKUP_NO_DRIVER)
        lookup_complain(answer.message, answer.function);
    return STATUS_UNUSABLE;
}

static int lookup_answer(const struct options *options)
{
    int version = options->argument_count == 2 ? cush_version_parse(options->arguments[1]) : 0;
    if (options->argument_count == 2 && version == 0)
        return (int)text_refuse("\"%s\" is not a CUDA version such as 12.3", options->arguments[1]);
    enum status status = driver_load(options);
    if (status == STATUS_USAGE)
        return (int)status;
    call_answers();
    enum status answer = options->all   ? lookup_all(options)
                         : version == 0 ? lookup_versions(options)
                                        : lookup_one(options, version);
    if (status != STATUS_USABLE)
        driver_complain();
    return (int)(status == STATUS_USABLE ? answer : status);
}

enum status command_lookup(const struct options *options)
{
    return call_command(lookup_answer, options);
}
