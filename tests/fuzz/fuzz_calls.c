/* SPDX-License-Identifier: MIT */
/* Calls in any order, with many kinds of drivers: in every state, what the library reports is consistent. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "fuzz.h"

#include <string.h>

#include "cushim/cushim.h"
#include "fake.h"
#include "load.h"

static const char *const paths[] = {
    FAKES "/fake_6050.so",
    FAKES "/fake_9010.so",
    FAKES "/fake_11040.so",
    FAKES "/fake_12040.so",
    FAKES "/" FAKE_OF_LIST_VERSION ".so",
    FAKES "/fake_future.so",
    FAKES "/not_stub.so",
    FAKES "/not_zero.so",
    "/no/such/driver",
    "none",
    FAKES "/fake_asked_12040.so",
    NULL,
};
static const char *const hides[] = {NULL, "", "StreamQuery", "StreamGetCaptureInfo_v3,StreamGetId", "nonsense"};
static const int versions[] = {0, 0, 0, 11020, 12000, CUSHIM_LIST_VERSION, 7};

#define PICK(list, bytes) list[fuzz_byte(bytes) % (sizeof list / sizeof list[0])]

static void diagnosis_check(void)
{
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    int version = cushim_driver_version();
    HOLDS(diagnosis->message != NULL && diagnosis->advice != NULL && diagnosis->reason_name != NULL);
    HOLDS(version == 0 || diagnosis->path != NULL);
    HOLDS(version <= diagnosis->cuda_version || version == 0);
    if (diagnosis->reason == CUSHIM_REASON_NOT_TRIED)
        return; /* the call would load a driver */
    HOLDS((diagnosis->reason == CUSHIM_REASON_NONE) == (version != 0));
    CUresult result = cushim_table()->StreamQuery_v1(NULL);
    struct cushim_slot_info info;
    HOLDS(cushim_slot_get_info(CUSHIM_SLOT_StreamQuery_v1, CUSHIM_DEFAULT_STREAM_LEGACY, &info) == CUDA_SUCCESS);
    if (version == 0)
        HOLDS(result == CUDA_ERROR_NO_DEVICE && info.state == CUSHIM_STATE_MISSING);
    else if (info.state == CUSHIM_STATE_MISSING)
        HOLDS(result == CUDA_ERROR_NOT_SUPPORTED);
    else
        HOLDS(result == FAKE_CODE(ENTRY_StreamQuery_v1, 0) || result == FAKE_CODE(ENTRY_StreamQuery_v1, 1));
}

static void load(struct fuzz_bytes *bytes)
{
    bool was_loaded = cushim_driver_version() != 0;
    struct cushim_load_options options = {
        .path = PICK(paths, bytes),
        .max_version = PICK(versions, bytes),
        .min_version = PICK(versions, bytes),
        .hide = PICK(hides, bytes),
        .root = "/no/such/root",
    };
    CUresult result = cushim_load(&options);
    HOLDS(!was_loaded || cushim_driver_version() != 0);
    HOLDS(was_loaded || (result == CUDA_SUCCESS) == (cushim_driver_version() != 0));
    HOLDS(result == CUDA_SUCCESS || cushim_error_last()->code == result);
    if (!was_loaded)
        HOLDS(cushim_diagnosis_get()->code == result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    setenv("CUSHIM_DRIVER", "none", 1);
    cush_load_reset_for_tests();
    while (bytes.next != bytes.end) {
        cushim_fn fn = NULL;
        switch (fuzz_byte(&bytes) % 6) {
        case 0:
        case 1:
            load(&bytes);
            break;
        case 2: {
            bool loaded = cushim_driver_version() != 0;
            HOLDS(cushim_init() == (loaded ? CUDA_SUCCESS : cushim_diagnosis_get()->code));
            break;
        }
        case 3: {
            CUresult result = cushim_lookup("cuStreamQuery", 7000, CUSHIM_DEFAULT_STREAM_LEGACY, &fn);
            HOLDS((result == CUDA_SUCCESS) == (fn != NULL));
            break;
        }
        case 4:
            (void)cushim_table()->StreamGetCaptureInfo_v3(NULL, NULL, NULL, NULL, NULL, NULL, NULL);
            break;
        default:
            if (fuzz_byte(&bytes) % 8 == 0)
                cush_load_reset_for_tests();
            break;
        }
        diagnosis_check();
    }
    return 0;
}
