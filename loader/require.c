/* SPDX-License-Identifier: MIT */
/* cushim_require() and cushim_choose(): conditions (condition.h) on the loaded driver. */
#include <stdio.h>
#include <string.h>

#include "common/atomic.h"
#include "condition_facts.h"
#include "error.h"
#include "feature.h"
#include "load.h"
#include "os.h"

/* What is asked, and the first error of a name. */
struct question {
    const char *function;
    enum cushim_default_stream kind;
    CUresult result;
};

static bool is_name(const char *name)
{
    enum cushim_slot slot;
    return cush_feature_is_known(name) || cushim_slot_find(name, &slot) == CUDA_SUCCESS;
}

static CUresult require_name(const char *name, const struct question *question)
{
    enum cushim_slot slot;
    CUresult result = CUDA_SUCCESS;
    if (cush_feature_require(name, question->kind, question->function, &result))
        return result;
    if (cushim_slot_find(name, &slot) != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_FOUND;
    if (!cush_load_has_driver())
        return cush_fail_null_driver(slot);
    return cush_driver_origins[question->kind][slot].state != CUSHIM_STATE_MISSING ? CUDA_SUCCESS
                                                                                   : cush_fail_missing(slot);
}

static CUSHIM_COLD enum condition_answer judge_name(const char *name, const struct condition_facts *facts,
                                                    char *message, size_t size)
{
    struct question *question = facts->user;
    question->result = require_name(name, question);
    if (question->result == CUDA_SUCCESS)
        return CONDITION_MET;
    snprintf(message, size, "%s", cushim_error_last()->message);
    return CONDITION_UNMET;
}

/* Checks the lists. */
static CUresult question_check(const struct question *question, const char *const *lists, size_t count,
                               size_t *out_index)
{
    char message[CONDITION_MESSAGE_SIZE];
    enum condition_fault fault = cush_conditions_check(lists, count, is_name, out_index, message, sizeof message);
    if (fault == CONDITION_RIGHT)
        return CUDA_SUCCESS;
    return cush_error_set_copy(fault == CONDITION_WRONG ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND,
                               question->function, message);
}

/* Fills what is known. The GPUs are asked only if a condition needs them. */
static CUresult question_read_facts(struct question *question, bool needs_gpus, struct condition_facts *out_facts)
{
    cush_condition_facts(out_facts);
    out_facts->judge_name = judge_name;
    out_facts->user = question;
    CUresult result = needs_gpus ? cush_condition_gpus(out_facts) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        return result;
    char message[CONDITION_MESSAGE_SIZE];
    snprintf(message, sizeof message, "The GPUs are not known: %s.", out_facts->gpus_why);
    return cush_error_set_copy(result, question->function, message);
}

/* Checks the conditions of an array, of which each is one word. */
static CUresult require_all(struct question *question, const char *const *names, size_t count, size_t *out_index)
{
    struct condition_facts facts;
    char message[CONDITION_MESSAGE_SIZE];
    for (size_t i = 0; i < count; i++) {
        *out_index = i;
        if (names[i] == NULL)
            return cush_error_set(CUDA_ERROR_INVALID_VALUE, question->function, "A name is NULL.", NULL);
        snprintf(message, sizeof message, "\"%.80s\" is not the name of a slot or of a feature.", names[i]);
        if (!cush_condition_is_one(names[i]))
            return cush_error_set_copy(CUDA_ERROR_NOT_FOUND, question->function, message);
    }
    CUresult result = question_check(question, names, count, out_index);
    bool needs_gpus = cush_conditions_need_gpus(names, count);
    *out_index = result == CUDA_SUCCESS ? 0 : *out_index;
    if (result == CUDA_SUCCESS && (!needs_gpus || cush_condition_has_gpus()) && !cush_load_has_driver())
        result = cush_error_set(CUDA_ERROR_NO_DEVICE, question->function, "No CUDA driver is loaded: %",
                                cushim_diagnosis_get()->message);
    if (result == CUDA_SUCCESS)
        result = question_read_facts(question, needs_gpus, &facts);
    if (result != CUDA_SUCCESS
        || cush_conditions_judge(names, count, &facts, out_index, message, sizeof message) == CONDITION_MET)
        return result;
    return question->result != CUDA_SUCCESS
               ? question->result
               : cush_error_set_copy(CUDA_ERROR_NOT_SUPPORTED, question->function, message);
}

CUresult cushim_require(const char *const *names, size_t count, enum cushim_default_stream kind, const char **out_unmet)
{
    struct question question = {"cushim_require", kind, CUDA_SUCCESS};
    size_t index = 0;
    if (names == NULL && count != 0)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, question.function, "The list of names is NULL.", NULL);
    if (!cush_driver_is_kind(kind))
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, question.function, "The default-stream kind is invalid.", NULL);
    (void)cush_load_has_driver(); /* also if there are no names */
    CUresult result = count > 0 ? require_all(&question, names, count, &index) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS && out_unmet != NULL && names[index] != NULL)
        *out_unmet = names[index];
    return result;
}

