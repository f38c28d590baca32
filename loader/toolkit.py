# SPDX-License-Identifier: MIT
"""Reads the headers of a CUDA Toolkit, and says what the list of entry points lacks of them. Used by generate.py."""
import collections
import pathlib
import re

import entry_points as lists

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ('cuda.h', 'cudaD3D11.h', 'cudaGL.h', 'cudaEGL.h', 'cudaVDPAU.h', 'cudaProfiler.h')
TYPEDEFS = ('cudaTypedefs.h', 'cudaD3D11Typedefs.h', 'cudaGLTypedefs.h', 'cudaEGLTypedefs.h', 'cudaVDPAUTypedefs.h',
            'cudaProfilerTypedefs.h')

# What the headers declare and no driver exports.
NOT_EXPORTED = {'cuEventCreateFromEGLSync'}

# Types that <cuda.h> does not have stand in the list as their underlying C types.
OTHERS = ((r'\bGLu?(int|enum)\b', 'unsigned int'), (r'\b(EGL(Stream|Image|Sync)KHR|HGPUNV) (?=\w)', 'void *'),
          (r'\bCUeglStreamConnection \*', 'struct CUeglStreamConnection_st **'),
          (r'\bCUeglFrame\b', 'struct CUeglFrame_st'), (r'\b(CUGLDeviceList|CUd3d11DeviceList|CUoutput_mode)\b', 'unsigned int'),
          (r'\b(ID3D11(?:Device|Resource)|IDXGIAdapter)\b', r'struct \1'),
          (r'\bVdp(Device|VideoSurface|OutputSurface)\b', 'uint32_t'),
          (r'\bVdpGetProcAddress\b', 'cushim_vdpau_get_proc_address'))


def without_comments(text):
    return re.sub(r'/\*.*?\*/|//[^\n]*', ' ', text, flags=re.S)


def read_all(directory, names):
    paths = [pathlib.Path(directory) / name for name in names]
    return without_comments('\n'.join(path.read_text(encoding='utf-8', errors='replace')
                                      for path in paths if path.exists()))


class Toolkit:
    """What the headers in a directory declare."""

    def __init__(self, directory):
        self.text, typedefs = read_all(directory, HEADERS), read_all(directory, TYPEDEFS)
        self.version = int(re.search(r'#define CUDA_VERSION (\d+)', self.text)[1])
        self.is_for_windows = (pathlib.Path(directory) / 'cudaD3D11.h').exists()
        self.ours = without_comments('\n'.join(path.read_text(encoding='utf-8')
                                               for path in sorted((ROOT / 'include' / 'cushim').rglob('*.h'))
                                               if not path.name.startswith(('entry_points', 'names', 'conflict'))))
        # <cudaTypedefs.h> writes CUdevice_v1 for CUdevice.
        self.aliases = {old: new for old, new in re.findall(r'typedef (\w+_v\d+) (\w+);', self.text)
                        if not re.search(rf'\b{old}\b', self.ours)}
        # {(function, version): parameters}, and the per-thread forms {(function, version): "ptsz" or "ptds"}. A few
        # typedefs lack the version in the Toolkit that is the first to have them.
        self.prototypes, self.forms = {}, {}
        for function, version, form, parameters in re.findall(
                r'\(CUDAAPI \*PFN_(cu\w+?)(?:_v(\d+))?(?:_(pt[sd][sz]))?\)\s*\(([^;]*)\)\s*;', typedefs):
            key = function, int(version or self.version)
            if form:
                self.forms[key] = form
            else:
                self.prototypes[key] = self.plain_parameters(parameters)
        # {plain name: exported name}, where a macro renames it.
        self.renamed = {name: target for name, target in re.findall(
            r'#\s*define (cu[A-Z]\w*)\s+(?:__CUDA_API_PT[SD][SZ]\()?(cu\w+?)(?:_pt[sd][sz])?\)?\s*$', self.text, re.M)
            if not re.search(r'_pt[sd][sz]$', name)}

    def plain_parameters(self, text):
        text = re.sub(r'\s+', ' ', text).strip()
        text = re.sub(r'\b\w+_v\d+\b', lambda found: self.aliases.get(found[0], found[0]), text)
        text = re.sub(r'\s*\*\s*', ' *', text).replace('* *', '**').replace('( *', '(*')
        for pattern, ours in OTHERS:
            text = re.sub(pattern, ours, text)
        return text

    def types(self):
        """The types that these headers declare, without NVIDIA's own numbered names."""
        names = re.findall(r'\}\s*(\w+)\s*;|typedef [^;{}()]*?\b(\w+)\s*;'
                           r'|typedef [^;{}]*?\(\s*\w*\s*\*(\w+)\)\s*\(', self.text)
        found = {name for group in names for name in group if name.startswith('CU')}
        return sorted(name for name in found if not re.search(r'_v\d+$', name) and not name.startswith('CUDAAPI'))

    def errors(self):
        body = re.search(r'enum cudaError_enum\s*\{(.*?)\}', self.text, re.S)[1]
        return [(name, int(value)) for name, value in re.findall(r'(CUDA_\w+)\s*=\s*(\d+)', body)]


