#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The calls are in the file, however the program ends or continues."""
import collections
import os
import re
import shutil
import signal
import subprocess
import unittest

from traced import KNOWN, LAYER, NESTED, PROGRAM, PROGRAMS, Traced, environment, main, softcuda

# tests/cross/arm64.ini sets this variable for qemu.
EMULATED = 'QEMU_LD_PREFIX' in os.environ


class Survival(Traced):
    def count(self, *arguments, **settings):
        """Runs the known program. Returns the number of the calls of each process, in the order of their begin."""
        self.trace(KNOWN, *arguments, **settings)
        return list(collections.Counter(process for process, _, _ in self.calls()).values())

    def test_trace_when_program_is_killed_then_has_its_calls(self):
        self.assertEqual(self.count('kill', status=-signal.SIGKILL), [5])

    def test_trace_when_program_crashes_in_a_call_then_names_it(self):
        self.assertEqual(self.count('crash', status=-signal.SIGSEGV), [6])
        self.assertEqual(self.calls()[-1][2], 'cuDriverGetVersion(driverVersion=0x8) did not return')
        self.assertIn('\nCalls that did not return:\n', self.report())

    def test_trace_when_program_hangs_then_names_the_call(self):
        self.count('hang', status=-signal.SIGKILL)
        self.assertRegex(self.calls()[-1][2], r'cuStreamSynchronize\(hStream=stream 1\) did not return')

    @unittest.skipIf(EMULATED, 'the emulator ignores madvise()')
    def test_trace_when_program_forks_then_has_both_processes(self):
        self.assertEqual(self.count('fork'), [5, 2])
        self.assertRegex(self.report(), r'\nProcesses:\n +\d+ +5 calls  \S+ fork\n +\d+ +2 calls  \S+ fork\n')
        self.assertEqual(self.count('raw-fork'), [5, 2])

    def test_trace_when_program_becomes_another_then_has_both(self):
        self.trace(KNOWN, 'exec')
        self.assertEqual(len(self.calls()), 7)
        self.assertRegex(self.report(), r'\nProcesses:\n +\d+ +3 calls  \S+ exec\n +\d+ +4 calls  \S+ count 4\n')

    def test_trace_when_program_starts_another_then_has_both(self):
        self.assertEqual(self.count('spawn'), [1, 2])

    def test_trace_when_program_closes_all_descriptors_then_continues(self):
        self.assertEqual(self.count('close'), [20001])

    def test_trace_when_program_has_many_threads_then_has_their_calls(self):
        self.assertEqual(self.count('threads'), [4000])
        self.assertEqual(set(collections.Counter(thread for _, thread, _ in self.calls()).values()), {2})
        self.assertLess(os.path.getsize(self.file), 110 << 16, 'threads that ended leave their chunks to others')

    def test_trace_when_thread_destructors_call_then_has_their_calls(self):
        self.assertEqual(self.count('late'), [5])

    def test_trace_when_calls_are_nested_then_has_both(self):
        for options in ([], ['--size', '384K'], ['--size', '512K']):
            self.trace(KNOWN, 'nested', options=['--layer', NESTED, *options])
            calls = [call for _, _, call in self.calls()]
            self.assertEqual(calls[0], 'cuStreamQuery(hStream=NULL) = CUDA_ERROR_NOT_READY')
            self.assertEqual(len(calls), 5002 if not options else len(calls))
            self.assertLess(1000, len(calls))

    def test_trace_when_size_is_limited_then_counts_the_rest(self):
        first = self.count('count', '100000', options=['--size', '1M', '--keep', 'first'])[0]
        self.assertIn(f'\n{100000 - first} calls were not recorded', self.report())
        self.assertGreater(first, 15000)
        newest = self.count('count', '100000', options=['--size', '1M'])[0]
        self.assertIn(f'\n{100000 - newest} older calls are not in the file', self.report())
        chunk = (64 << 10) // 48 # the calls of the chunk that is filled at the end, and has no older ones any more
        self.assertGreaterEqual(newest, first - chunk)
        self.assertEqual(os.path.getsize(self.file), 1 << 20)

    def test_trace_when_processes_of_a_full_file_are_gone_then_reuses_their_parts(self):
        script = f'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do {KNOWN} kill; done; {KNOWN} print'
        self.trace('/bin/sh', '-c', script, options=['--size', '512K'], status=3)
        self.assertIn(f' 1 call  {KNOWN} print\n', self.report().split('\nProcesses:\n')[1])

    def test_trace_when_file_limit_is_low_then_is_smaller(self):
        answer = self.trace(KNOWN, 'count', '100000', before=['/bin/sh', '-c', 'ulimit -f 2048; exec "$@"', 'sh'])
        self.assertLessEqual(os.path.getsize(self.file), 2048 * 1024)
        self.assertRegex(answer.err.decode(), r'\n\d+ older calls are not in the file: the process may not write a '
                         r'longer file \(ulimit -f\)\n')

    @unittest.skipIf(EMULATED, 'the limit is also that of the emulator')
    def test_trace_when_address_space_is_small_then_says_what_to_do(self):
        limited = ['/bin/sh', '-c', 'ulimit -v 500000; exec "$@"', 'sh', KNOWN, 'print']
        answer = self.trace(*limited, status=3)
        self.assertEqual(answer.out, b'printed\n')
        self.assertIn(b'the process has no room for the mapped file (ulimit -v; --size makes it smaller)', answer.err)
        self.trace(*limited, options=['--size', '64M'], status=3)
        self.assertEqual(len(self.calls()), 1)

    def small_disk(self, size):
        """The directory of a file system of that size."""
        directory = self.directory()
        command = ['mount', '-t', 'tmpfs', '-o', f'size={size}', 'none', directory]
        if shutil.which('mount') is None \
                or subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode != 0:
            raise unittest.SkipTest('no small file system can be mounted here')
        self.addCleanup(subprocess.run, ['umount', directory], check=True)
        return directory

    @unittest.skipIf(EMULATED, 'the emulator ignores madvise()')
    def test_trace_when_threads_fill_the_disk_then_each_call_is_in_the_file_or_counted(self):
        directory = self.small_disk('2m')
        for _ in range(3):
            done = subprocess.run([os.path.join(PROGRAMS, 'threads'), LAYER, directory], check=False,
                                  env=environment(CUSHIM_DRIVER=softcuda(580)), stdout=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stdout)

    @unittest.skipIf(EMULATED, 'the emulator ignores madvise()')
    def test_trace_when_disk_is_full_then_program_continues(self):
        for keep, words in (('first', 'calls were not recorded'), ('newest', 'older calls are not in the file')):
            self.file = os.path.join(self.small_disk('512k'), 'a.trace')
            answer = self.trace(KNOWN, 'count', '100000', options=['--keep', keep])
            self.assertRegex(answer.err.decode(), rf'\n\d+ {words}: the disk is full\n')

    @unittest.skipIf(EMULATED, 'the emulator ignores madvise()')
    def test_trace_when_sandbox_refuses_room_then_only_calls_of_that_process_are_lost(self):
        answer = self.trace(KNOWN, 'sandbox', status=None)
        if answer.status == 77:
            self.skipTest('a process cannot have a filter for system calls here')
        self.assertEqual(answer.status, 0, answer.err)
        lost = re.search(r'\n(\d+) calls were not recorded: the system refused a process room in the file, '
                         r'as a sandbox can\n', self.report())
        counts = sorted(int(line.split()[1]) for line in self.report().split('\nProcesses:\n')[1].splitlines())
        self.assertEqual(counts, [5001 - int(lost[1]), 5000])

    def test_trace_when_directory_is_removed_meanwhile_then_no_file_is_named(self):
        directory = os.path.join(self.directory(), 'gone')
        os.mkdir(directory)
        self.file = os.path.join(directory, 'a.trace')
        answer = self.trace('/bin/sh', '-c', f'rm -rf {directory}; {KNOWN} print', status=3)
        self.assertIn(f'cannot write {self.file}: ', answer.err.decode())
        self.assertIn('\n1 call in ', answer.err.decode())
        self.assertNotIn('The calls are in', answer.err.decode())

    def test_trace_when_its_file_cannot_get_its_name_then_the_other_name_is_printed(self):
        requested = os.path.join(self.directory(), 'a' * 256) # a file system has names of up to 255 bytes
        self.file = requested
        lines = self.trace(KNOWN, 'print', status=3).err.decode().splitlines()
        self.assertIn(f'cushim: trace: cannot write {requested}: File name too long', lines)
        named = re.search(r'^The calls are in (\S+)\. To show', '\n'.join(lines), re.M)
        self.assertIsNotNone(named, lines)
        self.assertEqual([os.path.join(os.path.dirname(requested), name)
                          for name in os.listdir(os.path.dirname(requested))], [named[1]])
        self.assertEqual(len(self.calls(path=named[1])), 1)

    def test_trace_when_interrupted_then_program_decides(self):
        # A shell that started this in the background (&) had it ignored, and a shell cannot trap what is ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        process = subprocess.Popen([PROGRAM, 'trace', '-o', self.file, '--softcuda', '580', '--', '/bin/sh', '-c',
                                    f'trap "{KNOWN} print; exit 5" INT; echo ready; while :; do sleep 0.1; done'],
                                   env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        with process:
            self.assertEqual(process.stdout.readline(), b'ready\n')
            os.killpg(process.pid, signal.SIGINT)
            self.assertEqual(process.wait(60), 5)
        self.assertEqual(len(self.calls()), 1)


if __name__ == '__main__':
    main()
