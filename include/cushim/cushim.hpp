/* SPDX-License-Identifier: MIT */
/**
 * @file
 * cushim for C++11 and later: owners of the objects of the stream layer, functions that take a lambda in place of a
 * function and a pointer, and an exception for result codes.
 *
 * @code
 * void clear_often(struct cushim_context *context, CUdeviceptr memory)
 * {
 *     cushim::stream stream;
 *     cushim::graph_exec exec;
 *     auto clear = [&](struct cushim_stream *to) {
 *         return CUSHIM_CALL(MemsetD8Async_v1, memory, 0, 64, cushim_stream_handle(to));
 *     };
 *     cushim::check(cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, stream.out()));
 *     cushim::check(cushim::stream_capture_executable(stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 0, clear,
 *                                                     exec.out()));
 *     for (int i = 0; i < 1000; i++)
 *         cushim::check(cushim_graph_exec_launch(exec.get(), stream.get()));
 *     cushim::check(cushim_stream_close(stream.inout())); // waits; the destructor would do so, too, but without a code
 * }
 * @endcode
 *
 * Everything here is inline and adds nothing to the library. The functions return the codes of the functions of C with
 * the same names, and the rules of those hold: cushim::stream_run() is cushim_stream_run() for a lambda. Without
 * exceptions (-fno-exceptions), cushim::check() does not exist. A subset without the stream layer has cushim::error and
 * cushim::check() alone.
 *
 * **Exceptions.** An exception never passes through a function of C, so it does not matter with which options the
 * library is compiled.
 * - An exception that leaves a *body* ends what the function of C has begun (a capture is ended and its graph
 *   destroyed; a run is waited for), and is then thrown again to the caller.
 * - An exception that leaves a *function that is called later* (a host function, a callback) ends the process: these
 *   functions are called as noexcept, since their threads have no caller to whom it could be thrown.
 */
#ifndef CUSHIM_CUSHIM_HPP
#define CUSHIM_CUSHIM_HPP

#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "cushim.h"

/** 1: this source file is compiled with exceptions; 0: without. */
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#    define CUSHIM_EXCEPTIONS 1
#else
#    define CUSHIM_EXCEPTIONS 0
#endif

