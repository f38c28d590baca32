# SPDX-License-Identifier: MIT
"""Concludes from the facts of a file: the first driver and what demands it, the GPUs, and what is wrong with it."""
import re

from .condition import needed_version
from .coverage import NOT, Groups
from .demands import code_demand, find_demands
from .fatbin import IR
from .rules import OLDEST, driver_text, judged_gpus, symbol_version, version_text


class Conclusion:
    """What the facts of one file mean."""

    def __init__(self, facts):
        self.facts = facts
        # What the file demands whatever the GPU, and the driver for that; 0 if nothing does.
        self.demands = sorted(find_demands(facts), key=lambda one: -one.version)
        self.floor = self.demands[0].version if self.demands else 0
        # What compiles, and NVENC, say nothing of the device code in the file.
        self.code_floor = max((one.version for one in self.demands if one.kind not in ('compiler', 'video')), default=0)
        self.notes, self.mistakes = [], []
        self.codes = [code for container in facts.containers if not container.empty for code in container.codes]
        groups = Groups(facts.containers)
        self.gpus = [groups.cover(arch, self.code_floor) for arch in judged_gpus([facts.machine])] if groups else []
        self.demand = self.find_demand()
        self.find_mistakes()
        self.find_notes()

    def find_demand(self):
        """What demands the first driver, or None: the device code, if a newer driver is the first to run any of it."""
        served = [one for one in self.gpus if one.how != NOT and one.first is not None]
        least = min(served, key=lambda one: one.first, default=None)
        if least is not None and least.first > max(self.floor, OLDEST):
            return code_demand(least)
        return self.demands[0] if self.demands else None

    @property
    def all_demands(self):
        """What demands a driver, the newest first."""
        return ([self.demand] if self.demand and self.demand not in self.demands else []) + self.demands

    @property
    def first(self):
        """The first driver on which the file works at all; 0 if nothing demands one."""
        return self.demand.version if self.demand else 0

    @property
    def driver_known(self):
        """Whether the first driver is known; if so and nothing demands one, each driver will do."""
        if self.runtime_is_elsewhere:
            return False
        if self.unknown_needs:
            return False
        return self.demand is not None or self.gpus_known and not self.facts.unknown_video and not self.newer_lookups(OLDEST) \
            and all(one.first is not None for one in self.gpus)

    def newer_lookups(self, driver):
        """The functions that the file looks up at run time, and that a driver lacks, the newest first. What the CUDA
        runtime looks up says nothing of the program."""
        if self.facts.runtime and self.facts.runtime[0] != 'shared':
            return []
        dated = [(symbol_version(name, self.facts.is_windows) or 0, name) for name in self.facts.lookups]
        return [name for version, name in sorted(dated, reverse=True) if version > driver]

    @property
    def unknown_symbols(self):
        """Linked functions that no known driver exports."""
        return sorted(symbol.name for symbol in self.facts.symbols
                      if not symbol.is_weak and symbol_version(symbol.name, self.facts.is_windows) is None)

    @property
    def unknown_needs(self):
        """The conditions in the file whose driver is not known."""
        return sorted(text for text in self.facts.needs if needed_version(text) is None)

    @property
    def loads_code(self):
        """The functions with which the file loads device code that it does not contain."""
        return set() if self.facts.containers else self.facts.loads

    @property
    def runtime_is_elsewhere(self):
        """Whether the first driver depends on a CUDA runtime that the file neither contains nor names."""
        return self.facts.calls_runtime and not self.facts.runtime and not self.demands and self.facts.kind != 'object'

    @property
    def gpus_known(self):
        """Whether the GPUs depend on the device code in the file alone."""
        return not self.facts.compiles and not self.loads_code and not any(code.kind == IR for code in self.codes)

    def gpu(self, arch):
        """The coverage of a GPU, also of one that the table lacks, or None without device code."""
        return next((one for one in self.gpus if one.arch == arch), None)

    def find_mistakes(self):
        kind, release = self.facts.copy or ('', '')
        # A directory may be the one in which the driver is installed; a wheel is not.
        is_shipped = self.facts.archive or re.search(r'libcuda-[0-9a-f]+\.so', self.facts.name)
        if kind == 'driver' and is_shipped:
            self.mistakes.append(
                f'this is a copy of NVIDIA\'s driver{" " + release if release else ""}. It works only with the kernel '
                'module of exactly that release, and on other machines cuInit() fails; leave it out of the package '
                '(auditwheel repair --exclude libcuda.so.1)')
        elif kind == 'driver':
            self.notes.append(f'this is NVIDIA\'s driver{" " + release if release else ""}; do not ship it')
        elif kind == 'stub' and is_shipped:
            self.mistakes.append('this is the stub of the driver, which is for linking. Every call in it fails with '
                                 'CUDA_ERROR_STUB_LIBRARY (34); leave it out of the package')
        elif kind == 'stub':
            self.notes.append('this is a stub of the driver, for linking; do not ship it')
        if self.facts.linked_copy:
            self.mistakes.append(
                f'it is linked to a copy of NVIDIA\'s driver, {self.facts.linked_copy}, in place of libcuda.so.1, so '
                'it works only with the kernel module of the release of that copy; link it to libcuda.so.1 (auditwheel '
                'repair --exclude libcuda.so.1)')
        for path in self.facts.paths:
            if re.search(r'(^|/)stubs(/|$)', path):
                self.mistakes.append(
                    f'its RPATH has {path}, the directory of the stub of the driver: where that directory exists, the '
                    'stub can be loaded in place of the driver; remove that entry (patchelf --set-rpath, with the '
                    'others)')

    def find_notes(self):
        facts = self.facts
        weak = [symbol.name for symbol in facts.symbols if symbol.is_weak]
        if weak:
            self.notes.append(f'links weakly to {listed(sorted(weak))}: NULL on a driver without the function')
        if self.unknown_symbols and facts.needs_driver:
            self.notes.append(f'links to {listed(self.unknown_symbols)}, which no known driver exports: not known')
        if facts.symbols and not facts.needs_driver and facts.kind != 'object':
            self.notes.append('links to functions of the driver, but does not name libcuda.so.1: another library of '
                              'the process must load it first')
        if facts.records and (self.demand or not self.driver_known or facts.needs_driver):
            self.notes.append(f'{records_text(facts)}, each of which can be missing')
        if self.unknown_needs:
            self.notes.append(f'says that it needs {listed(self.unknown_needs)}: the driver for that is not known')
        if facts.lookups and (not facts.runtime or facts.runtime[0] == 'shared'):
            self.note_lookups()
        if self.runtime_is_elsewhere:
            self.notes.append('calls a CUDA runtime, but neither names nor contains one that is recognised: the driver '
                              'that it needs is not known')
        if facts.compiles:
            self.notes.append(f'compiles code at run time ({", ".join(sorted(facts.compiles))}): the GPUs and drivers '
                              'for that code are not known')
        elif self.loads_code:
            self.notes.append(f'loads device code that is not in this file ({listed(self.loads_code)}): the GPUs and '
                              'drivers for that code are not known')
        if facts.unknown_video:
            self.notes.append(f'uses {" and ".join(sorted(facts.unknown_video))} of the driver: the oldest driver for that '
                              'depends on the version of NVIDIA\'s Video Codec SDK with which the file was built, and '
                              'is not known')
        if any(code.kind == IR for code in self.codes):
            self.notes.append('has intermediate code for linking at run time (LTO): its GPUs and drivers are not known')

    def note_lookups(self):
        dated = [(symbol_version(name, self.facts.is_windows) or 0, name) for name in self.facts.lookups]
        version, name = max(dated)
        count = len(dated)
        # A file can put names together, such as one with "_v2" at its end, and those are not found.
        text = f'looks up at least {count} function{"s" if count != 1 else ""} of the driver at run time'
        if version:
            text += f'{", the newest of these" if count != 1 else ","} from CUDA {version_text(version)} ({name})'
        self.notes.append(text)
        newer = self.newer_lookups(max(self.first, OLDEST))
        if newer and self.driver_known:
            self.notes.append(f'{driver_text(self.first)} lacks {listed(newer)}: whether the file needs '
                              f'{"these" if len(newer) > 1 else "it"} is not known')


def records_text(facts):
    """The copies of cushim in a file, for a sentence."""
    found = {f'cushim {one.version} with ' + ('all functions' if one.is_whole else f'{len(one.functions)} functions')
             for one in facts.records}
    return f'contains {" and ".join(sorted(found))}'


def listed(names, most=3):
    """Some names for a sentence; a list keeps its order."""
    names = names if isinstance(names, list) else sorted(names)
    return ', '.join(names[:most]) + (f' and {len(names) - most} more' if len(names) > most else '')
