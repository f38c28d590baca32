# SPDX-License-Identifier: MIT
"""write_lists.py --toolkit: what it reads from the headers of a Toolkit, with a small Toolkit of our own."""
import pathlib
import re
import subprocess
import sys
import tempfile

import support
from support import lists

import toolkit as headers

# A function of two ABI versions, the second with a per-thread variant; and one that the list of this test lacks.
CUDA_H = '''
#define CUDA_VERSION 13090
#define cuWork __CUDA_API_PTSZ(cuWork_v2)
typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
} CUresult;
__CUDA_DEPRECATED CUresult CUDAAPI cuWork(CUstream hStream, const CUarray *arrays, unsigned int count);
CUresult CUDAAPI cuNew(void);
#undef cuWork
CUresult CUDAAPI cuWork(CUstream hStream);
CUresult CUDAAPI cuWork_v2_ptsz(CUstream hStream, const CUarray *arrays, unsigned int count);
'''
TYPEDEFS_H = '''
typedef CUresult (CUDAAPI *PFN_cuWork_v7000)(CUstream hStream);
typedef CUresult (CUDAAPI *PFN_cuWork_v13000)(CUstream hStream, const CUarray *arrays, unsigned int count);
typedef CUresult (CUDAAPI *PFN_cuWork_v13000_ptsz)(CUstream hStream, const CUarray *arrays, unsigned int count);
typedef CUresult (CUDAAPI *PFN_cuNew_v13090)(void);
'''
# With a column that no reader knows.
COLUMNS = ('unknown', 'slot', 'function', 'abi', 'version', 'symbol', 'per_thread_symbol', 'parameters', 'platform',
           'plain', 'values')
LIST = (('a', '0', 'cuWork', 'v1', '7000', 'cuWork', '-', 'CUstream hStream', 'all', '7000', '-'),
        ('b', '1', 'cuWork', 'v2', '13000', 'cuWork_v2', 'cuWork_v2_ptsz',
         'CUstream hStream, const CUarray *arrays, unsigned int count', 'all', '13000', '-'))

# A change of the headers, (old text, new text, ...), and the line that reports it.
REPORTED = {
    'function without a typedef': (('PFN_cuNew_v13090', 'PFN_cuOther_v13090'), 'cuNew: no typedef'),
    'typedef without a function': (('cuNew(void);\n#', 'cuOther(void);\n#'), 'cuNew: 0 ABI versions'),
    'changed prototype': (('const CUarray *arrays', 'CUarray *arrays'), r'Work_v2: takes \(CUstream hStream, CUarray'),
    'prototypes that differ': (('PFN_cuWork_v7000)(CUstream hStream', 'PFN_cuWork_v7000)(CUstream hStream, int flags'),
                               'cuWork: declared with'),
    'changed version': (('PFN_cuWork_v13000', 'PFN_cuWork_v13010'), 'Work_v2: since CUDA 13.1, not 13.0'),
    'changed per-thread variant': (('PTSZ(', 'PTDS(', '_ptsz', '_ptds'), 'Work_v2: has the per-thread variant .*ptds,'),
    'per-thread variants that differ': (('__CUDA_API_PTSZ', '__CUDA_API_PTDS'), 'cuWork_v2_ptsz: a macro says'),
    'per-thread variant of another version': (('v13000_ptsz', 'v13010_ptsz'), 'cuWork: per-thread variants'),
    'removed function': (('Work', 'Gone'), 'Work_v1: not in CUDA 13.9'),
    'function with another result': (('CUresult CUDAAPI cuNew', 'const char *CUDAAPI cuNew'), 'cuNew: returns'),
    'parameter without a name': (('cuNew(void', 'cuNew(CUstream'), 'cuNew: parameters'),
    'pointer without a name': (('cuNew(void', 'cuNew(const CUstream *'), 'cuNew: parameters'),
    'number without a name': (('cuNew(void', 'cuNew(unsigned int'), 'cuNew: parameters'),
    'variable arguments': (('cuNew(void', 'cuNew(int count, ...'), 'cuNew: parameters'),
    'function pointer as a parameter': (('cuNew(void', 'cuNew(void (*callback)(void)'), 'cuNew: parameters'),
    'typedef of another form': (('(CUDAAPI *PFN_cuNew', '(*PFN_cuNew'), 'cudaTypedefs.h: not understood'),
    'hexadecimal error code': (('INVALID_VALUE = 1', 'INVALID_VALUE = 0x1, CUDA_ERROR_NEW = 0x3a0'), '.*NEW = 928'),
    'error code without a number': (('INVALID_VALUE = 1', 'INVALID_VALUE = 1, CUDA_ERROR_NEW'), 'CUDA_ERROR_NEW = 2'),
    'error code with another number': (('INVALID_VALUE = 1', 'INVALID_VALUE = 7'), 'CUDA_ERROR_INVALID_VALUE = 7'),
    'error code that is an expression': (('INVALID_VALUE = 1', 'INVALID_VALUE = 1, CUDA_ERROR_NEW = 1 << 9'), '.*= 512'),
    'error code of unknown value': (('INVALID_VALUE = 1', 'INVALID_VALUE = 1, CUDA_ERROR_NEW = NEW(1)'), '.*= None'),
    'new enumerator': (('typedef enum', 'typedef enum { CU_NEW } CUhostFn; typedef enum'), 'CU_NEW$'),
    'new macro': (('#undef', '#define CU_NEW 1\n#undef'), 'CU_NEW$'),
}


