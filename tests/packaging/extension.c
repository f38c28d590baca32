/* SPDX-License-Identifier: MIT */
/*
 * A Python extension with its own copy of cushim, in the wheel that tests/packaging/wheel builds twice, as `first` and
 * `second`. Its work on the GPU waits for a byte in one pipe, and its functions write to another pipe.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <unistd.h>

#include "cushim/cushim.h"

#define CONCATENATE_AGAIN(a, b) a##b
#define CONCATENATE(a, b) CONCATENATE_AGAIN(a, b)
#define TEXT_AGAIN(name) #name
#define TEXT(name) TEXT_AGAIN(name)

static int gate_fd, report_fd;
static struct cushim_context *context;
static struct cushim_completion *completion;

static void report(char letter)
{
    if (write(report_fd, &letter, 1) != 1)
        _exit(2);
}

/* These two run on a thread of the driver: they make no CUDA call and do not use Python. */
static void wait_at_gate(void *user)
{
    char letter;
    (void)user;
    report('w');
    if (read(gate_fd, &letter, 1) != 1)
        _exit(2);
}

static void report_done(CUresult status, void *user)
{
    (void)user;
    report(status == CUDA_SUCCESS ? 'd' : 'e');
}

/* load(max_version): the code of cushim_load() and the table for the default stream of this file */
static PyObject *module_load(PyObject *module, PyObject *arguments)
{
    struct cushim_load_options options = {.max_version = 0};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "i", &options.max_version))
        return NULL;
    int code = (int)cushim_load(&options);
    int is_per_thread = cushim_table() == cushim_table_per_thread() && cushim_table() != cushim_table_legacy();
    return Py_BuildValue("iiiK", code, cushim_driver_version(), is_per_thread,
                         (unsigned long long)(uintptr_t)cushim_table());
}

/* init(): the code of cushim_init() and the reason for it */
static PyObject *module_init(PyObject *module, PyObject *arguments)
{
    CUresult result;
    (void)module, (void)arguments;
    Py_BEGIN_ALLOW_THREADS result = cushim_init();
    Py_END_ALLOW_THREADS return Py_BuildValue("is", (int)result, cushim_diagnosis_get()->reason_name);
}

static CUresult start(void)
{
    struct cushim_stream *stream = NULL;
    CUresult result = context == NULL ? cushim_context_create_primary(0, &context) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        result = cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream);
    if (result == CUDA_SUCCESS)
        result = cushim_table()->LaunchHostFunc_v1(cushim_stream_handle(stream), wait_at_gate, NULL);
    if (result == CUDA_SUCCESS)
        result = cushim_completion_create(stream, CUSHIM_COMPLETION_NOTIFYING, &completion);
    if (result == CUDA_SUCCESS)
        result = cushim_completion_set_inline_callback(completion, report_done, NULL, NULL);
    cushim_stream_destroy(&stream); /* the work goes on */
    return result;
}

/* start(gate, report): enqueues the work, which opens the gate when it has read a byte */
static PyObject *module_start(PyObject *module, PyObject *arguments)
{
    CUresult result;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "ii", &gate_fd, &report_fd))
        return NULL;
    Py_BEGIN_ALLOW_THREADS result = start();
    Py_END_ALLOW_THREADS return PyLong_FromLong((long)result);
}

static PyObject *module_poll(PyObject *module, PyObject *arguments)
{
    (void)module, (void)arguments;
    return PyLong_FromLong((long)cushim_completion_poll(completion, NULL));
}

static PyObject *module_descriptor(PyObject *module, PyObject *arguments)
{
    int descriptor = -1;
    (void)module, (void)arguments;
    (void)cushim_completion_get_descriptor(completion, &descriptor);
    return PyLong_FromLong(descriptor);
}

static PyObject *module_destroy(PyObject *module, PyObject *arguments)
{
    (void)module, (void)arguments;
    cushim_completion_destroy(&completion);
    Py_RETURN_NONE;
}

/* The message of an error of this thread. */
static PyObject *module_fail(PyObject *module, PyObject *arguments)
{
    (void)module, (void)arguments;
    (void)cushim_stream_query(NULL);
    return PyUnicode_FromString(cushim_error_last()->message);
}

static PyMethodDef methods[] = {
    {"load", module_load, METH_VARARGS, NULL},
    {"init", module_init, METH_NOARGS, NULL},
    {"start", module_start, METH_VARARGS, NULL},
    {"poll", module_poll, METH_NOARGS, NULL},
    {"descriptor", module_descriptor, METH_NOARGS, NULL},
    {"destroy", module_destroy, METH_NOARGS, NULL},
    {"fail", module_fail, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = TEXT(MODULE), .m_size = -1,
                                        .m_methods = methods};

PyMODINIT_FUNC CONCATENATE(PyInit_, MODULE)(void)
{
    return PyModule_Create(&definition);
}
