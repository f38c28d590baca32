# SPDX-License-Identifier: MIT
"""Writes conclusions as text for a packager."""
import itertools

from . import coverage
from .conclude import records_text
from .demands import FAILS_AT_CALL
from .rules import arch_text, driver_text, gpu_first, is_after_last, version_text
from .shortfalls import advice


def printable(line):
    """A line in which names from outside are escaped: a name with a newline in it must not look like a second line."""
    return ''.join(one if one.isprintable() else one.encode('unicode_escape').decode() for one in line)


def gpu_ranges(gpus, key):
    """Runs of neighbours with the same key, as (text, the ones)."""
    for _, run in itertools.groupby(gpus, key):
        run = list(run)
        first, last = arch_text(run[0].arch), arch_text(run[-1].arch)
        yield (f'GPU {first}' if len(run) == 1 else f'GPUs {first} to {last}'), run


def span(counts):
    """Some numbers, for a sentence."""
    return str(min(counts)) if min(counts) == max(counts) else f'{min(counts)} to {max(counts)}'


def describe_gpus(ones, floor, unit):
    """How some GPUs are served, for which the same is true but for the numbers of fat binaries."""
    one, them = ones[0], 'them' if len(ones) > 1 else 'it'
    if one.how == coverage.NOT:
        return f'no code for {them}'
    if one.is_dropped:
        # The PTX, or the whole file, needs a driver that is too new for the GPU.
        what = f'PTX {ptx_text(one.ptx)} needs' if one.first > max(floor, gpu_first(one.arch)) else 'the file needs'
        return f'cannot run: {what} {driver_text(one.first)}, and driver {one.last} is the last that supports {them}'
    if one.how == coverage.NATIVE:
        phrase = 'native'
    elif one.how == coverage.COMPILED and one.compiled < one.total:
        phrase = (f'native in {span([each.total - each.compiled for each in ones])} of {one.total} {unit}; the driver '
                 f'compiles the others (JIT) from PTX {ptx_text(one.ptx)}')
    elif one.how == coverage.COMPILED:
        phrase = f'compiled by the driver (JIT) from PTX {ptx_text(one.ptx)}'
    else:
        phrase = describe_part(ones, them, unit)
    if one.first is None:
        phrase += '; no known driver compiles it'
    elif one.first > max(floor, gpu_first(one.arch)):
        phrase += f'; needs {driver_text(one.first)} or newer'
    return phrase + (f'; driver {one.last} is the last that supports {them}' if one.last else '')


def describe_part(ones, them, unit):
    """How some GPUs are served, of which each has code in some of the fat binaries, or of the files."""
    one, whole, part = ones[0], [each.served - each.in_part for each in ones], [each.in_part for each in ones]
    if not any(part):
        phrase = f'{span(whole)} of {one.total} {unit} {verb(whole)} code for {them}'
    elif not any(whole):
        phrase = f'{span(part)} of {one.total} {unit} {verb(part)} some code for {them}'
    else:
        phrase = f'{span(whole)} of {one.total} {unit} {verb(whole)} all of their code for {them}, {span(part)} ' \
            f'{verb(part)} some'
    if one.ptx:
        phrase += f'; some of it is PTX {ptx_text(one.ptx)}, which the driver compiles (JIT)'
    return f'only in part: {phrase}'


def verb(counts):
    return 'has' if max(counts) == 1 else 'have'


def ptx_text(code):
    return '{}.{} (for {}{})'.format(*code.version, arch_text(code.arch), code.suffix)


def gpu_lines(gpus, floor, unit='fat binaries'):
    """Lines about GPUs. Generations that no driver for the file supports are left out, unless it has code for them."""
    def kind(one):
        """What must be the same for GPUs that share a line: all but the numbers."""
        is_mixed = one.how == coverage.COMPILED and one.compiled < one.total
        is_late = one.first is None or one.first > max(floor, gpu_first(one.arch))
        return one.how, is_mixed, one.ptx and one.ptx.key, is_late and (one.first or -1), one.last, one.is_dropped

    shown = [one for one in gpus if one.how != coverage.NOT or not is_after_last(floor, one.arch)]
    # It does not matter which was the last branch for a GPU without code.
    for text, run in gpu_ranges(shown, lambda one: kind(one) if one.how != coverage.NOT else None):
        yield f'{text}: {describe_gpus(run, floor, unit)}'


