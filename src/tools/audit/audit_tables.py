# SPDX-License-Identifier: MIT
"""Reads toolkits.tsv and gpus.tsv, and writes the tables of src/tools/audit from them and from the other lists."""
import collections
import pathlib
import textwrap

import entry_points as lists

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TOOLKITS, GPUS = HERE / 'toolkits.tsv', ROOT / 'loader' / 'lists' / 'gpus.tsv'
PATH = 'src/tools/audit/cushim_audit/tables.py'
WIDTH = 120

# Functions that drivers for Linux export later than their CUDA version: {symbol: the first one with it}.
LATER_ON_LINUX = {'cuDeviceGetLuid': 11040}

Toolkit = collections.namedtuple('Toolkit', 'version ptx ptx_by runtime')
Gpu = collections.namedtuple('Gpu', 'arch generation first first_by until last last_by kind')

HEAD = '''# SPDX-License-Identifier: MIT
"""The tables of cushim audit. A CUDA version is a number: 1000 * major + 10 * minor.

Made by loader/lists/write_lists.py from version.txt, entry_points.tsv, drivers.tsv, toolkits.tsv and gpus.tsv: do not edit.
"""

'''


def read_toolkits():
    return [Toolkit(int(row['version']), tuple(map(int, row['ptx'].split('.'))), row['ptx_by'],
                    row['runtime'].split(',') if row['runtime'] else []) for row in rows(TOOLKITS)]


def read_gpus():
    return [Gpu(int(row['arch']), row['generation'], int(row['first']), row['first_by'],
                int(row['until']) if row['until'] else None, int(row['last']) if row['last'] else None, row['last_by'],
                row['kind']) for row in rows(GPUS)]


def rows(path):
    """Each row as {column: cell}, with '' for "-"."""
    return [{column: '' if cell == '-' else cell for column, cell in row.items()} for row in lists.read_rows(path)]


def assignment(comment, name, items):
    """A dict or set, on as many lines as it takes."""
    text = ', '.join(item.replace(' ', '\0') for item in items)
    lines = textwrap.wrap(text.replace(',\0', ', \0').replace(', \0', ',\0'), WIDTH - 4, break_long_words=False,
                          break_on_hyphens=False)
    return f'# {comment}\n{name} = {{\n    ' + '\n    '.join(lines).replace('\0', ' ') + ',\n}\n'


def write_tables():
    """The text of the module."""
    entry_points, drivers, toolkits = lists.read(), lists.read_drivers(), read_toolkits()
    versions = {one.branch: one.version for one in drivers}
    symbols = {symbol: versions[branch] for symbol, branch in lists.WITHOUT_ROW.items()}
    symbols.update(pair for one in entry_points for pair in one.exports)
    ptx = {}
    for one in toolkits:
        ptx.setdefault(one.ptx, one.version)
    windows = sorted(symbol for one in entry_points if one.is_windows_only for symbol, _ in one.exports)
    version = (ROOT / 'loader' / 'version.txt').read_text(encoding='utf-8').strip()
    return HEAD + '\n'.join([
        f"VERSION = '{version}'\n",
        assignment('{CUDA version: the first driver branch for it}', 'BRANCHES',
                   [f'{one.version}: {one.branch}' for one in drivers if one.branch]),
        assignment('{name that drivers export: the CUDA version that brought it}', 'SYMBOLS',
                   [f"'{name}': {version}" for name, version in sorted(symbols.items())]),
        assignment('Names that only drivers for Windows export', 'WINDOWS_ONLY', [f"'{name}'" for name in windows]),
        assignment('Names that drivers for Linux export only from a later version on', 'LATER_ON_LINUX',
                   [f"'{name}': {version}" for name, version in LATER_ON_LINUX.items()]),
        assignment('{version of PTX: the first CUDA version that accepts it}', 'PTX_VERSIONS',
                   [f'{one}: {version}' for one, version in ptx.items()]),
        assignment('{architecture: (generation, first CUDA version, last that compiles for it or None, last driver branch '
                   'or None, kind)}', 'GPUS',
                   [f"{one.arch}: ('{one.generation}', {one.first}, {one.until}, {one.last}, '{one.kind}')"
                    for one in read_gpus()]),
        assignment('{CUDA version: names that its runtime has, and older ones have not}', 'RUNTIME_NAMES',
                   [f'{one.version}: {tuple(one.runtime)}' for one in toolkits if one.runtime]),
    ])
