#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""size.py - what cushim adds to a plug-in with 20 functions, beside other loaders; and the size of the shared library.

    size.py LIBRARY OPTIMIZATION ARCHITECTURE COMPILER-ID COMPILER...

Builds size_plugin.c with each loader and prints a table: the size of code and data, of zeroed memory, and of the
stripped file, less those of a plug-in that calls nothing; the lines that a project copies; and the seconds to compile
them. The commands for the amalgamation are those of loader/amalgamation/PLUGINS.md. nv-codec-headers are measured if the
compiler finds them (Debian: libffmpeg-nvenc-dev; C_INCLUDE_PATH). Neither Debian nor PyPI has a package of cuew and of
Implib.so. They were measured once, with the same plug-in and gcc 12 on x86-64.

The bounds are 5 % above what was reached with gcc 12 on x86-64. Elsewhere, the sizes are only printed. Of a subset, 13 KiB
are the diagnosis of a start that fails: cuInit itself makes it, so that no program can leave it out.
"""
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import time

import bench

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = pathlib.Path(__file__).with_name('size_plugin.c')
PLAIN, SMALLEST, SHARED = 'cushim, amalgamation, -O2', 'cushim, amalgamation, PLUGINS.md', 'cushim, shared library'
SUBSET_PLAIN, SUBSET_SMALLEST = 'cushim, 20 functions, -O2', 'cushim, 20 functions, PLUGINS.md'
SUBSET_FAST = 'cushim, 20 functions, -O2 for -Os'
HEADER_PLAIN, HEADER = "cushim, FFmpeg's header, -O2", "cushim, FFmpeg's header, small"
COMPANIONS_PLAIN, COMPANIONS = '... and companions, -O2', '... and companions, PLUGINS.md'
UNUSED_COMPANIONS = '... and companions, not used'
# KiB of code and data more than without --companions. Of what is not used, a linker keeps the strings.
MOST_OF_COMPANIONS, MOST_OF_UNUSED = 8, 0.7
# In KiB: code and data, zeroed memory; and lines.
MEASURED_ONCE = {'cuew of 2019-08-21': (18.4, 65.9, 2300), 'Implib.so of 2026-02-14': (6.9, 0.1, 1102)}
# In KiB: code and data, zeroed memory.
BOUNDS = {SUBSET_PLAIN: (82, 30), SUBSET_FAST: (54, 29), SUBSET_SMALLEST: (53, 29),
          PLAIN: (360, 89), SMALLEST: (210, 55), SHARED: (305, 122)}


def sections(file):
    """The columns of size(1): code with constants, data, zeroed memory."""
    return [int(word) for word in bench.run(['size', file]).splitlines()[1].split()[:3]]


class Build:
    """Builds plug-ins in a directory."""

    def __init__(self, directory, compiler):
        self.directory, self.compiler = directory, compiler

    def compile(self, source, *options):
        target = self.directory / (source.stem + '.o')
        start = time.monotonic()
        bench.run([*self.compiler, '-std=gnu11', '-fPIC', *options, '-c', source, '-o', target])
        return target, time.monotonic() - start

    def plugin(self, loader, *link, options=()):
        """The path of a plug-in."""
        plugin, _ = self.compile(PLUGIN, '-O2', '-fvisibility=hidden', f'-DLOADER={loader}', '-DCUSHIM_OWN_TYPES=1',
                                 *options, f'-I{ROOT / "include"}')
        target = self.directory / 'plugin.so'
        bench.run([*self.compiler, '-shared', plugin, *link, '-o', target, '-s', '-ldl', '-lpthread'])
        return target

    def add_copy(self, table, plain, smallest, fast, *options, loader='CUSHIM'):
        """Adds the rows of the amalgamation, compiled without and with the options of PLUGINS.md, and with these but
        for -O2."""
        copy = self.directory / plain
        (copy / 'cushim').mkdir(parents=True)
        bench.run([sys.executable, '-B', ROOT / 'loader' / 'amalgamation' / 'amalgamate.py', *options, copy])
        files = copy / 'cushim.c', copy / 'cushim.h'
        (copy / 'cushim' / 'cushim.h').symlink_to(files[1])
        small, link = documented()
        rows = [(plain, ['-O2'], []), (smallest, small, link)]
        if fast:
            rows.append((fast, ['-O2' if word == '-Os' else word for word in small], link))
        for row, options, link in rows:
            compiled, seconds = self.compile(files[0], '-DCUSHIM_OWN_TYPES=1', *options)
            plugin = self.plugin(loader, compiled, *link, options=[f'-I{copy}'])
            table.add(row, plugin, lines_of(*files), seconds)
        if loader != 'CUSHIM':
            table.add(UNUSED_COMPANIONS, self.plugin('CUSHIM', compiled, *link, options=[f'-I{copy}']))


def lines_of(*files):
    return sum(len(file.read_text(encoding='utf-8').splitlines()) for file in files)


def header_of_ffmpeg(compiler):
    text = bench.run(['sh', '-c', "echo '#include <ffnvcodec/dynlink_loader.h>' | \"$@\" -E -x c -", 'sh', *compiler])
    return re.search(r'"(/.*/ffnvcodec/dynlink_loader\.h)"', text)[1]


def lines_by_hand():
    text = PLUGIN.read_text(encoding='utf-8')
    functions = text.split('#define FUNCTIONS')[1].split('\n\n')[0]
    loader = text.split('#elif LOADER == BY_HAND\n')[1].split('#elif')[0]
    return len(functions.splitlines()) + len(loader.splitlines())


def documented():
    """The options of the two commands in PLUGINS.md."""
    page = (ROOT / 'loader' / 'amalgamation' / 'PLUGINS.md').read_text(encoding='utf-8')
    compiling, linking = (shlex.split(line) for line in re.findall(r'^\$ cc (.*)', page, re.M)[:2])
    return ([word for word in compiling if word.startswith('-') and word not in ('-c', '-fPIC')],
            [word for word in linking if word.startswith('-Wl')])


class Table:
    """The rows, of which the first is what the others are compared with."""

    def __init__(self):
        self.base, self.met, self.code = None, True, {}
        print(f'{"":30} {"code+data":>9} {"zeroed":>7} {"file":>7} {"lines":>6} {"seconds":>7}   bounds, in KiB')

    def add(self, name, file, lines='', seconds=None):
        code, data, zeroed = sections(file)
        row = [code + data, zeroed, file.stat().st_size]
        self.base = self.base or row
        sizes = [(mine - theirs) / 1024 for mine, theirs in zip(row, self.base)]
        self.code[name] = sizes[0]
        verdict = ''
        if name in BOUNDS:
            met = all(size <= bound for size, bound in zip(sizes, BOUNDS[name]))
            verdict = '{} and {}, {}'.format(*BOUNDS[name], 'ok' if met else 'OVER')
            self.met = met and self.met
        print(f'{name:30} {sizes[0]:9.1f} {sizes[1]:7.1f} {sizes[2]:7.1f} {lines:>6} '
              f'{"" if seconds is None else format(seconds, ".1f"):>7}   {verdict}', flush=True)


def main(library, optimization, architecture, compiler_id, *compiler):
    for tool in ('size', 'strip'):
        if shutil.which(tool) is None:
            bench.skip(f'{tool} is not installed')
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        build, table = Build(directory, compiler), Table()
        table.add('a plug-in without a GPU', build.plugin('NONE'))
        table.add('linked to the driver', build.plugin('LINKED'))
        table.add('written by hand', build.plugin('BY_HAND'), lines_by_hand())
        try:
            table.add('nv-codec-headers', build.plugin('FFNVCODEC'))
            header = header_of_ffmpeg(compiler)
        except SystemExit:
            header = None
            print('nv-codec-headers               not installed')
        for name, (code, zeroed, lines) in MEASURED_ONCE.items():
            print(f'{name:30} {code:9.1f} {zeroed:7.1f} {"":7} {lines:>6} {"":7}   measured once')
        build.add_copy(table, SUBSET_PLAIN, SUBSET_SMALLEST, SUBSET_FAST, '--slots', PLUGIN, '--no-streams')
        if header is not None:
            build.add_copy(table, HEADER_PLAIN, HEADER, None, '--slots', header, '--no-streams')
        build.add_copy(table, COMPANIONS_PLAIN, COMPANIONS, None, '--slots', PLUGIN, '--no-streams', '--companions',
                       loader='COMPANIONS')
        for with_them, without in ((COMPANIONS_PLAIN, SUBSET_PLAIN), (COMPANIONS, SUBSET_SMALLEST)):
            table.met &= table.code[with_them] - table.code[without] <= MOST_OF_COMPANIONS
        table.met &= table.code[UNUSED_COMPANIONS] - table.code[SUBSET_SMALLEST] <= MOST_OF_UNUSED
        build.add_copy(table, PLAIN, SMALLEST, None)
        stripped = directory / 'library.so'
        bench.run(['strip', '-o', stripped, library])
        table.base = [0, 0, 0]
        if optimization == '2':
            table.add(SHARED, stripped)
    version = bench.run([*compiler, '-dumpversion']).split('.')[0].strip()
    if (architecture, compiler_id, version) != ('x86_64', 'gcc', '12'):
        bench.skip('the bounds are for gcc 12 on x86-64')
    return 0 if table.met else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
