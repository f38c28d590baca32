# SPDX-License-Identifier: MIT
"""What demands a driver: linked functions and the CUDA runtime, whatever the GPU, and device code."""
import re

from .condition import needed_version
from .rules import OLDEST, arch_text, ptx_floor, runtime_floor, symbol_version, version_of, version_text
from .tables import BRANCHES, RUNTIME_NAMES

FAILS_AT_LOAD = 'at load'
FAILS_AT_CALL = 'at the first call'


class Demand:
    """Something in a file that needs a driver for a CUDA version."""

    def __init__(self, kind, version, reason, fails='', advice='', name=''):
        # No older driver than the oldest in the table is known.
        self.version = max(version, OLDEST)
        self.kind, self.reason, self.fails, self.advice = kind, reason, fails, advice
        self.name = name


def find_demands(facts):
    """What a file demands of every driver, whatever the GPU."""
    versions = [(symbol_version(symbol.name, facts.is_windows), symbol)
                 for symbol in facts.symbols if not symbol.is_weak]
    # For each driver that is needed, the symbol that is hardest to do without.
    newest = {}
    for version, symbol in versions:
        if version and (version not in newest or newest[version].is_lazy and not symbol.is_lazy):
            newest[version] = symbol
    for version, symbol in newest.items():
        lazy = symbol.is_lazy
        more = sum(1 for other, _ in versions if other == version) - 1
        verb = 'will need' if facts.kind == 'object' else 'is linked to'
        names = 'these names' if more else 'this name'
        yield Demand('symbol', version, f'it {verb} {symbol.name}{f" and {more} more" if more else ""}, new in CUDA '
                     f'{version_text(version)}', FAILS_AT_CALL if lazy else FAILS_AT_LOAD,
                     f'look {names} up at run time (cuGetProcAddress, or PLUGINS.md of cushim)', symbol.name)
    if facts.runtime:
        yield from runtime_demand(facts)
    for compiler in sorted(facts.compiles & set(facts.compiler_libraries)):
        library, version = facts.compiler_libraries[compiler]
        if version:
            yield Demand('compiler', version, f'it compiles code with {library}', FAILS_AT_CALL,
                         f'build it with CUDA {older_toolkits(version)}', library)
    if facts.video_driver and version_of(int(facts.video_driver[:3])):
        yield Demand('video', version_of(int(facts.video_driver[:3])), f'it says that NVENC needs driver '
                     f'{facts.video_driver}', FAILS_AT_CALL, 'build it with an older Video Codec SDK', facts.video_driver)
    for text in sorted(facts.needs):
        version = needed_version(text)
        if version:
            yield Demand('need', version, f'it says that it needs {text}', FAILS_AT_CALL, name=text)


def code_demand(least):
    """The driver for the GPU, of those for which the file has code, that needs the oldest one."""
    if least.ptx is not None and ptx_floor(least.ptx.version) == least.first:
        version = '{}.{}'.format(*least.ptx.version)
        return Demand('ptx', least.first, f'the driver must compile its PTX {version}', FAILS_AT_CALL, name=version)
    arch = arch_text(least.arch)
    return Demand('sass', least.first, f'older drivers support none of the GPUs for which it has code, from {arch} on',
                  FAILS_AT_CALL, name=arch)


def runtime_release(text):
    """"12.3.101" as 12030; "11.0", the name of every runtime of 11, as 11000; 0 for ""."""
    parts = [int(part) for part in text.split('.') if part]
    return (parts[0] * 1000 + (parts[1] if len(parts) > 1 else 0) * 10) if parts else 0


def recognised_text(release, name):
    """A release of the runtime that was recognised by the names in it. Later ones can have the same names: then the
    name of the library tells, if it has the release."""
    later = next((known for known in sorted(RUNTIME_NAMES) if known > release), None)
    same = [version for version in BRANCHES if release < version < (later or 0)]
    named = re.search(r'libcudart[^/]*\.so\.(\d+\.\d+)', name)
    if named and runtime_release(named[1]) in [release, *same]:
        return named[1]
    if release not in RUNTIME_NAMES:
        return version_text(release)
    return ' or '.join(map(version_text, [release, *same])) + ('' if later else ' or newer')


def runtime_demand(facts):
    kind, found = facts.runtime
    release = found if isinstance(found, int) else runtime_release(found)
    if not release:
        # It is older than those whose names are known.
        known = [symbol_version(name, facts.is_windows) or 0 for name in facts.lookups]
        release = min(max(known, default=0), min(RUNTIME_NAMES) - 10)
        if not release:
            return
    text = version_text(release)
    if kind == 'shared':
        text = str(release // 1000) if release // 1000 > 10 and found.count('.') < 2 else text
        reason = f'it uses the CUDA runtime {text} (a shared library)'
    elif kind == 'static':
        text = recognised_text(release, '')
        reason = f'it contains the CUDA runtime {text}'
    elif kind == 'hybrid':
        text = str(release // 1000)
        reason = f'it names nvcudart_hybrid64.dll, which seems to be the CUDA runtime from {text} on'
    else:
        text = recognised_text(release, facts.member)
        reason = f'it is the CUDA runtime {text}'
    floor = runtime_floor(release)
    yield Demand('runtime', floor, reason, FAILS_AT_CALL, f'build it with CUDA {older_toolkits(floor)}', text)


def older_toolkits(floor):
    """The Toolkits whose runtime demands less than a driver."""
    major = floor // 1000
    return f'{major - 1}.x' if major > 11 else f'older than {version_text(floor)}'
