# SPDX-License-Identifier: MIT
"""Every public header compiles alone, in C and C++, with and without a Toolkit; code that must not compile reports
the reason."""
import os
import shutil
import tempfile

import support

# The table made from the rows, and a function for each row, as in the library.
EVERY_ROW = '''
#include "cushim/entry_points.h"
#include "cushim/abi/egl.h"
struct table {
#define CUSHIM_ENTRY(function, abi, since, parameters, arguments) CUresult(CUDAAPI *function##_##abi) parameters;
#include "cushim/entry_points.h"
};
extern const struct table *next;
extern const struct table passing_on;
#define CUSHIM_ENTRY(function, abi, since, parameters, arguments) \\
    static CUresult CUDAAPI call_##function##_##abi parameters \\
    { \\
        return next->function##_##abi arguments; \\
    }
#include "cushim/entry_points.h"
const struct table passing_on = {
#define CUSHIM_ENTRY(function, abi, since, parameters, arguments) call_##function##_##abi,
#include "cushim/entry_points.h"
};
'''


def include(*names):
    return ''.join(f'#include <{name}>\n' if name.split('/')[-1] == 'cuda.h' else f'#include "cushim/{name}"\n'
                   for name in names) + 'extern int any;\n'


def modes(setting):
    """For each way to build: name, flags, and whether <cuda.h> may be included too."""
    result = [('own types', support.OWN, False)]
    if setting.have_cuda_h:
        result.append(('Toolkit', setting.toolkit, True))
        result.append(('Toolkit, per-thread', setting.toolkit + support.PER_THREAD, True))
    return result


def orders(header, toolkit):
    """The orders of inclusion that must work. The headers in compat/ have our own types, like those that they
    replace."""
    if header.startswith('compat/'):
        return [(header,)]
    return [(header, 'cuda.h'), ('cuda.h', header)] if toolkit else [(header,)]


def test_header_when_included_alone_compiles(setting):
    # compat/ffnvcodec includes nv-codec-headers; tests/compat has it.
    headers = sorted(path.relative_to(support.HEADERS).as_posix() for path in support.HEADERS.rglob('*.h')
                     if path.parent.name != 'ffnvcodec')
    jobs = []
    for language in setting.languages:
        for mode, flags, toolkit in modes(setting):
            for header in headers + ['cushim.hpp'] * (language.name == 'c++'):
                jobs += [(language, mode, flags, include(*order), ' then '.join(order))
                         for order in orders(header, toolkit)]
            jobs.append((language, mode, flags, EVERY_ROW, 'every row'))
    results = support.each(lambda job: job[0].run(job[3], support.WARNINGS + job[2]), jobs)
    print(f'{len(headers)} headers, {len(jobs)} translation units')
    return [f'{job[4]} as {job[0]} with {job[1]}:\n{said}' for job, (status, said) in zip(jobs, results) if status]


def test_types_when_the_language_is_older_still_compile(setting):
    if not setting.cxx:
        return []
    older = support.Language(setting.cxx, 'c++', 'c++11')
    jobs = [(name, mode, flags, source) for mode, flags, _ in modes(setting)
            for name, source in (('every row', EVERY_ROW), ('cushim.hpp', include('cushim.hpp')))]
    results = support.each(lambda job: older.run(job[3], support.WARNINGS + job[2]), jobs)
    return [f'{name} as c++11 with {mode}:\n{said}'
            for (name, mode, _, _), (status, said) in zip(jobs, results) if status]


def test_types_when_the_target_is_windows_compile(setting):
    """The headers need no Windows headers: the types use <stddef.h> and <stdint.h> alone."""
    clang, clangxx = shutil.which('clang'), shutil.which('clang++')
    if not clang or not clangxx:
        print('no clang: Windows targets left out')
        return []
    failures = []
    for target in ('x86_64-pc-windows-msvc', 'x86_64-w64-windows-gnu'):
        for language in (support.Language([clang], 'c', 'c11'), support.Language([clangxx], 'c++', 'c++17')):
            flags = [*support.WARNINGS, *support.OWN, '--target=' + target, '-ffreestanding']
            status, said = language.run(EVERY_ROW, flags)
            if status:
                failures.append(f'every row as {language} for {target}:\n{said}')
    return failures


