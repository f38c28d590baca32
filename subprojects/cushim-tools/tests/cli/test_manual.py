#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The man page is well-formed and describes the program as it is."""

import ast
import os
import re
import shutil
import subprocess

from program import CHECKS, PROGRAM, SOURCES, Case, fake, main, run, run_json, source

PAGE = os.path.join(SOURCES, 'subprojects', 'cushim-tools', 'cli', 'cushim.1')


class Manual(Case):
    def warnings(self, *command):
        if not shutil.which(command[0]):
            self.skipTest(command[0] + ' is not installed')
        done = subprocess.run([*command, PAGE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        # The set of other installed pages does not matter.
        return [line for line in done.stdout.decode().splitlines() if 'mandoc.db' not in line and 'no manual' not in line]

    def test_page_when_linted_by_mandoc_then_no_warning(self):
        self.assertEqual(self.warnings('mandoc', '-Tlint', '-Wwarning'), [])

    def test_page_when_linted_by_groff_then_no_warning(self):
        self.assertEqual(self.warnings('groff', '-mandoc', '-ww', '-z', '-Tutf8'), [])

    def test_page_when_program_has_an_option_then_documents_it(self):
        # A list of Python tuples, which the build writes beside the program.
        rows = ast.literal_eval(f"[{source(os.path.join(os.path.dirname(PROGRAM), 'option_list.py'))}]")
        known = {row[1].removeprefix('-') for row in rows if row[0] == 'OPTION'}
        self.assertGreater(len(known), 10)
        page, help = source('subprojects/cushim-tools/cli/cushim.1'), run('--help').out.decode()
        self.assertEqual({name for name in known if not re.search(rf' {re.escape(name)}\b', page)}, set())
        self.assertEqual({name for name in known if not re.search(rf'[ ([]-{re.escape(name)}\b', help)}, set())

    def test_page_when_library_has_a_reason_then_documents_it(self):
        words = set(re.findall(r'CUSHIM_REASON\([A-Z_]+, "([a-z-]+)"', source('include/cushim/reasons.h'))) - {'not-tried'}
        self.assertGreater(len(words), 15)
        item = re.search(r'^reason  (.*?)^message  ', source('subprojects/cushim-tools/cli/cushim.1'), re.M | re.S)[1]
        self.assertEqual(words - set(re.findall(r'[a-z-]+', item)), set())

    def test_page_when_program_writes_a_json_key_then_documents_it(self):
        driver = '--driver=' + fake('driver_12_4')
        keys = set()
        for arguments in (['probe', '--devices', '--nvrtc'], ['probe', '--choose', 'cpu'], ['table', 'StreamQuery'], ['lookup', 'cuInit', '2.0'], ['lookup', 'cuInit'], ['doctor'], ['run']):
            document = run_json(*arguments, driver, CUDA_VISIBLE_DEVICES='0',
                                CUSHIM_LAYERS=fake('layer')).json
            stack = [document]
            while stack:
                value = stack.pop()
                if isinstance(value, dict):
                    keys |= set(value)
                stack += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
        page = source('subprojects/cushim-tools/cli/cushim.1').partition('.Sh JSON')[2].partition('.Sh EXAMPLES')[0]
        # At the start of a line, or in braces.
        told = re.findall(r'^ *([a-z_, ]+?)  ', page, re.M) + re.findall(r'\{(.*?)\}', page, re.S)
        told = set(re.findall(r'[a-z_]+', ' '.join(told)))
        self.assertGreater(len(keys), 30)
        self.assertEqual(keys - told, set())

    def test_page_when_doctor_has_a_check_then_documents_it(self):
        checks = set()
        for name in ('checks', 'checks_library', 'checks_platform'):
            checks |= set(re.findall(r'(?:doctor, |check\[\] = )"([a-z-]+)"', source(f'subprojects/cushim-tools/doctor/{name}.c')))
        checks |= set(re.findall(r'^CAUSE\([a-z0-9_]+, ([a-z-]+),', source('subprojects/cushim-tools/doctor/causes.inc'), re.M))
        self.assertGreater(len(checks), 12)
        self.assertEqual(checks - CHECKS, set())


if __name__ == '__main__':
    main()
