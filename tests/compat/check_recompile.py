# SPDX-License-Identifier: MIT
"""The script recompile, on sources that compile with cushim's headers, do not, or do not use them."""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / 'recompile'
COMPILER = sys.argv[1:]
ORIGINAL = 'typedef int CUresult;\nstatic int cuewInit(int flags) { return flags; }\nenum { CUEW_OF_ITS_OWN = 1 };\n'
USE = '#include <cuew.h>\nint use(void);\nint use(void) { return '
SOURCES = {
    'good.c': USE + 'cuewInit(CUEW_INIT_CUDA); }\n',
    'other.c': USE + 'cuewInit(CUEW_OF_ITS_OWN); }\n',
    'alone.c': 'int alone;\n',
    'broken.c': '#include <no_such_header.h>\n',
    'warns.c': USE + 'cuewInit(1); }\n#ifdef CUSHIM_COMPAT_CUEW_H\nstatic int unused;\n#endif\n',
}


class Recompile(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.build = pathlib.Path(scratch.name)
        (self.build / 'original').mkdir()
        (self.build / 'original' / 'cuew.h').write_text(ORIGINAL + '#define CUEW_INIT_CUDA 1\n')
        entries = []
        for name, text in SOURCES.items():
            (self.build / name).write_text(text)
            command = [*COMPILER, '-Wall', '-Ioriginal', '-MD', '-MF', 'x.d', '-o', 'x.o', '-c', name]
            given = {'command': shlex.join(command)} if name == 'good.c' else {'arguments': command}
            entries.append({'directory': str(self.build), 'file': name, **given})
        (self.build / 'compile_commands.json').write_text(json.dumps(entries))

    def recompiles(self, patterns, status, *starts):
        done = subprocess.run([SCRIPT, self.build, *patterns], stdout=subprocess.PIPE, check=False)
        lines = [line for line in done.stdout.decode().splitlines() if not line.startswith('      ')]
        self.assertEqual(done.returncode, status, done.stdout)
        self.assertEqual([line[:len(start)] for line, start in zip(lines, starts)], list(starts))
        self.assertEqual(len(lines), len(starts))

    def test_source_when_it_compiles_with_both_then_passes_and_leaves_no_file(self):
        before = sorted(self.build.rglob('*'))
        self.recompiles(['good.c'], 0, 'PASS  good.c: reads cuew.h')
        self.assertEqual(sorted(self.build.rglob('*')), before)

    def test_source_when_it_needs_another_name_or_no_header_or_warns_then_fails(self):
        self.recompiles(['g*.c', 'other.c', 'alone.c', 'warns.c'], 1, 'PASS  good.c', 'FAIL  other.c: does not compile',
                        'FAIL  alone.c: reads no header', 'FAIL  warns.c: has more warnings')

    def test_source_when_it_does_not_compile_as_it_is_then_skipped(self):
        self.recompiles(['broken.c'], 77, 'SKIP  broken.c: does not compile as it is')

    def test_pattern_when_nothing_matches_then_refused(self):
        self.recompiles(['nothing.c'], 1)


unittest.main(argv=sys.argv[:1], verbosity=2)
