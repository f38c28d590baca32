# SPDX-License-Identifier: MIT
"""Why a file does not meet a requirement: what stops which users, and what to change."""
from . import coverage
from .demands import FAILS_AT_CALL, FAILS_AT_LOAD
from .fatbin import IR
from .rules import arch_text, branch_of, driver_text, gpu_first, is_after_last, is_tegra, newest_ptx, version_text


def advice(conclusion):
    """What to change so that a file runs on more GPUs and drivers, as lines. A file without requirements may be meant
    for fewer."""
    late = [one for one in conclusion.gpus if one.is_late]
    if late and conclusion.floor:
        change = ptx_advice(late, conclusion.floor)
        yield f'to run on {gpus_text(late)} from {driver_text(conclusion.floor)} on: {change}'
    oldest = min((code.arch for code in conclusion.codes if code.kind != IR), default=0)
    lacking = [one for one in conclusion.gpus if one.how == coverage.NOT and one.arch > oldest]
    if lacking and conclusion.gpus_known:
        yield f'to run on {gpus_text(lacking)}: {missing_advice(conclusion, lacking)}'


class Shortfall:
    """Why a file does not meet a requirement: what stops which users, and what to change."""

    def __init__(self, kind, sentence, advice=''):
        self.kind, self.sentence, self.advice = kind, sentence, advice


def shortfalls(conclusion, driver, archs):
    """What a file lacks for a driver (a CUDA version, or None) and for GPUs (a list, may be empty)."""
    found = [Shortfall('mistake', text) for text in conclusion.mistakes]
    demand = conclusion.demand
    if driver and demand and demand.version > driver:
        fails = {FAILS_AT_LOAD: 'the file does not load', FAILS_AT_CALL: 'the call fails'}[demand.fails]
        if demand.kind == 'runtime':
            # How the runtime 13 for Windows fails is not known: it may be missing.
            is_hybrid = conclusion.facts.is_windows and demand.version >= 13000
            fails = 'calls of the CUDA runtime fail' + ('' if is_hybrid else ' with cudaErrorInsufficientDriver (35)')
        sentence = f'on drivers before {needed_text(demand.version)}, {fails}: {demand.reason}'
        found.append(Shortfall(demand.kind, sentence, demand.advice))
    return found + list(gpu_shortfalls(conclusion, driver, archs))


def needed_text(version):
    branch = branch_of(version)
    return str(branch) if branch is not None else f'that of CUDA {version_text(version)}'


def gpu_shortfalls(conclusion, driver, archs):
    judged = [one for one in conclusion.gpus if (one.arch in archs if archs else driver_has(driver, one.arch))]
    lacking = [one for one in judged if one.how == coverage.NOT]
    if archs and lacking and conclusion.gpus_known:
        sentence = f'{gpus_text(lacking)}: no kernel image is available; the file has {code_text(conclusion)}'
        yield Shortfall('gpu', sentence, missing_advice(conclusion, lacking))
    if driver:
        # A GPU that is newer than the driver needs a newer driver anyway. What the file demands of all was said before.
        late = [one for one in judged if one.is_late and (one.first is None or one.first > driver)]
        for ptx in sorted({one.ptx.version for one in late}, reverse=True):
            ones = [one for one in late if one.ptx.version == ptx]
            first = ones[0].first
            before = needed_text(first) if first else 'one that is not known yet'
            sentence = (f'{gpus_text(ones)}: on drivers before {before}, the provided PTX was compiled with an '
                        f'unsupported toolchain: the file has only PTX {ptx[0]}.{ptx[1]} for '
                        + ('it' if len(ones) == 1 else 'them'))
            yield Shortfall('ptx', sentence, ptx_advice(ones, driver))
    for one in judged if archs else ():
        if one.is_dropped:
            sentence = (f'GPU {arch_text(one.arch)}: the file needs {driver_text(one.first)}, and {one.last} is the '
                        'last branch for this GPU')
            yield Shortfall('dropped', sentence, conclusion.demand.advice if conclusion.demand else '')


def driver_has(driver, arch):
    """Whether a driver supports a GPU; of no driver in particular, False."""
    return driver is not None and gpu_first(arch) <= driver and not is_after_last(driver, arch)


def gpus_text(ones):
    texts = [arch_text(one.arch) for one in ones]
    return f'GPU {texts[0]}' if len(texts) == 1 else f'GPUs {", ".join(texts)}'


def code_text(conclusion):
    """The device code of a file, as a user of nvcc names it."""
    kinds = {}
    for code in conclusion.codes:
        kinds.setdefault(code.kind, set()).add((code.arch, code.suffix))
    return ' and '.join(f'{kind} for {", ".join(arch_text(arch) + suffix for arch, suffix in sorted(found))}'
                        for kind, found in sorted(kinds.items(), reverse=True) if kind != IR)


def gencode(arch, is_ptx=False):
    return f'-gencode arch=compute_{arch},code={"compute" if is_ptx else "sm"}_{arch}'


def missing_advice(conclusion, lacking):
    """PTX for the newest GPU that is older than those that are missing, or code for each of them."""
    oldest = min(one.arch for one in lacking)
    known = [code.arch for code in conclusion.codes if code.kind != IR and not code.suffix and code.arch <= oldest]
    if known:
        return f'add {gencode(max(known), is_ptx=True)}'
    return 'add ' + ' '.join(gencode(one.arch) for one in lacking)


def ptx_advice(ones, driver):
    """Native code for the GPUs, which serves later ones of the same major version, too, or older PTX."""
    oldest = {}
    for one in ones:
        oldest.setdefault((one.arch // 10, is_tegra(one.arch)), one.arch)
    native = ' '.join(gencode(arch) for arch in oldest.values())
    return f'add {native}, or build that file with CUDA {version_text(driver)}, which writes PTX {newest_ptx(driver)}'
