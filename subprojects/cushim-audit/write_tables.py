#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes cushim_audit/tables.py from toolkits.tsv, the lists in loader/lists and version.txt. It is checked in, because
audit also runs from the sources.

  write_tables.py            writes it if it has changed
  write_tables.py --check    only compares: exit status 1 if it is not what the lists make of it
"""
import argparse
import collections
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
LOADER = HERE.parents[1] / 'loader'
sys.dont_write_bytecode = True
sys.path.insert(0, str(LOADER / 'lists'))
import entry_points as lists  # pylint: disable=wrong-import-position

PATH = HERE / 'cushim_audit' / 'tables.py'
WIDTH = 120

# Functions that drivers for Linux export later than their CUDA version: {symbol: the first one with it}.
LATER_ON_LINUX = {'cuDeviceGetLuid': 11040}

Toolkit = collections.namedtuple('Toolkit', 'version ptx ptx_by runtime')

HEAD = '''# SPDX-License-Identifier: MIT
"""The tables of cushim audit. A CUDA version is a number: 1000 * major + 10 * minor.

Made by subprojects/cushim-audit/write_tables.py from the lists and from version.txt: do not edit.
"""

'''


def read_toolkits():
    return [Toolkit(int(row['version']), tuple(map(int, row['ptx'].split('.'))), row['ptx_by'],
                    row['runtime'].split(',') if row['runtime'] != '-' else [])
            for row in lists.read_rows(HERE / 'toolkits.tsv')]


def assignment(comment, name, items):
    """A dict or set, on as many lines as it takes."""
    text = ', '.join(item.replace(' ', '\0') for item in items)
    lines = textwrap.wrap(text.replace(',\0', ', \0').replace(', \0', ',\0'), WIDTH - 4, break_long_words=False,
                          break_on_hyphens=False)
    return f'# {comment}\n{name} = {{\n    ' + '\n    '.join(lines).replace('\0', ' ') + ',\n}\n'


def read_neighbours():
    return [f"('{row['compiler']}', '{row['release']}'): {row['version']}" for row in lists.read_rows(HERE / 'neighbours.tsv')]


def read_polyfilled(entry_points):
    """{slot: the first CUDA version with which it can be called} of the polyfills, as cush_polyfills_since() has it."""
    since = {one.slot_name: one.version for one in entry_points}
    text = (LOADER / 'polyfills.c').read_text(encoding='utf-8')
    rules = re.findall(r'^    RULE(?:_BEFORE\((\d+), |(?:_BY_KIND)?\()(\w+_v\d+), \d+, (.*)\),$', text, re.M)
    found = {}
    for before, slot, via in rules:  # in order: a polyfill calls earlier ones
        needed = max(found.get(one, since[one]) for one in re.findall(r'S\((\w+)\)', via))
        if needed < found.get(slot, since[slot]) and (not before or needed < int(before)):
            found[slot] = needed
    return found


def read_features(entry_points, polyfilled):
    """{feature: the first CUDA version with it}."""
    since = {**{one.slot_name: one.version for one in entry_points}, **polyfilled}
    text = (LOADER.parent / 'include' / 'cushim' / 'features.h').read_text(encoding='utf-8')
    found = {}
    for row in re.findall(r'^CUSHIM_FEATURE(?:_(SLOT|SINCE))?\((\w+), "?([\w-]+)', text, re.M):
        kind, feature, value = row
        if not kind:
            found[feature] = [value, 0]
        else:
            found[feature][1] = max(found[feature][1], since[value] if kind == 'SLOT' else int(value))
    return dict(found.values())


def write_tables():
    """The text of the module."""
    entry_points, drivers, toolkits = lists.read(), lists.read_drivers(), read_toolkits()
    ptx = {}
    for one in toolkits:
        ptx.setdefault(one.ptx, one.version)
    polyfilled = read_polyfilled(entry_points)
    windows = sorted(symbol for one in entry_points if one.is_windows_only for symbol, _ in one.exports)
    version = (LOADER / 'version.txt').read_text(encoding='utf-8').strip()
    return HEAD + '\n'.join([
        f"VERSION = '{version}'\n",
        assignment('{CUDA version: the first driver branch for it}', 'BRANCHES',
                   [f'{one.version}: {one.branch}' for one in drivers if one.branch]),
        assignment('{name that drivers export: the CUDA version that brought it}', 'SYMBOLS',
                   [f"'{name}': {version}" for name, version in sorted(lists.exported(entry_points).items())]),
        assignment('Names that only drivers for Windows export', 'WINDOWS_ONLY', [f"'{name}'" for name in windows]),
        assignment('Names that drivers for Linux export only from a later version on', 'LATER_ON_LINUX',
                   [f"'{name}': {version}" for name, version in LATER_ON_LINUX.items()]),
        assignment('{version of PTX: the first CUDA version that accepts it}', 'PTX_VERSIONS',
                   [f'{one}: {version}' for one, version in ptx.items()]),
        assignment('{architecture: (generation, first CUDA version, last that compiles for it or None, last driver branch '
                   'or None, kind)}', 'GPUS',
                   [f"{one.arch}: ('{one.generation}', {one.first}, {one.until}, {one.last}, '{one.kind}')"
                    for one in lists.read_gpus() if one.kind != 'old']),
        assignment('{CUDA version: names that its runtime has, and older ones have not}', 'RUNTIME_NAMES',
                   [f'{one.version}: {tuple(one.runtime)}' for one in toolkits if one.runtime]),
        assignment('{(compiler, release in the name of its library): the driver for what it makes}', 'COMPILER_DRIVERS',
                   read_neighbours()),
        assignment('{slot of cushim: the first CUDA version with which a polyfill of it can be called}', 'POLYFILLED',
                   [f"'{slot}': {version}" for slot, version in sorted(polyfilled.items())]),
        assignment('{feature: the first CUDA version with it}', 'FEATURES',
                   [f"'{name}': {version}" for name, version in read_features(entry_points, polyfilled).items()]),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true')
    given = parser.parse_args()
    text = write_tables()
    if PATH.read_text(encoding='utf-8') == text:
        return 0
    if given.check:
        print(f'{PATH.name} is not what the lists make of it; run subprojects/cushim-audit/write_tables.py')
        return 1
    PATH.write_text(text, encoding='utf-8')
    print(f'{PATH.name}: written')
    return 0


if __name__ == '__main__':
    sys.exit(main())
