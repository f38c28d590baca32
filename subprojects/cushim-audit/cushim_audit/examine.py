# SPDX-License-Identifier: MIT
"""Reads one file and collects the facts that matter for drivers and GPUs. It judges nothing."""
import bisect
import re
import zlib

from . import fatbin
from .cubin import cubin_code, find_cubins
from .elf import Elf
from .fatbin import PTX, Code, Container
from .pe import Pe
from .record import NEED_START, find_needs, find_records
from .separate import group_linked
from .tables import COMPILER_DRIVERS, RUNTIME_NAMES, SYMBOLS
from .window import Damaged

PTX_HEAD = re.compile(rb'\.version[ \t]+(\d{1,2})\.(\d)\s+(?://[^\n]*\s+)*\.target[ \t]+sm_(\d{2,3})([af]?)\b')
NAME = re.compile(rb'cu(?:da)?[A-Z]\w{2,80}(?=\0)')
DRIVER = re.compile(r'(?:libcuda(?:-[0-9a-f]+)?\.so(?:\.|$)|nvcuda\.dll$)', re.I)
# auditwheel renames what it copies into a wheel.
# The library of a compiler, with its release in its name.
COMPILER_LIBRARY = re.compile(r'libnv(?:(rtc)|JitLink)(?:-[0-9a-f]+)?\.so\.(\d+)(?:\.(\d+))?'
                              r'|nv(?:(rtc)64|JitLink)_(\d\d)(\d)_0(?:-[0-9a-f]+)?\.dll$', re.I)
RENAMED = re.compile(r'libcuda-[0-9a-f]+\.so')
RUNTIME = re.compile(r'libcudart(?:-[0-9a-f]+)?\.so\.(\d+(?:\.\d+)*)|cudart(?:32|64)_(\d+)(?:-[0-9a-f]+)?\.dll', re.I)
# The function of each compiler that compiles. The symbols of nvJitLink have underscores and a version around the name.
COMPILERS = {'nvrtcCompileProgram': 'NVRTC', 'nvJitLinkComplete': 'nvJitLink', 'nvvmCompileProgram': 'libNVVM',
             'nvPTXCompilerCompile': 'the PTX compiler'}
COMPILES = re.compile('(?:__)?(' + '|'.join(COMPILERS) + ')')
# One search for all of them, which is fast because they start with the same letters.
NAMES_COMPILER = re.compile(b'nv(?:' + '|'.join(name[2:] for name in COMPILERS).encode() + b')')
# The libraries of the driver for video, and what they start with: one search is faster than one for each name.
VIDEO = re.compile(rb'(?:libnvidia-(encode)\.so|libnvcuvid\.so|nv(Encode)API(?:64)?\.dll|nvcuvid\.dll)(?:\.1)?\0', re.I)
VIDEO_STARTS = {False: (b'libnv',), True: (b'nvEncodeAPI', b'nvcuvid.dll')}
OF_FFMPEG = b'The minimum required Nvidia driver for nvenc is %s or newer'
VIDEO_DRIVER = re.compile(rb'(?<=\0)([3-9]\d\d\.\d{1,2}(?:\.\d{2})?)\0')
# Functions of the driver that load device code from memory or a file.
LOADS = re.compile(r'cu(Module|Library)Load(Data|DataEx|FatBinary|FromFile|)$|cuLinkAdd(Data|File)(_v2)?$')
# Functions of the runtime, and those that nvcc calls in a program with device code.
OF_RUNTIME_USER = re.compile(r'cuda[A-Z]|__cudaRegister')
# The CUDA runtime has this sentence and the identifier by which it asks the driver for its own table. The runtime for
# device code (cudadevrt) has only the sentence, and the driver only the identifier.
OF_RUNTIME = (b'CUDA driver version is insufficient for CUDA runtime version',
              bytes.fromhex('6bd5fb6c5bf4e74a8987d93912fd9df9'))
