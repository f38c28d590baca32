# SPDX-License-Identifier: MIT
"""Puts the conclusions of the files of one wheel, tarball or directory together."""
from . import coverage
from .rules import OLDEST, is_after_last, judged_gpus, symbol_version


class Summary:
    """All files together, as if a program loaded each of them."""

    def __init__(self, conclusions, is_complete):
        self.conclusions, self.is_complete = conclusions, is_complete
        self.floor = max((one.floor for one in conclusions), default=0)
        code_floor = max((one.code_floor for one in conclusions), default=0)
        with_code = [one for one in conclusions if one.gpus]
        # Object files are for linking, and programs do not load them.
        with_code = [one for one in with_code if one.facts.kind != 'object'] or with_code
        self.with_code = len(with_code)
        # The first driver for each file.
        self.firsts = [one.first if one in with_code else one.floor for one in conclusions]
        self.machines = sorted({one.facts.machine for one in conclusions if one.facts.machine})
        self.gpus_known = all(one.gpus_known for one in conclusions)
        # The parts of the driver for video, whose driver is not known.
        self.video = sorted(set().union(*(one.facts.unknown_video for one in conclusions)))
        # In the same archive, the runtime of one file can be that of another.
        self.runtime_known = bool(self.floor) or not any(one.runtime_is_elsewhere for one in conclusions)
        self.gpus = [SummaryGpu(arch, [one.gpu(arch) for one in with_code if one.gpu(arch)], code_floor)
                     for arch in judged_gpus(self.machines)] if with_code else []
        # The oldest driver on which all files work, for at least one GPU; 0 if nothing demands one.
        served = [one for one in self.gpus if one.how in (coverage.NATIVE, coverage.COMPILED)] or \
            [one for one in self.gpus if one.how == coverage.PART]
        least = min((one.first for one in served if one.first), default=0)
        self.first = max([least if least > OLDEST else 0, *self.firsts])
        # The file that demands it; None if only all files together do.
        self.demanding = next((one for one, first in zip(conclusions, self.firsts) if first == self.first), None)
        # The newest function that a file looks up, of those that this driver lacks.
        self.lookup = max((symbol_version(name, one.facts.is_windows) for one in conclusions
                           for name in one.newer_lookups(max(self.first, OLDEST))[:1]), default=0)


    @property
    def driver_known(self):
        """Whether the first driver is known; if so and nothing demands one, each driver will do."""
        if self.floor:
            return True
        if not self.runtime_known:
            return False
        return bool(self.first) or self.gpus_known and not self.video and not self.lookup


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
