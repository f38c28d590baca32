# SPDX-License-Identifier: MIT
"""Reads the headers of a CUDA Toolkit, and compares the list of entry points with them. Used by write_lists.py.

<cuda.h> declares each exported name, and <cudaTypedefs.h> the CUDA version of each entry point. The two are brought
together: of one function, the lowest version is the oldest ABI. What this module does not understand it reports.
"""
import collections
import pathlib
import re

import entry_points as lists

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ('cuda.h', 'cudaD3D11.h', 'cudaGL.h', 'cudaEGL.h', 'cudaVDPAU.h', 'cudaProfiler.h')

OWN_TYPES = [path.name for path in (ROOT / 'include' / 'cushim' / 'abi').glob('*.h') if path.name != 'conflict.h']

# What the headers declare and only drivers for arm64 export. A slot is the same on every processor.
NOT_EXPORTED = {'cuEventCreateFromEGLSync'}

# Types that <cuda.h> does not have stand in the list as their underlying C types, and each type has one name.
OTHERS = ((r'\bCUDAAPI ', ''), (r'\bunsigned (?!int|char|short|long)', 'unsigned int '), (r'\bEGLint\b', 'int'),
          (r'\bCU(stream|kernelNode)AttrValue\b', 'CUlaunchAttributeValue'),
          (r'\bGLu?(int|enum)\b', 'unsigned int'), (r'\b(EGL(Stream|Image|Sync)KHR|HGPUNV) (?=\w)', 'void *'),
          (r'\bCUeglStreamConnection \*', 'struct CUeglStreamConnection_st **'),
          (r'\bCUeglFrame\b', 'struct CUeglFrame_st'),
          (r'\b(CUGLDeviceList|CUd3d11DeviceList|CUoutput_mode)\b', 'unsigned int'),
          (r'\b(ID3D11(?:Device|Resource)|IDXGIAdapter)\b', r'struct \1'),
          (r'\bVdp(Device|VideoSurface|OutputSurface)\b', 'uint32_t'),
          (r'\bVdpGetProcAddress\b', 'cushim_vdpau_get_proc_address'))

FUNCTION = re.compile(r'#\s*undef (?P<undef>cu\w+)|'
                      r'(?P<result>[\w\s*]*?)\bCUDAAPI\s+(?P<name>cu[A-Z]\w*)\s*\((?P<parameters>[^;]*)\)\s*;')
TYPEDEF = re.compile(r'\btypedef\b(?P<result>[\w\s*]+)\(\s*CUDAAPI\s*\*\s*PFN_(?P<name>cu\w+)\s*\)'
                     r'\s*\((?P<parameters>[^;]*)\)\s*;')
QUALIFIERS = {'const', 'struct', 'enum'}
RENAMED = re.compile(r'^\s*#\s*define (cu[A-Z]\w*)\s+(?:__CUDA_API_(PT[SD][SZ])\()?(cu\w+?)(?:_pt[sd][sz])?\)?\s*$',
                     re.M)
WORDS_OF_C = {'unsigned', 'signed', 'long', 'short', 'int', 'char', 'float', 'double', 'void', *QUALIFIERS}


class ToolkitError(Exception):
    """A directory without the headers that are needed."""


def without_comments(text):
    return re.sub(r'/\*.*?\*/|//[^\n]*', ' ', text, flags=re.S)


def read_all(directory, names):
    paths = [pathlib.Path(directory) / name for name in names]
    return without_comments('\n'.join(path.read_text(encoding='utf-8', errors='replace')
                                      for path in paths if path.exists()))


def without_directives(text):
    """The text without the directives, except those that undefine functions."""
    return re.sub(r'^[ \t]*#(?!\s*undef cu)(?:.*\\\r?\n)*.*$', '', text, flags=re.M)


def statements(text):
    """The statements of C at the top level, without their semicolons."""
    start = depth = 0
    for index, letter in enumerate(text):
        depth += {'{': 1, '}': -1}.get(letter, 0)
        if letter == ';' and depth == 0:
            yield text[start:index]
            start = index + 1


def enumerators(body):
    """{name: value} of the body of an enum; None for a value that is not a number or made of other enumerators."""
    values, value = {}, -1
    for one in filter(None, (one.strip() for one in body.split(','))):
        name, _, expression = (part.strip() for part in one.partition('='))
        if expression:
            numbers = re.sub(r'\b(0[xX][0-9a-fA-F]+|\d+)[uU]?\b', r'\1', expression)
            known = re.sub(r'[A-Za-z_]\w*', lambda used: str(values.get(used[0], used[0])), numbers)
            value = eval(known) if re.fullmatch(r'[0-9a-fA-FxX\s()|+<~-]+', known) else None  # pylint: disable=eval-used
        else:
            value = None if value is None else value + 1
        values[name] = value
    return values