# Files for Windows that are built with CUDA 13, cudart64_13.dll among them, name this library. That it has the runtime
# itself, and that it comes with the driver, is inferred from the name and from reports; no driver for Windows was seen.
HYBRID_RUNTIME, HYBRID_RELEASE = b'nvcudart_hybrid64.dll', 13000
RELEASE = re.compile(rb'(?:Version |\0)([3-9]\d\d\.\d{2,3}(?:\.\d{2})?)[.\0]')
NAMED_RELEASE = re.compile(r'\.so\.(\d{3}\.\d+(?:\.\d+)?)$')
GZIP = re.compile(rb'\x1f\x8b\x08')
# The header of zlib, and the first byte of a block that is compressed.
COMPRESSED = b''.join(b'\\x%02x' % one for one in range(256) if one >> 1 & 3 in (1, 2))
ZLIB = re.compile(rb'\x78[\x01\x5e\x9c\xda][' + COMPRESSED + b']')
# Between two fat binaries, fewer bytes than this are padding. A name has at least so many.
NEAR, SMALLEST = 64, 4
# The start of a PTX file is within this many bytes.
PTX_START = 8192


class Facts:
    """A file as it is."""

    def __init__(self, item):
        self.name, self.archive, self.member = item.name, item.archive, item.member
        self.format = self.machine = self.kind = ''
        self.is_windows = False
        self.symbols = []         # those of the driver that the file is linked to
        self.needs_driver = False # it names the driver's library
        self.linked_copy = ''     # the name of a copy of the driver to which it is linked
        self.paths = []           # RPATH and RUNPATH
        self.runtime = None       # 'static', 'shared', 'hybrid' or 'itself', with the version, '' if not known
        self.calls_runtime = False # it calls the runtime, wherever that is
        self.lookups = set()      # driver functions that it names in its data
        self.compiles = set()     # the compilers that it can call at run time
        self.loads = set()        # functions for loading device code that it links to or looks up
        self.compiler_libraries = {} # {compiler: (library that it needs, CUDA version of its driver)}
        self.records = []         # the copies of cushim in it
        self.needs = set()        # the conditions that it says it cannot do without
        self.video = set()        # NVENC and NVDEC, if it names their libraries
        self.video_driver = ''    # the driver that FFmpeg in it says that NVENC needs: "610.00"
        self.containers = []
        self.copy = None          # 'driver' or 'stub', with the release of the driver, or ''

    @property
    def unknown_video(self):
        """The parts of the driver for video that it uses, and whose driver is not known."""
        return self.video - ({'NVENC'} if self.video_driver else set())

    @property
    def is_about_cuda(self):
        return any((self.symbols, self.needs_driver, self.runtime, self.lookups, self.compiles, self.containers,
                    self.copy, self.video, self.records, self.needs))


def examine(item):
    """The facts of one file. Raises Damaged."""
    facts, window = Facts(item), item.window
    head = window.head(64)
    if head.startswith(b'\x7fELF'):
        examine_elf(facts, window)
    elif head.startswith(b'MZ'):
        examine_pe(facts, window)
    else:
        facts.format = 'fat binary' if head.startswith(fatbin.MAGIC) else 'data'
        facts.containers = list(fatbin.find_containers(window)) + find_ptx(window)
        if facts.format == 'data' and facts.containers:
            facts.format = 'PTX' if facts.containers[0].codes[0].kind == PTX else 'fat binary'
        if not facts.containers:
            raise Damaged('this is not a program, library, archive, fat binary, cubin or PTX')
    return facts


def examine_elf(facts, window):
    elf = Elf(window)
    facts.machine, facts.kind, facts.format = elf.machine, elf.kind, f'ELF {elf.bits}'
    if elf.machine == 'CUDA':
        facts.format = 'cubin'
        facts.containers = [Container(0, window.size, [cubin_code(window)], 'cubin')]
        return
    facts.paths = elf.paths
    facts.symbols = [symbol for symbol in elf.wanted if symbol.name in SYMBOLS or is_driver_name(symbol.name)]
    facts.needs_driver = any(DRIVER.match(name) for name in elf.needed)
    facts.linked_copy = next((name for name in elf.needed if RENAMED.match(name)), '')
    find_runtime(facts, elf.needed)
    find_calls(facts, [symbol.name for symbol in elf.wanted])
    if DRIVER.match(elf.soname) and 'cuInit' in elf.defined:
        find_copy(facts, window, elf.soname)
        return
    data = elf.data()
    # Without sections, the names to which a file is linked are among its data.
    linked = {symbol.name for symbol in facts.symbols} if data == [window] else set()
    search(facts, window, data, elf.defined | linked)
    facts.calls_runtime = group_linked(elf, facts.containers) or facts.calls_runtime


