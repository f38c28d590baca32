/* SPDX-License-Identifier: MIT */
/*
 * cuGetErrorName and cuGetErrorString for the null driver and for softcuda. An unknown code gives NULL and
 * CUDA_ERROR_INVALID_VALUE, as in a driver. Exactly one source file of a library includes this header.
 */
#ifndef CUSHIM_LOADER_ERROR_NAMES_H
#define CUSHIM_LOADER_ERROR_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cushim/abi/cuda_abi.h"

/* The texts stand in one block, and the codes have offsets into it: the dynamic loader would adjust pointers in every
 * process. The messages are "NAME: sentence". */
static const struct error_texts {
#define CUSHIM_ERROR(name, value, sentence)                                                                            \
    char name_##value[sizeof #name], message_##value[sizeof #name ": " sentence];
#include "errors.inc"
} error_texts = {
#define CUSHIM_ERROR(name, value, sentence) #name, #name ": " sentence,
#include "errors.inc"
};

static const struct error_name {
    uint16_t code, name, message;
} error_names[] = {
#define CUSHIM_ERROR(name, value, sentence)                                                                            \
    {value, offsetof(struct error_texts, name_##value), offsetof(struct error_texts, message_##value)},
#include "errors.inc"
};

_Static_assert(sizeof error_texts <= UINT16_MAX, "an offset has 16 bits");

static const char *error_text(size_t offset)
{
    return (const char *)&error_texts + offset;
}

static const struct error_name *error_name_find(CUresult code)
{
    for (size_t i = 0; i < sizeof error_names / sizeof error_names[0]; i++) {
        if (error_names[i].code == (unsigned)code)
            return &error_names[i];
    }
    return NULL;
}

static CUresult get_error_name(CUresult code, const char **out_name)
{
    const struct error_name *error = error_name_find(code);
    if (out_name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out_name = error != NULL ? error_text(error->name) : NULL;
    return error != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult get_error_string(CUresult code, const char **out_sentence)
{
    const struct error_name *error = error_name_find(code);
    if (out_sentence == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out_sentence = error != NULL ? error_text(error->message) + strlen(error_text(error->name)) + strlen(": ") : NULL;
    return error != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

#endif
