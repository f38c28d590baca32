# SPDX-License-Identifier: MIT
"""Why a file does not meet a requirement: what stops which users, and what to change."""
from . import coverage
from .demands import FAILS_AT_CALL, FAILS_AT_LOAD
from .fatbin import IR, PTX
from .rules import (arch_text, branch_of, compilable_until, driver_text, gpu_first, is_after_last, is_compilable,
                    is_tegra, newest_ptx, ptx_floor, version_text)


def advice(conclusion):
    """What to change so that a file runs on more GPUs and drivers, as lines. A file without requirements may be meant
    for fewer."""
    late = [one for one in conclusion.gpus if one.is_late and not one.is_dropped]
    if late and conclusion.code_floor:
        wanted = min(one.others for one in late)
        yield f'to run on {gpus_text(late)} from {driver_text(wanted)} on: {ptx_advice(conclusion, late, wanted)}'
    # Code for one GPU or one family is written for that. What runs on no GPU is not for lack of code.
    portable = [code.arch for code in conclusion.codes if code.kind != IR and not code.suffix]
    lacking = [one for one in conclusion.gpus if one.how == coverage.NOT and one.arch > min(portable, default=one.arch)]
    if lacking and conclusion.gpus_known:
        yield f'to run on {gpus_text(lacking)}: {missing_advice(conclusion, lacking)}'


class Shortfall:
    """Why a file does not meet a requirement: what stops which users, and what to change."""

    def __init__(self, kind, sentence, advice=''):
        self.kind, self.sentence, self.advice = kind, sentence, advice


def shortfalls(conclusion, driver, archs):
    """What a file lacks for a driver (a CUDA version, or None) and for GPUs (a list, may be empty)."""
    found = [Shortfall('mistake', text) for text in conclusion.mistakes]
    demand = conclusion.demands[0] if conclusion.demands else None
    if driver and demand and demand.version > driver:
        fails = {FAILS_AT_LOAD: 'the file does not load', FAILS_AT_CALL: 'the call fails'}[demand.fails]
        if demand.kind == 'symbol' and demand.fails == FAILS_AT_CALL:
            fails += ' (in Python, the file does not load)'
        if demand.kind == 'runtime':
            # How the runtime 13 for Windows fails is not known: it may be missing.
            is_hybrid = conclusion.facts.is_windows and demand.version >= 13000
            fails = 'calls of the CUDA runtime fail' + ('' if is_hybrid else ' with cudaErrorInsufficientDriver (35)')
        sentence = f'on drivers before {needed_text(demand.version)}, {fails}: {demand.reason}'
        found.append(Shortfall(demand.kind, sentence, demand.advice))
    late = list(gpu_shortfalls(conclusion, driver, archs))
    if driver and conclusion.gpus_known and not late:
        late += no_gpu_shortfall(conclusion, driver)
    return found + late


def no_gpu_shortfall(conclusion, driver):
    """A driver on which the file runs on no GPU at all, for whichever GPUs are required."""
    served = [one for one in conclusion.gpus if one.how != coverage.NOT]
    if served and not any(driver_has(driver, one.arch) for one in served):
        yield Shortfall('gpu', f'{driver_text(driver)} supports none of the GPUs for which the file has code, '
                        f'{code_text(conclusion)}')
    elif conclusion.first > driver and conclusion.demand.kind == 'ptx':
        yield Shortfall('ptx', f'on drivers before {needed_text(conclusion.first)}, it runs on no GPU: '
                        f'{conclusion.demand.reason}')


def needed_text(version):
    branch = branch_of(version)
    return str(branch) if branch is not None else f'that of CUDA {version_text(version)}'


def gpu_shortfalls(conclusion, driver, archs):
    judged = [one for one in conclusion.gpus if (one.arch in archs if archs else driver_has(driver, one.arch))]
    lacking = [one for one in judged if one.how == coverage.NOT]
    if archs and lacking and conclusion.gpus_known:
        sentence = f'{gpus_text(lacking)}: "no kernel image is available": the file has {code_text(conclusion)}'
        yield Shortfall('gpu', sentence, missing_advice(conclusion, lacking, is_portable=driver is None))
    if driver:
        # A GPU that is newer than the driver needs a newer driver anyway. What the file demands of all was said before.
        late = [one for one in judged if one.is_late and (one.first is None or one.first > driver)]
        for ptx in sorted({one.ptx.version for one in late}, reverse=True):
            ones = [one for one in late if one.ptx.version == ptx]
            first = ones[0].first
            before = needed_text(first) if first else 'one that is not known yet'
            sentence = (f'{gpus_text(ones)}: on drivers before {before}, "the provided PTX was compiled with an '
                        f'unsupported toolchain": the file has only PTX {ptx[0]}.{ptx[1]} for '
                        + ('it' if len(ones) == 1 else 'them'))
            yield Shortfall('ptx', sentence, ptx_advice(conclusion, ones, max(driver, min(one.others for one in ones))))
    for one in judged if archs else ():
        if one.is_dropped:
            sentence = (f'GPU {arch_text(one.arch)}: the file needs {driver_text(one.first)}, and driver {one.last} is '
                        'the last that supports this GPU')
            yield Shortfall('dropped', sentence, conclusion.demands[0].advice if conclusion.demands else '')


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


def missing_advice(conclusion, lacking, is_portable=True):
    """PTX for the newest GPU that is older than those that are missing, or code for each of them. PTX needs the driver
    of its Toolkit, so it is no advice for an older driver."""
    oldest = min(one.arch for one in lacking)
    known = [code.arch for code in conclusion.codes if code.kind != IR and not code.suffix and code.arch <= oldest]
    if known and is_portable:
        return f'add {gencode(max(known), is_ptx=True)}'
    # Toolkits drop old GPUs.
    last = min((one.arch for one in lacking if compilable_until(one.arch)), key=compilable_until, default=None)
    if last and compilable_until(last) < toolkit(conclusion):
        add = f'build that file with CUDA {version_text(compilable_until(last))}, the last that compiles for GPU ' \
            f'{arch_text(last)}, and add'
    else:
        add = 'add'
    return f'{add} {native_code(lacking)}'


def native_code(ones):
    """Options for code that serves GPUs: that for the oldest one serves later ones of its major version, too."""
    oldest = {}
    for one in ones:
        oldest.setdefault((one.arch // 10, is_tegra(one.arch)), one.arch)
    return ' '.join(gencode(arch) for arch in oldest.values())


def toolkit(conclusion):
    """The oldest CUDA version that can have built a file, by its runtime and its PTX."""
    return max([one.version for one in conclusion.demands if one.kind == 'runtime']
               + [ptx_floor(code.version) or 0 for code in conclusion.codes if code.kind == PTX], default=0)


def ptx_advice(conclusion, ones, driver):
    """Native code for the GPUs, or older PTX."""
    text = f'add {native_code(ones)}'
    # The older Toolkit must know each GPU for which the file has code.
    if all(is_compilable(code.arch, driver) for code in conclusion.codes):
        text += f', or build that file with CUDA {version_text(driver)}, which writes PTX {newest_ptx(driver)}'
    return text
