/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform.h"
#include "text.h"
#include "version.h"

static const struct {
    const char *name;
    enum command command;
    size_t fewest_words, most_words;
} commands[] = {
    {"probe", COMMAND_PROBE, 0, 0},   {"table", COMMAND_TABLE, 0, 1},
    {"lookup", COMMAND_LOOKUP, 2, 2}, /* none with --all */
    {"doctor", COMMAND_DOCTOR, 0, 0}, {"run", COMMAND_RUN, 0, 0},
    {"exec", COMMAND_EXEC, 0, 0},
};

enum option {
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_DRIVER,
    OPTION_MAX_VERSION,
    OPTION_HIDE,
    OPTION_PER_THREAD,
    OPTION_ROOT,
    OPTION_FORMAT,
    OPTION_DEVICES,
    OPTION_REQUIRE,
    OPTION_REQUIRE_SLOT,
    OPTION_ALL,
    OPTION_SOFTCUDA,
    OPTION_LAYER
};

#define FOR(command) (1u << (command))
#define FOR_EVERY (~0u)
#define FOR_REPORT (FOR_EVERY & ~FOR(COMMAND_EXEC))

static const struct known_option {
    const char *name;
    enum option option;
    bool takes_value;
    unsigned commands; /* those that have the option */
} known_options[] = {
    {"--help", OPTION_HELP, false, FOR_EVERY},
    {"-h", OPTION_HELP, false, FOR_EVERY},
    {"--version", OPTION_VERSION, false, FOR_EVERY},
    {"-V", OPTION_VERSION, false, FOR_EVERY},
    {"--driver", OPTION_DRIVER, true, FOR_EVERY},
    {"--max-version", OPTION_MAX_VERSION, true, FOR_EVERY},
    {"--hide", OPTION_HIDE, true, FOR_EVERY},
    {"--per-thread", OPTION_PER_THREAD, false, FOR(COMMAND_PROBE) | FOR(COMMAND_TABLE) | FOR(COMMAND_LOOKUP)},
    {"--root", OPTION_ROOT, true, FOR_EVERY},
    {"--format", OPTION_FORMAT, true, FOR_REPORT},
    {"--devices", OPTION_DEVICES, false, FOR(COMMAND_PROBE)},
    {"--require", OPTION_REQUIRE, true, FOR(COMMAND_PROBE) | FOR(COMMAND_DOCTOR)},
    {"--require-slot", OPTION_REQUIRE_SLOT, true, FOR(COMMAND_PROBE)},
    {"--all", OPTION_ALL, false, FOR(COMMAND_LOOKUP)},
    {"--softcuda", OPTION_SOFTCUDA, true, FOR(COMMAND_RUN) | FOR(COMMAND_EXEC)},
    {"--layer", OPTION_LAYER, true, FOR(COMMAND_EXEC)},
};

enum status options_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_complain_list(format, arguments);
    va_end(arguments);
    fputs("Try: cushim --help\n", stderr);
    return STATUS_USAGE;
}

static enum status read_version(const char *option, const char *text, int *out_version)
{
    *out_version = cush_version_parse(text);
    return *out_version != 0 ? STATUS_USABLE
                             : options_complain("%s: \"%s\" is not a CUDA version such as 12.3", option, text);
}

static enum status read_format(const char *format, bool *out_json)
{
    if (strcmp(format, "json") != 0 && strcmp(format, "text") != 0)
        return options_complain("--format: \"%s\" is neither text nor json", format);
    *out_json = strcmp(format, "json") == 0;
    return STATUS_USABLE;
}

static enum status read_root(const char *root, const char **out_root)
{
    if (!platform_is_directory(root))
        return options_complain("--root: \"%s\" is not a directory", root);
    *out_root = root;
    return STATUS_USABLE;
}

static enum status read_slot(const char *name, struct options *options)
{
    enum cushim_slot slot;
    if (cushim_slot_find(name, &slot) != CUDA_SUCCESS)
        return options_complain("--require-slot: cushim has no slot \"%s\"; \"cushim table FILTER\" lists them", name);
    options->required_slots[options->required_slot_count++] = name;
    return STATUS_USABLE;
}