def is_driver_name(name):
    """A name as the driver has them: not one of a library such as cuBLAS (cublasCreate)."""
    return len(name) > 3 and name.startswith('cu') and name[2].isupper()


def examine_pe(facts, window):
    pe = Pe(window)
    facts.machine, facts.kind, facts.format, facts.is_windows = pe.machine, pe.kind, f'PE {pe.bits}', True
    facts.symbols = [PeSymbol(name, lazy) for lazy, table in ((False, pe.imports), (True, pe.delayed))
                     for library, names in table.items() if DRIVER.match(library) for name in names]
    facts.needs_driver = bool(facts.symbols)
    find_runtime(facts, [*pe.imports, *pe.delayed])
    find_calls(facts, [name for table in (pe.imports, pe.delayed) for names in table.values() for name in names])
    if DRIVER.match(pe.library) and 'cuInit' in pe.defined:
        find_copy(facts, window, '')
        return
    search(facts, window, pe.data(), pe.defined | {symbol.name for symbol in facts.symbols})
    facts.calls_runtime = group_linked(pe, facts.containers) or facts.calls_runtime


class PeSymbol:
    is_weak = False

    def __init__(self, name, is_lazy):
        self.name, self.is_lazy = name, is_lazy


def find_runtime(facts, libraries):
    """The runtime and the parts of the driver for video among the libraries that a file needs."""
    for name in libraries:
        found = VIDEO.match(name.encode() + b'\0')
        facts.video.update([video_name(found)] if found else [])
        found = COMPILER_LIBRARY.match(name)
        if found:
            compiler, release = ('NVRTC' if found[1] or found[4] else 'nvJitLink'), (found[2] or found[5], found[3] or found[6])
            version = COMPILER_DRIVERS.get((compiler, '.'.join(release)) if all(release) else (compiler, release[0])) \
                or COMPILER_DRIVERS.get((compiler, release[0]))
            facts.compiler_libraries[compiler] = name, version
        found = RUNTIME.match(name)
        if found:
            facts.runtime = 'shared', found[1] or '.'.join(re.fullmatch(r'(\d\d)(\d?)', found[2]).groups()).rstrip('.')


def video_name(found):
    return 'NVENC' if found[1] or found[2] else 'NVDEC'


def find_video(window, is_windows, records):
    """The parts of the driver for video whose libraries are named elsewhere than in a record. A message can end with a
    name, after a space."""
    found = ((at, VIDEO.match(window.head(32, at)))
             for start in VIDEO_STARTS[is_windows] for at in window.find_each(start))
    return {video_name(one) for at, one in found
            if one and (at == 0 or not re.match(rb'[\w ]', window.bytes(at - 1, 1))) and not is_recorded(at, records)}


def is_recorded(at, records):
    return any(one.start <= at < one.end for one in records)


def find_video_driver(window):
    """What FFmpeg tells its user, if that is clear: one release beside the sentence."""
    if window.find(OF_FFMPEG) < 0:
        return ''
    releases = {found[1].decode() for _, found in window.matches(VIDEO_DRIVER)}
    return releases.pop() if len(releases) == 1 else ''


def find_calls(facts, names):
    """What the functions that a file takes from libraries show. That it names a compiler's library shows nothing: build
    systems link to all libraries of the Toolkit."""
    for name in names:
        found = COMPILES.match(name)
        if found:
            facts.compiles.add(COMPILERS[found[1]])
        facts.calls_runtime = facts.calls_runtime or bool(OF_RUNTIME_USER.match(name))


def find_copy(facts, window, soname):
    """The driver, or the Toolkit's stub, which is small and has no release."""
    named = re.search(NAMED_RELEASE, soname) or re.search(NAMED_RELEASE, facts.name)
    if named:
        facts.copy = 'driver', named[1]
    elif window.size < 1 << 20:
        facts.copy = 'stub', ''
    else:
        found = next((match for _, match in window.matches(RELEASE)), None)
        facts.copy = 'driver', found[1].decode() if found else ''