def split_symbol(symbol):
    """An exported name as (function, number of its ABI version, per-thread variant or '')."""
    function, abi, form = re.fullmatch(r'(\w+?)(?:_v(\d{1,3}))?(?:_(pt[sd][sz]))?', symbol).groups()
    return function, int(abi or 1), form or ''


def is_named(parameter):
    """Whether a parameter is a type and a name."""
    if not re.fullmatch(r'[\w *]*\w', parameter):
        return False
    *of_type, name = re.findall(r'\w+', parameter)
    return name not in WORDS_OF_C and not set(of_type) <= QUALIFIERS


def types_of(parameters):
    """A parameter list without the names. A const that is not behind a pointer does not belong to the type."""
    return [re.sub(r'\w+$|(?<!\w)const (?!.*\*)', '', one).replace(' ', '') for one in parameters.split(',')]


class Toolkit:
    """What the headers in a directory declare. `problems` has a line for each declaration that cannot be used."""

    def __init__(self, directory):
        directory, self.problems = pathlib.Path(directory), []
        self.text = read_all(directory, HEADERS)
        version = re.search(r'#\s*define\s+CUDA_VERSION\s+(\d+)', self.text)
        if version is None:
            raise ToolkitError(f'{directory} has no cuda.h')
        self.version = int(version[1])
        typedefs = [name.replace('.h', 'Typedefs.h') for name in HEADERS if (directory / name).exists()]
        lacking = [name for name in typedefs if not (directory / name).exists()]
        if lacking:
            raise ToolkitError(f'{directory} has no {", ".join(lacking)}: the versions of entry points are in there')
        self.platform = 'windows' if 'cudaD3D11Typedefs.h' in typedefs else 'linux'
        # The words of our own types.
        self.ours = set(re.findall(r'\w+', read_all(ROOT / 'include' / 'cushim' / 'abi', OWN_TYPES)))
        # <cudaTypedefs.h> writes CUdevice_v1 for CUdevice. The list has the numbered name of a type that changed.
        self.alias_pairs = re.findall(r'typedef (\w+_v\d+) (\w+);', self.text)
        self.aliases = dict((new, old) if old in self.ours else (old, new) for old, new in self.alias_pairs)
        # {plain name: exported name}, where a macro renames it, and {exported name: its per-thread variant}.
        self.renamed, self.forms = {}, {}
        for name, form, symbol in RENAMED.findall(self.text):
            if not split_symbol(name)[2]:
                self.renamed[name] = symbol
                self.forms.update({symbol: form.lower()} if form else {})
        # {function: {number of the ABI version: parameters}}, and the exported names that are deprecated
        self.deprecated = set()
        self.declared = self.read_declared()
        # {function: {CUDA version, 0 if the typedef has none: parameters}}, and the versions with a per-thread variant
        self.typed, self.typed_forms = self.read_typed(read_all(directory, typedefs))

    def problem(self, name, text):
        self.problems.append(f'{name}: {text}')

    def read_declared(self):
        """Reads <cuda.h>. At its end, the old entry points stand under their exported names, after an #undef."""
        declared, renamed = {}, dict(self.renamed)
        for found in FUNCTION.finditer(without_directives(self.text)):
            if found['undef']:
                renamed.pop(found['undef'], None)
                continue
            symbol = renamed.get(found['name'], found['name'])
            if '__CUDA_DEPRECATED' in found['result']:
                self.deprecated.add(symbol)
            function, abi, form = split_symbol(symbol)
            if form and self.forms.setdefault(symbol[:-len(form) - 1], form) != form:
                self.problem(symbol, f'a macro says __CUDA_API_{self.forms[symbol[:-len(form) - 1]].upper()}')
            parameters = self.parameters_of(found, symbol)
            before = declared.setdefault(function, {}).setdefault(abi, parameters)
            if before and parameters and types_of(before) != types_of(parameters):
                self.problem(symbol, f'declared with ({before}) and with ({parameters})')
        return declared

    def read_typed(self, text):
        typed, forms, text = {}, {}, without_directives(text)
        for found in TYPEDEF.finditer(text):
            function, version, form = re.fullmatch(r'(cu\w+?)(?:_v(\d+))?(?:_(pt[sd][sz]))?', found['name']).groups()
            parameters = self.parameters_of(found, f'PFN_{found["name"]}')
            if form:
                forms.setdefault(function, {})[int(version)] = form
            elif parameters:
                typed.setdefault(function, {})[int(version or 0)] = parameters
        for line in re.findall(r'[^;]*\bPFN_\w+[^;]*', TYPEDEF.sub('', text)):
            self.problem('cudaTypedefs.h', 'not understood: ' + ' '.join(line.split()))
        return typed, forms

    def parameters_of(self, found, name):
        """The parameters of a declaration as they stand in the list; None, and a problem, if they cannot."""
        result = found['result'].replace('__CUDA_DEPRECATED', '').split()
        text = ' '.join(found['parameters'].split())
        text = re.sub(r'\bCU\w+', lambda name: self.aliases.get(name[0], name[0]), text)
        text = re.sub(r'\s*\*\s*', ' *', text).replace('* *', '**')
        for pattern, ours in OTHERS:
            text = re.sub(pattern, ours, text)
        parameters = [one.strip() for one in text.split(',')]
        if result != ['CUresult']:
            self.problem(name, f'returns {" ".join(result)}, not a CUresult')
        elif text == 'void' or all(map(is_named, parameters)):
            return ', '.join(parameters)
        else:
            self.problem(name, f'parameters that are not a type and a name: ({text})')
        return None

    def entry_points(self, known):
        """Its entry points, as rows without a slot. `known` is the list, which helps where a typedef has no version."""
        since = {(one.function, int(one.abi[1:])): one.version for one in known}
        found = []
        for function in sorted({*self.declared, *self.typed} - NOT_EXPORTED):
            abis, versions = self.declared.get(function, {}), self.typed.get(function, {})
            if not versions:
                self.problem(function, 'no typedef: the CUDA version that added it is not known')
            elif len(abis) != len(versions):
                self.problem(function, f'{len(abis)} ABI versions, and typedefs for CUDA '
                             + ', '.join(lists.version_text(version) for version in sorted(versions)))
            else:
                rows = [self.entry_point(function, abi, version or since.get((function, abi), self.version), abis[abi])
                        for abi, version in zip(sorted(abis), sorted(versions)) if abis[abi]]
                for one, version in zip(rows, sorted(versions)):
                    if types_of(one.parameters) != types_of(versions[version]):
                        self.problem(one.symbol, f'declared with ({one.parameters}), typedef ({versions[version]})')
                forms = {one.per_thread_version: one.per_thread_symbol[-4:] for one in rows if one.per_thread_symbol}
                if forms != self.typed_forms.get(function, {}):
                    self.problem(function, 'per-thread variants that differ from the typedefs')
                found += rows
        return found

    def entry_point(self, function, abi, version, parameters):
        symbol = function if abi == 1 else f'{function}_v{abi}'
        form = self.forms.get(symbol)
        new = lists.EntryPoint({
            'function': function, 'abi': f'v{abi}', 'version': str(version), 'symbol': symbol,
            'per_thread_symbol': f'{symbol}_{form}' if form else '-', 'parameters': parameters, 'slot': '-',
            'platform': 'all', 'plain': str(version) if abi == 1 else '-', 'values': '-'})
        new.propose_values()
        return new

    def types(self):
        """The types that these headers declare. Of a numbered name and a plain one that mean the same, the plain one."""
        names = re.findall(r'\}\s*(\w+)\s*;|typedef [^;{}()]*?\b(\w+)\s*;'
                           r'|typedef [^;{}]*?\(\s*\w*\s*\*(\w+)\)\s*\(', self.text)
        found = {name for group in names for name in group if name.startswith('CU')}
        aliased = {old for old, _ in self.alias_pairs}
        return sorted(name for name in found - aliased if not name.startswith('CUDAAPI'))

    def records(self):
        """{struct, union or enum: (its kind, what is between its braces)}"""
        found = {}
        for statement in statements(re.sub(r'extern "C" \{', '', without_directives(self.text))):
            record = re.search(r'\b(struct|union|enum)(?:\s+(\w+))?\s*\{(.*)\}\s*(?:(\w+)|[^{}]*)\s*$', statement, re.S)
            if record:
                found[record[4] or record[2].removesuffix('_st')] = record[1], ' '.join(record[3].split())
        return found

    def constants(self):
        """{enumerator: (its enum, its value)}"""
        return {name: (record, value) for record, (kind, body) in self.records().items() if kind == 'enum'
                for name, value in enumerators(body).items()}

    def macros(self):
        return re.findall(r'^\s*#\s*define (CU(?:DA)?_\w+) \S', self.text, re.M)

    def errors(self):
        """{error code: its value}"""
        return {name: value for name, (record, value) in self.constants().items() if record == 'CUresult'}


