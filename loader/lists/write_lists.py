#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what is made from the lists in this directory (*.tsv) and from version.txt and is checked in: the headers and
the tables of the library, and the values in pages.

  write_lists.py            writes the files that have changed, and names them
  write_lists.py --check    only compares: exit status 1 if a file is not what the lists make of it
  write_lists.py --list     prints the files
  write_lists.py --toolkit INCLUDE          says what the list lacks of the headers in this directory, of a newer Toolkit
  write_lists.py --toolkit INCLUDE --add    adds it to entry_points.tsv: each entry point with its prototype and a slot

README.md beside this file says how to add a CUDA release.
"""
import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
import entry_points as lists  # pylint: disable=wrong-import-position
import toolkit as headers  # pylint: disable=wrong-import-position
import write_headers  # pylint: disable=wrong-import-position
import write_pages  # pylint: disable=wrong-import-position
import write_tables  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check_drivers(entry_points):
    """Ends the script if a driver branch is missing: otherwise pages would name a version that nothing else knows."""
    known = {one.version for one in lists.read_drivers()}
    lacking = sorted({one.version for one in entry_points if one.version > lists.oldest_version()} - known)
    if lacking:
        versions = ', '.join(map(lists.version_text, lacking))
        sys.exit(f'write_lists.py: entry_points.tsv has entry points of CUDA {versions}, for which drivers.tsv has no '
                 'row: add one, with the branch "-" as long as it is not known')


def outputs():
    """{path below the root: text} of everything that is made from the lists."""
    entry_points = lists.read()
    check_drivers(entry_points)
    usual = [one for one in entry_points if not one.is_interop]
    interop = [one for one in entry_points if one.is_interop]
    return {
        'include/cushim/version.h': write_pages.write_version_header(),
        'include/cushim/entry_points.h': write_headers.write_entry_points(entry_points),
        'include/cushim/names.h': write_headers.write_names(write_headers.NAMES_HEAD, usual),
        'include/cushim/names_interop.h': write_headers.write_names(write_headers.NAMES_INTEROP_HEAD, interop),
        'include/cushim/compat/cuew_names.h': write_headers.write_cuew_names(entry_points),
        'loader/lists/symbols.inc': write_tables.write_symbols(entry_points),
        'loader/lists/exports.inc': write_tables.write_exports(entry_points),
        'loader/lists/branches.inc': write_tables.write_branches(),
        'loader/lists/gpus.inc': write_tables.write_gpus(),
        'loader/lists/architectures.inc': write_tables.write_architectures(),
        **write_pages.write_pages(entry_points),
    }


def report(toolkit, news):
    """Prints how a Toolkit and the list differ."""
    print(f'Toolkit headers of CUDA {lists.version_text(toolkit.version)}')
    for title, lines in (('functions that the list lacks', news.functions),
                         ('ABI versions that it lacks', news.versions),
                         ('entry points that differ from it', news.differing),
                         ('declarations that write_lists.py does not understand', news.problems),
                         ('types that include/cushim lacks', news.types),
                         ('constants that include/cushim lacks', news.constants),
                         ('error codes that differ from loader/lists/errors.inc', news.errors)):
        print(f'{len(lines)} {title}' + ''.join(f'\n    {line}' for line in lines))


def read_toolkit(include, add):
    """Reports how a Toolkit and the list differ. Returns the exit status."""
    try:
        toolkit = headers.Toolkit(include)
    except headers.ToolkitError as error:
        sys.exit(f'write_lists.py: {error}')
    merged, news = headers.merge(toolkit, lists.read())
    report(toolkit, news)
    if add:
        lists.write(merged)
        print('entry_points.tsv: written')
    return 1 if any(news) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--toolkit', metavar='INCLUDE')
    parser.add_argument('--add', action='store_true')
    given = parser.parse_args()
    if given.toolkit:
        return read_toolkit(given.toolkit, given.add)
    made = outputs()
    if given.list:
        print('\n'.join(made))
        return 0
    stale = [path for path, text in made.items()
             if not (ROOT / path).exists() or (ROOT / path).read_text(encoding='utf-8') != text]
    for path in stale:
        if not given.check:
            (ROOT / path).write_text(made[path], encoding='utf-8')
        print(f'{path}: {"is not what the lists make of it; run loader/lists/write_lists.py" if given.check else "written"}')
    if given.check:
        print(f'{len(made)} files compared')
    return 1 if given.check and stale else 0


if __name__ == '__main__':
    sys.exit(main())