def test_mode_when_not_chosen_follows_the_toolkit(setting):
    failures = []
    source = '#include "cushim/abi/cuda_abi.h"\n@CUSHIM_CUDA_HEADER_VERSION@\n'
    wanted = 'CUDA_VERSION' if setting.have_cuda_h else '0'
    text = setting.c.preprocess(source, setting.toolkit)
    if f'@{setting.version or 0}@' not in text.replace(' ', ''):
        failures.append(f'with nothing chosen, CUSHIM_CUDA_HEADER_VERSION is not {wanted}')
    if '@0@' not in setting.c.preprocess(source, setting.toolkit + support.OWN).replace(' ', ''):
        failures.append('with CUSHIM_OWN_TYPES=1, CUSHIM_CUDA_HEADER_VERSION is not 0')
    return failures


# A <cuda.h> like those of CUDA 11.3 and later, one like that of 11.2, and ffnvcodec's two headers, shortened.
CUDA_H = '''
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__
#define CUDA_VERSION 12040
#ifdef __cplusplus
extern "C" {
#endif
typedef unsigned long long CUdeviceptr_v2;
typedef CUdeviceptr_v2 CUdeviceptr;
typedef struct CUipcEventHandle_st { char reserved[64]; } CUipcEventHandle_v1;
typedef CUipcEventHandle_v1 CUipcEventHandle;
typedef enum cudaError_enum { CUDA_SUCCESS = 0 } CUresult;
#define CU_ANY ((void *)(1))
CUresult cuInit(unsigned int flags);
#ifdef __cplusplus
}
#endif
#endif
'''
OLDEST_CUDA_H = CUDA_H.replace('typedef CUdeviceptr_v2 CUdeviceptr;\n', '').replace('CUdeviceptr_v2;', 'CUdeviceptr;')
DYNLINK_CUDA_H = '''
#if !defined(FFNV_DYNLINK_CUDA_H) && !defined(CUDA_VERSION)
#define FFNV_DYNLINK_CUDA_H
#define CUDA_VERSION 7050
typedef void *CUcontext;
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_NOT_READY = 600 } CUresult;
typedef CUresult tcuInit(unsigned int flags);
typedef CUresult tcuDeviceGetCount(int *count);
#endif
'''
DYNLINK_LOADER_H = '''
#ifndef FFNV_CUDA_DYNLINK_LOADER_H
#define FFNV_CUDA_DYNLINK_LOADER_H
#include "dynlink_cuda.h"
#ifdef FFNV_DYNLINK_CUDA_H
typedef struct CudaFunctions {
    tcuInit *cuInit;
    tcuDeviceGetCount *cuDeviceGetCount;
} CudaFunctions;
#endif
#endif
'''


PARTIAL_CUDA_H = '''
#ifndef PROJECT_CUDA_H
#define PROJECT_CUDA_H
typedef int CUdevice;
#endif
'''
# What the errors advise.
REPLACED_CUDA_H = '''#pragma once
#define CUSHIM_OWN_TYPES 1
#include <cushim/abi/cuda_abi.h>
'''


def fake_headers(directory):
    """The flag that adds a new directory with headers, for each kind of <cuda.h>."""
    flags = {}
    for name, text in (('old', '#define CUDA_VERSION 11010\n'), ('partial', PARTIAL_CUDA_H),
                       ('guarded', '#define __cuda_cuda_h__\n' + PARTIAL_CUDA_H), ('replaced', REPLACED_CUDA_H),
                       ('new', CUDA_H), ('11.2', OLDEST_CUDA_H)):
        path = os.path.join(directory, name)
        os.makedirs(os.path.join(path, 'ffnvcodec'))
        for header, content in (('cuda.h', text), ('ffnvcodec/dynlink_cuda.h', DYNLINK_CUDA_H),
                                ('ffnvcodec/dynlink_loader.h', DYNLINK_LOADER_H)):
            with open(os.path.join(path, header), 'w', encoding='utf-8') as file:
                file.write(content)
        flags[name] = ['-I', path]
    return flags


