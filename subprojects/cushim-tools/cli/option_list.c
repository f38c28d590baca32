/* SPDX-License-Identifier: MIT */
/*
 * The rows of options.inc as Python tuples, for the scripts that read them. The preprocessor writes them; nothing
 * compiles this file.
 */
#define NULL None
#define COMMAND(name, min_arguments, max_arguments, help) ("COMMAND", #name, help),
#define OPTION(name, value, kind, member, commands, help) ("OPTION", name, value, commands, help),
#include "options.inc"
