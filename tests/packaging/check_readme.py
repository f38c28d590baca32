# SPDX-License-Identifier: MIT
"""The README pages are true: examples compile and run, lists agree with the sources, numbers are what their commands
print, links lead to files of this tree.

usage: check_readme.py PROGRAM STATIC_LIBRARY SOFTCUDA COMPILER...
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = [*(ROOT / name for name in ('README.md', 'CHANGELOG.md', '.github/CONTRIBUTING.md')),
         *(page for name in ('include', 'loader', 'src', 'subprojects', 'tests') for page in (ROOT / name).rglob('*.md'))]
# As they are read: without the markers around what loader/lists/write_lists.py writes.
PAGES = {str(page.relative_to(ROOT)): re.sub(r'<!-- (list: [\w-]+|end) -->', '', page.read_text(encoding='utf-8'))
         for page in FILES}
PROGRAM, LIBRARY, SOFTCUDA = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
COMPILER = sys.argv[4:]
SOFTCUDA_HEADERS = ROOT / 'subprojects' / 'softcuda' / 'include'
FLAGS = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-Wno-unused', '-DCUSHIM_STATIC', '-I', str(ROOT / 'include')]


def blocks(page, language='c'):
    """The code of a page in this language, one string for each block."""
    return re.findall(rf'^```{language}\n(.*?)^```$', PAGES[page], re.M | re.S)


def rows_below(heading):
    """The cells of the first table below a heading of loader/README.md, without its head."""
    table = re.search(rf'^## {heading}$.*?^(\|.*?)\n\n', PAGES['loader/README.md'], re.M | re.S)[1]
    return [[cell.strip() for cell in line.strip('|').split('|')] for line in table.splitlines()[2:]]


def headings(text):
    """The names by which links reach the headings of a page."""
    return {re.sub(r'[^\w -]', '', line.lower()).replace(' ', '-') for line in re.findall(r'^#+ (.*)$', text, re.M)}


def source(*parts):
    return ROOT.joinpath(*parts).read_text(encoding='utf-8')


def message_of(reason):
    return re.search(rf'^CUSHIM_REASON\(\w+, "{reason}", \w+,\s*"([^"]+)"', source('include', 'cushim', 'reasons.h'), re.M)[1]


class Pages(unittest.TestCase):
    def test_number_of_lines_when_the_library_is_counted_then_is_that_of_the_page(self):
        said = int(re.search(r'The library has (\d+),000 lines', PAGES['README.md'])[1])
        lines = sum(path.read_bytes().count(b'\n') for name in ('include', 'loader', 'src')
                    for path in (ROOT / name).rglob('*') if path.is_file() and '__pycache__' not in path.parts)
        self.assertEqual(said, round(lines / 1000), lines)

    def compile(self, code, *more, driver='none', **variables):
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch)
            (path / 'example.c').write_text(code, encoding='utf-8')
            subprocess.run([*COMPILER, *FLAGS, path / 'example.c', '-o', path / 'example', *more], check=True)
            if '-c' in more:
                return None
            return subprocess.run([path / 'example'], env={**os.environ, 'CUSHIM_DRIVER': str(driver), **variables},
                                  stdout=subprocess.PIPE, text=True, check=True).stdout

    def test_example_when_there_is_no_driver_then_it_continues_without(self):
        said = self.compile(blocks('README.md')[0], LIBRARY, '-ldl', '-lpthread')
        self.assertIn('No GPU today. ', said)
        self.assertIn(message_of('not-wanted'), said)

    def test_example_when_there_is_a_driver_then_it_counts_the_gpus(self):
        for count in ('0', '2'):
            said = self.compile(blocks('README.md')[0], LIBRARY, '-ldl', '-lpthread', driver=SOFTCUDA,
                                SOFTCUDA_DEVICES=count)
            self.assertEqual(('No GPU today. ' in said, said.splitlines()[-1]), (count == '0', f'{count} GPUs'))

    def test_first_page_when_counted_then_it_has_at_most_140_lines(self):
        self.assertLessEqual(PAGES['README.md'].count('\n'), 140)

    def run_as_printed(self, *shell, **variables):
        """Runs a script where each program only prints its command line: once without sudo, and once with it."""
        printed = []
        for sudo in ((), ('sudo',)):
            with tempfile.TemporaryDirectory() as scratch:
                programs = ['apt-get', 'env', 'meson', 'python3', 'build/cushim', 'build/venv/bin/pip', 'build/venv/bin/cushim']
                for name in (*sudo, *programs):
                    path = pathlib.Path(scratch, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "{name} $*"\n', encoding='utf-8')
                    path.chmod(0o755)
                done = subprocess.run(shell, cwd=scratch, env={'PATH': scratch, **variables}, stdout=subprocess.PIPE,
                                      text=True, check=True)
                printed.append(done.stdout.splitlines())
        return printed

    def test_blocks_when_there_is_sudo_or_not_then_the_same_commands_run_with_it_or_without(self):
        for code in blocks('README.md', 'sh'):
            for shell in (('/bin/sh', '-ec'), ('/bin/bash', '-euo', 'pipefail', '-c')):
                bare, with_sudo = self.run_as_printed(*shell, code)
                self.assertEqual(len(bare), code.count('&&') + 1)
                self.assertEqual(with_sudo, [f'sudo {line}' if line.startswith('apt-get') else line for line in bare])

    def test_checks_when_there_is_sudo_or_not_then_they_install_with_it_or_without(self):
        script = '. "$0/.ci/stages.sh"; trap - EXIT; as_root apt-get update'
        bare, with_sudo = self.run_as_printed('/bin/bash', '-euc', script, str(ROOT), DEBIAN_FRONTEND='noninteractive')
        self.assertEqual(bare, ['env DEBIAN_FRONTEND=noninteractive apt-get update'])
        self.assertEqual(with_sudo, ['sudo env DEBIAN_FRONTEND=noninteractive apt-get update'])
        for script in (ROOT / '.ci').iterdir():
            self.assertNotRegex(re.sub(r'command -v sudo|^ *#.*', '', script.read_text('utf-8'), flags=re.M), r'\bsudo\b')

    def test_page_of_softcuda_when_its_test_is_compiled_then_it_passes_and_each_mistake_fails(self):
        code = blocks('subprojects/softcuda/README.md')[0]
        if subprocess.run([*COMPILER, '-fsyntax-only', '-x', 'c', '-'], input=code.split('#include <cushim')[0], text=True,
                          stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest('cmocka is not installed')
        flags = LIBRARY, '-I', str(SOFTCUDA_HEADERS), '-ldl', '-lpthread', '-lcmocka'
        self.compile(code, *flags, driver=SOFTCUDA, SOFTCUDA_MEMORY='1M')
        mistakes = (('to[i] *= by', 'to[i] += by'), ('CUDA_SUCCESS ? freed : result', 'CUDA_SUCCESS ? 0 : result'),
                    ('result = cu->MemcpyDtoH_v2', '(void)cu->MemcpyDtoH_v2'), ('fail_call("*"', 'fail_call("cuNo"'))
        for right, wrong in mistakes:
            self.assertIn(right, code)
            with self.assertRaises(subprocess.CalledProcessError) as raised:
                self.compile(code.replace(right, wrong), *flags, driver=SOFTCUDA, SOFTCUDA_MEMORY='1M')
            self.assertEqual(len(raised.exception.cmd), 1)  # not the compiler, but the tests

    def test_fragments_when_compiled_then_they_are_c(self):
        fragments = blocks('README.md')[1:] + blocks('loader/README.md') + blocks('src/README.md')
        self.assertGreaterEqual(len(fragments), 3)
        for fragment in fragments:
            body = fragment if '#include' in fragment else f'void example(void);\nvoid example(void)\n{{{fragment}}}\n'
            self.compile('#include <cushim/cushim.h>\n' + body, '-c')

    def test_polyfills_when_listed_then_they_are_all_that_exist(self):
        rules = set(re.findall(r'^ +RULE(?:_BEFORE\(\d+, |(?:_BY_KIND)?\()(\w+),', source('loader', 'polyfills.c'), re.M))
        since = {f'{function}_{abi}': int(number) for function, abi, number in
                 re.findall(r'^CUSHIM_ENTRY(?:_[A-Z_]+)?\((\w+), (v\d), (\d+),', source('include', 'cushim', 'entry_points.h'), re.M)}
        listed = {cells[0].strip('`'): cells[1] for cells in rows_below('Polyfills')}
        self.assertEqual(set(listed), rules)
        for slot, version in listed.items():
            self.assertEqual(version, f'{since[slot] // 1000}.{since[slot] % 1000 // 10}', slot)

    def test_numbers_when_their_command_is_run_then_it_prints_them(self):
        numbers = [pair for page in PAGES.values() for pair in
                   re.findall(r'(\d+) [a-z ]+\(`build/cushim ([^`]+)`\)', page.replace('\n', ' '))]
        self.assertTrue(numbers)
        for number, command in numbers:
            said = subprocess.run(f'{PROGRAM} {command}', shell=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  env={**os.environ, 'CUSHIM_DRIVER': 'none'}, text=True, check=False).stdout
            self.assertEqual(said.strip(), number, command)

    def test_links_when_into_the_tree_then_they_lead_to_something(self):
        for page, text in PAGES.items():
            words = re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S)  # a lambda looks like a link
            for target, heading in re.findall(r'\]\(([^):#]*)(?:#([^)]+))?\)', words):
                path = (ROOT / page).parent.joinpath(target).resolve() if target else ROOT / page
                self.assertTrue(path.exists(), f'{page}: {target}')
                if heading:
                    self.assertIn(heading, headings(PAGES[str(path.relative_to(ROOT))]), f'{page}: {target}')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
