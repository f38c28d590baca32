# SPDX-License-Identifier: MIT
"""The driver's functions that compiled objects and archives call, for amalgamate.py --link."""
import os
import re
import shutil
import subprocess

# gcc-nm and llvm-nm also read objects for link-time optimization. NM can name another one, as for a cross compiler.
TOOLS = ('gcc-nm', 'llvm-nm', 'nm')
# Windows has a prefix for names of a DLL and, with 32 bits, another prefix and the size of the parameters.
UNDEFINED = re.compile(r'\bU (?:__imp_)?_?(cu[A-Z]\w*)(?:@\d+)?$', re.M)
# Marks of MSVC: an object for link-time code generation, and the compiler's number in any other.
MSVC = re.compile(rb'\A\x00\x00\xff\xff|@comp\.id')


class Error(Exception):
    """The objects cannot be read. The text is a sentence."""


def read_symbols(path, tool):
    """What the tool prints, or None if it cannot read the file."""
    try:
        done = subprocess.run([tool, '-u', path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Error(f'{tool}, which the variable NM names, cannot be started: {error.strerror}.') from error
    return done.stdout if done.returncode == 0 and 'plugin needed' not in done.stderr else None


def called_names(paths):
    """The names of functions of the driver that the files need, sorted."""
    tools = [os.environ['NM']] if os.environ.get('NM') else [tool for tool in TOOLS if shutil.which(tool)]
    if not tools:
        raise Error(f'None of {", ".join(TOOLS)} is installed. One of them reads the objects; binutils has nm.')
    called = set()
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise Error(f'{path}: {error.strerror}') from error
        if MSVC.search(content):
            raise Error(f'{path} is an object of MSVC. Use --slots with a list of the functions, and include '
                        'cushim_names.h in the sources that call them.')
        found = next((text for text in (read_symbols(path, tool) for tool in tools) if text is not None), None)
        if found is None:
            raise Error(f'{path} is not an object that {", ".join(tools)} can read. The variable NM can name another tool.')
        called.update(UNDEFINED.findall(found))
    if not called:
        raise Error(f'{", ".join(str(path) for path in paths)}: no function of the driver is called.')
    return sorted(called)
