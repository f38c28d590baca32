# SPDX-License-Identifier: MIT
"""Our types and constants equal NVIDIA's: sizes, alignments, offsets and values. The table is the same with both.

Each fact is a number that a compiler computes. It is put into an object file and read from there, so the test
also works for targets whose programs do not run here. Facts of our own types are compared with those of the
Toolkit, to which we add what it lacks, in C and in C++.
"""
import os
import re
import tempfile

import assertions
import declarations
import support

import toolkit as headers

# Differences from an older Toolkit, and the version from which on they no longer exist.
GROWN = {
    # The same name with a new layout.
    'CUstreamAttrValue': 11080,
    'CUkernelNodeAttrValue': 11080,
    'CUDA_KERNEL_NODE_PARAMS': 12000,
    'CUDA_CHILD_GRAPH_NODE_PARAMS': 12090,
    'CUdevSmResource': 13040,
    'CUDA_HOST_NODE_PARAMS_v2': 13040,
    'CUDA_EVENT_RECORD_NODE_PARAMS': 13040,
    'CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2': 13040,
    'CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2': 13040,
    'CUtensorMap': 13000,
    # Members of such a type; the size of the whole is unchanged.
    'CUdevResource.sm': 13040,
    'CUdevResource._oversize': 13010,
    'alignment of CUdevResource': 13010,
    'CUdevResource.nextResource': 13010,
    'CUgraphNodeParams.host': 13040,
    'CUgraphNodeParams.eventRecord': 13040,
    'CUgraphNodeParams.extSemSignal': 13040,
    'CUgraphNodeParams.extSemWait': 13040,
    'CUgraphNodeParams.asBytes': 13030,
    'CUgraphNodeParams.memcpyBatch': 13050,
    'CUgraphNodeParams.fabricCpyBatch': 13050,
    'CUdevResource.wqConfig': 13010,
    'CUdevResource.wq': 13010,
    'CUgraphNodeParams.graph': 12090,
    # Members in the place of padding.
    'CUstreamBatchMemOpParams.memoryBarrier': 11070,
    'CUstreamBatchMemOpParams.atomicReduction': 13010,
    'CUlaunchAttributeValue.memSyncDomainMap': 12000,
    'CUlaunchAttributeValue.memSyncDomain': 12000,
    'CUlaunchAttributeValue.launchCompletionEvent': 12030,
    'CUlaunchAttributeValue.deviceUpdatableKernelNode': 12040,
    'CUlaunchAttributeValue.sharedMemCarveout': 12050,
    'CUlaunchAttributeValue.preferredClusterDim': 12080,
    'CUlaunchAttributeValue.nvlinkUtilCentricScheduling': 13000,
    'CUcheckpointRestoreArgs.gpuPairs': 13000,
    'CUcheckpointRestoreArgs.gpuPairsCount': 13000,
    'CUcheckpointRestoreArgs.padding0': 13040,
    'CUcheckpointRestoreArgs.customStorageInfo_out': 13040,
    'CUcheckpointRestoreArgs.reserved': 13040,
    'CUcheckpointCheckpointArgs.customStorageInfo_out': 13040,
    'CUcheckpointCheckpointArgs.reserved': 13040,
    'CUlaunchAttributeValue.portableClusterSizeMode': 13020,
    'CUlaunchAttributeValue.sharedMemoryMode': 13020,
    'CUmemLocation.localized': 13040,
    'CUmemPoolProps.gpuDirectRDMACapable': 13040,
    'CU_DEV_SM_RESOURCE_GROUP_PARAMS.localityDomainId': 13040,
    'CU_DEV_SM_RESOURCE_GROUP_PARAMS.reserved': 13040,
    'CUmemPoolProps.maxSize': 12020,
    'CUmemPoolProps.usage': 12060,
    'CUmemPoolProps.reserved': 13040,
    'CUgraphNodeParams.conditional': 12030,
    # The same name with a new meaning.
    'CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS': 12000,
    'CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR': 12000,
    # The ends of enums, and masks of all values, which change with every version.
    'CU_COREDUMP_MAX': 12050,
    'CU_CTX_FLAGS_MASK': 12010,
    'CU_COREDUMP_LIGHTWEIGHT_FLAGS': 13050,
    'CU_DEVICE_ATTRIBUTE_MAX': 13040,
    'CU_FUNC_ATTRIBUTE_MAX': 13040,
    'CU_JIT_NUM_OPTIONS': 13010,
    'CU_JIT_NUM_INPUT_TYPES': 11080,
    'CU_LIMIT_MAX': 13040,
    'CU_MEM_ACCESS_FLAGS_PROT_MAX': 11040,
    'CU_MEM_ALLOCATION_TYPE_MAX': 11040,
    'CU_MEM_HANDLE_TYPE_MAX': 11040,
    'CU_MEM_LOCATION_TYPE_MAX': 11040,
}

