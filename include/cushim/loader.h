/* SPDX-License-Identifier: MIT */
/*
 * loader.h - find the CUDA driver, fill the table of its entry points, and tell what was found.
 *
 * Nothing here calls cuInit but cushim_init(). Loading wakes no GPU and costs about what opening the library costs.
 * Every function may be called at any time, from any thread, and with no driver on the machine; but not from the
 * constructor of a library (a static initialiser) while another thread may be making the first load: each would wait
 * for the other, since the dynamic loader runs constructors under a lock that opening a library needs.
 *
 * A file that is given by its path, and a file in one of the known places, is checked before it is opened: a file that
 * is cut short, or that is not a regular file, is refused with CUSHIM_REASON_NOT_LOADABLE. A plain name
 * ("libcuda.so.1", with which the search begins, or a name without a slash) is opened by the dynamic loader, which does
 * not check: a truncated file that it finds there can end the process (SIGBUS), and a FIFO can block it, as in any
 * program that opens the driver by its name. The libraries that a driver depends on are not checked either. The program
 * cushim opens the driver in a child process first.
 *
 * A program that is compiled for per-thread default streams calls cushim_load() before anything else: whatever loads
 * the driver by itself, a slot or a function below, does so with the legacy default stream.
 *
 * Unloading is safe at any time. A shared object that contains cushim (the shared library itself, or a plug-in with a
 * static copy) stays mapped until the process ends once it has tried to load a driver, whatever came of that. So
 * dlclose() or FreeLibrary() may be called while completions are outstanding, and what the copy handed out can be used
 * for the life of the process. Opened again, it is the same copy with the same driver, and the process does not grow. A
 * static copy that never tried to load a driver is unmapped, with the table and the diagnosis that it returned.
 *
 * A thread that is cancelled (pthread_cancel) in the middle of a load finishes the load first.
 *
 * A CUDA version is an int, 1000 * major + 10 * minor: 12030 is CUDA 12.3. This is how cuDriverGetVersion counts.
 */
#ifndef CUSHIM_LOADER_H
#define CUSHIM_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/attributes.h"
#include "cushim/abi/cuda_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The table ---- */

/*
 * One typed pointer for each entry point in entry_points.h, named by function and ABI: StreamGetCaptureInfo_v3.
 * No pointer is ever NULL. Call one as cushim_table()->StreamQuery_v1(stream).
 */
struct cushim_dispatch_table {
#define CUSHIM_ENTRY(function, abi, since, params, args) CUresult(CUDAAPI *function##_##abi) params;
#include "cushim/entry_points.h"
};

/* The same list as numbers: CUSHIM_SLOT_StreamGetCaptureInfo_v3. */
enum cushim_slot {
#define CUSHIM_ENTRY(function, abi, since, params, args) CUSHIM_SLOT_##function##_##abi,
#include "cushim/entry_points.h"
    CUSHIM_SLOT_COUNT
};

#if CUSHIM_INLINE_TABLE
extern CUSHIM_API const struct cushim_dispatch_table *cushim_current_table;
#endif

/*
 * The current table: never NULL, complete, immutable. It is one of
 *   bootstrap  at program start: the first call of any slot loads the driver as cushim_load(NULL) would, then is made;
 *              always with the legacy default stream, so a program that is compiled for per-thread default streams
 *              calls cushim_load() first
 *   absent     no driver could be loaded: cuInit and nearly everything else say CUDA_ERROR_NO_DEVICE;
 *              cuDriverGetVersion and cuDeviceGetCount give 0 with success; cuGetErrorName and cuGetErrorString work
 *   driver     a driver is loaded
 * Ask anew at each use, or keep the pointer after a successful cushim_load(): a loaded driver stays for the life of the
 * process. Thread-safe; one load instruction where the compiler allows it.
 */
#if CUSHIM_INLINE_TABLE
static inline const struct cushim_dispatch_table *cushim_table(void)
{
    return CUSHIM_LOAD_ACQUIRE(&cushim_current_table);
}
#else
CUSHIM_API const struct cushim_dispatch_table *cushim_table(void);
#endif

/* ---- Loading ---- */

