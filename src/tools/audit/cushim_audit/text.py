# SPDX-License-Identifier: MIT
"""Writes conclusions as text for a packager."""
import itertools

from . import coverage
from .demands import FAILS_AT_CALL
from .rules import arch_text, driver_text, gpu_first, is_after_last, version_text
from .shortfalls import advice


def gpu_ranges(gpus, key):
    """Runs of neighbours with the same key, as (text, the ones)."""
    for _, run in itertools.groupby(gpus, key):
        run = list(run)
        first, last = arch_text(run[0].arch), arch_text(run[-1].arch)
        yield (f'GPU {first}' if len(run) == 1 else f'GPUs {first} to {last}'), run


def describe_gpu(one, floor):
    """How a GPU is served, in words that neighbours can share."""
    if one.how == coverage.NOT:
        return 'no code for them'
    if one.how == coverage.NATIVE:
        words = 'native'
    elif one.how == coverage.COMPILED and one.compiled < one.total:
        words = (f'native in {one.total - one.compiled} of {one.total} fat binaries; the driver compiles the others '
                 f'(JIT) from PTX {ptx_text(one.ptx)}')
    elif one.how == coverage.COMPILED:
        words = f'compiled by the driver (JIT) from PTX {ptx_text(one.ptx)}'
    else:
        words = f'only in part: {one.served} of {one.total} fat binaries have code for them'
        words += f', some of it PTX {ptx_text(one.ptx)}' if one.ptx else ''
    if one.first is None:
        words += '; no known driver compiles it'
    elif one.first > max(floor, gpu_first(one.arch)):
        words += f'; from {driver_text(one.first)} on'
    if one.last:
        is_late = one.first is None or is_after_last(one.first, one.arch)
        words += f'; {"cannot run: " if is_late else ""}{one.last} is the last branch for them'
    return words


def ptx_text(code):
    return '{}.{} (for {}{})'.format(*code.version, arch_text(code.arch), code.suffix)


def gpu_lines(gpus, floor):
    """Lines about GPUs. Generations that no driver for the file supports are left out, unless it has code for them."""
    shown = [one for one in gpus if one.how != coverage.NOT or not is_after_last(floor, one.arch)]
    for text, run in gpu_ranges(shown, lambda one: describe_gpu(one, floor)):
        words = describe_gpu(run[0], floor)
        if len(run) == 1:
            words = words.replace('for them', 'for it')
        yield f'{text}: {words}'


def driver_line(conclusion):
    if conclusion.facts.copy:
        return None
    demand = conclusion.demand
    if demand is None and conclusion.facts.kind == 'object':
        return None
    if demand is None:
        return 'any driver: neither a linked function nor the CUDA runtime demands one' \
            if conclusion.gpus_known else 'driver: not known'
    late = ' (bound lazily: on older drivers the file loads, and the call fails; Python binds all names at load)' \
        if demand.kind == 'symbol' and demand.fails == FAILS_AT_CALL else ''
    return f'{driver_text(demand.version)} or newer (CUDA {version_text(demand.version)}): {demand.reason}{late}'


def conclusion_lines(conclusion):
    """The lines of one file, without its name."""
    lines = [driver_line(conclusion)] if driver_line(conclusion) else []
    lines += gpu_lines(conclusion.gpus, conclusion.floor)
    lines += advice(conclusion)
    return lines + [f'note: {text}' for text in conclusion.notes]


def kind_text(facts):
    return ', '.join(text for text in (facts.format, facts.machine, facts.kind) if text)


def write_files(conclusions, write):
    """Files of which the same is true stand together."""
    groups = {}
    for one in conclusions:
        groups.setdefault(tuple(conclusion_lines(one)), []).append(one)
    for lines, ones in groups.items():
        if not lines:
            continue
        write(ones[0].facts.name)
        if len(ones) > 1:
            write(f'  and {len(ones) - 1} more: ' + ', '.join(one.facts.member.rsplit('/', 1)[-1] for one in ones[1:4])
                  + (', ...' if len(ones) > 4 else ''))
        for line in lines:
            write(f'  {line}')


def write_shortfalls(conclusion, found, write):
    """One line for each file that falls short: what stops which users, and what to change."""
    write(f'{conclusion.facts.name}: '
          + '. '.join(one.sentence + (f' - {one.advice}' if one.advice else '') for one in found))


def late_text(summary):
    """The GPUs on which a newer driver is needed, as the end of a sentence."""
    texts = [f'{text}: {driver_text(run[0].first) if run[0].first else "no known driver"}'
             for text, run in gpu_ranges(summary.gpus, lambda one: one.is_late and (one.first or -1)) if run[0].is_late]
    return f'; {", ".join(texts)}' if texts else ''


def write_summary(name, summary, write):
    """The summary of a wheel: one line for the driver and one for each range of GPUs."""
    count = len(summary.conclusions)
    files = f'{count} CUDA file{"s" if count != 1 else ""}'
    if summary.demanding:
        floors = {one.floor for one in summary.conclusions if one.floor}
        least = f'; the least demanding file needs {driver_text(min(floors))}' if len(floors) > 1 else ''
        of_all = f' for all of them ({summary.demanding.facts.member}){least}' if count > 1 else ''
        write(f'{name}: {files}; {driver_text(summary.floor)} or newer{of_all}{late_text(summary)}')
    else:
        known = 'none demands a driver' if summary.gpus_known else 'their driver is not known'
        write(f'{name}: {files}' + (f'; {known}' if count else ''))
    for line in gpu_lines(summary.gpus, summary.floor) if summary.with_code > 1 else ():
        write(f'  {line}'.replace('fat binaries', 'files'))
    if count and not summary.gpus_known:
        write('  GPUs: not known for code that is compiled at run time')