# Negative in NVIDIA's enums. Ours are unsigned in C++, and in C as long as no enumerator is negative: compared as int.
NEGATIVE = {'CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID', 'CU_COREDUMP_LOG_ONLY'}

# Declared twice: for two sizes of pointers, and to give an old <cuda.h> the name of a later one.
TWICE = {'CUdeviceptr', 'CUDA_KERNEL_NODE_PARAMS_v1', 'CUdevSmResourceSplitByCount_flags'}

# NVIDIA's own switch for showing the retired types too.
SHOWN = ['-D__CUDA_API_VERSION_INTERNAL']

MAGIC = 'cushim facts, eight bytes each: '  # a multiple of eight, so that the facts follow
PROBE = '''
#include <stddef.h>
#define FACT(x) (unsigned long long)(x),
#ifdef __cplusplus
#define ALIGN(type) alignof(type)
#else
#define ALIGN(type) _Alignof(type)
#endif
struct facts {
    unsigned char magic[%d];
    unsigned long long values[%d];
};
extern const struct facts facts;
const struct facts facts = {{
'''


class Excuses:
    """The names that are known to differ from this Toolkit. Our own declarations never differ."""

    def __init__(self, setting, declared):
        from_toolkit = {one.name for one in declared if one.gate is not None and one.gate <= setting.version}
        self.names = {name for name, version in GROWN.items()
                      if setting.version < version and name.split(' ')[-1].split('.')[0] in from_toolkit}

    def cover(self, name):
        path = name.split('.')
        return any('.'.join(path[:length]) in self.names for length in range(1, len(path) + 1))


def facts(language, flags, headers, questions):
    """The answers to `questions`, pairs of a name and an expression, in a mode; or the output of the compiler."""
    magic = ', '.join(str(ord(letter)) for letter in MAGIC)
    source = ''.join(f'#include {header}\n' for header in headers) + PROBE % (len(MAGIC), len(questions))
    source += magic + '}, {\n#line 1 "questions"\n'
    source += ''.join(f'FACT({expression})\n' for _, expression in questions) + '}};\n'
    with tempfile.TemporaryDirectory() as directory:
        output = os.path.join(directory, 'facts.o')
        status, said = language.run(source, flags, output)
        if status:
            return None, said
        with open(output, 'rb') as file:
            data = file.read()
    start = data.find(MAGIC.encode())
    if start < 0:
        return None, 'the object file has no facts'
    start += len(MAGIC)
    return {name: int.from_bytes(data[start + 8 * index:start + 8 * index + 8], 'little')
            for index, (name, _) in enumerate(questions)}, ''


def questions_about(declared, wanted):
    result = []
    for one in declared:
        if not wanted(one.name):
            continue
        if one.kind == 'constant':
            result.append((one.name, f'(int){one.name}' if one.name in NEGATIVE else one.name))
        else:
            result.append((f'sizeof {one.name}', f'sizeof({one.name})'))
            if wanted(f'alignment of {one.name}'):
                result.append((f'alignment of {one.name}', f'ALIGN({one.name})'))
        for member in one.members:
            path = f'{one.name}.{member}'
            if wanted(path):
                result += [(f'offset of {path}', f'offsetof({one.name}, {member})'),
                           (f'sizeof {path}', f'sizeof((({one.name} *)0)->{member})')]
    return result


def compared(name_a, a, name_b, b):
    return [f'{name}: {a[name]} with {name_a}, {b[name]} with {name_b}' for name in a if a[name] != b[name]]


def test_declaration_when_read_stands_once(declared):
    names = [one.name for one in declared if one.name not in TWICE]
    return [f'{name}: declared more than once' for name in sorted({name for name in names if names.count(name) > 1})]


