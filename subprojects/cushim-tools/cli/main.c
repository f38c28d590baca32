/* SPDX-License-Identifier: MIT */
/* cushim - reports what the CUDA driver of this machine can do. This file reads the command line. */
#include "cli.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../doctor/program/program.h"
#include "../exec/launch.h"
#include "cushim/version.h"
#include "devices.h"
#include "option.h"
#include "platform.h"
#include "selected_driver.h"

static const struct command {
    const char *name;
    size_t min_arguments, max_arguments; /* its arguments that are not options; those of PROGRAM do not count */
    enum status (*run)(const struct options *options);
    const char *help;
} commands[] = {
#define COMMAND(name, min_arguments, max_arguments, help) {#name, min_arguments, max_arguments, command_##name, help},
#include "options.inc"
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* The man page of an installed program: by its name if `man` looks there, beside a directory of PATH, as in an active
 * environment of Python; otherwise by its file. */
static void print_manual(void)
{
    char own[PLATFORM_PATH_SIZE], item[PLATFORM_PATH_SIZE], file[PLATFORM_PATH_SIZE + 32],
        page[PLATFORM_PATH_SIZE] = "";
    const char *path = getenv("PATH");
    if (!platform_has_system_files() || !platform_own_directory(own, sizeof own))
        return;
    snprintf(file, sizeof file, "%s/../share/man/man1/cushim.1", own);
    (void)platform_real_path(file, page, sizeof page);
    while (path != NULL && text_next_item(&path, ":", item, sizeof item)) {
        if (strcmp(item, own) == 0)
            snprintf(page, sizeof page, "cushim");
    }
    if (page[0] != '\0')
        printf("More: man %s\n", page);
}

/* Those of a command; NULL: of every command. */
static void print_options(const char *command)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &options_known[i];
        bool is_shown = command == NULL || option->commands == NULL || text_list_has(option->commands, command);
        if (option->help != NULL && is_shown)
            printf("  %s %-*s  %s\n", option->name, (int)(17 - strlen(option->name)),
                   option->value != NULL ? option->value : "", option->help);
    }
}

static void print_command_help(const struct command *command)
{
    fputs(command->help, stdout);
    puts("\nCommon options:");
    print_options(command->name);
    puts("\ncushim --help shows every command.");
    print_manual();
}

static void print_help(void)
{
    puts("cushim - reports what the CUDA driver of this machine can do\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fputs(commands[i].help, stdout);
    puts("  cushim audit FILE|WHEEL|DIRECTORY...\n"
         "      Derives from a binary on which drivers and GPUs it runs: audit --help.\n"
         "      \"cushim NAME\" runs a program cushim-NAME beside cushim, as this one.");
    puts("\nCommon options (audit has its own):");
    print_options(NULL);
    puts("\n"
         "  cushim help COMMAND, cushim COMMAND --help (-h), cushim --version (-V)\n"
         "\n"
         "Exit status: 0 if the driver is usable and the requirements are met, 1 if not\n"
         "(probe without --devices: if it is certainly not usable), 2 if the command line\n"
         "is invalid or the answer is not known; with exec, trace and doctor -- PROGRAM,\n"
         "that of the program.");
    print_manual();
}

/* Writes the path of the program that is the command of this name, such as cushim-audit beside this program. */
static bool find_other_program(const char *name, char *path, size_t size)
{
    char directory[PLATFORM_PATH_SIZE];
    if (!platform_own_directory(directory, sizeof directory))
        return false;
    snprintf(path, size, "%s/cushim-%s", directory, name);
    return platform_exists(path);
}

/* The names of the commands as part of a sentence. */
static const char *command_names(void)
{
    static char names[128];
    char path[PLATFORM_PATH_SIZE + 64];
    bool has_audit = find_other_program("audit", path, sizeof path);
    size_t count = COMMANDS + has_audit;
    names[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s",
                 i == 0           ? ""
                 : i + 1 == count ? " or "
                                  : ", ",
                 i < COMMANDS ? commands[i].name : "audit");
    }
    return names;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

/* As git does: a command that this program does not have is the program cushim-COMMAND beside it. Returns if that does
 * not exist. */
static void run_other_program(char **arguments)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char path[PLATFORM_PATH_SIZE + 64];
    size_t length = strspn(arguments[0], letters);
    if (length == 0 || length > 32 || arguments[0][length] != '\0' || find_command(arguments[0]) != NULL
        || !find_other_program(arguments[0], path, sizeof path))
        return;
    platform_run(path, arguments);
    text_complain("cannot run %s: %s", path, strerror(errno));
    exit(126); /* as shells do */
}

