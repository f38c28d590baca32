/* SPDX-License-Identifier: MIT */
/* lookup FUNCTION without a version: its ABI versions, and which of them its name means in <cuda.h>. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"

static const struct plain_name {
    const char *name;
    int version; /* the CUDA version of the first <cuda.h> with this meaning */
    const char *symbol;
} plain_names[] = {
#define CUSHIM_PLAIN_NAME(name, version, symbol) {#name, version, #symbol},
#include "plain_names.inc"
};

enum { PLAIN_NAME_COUNT = sizeof plain_names / sizeof plain_names[0], FIRST_VERSION_WIDTH = 7, PLAIN_WIDTH = 22 };

/* An entry point, and from which version on and before which one the name of the function means it; 0: none. */
struct name_meaning {
    struct cushim_slot_info info;
    const char *symbol;
    int from, until;
};

static void meaning_find(const char *function, struct name_meaning *meaning)
{
    meaning->from = meaning->until = 0;
    for (size_t i = 0; i < PLAIN_NAME_COUNT; i++) {
        if (strcmp(plain_names[i].name, function) != 0)
            continue;
        if (meaning->from != 0) {
            meaning->until = plain_names[i].version;
            return;
        }
        if (strcmp(plain_names[i].symbol, meaning->symbol) == 0)
            meaning->from = plain_names[i].version;
    }
}

/* Whether the name of a function means an entry point, as it can one of another function. */
static bool is_meant(const char *function, const struct cushim_entry_point *entry)
{
    if (strcmp(entry->function, function) == 0)
        return true;
    for (size_t i = 0; i < PLAIN_NAME_COUNT; i++) {
        if (strcmp(plain_names[i].name, function) == 0 && strcmp(plain_names[i].symbol, entry->symbol) == 0)
            return true;
    }
    return false;
}

/* Returns the first entry point from `index` on that belongs to a function; a negative number if there is none. */
static int next_meaning(int index, const struct options *options, struct name_meaning *meaning)
{
    struct cushim_entry_point entry;
    enum cushim_slot slot;
    for (; cushim_entry_point_get_info((size_t)index, &entry) == CUDA_SUCCESS; index++) {
        if (!is_meant(options->arguments[0], &entry) || cushim_slot_find(entry.symbol, &slot) != CUDA_SUCCESS
            || cushim_slot_get_info(slot, options->kind, &meaning->info) != CUDA_SUCCESS)
            continue;
        meaning->symbol = entry.symbol;
        meaning_find(options->arguments[0], meaning);
        return index;
    }
    return -1;
}

static void versions_write(const struct options *options)
{
    struct json json = {0};
    struct name_meaning meaning;
    json_open_array(&json, NULL);
    for (int i = next_meaning(0, options, &meaning); i >= 0; i = next_meaning(i + 1, options, &meaning)) {
        json_open_object(&json, NULL);
        json_string(&json, "slot", meaning.info.name);
        json_string(&json, "symbol", meaning.symbol);
        json_integer(&json, "since", meaning.info.since);
        json_known(&json, "plain_from", meaning.from);
        json_known(&json, "plain_until", meaning.until);
        json_string(&json, "state", slot_states[meaning.info.state].word);
        json_close_object(&json);
    }
    json_close_array(&json);
}

static void print_plain(const struct name_meaning *meaning)
{
    char text[64] = "-";
    if (meaning->until != 0)
        snprintf(text, sizeof text, "%s, before %s", text_version(meaning->from).text,
                 text_version(meaning->until).text);
    else if (meaning->from != 0)
        snprintf(text, sizeof text, "%s", text_version(meaning->from).text);
    text_put(TONE_PLAIN, text, PLAIN_WIDTH);
}

static void versions_print(const struct options *options)
{
    struct name_meaning meaning;
    size_t width = strlen("SYMBOL");
    for (int i = next_meaning(0, options, &meaning); i >= 0; i = next_meaning(i + 1, options, &meaning))
        width = text_wider(width, meaning.symbol);
    text_put(TONE_STRONG, "SYMBOL", width + 2);
    text_put(TONE_STRONG, "SINCE", FIRST_VERSION_WIDTH);
    text_put(TONE_STRONG, "PLAIN NAME FROM CUDA", PLAIN_WIDTH);
    text_put(TONE_STRONG, "STATE", 0);
    puts("");
    for (int i = next_meaning(0, options, &meaning); i >= 0; i = next_meaning(i + 1, options, &meaning)) {
        const struct slot_state *state = &slot_states[meaning.info.state];
        text_put(TONE_PLAIN, meaning.symbol, width + 2);
        text_put(TONE_PLAIN, text_version(meaning.info.since).text, FIRST_VERSION_WIDTH);
        print_plain(&meaning);
        text_put(state->tone, state->word, 0);
        puts("");
    }
}

void lookup_complain(const char *message, const char *function)
{
    struct cushim_entry_point entry;
    text_complain("%s", message);
    for (size_t i = 0; cushim_entry_point_get_info(i, &entry) == CUDA_SUCCESS; i++) {
        if (strcmp(entry.function + strlen("cu"), function) != 0)
            continue;
        text_complain("the driver's functions begin with \"cu\": lookup %s", entry.function);
        return;
    }
}

enum status lookup_versions(const struct options *options)
{
    struct name_meaning meaning;
    bool is_known = next_meaning(0, options, &meaning) >= 0;
    if (options->json)
        versions_write(options);
    else if (is_known)
        versions_print(options);
    if (!is_known) {
        char message[256];
        snprintf(message, sizeof message, "cushim knows no function \"%.128s\" of the driver", options->arguments[0]);
        lookup_complain(message, options->arguments[0]);
    }
    return is_known ? STATUS_USABLE : STATUS_UNUSABLE;
}
