# SPDX-License-Identifier: MIT
"""The bounds that a wheel variant (PEP 817, with the provider for NVIDIA's GPUs) and conda's __cuda need."""
from .fatbin import IR, SASS
from .rules import version_text


def codes_of(summary):
    return {(code.arch, code.suffix, code.kind) for one in summary.conclusions for code in one.codes if code.kind != IR}


def write_variant(name, summary, write):
    version = summary.first
    write(f'{name}:')
    if version:
        write(f'  nvidia :: cuda_version_lower_bound :: {version_text(version)}')
    for arch, suffix, kind in sorted(codes_of(summary)):
        write(f'  nvidia :: sm_arch :: {arch}{suffix}_{"real" if kind == SASS else "virtual"}')
    if version:
        write(f'  conda: __cuda >={version_text(version)}')
    floors = {one.floor for one in summary.conclusions if one.floor}
    if len(floors) > 1:
        write(f'  These bounds are for a package that loads all of its files. The least demanding file needs only the '
              f'driver of CUDA {version_text(min(floors))}: if the package loads one of them, chosen by the driver or '
              'the runtime, leave out the others (--except), and look at each one alone.')
    if not summary.runtime_known:
        write('  The files use a CUDA runtime that is not known: its bound can be higher.')
    if summary.video:
        write(f'  The files use {" and ".join(summary.video)}, whose driver is not known: the bound can be higher.')
    if not summary.gpus_known:
        write('  The files compile or load code at run time: add the GPUs for which they do.')
    if not summary.is_complete:
        write('  Not all files could be read: what those need is not known.')
    elif not version and not codes_of(summary):
        write('  no bound: no file demands a driver or has device code')