def refusals(setting, directory):
    """Code that must fail: a name, the source, the flags, and words of the message."""
    fake = fake_headers(directory)
    own = '#include "cushim/abi/cuda_abi.h"\n'
    cuda = '#include <cuda.h>\n'
    loader = '#include <ffnvcodec/dynlink_loader.h>\n'
    use = 'CUresult use(void);\nCUresult use(void) { return CUDA_SUCCESS; }\n'
    yield 'cuda.h of CUDA 11.1', own, fake['old'], 'older than CUDA 11.2'
    way_out = 'let it only define CUSHIM_OWN_TYPES as 1 and include <cushim/abi/cuda_abi.h>'
    yield 'a partial cuda.h', own, fake['partial'], way_out
    yield 'own types after a partial cuda.h', cuda + own, fake['guarded'] + support.OWN, way_out
    yield 'own types before a whole cuda.h', own + cuda + use, fake['new'] + support.OWN, way_out
    yield 'own types after a cuda.h', cuda + own + use, fake['new'] + support.OWN, '<cuda.h> was included before'
    yield 'own types after ffnvcodec', loader + own + use, fake['new'], '<ffnvcodec/dynlink_cuda.h> was included before'
    yield ('own types after cuew', '#define __CUEW_H__\n#define CUDA_VERSION 9020\n' + own, [],
           '<cuew.h> was included before')
    follows = "<cuda.h> follows cushim's own types"
    yield 'own types before a cuda.h', own + cuda + use, fake['new'] + support.OWN, follows
    yield 'own types before that of 11.2', own + cuda + use, fake['11.2'] + support.OWN, follows
    yield ('own types before ffnvcodec', own + loader + use, fake['new'] + support.OWN,
           "<ffnvcodec/dynlink_loader.h> follows cushim's own types")
    yield ('types after untyped.h', '#include "cushim/untyped.h"\n' + own, [],
           'include <cushim/cushim.h> in its place')
    for mode, flags, _ in modes(setting):
        for header in ('cushim.h', 'load.h', 'names.h'):
            yield f'-fshort-enums, {mode}, {header}', include(header), ['-fshort-enums', *flags], '-fshort-enums'
    if setting.have_cuda_h:
        yield 'own types after the Toolkit', cuda + own + use, support.OWN, '<cuda.h> was included before'
        yield 'own types before the Toolkit', own + cuda + use, support.OWN, follows


# The error, and the one that ends the compilation.
MAX_ERRORS = 2


def test_mixture_when_impossible_is_refused_with_a_reason(setting):
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as directory:
        for name, source, flags, words in refusals(setting, directory):
            for language in setting.languages:
                count += 1
                status, said = language.run(source, [*flags, *setting.toolkit])
                errors = [line for line in said.splitlines() if 'error:' in line]
                if status == 0:
                    failures.append(f'{name} as {language}: compiles')
                elif 'cushim: ' not in errors[0] or words not in errors[0]:
                    failures.append(f'{name} as {language}: the first error lacks "{words}":\n{said}')
                elif len(errors) > MAX_ERRORS:
                    failures.append(f'{name} as {language}: {len(errors)} errors:\n' + '\n'.join(errors))
    print(f'{count} refusals')
    return failures