def driver_line(conclusion):
    if conclusion.facts.copy:
        return None
    demand = conclusion.demand
    if demand is None and conclusion.facts.kind == 'object':
        return None
    if demand is None and any(one.first is None for one in conclusion.gpus):
        return 'driver: not known: its PTX is newer than the drivers that are known'
    if not conclusion.driver_known:
        return 'driver: not known (see the notes)'
    if demand is None and conclusion.facts.records and not conclusion.facts.needs_driver:
        return f'{records_text(conclusion.facts)}: starts on each driver and without one'
    if demand is None:
        return 'no minimum driver: it neither links to functions of the driver nor uses the CUDA runtime'
    late = ' (bound lazily: on older drivers the file loads, and the call fails; Python binds all names at load)' \
        if demand.kind == 'symbol' and demand.fails == FAILS_AT_CALL else ''
    return f'{driver_text(demand.version)} or newer (CUDA {version_text(demand.version)}): {demand.reason}{late}'


def conclusion_lines(conclusion):
    """The lines of one file, without its name."""
    lines = [driver_line(conclusion)] if driver_line(conclusion) else []
    lines += gpu_lines(conclusion.gpus, conclusion.first)
    lines += advice(conclusion)
    return lines + [f'note: {text}' for text in conclusion.notes]


def names_text(ones):
    """The names of the files after the first."""
    names = [one.facts.member.rsplit('/', 1)[-1] for one in ones[1:4]]
    return f'{", ".join(names)}{", ..." if len(ones) > 4 else ""}'


def more_text(ones):
    return f' and {len(ones) - 1} more ({names_text(ones)})' if len(ones) > 1 else ''


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
            write(f'  and {len(ones) - 1} more: {names_text(ones)}')
        for line in lines:
            write(f'  {line}')


def write_found(pairs, write):
    """One line for files of which the same stops users, or is not known. `pairs`: files with what was found of them."""
    groups = {}
    for one, found in pairs:
        line = '. '.join(each.sentence + (f' - {each.advice}' if each.advice else '') for each in found)
        groups.setdefault(line, []).append(one)
    for line, ones in groups.items():
        write(f'{ones[0].facts.name}{more_text(ones)}: {line}')


def late_text(summary):
    """The GPUs that need a newer driver than the files do, as the end of a sentence."""
    def kind(one):
        return one.is_late and not 0 < (one.first or 0) <= summary.first and (one.first or -1)

    late = {}
    for text, run in gpu_ranges(summary.gpus, kind):
        if kind(run[0]):
            late.setdefault(run[0].first, []).append(text)
    texts = [f'on {" and ".join(found)}, {f"{driver_text(first)} or newer" if first else "no known driver"}'
             for first, found in late.items()]
    return ''.join(f'; {text}' for text in texts)


def summary_driver(summary):
    """What the files of a wheel together demand."""
    count = len(summary.conclusions)
    if not summary.driver_known:
        return f'{"its" if count == 1 else "their"} driver is not known'
    if not summary.first:
        return f'{"it demands no driver" if count == 1 else "none of them demands a driver"}'
    phrase = f'{driver_text(summary.first)} or newer'
    if min(summary.firsts) == summary.first:
        phrase += '' if summary.floor else ', for the device code'
    else:
        cause = 'on older ones, no GPU runs each of them'
        if summary.demanding:
            cause = f'{summary.demanding.facts.member} needs it'
        phrase += f' for {"both" if count == 2 else "all"} of them ({cause})'
        least = min(first for first in summary.firsts if first)
        if least < summary.first:
            phrase += f'; the least demanding file needs {driver_text(least)}'
    phrase += late_text(summary)
    if summary.lookup:
        phrase += '; whether newer functions that are looked up at run time are needed, up to those of ' \
            f'{driver_text(summary.lookup)}, is not known'
    return phrase


def no_files(summary):
    return f'no CUDA files were found{"" if summary.is_complete else " among those that could be read"}'


def write_summary(name, summary, write):
    """The summary of a wheel: one line for the driver and one for each range of GPUs."""
    count = len(summary.conclusions)
    if not count:
        write(f'{name}: {no_files(summary)}')
        return
    read = '' if summary.is_complete else ' among those that could be read'
    write(f'{name}: {count} CUDA file{"s" if count != 1 else ""}{read}; {summary_driver(summary)}')
    for line in gpu_lines(summary.gpus, summary.first, 'files') if summary.with_code > 1 else ():
        write(f'  {line}')
    if not summary.gpus_known:
        write('  for code that is compiled, linked or loaded from elsewhere at run time, the GPUs are not known')