/* Which stream a stream argument of 0 means. CUDA calls the second kind "per-thread default stream" (CUDA 7.0). */
enum cushim_default_stream {
    /* As the calling translation unit was compiled: per-thread with CUDA_API_PER_THREAD_DEFAULT_STREAM, else legacy. */
    CUSHIM_DEFAULT_STREAM_AS_COMPILED = 0,
    CUSHIM_DEFAULT_STREAM_LEGACY = 1,
    CUSHIM_DEFAULT_STREAM_PER_THREAD = 2
};

/*
 * What to load. Set the whole struct to zero and fill in what matters; a zero field asks for nothing.
 * Strings are copied. An option given here wins over its environment variable.
 */
struct cushim_load_options {
    /* The driver's file, and then only that one; without a slash, a name that the dynamic loader searches.
     * "none" loads nothing. NULL: CUSHIM_DRIVER (likewise a file or "none"), else search. */
    const char *path;
    /* An open library (from dlopen or LoadLibrary), and then only that. It stays the caller's, and must stay open
     * for the life of the process. Not together with path. */
    void *handle;
    /* The version limit: behave as a driver of this version would, entry points and cuDriverGetVersion alike. 0:
     * CUSHIM_MAX_VERSION ("11.2"), else no version limit. */
    int max_version;
    /* Refuse a driver whose version (after the version limit) is lower. 0: accept any. */
    int min_version;
    /* Hidden functions: entry points that shall be missing, separated by commas. A slot's name with its ABI version
     * ("StreamGetId_v1") hides that one, a function ("cuStreamGetId" or "StreamGetId") hides all its versions.
     * NULL: CUSHIM_HIDE, else none. */
    const char *hide;
    enum cushim_default_stream default_stream;
    /* A directory below which the known places and the system's files are looked at, such as an unpacked container
     * image. The system's own search is then left out. Symbolic links are followed as in a container with that root: an
     * absolute target starts at the root, and ".." does not leave it; the driver's path in the diagnosis is free of
     * links. The libraries that the driver depends on are those of this machine. NULL: the machine itself. */
    const char *root;
    /* Called for each place that was tried, then once with the outcome, before cushim_load() returns and on its thread,
     * after the table was published: so it may call anything, slots and cushim_load() included. `line` has no newline
     * and is valid during the call. A callback never changes a result. */
    void (*log)(void *log_user, const char *line);
    void *log_user;
};

/* cushim_load() for a caller who fixes the default of default_stream himself; the inline form below is for everyone
 * else. */
CUSHIM_API CUresult cushim_load_as(const struct cushim_load_options *options, enum cushim_default_stream as_compiled);

/*
 * Finds and opens the driver and makes the driver table current. Without options: as the environment says.
 * Optional: a slot called before does it. Never calls cuInit.
 *
 *   CUDA_SUCCESS                          a driver is loaded, by this call or an earlier one that this one agrees with
 *   CUDA_ERROR_INVALID_VALUE              an option or an environment variable makes no sense
 *   CUDA_ERROR_FILE_NOT_FOUND             no driver anywhere, or none wanted ("none")
 *   CUDA_ERROR_SHARED_OBJECT_INIT_FAILED  something was found, but it cannot be opened or is no driver; or this program
 *                                         is linked statically, to a C library that then opens no library
 *   CUDA_ERROR_STUB_LIBRARY               only the CUDA Toolkit's link-time stub was found
 *   CUDA_ERROR_NOT_SUPPORTED              the driver is older than min_version, or than CUDA 7.0 where the per-thread
 *                                         default stream was asked for
 *   CUDA_ERROR_NOT_PERMITTED              a driver is loaded, with options that contradict these; cushim_last_error()
 *                                         names the first difference. What is loaded stays
 *   CUDA_ERROR_NOT_READY                  called from within a load on the same thread (by a library's constructor)
 *
 * The environment has its say in the load that succeeds, not in those after it. After a failure the absent table is
 * current, every slot can be called, cushim_get_diagnosis() says why, and a later cushim_load() tries again.
 * Thread-safe: the first caller loads, the others wait. A fork() waits for a load in progress, but no more than five
 * seconds.
 */
static inline CUresult cushim_load(const struct cushim_load_options *options)
{
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
    return cushim_load_as(options, CUSHIM_DEFAULT_STREAM_PER_THREAD);
#else
    return cushim_load_as(options, CUSHIM_DEFAULT_STREAM_LEGACY);
#endif
}