namespace cushim {
/* A subset defines this name with a checksum, so that two subsets in one static link are two libraries. */
inline namespace cushim_library {

/** A result code as an exception. */
class error : public std::runtime_error {
public:
    /** what() is the message of cushim_error_last() if that has this code; otherwise cushim_error_string() of it. */
    CUSHIM_LOCAL explicit error(CUresult code) : std::runtime_error(message(code)), code_(code) {}

    /** Returns the code. */
    CUSHIM_LOCAL CUresult code() const noexcept { return code_; }

private:
    CUSHIM_LOCAL static const char *message(CUresult code)
    {
        const struct cushim_error *last = cushim_error_last();
        return last->code == code && *last->message != '\0' ? last->message : cushim_error_string(code);
    }

    CUresult code_;
};

#if CUSHIM_EXCEPTIONS
/** Throws cushim::error unless the code is CUDA_SUCCESS. CUSHIM_CALL() gives a call of a slot the better message. */
CUSHIM_LOCAL inline void check(CUresult result)
{
    if (result != CUDA_SUCCESS)
        throw error(result);
}
#endif

/* A subset without the stream layer has no more than this. */
#if defined(CUSHIM_COMPLETION_NOTIFYING)

/* A program can have units with and without exceptions. A function that both instantiate would be one function. */
#    if CUSHIM_EXCEPTIONS
inline namespace with_exceptions {
#    else
inline namespace without_exceptions {
#    endif

namespace detail {

/* Calls a body and keeps its exception until the function of C has returned. */
class guard {
public:
    template <typename Body> CUSHIM_LOCAL CUresult call(Body &body, struct cushim_stream *stream) noexcept
    {
        using has_no_result = std::is_void<decltype(body(stream))>;
#    if CUSHIM_EXCEPTIONS
        try {
            return call(body, stream, has_no_result());
        } catch (...) {
            thrown_ = std::current_exception();
            return CUDA_ERROR_UNKNOWN;
        }
#    else
        return call(body, stream, has_no_result());
#    endif
    }

    /* Throws the exception, or returns the result. */
    CUSHIM_LOCAL CUresult finish(CUresult result)
    {
#    if CUSHIM_EXCEPTIONS
        if (thrown_)
            std::rethrow_exception(thrown_);
#    endif
        return result;
    }

private:
    template <typename Body>
    CUSHIM_LOCAL static CUresult call(Body &body, struct cushim_stream *stream, std::false_type)
    {
        return body(stream);
    }

    template <typename Body> CUSHIM_LOCAL static CUresult call(Body &body, struct cushim_stream *stream, std::true_type)
    {
        body(stream);
        return CUDA_SUCCESS;
    }

#    if CUSHIM_EXCEPTIONS
    std::exception_ptr thrown_;
#    endif
};

/* What C gets as `user`, in the forms in which C calls it. Function is a reference if the caller keeps the function. */
template <typename Function> struct callable {
    Function function;
    guard *keeper; /* of a body */

    CUSHIM_LOCAL static CUresult run_body(struct cushim_stream *stream, void *user) noexcept
    {
        callable *self = static_cast<callable *>(user);
        return self->keeper->call(self->function, stream);
    }

    CUSHIM_LOCAL static void CUDA_CB run(void *user) noexcept { static_cast<callable *>(user)->function(); }

    CUSHIM_LOCAL static void run_with_status(CUresult status, void *user) noexcept
    {
        static_cast<callable *>(user)->function(status);
    }

    CUSHIM_LOCAL static void CUDA_CB run_in_stream(CUstream, CUresult status, void *user) noexcept
    {
        static_cast<callable *>(user)->function(status);
    }

    CUSHIM_LOCAL static void destroy(void *user) noexcept { delete static_cast<callable *>(user); }
};

/* Copies or moves a function to where it stays until C destroys it. Returns NULL if the host is out of memory. */
template <typename Function>
CUSHIM_LOCAL callable<typename std::decay<Function>::type> *keep(const char *caller, Function &&function,
                                                                 guard *keeper = nullptr)
{
    using kept = callable<typename std::decay<Function>::type>;
    kept *call = new (std::nothrow) kept{std::forward<Function>(function), keeper};
    if (call == nullptr)
        cushim_error_set(CUDA_ERROR_OUT_OF_MEMORY, caller, nullptr);
    return call;
}

} // namespace detail

/**
 * @name Bodies
 * A body is anything that can be called with a `struct cushim_stream *`, such as a lambda. It returns a CUresult, or
 * nothing for a body that reports errors by exceptions.
 */
/** @{ */

/** cushim_stream_run() with a body. An exception is thrown again after the wait. */
template <typename Body> CUSHIM_LOCAL CUresult stream_run(struct cushim_stream *stream, Body &&body)
{
    detail::guard keeper;
    detail::callable<Body &> call = {body, &keeper};
    return keeper.finish(cushim_stream_run(stream, call.run_body, &call));
}

/** cushim_stream_capture() with a body. An exception is thrown again after the capture has been ended. */
template <typename Body>
CUSHIM_LOCAL CUresult stream_capture(struct cushim_stream *stream, CUstreamCaptureMode mode, Body &&body,
                                     struct cushim_graph **out_graph)
{
    detail::guard keeper;
    detail::callable<Body &> call = {body, &keeper};
    return keeper.finish(cushim_stream_capture(stream, mode, call.run_body, &call, out_graph));
}

/** cushim_stream_capture_executable() with a body. An exception is thrown again after the capture has been ended. */
template <typename Body>
CUSHIM_LOCAL CUresult stream_capture_executable(struct cushim_stream *stream, CUstreamCaptureMode mode, unsigned flags,
                                                Body &&body, struct cushim_graph_exec **out_exec)
{
    detail::guard keeper;
    detail::callable<Body &> call = {body, &keeper};
    return keeper.finish(cushim_stream_capture_executable(stream, mode, flags, call.run_body, &call, out_exec));
}

/** cushim_stream_capture_to_graph() with a body. An exception is thrown again after the capture has been ended. */
template <typename Body>
CUSHIM_LOCAL CUresult stream_capture_to_graph(struct cushim_stream *stream, struct cushim_graph *graph,
                                              const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
                                              CUstreamCaptureMode mode, Body &&body)
{
    detail::guard keeper;
    detail::callable<Body &> call = {body, &keeper};
    return keeper.finish(
        cushim_stream_capture_to_graph(stream, graph, nodes, edges, count, mode, call.run_body, &call));
}

/**
 * cushim_stream_enqueue() with a body, which is copied or moved and then destroyed where that function would destroy
 * `user`: when the GPU is done with the work, possibly on a thread of the driver. So memory that the work uses can
 * belong to the body. After an exception, *out_completion is not written, and the body is destroyed in the same way.
 */
template <typename Body>
CUSHIM_LOCAL CUresult stream_enqueue(struct cushim_stream *stream, Body &&body,
                                     struct cushim_completion **out_completion)
{
    detail::guard keeper;
    auto *call = detail::keep("cushim_stream_enqueue", std::forward<Body>(body), &keeper);
    if (call == nullptr)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return keeper.finish(cushim_stream_enqueue(stream, call->run_body, call, call->destroy, out_completion));
}

/** @} */

/**
 * @name Functions that are called later
 * The function is copied or moved, and destroyed once, where the function of C would call `destroy_user`. Calling and
 * destroying it must follow the rules of that function: on a thread of the driver it makes no CUDA call, and so it must
 * not own an object of cushim. An exception that leaves it ends the process.
 */
/** @{ */

/**
 * cushim_stream_launch_host() with anything that can be called without an argument. In a capture, it lives as long as
 * the graph and its executables and copies, and is called at each launch; launches of two executables can call it at
 * the same time.
 */
template <typename Function> CUSHIM_LOCAL CUresult stream_launch_host(struct cushim_stream *stream, Function &&function)
{
    auto *call = detail::keep("cushim_stream_launch_host", std::forward<Function>(function));
    if (call == nullptr)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return cushim_stream_launch_host(stream, call->run, call, call->destroy);
}

/** cushim_stream_add_callback() with anything that can be called with a CUresult, the status of the work. */
template <typename Function>
CUSHIM_LOCAL CUresult stream_add_callback(struct cushim_stream *stream, Function &&function)
{
    auto *call = detail::keep("cushim_stream_add_callback", std::forward<Function>(function));
    if (call == nullptr)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return cushim_stream_add_callback(stream, call->run_in_stream, call, call->destroy);
}

/** cushim_completion_set_callback() with anything that can be called with a CUresult. */
template <typename Function>
CUSHIM_LOCAL CUresult completion_set_callback(struct cushim_completion *completion,
                                              struct cushim_dispatcher *dispatcher, Function &&function)
{
    auto *call = detail::keep("cushim_completion_set_callback", std::forward<Function>(function));
    if (call == nullptr)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return cushim_completion_set_callback(completion, dispatcher, call->run_with_status, call, call->destroy);
}

/** cushim_completion_set_inline_callback() with anything that can be called with a CUresult. */
template <typename Function>
CUSHIM_LOCAL CUresult completion_set_inline_callback(struct cushim_completion *completion, Function &&function)
{
    auto *call = detail::keep("cushim_completion_set_inline_callback", std::forward<Function>(function));
    if (call == nullptr)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return cushim_completion_set_inline_callback(completion, call->run_with_status, call, call->destroy);
}

/** @} */

} // namespace with_exceptions or without_exceptions

/**
 * The owner of an object of C, or of none. It can be moved and not copied.
 *
 * The destructor ends the object and loses the code. That of a stream waits for the work, since what this uses is often
 * destroyed next; that of a capture must run on the thread that began it. To end an object in another way, or with a
 * code, call the function of C with inout(): cushim_stream_destroy(stream.inout()) does not wait.
 *
 * An owner cannot be a global variable: the driver may have ended before its destructor runs.
 */
template <typename Object> class owner {
public:
    /** Owns nothing. */
    CUSHIM_LOCAL owner() noexcept : object_(nullptr) {}

    /** Takes an object. */
    CUSHIM_LOCAL explicit owner(Object *object) noexcept : object_(object) {}

    /** Takes the object of another owner. */
    CUSHIM_LOCAL owner(owner &&other) noexcept : object_(other.release()) {}

    /** Ends the object and takes that of another owner. */
    CUSHIM_LOCAL owner &operator=(owner &&other) noexcept
    {
        reset(other.release());
        return *this;
    }

    CUSHIM_LOCAL ~owner() { reset(); }

    /** Returns the object, which the owner keeps. */
    CUSHIM_LOCAL Object *get() const noexcept { return object_; }

    /** Returns whether there is an object. */
    CUSHIM_LOCAL explicit operator bool() const noexcept { return object_ != nullptr; }

    /** Returns the object, which the caller owns now. */
    CUSHIM_LOCAL Object *release() noexcept
    {
        Object *released = object_;
        object_ = nullptr;
        return released;
    }

    /** Ends the object and takes another one or none. */
    CUSHIM_LOCAL void reset(Object *object = nullptr) noexcept
    {
        Object *old = object_;
        object_ = object;
        if (old != nullptr)
            end(old);
    }

    /** Ends the object, and returns the address for the output parameter of a function that creates one. */
    CUSHIM_LOCAL Object **out() noexcept
    {
        reset();
        return &object_;
    }

    /** Returns the address for a function that ends the object. */
    CUSHIM_LOCAL Object **inout() noexcept { return &object_; }

private:
    CUSHIM_LOCAL static void end(struct cushim_context *object) { (void)cushim_context_destroy(&object); }
    CUSHIM_LOCAL static void end(struct cushim_event *object) { (void)cushim_event_destroy(&object); }
    CUSHIM_LOCAL static void end(struct cushim_graph *object) { (void)cushim_graph_destroy(&object); }
    CUSHIM_LOCAL static void end(struct cushim_graph_exec *object) { (void)cushim_graph_exec_destroy(&object); }
    CUSHIM_LOCAL static void end(struct cushim_capture *object) { (void)cushim_capture_end(&object, nullptr); }
    CUSHIM_LOCAL static void end(struct cushim_capture_info *object) { cushim_capture_info_destroy(&object); }
    CUSHIM_LOCAL static void end(struct cushim_completion *object) { cushim_completion_destroy(&object); }
    CUSHIM_LOCAL static void end(struct cushim_dispatcher *object) { cushim_dispatcher_destroy(&object); }

    CUSHIM_LOCAL static void end(struct cushim_stream *object)
    {
        (void)(cushim_stream_is_owned(object) ? cushim_stream_close(&object) : cushim_stream_destroy(&object));
    }

    Object *object_;
};

using context = owner<struct cushim_context>; /**< Ended by cushim_context_destroy(). */
using stream = owner<
    struct cushim_stream>; /**< Ended by cushim_stream_close(), or by cushim_stream_destroy() if it is borrowed. */
using event = owner<struct cushim_event>;               /**< Ended by cushim_event_destroy(). */
using graph = owner<struct cushim_graph>;               /**< Ended by cushim_graph_destroy(). */
using graph_exec = owner<struct cushim_graph_exec>;     /**< Ended by cushim_graph_exec_destroy(). */
using capture = owner<struct cushim_capture>;           /**< Ended by cushim_capture_end(), without a graph. */
using capture_info = owner<struct cushim_capture_info>; /**< Ended by cushim_capture_info_destroy(). */
using completion = owner<struct cushim_completion>;     /**< Ended by cushim_completion_destroy(). */
using dispatcher = owner<struct cushim_dispatcher>;     /**< Ended by cushim_dispatcher_destroy(). */

#endif

} // namespace cushim_library
} // namespace cushim

#endif
