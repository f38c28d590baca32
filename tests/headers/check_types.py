# SPDX-License-Identifier: MIT
"""Each slot of struct cushim_dispatch_table has exactly the type that NVIDIA declares for that entry point.

NVIDIA declares it twice: as a prototype in <cuda.h>, and from CUDA 11.3 on as a typedef in <cudaTypedefs.h>.
Both are compared, in C and in C++: C accepts an enum for an unsigned int, and C++ does not.
"""
import re

import support
from support import includes, lists

ENTRY_POINTS = {one.slot_name: one for one in lists.read()}

# Rows with the same meaning, but not the same type: {slot: (before this version of the Toolkit, reason)}.
NOT_THE_SAME = {
    'StreamGetAttribute_v1': (11080, 'the shorter CUstreamAttrValue'),
    'StreamSetAttribute_v1': (11080, 'the shorter CUstreamAttrValue'),
    'GraphKernelNodeGetAttribute_v1': (11080, 'the shorter CUkernelNodeAttrValue'),
    'GraphKernelNodeSetAttribute_v1': (11080, 'the shorter CUkernelNodeAttrValue'),
}

# Where unsigned int stands for an enum of another header than <cuda.h>. To C the two are the same; C++ compares sizes.
ENUMS_OF_OTHERS = {'GLGetDevices_v1', 'GLGetDevices_v2', 'ProfilerInitialize_v1', 'VDPAUCtxCreate_v1', 'VDPAUCtxCreate_v2',
                   'VDPAUGetDevice_v1'}

FUNCTIONS = ['cuda.h', 'cudaGL.h', 'cudaEGL.h', 'cudaVDPAU.h', 'cudaProfiler.h']
TYPEDEFS = ['cudaTypedefs.h', 'cudaGLTypedefs.h', 'cudaEGLTypedefs.h', 'cudaVDPAUTypedefs.h', 'cudaProfilerTypedefs.h']

C_HEAD = '''#define SAME(slot, type) \\
    _Static_assert(_Generic(((struct cushim_dispatch_table *)0)->slot, type: 1, default: 0), #slot " is not a " #type);
#define SAME_AS(slot, function) SAME(slot, __typeof__(&function))
#define SIZE(slot, type) SAME(slot, type)
#define SIZE_AS(slot, function) SAME_AS(slot, function)
'''
CXX_HEAD = '''#include <type_traits>
#define SAME(slot, type) \\
    static_assert(std::is_same<decltype(cushim_dispatch_table::slot), type>::value, #slot " is not a " #type);
#define SAME_AS(slot, function) SAME(slot, decltype(&function))
template <typename One, typename Other> struct of_one_size;
template <typename Result, typename... One, typename... Other>
struct of_one_size<Result(CUDAAPI *)(One...), Result(CUDAAPI *)(Other...)> {
    static constexpr bool value = ((sizeof(One) == sizeof(Other)) && ...);
};
#define SIZE(slot, type) \\
    static_assert(of_one_size<decltype(cushim_dispatch_table::slot), type>::value, #slot " is not of the size of " #type);
#define SIZE_AS(slot, function) SIZE(slot, decltype(&function))
'''

# NVIDIA's own switch that also declares the retired entry points, each under its exported name.
FLAGS = ['-D__CUDA_API_VERSION_INTERNAL', *support.stub_flags()]


def typedefs_of(row, known):
    """The typedefs of an entry point: the ordinary one, and that of the per-thread variant, which must be the same."""
    one = ENTRY_POINTS[row.slot]
    form = one.per_thread_symbol.rpartition('_')[2]
    names = [f'PFN_{one.function}_v{one.version}'] + [f'PFN_{one.function}_v{one.per_thread_version}_{form}'] * bool(form)
    return [name for name in names if name in known]


def compare(setting, rows, kind, headers, found, failures):
    """Asserts one kind of comparison. `found` returns the names that a row is compared with."""
    named = {row.slot: found(row) for row in rows}
    excused = {slot for slot, (before, _) in NOT_THE_SAME.items() if setting.version < before}
    pairs = [(slot, name) for slot, names in named.items() if slot not in excused for name in names]
    suffix = '_AS' if kind == 'prototype' else ''
    for language in setting.languages:
        source = includes(headers) + '#include "cushim/loader.h"\n'
        source += CXX_HEAD if language.name == 'c++' else C_HEAD
        source += ''.join(f'{"SIZE" if slot in ENUMS_OF_OTHERS else "SAME"}{suffix}({slot}, {name})\n'
                          for slot, name in pairs)
        status, said = language.run(source, [*setting.toolkit, *FLAGS, '-Werror'])
        if status:
            failures.append(f'{kind}s, as {language}:\n{said}')
    asserted = {slot for slot, _ in pairs}
    print(f'{len(asserted)} of {len(rows)} slots have the type of NVIDIA\'s {kind}: {len(pairs)} assertions in each of '
          + ' and '.join(str(language) for language in setting.languages))
    if not asserted:
        failures.append(f'no slot was compared with a {kind}')
    # Entry points newer than the Toolkit are skipped; all others must be found.
    lacking = [row for row in rows if not named[row.slot] and not ENTRY_POINTS[row.slot].is_windows_only]
    since = {row.slot: ENTRY_POINTS[row.slot].declared_version for row in lacking}
    failures += [f'{slot} (CUDA {version}): no {kind} found in a newer Toolkit'
                 for slot, version in since.items() if version <= setting.version and slot not in excused]
    younger = [slot for slot, version in since.items() if version > setting.version]
    if younger:
        print(f'{len(younger)} without a {kind}, being younger than this Toolkit: ' + ' '.join(younger))


def main():
    setting = support.Setting()
    setting.need_toolkit()
    rows, failures = support.rows(), []

    headers = [header for header in FUNCTIONS if setting.has_header(header)]
    text = setting.c.preprocess(includes(headers), [*setting.toolkit, *FLAGS])
    functions = set(re.findall(r'\b(cu[A-Z]\w*)\s*\(', text))
    compare(setting, rows, 'prototype', headers,
            lambda row: [name for name in (row.name, row.name + '_ptsz', row.name + '_ptds') if name in functions],
            failures)

    headers = [header for header in TYPEDEFS if setting.has_header(header)]
    if TYPEDEFS[0] in headers:
        text = setting.c.preprocess(includes(headers), [*setting.toolkit, *FLAGS])
        known = set(re.findall(r'\*\s*(PFN_cu\w+)\s*\)', text))
        compare(setting, rows, 'typedef', headers, lambda row: typedefs_of(row, known), failures)
    elif setting.version >= 11030:
        failures.append('this Toolkit has no <cudaTypedefs.h>')

    for slot, (before, why) in NOT_THE_SAME.items():
        if setting.version < before:
            print(f'not compared, on purpose: {slot} ({why})')
    support.finish(failures)


main()