def test_cuda_h_of_a_project_when_replaced_as_advised_compiles(setting):
    """Before and after each header that programs include, and with CUSHIM_OWN_TYPES on the command line."""
    headers = [path.relative_to(support.HEADERS).as_posix() for path in support.HEADERS.rglob('*.h')
               if path.parent == support.HEADERS or path.name in ('cuda_abi.h', 'egl.h')]
    headers = [header for header in headers if header not in ('untyped.h', 'ffnvcodec.h')]  # without types
    with tempfile.TemporaryDirectory() as directory:
        flags = [*support.WARNINGS, *fake_headers(directory)['replaced']]
        jobs = [(language, more, order) for language in setting.languages for header in headers
                for more in ([[], support.OWN] if header == 'cushim.h' else [[]])
                for order in (('cuda.h', header), (header, 'cuda.h'))]
        use = 'extern CUresult result;\nextern CUstream stream;\n'
        results = support.each(lambda job: job[0].run(include(*job[2]) + use, flags + job[1]), jobs)
    return [f'{" then ".join(order)} as {language} {more}:\n{said}'
            for (language, more, order), (status, said) in zip(jobs, results) if status]


UNTYPED_CALLS = '''
int call_all(void);
int call_all(void)
{
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    cushim_fn fn = cushim_function_if_available("cuMemAlloc", 12000, CUSHIM_DEFAULT_STREAM_LEGACY);
    return cushim_load(NULL) == 0 && cushim_symbol_if_available("cuInit") == fn && diagnosis->message != NULL
           && cushim_error_last()->code == 0 && cushim_version() == CUSHIM_VERSION;
}
'''


def test_untyped_when_beside_any_cuda_h_compiles(setting):
    """Before and after it, and also if it is partial."""
    with tempfile.TemporaryDirectory() as directory:
        fake = fake_headers(directory)
        kinds = {'none': [], **{name: fake[name] for name in ('old', 'partial', 'guarded', 'new', '11.2')}}
        if setting.have_cuda_h:
            kinds['Toolkit'] = setting.toolkit
        jobs = [(language, kind, order) for language in setting.languages for kind in kinds
                for order in ([('untyped.h',)] if kind == 'none' else [('untyped.h', 'cuda.h'), ('cuda.h', 'untyped.h')])]
        results = support.each(lambda job: job[0].run(include(*job[2]) + UNTYPED_CALLS,
                                                      support.WARNINGS + kinds[job[1]]), jobs)
    status, said = setting.c.run(include('cushim.h', 'untyped.h') + UNTYPED_CALLS, support.WARNINGS + support.OWN)
    after_types = ['untyped.h after cushim.h:\n' + said] if status else []
    return [f'{" then ".join(order)} as {language}, cuda.h: {kind}:\n{said}'
            for (language, kind, order), (status, said) in zip(jobs, results) if status] + after_types


def test_interop_when_included_then_has_its_constants_in_each_mode(setting):
    code = include('cushim.h', 'abi/interop.h') + '''
unsigned all(void);
unsigned all(void)
{
    return CU_GL_DEVICE_LIST_ALL + (unsigned)CU_D3D11_DEVICE_LIST_ALL + (unsigned)CU_OUT_CSV;
}
'''
    jobs = [(language, mode, flags) for language in setting.languages for mode, flags, _ in modes(setting)]
    results = support.each(lambda job: job[0].run(code, support.WARNINGS + job[2]), jobs)
    return [f'interop.h as {language} with {mode}:\n{said}'
            for (language, mode, _), (status, said) in zip(jobs, results) if status]


def main():
    setting = support.Setting()
    support.finish(
        test_header_when_included_alone_compiles(setting)
        + test_types_when_the_language_is_older_still_compile(setting)
        + test_types_when_the_target_is_windows_compile(setting)
        + test_mode_when_not_chosen_follows_the_toolkit(setting)
        + test_cuda_h_of_a_project_when_replaced_as_advised_compiles(setting)
        + test_untyped_when_beside_any_cuda_h_compiles(setting)
        + test_interop_when_included_then_has_its_constants_in_each_mode(setting)
        + test_mixture_when_impossible_is_refused_with_a_reason(setting))


main()
