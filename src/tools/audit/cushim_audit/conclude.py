# SPDX-License-Identifier: MIT
"""Concludes from the facts of a file: the first driver and what demands it, the GPUs, and what is wrong with it."""
import re

from .coverage import cover
from .demands import find_demands
from .fatbin import IR
from .rules import arch_text, driver_text, judged_gpus, symbol_version, version_text


class Conclusion:
    """What the facts of one file mean."""

    def __init__(self, facts):
        self.facts = facts
        self.demands = sorted(find_demands(facts), key=lambda one: -one.version)
        self.floor = self.demands[0].version if self.demands else 0
        self.notes, self.mistakes = [], []
        self.codes = [code for container in facts.containers for code in container.codes]
        self.gpus = []
        if any(code.kind != IR for code in self.codes):
            gpus = [cover(facts.containers, arch, self.floor) for arch in judged_gpus([facts.machine])]
            # The linked container of an object file is of use only together with other object files.
            self.gpus = [one for one in gpus if one.total]
        self.find_mistakes()
        self.find_notes()

    @property
    def demand(self):
        """What demands the first driver, or None."""
        return self.demands[0] if self.demands else None

    @property
    def gpus_known(self):
        """Whether the GPUs depend on the device code in the file alone."""
        return not self.facts.compiles and not any(code.kind == IR for code in self.codes)

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
            self.notes.append(f'links weakly to {listed(weak)}: NULL on a driver without the function')
        unknown = sorted(symbol.name for symbol in facts.symbols
                         if not symbol.is_weak and symbol_version(symbol.name, facts.is_windows) is None)
        if unknown and facts.needs_driver:
            self.notes.append(f'links to {listed(unknown)}, which no known driver exports: not known')
        if facts.symbols and not facts.needs_driver and facts.kind != 'object':
            self.notes.append('links to functions of the driver, but does not name libcuda.so.1: another library of '
                              'the process must load it first')
        # What the CUDA runtime looks up says nothing of the program.
        if facts.lookups and (not facts.runtime or facts.runtime[0] == 'shared'):
            self.note_lookups()
        if facts.compiles:
            self.notes.append(f'compiles code at run time ({", ".join(sorted(facts.compiles))}): for which GPUs and '
                              'drivers is not known')
        if any(code.kind == IR for code in self.codes):
            self.notes.append('has intermediate code for linking at run time (LTO): its GPUs and drivers are not known')
        for one in self.gpus:
            if not one.is_dropped:
                continue
            self.notes.append(f'has code for GPU {arch_text(one.arch)}, but cannot run there: it needs '
                              f'{driver_text(one.first)}, and {one.last} is the last branch for this GPU')

    def note_lookups(self):
        dated = [(symbol_version(name, self.facts.is_windows) or 0, name) for name in self.facts.lookups]
        version, name = max(dated)
        count = len(dated)
        text = f'looks up {count} function{"s" if count != 1 else ""} of the driver at run time'
        if version:
            text += f'{", the newest" if count != 1 else ","} from CUDA {version_text(version)} ({name})'
        self.notes.append(text)


def listed(names, most=3):
    """Some names for a sentence."""
    names = sorted(names)
    return ', '.join(names[:most]) + (f' and {len(names) - most} more' if len(names) > most else '')