/* "help" and "help COMMAND". The help of another program is its own. */
static enum status read_help(int argc, char **argv, struct options *options)
{
    options->help = true;
    if (argc == 2)
        return STATUS_USABLE;
    if (argc > 3)
        return text_refuse("help: unexpected argument \"%s\"", argv[3]);
    char option[] = "--help";
    char *arguments[] = {argv[2], option, NULL};
    run_other_program(arguments);
    options->command = find_command(argv[2]);
    return options->command != NULL ? STATUS_USABLE
                                    : text_refuse("unknown command \"%s\": use %s", argv[2], command_names());
}

static enum status read_argument(const char *argument, struct options *options)
{
    if (options->command != NULL) {
        if (options->argument_count == MAX_ARGUMENTS)
            return text_refuse("unexpected argument \"%s\"", argument);
        options->arguments[options->argument_count++] = argument;
        return STATUS_USABLE;
    }
    options->command = find_command(argument);
    if (options->command != NULL)
        return STATUS_USABLE;
    return text_refuse("unknown command \"%s\": use %s", argument, command_names());
}

/* What probe does not do together. */
static enum status options_check_probe(const struct options *options)
{
    bool has_requirement = options->required_version != 0 || options->name_count > 0;
    if (options->list
        && (options->devices || options->nvrtc || options->choose != NULL || has_requirement || options->no_start
            || options->machine != NULL || options->per_thread || options->wait_seconds > 0
            || options->timeout_seconds > 0))
        return text_refuse("probe: --list shows what the files of the machine show; beside it, only --root, --format "
                           "and the options of every command are possible");
    if (options->no_start && options->choose == NULL && !has_requirement)
        return text_refuse("probe: --no-start is for --choose and --require");
    if (options->no_start && options->devices)
        return text_refuse("probe: --devices starts the driver, and --no-start does not");
    if (options->no_start && requirement_has_feature(options))
        return text_refuse("probe: --no-start: whether a feature can be used is known only after a start");
    return STATUS_USABLE;
}

static bool runs_program(const struct command *command)
{
    return command->run == command_exec || command->run == command_doctor || strcmp(command->name, "trace") == 0;
}

/* The checks that need the whole command line. */
static enum status options_check(const struct options *options, const bool used[OPTIONS])
{
    const struct command *command = options->command;
    if (command == NULL)
        return text_refuse("a command is missing: %s", command_names());
    for (size_t i = 0; i < OPTIONS; i++) {
        if (used[i] && options_known[i].commands != NULL && !text_list_has(options_known[i].commands, command->name))
            return text_refuse("this command has no option %s", options_known[i].name);
    }
    if (command->run == command_doctor && (requirement_needs_gpus(options) || requirement_has_feature(options)))
        return text_refuse("doctor: --require: a condition on GPUs and a feature are answered by cushim probe");
    if ((options->html || options->csv) && strcmp(command->name, "trace") != 0)
        return option_refuse_format(options->html ? "html" : "csv");
    if (command->run == command_exec)
        return options->program != NULL && options->program[0] != NULL
                   ? STATUS_USABLE
                   : text_refuse("exec: the program is missing: cushim exec -- PROGRAM ARGUMENTS");
    if (command->run == command_doctor && (options->check || options->program != NULL || options->trace.file != NULL)
        && (options->program == NULL || options->program[0] == NULL))
        return text_refuse("doctor: the program is missing: cushim doctor --check -- PROGRAM ARGUMENTS");
    if (command->run == command_probe && options_check_probe(options) != STATUS_USABLE)
        return STATUS_USAGE;
    if (options->all)
        return options->argument_count == 0 ? STATUS_USABLE
                                            : text_refuse("lookup: --all takes neither FUNCTION nor VERSION");
    if (options->argument_count > command->max_arguments && runs_program(command))
        return text_refuse("%s: unexpected argument \"%s\": a program follows \"--\": cushim %s -- PROGRAM ARGUMENTS",
                           command->name, options->arguments[command->max_arguments], command->name);
    if (options->argument_count > command->max_arguments)
        return text_refuse("%s: unexpected argument \"%s\"", command->name, options->arguments[command->max_arguments]);
    if (options->argument_count < command->min_arguments)
        return text_refuse("%s: FUNCTION is missing (cuStreamQuery), or FUNCTION and VERSION, or --all", command->name);
    return STATUS_USABLE;
}

