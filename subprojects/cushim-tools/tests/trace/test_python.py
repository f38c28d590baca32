#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lines of Python programs: each interpreter of this machine, and what the reports show of them."""
import csv
import errno
import glob
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import unittest

from traced import HERE, PROGRAMS, Traced, main

READER, PLACE, UNKNOWN = (os.path.join(PROGRAMS, name + '.so')
                          for name in ('python_reader', 'place', 'python_unknown'))
FRAMES, SCRIPT = os.path.join(HERE, 'python_frames.py'), os.path.join(HERE, 'python_program.py')
RECORD = 0xf08


def line_of(text):
    with open(SCRIPT, encoding='utf-8') as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


ALLOCATED = f'{SCRIPT}:{line_of("CUDA.cuMemAlloc")}'
FREE = f'{SCRIPT}:{line_of("CUDA.cuMemFree_v2(memory)")} '
TWICE = f'{SCRIPT}:{line_of("    block.free(memory)") + 1} (twice)'
FREED = FREE + ('(Block.free)' if sys.version_info >= (3, 11) else '(free)')


def interpreter(version):
    """The path of an interpreter that has ctypes, or None. CUSHIM_PYTHONS=PATH:PATH names more of them."""
    name = 'python' + version
    for path in (*filter(lambda path: path.endswith(name), os.environ.get('CUSHIM_PYTHONS', '').split(':')),
                 shutil.which(name), *glob.glob(os.path.expanduser(f'~/.pyenv/versions/{version}.*/bin/{name}'))):
        if path and subprocess.run([path, '-c', 'import ctypes'], stderr=subprocess.DEVNULL,
                                   check=False).returncode == 0:
            return path
    return None


class Frames(unittest.TestCase):
    """Each interpreter knows its frames; the trace layer must read the same ones."""


def compare_frames(version):
    def test(self):
        path = interpreter(version)
        if path is None:
            self.skipTest(f'there is no python{version} with ctypes: CUSHIM_PYTHONS=PATH names one')
        done = subprocess.run([path, '-B', FRAMES, READER], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r'^\d{4,} frames compared, 0 comparisons differ$')
    return test


for minor in range(6, 16):
    setattr(Frames, f'test_frames_when_python_is_3_{minor}_then_are_those_of_the_interpreter',
            compare_frames(f'3.{minor}'))


