/* SPDX-License-Identifier: MIT */
#include "option.h"

#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"
#include "devices.h"
#include "platform.h"
#include "machine.h"

static void *option_member(const struct option *option, struct options *options)
{
    return (char *)options + option->member;
}

static enum status read_flag(const struct option *option, const char *value, struct options *options)
{
    (void)value;
    *(bool *)option_member(option, options) = true;
    return STATUS_USABLE;
}

static enum status read_text(const struct option *option, const char *value, struct options *options)
{
    *(const char **)option_member(option, options) = value;
    return STATUS_USABLE;
}

static enum status read_version(const struct option *option, const char *value, struct options *options)
{
    int *version = option_member(option, options);
    *version = cush_version_parse(value);
    return *version != 0 ? STATUS_USABLE
                         : text_refuse("%s: \"%s\" is not a CUDA version such as 12.3 or a driver such as 550",
                                       option->name, value);
}

static enum status read_seconds(const struct option *option, const char *value, struct options *options)
{
    enum { MAX_DIGITS = 6 };
    size_t digits = strspn(value, "0123456789");
    if (digits == 0 || digits > MAX_DIGITS || value[digits] != '\0')
        return text_refuse("%s: \"%s\" is not a number of seconds", option->name, value);
    *(int *)option_member(option, options) = atoi(value);
    return STATUS_USABLE;
}

#if defined(CUSHIM_HAS_TRACE)
/* A number from 1, which can end with K, M or G. */
static enum status read_number(const struct option *option, const char *value, struct options *options)
{
    static const char units[] = "KMG";
    char *end;
    bool is_number = value[0] >= '0' && value[0] <= '9';
    unsigned long long number = strtoull(value, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (!is_number || number == 0 || number > (UINT64_MAX >> 1) >> shift || end[unit != NULL] != '\0')
        return text_refuse("%s: \"%s\" is not a number such as 4096 or 64M", option->name, value);
    *(uint64_t *)option_member(option, options) = (uint64_t)number << shift;
    return STATUS_USABLE;
}

/* Seconds, 0.25, as nanoseconds. */
static enum status read_time(const struct option *option, const char *value, struct options *options)
{
    char *end;
    double seconds = strtod(value, &end);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || !(seconds < 1e9))
        return text_refuse("%s: \"%s\" is not a number of seconds such as 0.25", option->name, value);
    *(uint64_t *)option_member(option, options) = (uint64_t)(seconds * 1e9 + 0.5);
    return STATUS_USABLE;
}

static enum status read_keep(const struct option *option, const char *value, struct options *options)
{
    bool first = strcmp(value, "first") == 0;
    *(bool *)option_member(option, options) = first;
    return first || strcmp(value, "newest") == 0
               ? STATUS_USABLE
               : text_refuse("%s: \"%s\" is neither newest nor first", option->name, value);
}
#endif

enum status option_refuse_format(const char *value)
{
    return text_refuse("--format: \"%s\" is not text or json (trace also has csv and html)", value);
}

static enum status read_format(const struct option *option, const char *value, struct options *options)
{
    (void)option;
    options->json = strcmp(value, "json") == 0;
    options->html = strcmp(value, "html") == 0;
    options->csv = strcmp(value, "csv") == 0;
    return options->json || options->html || options->csv || strcmp(value, "text") == 0 ? STATUS_USABLE
                                                                                        : option_refuse_format(value);
}

static enum status read_directory(const struct option *option, const char *value, struct options *options)
{
    *(const char **)option_member(option, options) = value;
    return platform_is_directory(value) ? STATUS_USABLE
                                        : text_refuse("%s: \"%s\" is not a directory", option->name, value);
}

static enum status read_layer(const struct option *option, const char *value, struct options *options)
{
    (void)option;
    options->names[options->name_count++] = value;
    return STATUS_USABLE;
}

static enum status refuse_name(const struct option *option, const char *value)
{
    static const char what[] =
        "a CUDA version such as 12.3, a driver such as 550, a condition such as arch>=7.5, a slot "
        "or a feature";
    const char *nearest = features_nearest(value);
    return nearest != NULL
               ? text_refuse("%s: \"%s\" is not %s; did you mean \"%s\"?", option->name, value, what, nearest)
               : text_refuse("%s: \"%s\" is not %s; \"cushim probe --devices\" lists the features, and "
                             "\"cushim table FILTER\" the slots",
                             option->name, value, what);
}

/* A condition. The newest of the versions that stand alone is kept. */
static enum status read_requirement(const struct option *option, const char *value, struct options *options)
{
    char message[CONDITION_MESSAGE_SIZE];
    size_t unused;
    int version = cush_version_parse(value);
    if (version > options->required_version)
        options->required_version = version;
    if (version != 0)
        return STATUS_USABLE;
    if (!cush_condition_is_one(value))
        return refuse_name(option, value);
    switch (cush_conditions_check(&value, 1, requirement_is_name, &unused, message, sizeof message)) {
    case CONDITION_RIGHT:
        return read_layer(option, value, options);
    case CONDITION_WRONG:
        return value[strcspn(value, "<>=")] != '\0' ? text_refuse("%s: %s", option->name, message)
                                                    : refuse_name(option, value);
    default:
        return refuse_name(option, value);
    }
}

/* Shows the feature alone. */
static enum status read_feature(const struct option *option, const char *value, struct options *options)
{
    if (features_know(value))
        *(const char **)option_member(option, options) = value;
    return read_requirement(option, value, options);
}

const struct option options_known[] = {
#define MEMBER(name) offsetof(struct options, name)
#define OPTION(name, value, kind, member, commands, help) {name, value, read_##kind, member, commands, help},
#include "options.inc"
#undef MEMBER
};

const struct option *option_find(const char *argument, const char **out_value)
{
    size_t length = strcspn(argument, "=");
    *out_value = argument[length] == '=' ? argument + length + 1 : NULL;
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strlen(options_known[i].name) == length && strncmp(options_known[i].name, argument, length) == 0)
            return &options_known[i];
    }
    return NULL;
}
