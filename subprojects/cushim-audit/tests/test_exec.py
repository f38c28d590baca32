#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What cushim audit says of a program is what cushim exec shows: the section "See it happen" of the README.

  test_exec.py CUSHIM SOFTCUDA_550
"""
import os
import re
import subprocess
import sys

from audit import TOOL, Case, main

CUSHIM, SOFTCUDA = map(os.path.abspath, sys.argv[1:])


class Readme(Case):
    def test_program_when_audited_and_run_then_readme_shows_both(self):
        with open(os.path.join(TOOL, 'README.md'), encoding='utf-8') as file:
            block = re.search(r'^## See it happen\n.*?^```console\n(.*?)^```', file.read(), re.M | re.S)[1]
        commands = re.findall(r'^\$ (.*)\n((?:[^$].*\n)*)', block, re.M)
        self.assertEqual(len(commands), 5)
        for command, output in commands:
            command = re.sub(r'^cushim\b', CUSHIM, command.replace('-lcuda', SOFTCUDA))
            done = subprocess.run(command, shell=True, cwd=self.directory, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.stdout.decode(), output, command)


if __name__ == '__main__':
    sys.argv[1:] = []
    main()