class Lines(Traced):
    def run_script(self, *arguments, **kwargs):
        self.trace(sys.executable, '-B', SCRIPT, *arguments, **kwargs)

    def places(self, *options):
        """The lines of places behind the first line that has a call that failed or did not return."""
        lines = self.report(*options).splitlines()
        index = next(index for index, line in enumerate(lines) if ' CUDA_ERROR' in line or 'not return' in line) + 1
        found = []
        while index < len(lines) and lines[index].lstrip().startswith(('at ', 'driver: ')):
            found += [lines[index].split('at ', 1)[1]] if lines[index].lstrip().startswith('at ') else []
            index += 1
        return found

    def test_finding_when_program_is_python_then_has_its_lines(self):
        self.run_script('twice')
        self.assertEqual(self.places('--findings')[:2], [FREED, TWICE])
        self.assertEqual(self.places('--calls', '--errors')[:2], [FREED, TWICE])

    def test_call_when_it_allocates_then_has_the_line_although_it_succeeded(self):
        self.run_script('twice')
        lines = self.report('--calls', '--function', 'cuMemAlloc').splitlines()
        self.assertIn(f'at {ALLOCATED} ', lines[1])
        self.assertNotIn(' at ', self.report('--calls', '--function', 'cuInit'))

    def test_waits_when_in_several_lines_then_each_line_has_its_own(self):
        self.run_script('waits')
        lines = self.report('--findings').split('The longest waits:')[1].splitlines()
        for words, comment in ('cuStreamSynchronize: 3 waits, ', '# often'), ('cuStreamSynchronize took ', '# once'):
            index = next(index for index, line in enumerate(lines) if words in line)
            self.assertIn(f'at {SCRIPT}:{line_of(comment)} (waits)', lines[index + 1])

    def test_function_when_it_was_got_before_then_only_a_failure_has_the_line(self):
        self.run_script('kernels', before=['env', 'SOFTCUDA_EMPTY_KERNELS=1'])
        calls = self.report('--calls', '--function', 'cuKernelGetFunction').replace('\n' + 45 * ' ', '; ').splitlines()
        line = f'; at {SCRIPT}:{line_of("CUDA.cuKernelGetFunction")} (kernels)'
        self.assertEqual([line in call for call in calls], 2 * [True, False, False, True])

    def test_calls_when_they_fill_chunks_then_each_has_its_line_and_what_the_driver_says(self):
        self.run_script('many')
        calls = self.report('--calls', '--errors').replace('\n' + 45 * ' ', '; ').splitlines()
        lacking = [call for call in calls if f'; at {ALLOCATED} ' not in call or '; driver: ' not in call]
        self.assertEqual((len(calls), lacking), (300, []))

    def test_call_when_it_does_not_return_then_has_the_line(self):
        self.run_script('hang', status=-signal.SIGALRM)
        line = f'{SCRIPT}:{line_of("CUDA.cuCtxSynchronize()")} (hang)'
        self.assertEqual(self.places('--calls', '--errors')[0], line)
        self.assertIn('at ' + line, self.report().split('Calls that did not return:')[1])

    def test_stacks_when_requested_then_each_call_has_its_line(self):
        self.run_script('twice', options=['--stacks'])
        for line in self.report('--calls').replace('\n' + 45 * ' ', '; ').splitlines():
            self.assertIn(f'; at {SCRIPT}:', line)

    def test_race_when_a_call_is_beyond_the_first_1000_then_report_names_the_option(self):
        line = f'at {SCRIPT}:{line_of("CUDA.cuMemsetD8Async")} (race)'
        for before, lines, options in (998, 2, ()), (999, 1, ()), (1000, 0, ()), (1000, 2, ('--stacks',)):
            self.run_script('race', str(before), options=options)
            report = self.report('--findings')
            self.assertEqual((report.count(line), report.count('. With --stacks, both calls have their lines of Python')),
                             (lines, int(lines < 2)), (before, options))

    def test_caller_when_it_is_a_file_or_function_of_python_then_selects(self):
        self.run_script('twice')
        for text, count in (os.path.basename(SCRIPT), 3), ('twice', 3), ('allocate', 1), ('none.py', 0):
            self.assertEqual(len(self.calls('--caller', text)), count, text)

    def test_formats_when_program_is_python_then_have_its_lines(self):
        self.run_script('twice')
        _, row = csv.reader(self.report('--format=csv', '--errors').splitlines())
        self.assertEqual(row[7].split(' < ')[:2], [FREED, TWICE])
        for category in 'error', 'finding':
            event, = (event for event in self.events() if event.get('cat') == category)
            self.assertEqual(event['args']['caller'].split('\n')[:2], [FREED, TWICE])
        self.assertEqual(self.report('--format=html').count(f'{FREED}\\n{TWICE}'), 2)

    @unittest.skipUnless(platform.machine() in ('x86_64', 'aarch64'), 'the number of the system call is not known here')
    def test_report_when_system_refuses_to_read_frames_then_says_why(self):
        self.run_script('refused', platform.machine())
        self.assertNotIn(f'at {SCRIPT}', self.report('--calls').split('cuMemAlloc_v2')[1])
        for options in (), ('--findings',):
            self.assertIn(f'process_vm_readv: {os.strerror(errno.EPERM)}\n', self.report(*options))

    def test_report_when_python_is_unknown_then_says_so(self):
        program = os.path.join(PROGRAMS, 'program')
        self.trace(program, 'fail', '1', before=['env', 'LD_PRELOAD=' + UNKNOWN])
        self.assertIn('does not know Python 3.99\n', self.report())

    def test_report_when_interpreter_is_known_then_says_nothing_of_it(self):
        self.run_script('twice')
        self.assertNotIn('lines of Python', self.report())

    def test_place_when_library_is_the_programs_then_it_is_shown_above_the_lines(self):
        for directory, is_own in ('own', True), ('site-packages', False):
            library = os.path.join(self.directory(), directory, 'libx.so')
            os.makedirs(os.path.dirname(library), exist_ok=True)
            shutil.copy(PLACE, library)
            self.run_script('library', library)
            _, row = csv.reader(self.report('--format=csv', '--errors').splitlines())
            lines = row[7].split(' < ')
            self.assertEqual([line.startswith('libx.so+0x') for line in lines[:2]], [is_own, False])
            self.assertIn(f'{SCRIPT}:{line_of(".fail_there()")} ', lines[is_own])

    def test_file_when_frames_are_damaged_then_are_left_out(self):
        self.run_script('twice')
        whole = self.read()
        for value in 0, 1, 0xffffffff, 1 << 31, 7:
            data, frames = bytearray(whole), 0
            used, = struct.unpack_from('<Q', data, 0x40000 + 32)
            place = 0x40000 + 40
            while place < 0x40000 + used:
                word, = struct.unpack_from('<Q', data, place)
                if word & 0xfff == RECORD:
                    frames += 1
                    struct.pack_into('<I', data, place + 8 * 5 + 4, value)
                place += 8 * (word >> 13 & 0xffff)
            self.write(data)
            self.assertGreater(frames, 2)
            self.assertNotIn(SCRIPT + ':', self.report('--calls'))


if __name__ == '__main__':
    main()
