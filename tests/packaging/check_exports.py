# SPDX-License-Identifier: MIT
"""The public symbols: the list in loader/exports.map, the declarations in the headers and the shared library agree.

usage: check_exports.py LIBRARY OBJDUMP COMPILER...

LIBRARY is an ELF shared object or a DLL.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / 'include' / 'cushim'
LIST = 'loader/exports.map'
# CUSHIM_API, preprocessed.
MARK = {'elf': r'__attribute__\s*\(\(visibility\("default"\)\)\)',
        'dll': r'__declspec\s*\(\s*dllexport\s*\)|__attribute__\s*\(\(\s*dllexport\s*\)\)'}


def output_of(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, **more).stdout


def release_of(text):
    """(0, 2) for CUSHIM_0.2, 0_2 and 0.2."""
    return tuple(int(number) for number in re.findall(r'\d+', text))


def read_list():
    """{name: node} in the order of the file, and the nodes."""
    text = re.sub(r'#.*', '', (ROOT / LIST).read_text(encoding='utf-8'))
    found, nodes = {}, []
    for node, body in re.findall(r'(\w+\.\w+)\s*\{(.*?)\}', text, re.S):
        nodes.append(node)
        names = re.findall(r'(\w+)\s*;', re.search(r'global:(.*?)(local:|$)', body, re.S)[1])
        assert not set(names) & set(found) and len(set(names)) == len(names), f'{LIST}: a name stands there twice'
        found.update(dict.fromkeys(names, node))
    return found, nodes


def read_headers(compiler, kind):
    """{name: header} of everything that is declared with CUSHIM_API."""
    source = ''.join(f'#include "cushim/{path.name}"\n' for path in sorted(HEADERS.glob('*.h'))
                     if path.name != 'attributes.h' and 'CUSHIM_API' in path.read_text(encoding='utf-8'))
    text = output_of(*compiler, '-std=c11', '-E', '-DCUSHIM_OWN_TYPES=1', '-DCUSHIM_BUILD_SHARED', '-I',
                     str(HEADERS.parent), '-x', 'c', '-', input=source)
    found, header = {}, ''
    for mark, statement in re.findall(rf'^# \d+ "([^"]*)"|(?:{MARK[kind]})([^;]*);', text, re.M):
        if mark:
            header = os.path.basename(mark)
        else:
            found[re.search(r'\b(\w+)\s*(?:\(|$)', re.sub('^#.*', '', statement, flags=re.M))[1]] = header
    return found


def read_elf(library):
    """{name: version} of what the library exports."""
    rows = [line.split() for line in output_of('readelf', '--dyn-syms', '-W', str(library)).splitlines()]
    symbols = [row[7] for row in rows
               if len(row) == 8 and row[4] in ('GLOBAL', 'WEAK') and row[6] not in ('UND', 'ABS')]
    return {name: version for name, _, version in (symbol.replace('@@', '@').partition('@') for symbol in symbols)}


def read_dll(library, objdump):
    """{name: None} of what the DLL exports."""
    table = output_of(objdump, '-p', str(library)).split('[Ordinal/Name Pointer] Table')[1].split('\n\n')[0]
    return dict.fromkeys(re.findall(r'^\s*\[\s*\d+\].*?(\w+)$', table, re.M))


def compare_names(listed, nodes, declared, exported):
    for name, header in declared.items():
        if name not in listed:
            yield f'include/cushim/{header} declares {name}, and {LIST} lacks it: add it there, to {nodes[-1]}'
        if name not in exported:
            yield f'include/cushim/{header} declares {name}, and the library does not export it: define it'
    for name in listed:
        if name not in declared:
            yield f'{LIST} has {name}, and no header declares it with CUSHIM_API: remove it, unless it was released'
    for name in exported:
        if name not in declared:
            yield f'the library exports {name}, and no header declares it with CUSHIM_API'


def compare_releases(listed, nodes, exported, kind):
    header = (HEADERS / 'version.h').read_text(encoding='utf-8')
    current = release_of(' '.join(re.findall(r'#define CUSHIM_VERSION_M\w+ (\d+)', header)))
    releases = [release_of(node) for node in nodes]
    if releases != sorted(set(releases)) or releases[-1] > current:
        yield f'{LIST}: the nodes {" ".join(nodes)} are not in the order of their releases, or newer than version.h'
    tables = (HEADERS / 'table_releases.h').read_text(encoding='utf-8')
    for table in re.findall(r'^CUSHIM_TABLE_VERSION\((\w+),', tables, re.M):
        node = 'CUSHIM_' + table.replace('_', '.')
        for name in (f'cushim_current_legacy_{table}', f'cushim_current_per_thread_{table}'):
            if listed.get(name) != node:
                yield f'{LIST}: {name} belongs into the node {node}, as table_releases.h has that release'
    for name, node in listed.items() if kind == 'elf' else ():
        if exported.get(name, node) != node:
            yield f'{name} has the version "{exported[name]}" in the library, and not {node}'


def main():
    library, objdump, *compiler = sys.argv[1:]
    kind = 'dll' if library.endswith('.dll') else 'elf'
    tool = objdump if kind == 'dll' else 'readelf'
    if shutil.which(tool) is None:
        print(f'skipped: {tool} (binutils) is not installed')
        return 77
    listed, nodes = read_list()
    declared = read_headers(compiler, kind)
    exported = read_dll(library, objdump) if kind == 'dll' else read_elf(library)
    failures = [*compare_names(listed, nodes, declared, exported), *compare_releases(listed, nodes, exported, kind)]
    print(f'{len(listed)} public symbols in {LIST}, {len(declared)} in the headers, {len(exported)} in the library')
    print(''.join(f'FAILED: {failure}\n' for failure in failures), end='')
    return 1 if failures or not exported else 0


sys.exit(main())
