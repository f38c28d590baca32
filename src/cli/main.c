/* SPDX-License-Identifier: MIT */
/* cushim - reports what the CUDA driver of this machine can do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "platform.h"
#include "text.h"

#include "cushim/version.h"

static const char help[] = "cushim - reports what the CUDA driver of this machine can do\n"
                           "\n"
                           "  cushim probe [--devices] [--require X.Y] [--require-slot NAME]...\n"
                           "      Reports whether there is a driver, which one, and what it has. --devices\n"
                           "      starts the driver and shows its GPUs. The other options check what a\n"
                           "      program needs.\n"
                           "  cushim table [FILTER]\n"
                           "      Shows the state of every slot, or of those with FILTER in their names.\n"
                           "  cushim lookup FUNCTION VERSION\n"
                           "  cushim lookup --all\n"
                           "      Looks up the driver's own entry point: lookup cuStreamQuery 12.3\n"
                           "  cushim doctor [--require X.Y]\n"
                           "      Reports what is wrong and what can be done.\n"
                           "  cushim run [--softcuda NUMBER]\n"
                           "      Runs a small pipeline and checks each result: on the GPU, or on a software\n"
                           "      driver if there is no GPU. --softcuda selects its version, such as 470.\n"
                           "  cushim exec [--softcuda NUMBER] [--layer FILE]... -- PROGRAM ARGUMENTS\n"
                           "      Runs any program on the driver that the options select, with a version\n"
                           "      limit, hidden functions or layers:\n"
                           "      exec --max-version 11.2 -- python3 train.py\n"
                           "\n"
                           "Options of every command:\n"
                           "  --driver PATH      load this driver library; \"none\" loads no driver\n"
                           "  --max-version X.Y  behave as a driver for CUDA X.Y\n"
                           "  --hide LIST        behave as a driver without these functions: A,B,C\n"
                           "  --per-thread       probe, table, lookup: for per-thread default streams\n"
                           "  --root DIR         search below this directory, such as a container image\n"
                           "  --format=FORMAT    text (the default) or json; not for exec\n"
                           "\n"
                           "  cushim --help, cushim --version\n"
                           "\n"
                           "Exit status: 0 if the driver is usable and the requirements are met, 1 if not,\n"
                           "2 if the command line is invalid; with exec, that of the program.\n"
                           "More: man cushim\n";

static int run_command(const struct options *options)
{
    if (options->help) {
        fputs(help, stdout);
        return STATUS_USABLE;
    }
    if (options->version) {
        puts("cushim " CUSHIM_VERSION_STRING);
        return STATUS_USABLE;
    }
    switch (options->command) {
    case COMMAND_PROBE:
        return command_probe(options);
    case COMMAND_TABLE:
        return command_table(options);
    case COMMAND_LOOKUP:
        return command_lookup(options);
    case COMMAND_DOCTOR:
        return command_doctor(options);
    case COMMAND_RUN:
        return command_run(options);
    case COMMAND_EXEC:
        return command_exec(options);
    case COMMAND_NONE:
        break;
    }
    return STATUS_USAGE;
}

int main(int argc, char **argv)
{
    struct options options;
    text_start();
    platform_arguments(&argc, &argv);
    int status = (int)options_read(argc, argv, &options);
    if (status == STATUS_USABLE)
        status = run_command(&options);
    /* Output that was not written is a failure. */
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        text_complain("cannot write the output: %s", errno != 0 ? strerror(errno) : "unknown error");
        return STATUS_UNUSABLE;
    }
    return status;
}
