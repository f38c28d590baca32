# SPDX-License-Identifier: MIT
"""The bounds that a wheel variant (PEP 817, with the provider for NVIDIA's GPUs) and conda's __cuda need."""
from . import text
from .fatbin import IR, SASS
from .rules import version_text


def codes_of(conclusions):
    """The device code of some files, as the provider names it."""
    found = {(code.arch, code.suffix, code.kind) for one in conclusions for code in one.codes if code.kind != IR}
    return [f'{arch}{suffix}_{"real" if kind == SASS else "virtual"}' for arch, suffix, kind in sorted(found)]


def write_files(summary, write):
    """The bounds of each file, for a package that chooses among them."""
    for one, first in zip(summary.conclusions, summary.firsts):
        bounds = [f'cuda_version_lower_bound :: {version_text(first)}'] if first and one.driver_known else []
        codes = codes_of([one])
        bounds += [f'sm_arch :: {", ".join(codes)}'] if codes else []
        write(f'  {one.facts.member}: {"; ".join(bounds) or "no bound that is known"}')


def write_variant(name, summary, write):
    version = summary.first
    write(f'{name}:')
    if version:
        write(f'  nvidia :: cuda_version_lower_bound :: {version_text(version)}')
    for code in codes_of(summary.conclusions):
        write(f'  nvidia :: sm_arch :: {code}')
    if version:
        write(f'  conda: __cuda >={version_text(version)}')
    firsts = {first for first in summary.firsts if first}
    if len(firsts) > 1:
        write(f'  These bounds are for a package that loads all of its files. The least demanding file needs only the '
              f'driver of CUDA {version_text(min(firsts))}: if the package loads one of them, chosen by the driver or '
              'the runtime, leave out the others (--except), or use the bounds of each file:')
    if len(summary.conclusions) > 1:
        write_files(summary, write)
    if not summary.runtime_known:
        write('  The files use a CUDA runtime that is not known: its bound can be higher.')
    if summary.video:
        write(f'  The files use {" and ".join(summary.video)}, whose driver is not known: the bound can be higher.')
    if summary.lookup:
        write('  The files look up functions of newer drivers at run time, up to those of CUDA '
              f'{version_text(summary.lookup)}: the bound can be higher.')
    if not summary.gpus_known:
        write('  The files compile or load code at run time: add the GPUs for which they do.')
    if not summary.is_complete:
        write('  Not all files could be read: what those need is not known.')
    elif not summary.conclusions:
        write(f'  no bound: {text.no_files(summary)}')
    elif not version and not codes_of(summary.conclusions):
        write('  no bound: no file demands a driver or has device code')
