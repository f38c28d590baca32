# SPDX-License-Identifier: MIT
"""Runs cushim audit on files that a test makes."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
TOOL = os.path.join(SOURCES, 'subprojects', 'cushim-audit')
PROGRAM = os.path.join(TOOL, 'cushim-audit')
sys.path.insert(0, TOOL)


from cushim_audit.command import main as audit_main  # pylint: disable=wrong-import-position


class Run:
    """A run in a process of its own, as a user runs it, or in this one, which takes a tenth of the time."""

    def __init__(self, arguments, cwd, is_alone):
        if is_alone:
            done = subprocess.run([sys.executable, '-B', PROGRAM, *arguments], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, cwd=cwd, timeout=300, check=False)
            self.status, self.out, self.err = done.returncode, done.stdout.decode(), done.stderr.decode()
            return
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.status = audit_main(arguments)
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def document(self):
        return json.loads(self.out)


class Case(unittest.TestCase):
    """A test with a directory of its own."""

    is_alone = False

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix='cushim-audit-')
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def write(self, name, content):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(content)
        return path

    def run_on(self, name, content, *options):
        """Runs the program on one file."""
        self.write(name, content)
        return self.run_program(*options, name)

    def run_program(self, *arguments):
        done = Run(arguments, self.directory, self.is_alone)
        self.assertNotIn('Traceback', done.err)
        return done

    def file_of(self, content, name='lib.so'):
        """What is concluded of one file: a part of the JSON document."""
        done = self.run_on(name, content, '--format=json')
        self.assertEqual(done.err, '')
        self.assertEqual(len(done.document['files']), 1)
        return done.document['files'][0]


def main():
    unittest.main(verbosity=1)
