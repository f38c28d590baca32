/* SPDX-License-Identifier: MIT */
/* Common objects of the checks: a device, a context, streams, and ways to delay work without depending on time. */
#ifndef CONFORMANCE_FIXTURE_H
#define CONFORMANCE_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

/* The device and its ordinal, and its primary context (an ordinary one before CUDA 7.0), current on the main thread. */
extern int the_ordinal;
extern CUdevice the_device;
extern CUcontext the_context;

/* Calls cuInit and sets up the device and the context. */
CUresult fixture_open(void);
/* Restores the state of the thread: the context is current and alone on the stack, and the capture mode is global. */
void fixture_restore(void);

/* Stream 0 and the handles of the two default streams, with their names in keys. */
struct special_stream {
    const char *name;
    CUstream stream;
};
extern const struct special_stream specials[3];

/*
 * Objects that are destroyed after the check; a check with CHECK_ALONE leaves them to the end of its process. Each
 * function reports a failure. Before a check returns, it must wait for work that uses its local variables.
 */

/* A stream that does not synchronise with the legacy stream, and one that does. */
CUstream stream_new(void);
CUstream stream_blocking(void);
/* A stream that is capturing in relaxed mode, which every driver with captures supports. */
CUstream stream_capturing(void);
/* An event without timing, and one with it. */
CUevent event_new(void);
CUevent event_timed(void);
CUgraph graph_new(void);
CUgraphExec exec_new(CUgraph graph);
/* `count` bytes of device memory, filled with `fill`. */
CUdeviceptr memory_new(size_t count, unsigned char fill);
/* Zeroed host memory that the device can access. *out_device, if not NULL, is its device address. */
void *host_new(size_t count, CUdeviceptr *out_device);
/* A second context, which is then current. */
CUcontext context_second(void);
/* A green context with all multiprocessors of the device. */
CUgreenCtx green_new(void);

/* Calls `end(object)` after the check; the newest object ends first. */
void defer(void (*end)(void *object), void *object);
/* Returns the object, which the check destroys itself. */
void *disown(void *object);
CUdeviceptr disown_memory(CUdeviceptr memory);
/* Keeps all objects of this check until the process ends. */
void keep_objects(void);
/* Destroys them now. */
void destroy_objects(void);

/* Waits for the work of a stream, and destroys the stream now. */
void stream_end(CUstream stream);
void host_free(void *host);

/* The values of an output handle and of an output device before a call. */
#define UNTOUCHED_HANDLE ((void *)0x5a5a)
#define UNTOUCHED_DEVICE 99

/* Contexts that tables of calls make current: none, the context of the fixture, and a second one. */
enum { CONTEXT_NONE, CONTEXT_PRIMARY, CONTEXT_SECOND, CONTEXT_COUNT };
extern const char *const context_names[CONTEXT_COUNT];
/* Fills the array. The second context is new, and is not current. */
void contexts_new(CUcontext out_contexts[CONTEXT_COUNT]);
/* Both return "none", "primary", "untouched" or "other": for a context, and for the current context. */
const char *context_word(CUcontext context);
const char *current_word(void);
/* Returns "is" for the device of the fixture, "untouched" or "other". */
const char *device_word(CUdevice device);

/* Reports the device and the contexts of a stream in one answer. */
void observe_stream(const char *key, CUstream stream);

/*
 * A gate blocks a stream until it is opened. The work behind it is pending, however fast the machine is. A gate is a
 * status callback that waits, so a check must not rely on another callback while the gate is closed: a driver may run
 * callbacks one at a time.
 */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    atomic_int passed; /* how often the gate was passed */
};
struct gate *gate_new(CUstream stream);
bool gate_close(struct gate *gate, CUstream stream);
void gate_open(struct gate *gate);
int gate_passed(struct gate *gate);

/* Runs `work(user)` on another thread and waits for it. The context is current there; with `on_bare_thread` it is
 * not. */
void on_thread(void (*work)(void *user), void *user);
void on_bare_thread(void (*work)(void *user), void *user);

/* Begins a capture in relaxed mode. */
CUresult capture_begin(CUstream stream);
/* Ends the capture and destroys the graph, immediately or after the check. */
CUresult capture_end(CUstream stream);
CUresult capture_end_with(CUstream stream, CUgraph *out_graph);
/* Counts the nodes and edges of a graph. */
int graph_nodes(CUgraph graph);
int graph_edges(CUgraph graph);
/* Returns "none", "active", "invalidated", or the code of a failed query. */
const char *capture_status(CUstream stream);

/* Host functions and callbacks that count their calls in an atomic_int. */
void CUDA_CB count_host_function(void *user);
void CUDA_CB count_callback(CUstream stream, CUresult status, void *user);

/* Sleeps for ten milliseconds. Only for conditions that cannot be waited for. */
void pause_shortly(void);

/* Adds a host function that does nothing: one node in a capture. */
CUresult add_work(CUstream stream);

#endif
