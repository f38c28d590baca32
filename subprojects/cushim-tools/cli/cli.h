/* SPDX-License-Identifier: MIT */
/* The commands, and what only they use. README.md tells which file has which, and in which direction they depend. */
#ifndef CUSHIM_CLI_H
#define CUSHIM_CLI_H

#include <stdbool.h>

#include "companions.h"
#include "cushim/nvrtc.h"
#include "json.h"
#include "machine.h"
#include "options.h"
#include "text.h"

/* The commands. Each writes its output to stdout and returns the exit status; main() checks that stdout took it. */
enum status command_probe(const struct options *options);
enum status command_table(const struct options *options);
enum status command_lookup(const struct options *options);
enum status command_run(const struct options *options);

/* Runs a program on a libcuda.so.1 of ours in a child and records its calls, or reports a recorded file. */
enum status command_trace(const struct options *options);

/* ---- lookup.c, lookup_versions.c ---- */

/* Writes a message about a function that is not known, and its name if the "cu" is missing. */
void lookup_complain(const char *message, const char *function);

/* Shows the ABI versions of a function. The driver is loaded. */
enum status lookup_versions(const struct options *options);

/* ---- companions.c: NVCUVID, NVENC and NVML of the driver ---- */

/* Writes all of them as the JSON array "companions", which is empty without an array. */
void companions_write(struct json *json, const struct companion_found *companions);

/* Writes a line for each. */
void companions_print(const struct companion_found *companions);

/* ---- list.c: --list ---- */

/* Shows the GPUs of the machine. Starts nothing. */
enum status list_gpus(const struct options *options);

/* ---- nvrtc.c: --nvrtc, the NVRTC that fits the loaded driver and the GPU ---- */

/* Looks for it below `root` (NULL: on this machine) for so many seconds. */
void nvrtc_find(const char *root, int seconds, struct cushim_nvrtc *out_found);

/* Writes the JSON object "nvrtc"; null for NULL. */
void nvrtc_write(struct json *json, const struct cushim_nvrtc *found);

/* Writes a line. */
void nvrtc_print(const struct cushim_nvrtc *found);

/* ---- choose.c: --choose, a list of builds of which the first that fits is printed ---- */

/* Refuses a list that is not valid, or with --no-start a condition that needs a start. */
enum status choose_check(const struct options *options);

/* Writes the first build of the list that fits, and to stderr why those before it do not. `failure`: why no build with
 * conditions fits, or NULL; then `facts` is what is known of the machine. */
enum status choose_answer(const struct options *options, const struct condition_facts *facts, const char *failure,
                          bool has_started);

/* Writes the build for this machine. `failure`: why its driver cannot be used or is not as required, or NULL. */
enum status choose_for_machine(const struct options *options, const char *failure, bool has_started);

struct requirement;

/* Judges --require by the GPUs that files show, without a start. Refuses what only a start shows. */
enum status require_by_files(const struct options *options, struct requirement *out_requirement);

/* ---- for.c: --for, the answers of --choose and --require for another machine ---- */

enum status for_answer(const struct options *options);

/* ---- pipeline.c: the steps of `cushim run`, which show how a stream program works ---- */

struct step {
    const char *name;
    enum step_outcome {
        STEP_PASSED,
        STEP_FAILED, /* a call failed, or a result is incorrect */
        STEP_SKIPPED /* this driver is too old for it */
    } outcome;
    char message[768];      /* what was done, or what is wrong */
    long long microseconds; /* until the work of the step was done */
};

/* Runs the steps on device 0 of the started driver until one fails, and reports each step when it ends. Returns whether
 * none failed. */
bool pipeline_run(void (*report)(const struct step *step, void *user), void *user);

#endif
