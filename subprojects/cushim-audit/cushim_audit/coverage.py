# SPDX-License-Identifier: MIT
"""Which GPUs the device code of a file serves: natively, compiled by the driver, only in part, or not."""
import collections

from .fatbin import IR, SASS
from .rules import gpu_first, gpu_last, is_after_last, ptx_floor, runs_compiled, runs_native

NATIVE, COMPILED, PART, NOT = 'native', 'jit', 'part', 'no'


class Coverage:
    """What a file has for one GPU. `total` counts its containers, `served` those with code for the GPU. `needed` has
    the PTX that the driver must compile, with the number of containers."""

    def __init__(self, arch, served, total, needed, floor):
        self.arch, self.served, self.total = arch, served, total
        # The newest version, and None if nothing must be compiled.
        self.ptx = max(needed, key=lambda code: code.version, default=None)
        self.compiled, self.in_part = sum(needed.values()), 0
        if served == 0:
            self.how = NOT
        elif served < total:
            self.how = PART
        else:
            self.how = COMPILED if self.ptx else NATIVE
        # The first driver for the file on this GPU; None if no known driver compiles its PTX.
        self.others = max(floor, gpu_first(arch))
        versions = [self.others] + ([ptx_floor(self.ptx.version)] if self.ptx else [])
        self.first = None if None in versions else max(versions)
        self.last = gpu_last(arch)

    @property
    def is_dropped(self):
        """Whether there is code for the GPU, but each driver that supports the GPU is too old for the file."""
        return self.how != NOT and self.first is not None and is_after_last(self.first, self.arch)

    @property
    def is_late(self):
        """Whether the PTX for the GPU demands a newer driver than the GPU and the rest of the file do."""
        return self.how != NOT and self.ptx is not None and (self.first is None or self.first > self.others)


def best_code(codes, arch):
    """(whether there is code for a GPU, the PTX that must be compiled for it or None)"""
    if any(runs_native(code, arch) for code in codes):
        return True, None
    usable = [code for code in codes if runs_compiled(code, arch)]
    return bool(usable), max(usable, key=lambda code: (code.arch, code.version), default=None)


class Groups:
    """The sets of code of a file that work together. Equal ones are one, with their number: a file can have thousands.

    Relocatable containers work only as the device linker has linked them, or together, as the driver links and compiles
    them. Without relocatable ones, a linked container is empty: nvcc adds it to every program.
    """

    def __init__(self, containers):
        used = [one for one in containers if not one.empty and any(code.kind != IR for code in one.codes)]
        relocatable = [one for one in used if one.relocatable]
        linked = [one for one in used if one.linked] if relocatable else []
        self.linked = [code for one in linked for code in one.codes]
        # Of relocatable code that is linked already, the SASS is not used.
        self.relocatable = counted(relocatable, is_usable=lambda code: not linked or code.kind != SASS)
        self.alone = counted([one for one in used if not one.relocatable and not one.linked])

    def __bool__(self):
        return bool(self.relocatable or self.alone)

    def cover(self, arch, floor):
        """The coverage of one GPU."""
        is_native = any(runs_native(code, arch) for code in self.linked)
        results = [(best_code(codes, arch), count) for codes, count in self.alone]
        results += [((True, None) if is_native else best_code(codes, arch), count) for codes, count in self.relocatable]
        needed = collections.Counter()
        for (is_served, ptx), count in results:
            if is_served and ptx:
                needed[ptx] += count
        return Coverage(arch, sum(count for (is_served, _), count in results if is_served),
                        sum(count for _, count in results), needed, floor)


def counted(containers, is_usable=lambda code: True):
    """[(codes, how many containers have these)]"""
    found = {}
    for one in containers:
        codes = [code for code in one.codes if is_usable(code)]
        found.setdefault(tuple(sorted(code.key for code in codes)), [codes, 0])[1] += 1
    return [tuple(one) for one in found.values()]
