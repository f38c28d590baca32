/* SPDX-License-Identifier: MIT */
/* cushim - tells what this machine's CUDA driver can do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "platform.h"
#include "text.h"

static const char help[] = "cushim - tells what this machine's CUDA driver can do\n"
                           "\n"
                           "  cushim probe [--devices] [--require X.Y] [--require-slot NAME]...\n"
                           "      Is there a driver, which one, and what does it have? With --devices the\n"
                           "      driver is started and shows its GPUs. The others check what you need.\n"
                           "  cushim table [FILTER]\n"
                           "      Every slot of cushim's table, or those whose name contains FILTER.\n"
                           "  cushim lookup FUNCTION VERSION\n"
                           "  cushim lookup --all\n"
                           "      The driver's own function for a CUDA version: lookup cuStreamQuery 12.3\n"
                           "  cushim doctor [--require X.Y]\n"
                           "      What is wrong, and what can be done?\n"
                           "  cushim run [--softcuda NUMBER]\n"
                           "      Copies, kernels, streams and a graph, each result checked: on the GPU, or\n"
                           "      where there is none, in software. NUMBER asks for that: 340 to 580.\n"
                           "\n"
                           "Every command takes:\n"
                           "  --driver PATH      this driver library, or \"none\"\n"
                           "  --max-version X.Y  behave as a driver for CUDA X.Y would\n"
                           "  --hide LIST        without these functions, separated by commas\n"
                           "  --per-thread       with per-thread default streams\n"
                           "  --root DIR         look below this directory, such as a container's image\n"
                           "  --format=text      for people; --format=json for programs\n"
                           "\n"
                           "  cushim --help, cushim --version\n"
                           "\n"
                           "The exit status is 0 if the driver is usable and requirements are met, 1 if not,\n"
                           "and 2 if the command line makes no sense. More: man cushim\n";

static enum status obey(const struct options *options)
{
    if (options->help) {
        fputs(help, stdout);
        return STATUS_USABLE;
    }
    if (options->version) {
        puts("cushim " CUSHIM_VERSION_TEXT);
        return STATUS_USABLE;
    }
    switch (options->command) {
    case COMMAND_PROBE:
        return probe(options);
    case COMMAND_TABLE:
        return table(options);
    case COMMAND_LOOKUP:
        return lookup(options);
    case COMMAND_DOCTOR:
        return doctor(options);
    case COMMAND_RUN:
        return run(options);
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
    enum status status = options_read(argc, argv, &options);
    if (status == STATUS_USABLE)
        status = obey(&options);
    /* An answer that nobody got is none. */
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        text_complain("cannot write the answer: %s", errno != 0 ? strerror(errno) : "an error of the output");
        return STATUS_UNUSABLE;
    }
    return (int)status;
}