class News(collections.namedtuple('News', 'functions versions differing types errors')):
    """What a Toolkit has and the list lacks: lines of text of each kind."""


def known_errors():
    text = (ROOT / 'loader' / 'errors.inc').read_text(encoding='utf-8')
    return set(re.findall(r'^CUSHIM_ERROR\((\w+),', text, re.M))


def types_of(parameters):
    """A parameter list without the names."""
    return [re.sub(r'\w+$', '', one).replace(' ', '') for one in parameters.split(',')]


def check_against(toolkit, one, differing):
    """Compares an entry point that never was; what differs is for a person to look at."""
    parameters = toolkit.prototypes.get((one.function, one.version))
    if parameters is None:
        differing.append(f'{one.slot_name}: CUDA {lists.version_text(one.version)} has no such entry point')
    elif types_of(parameters) != types_of(one.parameters):
        differing.append(f'{one.slot_name}: takes ({parameters}), and not ({one.parameters})')
    else:
        one.checked = True


def new_entry_points(toolkit, known):
    """The entry points that the list lacks, as rows without a slot."""
    counts = collections.Counter(one.function for one in known)
    have = {(one.function, one.version) for one in known}
    found = []
    for function, version in sorted(set(toolkit.prototypes) - have):
        if function in NOT_EXPORTED:
            continue
        counts[function] += 1
        abi = f'v{counts[function]}'
        symbol = function if abi == 'v1' else f'{function}_{abi}'
        form = toolkit.forms.get((function, max(version, lists.FIRST_PER_THREAD_VERSION)))
        found.append(lists.EntryPoint([function, abi, str(version), symbol, f'{symbol}_{form}' if form else '-',
                                       toolkit.prototypes[function, version], '-', 'all',
                                       str(version) if abi == 'v1' else '-', 'yes']))
    return found


def note_plain_names(toolkit, entry_points):
    """Notes from which version on a plain name means something else."""
    by_symbol = {one.symbol: one for one in entry_points}
    functions = {one.function for one in entry_points}
    for name, symbol in toolkit.renamed.items():
        if name not in functions:
            continue
        now = max((one for one in entry_points if one.plain.get(name, toolkit.version + 1) <= toolkit.version),
                  key=lambda one: one.plain[name], default=None)
        one = by_symbol.get(symbol)
        if one is not None and one is not now:
            one.plain[name] = toolkit.version


def merge(toolkit, entry_points):
    """The list with what the Toolkit adds, and what is new."""
    differing = []
    for one in entry_points:
        known = one.version <= toolkit.version and (toolkit.is_for_windows or not one.is_windows_only)
        if not one.checked and known:
            check_against(toolkit, one, differing)
    added = new_entry_points(toolkit, entry_points)
    functions = {one.function for one in entry_points}
    merged = sorted(entry_points + added, key=lambda one: (one.function, int(one.abi[1:])))
    slot = len(lists.in_slots(merged))
    for one in merged:
        if one.slot is None and one.checked:
            one.slot, slot = slot, slot + 1
    note_plain_names(toolkit, merged)
    return merged, News(
        [f'{one.symbol} ({lists.version_text(one.version)})' for one in added if one.function not in functions],
        [f'{one.symbol} ({lists.version_text(one.version)})' for one in added if one.function in functions],
        differing,
        [name for name in toolkit.types() if not re.search(rf'\b{name}\b', toolkit.ours)],
        [f'{name} = {value}' for name, value in toolkit.errors() if name not in known_errors()])