def search(facts, window, data, defined):
    """What only the contents show: device code, names of functions, the static runtime."""
    containers, alone = list(fatbin.find_containers(window)), []
    names, is_hybrid, found_of_runtime = set(), False, set()
    for part in searched(window, data, containers):
        records = list(find_records(part))
        facts.records += [one for one in records if not one.is_of_libraries]
        facts.needs |= find_needs(part)
        names.update(found[0] for at, found in part.matches(NAME) if is_alone(part, at)
                     and not is_recorded(at, records))
        found_of_runtime.update(one for one in OF_RUNTIME if part.find(one) >= 0)
        is_hybrid = is_hybrid or facts.is_windows and part.find(HYBRID_RUNTIME) >= 0
        facts.video.update(find_video(part, facts.is_windows, records))
        facts.video_driver = facts.video_driver or find_video_driver(part)
        facts.compiles.update(COMPILERS[found[0].decode()] for _, found in part.matches(NAMES_COMPILER))
        for one in find_ptx(part) + find_packed_ptx(part) + find_cubins(part):
            one.at += part.start - window.start
            alone.append(one)
    facts.containers = containers + alone
    names = {name.decode() for name in names}
    is_runtime = len(found_of_runtime) == len(OF_RUNTIME)
    if is_runtime or is_hybrid:
        release = runtime_version(names) if is_runtime else HYBRID_RELEASE
        kind = 'static' if is_runtime else 'hybrid'
        facts.runtime = 'itself' if 'cudaGetDeviceCount' in defined else kind, release
    facts.lookups = {name for name in names if name in SYMBOLS} - defined
    # What the CUDA runtime in a file looks up says nothing of the rest.
    asked = facts.lookups if not facts.runtime or facts.runtime[0] == 'shared' else set()
    # Which of its functions a program calls through cushim is known of a subset alone.
    asked = asked.union(*(one.symbols for one in facts.records if not one.is_whole))
    facts.loads = {name for name in asked | {symbol.name for symbol in facts.symbols} if LOADS.match(name)}


def is_alone(part, at):
    """Whether a name is not the end of another word, nor the name in a condition, which the program does not look up."""
    return at == 0 or not re.match(rb'\w', part.bytes(at - 1, 1)) and \
        part.head(len(NEED_START), at - len(NEED_START)) != NEED_START


def searched(window, data, containers):
    """The parts of a file to search: its data without the fat binaries. Neighbours are one part, because a file can
    have thousands of sections."""
    ranges = []
    for part in sorted(data, key=lambda one: one.start):
        start, end = part.start - window.start, part.start - window.start + part.size
        if ranges and start <= ranges[-1][1] + NEAR:
            ranges[-1][1] = max(ranges[-1][1], end)
        else:
            ranges.append([start, end])
    starts = [one.at for one in containers]
    for start, end in ranges:
        # The containers, which are in order, that reach into the range.
        for one in containers[max(bisect.bisect(starts, start) - 1, 0):bisect.bisect_left(starts, end)]:
            if one.at - start >= NEAR:
                yield window.part(start, one.at - start)
            start = max(start, one.at + one.size)
        if end - start >= SMALLEST:
            yield window.part(start, end - start)


def runtime_version(names):
    """The newest release of the runtime all of whose new names are there."""
    found = ''
    for version, added in RUNTIME_NAMES.items():
        if added and names.issuperset(added):
            found = version
    return found


def ptx_code(head):
    found = PTX_HEAD.search(head)
    return Code(PTX, int(found[3]), (int(found[1]), int(found[2])), found[4].decode()) if found else None


def find_ptx(window):
    """PTX in plain text."""
    found = []
    for at in window.find_each(b'.version'):
        head = window.head(512, at)
        code = ptx_code(head) if PTX_HEAD.match(head) else None
        if code:
            found.append(Container(at, 0, [code], 'PTX'))
    return found


def find_packed_ptx(window):
    """PTX that is compressed with gzip or zlib, as FFmpeg's libraries have it."""
    found = []
    for pattern, bits in (GZIP, 31), (ZLIB, 15):
        for at, _ in window.matches(pattern):
            try:
                packer = zlib.decompressobj(bits)
                head = packer.decompress(window.head(256, at), 64)
                if not head or not set(head) <= TEXT:
                    continue
                head += packer.decompress(packer.unconsumed_tail + window.head(PTX_START, at + 256), PTX_START)
                code = ptx_code(head)
            except zlib.error:
                continue
            if code:
                found.append(Container(at, 0, [code], 'compressed PTX'))
    return found


TEXT = set(range(32, 127)) | set(b'\t\r\n')
