/* SPDX-License-Identifier: MIT */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "json.h"
#include "text.h"

struct answer {
    const char *function;
    int version;
    bool found;
    const char *symbol; /* NULL: none, or one without a name */
};

static struct answer ask(const char *function, int version)
{
    struct answer answer = {function, version, false, NULL};
    cushim_fn fn;
    if (cushim_lookup(function, version, &fn) == CUDA_SUCCESS) {
        answer.found = true;
        answer.symbol = cushim_symbol_name(fn);
    }
    return answer;
}

static void write_answer(struct json *json, const struct answer *answer)
{
    json_open_object(json, NULL);
    json_string(json, "function", answer->function);
    json_integer(json, "version", answer->version);
    json_boolean(json, "found", answer->found);
    json_string(json, "symbol", answer->symbol);
    json_close_object(json);
}

static void print_answer(const struct answer *answer, size_t width)
{
    text_put(TONE_PLAIN, answer->function, width + 2);
    text_put(TONE_PLAIN, text_version(answer->version).text, 9);
    text_put(answer->found ? TONE_GOOD : TONE_BAD, answer->found ? "found" : "missing", answer->found ? 9 : 0);
    if (answer->found && answer->symbol != NULL)
        text_put(TONE_PLAIN, answer->symbol, 0);
    else if (answer->found)
        text_put(TONE_FAINT, "(not exported by name)", 0);
    puts("");
}

static void print_head(size_t width)
{
    text_put(TONE_STRONG, "FUNCTION", width + 2);
    text_put(TONE_STRONG, "VERSION", 9);
    text_put(TONE_STRONG, "ANSWER", 9);
    text_put(TONE_STRONG, "SYMBOL", 0);
    puts("");
}

static enum status lookup_all(const struct options *options)
{
    struct cushim_entry_point entry;
    struct json json = {0};
    size_t width = 0;
    for (size_t i = 0; cushim_query_entry_point(i, &entry) == CUDA_SUCCESS; i++)
        width = text_wider(width, entry.function);
    if (options->json)
        json_open_array(&json, NULL);
    else
        print_head(width);
    for (size_t i = 0; cushim_query_entry_point(i, &entry) == CUDA_SUCCESS; i++) {
        struct answer answer = ask(entry.function, entry.since);
        if (options->json)
            write_answer(&json, &answer);
        else
            print_answer(&answer, width);
    }
    if (options->json)
        json_close_array(&json);
    return STATUS_USABLE;
}

/* A person may have an exported name at hand, which is no function. */
static void hint_at_function(const char *name)
{
    struct cushim_entry_point entry;
    for (size_t i = 0; cushim_query_entry_point(i, &entry) == CUDA_SUCCESS; i++) {
        bool is_symbol = strcmp(entry.symbol, name) == 0 || strcmp(entry.per_thread_symbol, name) == 0;
        if (is_symbol && strcmp(entry.function, name) != 0)
            text_complain("%s is an exported name; look up %s %s", name, entry.function,
                          text_version(entry.since).text);
    }
}

static enum status lookup_one(const struct options *options, int version)
{
    struct answer answer = ask(options->words[0], version);
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
    if (answer.found)
        return STATUS_USABLE;
    if (cushim_driver_version() != 0) {
        text_complain("%s", cushim_last_error()->message);
        hint_at_function(answer.function);
    }
    return STATUS_UNUSABLE;
}

enum status lookup(const struct options *options)
{
    int version = options->all ? 0 : options_parse_version(options->words[1]);
    if (!options->all && version == 0)
        return options_complain("\"%s\" is no CUDA version; one looks like 12.3", options->words[1]);
    enum status status = driver_load(options);
    if (status == STATUS_USAGE)
        return status;
    enum status answer = options->all ? lookup_all(options) : lookup_one(options, version);
    if (status == STATUS_USABLE)
        return answer;
    driver_complain();
    return status;
}
