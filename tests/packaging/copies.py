# SPDX-License-Identifier: MIT
"""Copies of cushim that amalgamate.py writes, and programs with them, for check_subsets.py, check_subset_parts.py,
check_subset_copies.py and check_link.py.

usage of each: SCRIPT SOFTCUDA_DIRECTORY COMPILER...
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SUBSETS = HERE / 'subsets'
SOFTCUDA, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2:]
AMALGAMATE = ROOT / 'loader' / 'amalgamation' / 'amalgamate.py'
SOFTWARE_DRIVERS = {int(path.parent.name): path for path in SOFTCUDA.glob('[0-9]*/libcuda.so.1')}
PROGRAM = SOFTCUDA.parents[1] / 'subprojects' / 'cushim-tools' / 'cli' / 'cushim'
NEWEST = SOFTWARE_DRIVERS[max(SOFTWARE_DRIVERS)]
WARNINGS = ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
LIBRARIES = ['-ldl', '-lpthread']
PLUGIN = r'''
#include "cushim.h"
__attribute__((visibility("default"))) int plugin_load(void);
int plugin_load(void)
{
    return cushim_load(NULL) == CUDA_SUCCESS && cushim_table()->Init_v1(0) == CUDA_SUCCESS;
}
'''


def run(*command, **environment):
    """Runs a program without the settings of the caller."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith('CUSHIM_')}
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False, env={**clean, **environment})


class Copy:
    """cushim.c and cushim.h in a directory, for a subset or for all functions."""

    def __init__(self, directory, *options):
        self.directory = directory
        directory.mkdir()
        done = run(sys.executable, AMALGAMATE, *options, directory)
        assert done.returncode == 0, done.stdout
        self.header = (directory / 'cushim.h').read_text(encoding='utf-8')
        self.slots = re.findall(r'\b[A-Z]\w*_v\d+\b', self.header.split('*/')[1])

    def compile(self, name, *words, compiler=None):
        """Compiles in the directory. Returns what the compiler printed, or None."""
        command = [*(compiler or COMPILER), *WARNINGS, f'-I{self.directory}', f'-I{SUBSETS}', *words]
        done = run(*command, '-o', self.directory / name)
        return done.stdout or 'the compiler failed' if done.returncode else None

    def program(self, name, *words):
        """A program with this copy."""
        said = self.compile(name, self.directory / 'cushim.c', *words, *LIBRARIES)
        assert said is None, said
        return self.directory / name


def write(path, text):
    path.write_text(text, encoding='utf-8')
    return path


class Case(unittest.TestCase):
    """Tests with the whole library and a subset of twenty functions."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.twenty = Copy(cls.scratch / 'twenty', '--slots', SUBSETS / 'functions.txt', '--no-streams')
        cls.whole = Copy(cls.scratch / 'whole')

    def make(self, name, words, *options):
        listed = write(self.scratch / f'{name}.txt', words)
        return Copy(self.scratch / name, '--slots', listed, *options)

    def must_pass(self, *command, **environment):
        done = run(*command, **environment)
        self.assertEqual(done.returncode, 0, f'{command} {environment}\n{done.stdout}')
        return done.stdout
