# SPDX-License-Identifier: MIT
"""Which GPUs the device code of a file serves: natively, compiled by the driver, only in part, or not."""
from .fatbin import IR, SASS
from .rules import gpu_first, gpu_last, is_after_last, ptx_floor, runs_compiled, runs_native

NATIVE, COMPILED, PART, NOT, UNKNOWN = 'native', 'jit', 'part', 'no', 'not known'


class Coverage:
    """What a file has for one GPU. `total` counts its containers, `served` those with code for the GPU."""

    def __init__(self, arch, served, total, needed, floor):
        self.arch, self.served, self.total = arch, served, total
        # The PTX that the driver must compile: the newest version, and None if nothing must be compiled.
        self.ptx = max((code for code in needed if code), key=lambda code: code.version, default=None)
        self.compiled = sum(1 for code in needed if code)
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
    def is_late(self):
        """Whether the PTX for the GPU demands a newer driver than the GPU and the rest of the file do."""
        return self.how != NOT and self.ptx is not None and (self.first is None or self.first > self.others)

    @property
    def is_dropped(self):
        """Whether there is code for the GPU, but each driver that supports the GPU is too old for the file."""
        return self.how != NOT and self.first is not None and is_after_last(self.first, self.arch)


def best_code(codes, arch):
    """(whether there is code for a GPU, the PTX that must be compiled for it or None)"""
    if any(runs_native(code, arch) for code in codes):
        return True, None
    usable = [code for code in codes if runs_compiled(code, arch)]
    return bool(usable), max(usable, key=lambda code: (code.arch, code.version), default=None)


def group(containers):
    """The sets of code that work together, each a list of containers.

    Relocatable containers work only as the device linker has linked them, or together, as the driver links and compiles
    them. Without relocatable ones, a linked container is empty: nvcc adds it to every program.
    """
    relocatable = [one for one in containers if one.relocatable]
    linked = [one for one in containers if one.linked]
    alone = [[one] for one in containers if not one.relocatable and not one.linked]
    return relocatable, linked if relocatable else [], alone


def cover(containers, arch, floor):
    """The coverage of one GPU."""
    containers = [one for one in containers if any(code.kind != IR for code in one.codes)]
    relocatable, linked, alone = group(containers)
    results = [best_code(one.codes, arch) for ones in alone for one in ones]
    if linked:
        native = any(runs_native(code, arch) for one in linked for code in one.codes)
        results += [(True, None) if native else best_code([code for code in one.codes if code.kind != SASS], arch)
                    for one in relocatable]
    else:
        results += [best_code(one.codes, arch) for one in relocatable]
    served = [ptx for is_served, ptx in results if is_served]
    return Coverage(arch, len(served), len(results), served, floor)
