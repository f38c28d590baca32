# SPDX-License-Identifier: MIT
"""Reads the lists of entry points, drivers and GPUs: entry_points.tsv, drivers.tsv and gpus.tsv.

Code that depends on the functions of the driver or on CUDA versions uses this module, or is made by a script that does.
"""
import functools
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / 'entry_points.tsv'
DRIVERS = HERE / 'drivers.tsv'
GPUS = HERE / 'gpus.tsv'

# Per-thread default streams came with this CUDA version.
FIRST_PER_THREAD_VERSION = 7000

# The functions of <cudaD3D11.h>, <cudaGL.h>, <cudaEGL.h> and <cudaVDPAU.h>, which a program may include after cushim's
# headers.
INTEROP = re.compile(r'cu(Graphics)?(D3D11|GL(?=[A-Z])|EGL|VDPAU)|cuWGL|cuGraphicsResourceGetMappedEglFrame')

# What drivers export and no version of cuGetProcAddress knows: {symbol: the first driver with it}.
WITHOUT_ROW = {'cuMemGetAttribute': 340, 'cuMemGetAttribute_v2': 340, 'cuEGLApiInit': 390}

# Entry points that <cuda.h> declares only in a later Toolkit than the CUDA version for which <cudaTypedefs.h> and
# cuGetProcAddress know them: {symbol: that Toolkit}.
DECLARED_LATER = {'cuMemBatchDecompressAsync': 12080, 'cuGreenCtxGetId': 13000, 'cuLaunchHostFunc_v2': 13020,
                  'cuStreamBeginCaptureToCig': 13020, 'cuStreamEndCaptureToCig': 13020}


# The roles of functions in the column `role`, and what can follow one. Each is what the function does: "work" is given
# to a stream, "synchronous" waits for the work of all streams, "other" is neither. The enum trace_role_kind has them too.
ROLES = ('other', 'work', 'begin-capture', 'end-capture', 'capture-status', 'exchange-mode', 'record-event',
         'wait-event', 'elapsed-time', 'destroy-stream', 'query-stream', 'query-event', 'synchronize-stream',
         'synchronize-event', 'synchronize-context', 'synchronous')
ROLE_FLAGS = ('alone', 'always')