/*
 * Loads the driver if that has not been tried, then calls cuInit(0). Does more for a failure than cuInit: afterwards
 * cushim_get_diagnosis() tells the likely cause and what to do. Returns what cuInit returned, or what cushim_load()
 * did. On the machines it was measured on it took 0.4 s. Thread-safe; calling it again costs what a second cuInit
 * costs.
 */
CUSHIM_API CUresult cushim_init(void);

/* The CUDA version that the loaded driver supports, after the version limit; 0 where no driver is loaded. Never loads.
 * Thread-safe. */
CUSHIM_API int cushim_driver_version(void);

/* ---- What was found ---- */

enum cushim_reason {
#define CUSHIM_REASON(name, word, code, message, advice) CUSHIM_REASON_##name,
#include "cushim/reasons.h"
    CUSHIM_REASON_COUNT
};

/*
 * The stable word of a reason ("not-found"), its message and its advice, as reasons.h has them; a number that is not a
 * reason gives those of CUSHIM_REASON_UNKNOWN. Never NULL; the strings stay. Thread-safe.
 */
CUSHIM_API const char *cushim_reason_name(enum cushim_reason reason);
CUSHIM_API const char *cushim_reason_message(enum cushim_reason reason);
CUSHIM_API const char *cushim_reason_advice(enum cushim_reason reason);

/* One place where a driver might have been, and what happened there. */
struct cushim_attempt {
    const char *place;
    const char *result;        /* in words */
    enum cushim_reason reason; /* CUSHIM_REASON_NONE: the driver was found here; else why not here */
    const char *file;          /* CUSHIM_REASON_STUB: the file of the stub that the place leads to; else NULL */
};

/* One environment variable that was set. */
struct cushim_variable {
    const char *name;
    const char *value;
    /* false: not followed, because the process has more rights than its user (set-user-ID and the like) or because an
     * option was given. */
    bool used;
};

/* The record of the last load, and of the cuInit that followed it. */
struct cushim_diagnosis {
    enum cushim_reason reason; /* CUSHIM_REASON_NONE: nothing is wrong */
    CUresult code;             /* what cushim_load() or cushim_init() returned (the driver's own code is kept raw);
                                * CUDA_SUCCESS before any load */
    const char *reason_name;   /* the reason as a stable word: "not-found" */
    const char *message;       /* one sentence: what is wrong, or "" */
    const char *advice;        /* one sentence: what a person can do, or "" */
    const char *path;          /* the driver's file, or NULL */
    int cuda_version;          /* the driver's own, before any version limit; 0 where unknown */
    const struct cushim_attempt *attempts; /* in the order in which they were made */
    size_t attempt_count;
    const struct cushim_variable *variables; /* those that bear on the outcome and were set */
    size_t variable_count;
};

/*
 * Never NULL; before any load its reason is CUSHIM_REASON_NOT_TRIED. The record is never changed or freed: it may be
 * kept and read without a lock. Where there was no memory for a record, it has the reason and its words alone. Never
 * loads. Thread-safe.
 */
CUSHIM_API const struct cushim_diagnosis *cushim_get_diagnosis(void);

enum cushim_slot_state {
    CUSHIM_STATE_MISSING,  /* the call returns CUDA_ERROR_NOT_SUPPORTED; without a driver, see cushim_table() */
    CUSHIM_STATE_NATIVE,   /* the slot points into the driver */
    CUSHIM_STATE_POLYFILL, /* older entry points give the same meaning */
    CUSHIM_STATE_ADAPTED   /* the driver has it, but cushim answers: limit, hidden functions or per-thread streams */
};

struct cushim_slot_info {
    const char *name;     /* "StreamGetCaptureInfo_v3" */
    const char *function; /* "cuStreamGetCaptureInfo" */
    int since;            /* the CUDA version that brought it, 12030 */
    enum cushim_slot_state state;
    const char *symbol;          /* the exported name of a native slot's pointer; else, or where it has none, NULL */
    const enum cushim_slot *via; /* the slots that a polyfill calls */
    size_t via_count;
};

