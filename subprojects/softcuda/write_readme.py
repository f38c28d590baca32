#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes into README.md what stands there between markers: the libraries, the settings, and the functions that are not
executed.

  write_readme.py LISTS            LISTS is cushim's directory with entry_points.tsv
  write_readme.py LISTS --check    only compares: exit status 1 if the page is not what the lists make of it
"""
import pathlib
import re
import sys
import textwrap

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import entry_points as lists  # pylint: disable=wrong-import-position
import make_exports  # pylint: disable=wrong-import-position
import write_pages  # pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent


def settings():
    """The rows of the table of settings, from src/control/settings.inc."""
    text = (HERE / 'src' / 'control' / 'settings.inc').read_text(encoding='utf-8')
    for name, example, otherwise, meaning in re.findall(
            r'^SOFT_SETTING\((\w+), \w+, \S+ \S+ "(.*?)", "(.*?)",\s+"(.*?)"\)$', text, re.M):
        yield f'| `SOFTCUDA_{name}` | {meaning} | `{example}` | {otherwise} |\n'


def values():
    entry_points, executed = lists.read(), make_exports.executes((HERE / 'src').rglob('*.c'))
    refused = [one.symbol for one in entry_points if one.slot_name not in executed] + list(lists.WITHOUT_ROW)
    rows = [f'| `{one.branch}/libcuda.so.1` | {one.release} | CUDA {lists.version_text(one.version)} |\n'
            for one in lists.known_drivers()]
    return {
        'executed': str(len(executed)),
        'entry-points': str(len(entry_points)),
        'not-executed': f'\n\n```refused\n{textwrap.fill(" ".join(refused), 120)}\n```\n\n',
        'settings': '\n\n| variable | meaning | example | default |\n| --- | --- | --- | --- |\n' + ''.join(settings()) + '\n',
        'libraries': '\n\n| library | driver | `cuDriverGetVersion` |\n| --- | --- | --- |\n' + ''.join(rows) + '\n',
    }


def main(check):
    page = HERE / 'README.md'
    text = write_pages.write_page(page, values())
    if page.read_text(encoding='utf-8') == text:
        return 0
    if not check:
        page.write_text(text, encoding='utf-8')
    print('README.md: ' + ('is not what the lists make of it; run write_readme.py' if check else 'written'))
    return 1 if check else 0


if __name__ == '__main__':
    sys.exit(main('--check' in sys.argv[2:]))
