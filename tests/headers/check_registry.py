# SPDX-License-Identifier: MIT
"""cushim.json, the registry: every compiler writes the same bytes, and finds its numbers in the headers.

Other compilers than that of the build are used where they are installed.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import assertions
import declarations
import support
from support import lists

import debug_info
import registry

SCRIPT = support.ROOT / 'loader' / 'lists' / 'registry.py'
COMPILERS = ('gcc', 'clang', 'aarch64-linux-gnu-gcc', 'x86_64-w64-mingw32-gcc')
# Debian's binutils for other processors are older: 2.26 and 2.35.
READELFS = ('readelf', 'avr-readelf', 'i586-pc-msdosdjgpp-readelf')
# What the command of a compiler can contain, and what would hide, move or change the debug information.
FLAGS = ['-O2', '-flto', '-g0', '-gz', '-gsplit-dwarf', '-gdwarf-5', '-gstrict-dwarf', '-fshort-wchar', '-w']
WORDS = {'void', 'bool', 'char', 'usize', 'f32', 'f64', *(f'{sign}{bits}' for sign in 'iu' for bits in (8, 16, 32, 64))}


def installed(commands):
    found = [command for command in commands if shutil.which(command)]
    print(f'{" ".join(found)}; not installed: {" ".join(sorted(set(commands) - set(found))) or "none"}')
    return found


def others(commands, used):
    """Those that are installed and are not this one under another name."""
    return [command for command in installed(commands)
            if os.path.realpath(shutil.which(command)) != os.path.realpath(shutil.which(used) or '')]


def written(compiler, readelf='readelf'):
    return registry.text_of(registry.registry(compiler, readelf)[0])


def elf_compiler(setting):
    """That of the build; that of this machine if the build is for Windows, whose debug information objdump reads."""
    return ['cc'] if 'mingw' in setting.cc[0] else setting.cc


def test_registry_when_another_compiler_writes_it_is_the_same(setting, text):
    jobs = {command: [command] for command in others(COMPILERS, setting.cc[-1])}
    jobs['with flags of its own'] = [*setting.cc, *FLAGS]
    made = support.each(lambda name: written(jobs[name]), jobs)
    return [f'{name}: writes another registry' for name, other in zip(jobs, made) if other != text]


def test_registry_when_another_readelf_reads_it_is_the_same(setting, text):
    compiler = elf_compiler(setting)
    return [f'{command}: makes another registry'
            for command in others(READELFS, 'readelf' if compiler == setting.cc else 'none')
            if written(compiler, command) != text]


def test_registry_when_it_cannot_be_made_is_not_written(setting):
    """The command of each failure, and words of its message."""
    failures, compiler = [], elf_compiler(setting)
    for words, command in {'no-readelf is not installed': ['--readelf', 'no-readelf', *compiler],
                           'false': ['false'], 'no debug information': ['--readelf', 'true', *compiler]}.items():
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run([sys.executable, '-B', SCRIPT, '-o', f'{directory}/cushim.json', *command],
                                  stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode != 1 or words not in done.stderr or 'Traceback' in done.stderr:
                failures.append(f'{command}: exit status {done.returncode}, and not "{words}":\n{done.stderr}')
            failures += [f'{command}: writes {path.name}' for path in pathlib.Path(directory).iterdir()]
    return failures


def test_registry_when_counted_has_all_of_the_lists(data, macros):
    exported = set(re.findall(r'^\s+(cushim_\w+);', support.read(support.ROOT / 'loader' / 'exports.map'), re.M))
    values = {name: value for one in data['types'].values() for name, value in one.get('values', {}).items()}
    headers = [path for path in support.HEADERS.glob('abi/*.h') if path.name != 'conflict.h']
    declared = {one.name for one in declarations.read(headers) if one.kind == 'constant'}
    constants = {**values, **{name: one['value'] for name, one in data['constants'].items()}}
    codes = data['types']['CUresult']['values']
    sets = {
        'slots': ([one['name'] for one in data['slots']], [one.slot_name for one in lists.in_slots(lists.read())]),
        'functions': (set(data['functions']), {name for name in exported if not name.startswith('cushim_current_')}),
        'error codes': ({one['name']: one['value'] for one in data['errors']}, codes),
        'reasons': ([f'CUSHIM_REASON_{one["id"]}' for one in data['reasons']],
                    list(data['types']['cushim_reason']['values'])[:-1]),
        'features': ([f'CUSHIM_FEATURE_{one["id"]}' for one in data['features']],
                     list(data['types']['cushim_feature']['values'])[:-1]),
        'rows of features': (sum(len(cell) for one in data['features'] for cell in one.values() if type(cell) is list),
                             len(re.findall(r'^CUSHIM_FEATURE_', support.read(support.HEADERS / 'features.h'), re.M))),
        'drivers': ([one['cuda'] for one in data['drivers']], [one.version for one in lists.read_drivers()]),
        'constants of the headers': (declared - set(constants), set()),
        'macros': ({name for name, (value, _) in macros.items() if constants.get(name) != value}, set()),
    }
    print(f'{len(data["slots"])} slots, {len(data["types"])} types, {len(constants)} constants, '
          f'{len(data["functions"])} functions')
    return [f'{name}: the registry has {ours}, and the lists {theirs}' for name, (ours, theirs) in sets.items()
            if ours != theirs]


def test_type_when_written_is_of_known_words(data):
    members = [field for one in data['types'].values() for field in one.get('fields', [])]
    calls = [*data['slots'], *data['functions'].values()]
    kinds = {one['type'] for one in [*data['types'].values(), *data['constants'].values(), *members] if 'type' in one}
    kinds |= {one['windows'] for one in data['types'].values() if 'windows' in one}
    kinds |= {each['type'] for one in calls for each in one['parameters']} | {one['returns'] for one in calls}
    known = WORDS | set(data['types'])

    def unread(kind):
        """What is left after one type."""
        prefix = re.match(r'(\*|const |\[\d+\])*', kind)[0]
        kind = kind[len(prefix):]
        if not kind.startswith('fn('):
            word = re.match(r'\w*', kind)[0]
            return kind[len(word):] if word in known else kind + ' is not known'
        kind = kind[3:]
        while not kind.startswith(')'):
            kind = unread(kind).removeprefix(', ')
        return unread(kind[2:])
    return [f'{kind}: not understood' for kind in sorted(kinds) if unread(kind)]


def test_struct_when_made_by_the_example_has_its_layout(data):
    sys.path.insert(0, str(support.ROOT / 'tests' / 'examples'))
    import registry_table  # pylint: disable=import-error,import-outside-toplevel
    reader = registry_table.Cushim.__new__(registry_table.Cushim)
    reader.types, failures, count = data['types'], [], 0
    for name, one in data['types'].items():
        if 'fields' in one:
            made, count = reader.type(name), count + 1
            # ctypes knows no alignment that a declaration demands.
            if ctypes.sizeof(made) != one['size']:
                failures.append(f'{name}: {ctypes.sizeof(made)} bytes, and not {one["size"]}')
            failures += [f'{name}.{field["name"]}: not at {field["offset"]}' for field in one['fields']
                         if getattr(made, field['name'] or field['type']).offset != field['offset']]
    print(f'{count} structs and unions of ctypes')
    return failures


def test_number_when_asserted_by_any_compiler_is_right(setting, data):
    rows = [*assertions.of_table(), *assertions.of_types(data)]
    jobs = [(language, [*support.OWN, *more]) for language in setting.languages for more in ([], support.PER_THREAD)]
    others = [[command] for command in installed(COMPILERS)]
    if ['clang'] in others:
        others.append(['clang', '--target=x86_64-pc-windows-msvc'])
    jobs += [(support.Language([*command, '-ffreestanding'], 'c', 'c11'), support.OWN) for command in others]
    results = support.each(lambda job: job[0].run(assertions.source(job[0], rows), [*job[1], '-w']), jobs)
    print(f'{len(rows)} assertions, {len(jobs)} times')
    return [f'{language.command}, {flags}:\n{said[:2000]}'
            for (language, flags), (status, said) in zip(jobs, results) if status]


def test_schema_when_read_is_that_of_the_page(data):
    page = support.read(support.ROOT / 'loader' / 'lists' / 'REGISTRY.md')
    failures = [f'{key}: REGISTRY.md does not describe it' for key in data if f'`{key}`' not in page]
    return failures + ([] if f'schema {data["schema"]}' in page else ['REGISTRY.md describes another schema'])


def main():
    setting = support.Setting()
    if not shutil.which('readelf'):
        support.skip('readelf (binutils) is not installed')
    try:
        data, macros = registry.registry(setting.cc, 'readelf')
    except debug_info.DebugInfoError as error:
        sys.exit(f'FAILED: {error}')
    text = registry.text_of(data)
    data = json.loads(text)
    support.finish(
        test_registry_when_another_compiler_writes_it_is_the_same(setting, text)
        + test_registry_when_another_readelf_reads_it_is_the_same(setting, text)
        + test_registry_when_it_cannot_be_made_is_not_written(setting)
        + test_registry_when_counted_has_all_of_the_lists(data, macros)
        + test_type_when_written_is_of_known_words(data)
        + test_struct_when_made_by_the_example_has_its_layout(data)
        + test_number_when_asserted_by_any_compiler_is_right(setting, data)
        + test_schema_when_read_is_that_of_the_page(data))


main()