/*
 * Tells about one slot. Loads the driver if that has not been tried. The strings and `via` are cushim's and stay.
 * Thread-safe.
 *   CUDA_SUCCESS              *out_info is written, also where there is no driver (everything is then missing)
 *   CUDA_ERROR_INVALID_VALUE  no such slot, or out_info is NULL
 */
CUSHIM_API CUresult cushim_query_slot(enum cushim_slot slot, struct cushim_slot_info *out_info);

/*
 * The state alone, for a program that chooses its way by it. Loads the driver if that has not been tried; without one,
 * and for a number that is no slot's, CUSHIM_STATE_MISSING. Thread-safe.
 */
CUSHIM_API enum cushim_slot_state cushim_query_slot_state(enum cushim_slot slot);

/*
 * Finds a slot by name: "StreamGetCaptureInfo_v3" or "cuStreamGetCaptureInfo_v3"; without a version, the first ABI, as
 * in the exported names. Never loads. Thread-safe.
 *   CUDA_SUCCESS              *out_slot is written
 *   CUDA_ERROR_NOT_FOUND      no slot of that name
 *   CUDA_ERROR_INVALID_VALUE  an argument is NULL
 */
CUSHIM_API CUresult cushim_slot_find(const char *name, enum cushim_slot *out_slot);

/*
 * Checks a program's own needs at start-up: that each of the named slots can be called, native, polyfilled or adapted.
 * Loads the driver if that has not been tried. Thread-safe.
 *   CUDA_SUCCESS               all can be called
 *   CUDA_ERROR_NOT_SUPPORTED   *out_unmet (if not NULL) is the first that cannot; cushim_last_error() says what
 *                              it needs
 *   CUDA_ERROR_NOT_FOUND       *out_unmet is the first that is unmet, and no slot's name
 *   CUDA_ERROR_NO_DEVICE       there is no driver, so the first, *out_unmet, is unmet; of no names all are met
 *   CUDA_ERROR_INVALID_VALUE   a NULL name, or NULL names with a count
 */
CUSHIM_API CUresult cushim_require(const char *const *names, size_t count, const char **out_unmet);

/* ---- Everything else the driver has ---- */

/* A function of the driver, to be cast to its real type before it is called. */
typedef void (*cushim_fn)(void);

/*
 * What cuGetProcAddress answers, on every driver, those older than cuGetProcAddress included: the newest entry point of
 * `function` ("cuMemcpy3DBatchAsync") that CUDA version `version` has. Name the version whose prototype you call
 * through. Version limit, hidden functions and the per-thread choice are obeyed. A function that cushim has no row for
 * is asked of the driver itself. Never a polyfill. Loads the driver if that has not been tried. Thread-safe.
 *   CUDA_SUCCESS              *out_fn is the driver's function, or an adapted slot's (see CUSHIM_STATE_ADAPTED)
 *   CUDA_ERROR_NOT_FOUND      this driver has no such entry point, or it is hidden
 *   CUDA_ERROR_INVALID_VALUE  an argument is NULL, or version is above the driver's or the limit, or below 2000
 *   CUDA_ERROR_NO_DEVICE      there is no driver
 */
CUSHIM_API CUresult cushim_lookup(const char *function, int version, cushim_fn *out_fn);

/* Why a look-up found a function, or did not. */
enum cushim_lookup_status {
    CUSHIM_LOOKUP_FOUND,
    CUSHIM_LOOKUP_UNKNOWN,        /* neither cushim nor the driver knows a function of that name */
    CUSHIM_LOOKUP_SUFFIXED,       /* the name is that of an entry point (cuStreamDestroy_v2), not of a function */
    CUSHIM_LOOKUP_TOO_NEW,        /* the function exists, but not yet in the version that was asked for */
    CUSHIM_LOOKUP_HIDDEN,         /* CUSHIM_HIDE or the option mask hides it */
    CUSHIM_LOOKUP_LIMITED,        /* the driver has the version that was asked for; the version limit refuses it */
    CUSHIM_LOOKUP_DRIVER_TOO_OLD, /* the version that was asked for is above the driver's own */
    CUSHIM_LOOKUP_LACKING,        /* the driver does not have the function, although it is new enough */
    CUSHIM_LOOKUP_BAD_VERSION,    /* the version is below 2000 */
    CUSHIM_LOOKUP_NO_DRIVER       /* no driver is loaded */
};

