#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the exports of a driver of one CUDA version, as X-macro rows for fake_driver.c.

usage: rows.py VERSION SYMBOLS_INC ENTRY_POINTS_H

FAKE_TYPED(function, driver_function, since, symbol, per_thread, row) is an entry point with a slot in the table,
FAKE_UNTYPED(...) any other. Both lists are read from cushim's sources.
"""
import re
import sys

FIRST_PER_THREAD_VERSION = 7000


def main(version, symbols_path, entry_points_path):
    with open(symbols_path, encoding="ascii") as file:
        rows = re.findall(r'^CUSHIM_SYMBOL\((\w+), (v\d+), (\d+), "(\w+)", "(\w*)"\)', file.read(), re.M)
    with open(entry_points_path, encoding="ascii") as file:
        slots = set(re.findall(r"^CUSHIM_ENTRY\((\w+), (v\d+),", file.read(), re.M))
    for driver_function, abi, since, symbol, per_thread_symbol in rows:
        kind = "FAKE_TYPED" if (driver_function, abi) in slots else "FAKE_UNTYPED"
        forms = [(0, int(since), symbol)]
        if per_thread_symbol:
            forms.append((1, max(int(since), FIRST_PER_THREAD_VERSION), per_thread_symbol))
        for per_thread, form_since, name in forms:
            if form_since <= version:
                function = f"{driver_function}_{abi}_{per_thread}"
                print(f"{kind}({function}, {driver_function}, {form_since}, {name}, {per_thread}, ROW_{driver_function}_{abi})")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
