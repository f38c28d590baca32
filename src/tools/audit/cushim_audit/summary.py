# SPDX-License-Identifier: MIT
"""Puts the conclusions of the files of one wheel, tarball or directory together."""
from . import coverage
from .rules import OLDEST, is_after_last, judged_gpus


class Summary:
    """All files together, as if a program loaded each of them."""

    def __init__(self, conclusions, is_complete):
        self.conclusions, self.is_complete = conclusions, is_complete
        self.demanding = max((one for one in conclusions if one.demands), key=lambda one: one.floor, default=None)
        self.floor = self.demanding.floor if self.demanding else 0
        with_code = [one for one in conclusions if one.gpus]
        # Object files are for linking, and programs do not load them.
        with_code = [one for one in with_code if one.facts.kind != 'object'] or with_code
        self.with_code = len(with_code)
        self.machines = sorted({one.facts.machine for one in conclusions if one.facts.machine})
        self.gpus_known = all(one.gpus_known for one in conclusions)
        # The parts of the driver for video, whose driver is not known.
        self.video = sorted(set().union(*(one.facts.video for one in conclusions)))
        # In the same wheel, the runtime of one file can be that of another.
        self.runtime_known = bool(self.floor) or not any(one.runtime_is_elsewhere for one in conclusions)
        self.gpus = [SummaryGpu(arch, [one.gpu(arch) for one in with_code if one.gpu(arch)], self.floor)
                     for arch in judged_gpus(self.machines)] if with_code else []
        # The oldest driver on which the files work for at least one GPU; 0 if nothing demands one.
        firsts = [one.first for one in self.gpus if one.first and one.how != coverage.NOT]
        least = min(firsts, default=0)
        self.first = max(self.floor, least if least > OLDEST else 0)


class SummaryGpu:
    """One GPU, for all files that have device code."""

    def __init__(self, arch, found, floor):
        self.arch = arch
        hows = {one.how for one in found}
        if hows == {coverage.NOT}:
            self.how = coverage.NOT
        elif coverage.NOT in hows or coverage.PART in hows:
            self.how = coverage.PART
        else:
            self.how = coverage.COMPILED if coverage.COMPILED in hows else coverage.NATIVE
        served = [one for one in found if one.how != coverage.NOT]
        self.compiled = sum(1 for one in served if one.ptx)
        self.served, self.total = len(served), len(found)
        self.in_part = sum(1 for one in served if one.how == coverage.PART)
        firsts = [one.first for one in served] + [floor]
        self.first = None if None in firsts else max(firsts)
        self.is_dropped = bool(served) and self.first is not None and is_after_last(self.first, arch)
        self.is_late = any(one.is_late for one in served) and not self.is_dropped
        self.last = found[0].last if found else None
        self.ptx = max((one.ptx for one in served if one.ptx), key=lambda code: code.version, default=None)
