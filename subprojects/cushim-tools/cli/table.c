/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdio.h>

#include "cushim/cushim.h"
#include "in_child.h"
#include "selected_driver.h"

static char character_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool text_contains(const char *text, const char *part)
{
    for (; *text != '\0' || *part == '\0'; text++) {
        size_t i = 0;
        while (part[i] != '\0' && character_lower(text[i]) == character_lower(part[i]))
            i++;
        if (part[i] == '\0')
            return true;
    }
    return false;
}

static const char *filter_of(const struct options *options)
{
    return options->argument_count > 0 ? options->arguments[0] : NULL;
}

/* Returns the first slot from `slot` on that the filter accepts, or CUSHIM_SLOT_COUNT. */
static int next_slot(int slot, const struct options *options, struct cushim_slot_info *info)
{
    const char *filter = filter_of(options);
    for (; slot < CUSHIM_SLOT_COUNT; slot++) {
        if (cushim_slot_get_info((enum cushim_slot)slot, options->kind, info) == CUDA_SUCCESS
            && (filter == NULL || text_contains(info->name, filter) || text_contains(info->function, filter)))
            break;
    }
    return slot;
}

static struct cushim_slot_info slot_info(enum cushim_slot slot)
{
    struct cushim_slot_info info = {.name = ""};
    (void)cushim_slot_get_info(slot, CUSHIM_DEFAULT_STREAM_LEGACY, &info);
    return info;
}

static void table_write(const struct options *options)
{
    struct json json = {0};
    struct cushim_slot_info info;
    json_open_array(&json, NULL);
    for (int slot = next_slot(0, options, &info); slot < CUSHIM_SLOT_COUNT;
         slot = next_slot(slot + 1, options, &info)) {
        json_open_object(&json, NULL);
        json_string(&json, "slot", info.name);
        json_string(&json, "function", info.function);
        json_integer(&json, "since", info.since);
        json_string(&json, "state", slot_states[info.state].word);
        json_string(&json, "symbol", info.symbol);
        json_open_array(&json, "via");
        for (size_t i = 0; i < info.via_count; i++)
            json_string(&json, NULL, slot_info(info.via[i]).name);
        json_close_array(&json);
        json_boolean(&json, "layered", info.is_layered);
        json_close_object(&json);
    }
    json_close_array(&json);
}

static void print_target(const struct cushim_slot_info *info)
{
    if (info->symbol != NULL)
        text_put(TONE_PLAIN, info->symbol, 0);
    else if (info->state == CUSHIM_STATE_NATIVE)
        text_put(TONE_FAINT, "(not exported by name)", 0);
    else if (info->state == CUSHIM_STATE_ADAPTED)
        text_put(TONE_FAINT, "(cushim answers)", 0);
    for (size_t i = 0; i < info->via_count; i++)
        text_print(TONE_PLAIN, "%s%s", i == 0 ? "via " : ", ", slot_info(info->via[i]).name);
    if (info->is_layered)
        text_put(TONE_DOUBTFUL, "  (layered)", 0);
}

static void table_print(const struct options *options)
{
    struct cushim_slot_info info;
    size_t width = 0;
    for (int slot = next_slot(0, options, &info); slot < CUSHIM_SLOT_COUNT; slot = next_slot(slot + 1, options, &info))
        width = text_wider(width, info.name);
    if (width == 0)
        return;
    text_put(TONE_STRONG, "SLOT", width + 2);
    text_put(TONE_STRONG, "SINCE", 7);
    text_put(TONE_STRONG, "STATE", 10);
    text_put(TONE_STRONG, "SYMBOL", 0);
    puts("");
    for (int slot = next_slot(0, options, &info); slot < CUSHIM_SLOT_COUNT;
         slot = next_slot(slot + 1, options, &info)) {
        const struct slot_state *state = &slot_states[info.state];
        text_put(TONE_PLAIN, info.name, width + 2);
        text_put(TONE_PLAIN, text_version(info.since).text, 7);
        text_put(state->tone, state->word, info.state == CUSHIM_STATE_MISSING ? 0 : 10);
        print_target(&info);
        puts("");
    }
}

static int table_answer(const struct options *options)
{
    enum status status = driver_load(options);
    if (status == STATUS_USAGE)
        return (int)status;
    call_answers();
    if (options->json)
        table_write(options);
    else
        table_print(options);
    if (status != STATUS_USABLE)
        driver_complain();
    struct cushim_slot_info info;
    if (next_slot(0, options, &info) == CUSHIM_SLOT_COUNT) {
        text_complain("no slot has \"%s\" in its name", filter_of(options));
        status = STATUS_UNUSABLE;
    }
    return (int)status;
}

enum status command_table(const struct options *options)
{
    return call_command(table_answer, options);
}
