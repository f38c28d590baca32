# SPDX-License-Identifier: MIT
"""Programs that read cushim.h for another language know every constant, slot and function of the registry.

usage: check_readers.py cffi|bindgen|zig OPTION...

cffi reads what cffi_header.py prints. The others read cushim.h, and behind it the header that registry.py --constants
writes, in which the enumerators that are macros are plain numbers.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import support

import registry

WRAPPER = '#include <cushim/cushim.h>\n#include <cushim/abi/egl.h>\n#include "cushim_constants.h"\n'
FLAGS = ['-I', support.HEADERS.parent, '-DCUSHIM_OWN_TYPES=1']


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f'FAILED: {command[0]}:\n{done.stderr[-2000:]}')
    return done.stdout


def need(*commands):
    for command in commands:
        if shutil.which(command):
            return command
    return support.skip(f'{commands[0]} is not installed')


def read_cffi(compiler, _):
    """{constant: value}, slots and functions."""
    try:
        import cffi  # pylint: disable=import-outside-toplevel
    except ImportError:
        support.skip('cffi is not installed (Debian: python3-cffi)')
    script = support.ROOT / 'loader' / 'amalgamation' / 'cffi_header.py'
    text = run(sys.executable, '-B', script, support.HEADERS / 'cushim.h', *compiler)
    ffi = cffi.FFI()
    ffi.cdef(text)
    library = ffi.dlopen(None)
    constants = {}
    for name in set(re.findall(r'\b[A-Z][A-Z0-9]*_\w+', text)):
        try:
            constants[name] = getattr(library, name)
        except AttributeError:
            pass  # a type
    slots = [name for name, _ in ffi.typeof('struct cushim_dispatch_table').fields]
    return constants, slots, set(re.findall(r'\b(cushim_\w+)\(', text))


def read_bindgen(_, wrapper):
    text = run(need('bindgen'), '--no-prepend-enum-name', '--no-doc-comments', wrapper, '--', *FLAGS)
    # Without rustfmt, all is one line, with a space at each side of every sign.
    table = re.search(r'pub struct cushim_dispatch_table \{(.*?)\}', text, re.S)[1]
    numbers = re.findall(r'pub const (\w+)\s*:\s*\w+\s*=\s*(-?)\s*(\d+)\s*;', text)
    return ({name: int(sign + value) for name, sign, value in numbers},
            re.findall(r'\bpub (\w+)\s*:', table), set(re.findall(r'pub fn (cushim_\w+)', text)))


def read_zig(_, wrapper):
    zig = need('zig', 'python-zig')  # the second one is of the package ziglang of PyPI
    text = run(zig, 'translate-c', *FLAGS, '-lc', wrapper)
    table = re.search(r'struct_cushim_dispatch_table = extern struct \{(.*?)\n\};', text, re.S)[1]
    # A macro is "@as(c_int, 911)".
    numbers = re.findall(r'pub const (\w+)(?:: \w+)? = (-?)(?:[@\w.]+\(\w+, )?(\d+)\b.*;', text)
    return ({name: int(sign + value) for name, sign, value in numbers},
            re.findall(r'^    (\w+):', table, re.M), set(re.findall(r'pub extern fn (cushim_\w+)', text)))


def main():
    reader = {'cffi': read_cffi, 'bindgen': read_bindgen, 'zig': read_zig}[sys.argv.pop(1)]
    setting = support.Setting()
    data, macros = registry.registry(setting.cc, 'readelf')
    with tempfile.TemporaryDirectory() as directory:
        wrapper = pathlib.Path(directory) / 'wrapper.h'
        wrapper.write_text(WRAPPER, encoding='utf-8')
        (wrapper.parent / 'cushim_constants.h').write_text(registry.constants_header(macros), encoding='utf-8')
        constants, slots, functions = reader(setting.cc, wrapper)
    wanted = {name: value for one in data['types'].values() for name, value in one.get('values', {}).items()}
    wanted.update((name, one['value']) for name, one in data['constants'].items())
    # Some readers know the constants with all bits set as -1.
    failures = [f'{name}: {value}, and not {constants.get(name)}' for name, value in wanted.items()
                if name not in constants or (value - constants[name]) % 2**32]
    failures += ['the slots are not those of the registry'] if slots != [one['name'] for one in data['slots']] else []
    failures += [f'{name}: not declared' for name in data['functions'] if name not in functions]
    print(f'{len(wanted)} constants, {len(slots)} slots, {len(data["functions"])} functions')
    support.finish(failures)


main()