/* With --softcuda, selects that library. */
static enum status select_softcuda(struct options *options)
{
    static char path[PLATFORM_PATH_SIZE];
    if (options->softcuda == NULL)
        return STATUS_USABLE;
    if (options->load.path != NULL || options->load.root != NULL)
        return text_refuse("--softcuda cannot be combined with --driver or --root");
    if (!softcuda_find(options->softcuda, path, sizeof path))
        return text_refuse("--softcuda: no software driver \"%s\" was found", options->softcuda);
    options->load.path = path;
    return STATUS_USABLE;
}

/* Reads the command line. options->names has room for every argument. */
static enum status options_read(int argc, char **argv, struct options *options)
{
    bool used[OPTIONS] = {false};
    bool options_ended = false;
    if (argc > 1 && strcmp(argv[1], "help") == 0)
        return read_help(argc, argv, options);
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        const char *value = NULL;
        const struct option *option;
        enum status status;
        /* The arguments of the program are not read. trace takes operands itself, so its program follows "--". */
        if (options->command != NULL
            && ((options->command->run == command_exec && argument[0] != '-')
                || (runs_program(options->command) && strcmp(argument, "--") == 0))) {
            options->program = argv + i + (argument[0] == '-');
            break;
        }
        if (options_ended || argument[0] != '-' || argument[1] == '\0') {
            status = read_argument(argument, options);
        } else if (strcmp(argument, "--") == 0) {
            options_ended = true;
            continue;
        } else if ((option = option_find(argument, &value)) == NULL) {
            status = text_refuse("unknown option %s", argument);
        } else if (option->value != NULL && value == NULL && i + 1 == argc) {
            status = text_refuse("%s needs a value", option->name);
        } else if (option->value == NULL && value != NULL) {
            status = text_refuse("%s takes no value", option->name);
        } else {
            if (option->value != NULL && value == NULL)
                value = argv[++i];
            used[option - options_known] = true;
            status = option->read(option, value, options);
        }
        if (status != STATUS_USABLE || options->help || options->version)
            return status;
    }
    options->kind = options->per_thread ? CUSHIM_DEFAULT_STREAM_PER_THREAD : CUSHIM_DEFAULT_STREAM_LEGACY;
    enum status status = options_check(options, used);
    return status == STATUS_USABLE ? select_softcuda(options) : status;
}

/* doctor of a program. */
static enum status doctor_of_program(const struct options *options)
{
#if defined(CUSHIM_HAS_TRACE)
    return program_command(options);
#else
    (void)options;
    return text_refuse("doctor: this cushim was built without its trace layer, so that it can watch no program");
#endif
}

static enum status run_command(const struct options *options)
{
    assert(options->help || options->version || options->command != NULL);
    if (options->help && options->command != NULL)
        print_command_help(options->command);
    else if (options->help)
        print_help();
    else if (options->version)
        puts("cushim " CUSHIM_VERSION_STRING);
    else if (options->command->run == command_doctor && options->program != NULL)
        return doctor_of_program(options);
    else
        return options->command->run(options);
    return STATUS_USABLE;
}

int main(int argc, char **argv)
{
    platform_start(&argc, &argv);
    /* A whole page of help: stdio forgets why a write failed that is not the last one. */
    static char buffer[1 << 14];
    if (!platform_on_terminal())
        (void)setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    text_start();
    if (argc > 1)
        run_other_program(argv + 1);
    /* trace adds one. */
    struct options options = {.names = calloc((size_t)argc + 1, sizeof *options.names)};
    if (options.names == NULL) {
        text_complain("there is not enough memory");
        return STATUS_UNUSABLE;
    }
    enum status status = options_read(argc, argv, &options);
    if (status == STATUS_USABLE)
        status = run_command(&options);
    free(options.names);
    return text_flush() ? (int)status : STATUS_UNUSABLE;
}
