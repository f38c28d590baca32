# SPDX-License-Identifier: MIT
"""The text of the generated headers: entry_points.h, names.h, names_interop.h and compat/cuew_names.h."""
import entry_points as lists

WIDTH = 120
MADE = 'Made by loader/lists/write_lists.py from loader/lists/entry_points.tsv: do not edit.'


# ---- include/cushim/entry_points.h ----

ENTRY_POINTS_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * entry_points.h - the typed list: one row for each slot of the table.
 *
 *   CUSHIM_ENTRY(function, abi, version, parameters, arguments)
 *   CUSHIM_ENTRY_BY_KIND(...), CUSHIM_ENTRY_PTSZ(...), CUSHIM_ENTRY_PTDS(...), CUSHIM_ENTRY_WINDOWS(...)   the same
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
 * A row has one of the next three forms if the tables of the two default streams have different functions in its slot.
 * Code that wraps such a slot needs a wrapper for each table (layer.h). PTSZ and PTDS: the entry point has a per-thread
 * variant, whose exported name ends with _ptsz or _ptds. BY_KIND: only a later version of it has one, or it returns such
 * variants (cuGetProcAddress). WINDOWS: only a driver for Windows fills the slot, which exists on every platform.
 *
 * Define CUSHIM_ENTRY before including this file, as often as needed. It defaults to nothing, BY_KIND and WINDOWS to
 * CUSHIM_ENTRY, and PTSZ and PTDS to BY_KIND. All are undefined at the end. A file that defines functions with these
 * parameters must include abi/egl.h, too: one of the functions takes a frame by value.
 *
 * Where the meaning of a type name depends on the CUDA version, the list uses a name that has one meaning:
 * CUlaunchAttributeValue for CUstreamAttrValue and CUkernelNodeAttrValue, CUDA_KERNEL_NODE_PARAMS_v1 and _v2. Types of
 * Direct3D, OpenGL, EGL and VDPAU are given as their underlying C types.
 *
 * %s
 */
#include "cushim/abi/cuda_abi.h"

/* The newest CUDA version in the list, and the newest whose entry points were compared with those of a driver. All
 * were compared with NVIDIA's headers. A driver may be newer. */
#define CUSHIM_LIST_VERSION %d
#define CUSHIM_LIST_COMPARED_VERSION %d

/* The number of entry points in the list. A subset (amalgamate.py --slots) has fewer. */
#define CUSHIM_LIST_COUNT %d

#ifndef CUSHIM_ENTRY
#    define CUSHIM_ENTRY(function, abi, version, parameters, arguments)
#endif
#ifndef CUSHIM_ENTRY_BY_KIND
#    define CUSHIM_ENTRY_BY_KIND CUSHIM_ENTRY
#endif
#ifndef CUSHIM_ENTRY_PTSZ
#    define CUSHIM_ENTRY_PTSZ CUSHIM_ENTRY_BY_KIND
#endif
#ifndef CUSHIM_ENTRY_PTDS
#    define CUSHIM_ENTRY_PTDS CUSHIM_ENTRY_BY_KIND
#endif
#ifndef CUSHIM_ENTRY_WINDOWS
#    define CUSHIM_ENTRY_WINDOWS CUSHIM_ENTRY
#endif

/* clang-format off */

'''


def typed_row(start, one):
    """A row that ends with the parameters and the arguments of an entry point: one line, however long."""
    return f'{start}({one.parameters}), ({", ".join(one.arguments)}))'


def entry_row(one, by_kind):
    variant = one.per_thread_symbol.removeprefix(one.symbol)
    if one.is_windows_only and variant:
        raise ValueError(f'{one.symbol}: no form of a row has both Windows and a per-thread variant')
    form = '_WINDOWS' if one.is_windows_only else variant.upper() or ('_BY_KIND' if by_kind else '')
    return typed_row(f'CUSHIM_ENTRY{form}({one.name}, {one.abi}, {one.version}, ', one)


def write_entry_points(entry_points, chosen=None):
    """`chosen` has the entry points that get a slot; None: all."""
    by_kind = lists.by_kind(entry_points)
    rows = [entry_row(one, one in by_kind) for one in lists.in_slots(chosen or entry_points)]
    newest = max(one.version for one in entry_points)
    compared = lists.known_drivers()[-1].version
    rows += ['', *(f'#undef CUSHIM_ENTRY{form}' for form in ('', '_BY_KIND', '_PTSZ', '_PTDS', '_WINDOWS')), '']
    return ENTRY_POINTS_HEAD % (MADE, newest, compared, len(entry_points)) + '\n'.join(rows)


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


def define(name, target, indent=''):
    line = f'#{indent}define {name} {target}'
    return line if len(line) <= WIDTH else f'#{indent}define {name} \\\n    {target}'


def names_of(function, versions, entry_points):
    """The macros of one driver function."""
    suffixed = [one for one in versions if one.abi != 'v1']
    meanings = lists.plain_meanings(function, entry_points)
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
        older = [one for version, one in lists.plain_meanings(function, entry_points) if version <= CUEW_VERSION]
        if older and older[-1].abi != 'v1':
            lines.append(define(function, older[-1].symbol))
    return (CUEW_NAMES_HEAD % (lists.version_text(CUEW_VERSION), MADE)) + '\n'.join(lines) + '\n\n#endif\n'
