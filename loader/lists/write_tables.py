# SPDX-License-Identifier: MIT
"""The text of the lists for C that the library includes: symbols.inc, exports.inc, branches.inc, gpus.inc and
architectures.inc."""
import entry_points as lists
from write_headers import MADE


# ---- loader/lists/symbols.inc ----

SYMBOLS_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * symbols.inc - every entry point of the driver, as one untyped row each.
 *
 *   CUSHIM_SYMBOL(function, abi, version, symbol, variant, platform)
 *
 *   function  the driver function without its "cu"; as a token, so that no macro of <cuda.h> can rename it
 *   abi       v1 for the oldest ABI version, which has no suffix; v2, v3, ... as in the exported name
 *   version   the CUDA version that brought this entry point, 1000 * major + 10 * minor
 *   symbol    the exported name
 *   variant   ptsz or ptds if the entry point has a per-thread variant, whose exported name is the symbol with _ptsz or
 *             _ptds; else none. The variant exists from CUDA %s on, or from `version` if that is later.
 *   platform  all, linux or windows: whose drivers have it
 *
 * Rows of one function stand together, oldest first: lookups rely on it. Define CUSHIM_SYMBOL before including this
 * file; it is undefined at the end.
 *
 * %s
 */
#ifndef CUSHIM_SYMBOL
#    define CUSHIM_SYMBOL(function, abi, version, symbol, variant, platform)
#endif

/* clang-format off */

'''


def write_symbols(entry_points):
    rows = [f'CUSHIM_SYMBOL({one.name}, {one.abi}, {one.version}, "{one.symbol}", '
            f'{one.per_thread_symbol.removeprefix(one.symbol)[1:] or "none"}, {one.platform})' for one in entry_points]
    head = SYMBOLS_HEAD % (lists.version_text(lists.FIRST_PER_THREAD_VERSION), MADE)
    return head + '\n'.join(rows) + '\n\n#undef CUSHIM_SYMBOL\n'


# ---- loader/lists/exports.inc ----

EXPORTS = '''/* SPDX-License-Identifier: MIT */
/*
 * exports.inc - every name that a driver exports, and the slot that answers it.
 *
 *   CUSHIM_EXPORT(symbol, kind, function, abi, parameters, arguments)
 *
 *   symbol         the exported name, as a token: the including file must not see the macros of <cuda.h>
 *   kind           legacy or per_thread: cushim_table_##kind() is the table with the slot of this name
 *   function, abi  the slot: function##_##abi
 *   parameters     the typed parameter list, in parentheses, as in entry_points.h
 *   arguments      the names of those parameters, in parentheses
 *
 *   CUSHIM_EXPORT_WITHOUT_SLOT(symbol)
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
#ifndef CUSHIM_EXPORT
#    define CUSHIM_EXPORT(symbol, kind, function, abi, parameters, arguments)
#endif
#ifndef CUSHIM_EXPORT_WITHOUT_SLOT
#    define CUSHIM_EXPORT_WITHOUT_SLOT(symbol)
#endif

/* clang-format off */

/* The names of the slots of the legacy table: the oldest ABI version of a function has no suffix. */
%s
#define CUSHIM_JOIN(first, second) first##second
#define CUSHIM_SUFFIXED(first, second) CUSHIM_JOIN(first, second)
#define CUSHIM_EXPORT_OF(symbol, kind, function, abi, parameters, arguments) \\
    CUSHIM_EXPORT(symbol, kind, function, abi, parameters, arguments)
