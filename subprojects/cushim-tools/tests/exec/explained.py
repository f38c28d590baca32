# SPDX-License-Identifier: MIT
"""What `cushim doctor -- PROGRAM` answers."""
import json
import os
import re
import subprocess
import unittest

from under_exec import HAS_AUDITOR, IS_FOREIGN, PROGRAM, Case, environment, softcuda

PATH = os.path.dirname(softcuda(580))
HERE = {'LD_LIBRARY_PATH': PATH}  # as on a machine that has this driver


@unittest.skipUnless(HAS_AUDITOR and not IS_FOREIGN, 'a program can be watched with glibc 2.35')
class Explained(Case):
    def explain(self, *command, options=(), status=None, user=None, under=(), **variables):
        """The answer as JSON, after a check that the program behaves as without doctor: it returns the same status and
        prints the same, but for times, which change in each run."""
        file = os.path.join(self.directory(), 'answer.json')
        os.chmod(os.path.dirname(file), 0o777)
        doctor = [*under, PROGRAM, 'doctor', '--format=json', '-o', file, *options, '--']
        done, plain = (subprocess.run([*before, *command], stdin=subprocess.DEVNULL, env=environment(**variables), user=user,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
                       for before in (doctor, []))
        self.assertEqual(done.returncode, plain.returncode if status is None else status, done.stderr)
        for text, wanted in ((done.stdout, plain.stdout), (done.stderr, plain.stderr)):
            self.assertEqual(*(re.sub(rb' *[\d.]+ ms', b'', one) for one in (text, wanted)))
        with open(file, encoding='utf-8') as answer:
            document = json.load(answer)
        self.assertEqual(document['advice'], document['advice'].strip())
        return document
