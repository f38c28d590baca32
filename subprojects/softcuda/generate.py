#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates the input of the compiler and the linker from cushim's list of entry points and from src/executes.txt.

  generate.py exports  EXECUTES          the C rows that src/exports/exports.c includes
  generate.py map      DRIVER VERSION    an ELF version script: the exports of this driver, and our control
  generate.py def      DRIVER VERSION    the same for Windows
  generate.py place    LIBRARY PATH      also puts the library at that path
  generate.py install  LIBRARY PATH      the same below the directory into which Meson installs

The result goes to the standard output, or with "--to FILE" to that file and the list of its inputs to FILE.d.
"""
import os
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'loader'))
import entry_points as lists

# The only entry point that two drivers lack on Linux although their version has it.
NOT_ON_LINUX = {('cuDeviceGetLuid', 418), ('cuDeviceGetLuid', 450)}
CONTROL = 'softcuda_control'
# A dynamic loader may call these while it holds its own locks: they take no lock, and work before cuInit.
WITHOUT_LOCK = {'DriverGetVersion_v1', 'GetErrorName_v1', 'GetErrorString_v1', 'GetProcAddress_v1', 'GetProcAddress_v2'}
# Functions that check an argument before they check that cuInit was called, and cuInit itself.
BEFORE_INIT = {'Init_v1', 'StreamCreate_v1', 'EventQuery_v1'}


def executes(path):
    lines = (line.split('#')[0] for line in open(path))
    return [slot for line in lines for slot in line.split()]


def write_exports(executed):
    entry_points, done = lists.read(), executes(executed)
    unknown = set(done) - {one.slot_name for one in lists.in_slots(entry_points)}
    if unknown or len(done) != len(set(done)):
        sys.exit(f'{executed}: has no slot, or stands there twice: {sorted(unknown)}')
    for one in entry_points:
        slot = one.slot_name
        for name, form in ((one.symbol, ''), (one.per_thread_symbol, '_per_thread')):
            if name and slot in done:
                kind = ('SOFT_EXPORT_WITHOUT_LOCK' if slot in WITHOUT_LOCK else
                        'SOFT_EXPORT_BEFORE_INIT' if slot in BEFORE_INIT else 'SOFT_EXPORT')
                print(f'{kind}({slot}, {slot}{form}, "{name}", {"true" if form else "false"}, '
                      f'({one.parameters}), ({", ".join(one.arguments)}))')
            elif name:
                print(f'SOFT_REFUSE({slot}{form}, "{name}")')
    for symbol in lists.WITHOUT_ROW:
        print(f'SOFT_REFUSE({symbol[2:]}, "{symbol}")')
    for one in entry_points:
        slot, per_thread = one.slot_name, one.per_thread_symbol
        form = f'SOFT_FORM({slot}_per_thread, "{per_thread}")' if per_thread else 'SOFT_NO_FORM'
        row = f'SOFT_ROW("{one.function}", {one.version}, SOFT_FORM({slot}, "{one.symbol}"), {form})'
        print(f'#if defined(_WIN32)\n{row}\n#endif' if one.is_windows_only else row)


def exported(driver, version, windows):
    """(exported name, name in our objects) of everything that this driver exports."""
    for one in lists.read():
        if one.is_windows_only and not windows:
            continue
        if one.version <= version and (windows or (one.symbol, driver) not in NOT_ON_LINUX):
            yield one.symbol, one.slot_name
        if one.per_thread_symbol and one.per_thread_version <= version:
            yield one.per_thread_symbol, one.slot_name + '_per_thread'
    for symbol, first in lists.WITHOUT_ROW.items():
        if driver >= first:
            yield symbol, symbol[2:]


def write_map(driver, version):
    print('{\n  global:')
    for symbol, _ in exported(int(driver), int(version), False):
        print(f'    {symbol};')
    print(f'    {CONTROL};\n  local: *;\n}};')


def write_def(driver, version):
    print('LIBRARY nvcuda.dll\nEXPORTS')
    for symbol, name in exported(int(driver), int(version), True):
        print(f'  {symbol} = export_{name}')
    print(f'  {CONTROL}')


def place(library, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.remove(path)  # not overwritten, because it may be in use
    try:
        os.link(library, path)
    except OSError:
        shutil.copy2(library, path)


def install(library, path):
    path = os.path.join(os.environ['MESON_INSTALL_DESTDIR_PREFIX'], path)
    if not os.environ.get('MESON_INSTALL_QUIET'):
        print('Installing', library, 'to', path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.remove(path)
    shutil.copy2(library, path)


def main(arguments):
    if arguments[0] == '--to':
        output, arguments = arguments[1], arguments[2:]
        with open(output + '.d', 'w') as rule:
            print(output + ':', lists.LIST, *(a for a in arguments[1:] if os.path.isfile(a)), file=rule)
        sys.stdout = open(output, 'w')
    {'exports': write_exports, 'map': write_map, 'def': write_def,
     'place': place, 'install': install}[arguments[0]](*arguments[1:])


if __name__ == '__main__':
    main(sys.argv[1:])
