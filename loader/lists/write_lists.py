#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes everything that is made from the lists in this directory (*.tsv) and version.txt. The result is checked in.

  write_lists.py            writes the files that have changed, and names them
  write_lists.py --check    only compares: exit status 1 if a file is not what the lists make of it
  write_lists.py --list     prints the files
  write_lists.py --toolkit INCLUDE          says what the list lacks of the headers in this directory, of a newer Toolkit
  write_lists.py --toolkit INCLUDE --add    adds it to entry_points.tsv: each entry point with its prototype and a slot

README.md beside this file says how to add a CUDA release.
"""
import argparse
import pathlib
import re
import sys
import textwrap

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[2] / 'src' / 'tools' / 'audit'))
import audit_tables  # pylint: disable=wrong-import-position
import entry_points as lists  # pylint: disable=wrong-import-position
import toolkit as headers  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 120
MADE = 'Made by loader/lists/write_lists.py from loader/lists/entry_points.tsv: do not edit.'
# A program for an older driver than the oldest that is known calls nothing here by a plain name of that time.
OLDEST_VERSION = lists.read_drivers()[0].version


def wrapped(items, opening, closing):
    """Items between two marks, on as many lines as it takes, each below the first."""
    unbroken = [item.replace(' ', '\0') for item in items]
    lines = textwrap.wrap(opening + ', '.join(unbroken) + closing, WIDTH, initial_indent=' ' * 13,
                          subsequent_indent=' ' * 14, break_long_words=False, break_on_hyphens=False)
    return '\n'.join(lines).replace('\0', ' ')


# ---- include/cushim/entry_points.h ----

ENTRY_POINTS_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * entry_points.h - the typed list: one row for each slot of the table.
 *
 *   CUSHIM_ENTRY(function, abi, version, parameters, arguments)
 *   CUSHIM_ENTRY_BY_KIND(function, abi, version, parameters, arguments)
 *
 *   function    the driver function without its "cu"; as a token, so that no macro of <cuda.h> can rename it
 *   abi         v1 for the oldest ABI version, which has no suffix; v2, v3, ... as in the exported name
 *   version     the CUDA version that added this entry point, 1000 * major + 10 * minor
 *   parameters  the typed parameter list, in parentheses; (void) for a function without parameters
 *   arguments   the names of those parameters, in parentheses, to pass them on; () for none
 *
 * The slot is named function_abi, such as StreamGetCaptureInfo_v3, and every function returns a CUresult. The order of
 * the rows is the order of the slots in the table, and part of the ABI.
 *
 * A row has the second form if the tables of the two default streams have different functions in its slot: the entry
 * point or a later version of it has a per-thread variant, or it returns such variants (cuGetProcAddress). Code that
 * wraps such a slot needs a wrapper for each table (layer.h).
 *
 * Define CUSHIM_ENTRY before including this file, as often as needed; it defaults to nothing. CUSHIM_ENTRY_BY_KIND
 * defaults to CUSHIM_ENTRY. Both are undefined at the end. A file that defines functions with these parameters must
 * include abi/egl.h, too, because one of the functions takes a frame by value.
 *
 * Where the meaning of a type name depends on the CUDA version, the list uses a name that has one meaning:
 * CUlaunchAttributeValue for CUstreamAttrValue and CUkernelNodeAttrValue, CUDA_KERNEL_NODE_PARAMS_v1 and _v2. Types of
 * Direct3D, OpenGL, EGL and VDPAU are given as their underlying C types. The slots for Direct3D and WGL exist on every
 * platform, but only a driver for Windows fills them.
 *
 * %s
 */
#include "cushim/abi/cuda_abi.h"

/* The newest CUDA version in the list, and the newest whose entry points were compared with those of a driver. All
 * were compared with NVIDIA's headers. A driver may be newer. */
#define CUSHIM_LIST_VERSION %d
#define CUSHIM_LIST_COMPARED_VERSION %d

/* The number of entry points in the list. A copy of cushim that was made for a set of functions has fewer. */
#define CUSHIM_LIST_COUNT %d

#ifndef CUSHIM_ENTRY
#    define CUSHIM_ENTRY(function, abi, version, parameters, arguments)
#endif
#ifndef CUSHIM_ENTRY_BY_KIND
#    define CUSHIM_ENTRY_BY_KIND CUSHIM_ENTRY
#endif

/* clang-format off */

'''


def typed_row(start, one):
    """A row that ends with the parameters and the arguments of an entry point."""
    row = f'{start}({one.parameters}), ({", ".join(one.arguments)}))'
    if len(row) <= WIDTH:
        return row
    return '\n'.join([start.rstrip(), wrapped(one.parameters.split(', '), '(', '),'), wrapped(one.arguments, '(', '))')])


def entry_row(one, by_kind):
    start = f'CUSHIM_ENTRY{"_BY_KIND" if by_kind else ""}({one.name}, {one.abi}, {one.version}, '
    return typed_row(start, one)


def write_entry_points(entry_points, chosen=None):
    """`chosen` has the entry points that get a slot; None: all."""
    by_kind = lists.by_kind(entry_points)
    rows = [entry_row(one, one in by_kind) for one in lists.in_slots(chosen or entry_points)]
    newest = max(one.version for one in entry_points)
    compared = lists.known_drivers()[-1].version
    return ENTRY_POINTS_HEAD % (MADE, newest, compared, len(entry_points)) + '\n'.join(rows) + '\n\n#undef CUSHIM_ENTRY\n#undef CUSHIM_ENTRY_BY_KIND\n'


# ---- include/cushim/names.h and names_interop.h ----

NAMES_VERSION = '''#ifndef CUSHIM_NAMES_VERSION
#    if CUSHIM_CUDA_HEADER_VERSION
#        define CUSHIM_NAMES_VERSION CUSHIM_CUDA_HEADER_VERSION
#    else
#        define CUSHIM_NAMES_VERSION CUSHIM_LIST_VERSION
#    endif
#endif

/* clang-format off */

'''

NAMES_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * names.h - for porting: code that calls the driver by its own names goes through the table, unchanged.
 *
 *   #include <cushim/names.h>
 *   ...
 *   cuStreamQuery(stream);             becomes cushim_table()->StreamQuery_v1(stream)
 *   cuStreamGetCaptureInfo_v3(...);    becomes cushim_table()->StreamGetCaptureInfo_v3(...)
 *
 * A suffixed name means the slot of that ABI version. A plain name means what it means in the <cuda.h> of
 * CUSHIM_NAMES_VERSION: cuStreamGetCaptureInfo has three parameters in CUDA 11, six in 12 and seven in 13. Define
 * CUSHIM_NAMES_VERSION to compile calls that were written for an older CUDA version. The default is the version of the
 * <cuda.h> in use or, with cushim's own types, the newest version in the list. The types do not depend on it. The
 * oldest ABI version of a function has no suffix. If the plain name means a newer version, call the oldest one through
 * the table. Stream 0 is the default stream for which the translation unit is compiled
 * (CUDA_API_PER_THREAD_DEFAULT_STREAM), as with <cuda.h>.
 *
 * These are macros, and they rename anything of the same name. Include this header after <cuda.h> and
 * <cudaProfiler.h>, and do not include it in files with a struct that has such members (ops.cuMemAlloc). For that
 * reason cushim.h does not include it. The names of the functions for Direct3D, OpenGL, EGL and VDPAU are in
 * names_interop.h, so that headers such as <cudaGL.h> may follow this header. A function that the list lacks keeps its
 * declaration from <cuda.h>, and a program that calls it must link to the driver; use cushim_lookup() instead.
 *
 * %s
 */
#ifndef CUSHIM_NAMES_H
#define CUSHIM_NAMES_H

#include "cushim/loader.h"

''' + NAMES_VERSION


NAMES_INTEROP_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * names_interop.h - includes names.h, and defines such macros for the functions for Direct3D 11, OpenGL, EGL and VDPAU.
 *
 * Include it last, after <cudaD3D11.h>, <cudaGL.h>, <cudaEGL.h> and <cudaVDPAU.h>.
 *
 * %s
 */
#ifndef CUSHIM_NAMES_INTEROP_H
#define CUSHIM_NAMES_INTEROP_H

#include "cushim/names.h"

/* clang-format off */

'''


def plain_meanings(function, entry_points):
    """What a plain name means: (CUDA version from which on, entry point), oldest first, as far back as drivers go."""
    meanings = sorted(((one.plain[function], one) for one in entry_points if function in one.plain),
                      key=lambda pair: pair[0])
    while len(meanings) > 1 and meanings[1][0] <= OLDEST_VERSION:
        del meanings[0]
    return meanings


def define(name, target, indent=''):
    line = f'#{indent}define {name} {target}'
    return line if len(line) <= WIDTH else f'#{indent}define {name} \\\n    {target}'


def names_of(function, versions, entry_points):
    """The macros of one driver function."""
    suffixed = [one for one in versions if one.abi != 'v1']
    meanings = plain_meanings(function, entry_points)
    lines = [f'#undef {name}' for name in [function, *(f'{function}_{one.abi}' for one in suffixed)]]
    lines += [define(f'{function}_{one.abi}', f'(cushim_table()->{one.slot_name})') for one in suffixed]

    def plain(one, indent=''):
        target = f'(cushim_table()->{one.slot_name})' if one.abi == 'v1' and one.function == function else one.symbol
        return define(function, target, indent)

    if len(meanings) == 1:
        return lines + [plain(meanings[0][1])]
    for index, (version, one) in enumerate(reversed(meanings)):
        last = index == len(meanings) - 1
        lines.append('#else' if last else f'#{"if" if index == 0 else "elif"} CUSHIM_NAMES_VERSION >= {version}')
        lines.append(plain(one, '    '))
    return lines + ['#endif']


def write_names(head, entry_points, functions=None):
    """`functions` has those that get macros; None: all."""
    text = head % MADE
    for function, versions in lists.by_function(entry_points).items():
        if functions is not None and function not in functions:
            continue
        text += '\n'.join(names_of(function, versions, entry_points)) + '\n'
    return text + '\n#endif\n'


# ---- include/cushim/compat/cuew_names.h ----

# The CUDA version for which <cuew.h> declares the functions.
CUEW_VERSION = 9020

CUEW_NAMES_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * cuew_names.h - the plain names whose meaning in CUDA %s is not the oldest ABI version of the function, for cuew.h.
 *
 * %s
 */
#ifndef CUSHIM_COMPAT_CUEW_NAMES_H
#define CUSHIM_COMPAT_CUEW_NAMES_H

/* clang-format off */

'''


def write_cuew_names(entry_points):
    lines = []
    for function in lists.by_function(entry_points):
        older = [one for version, one in plain_meanings(function, entry_points) if version <= CUEW_VERSION]
        if older and older[-1].abi != 'v1':
            lines.append(define(function, older[-1].symbol))
    return (CUEW_NAMES_HEAD % (lists.version_text(CUEW_VERSION), MADE)) + '\n'.join(lines) + '\n\n#endif\n'


# ---- loader/lists/symbols.inc ----

SYMBOLS_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * symbols.inc - every entry point of the driver, as one untyped row each.
 *
 *   CUSHIM_SYMBOL(function, abi, version, symbol, per_thread_symbol, platform)
 *
 *   function           the driver function without its "cu"; as a token, so that no macro of <cuda.h> can rename it
 *   abi                v1 for the oldest ABI version, which has no suffix; v2, v3, ... as in the exported name
 *   version            the CUDA version that brought this entry point, 1000 * major + 10 * minor
 *   symbol             the exported name
 *   per_thread_symbol  the exported name of the per-thread variant, or "" if the entry point has none. The variant
 *                      exists from CUDA %s on, or from `version` if that is later.
 *   platform           all, linux or windows: whose drivers have it
 *
 * Rows of one function stand together, oldest first: lookups rely on it. Define CUSHIM_SYMBOL before including this
 * file; it is undefined at the end.
 *
 * %s
 */
#ifndef CUSHIM_SYMBOL
#    define CUSHIM_SYMBOL(function, abi, version, symbol, per_thread_symbol, platform)
#endif

/* clang-format off */

'''


def write_symbols(entry_points):
    rows = [f'CUSHIM_SYMBOL({one.name}, {one.abi}, {one.version}, "{one.symbol}", "{one.per_thread_symbol}", '
            f'{one.platform})' for one in entry_points]
    head = SYMBOLS_HEAD % (lists.version_text(lists.FIRST_PER_THREAD_VERSION), MADE)
    return head + '\n'.join(rows) + '\n\n#undef CUSHIM_SYMBOL\n'


# ---- loader/lists/exports.inc ----

EXPORTS_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * exports.inc - every name that a driver exports, and the slot that answers it.
 *
 *   CUSHIM_EXPORT(symbol, kind, function, abi, version, parameters, arguments)
 *
 *   symbol         the exported name, as a token: the including file must not see the macros of <cuda.h>
 *   kind           legacy or per_thread: cushim_table_##kind() is the table with the slot of this name
 *   function, abi  the slot: function##_##abi
 *   version        the CUDA version from which drivers export the name, 1000 * major + 10 * minor
 *   parameters     the typed parameter list, in parentheses, as in entry_points.h
 *   arguments      the names of those parameters, in parentheses
 *
 *   CUSHIM_EXPORT_WITHOUT_SLOT(symbol, version)
 *
 *   A name that no header declares.
 *
 * Names that only drivers for Windows export are there on Windows only.
 *
 * Define the macros before including this file; they default to nothing, and are undefined at the end. A file that
 * defines functions with these parameters includes abi/egl.h too: one of them takes a frame by value.
 *
 * %s
 */
#include "cushim/abi/cuda_abi.h"

#ifndef CUSHIM_EXPORT
#    define CUSHIM_EXPORT(symbol, kind, function, abi, version, parameters, arguments)
#endif
#ifndef CUSHIM_EXPORT_WITHOUT_SLOT
#    define CUSHIM_EXPORT_WITHOUT_SLOT(symbol, version)
#endif

/* clang-format off */

'''


def exports_of(one):
    """The rows of one entry point: one for each exported name."""
    return [typed_row(f'CUSHIM_EXPORT({symbol}, {kind}, {one.name}, {one.abi}, {version}, ', one)
            for kind, (symbol, version) in zip(('legacy', 'per_thread'), one.exports)]


def write_exports(entry_points):
    rows = [row for one in entry_points if not one.is_windows_only for row in exports_of(one)]
    windows_rows = [row for one in entry_points if one.is_windows_only for row in exports_of(one)]
    versions = {driver.branch: driver.version for driver in lists.read_drivers()}
    rows += [f'CUSHIM_EXPORT_WITHOUT_SLOT({symbol}, {versions[branch]})' for symbol, branch in lists.WITHOUT_ROW.items()]
    return (EXPORTS_HEAD % MADE + '\n'.join(rows)
            + '\n\n#if defined(_WIN32)\n' + '\n'.join(windows_rows) + '\n#endif'
            + '\n\n#undef CUSHIM_EXPORT\n#undef CUSHIM_EXPORT_WITHOUT_SLOT\n')


# ---- src/tools/trace/layer/fields.inc and src/tools/trace/file/enumerators.inc ----

FIELDS_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * fields.inc - what the trace layer records of a call: TRACE_FIELDS_slot(X) is a row for each parameter.
 *
 *   X(kind, type, name)
 *
 *   VALUE      the parameter
 *   OUT        a pointer, and the value behind it after a call that succeeded
 *   IN         a pointer, and the value behind it before the call
 *   IN_OUT     a pointer, and the value behind it at both times
 *   TEXT       a pointer, and the start of the string behind it
 *   POINTER    a pointer alone
 *
 * %s
 */
/* clang-format off */

'''

DIRECTIONS = {'>': 'OUT', '<': 'IN', '<>': 'IN_OUT'}


def field_kind(one, kind, name):
    if name in one.values:
        return DIRECTIONS[one.values[name]]
    return 'TEXT' if kind == 'const char *' else 'POINTER' if kind.endswith('*') else 'VALUE'


def write_fields(entry_points):
    text = FIELDS_HEAD % MADE
    for one in lists.in_slots(entry_points):
        rows = [f'X({field_kind(one, kind, name)}, {kind}, {name})'.replace(' ', '\0') for kind, name in one.fields]
        text += ' \\\n'.join(textwrap.wrap(' '.join(['#define', f'TRACE_FIELDS_{one.slot_name}(X)', *rows]), WIDTH - 2,
                                           subsequent_indent='    ', break_long_words=False, break_on_hyphens=False))
        text += '\n'
    return text.replace('\0', ' ')


ENUMERATORS_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * enumerators.inc - the values of the enums that are types of parameters, and of the flags in flags.inc.
 *
 *   TRACE_ENUMERATOR(type, enumerator)
 *
 * The rows of one type stand together. Define TRACE_ENUMERATOR before including this file; it is undefined at the end.
 *
 * Made by loader/lists/write_lists.py from loader/lists/entry_points.tsv and include/cushim/abi: do not edit.
 */
/* clang-format off */

'''


def write_enumerators(entry_points):
    used = {kind.replace('*', '').strip() for one in entry_points for kind, name in one.fields
            if not kind.endswith('*') or name in one.values}
    abi = ROOT / 'include' / 'cushim' / 'abi'
    source = headers.read_all(abi, sorted(path.name for path in abi.glob('*.h')))
    text = headers.without_directives(source)
    flags = re.findall(r'TRACE_FLAGS\((\w+),', (ROOT / 'src' / 'tools' / 'trace' / 'file' / 'flags.inc').read_text(encoding='utf-8'))
    used.update(flags)
    enums = re.findall(r'typedef enum[^{;]*\{([^}]*)\}\s*(\w+);', text)
    rows = [f'TRACE_ENUMERATOR({name}, {one})' for body, name in enums if name in used for one in headers.enumerators(body)]
    rows += [f'TRACE_ENUMERATOR({name}, {one})' for name in flags for one in re.findall(rf'define ({name}_\w+) ', source)]
    return ENUMERATORS_HEAD + '\n'.join(rows) + '\n\n#undef TRACE_ENUMERATOR\n'


# ---- src/tools/trace/report/roles.inc ----

ROLES_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * roles.inc - the functions that are more than TRACE_OTHER to streams and captures.
 *
 *   TRACE_ROLE(function, role, flags)
 *
 * The exported name; enum trace_role_kind without its prefix; and ALONE, ALWAYS or 0. Define TRACE_ROLE before including
 * this file; it is undefined at the end.
 *
 * %s
 */
/* clang-format off */

'''


def write_roles(entry_points):
    rows = []
    for one in lists.in_slots(entry_points):
        role, *flags = one.role.upper().replace('-', '_').split(',')
        if flags or role != 'OTHER':
            rows.append(f'TRACE_ROLE("{one.symbol}", {role}, {" | ".join(flags) or 0})')
    return ROLES_HEAD % MADE + '\n'.join(rows) + '\n\n#undef TRACE_ROLE\n'


# ---- src/tools/cushim/branches.inc ----

BRANCHES_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * branches.inc - the first driver branch for each CUDA version, oldest first.
 *
 *   CUSHIM_BRANCH(version, branch)
 *
 * Define CUSHIM_BRANCH before including this file; it is undefined at the end.
 *
 * Made by loader/lists/write_lists.py from loader/lists/drivers.tsv: do not edit.
 */
/* clang-format off */

'''


def write_branches():
    rows = [f'CUSHIM_BRANCH({one.version}, {one.branch})' for one in lists.read_drivers() if one.branch]
    return BRANCHES_HEAD + '\n'.join(rows) + '\n\n#undef CUSHIM_BRANCH\n'


# ---- src/tools/cushim/plain_names.inc ----

PLAIN_NAMES_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * plain_names.inc - what the name of a driver function without a version means in <cuda.h>, oldest first. A function
 * with one ABI version is not listed.
 *
 *   CUSHIM_PLAIN_NAME(name, version, symbol)
 *
 *   version  the CUDA version of the first <cuda.h> with this meaning
 *   symbol   the exported name of the entry point
 *
 * Define CUSHIM_PLAIN_NAME before including this file; it is undefined at the end.
 *
 * Made by loader/lists/write_lists.py from loader/lists/entry_points.tsv: do not edit.
 */
/* clang-format off */

'''


def with_several_versions(entry_points):
    """{driver function: its entry points} of those that have several."""
    by_function = {}
    for one in entry_points:
        by_function.setdefault(one.function, []).append(one)
    return {function: versions for function, versions in sorted(by_function.items()) if len(versions) > 1}


def write_plain_names(entry_points):
    rows = [f'CUSHIM_PLAIN_NAME({function}, {version}, {one.symbol})'
            for function in with_several_versions(entry_points)
            for version, one in plain_meanings(function, entry_points)]
    return PLAIN_NAMES_HEAD + '\n'.join(rows) + '\n\n#undef CUSHIM_PLAIN_NAME\n'


def plain_names(entry_points):
    """The table of include/NAMES.md."""
    rows = []
    for function, versions in with_several_versions(entry_points).items():
        meanings = plain_meanings(function, entry_points)
        today = f'`{meanings[-1][1].slot_name}`' if meanings else 'not in `<cuda.h>`'
        before = ', '.join(f'`{one.slot_name}` before {lists.version_text(until)}'
                           for (_, one), (until, _) in zip(meanings, meanings[1:]))
        known = ', '.join(f'`{one.abi}` {lists.version_text(one.version)}' for one in versions)
        rows.append(f'| `{function}` | {today} | {before} | {known} |\n')
    head = '\n\n| name | today | in an older `<cuda.h>` | ABI versions |\n| --- | --- | --- | --- |\n'
    return head + ''.join(rows) + '\n'


# ---- loader/lists/ptx_versions.inc ----

PTX_VERSIONS_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * ptx_versions.inc - the newest PTX version that a driver of each CUDA version compiles, oldest first.
 *
 *   CUSHIM_PTX_VERSION(version, ptx)
 *
 *   version  the CUDA version, 1000 * major + 10 * minor
 *   ptx      the PTX version, 10 * major + minor
 *
 * Define CUSHIM_PTX_VERSION before including this file; it is undefined at the end.
 *
 * Made by loader/lists/write_lists.py from loader/lists/drivers.tsv: do not edit.
 */
/* clang-format off */

'''


def write_ptx_versions():
    rows = [f'CUSHIM_PTX_VERSION({one.version}, {one.ptx})' for one in lists.read_drivers()]
    return PTX_VERSIONS_HEAD + '\n'.join(rows) + '\n\n#undef CUSHIM_PTX_VERSION\n'


# ---- What stands in pages and in the man page between markers ----

def executed():
    """The slots that softcuda executes."""
    with open(ROOT / 'subprojects' / 'softcuda' / 'src' / 'executes.txt', encoding='utf-8') as file:
        return [slot for line in file for slot in line.split('#')[0].split()]


def not_executed(entry_points):
    done = set(executed())
    names = [one.symbol for one in entry_points if one.slot_name not in done] + list(lists.WITHOUT_ROW)
    return '\n\n```refused\n' + '\n'.join(textwrap.wrap(' '.join(names), WIDTH, break_on_hyphens=False)) + '\n```\n\n'


def libraries():
    rows = [f'| `{one.branch}/libcuda.so.1` | {one.release} | CUDA {lists.version_text(one.version)} |'
            for one in lists.known_drivers()]
    return '\n\n| library | driver | `cuDriverGetVersion` |\n| --- | --- | --- |\n' + '\n'.join(rows) + '\n\n'


def software_drivers():
    """For the man page: "340, 390 or 580"."""
    *branches, newest = (str(one.branch) for one in lists.known_drivers())
    return textwrap.fill(f'{", ".join(branches)} or {newest}.', 80) + '\n'


FEATURE_TESTS = {'AT_LEAST': ' at least {}', 'HAS': ' with bit {}', 'IF_KNOWN': ' at least {}, if the driver knows it'}
FEATURE_PLATFORMS = {'WINDOWS': 'Windows', 'WSL': 'WSL', 'NO_IMEX_CHANNEL': 'machines without an IMEX channel'}
# Attributes that had another name before the version in abi/device.h.
RENAMED_ATTRIBUTES = {'CAN_USE_STREAM_MEM_OPS_V1'}


def attribute_versions():
    """{name: the CUDA version that added the device attribute}, for those newer than the oldest headers."""
    text = (ROOT / 'include' / 'cushim' / 'abi' / 'device.h').read_text(encoding='utf-8')
    blocks = re.findall(r'#if CUSHIM_CUDA_HEADER_VERSION < (\d+)\n(.*?)#endif', text, re.S)
    return {name: int(version) for version, lines in blocks
            for name in re.findall(r'define CU_DEVICE_ATTRIBUTE_(\w+)', lines)}


def check_attributes(found):
    """A driver that lacks an attribute is too old, and the message must say so: the feature needs a row SINCE."""
    added = attribute_versions()
    for row in found.values():
        for attribute in row['attributes'] - RENAMED_ATTRIBUTES:
            if added.get(attribute, 0) > row['version']:
                sys.exit(f"features.h: {row['word']}: {attribute} is of CUDA {lists.version_text(added[attribute])}")


def features(entry_points):
    """The table of features.h."""
    since = {one.slot_name: one.version for one in entry_points}
    text = (ROOT / 'include' / 'cushim' / 'features.h').read_text(encoding='utf-8')
    text = re.sub(r'"\s*\n\s*"', '', text.split('/* clang-format off */')[1])
    found = {}
    for name, rest in re.findall(r'^CUSHIM_FEATURE\((\w+), (.*?)\)$', text, re.M | re.S):
        word, gives, source = re.findall(r'"([^"]*)"', rest)
        found[name] = {'word': word, 'gives': gives, 'source': source, 'version': 0, 'needs': [], 'not': [],
                       'attributes': set()}
    for kind, name, rest in re.findall(r'^CUSHIM_FEATURE_([A-Z_]+)\((\w+), (.*)\)$', text, re.M):
        row, cells = found[name], rest.split(', ')
        if kind in ('SLOT', 'SINCE'):
            row['version'] = max(row['version'], since[cells[0]] if kind == 'SLOT' else int(cells[0]))
        elif kind == 'NOT_ON':
            row['not'].append(FEATURE_PLATFORMS[cells[0]])
        elif cells[1] != 'ANY':
            row['needs'].append(f'`{cells[0]}`' + FEATURE_TESTS[cells[1]].format(cells[2]))
            if kind == 'DEVICE' and cells[1] != 'IF_KNOWN':
                row['attributes'].add(cells[0])
    check_attributes(found)
    lines = ['| feature | what a program can do | CUDA | needs of the device | not on | source |',
             '| --- | --- | --- | --- | --- | --- |']
    lines += [f"| `{row['word']}` | {row['gives']} | {lists.version_text(row['version']) if row['version'] else ''} | "
              f"{'; '.join(row['needs'])} | {', '.join(row['not'])} | {row['source']} |" for row in found.values()]
    return '\n\n' + '\n'.join(lines) + '\n\n'


def values(entry_points):
    """What may stand in a page, by the name in its marker."""
    newest = lists.known_drivers()[-1]
    return {
        'slots': str(len(lists.in_slots(entry_points))),
        'entry-points': str(len(entry_points)),
        'functions': str(len(lists.by_function(entry_points))),
        'oldest': lists.version_text(OLDEST_VERSION),
        'newest': lists.version_text(max(one.version for one in entry_points)),
        'newest-driver': str(newest.branch),
        'newest-driver-version': lists.version_text(newest.version),
        'executed': str(len(executed())),
        'not-executed': not_executed(entry_points),
        'libraries': libraries(),
        'features': features(entry_points),
        'plain-names': plain_names(entry_points),
        'softcuda': software_drivers(),
    }


def write_page(path, known):
    """The page with new text between the markers <!-- list: NAME --> and <!-- end -->, in a man page between lines."""
    text = path.read_text(encoding='utf-8')
    start, end = (r'(\.\\" list: ([\w-]+)\n)', r'(\.\\" end)') if path.suffix == '.1' else (
        r'(<!-- list: ([\w-]+) -->)', '(<!-- end -->)')
    unknown = {name for _, name in re.findall(start, text)} - set(known)
    if unknown:
        sys.exit(f'{path}: no such value: {" ".join(sorted(unknown))}')
    return re.sub(f'{start}.*?{end}', lambda found: found[1] + known[found[2]] + found[3], text, flags=re.S)


def write_version_header():
    """The header for builds that know nothing but the sources, with the version of version.txt."""
    text = (ROOT / 'include/cushim/version.h').read_text(encoding='utf-8')
    version = (ROOT / 'loader/version.txt').read_text(encoding='utf-8').strip()
    for part, number in zip(('MAJOR', 'MINOR', 'PATCH'), version.split('.')):
        text = re.sub(rf'(?<=#define CUSHIM_VERSION_{part} )\d+', number, text)
    return text


PAGES = ('README.md', 'include/README.md', 'include/NAMES.md', 'loader/README.md', 'subprojects/softcuda/README.md',
         'src/tools/cushim/cushim.1')


def outputs():
    """{path below the root: text} of everything that is made from the lists."""
    entry_points = lists.read()
    known = values(entry_points)
    return {
        'include/cushim/version.h': write_version_header(),
        'include/cushim/entry_points.h': write_entry_points(entry_points),
        'include/cushim/names.h': write_names(NAMES_HEAD, [one for one in entry_points if not one.is_interop]),
        'include/cushim/names_interop.h':
            write_names(NAMES_INTEROP_HEAD, [one for one in entry_points if one.is_interop]),
        'include/cushim/compat/cuew_names.h': write_cuew_names(entry_points),
        'loader/lists/symbols.inc': write_symbols(entry_points),
        'loader/lists/exports.inc': write_exports(entry_points),
        'src/tools/cushim/branches.inc': write_branches(),
        'src/tools/cushim/plain_names.inc': write_plain_names(entry_points),
        audit_tables.PATH: audit_tables.write_tables(),
        'loader/lists/ptx_versions.inc': write_ptx_versions(),
        'src/tools/trace/layer/fields.inc': write_fields(entry_points),
        'src/tools/trace/file/enumerators.inc': write_enumerators(entry_points),
        'src/tools/trace/report/roles.inc': write_roles(entry_points),
        **{page: write_page(ROOT / page, known) for page in PAGES},
    }


def report(toolkit, news):
    """Prints how a Toolkit and the list differ."""
    print(f'Toolkit headers of CUDA {lists.version_text(toolkit.version)}')
    for title, lines in (('functions that the list lacks', news.functions),
                         ('ABI versions that it lacks', news.versions),
                         ('entry points that differ from it', news.differing),
                         ('declarations that write_lists.py does not understand', news.problems),
                         ('types that include/cushim lacks', news.types),
                         ('constants that include/cushim lacks', news.constants),
                         ('error codes that differ from loader/lists/errors.inc', news.errors)):
        print(f'{len(lines)} {title}' + ''.join(f'\n    {line}' for line in lines))


def read_toolkit(include, add):
    """Reports how a Toolkit and the list differ. Returns the exit status."""
    try:
        toolkit = headers.Toolkit(include)
    except headers.ToolkitError as error:
        sys.exit(f'write_lists.py: {error}')
    merged, news = headers.merge(toolkit, lists.read())
    report(toolkit, news)
    if add:
        lists.write(merged)
        print('entry_points.tsv: written')
    return 1 if any(news) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--toolkit', metavar='INCLUDE')
    parser.add_argument('--add', action='store_true')
    given = parser.parse_args()
    if given.toolkit:
        return read_toolkit(given.toolkit, given.add)
    made = outputs()
    if given.list:
        print('\n'.join(made))
        return 0
    stale = [path for path, text in made.items()
             if not (ROOT / path).exists() or (ROOT / path).read_text(encoding='utf-8') != text]
    for path in stale:
        if not given.check:
            (ROOT / path).write_text(made[path], encoding='utf-8')
        print(f'{path}: {"is not what the lists make of it; run loader/lists/write_lists.py" if given.check else "written"}')
    if given.check:
        print(f'{len(made)} files compared')
    return 1 if given.check and stale else 0


if __name__ == '__main__':
    sys.exit(main())