def write_toolkit(directory, *changes):
    for name, text in ('cuda.h', CUDA_H), ('cudaTypedefs.h', TYPEDEFS_H):
        for old, new in zip(changes[::2], changes[1::2]):
            text = text.replace(old, new)
        (pathlib.Path(directory) / name).write_text(text, encoding='utf-8')


def merged(directory):
    return headers.merge(headers.Toolkit(directory), [lists.EntryPoint(dict(zip(COLUMNS, row))) for row in LIST])


def test_toolkit_when_the_list_lacks_one_function_adds_it(directory):
    write_toolkit(directory)
    found, news = merged(directory)
    new = [list(one.cells().values()) for one in found if one.function == 'cuNew']
    lines = [line for lines in news for line in lines]
    failures = [] if lines == ['cuNew (13.9)'] else [f'not only cuNew is new: {lines}']
    if new != [['cuNew', 'v1', '13090', 'cuNew', '-', 'void', '2', 'all', '13090', '-', 'other']]:
        failures.append(f'cuNew is {new}')
    return failures


def test_list_when_its_columns_move_or_are_new_is_read_and_keeps_them(directory):
    path = pathlib.Path(directory) / 'list.tsv'
    lines = ['# a comment', '\t'.join(COLUMNS), *('\t'.join(row) for row in LIST)]
    path.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    write_toolkit(directory)
    lists.write(headers.merge(headers.Toolkit(directory), lists.read(path))[0], path)
    written = path.read_text(encoding='utf-8').splitlines()
    failures = [f'{line}: is gone' for line in lines if line not in written]
    if not any(line.startswith('-\t2\tcuNew\tv1\t') for line in written):
        failures.append(f'cuNew is not in its place: {written}')
    path.write_text(path.read_text(encoding='utf-8') + 'cuWork\n', encoding='utf-8')
    try:
        lists.read(path)
        failures.append('a row without all cells is accepted')
    except ValueError as error:
        print(error)
    return failures


def test_entry_point_when_its_abi_skips_numbers_has_the_exported_name(directory):
    write_toolkit(directory)
    for name, start in (('cuda.h', 'CUresult CUDAAPI cuWork_v5'),
                        ('cudaTypedefs.h', 'typedef CUresult (CUDAAPI * PFN_cuWork_v13090)')):
        with open(pathlib.Path(directory) / name, 'a', encoding='utf-8') as file:
            file.write(start + '(CUstream hStream, int flags);\n')
    found = {one.symbol: one for one in merged(directory)[0]}
    row = found.get('cuWork_v5')
    return [] if row and (row.abi, row.version) == ('v5', 13090) else [f'cuWork_v5 is not there: {sorted(found)}']


def test_header_when_not_understood_is_reported(directory):
    failures = []
    for name, (changes, line) in REPORTED.items():
        write_toolkit(directory, *changes)
        news = merged(directory)[1]
        reported = [one for lines in news for one in lines]
        if not any(re.match(line, one) for one in reported):
            failures.append(f'{name}: not reported: {news}')
    print(f'{len(REPORTED)} changes of the headers are reported')
    return failures


def test_command_when_something_is_reported_or_missing_fails(directory):
    failures = []
    write_toolkit(directory)
    for name in (None, 'cudaTypedefs.h', 'cuda.h'):
        if name:
            (pathlib.Path(directory) / name).unlink()
        done = subprocess.run([sys.executable, '-B', support.ROOT / 'loader' / 'lists' / 'write_lists.py', '--toolkit', directory],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 1 or 'Traceback' in done.stdout or (name and name not in done.stdout):
            failures.append(f'without {name}: status {done.returncode}: {done.stdout}')
    return failures


def main():
    failures = []
    for test in (test_list_when_its_columns_move_or_are_new_is_read_and_keeps_them,
                 test_toolkit_when_the_list_lacks_one_function_adds_it,
                 test_entry_point_when_its_abi_skips_numbers_has_the_exported_name,
                 test_header_when_not_understood_is_reported,
                 test_command_when_something_is_reported_or_missing_fails):
        with tempfile.TemporaryDirectory() as directory:
            failures += test(directory)
    support.finish(failures)


main()