struct cushim_lookup_answer {
    enum cushim_lookup_status status;
    const char *function; /* the function that was meant, also where a suffixed name was given; NULL if not known */
    int since;            /* the CUDA version that brought it, or what a suffixed name names; 0 if not known */
    cushim_fn fn;         /* NULL unless CUSHIM_LOOKUP_FOUND */
};

/*
 * The same look-up for a program that shows its answer to a person. Records no error for a function that is not found.
 * Loads the driver if that has not been tried. Thread-safe.
 *   CUDA_SUCCESS              *out_answer is written, also where nothing was found
 *   CUDA_ERROR_INVALID_VALUE  an argument is NULL
 */
CUSHIM_API CUresult cushim_lookup_explain(const char *function, int version, struct cushim_lookup_answer *out_answer);

/* The exported name of a function of the loaded driver; NULL unless the address is exactly one in its symbol table.
 * The string is the driver's and stays. Thread-safe. */
CUSHIM_API const char *cushim_symbol_name(cushim_fn fn);

/* One of the driver's entry points, typed slot or not. */
struct cushim_entry_point {
    const char *function;          /* "cuStreamGetCaptureInfo" */
    int since;                     /* 12030 */
    const char *symbol;            /* "cuStreamGetCaptureInfo_v3" */
    const char *per_thread_symbol; /* "cuStreamGetCaptureInfo_v3_ptsz", or "" */
};

/* The whole list, to CUSHIM_LIST_VERSION: index counts from 0; CUDA_ERROR_NOT_FOUND past the end. Thread-safe. */
CUSHIM_API CUresult cushim_query_entry_point(size_t index, struct cushim_entry_point *out_entry);

/* ---- The last error in words ---- */

struct cushim_error {
    CUresult code;
    const char *function; /* which function failed: "cuStreamGetId", "cushim_load" */
    const char *message;  /* one sentence, or "" */
};

/*
 * More than a code can say, about the last failure on this thread that cushim itself reported: a missing slot, an
 * absent driver, a polyfill that was asked for too much, a function of cushim's, or a driver call that one of them
 * made. Like errno it is kept
 * until the next failure; success does not clear it, and a native slot never touches it. Never NULL; CUDA_SUCCESS and
 * "" before any failure. Valid until this thread's next call of cushim_last_error().
 */
CUSHIM_API const struct cushim_error *cushim_last_error(void);

/*
 * For libraries on top of cushim, as its own stream layer is one: makes a failure of theirs this thread's last error,
 * and returns its code. The strings must be constants, or stay as long. A NULL message stands for the driver's own
 * words for the code.
 */
CUSHIM_API CUresult cushim_set_error(CUresult code, const char *function, const char *message);

/*
 * The same for a code that a slot returned: cushim_last_error() then has the driver's function and the driver's words.
 * What cushim itself recorded in that call (a missing slot, a polyfill's refusal) stays. CUDA_SUCCESS and
 * CUDA_ERROR_NOT_READY are only passed through.
 */
CUSHIM_API CUresult cushim_set_driver_error(CUresult code, enum cushim_slot slot);

/* ---- The machine ---- */

enum cushim_node { CUSHIM_NODE_ABSENT, CUSHIM_NODE_DENIED, CUSHIM_NODE_READY };

/* What the operating system shows of an NVIDIA GPU, driver library aside. Everything is absent on Windows. */
struct cushim_system {
    char kernel_module[32];        /* the kernel module's version, "580.159.03", or "" where it is not loaded */
    enum cushim_node control_node; /* /dev/nvidiactl */
    enum cushim_node uvm_node;     /* /dev/nvidia-uvm */
    enum cushim_node gpu_node;     /* the best of /dev/nvidia0 ... nvidia15 */
    int gpu_node_count;            /* how many of those there are */
    enum cushim_node wsl_node;     /* /dev/dxg, of Windows Subsystem for Linux */
    bool gpu_on_bus;               /* a PCI display device of NVIDIA's is there, whatever software is */
    bool container;                /* this is a container */
};

/* Looks, below `root` (see cushim_load_options) or at the machine itself (NULL). Opens no device. Thread-safe. */
CUSHIM_API void cushim_query_system(const char *root, struct cushim_system *out_system);

#ifdef __cplusplus
}
#endif

#endif