#define CUSHIM_ENTRY(function, abi, version, parameters, arguments) \\
    CUSHIM_EXPORT_OF(CUSHIM_SUFFIXED(cu##function, CUSHIM_SUFFIX_##abi), legacy, function, abi, parameters, arguments)
#if !defined(_WIN32)
#    define CUSHIM_ENTRY_WINDOWS(function, abi, version, parameters, arguments)
#endif
#include "cushim/entry_points.h"

/* Of the table of the per-thread default stream. */
#define CUSHIM_EXPORT_VARIANT(ending, function, abi, parameters, arguments) \\
    CUSHIM_EXPORT_OF(CUSHIM_SUFFIXED(CUSHIM_SUFFIXED(cu##function, CUSHIM_SUFFIX_##abi), ending), per_thread, function, \\
                     abi, parameters, arguments)
#define CUSHIM_ENTRY_PTSZ(function, abi, version, parameters, arguments) \\
    CUSHIM_EXPORT_VARIANT(_ptsz, function, abi, parameters, arguments)
#define CUSHIM_ENTRY_PTDS(function, abi, version, parameters, arguments) \\
    CUSHIM_EXPORT_VARIANT(_ptds, function, abi, parameters, arguments)
#include "cushim/entry_points.h"

%s

%s
#undef CUSHIM_JOIN
#undef CUSHIM_SUFFIXED
#undef CUSHIM_EXPORT_OF
#undef CUSHIM_EXPORT_VARIANT
#undef CUSHIM_EXPORT
#undef CUSHIM_EXPORT_WITHOUT_SLOT
'''


def write_exports(entry_points):
    suffixes = {one.abi: '' if one.abi == 'v1' else f' _{one.abi}' for one in entry_points}
    for one in entry_points:
        variant = one.per_thread_symbol.removeprefix(one.symbol)
        if one.symbol != f'cu{one.name}{suffixes[one.abi].lstrip()}' or variant not in ('', '_ptsz', '_ptds'):
            raise ValueError(f'{one.symbol} is not named by its ABI version, or its variant not by its stream')
    defines = [f'#define CUSHIM_SUFFIX_{abi}{suffix}' for abi, suffix in sorted(suffixes.items())]
    names = [f'CUSHIM_EXPORT_WITHOUT_SLOT({symbol})' for symbol in lists.without_row()]
    ends = [f'#undef {name.split()[1]}' for name in defines]
    return EXPORTS % (MADE, '\n'.join(defines), '\n'.join(names), '\n'.join(ends))


# ---- loader/lists/branches.inc ----

BRANCHES_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * branches.inc - the first driver branch for each CUDA version, oldest first.
 *
 *   CUSHIM_BRANCH(version, branch, ptx)
 *
 *   version  the CUDA version, 1000 * major + 10 * minor
 *   branch   the branch; 0, for the newest versions, if it is not known yet
 *   ptx      the newest PTX version that it compiles, 10 * major + minor
 *
 * Define CUSHIM_BRANCH before including this file; it is undefined at the end.
 *
 * Made by loader/lists/write_lists.py from loader/lists/drivers.tsv: do not edit.
 */
/* clang-format off */

'''


def write_branches():
    rows = [f'CUSHIM_BRANCH({one.version}, {one.branch or 0}, {one.ptx})' for one in lists.read_drivers()]
    return BRANCHES_HEAD + '\n'.join(rows) + '\n\n#undef CUSHIM_BRANCH\n'


# ---- loader/lists/gpus.inc ----

GPUS_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * gpus.inc - the ids of GPUs on the PCI bus, with the generation of each.
 *
 *   CUSHIM_GENERATION(first, last, capability, generation, since, last_branch, module)
 *
 *   first, last         a range of device ids of vendor 10de
 *   capability          the compute capability, 1000 * major + 10 * minor
 *   generation          its name, such as "Ampere"
 *   since, last_branch  the first and the last driver branch that support it; 0: not known, or no such branch
 *   module              the kernel module that supports it: OPEN or CLOSED only, BOTH, or UNKNOWN
 *
 * Define CUSHIM_GENERATION before including this file; it is undefined at the end.
 *
 * Made by loader/lists/write_lists.py from loader/lists/gpus.tsv: do not edit.
 */
/* clang-format off */

'''


def write_gpus():
    rows = [f'CUSHIM_GENERATION({first:#06x}, {last:#06x}, {1000 * (one.arch // 10) + 10 * (one.arch % 10)}, '
            f'"{one.generation}", {one.since or 0}, {one.last or 0}, {(one.module or "unknown").upper()})'
            for one in lists.read_gpus() for first, last in one.ids]
    return GPUS_HEAD + '\n'.join(rows) + '\n\n#undef CUSHIM_GENERATION\n'


# ---- loader/lists/architectures.inc ----

ARCHITECTURES_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * architectures.inc - the CUDA versions that compile for each compute capability.
 *
 *   CUSHIM_ARCHITECTURE(capability, first, last)
 *
 *   capability   the compute capability, 1000 * major + 10 * minor
 *   first, last  the first and the last CUDA version that compile for it; 0: the newest one does, or it is not known
 *
 * Define CUSHIM_ARCHITECTURE before including this file; it is undefined at the end.
 *
 * Made by loader/lists/write_lists.py from loader/lists/gpus.tsv: do not edit.
 */
/* clang-format off */

'''


def write_architectures():
    rows = [f'CUSHIM_ARCHITECTURE({1000 * (one.arch // 10) + 10 * (one.arch % 10)}, {one.first}, {one.until or 0})'
            for one in lists.read_gpus() if one.first]
    return ARCHITECTURES_HEAD + '\n'.join(rows) + '\n\n#undef CUSHIM_ARCHITECTURE\n'