/* ---- cushim_choose() ---- */

enum { CHOICE_SIZE = 64 };
static CUSH_THREAD_LOCAL char choice[CHOICE_SIZE];

/* Checks the whole list, also what is behind the build that fits. */
static CUresult choice_check(struct question *question, const char *list)
{
    char message[CONDITION_MESSAGE_SIZE];
    struct condition_build build;
    bool needs_gpus = false;
    while (list != NULL) {
        size_t unused;
        if (!cush_condition_next_build(&list, &build, message, sizeof message))
            return cush_error_set_copy(CUDA_ERROR_INVALID_VALUE, question->function, message);
        if (build.length >= CHOICE_SIZE)
            return cush_error_set(CUDA_ERROR_INVALID_VALUE, question->function,
                                  "The name of a build has more than 63 characters.", NULL);
        CUresult result = question_check(question, &build.conditions, 1, &unused);
        if (result != CUDA_SUCCESS)
            return result;
        needs_gpus |= cush_conditions_need_gpus(&build.conditions, 1);
    }
    struct condition_facts facts;
    return needs_gpus && !cush_condition_has_gpus() ? question_read_facts(question, true, &facts) : CUDA_SUCCESS;
}

/* Starts the driver and fills what is known, or writes why that fails. */
static bool choice_start(struct question *question, struct condition_facts *out_facts, char *message, size_t size)
{
    CUresult result = cushim_init();
    if (result == CUDA_SUCCESS)
        result = question_read_facts(question, cush_condition_has_gpus(), out_facts);
    bool has_gpu = result == CUDA_SUCCESS && (!cush_condition_has_gpus() || out_facts->gpu_count > 0);
    if (!has_gpu)
        snprintf(message, size, "%s",
                 result == CUDA_SUCCESS ? cushim_reason_message(CUSHIM_REASON_NO_DEVICE)
                                        : cushim_error_last()->message);
    return has_gpu;
}

CUSHIM_COLD CUresult cushim_choose(const char *list, const char **out_name)
{
    struct question question = {"cushim_choose", CUSHIM_DEFAULT_STREAM_LEGACY, CUDA_SUCCESS};
    struct condition_facts facts;
    struct condition_build build;
    char reasons[CONDITION_MESSAGE_SIZE], message[CONDITION_MESSAGE_SIZE];
    bool is_tried = false, is_started = false;
    size_t unused, used = 0;
    if (list == NULL || out_name == NULL)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, question.function, "An argument is NULL.", NULL);
    if (cush_os_load_lock_is_mine())
        return cush_error_set(CUDA_ERROR_NOT_READY, question.function, "This thread is already loading the driver.",
                              NULL);
    CUresult result = choice_check(&question, list);
    if (result != CUDA_SUCCESS)
        return result;
    while (list != NULL) {
        (void)cush_condition_next_build(&list, &build, message, sizeof message);
        bool is_empty = cush_condition_list_is_empty(build.conditions);
        if (!is_empty && !is_tried)
            is_started = choice_start(&question, &facts, message, sizeof message);
        is_tried |= !is_empty;
        if (is_empty
            || (is_started
                && cush_conditions_judge(&build.conditions, 1, &facts, &unused, message, sizeof message)
                       == CONDITION_MET)) {
            snprintf(choice, sizeof choice, "%.*s", (int)build.length, build.name);
            *out_name = choice;
            return CUDA_SUCCESS;
        }
        int more = snprintf(reasons + used, sizeof reasons - used, "%s%.*s: %s", used > 0 ? " " : "", (int)build.length,
                            build.name, message);
        used = used + (size_t)more < sizeof reasons ? used + (size_t)more : sizeof reasons - 1;
    }
    return cush_error_set_copy(CUDA_ERROR_NOT_FOUND, question.function, reasons);
}