def compare_with_toolkit(setting, headers, questions):
    """Compares our types with the Toolkit's in every language. `headers` are those of the two modes."""
    answers = {}
    modes = (('own types', support.OWN, headers[0]), ('the Toolkit', setting.toolkit + SHOWN, headers[1]))
    for language in setting.languages:
        for mode, flags, included in modes:
            known, said = facts(language, [*flags, *support.stub_flags()], included, questions)
            if known is None:
                return [f'{language} with {mode}:\n{said}']
            answers[f'{mode} in {language}'] = known
    (first, reference), *others = answers.items()
    return [failure for name, known in others for failure in compared(first, reference, name, known)]


def count(declared):
    constants = sum(one.kind == 'constant' for one in declared)
    return f'{len(declared) - constants} types and {constants} constants'


def test_types_when_ours_are_the_toolkits(setting, declared):
    excuses = Excuses(setting, declared)
    questions = questions_about(declared, lambda name: not excuses.cover(name))
    headers = ['"cushim/abi/cuda_abi.h"']
    failures = compare_with_toolkit(setting, (headers, headers), questions)
    print(f'{len(questions)} facts of {count(declared)} are the same with our types and with the Toolkit, in '
          + ' and '.join(str(language) for language in setting.languages))
    if excuses.names:
        print(f'{len(excuses.names)} not compared, being known to differ: ' + ' '.join(sorted(excuses.names)))
    return failures


def test_excuse_when_asked_for_is_needed(setting, declared):
    """Each exception above really differs; otherwise a mistake could hide behind it."""
    headers = ['"cushim/abi/cuda_abi.h"']
    questions = {name: [one for one in questions_about(declared, lambda _: True)
                        if re.search(r'(?:^| )' + re.escape(name) + '$', one[0])]
                 for name in sorted(Excuses(setting, declared).names)}
    theirs = None
    while theirs is None:
        asked = [(name, one) for name in questions for one in questions[name]]
        theirs, said = facts(setting.c, setting.toolkit, headers, [one for _, one in asked])
        # A name that the Toolkit lacks is an error in the line of its question. The compiler reports each name once.
        lacking = {asked[int(line) - 1][0] for line in re.findall(r'^questions:(\d+):', said, re.M)}
        if theirs is None and not lacking:
            return ['the excused names with the Toolkit:\n' + said]
        questions = {name: of_one for name, of_one in questions.items() if name not in lacking}
    ours, _ = facts(setting.c, support.OWN, headers, [one for _, one in asked])
    return [f'{name}: excused, but the same in this Toolkit' for name, of_one in questions.items()
            if all(theirs[one] == ours[one] for one, _ in of_one)]


def test_interop_when_compared_is_that_of_its_headers(setting):
    """The types of EGL, OpenGL and the profiler, which have their own headers, except those that an old Toolkit lacks."""
    theirs = ['<cudaEGL.h>', '<cudaGL.h>', '<cudaProfiler.h>']
    if not all(setting.has_header(header.strip('<>')) for header in theirs):
        print(f'not all of {" ".join(theirs)}: their types are not compared')
        return []
    declared = declarations.read([support.HEADERS / 'abi' / name for name in ('egl.h', 'interop.h', 'cuda_abi.h')])
    text = setting.c.preprocess(''.join(f'#include {header}\n' for header in theirs),
                                [*setting.toolkit, *support.stub_flags()])
    names = set(re.findall(r'\b\w+\b', text)) - {'CU_EGL_COLOR_FORMAT_MAX'}
    declared = [one for one in declared if one.name in names]
    ours = '"cushim/abi/egl.h"'
    failures = compare_with_toolkit(setting, ([ours], [*theirs, ours]), questions_about(declared, lambda _: True))
    print(f'{count(declared)} of EGL, OpenGL and the profiler likewise')
    return failures


def test_gate_when_compared_with_the_toolkit_is_right(setting, declared):
    """A declaration behind a gate above the Toolkit's version is not in the Toolkit, and every other one is."""
    text = setting.c.preprocess('#include <cuda.h>\n', setting.toolkit + SHOWN)
    macros = setting.c.preprocess('#include <cuda.h>\n', [*setting.toolkit, *SHOWN, '-dM'])
    theirs = set(re.findall(r'\b\w+\b', text)) | set(re.findall(r'^#define (\w+)', macros, re.M))
    failures = []
    for one in declared:
        if one.name in TWICE:
            continue
        if one.gate is None:
            failures.append(f'{one.name}: declared whatever the Toolkit')
        elif one.gate > setting.version and one.name in theirs:
            failures.append(f'{one.name}: this Toolkit has it, but the gate says CUDA {one.gate}')
        elif one.gate <= setting.version and one.name not in theirs:
            failures.append(f'{one.name}: this Toolkit lacks it, but the gate says CUDA {one.gate}')
    print(f'{sum((one.gate or 0) > setting.version for one in declared)} supplements to this Toolkit')
    return failures


