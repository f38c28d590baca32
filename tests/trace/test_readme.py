#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands in the section about trace in README.md print what stands there."""
import os
import pathlib
import re
import shutil
import subprocess

from traced import FINDINGS, PROGRAM, Traced, environment, main

PAGE = (pathlib.Path(__file__).resolve().parents[2] / 'README.md').read_text(encoding='utf-8')
SECTION = re.search(r'^## See what a program asks of the driver$(.*?)^## ', PAGE, re.M | re.S)[1]
BLOCK = re.search(r'^```console\n(.*?)^```$', SECTION, re.M | re.S)[1].replace('\\\n', '')


def lines(text):
    """The lines, without times, which differ between runs."""
    return [' '.join(re.sub(r'\b[\d.]+ (ns|us|ms|s|%)(?=[ ,]|$)', 'X', line).split()) for line in text.splitlines()]


class Readme(Traced):
    def test_ffmpeg_when_traced_then_summary_has_the_lines_of_the_page(self):
        if not shutil.which('ffmpeg'):
            self.skipTest('ffmpeg is not installed')
        if not subprocess.check_output(['ffmpeg', '-version']).startswith(b'ffmpeg version 5.1'):
            self.skipTest('this ffmpeg is not the one of Debian 12')
        commands = [line[2:] for line in BLOCK.splitlines() if line.startswith('$ ')]
        variables = environment(PATH=os.path.dirname(PROGRAM) + ':' + os.environ['PATH'])
        printed = lines(subprocess.run(['sh', '-e'], input='\n'.join(commands), cwd=self.directory(), env=variables,
                                       stderr=subprocess.PIPE, encoding='utf-8', timeout=120, check=True).stderr)
        shown = [line for line in lines(BLOCK.split(commands[-1])[1]) if line not in ('', '...')]
        self.assertEqual(shown, [line for line in printed if line in shown])
        self.assertGreaterEqual(len(shown), 4)

    def test_capture_when_invalidated_then_summary_has_the_sentence_of_the_page(self):
        self.trace(FINDINGS, 'captures')
        begin, end = re.search(r'"(\w+ invalidated [^"]*)"', SECTION.replace('\n', ' '))[1].split('...')
        self.assertRegex(self.report(), re.escape(begin) + r'.*' + re.escape(end))


if __name__ == '__main__':
    main()
