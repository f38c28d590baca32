#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the exports of drivers of one CUDA version each, as X-macro rows for fake_driver.c.

usage: rows.py LOADER linux|windows .../exports_VERSION.inc...
       rows.py newest LIST

FAKE_EXPORT(function, driver_function, version, symbol, per_thread, row) is a name that the driver exports. The list is
that of the directory LOADER. A fake for Linux lacks the functions that only Windows has. "newest" prints the newest
CUDA version in the list.
"""
import pathlib
import sys


def import_lists(loader):
    sys.path.insert(0, str(loader))
    import entry_points as lists  # pylint: disable=import-outside-toplevel
    return lists


def rows(entry_points, version, platform):
    for one in entry_points:
        if (one.is_windows_only and platform != 'windows') or one.declared_version > version:
            continue
        forms = [(0, one.version, one.symbol)]
        if one.per_thread_symbol:
            forms.append((1, one.per_thread_version, one.per_thread_symbol))
        for per_thread, since, name in forms:
            if since <= version:
                function = f"{one.slot_name}_{per_thread}"
                yield f"FAKE_EXPORT({function}, {one.name}, {since}, {name}, {per_thread}, ENTRY_{one.slot_name})\n"


def main(loader, platform, *paths):
    entry_points = import_lists(loader).read()
    for path in map(pathlib.Path, paths):
        path.write_text("".join(rows(entry_points, int(path.stem.rpartition("_")[2]), platform)), encoding="utf-8")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    if len(sys.argv) == 3 and sys.argv[1] == "newest":
        print(max(one.version for one in import_lists(pathlib.Path(sys.argv[2]).parent).read()))
        sys.exit()
    if sys.argv[1:2] == ["--depfile"]:
        import_lists(sys.argv[3]).take_depfile(sys.argv)
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