def test_constant_when_in_the_toolkit_is_ours_too(setting, declared):
    """Every enumerator of an enum that we declare, and every macro that looks like a constant."""
    ours = {one.name for one in declared} | headers.DROPPED
    text = setting.c.preprocess('#include <cuda.h>\n', setting.toolkit)
    macros = setting.c.preprocess('#include <cuda.h>\n', [*setting.toolkit, '-dM'])
    theirs = {}
    for body, name in re.findall(r'typedef enum\s*\w*\s*\{([^}]*)\}\s*(\w+);', text):
        if name in ours:
            theirs.update((one, name) for one in re.findall(r'(?:^|,)\s*(\w+)', body))
    theirs.update((name, 'macros') for name in re.findall(r'^#define (CU(?:DA)?_\w+) \S', macros, re.M))
    print(f'{len(theirs)} constants of this Toolkit are ours too')
    return [f'{name}: in this Toolkit ({where}), and not in our headers'
            for name, where in sorted(theirs.items()) if name not in ours]


def test_member_when_in_the_newest_toolkit_is_ours_too(setting, declared):
    """A member of a union, or one in the place of padding, changes no size."""
    if setting.version != support.NEWEST:
        return []
    ours = {one.name: set(one.members) for one in declared if one.members}
    text, known, failures = setting.c.preprocess('#include <cuda.h>\n', setting.toolkit), 0, []
    for statement in headers.statements(text):
        found = re.search(r'(?:struct|union)\s+(\w+)\s*\{(.*)\}\s*(\w*)$', statement, re.S)
        name = (found[3] or found[1].removesuffix('_st')) if found else ''
        name = name if name in ours else re.sub(r'_v\d+$', '', name)
        if name in ours:
            known += 1
            # A member of a struct of ours, such as cushim_endpoint_unicast, has no members here.
            failures += [f'{name}.{member}: in this Toolkit, and not in our headers'
                         for member in sorted(set(declarations.members(found[2])) - ours[name])
                         if member.rpartition('.')[0] not in ours[name]]
    print(f'{known} structs and unions of this Toolkit have no other members')
    return failures if known else ['no struct was found']


def test_table_when_built_with_the_toolkit_is_the_same(setting):
    """check_registry.py does the same with our own types."""
    rows = list(assertions.of_table())
    jobs = [(language, setting.toolkit + more) for language in setting.languages for more in ([], support.PER_THREAD)]
    results = support.each(lambda job: job[0].run(assertions.source(job[0], rows), job[1]), jobs)
    print(f'the table with {len(rows) - 1} slots is the same in {len(jobs)} ways')
    return [f'{language}, {flags}:\n{said[:2000]}'
            for (language, flags), (status, said) in zip(jobs, results) if status]


def main():
    setting = support.Setting()
    paths = sorted(path for path in support.HEADERS.glob('abi/*.h')
                   if path.name not in ('egl.h', 'interop.h', 'cuda_abi.h', 'conflict.h'))
    declared = declarations.read(paths)
    failures = test_declaration_when_read_stands_once(declared)
    if not setting.have_cuda_h:
        print('no <cuda.h>: nothing to compare our types with')
        support.finish(failures)
    failures += test_table_when_built_with_the_toolkit_is_the_same(setting)
    if setting.version > support.NEWEST:
        print('this Toolkit is newer than our types: not compared')
    else:
        failures += test_types_when_ours_are_the_toolkits(setting, declared)
        failures += test_excuse_when_asked_for_is_needed(setting, declared)
        failures += test_constant_when_in_the_toolkit_is_ours_too(setting, declared)
        failures += test_member_when_in_the_newest_toolkit_is_ours_too(setting, declared)
        failures += test_gate_when_compared_with_the_toolkit_is_right(setting, declared)
        failures += test_interop_when_compared_is_that_of_its_headers(setting)
    support.finish(failures)


if __name__ == '__main__':
    main()