class EntryPoint:
    """One row: one ABI version of one driver function."""

    def __init__(self, row):
        """From {column: cell}. Columns that are not read here stay as they are."""
        self.row = dict(row)
        values = {column: '' if cell == '-' else cell for column, cell in row.items()}
        self.function, self.abi, self.version = values['function'], values['abi'], int(values['version'])
        self.symbol, self.per_thread_symbol = values['symbol'], values['per_thread_symbol']
        self.parameters, self.platform = values['parameters'], values['platform']
        # The index in the table, which is ABI: it never changes. None: new, and not in the list yet.
        self.slot = int(values['slot']) if values['slot'] else None
        # The names that mean this entry point in <cuda.h>, each with the CUDA version from which on it does.
        self.plain = {}
        for one in values['plain'].split(',') if values['plain'] else []:
            name, _, version = one.rpartition('@')
            self.plain[name or self.function] = int(version)
        # The parameters that point to one value: {name: '>' if the call writes it, '<' if it reads it, '<>' for both}.
        self.values = {}
        for one in values['values'].split(',') if values['values'] else []:
            name = one.lstrip('<>')
            self.values[name] = one[:-len(name)]
        # What it is to streams and captures: a role, and flags; ROLES and ROLE_FLAGS. '': not decided.
        self.role = values.get('role', '')

    def cells(self):
        """The row as it stands in the list: {column: cell}."""
        plain = ','.join(str(version) if name == self.function else f'{name}@{version}'
                         for name, version in self.plain.items())
        values = {'function': self.function, 'abi': self.abi, 'version': self.version, 'symbol': self.symbol,
                  'per_thread_symbol': self.per_thread_symbol, 'parameters': self.parameters,
                  'slot': '' if self.slot is None else self.slot, 'platform': self.platform, 'plain': plain,
                  'values': ','.join(direction + name for name, direction in self.values.items()), 'role': self.role}
        return {**self.row, **{column: str(value) or '-' for column, value in values.items()}}

    @property
    def name(self):
        """The function without its "cu", as a token that no macro of <cuda.h> can rename."""
        return self.function[2:]

    @property
    def slot_name(self):
        return f'{self.name}_{self.abi}'

    @property
    def arguments(self):
        """The names of the parameters."""
        if self.parameters == 'void':
            return []
        return [re.search(r'(\w+)$', one)[1] for one in self.parameters.split(',')]

    @property
    def fields(self):
        """The parameters as pairs: type and name."""
        return [(one[:-len(name)].strip(), name) for one, name in zip(self.parameters.split(', '), self.arguments)]

    def propose_values(self):
        """Takes every pointer to something that the call may write for a pointer to one value. A person corrects this:
        some of them lead to arrays."""
        self.values = {name: '>' for kind, name in self.fields
                       if kind.endswith('*') and not re.fullmatch(r'(const [^*]*|void|(unsigned )?char) ?\*', kind)}

    def propose_role(self, others):
        """Takes the role of an older version of the function. Otherwise, takes a function with a stream for work, unless
        its name says that it is not, and a copy without one for synchronous. A person corrects this."""
        has_stream = any(kind == 'CUstream' or (kind == 'const CUlaunchConfig *' and name in self.values)
                         for kind, name in self.fields)
        is_other = re.match(r'cuStream(Query|Get|Set|Begin|End|CopyAttributes|Update)', self.function)
        older = [one.role for one in others if one.function == self.function and one.role]
        self.role = (older[-1] if older else 'work' if has_stream and not is_other
                     else 'synchronous' if not has_stream and re.match('cuMem(cpy|set)', self.function) else 'other')

    @property
    def per_thread_version(self):
        """The CUDA version that brought the per-thread variant."""
        return max(self.version, FIRST_PER_THREAD_VERSION)

    @property
    def declared_version(self):
        """The first Toolkit that declares the entry point."""
        return DECLARED_LATER.get(self.symbol, self.version)

    @property
    def exports(self):
        """The exported names, each with the CUDA version from which drivers have it."""
        names = [(self.symbol, self.declared_version)]
        if self.per_thread_symbol:
            names.append((self.per_thread_symbol, max(self.declared_version, FIRST_PER_THREAD_VERSION)))
        return names

    @property
    def is_windows_only(self):
        return self.platform == 'windows'

    @property
    def is_interop(self):
        return INTEROP.match(self.function) is not None


class Driver:
    """One driver branch: the first one for its CUDA version."""

    def __init__(self, row):
        # None: not known yet.
        self.branch, self.version = None if row['branch'] == '-' else int(row['branch']), int(row['version'])
        # The exact driver that was looked at, and that softcuda stands in for; '' for a branch that is only named.
        self.release = '' if row['release'] == '-' else row['release']
        # The newest PTX version that it compiles: 10 * major + minor.
        self.ptx = None if row['ptx'] == '-' else int(row['ptx'])


class Gpu:
    """One architecture of GPUs."""

    def __init__(self, row):
        values = {column: '' if cell == '-' else cell for column, cell in row.items()}
        self.arch, self.generation, self.kind = int(values['arch']), values['generation'], values['kind']
        # The first CUDA version whose assembler lists it, and the last one; None: the newest does, or none.
        self.first, self.until = (int(values[name]) if values[name] else None for name in ('first', 'until'))
        # The first and the last driver branch that support it; None: not known; the newest does.
        self.since, self.last = (int(values[name]) if values[name] else None for name in ('since', 'last'))
        # "open", "closed" or "both" kernel modules support it; "": not known.
        self.module = values['module']
        # The ids of its devices on the PCI bus: [(first, last)].
        self.ids = [tuple(int(one, 16) for one in item.split('-')) for item in values['ids'].split(',') if item]


def read_lines(path):
    """The names of the columns, from the first line that is not a comment, and the cells of each further one."""
    with open(path, encoding='utf-8') as file:
        columns, *rows = [line.rstrip('\n').split('\t') for line in file if line.strip() and not line.startswith('#')]
    for cells in rows:
        if len(cells) != len(columns):
            raise ValueError(f'{path}: {len(cells)} cells, not {len(columns)}: {cells}')
    return columns, rows