# Enumerators that CUDA has removed since, and macros that are not ours.
DROPPED = {'CU_TARGET_COMPUTE_20', 'CU_TARGET_COMPUTE_21', 'CU_TARGET_COMPUTE_101', 'CU_TARGET_COMPUTE_101A',
           'CU_TARGET_COMPUTE_101F', 'CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS',
           'CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V2',
           'CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V2',
           'CU_UUID_HAS_BEEN_DEFINED', 'CUDA_VERSION', 'CUDA_CB'}
# Enumerators whose values change with every version.
ENDS = re.compile(r'\w+_(MAX|MASK)$|\w+_NUM_\w+$')


class News(collections.namedtuple('News', 'functions versions differing problems types constants errors')):
    """How a Toolkit and the list differ: lines of text of each kind."""


def known_errors():
    """{error code: its value}"""
    text = (ROOT / 'loader' / 'lists' / 'errors.inc').read_text(encoding='utf-8')
    return {name: int(value) for name, value in re.findall(r'^CUSHIM_ERROR\((\w+), (\d+),', text, re.M)}


def differences(one, theirs):
    """How an entry point of the list differs from the same one of a Toolkit; this is for a person to look at."""
    if one.version != theirs.version:
        yield (f'{one.slot_name}: since CUDA {lists.version_text(theirs.version)}, '
               f'not {lists.version_text(one.version)}')
    if types_of(one.parameters) != types_of(theirs.parameters):
        yield f'{one.slot_name}: takes ({theirs.parameters}), not ({one.parameters})'
    if one.per_thread_symbol != theirs.per_thread_symbol:
        yield f'{one.slot_name}: has the per-thread variant {theirs.per_thread_symbol}, not {one.per_thread_symbol}'


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
    """The list with what the Toolkit adds, and how the two differ."""
    theirs = {one.symbol: one for one in toolkit.entry_points(entry_points)}
    differing = []
    for one in entry_points:
        other = theirs.pop(one.symbol, None)
        if other is not None:
            differing += differences(one, other)
        elif (one.declared_version <= toolkit.version and one.platform in ('all', toolkit.platform)
              and int(one.abi[1:]) not in toolkit.declared.get(one.function, {})):
            differing.append(f'{one.slot_name}: not in CUDA {lists.version_text(toolkit.version)}')
    added, functions = list(theirs.values()), {one.function for one in entry_points}
    for one in added:
        one.propose_role(entry_points)
    merged = sorted(entry_points + added, key=lambda one: (one.function, int(one.abi[1:])))
    slot = len(entry_points)
    for one in merged:
        if one.slot is None:
            one.slot, slot = slot, slot + 1
    note_plain_names(toolkit, merged)
    known = known_errors()
    errors = [f'{name} = {value}' for name, value in toolkit.errors().items() if known.get(name, '') != value]
    return merged, News(
        [f'{one.symbol} ({lists.version_text(one.version)})' for one in added if one.function not in functions],
        [f'{one.symbol} ({lists.version_text(one.version)})' for one in added if one.function in functions],
        differing,
        toolkit.problems,
        [name for name in toolkit.types() if name not in toolkit.ours],
        sorted(name for name in {*toolkit.constants(), *toolkit.macros()} - DROPPED - toolkit.ours
               if not name.startswith(('CUDA_ERROR_', 'NVCL_')) and not ENDS.match(name)),
        errors)


def members_of(body):
    """What the body of a struct or union declares: its members as lines, those of unnamed parts by themselves."""
    lines = [' '.join(one.split()) for one in re.split(r'[;{}]', body)]
    return collections.Counter(line for line in lines if line not in ('', 'struct', 'union'))


def changes(older, newer):
    """What a Toolkit changed under an unchanged name: pairs of the name and a text."""
    plain, before, after = dict(newer.alias_pairs), older.records(), newer.records()
    for name in sorted(set(before) & set(after)):
        if before[name][0] != 'enum':
            old, new = members_of(before[name][1]), members_of(after[name][1])
            lines = [f'+ {line}' for line in new - old] + [f'- {line}' for line in old - new]
            if lines:
                yield plain.get(name, name), '; '.join(lines)
    for name in sorted(set(before) - set(after) - set(plain.values())):
        yield name, 'gone'
    before, after = older.constants(), newer.constants()
    for name, (_, value) in sorted(before.items()):
        if name not in after:
            yield name, 'gone'
        elif value != after[name][1] and not ENDS.match(name):
            yield name, f'{value} became {after[name][1]}'
    for name in sorted(newer.deprecated - older.deprecated):
        yield name, 'deprecated'