static enum status option_apply(struct options *options, const struct known_option *known, const char *value)
{
    switch (known->option) {
    case OPTION_HELP:
        options->help = true;
        break;
    case OPTION_VERSION:
        options->version = true;
        break;
    case OPTION_DRIVER:
        options->load.path = value;
        break;
    case OPTION_MAX_VERSION:
        return read_version(known->name, value, &options->load.max_version);
    case OPTION_HIDE:
        options->load.hide = value;
        break;
    case OPTION_PER_THREAD:
        options->kind = CUSHIM_DEFAULT_STREAM_PER_THREAD;
        break;
    case OPTION_ROOT:
        return read_root(value, &options->load.root);
    case OPTION_FORMAT:
        return read_format(value, &options->json);
    case OPTION_DEVICES:
        options->devices = true;
        break;
    case OPTION_REQUIRE:
        return read_version(known->name, value, &options->required_version);
    case OPTION_REQUIRE_SLOT:
        return read_slot(value, options);
    case OPTION_ALL:
        options->all = true;
        break;
    case OPTION_SOFTCUDA:
        options->softcuda = value;
        break;
    case OPTION_LAYER:
        options->layers[options->layer_count++] = value;
        break;
    }
    return STATUS_USABLE;
}

/* Finds the option that `argument` names, and the value after "=", or NULL. */
static const struct known_option *find_option(const char *argument, const char **out_value)
{
    size_t length = strcspn(argument, "=");
    *out_value = argument[length] == '=' ? argument + length + 1 : NULL;
    for (size_t i = 0; i < sizeof known_options / sizeof known_options[0]; i++) {
        if (strlen(known_options[i].name) == length && strncmp(known_options[i].name, argument, length) == 0)
            return &known_options[i];
    }
    return NULL;
}

static enum status read_word(struct options *options, const char *word)
{
    if (options->command != COMMAND_NONE) {
        if (options->word_count == MOST_WORDS)
            return options_complain("unexpected argument \"%s\"", word);
        options->words[options->word_count++] = word;
        return STATUS_USABLE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, word) == 0) {
            options->command = commands[i].command;
            return STATUS_USABLE;
        }
    }
    return options_complain("unknown command \"%s\"; the commands are probe, table, lookup, doctor, run and exec",
                            word);
}

/* The checks that need the whole command line. */
static enum status options_check(const struct options *options, unsigned used)
{
    if (options->command == COMMAND_NONE)
        return options_complain("a command is missing: probe, table, lookup, doctor, run or exec");
    for (size_t i = 0; i < sizeof known_options / sizeof known_options[0]; i++) {
        if ((used >> i & 1) != 0 && (known_options[i].commands & FOR(options->command)) == 0)
            return options_complain("this command has no option %s", known_options[i].name);
    }
    if (options->command == COMMAND_EXEC)
        return options->program != NULL && options->program[0] != NULL
                   ? STATUS_USABLE
                   : options_complain("exec: the program is missing: cushim exec -- PROGRAM ARGUMENTS");
    if (options->command == COMMAND_LOOKUP && options->all)
        return options->word_count == 0 ? STATUS_USABLE
                                        : options_complain("lookup: --all takes neither FUNCTION nor VERSION");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (commands[i].command != options->command)
            continue;
        if (options->word_count > commands[i].most_words)
            return options_complain("%s: unexpected argument \"%s\"", commands[i].name,
                                    options->words[commands[i].most_words]);
        if (options->word_count < commands[i].fewest_words)
            return options_complain("%s: FUNCTION and VERSION are missing (cuStreamQuery 12.3), or --all",
                                    commands[i].name);
    }
    return STATUS_USABLE;
}

enum status options_read(int argc, char **argv, struct options *out_options)
{
    struct options options = {.kind = CUSHIM_DEFAULT_STREAM_LEGACY};
    unsigned used = 0;
    bool only_words = false;
    /* Each name takes at least one element of argv, so that writing never overtakes reading. */
    options.required_slots = options.layers = (const char **)argv; /* no command has both */
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        const char *value = NULL;
        const struct known_option *known;
        enum status status;
        /* The program's own arguments are not read. */
        if (options.command == COMMAND_EXEC && (argument[0] != '-' || strcmp(argument, "--") == 0)) {
            options.program = argv + i + (argument[0] == '-');
            break;
        }
        if (only_words || argument[0] != '-' || argument[1] == '\0') {
            status = read_word(&options, argument);
        } else if (strcmp(argument, "--") == 0) {
            only_words = true;
            continue;
        } else if ((known = find_option(argument, &value)) == NULL) {
            status = options_complain("unknown option %s", argument);
        } else if (known->takes_value && value == NULL && i + 1 == argc) {
            status = options_complain("%s needs a value", known->name);
        } else if (!known->takes_value && value != NULL) {
            status = options_complain("%s takes no value", known->name);
        } else {
            if (known->takes_value && value == NULL)
                value = argv[++i];
            used |= 1u << (known - known_options);
            status = option_apply(&options, known, value);
        }
        if (status != STATUS_USABLE)
            return status;
        if (options.help || options.version)
            break;
    }
    enum status status = options.help || options.version ? STATUS_USABLE : options_check(&options, used);
    if (status == STATUS_USABLE)
        *out_options = options;
    return status;
}