def read_rows(path):
    """Each row as {column: cell}. The order of the columns has no meaning."""
    columns, rows = read_lines(path)
    return [dict(zip(columns, cells)) for cells in rows]


def head(path):
    """The comment at the top of a list, and the line with the names of its columns."""
    with open(path, encoding='utf-8') as file:
        comment = ''.join(line for line in file if line.startswith('#'))
    return comment + '\t'.join(read_lines(path)[0]) + '\n'


def read(path=LIST):
    """All entry points: those of one function together, oldest first."""
    return [EntryPoint(row) for row in read_rows(path)]


def write(entry_points, path=LIST):
    """Writes the list anew, with its head."""
    columns, _ = read_lines(path)
    text = head(path) + ''.join('\t'.join(one.cells().get(column, '-') for column in columns) + '\n' for one in entry_points)
    pathlib.Path(path).write_text(text, encoding='utf-8')


def in_slots(entry_points):
    """All of them, in the order of the table."""
    return sorted(entry_points, key=lambda one: one.slot)


def by_function(entry_points):
    """{function: its entry points}, in order."""
    functions = {}
    for one in entry_points:
        functions.setdefault(one.function, []).append(one)
    return functions


def by_kind(entry_points):
    """Those of which the tables of the two default streams have different functions: with a per-thread variant, or older
    than the first of their function that has one; and cuGetProcAddress, which finds the variants."""
    return {one for versions in by_function(entry_points).values() for index, one in enumerate(versions)
            if any(other.per_thread_symbol for other in versions[index:]) or one.function == 'cuGetProcAddress'}


def with_several_versions(entry_points):
    """{function: its entry points} of those that have several, by name."""
    return {function: versions for function, versions in sorted(by_function(entry_points).items()) if len(versions) > 1}


def plain_meanings(function, entry_points):
    """What a plain name means in <cuda.h>: (CUDA version from which on, entry point), oldest first, as far back as
    drivers go."""
    meanings = sorted(((one.plain[function], one) for one in entry_points if function in one.plain),
                      key=lambda pair: pair[0])
    while len(meanings) > 1 and meanings[1][0] <= oldest_version():
        del meanings[0]
    return meanings


def without_row():
    """The names of WITHOUT_ROW: {name: the CUDA version of the first driver with it}."""
    versions = {driver.branch: driver.version for driver in read_drivers()}
    return {symbol: versions[branch] for symbol, branch in WITHOUT_ROW.items()}


def exported(entry_points):
    """{name: the CUDA version from which drivers export it} of these entry points, and of what has no row."""
    return {**dict(pair for one in entry_points for pair in one.exports), **without_row()}


@functools.lru_cache(maxsize=None)
def read_drivers(path=DRIVERS):
    return [Driver(row) for row in read_rows(path)]


def oldest_version():
    """A program for an older CUDA version than that of the oldest driver calls nothing by a plain name of that time."""
    return read_drivers()[0].version


def known_drivers():
    """The drivers that softcuda stands in for, oldest first."""
    return [one for one in read_drivers() if one.release]


def read_gpus(path=GPUS):
    return [Gpu(row) for row in read_rows(path)]


def version_text(version):
    """12030 as "12.3"."""
    return f'{version // 1000}.{version % 1000 // 10}'


def take_depfile(arguments):
    """Removes `--depfile FILE`, and writes there what a script is made from: a build of another project, which cannot
    name these files, runs the script again when one changes."""
    if arguments[1:2] == ['--depfile']:
        _, path = arguments[1:3]
        del arguments[1:3]
        modules = {module.__file__ for module in sys.modules.values() if (getattr(module, '__file__', '') or '').startswith(str(HERE))}
        abi = (HERE.parents[1] / 'include' / 'cushim' / 'abi').glob('*.h')
        pathlib.Path(path).write_text(
            f'{path.removesuffix(".d")}: {arguments[0]} ' + ' '.join(map(str, [LIST, DRIVERS, GPUS, *sorted(modules), *sorted(abi)])) + '\n',
            encoding='utf-8')
