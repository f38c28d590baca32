#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A driver that ends its process, does not return, or leaves something behind, on a machine that is changed.

  test_misbehaving.py PROGRAM FAKES START_DRIVER
"""

import concurrent.futures
import json
import os
import signal
import socket
import subprocess

from on_machine import IS_MUSL, START_DRIVER, Machine
from program import PROGRAM, environment, findings, for_each, main


class Misbehaving(Machine):
    def test_driver_when_it_crashes_a_static_program_then_the_link_is_named(self):
        static = os.path.join(os.path.dirname(START_DRIVER), 'cushim_static')
        if IS_MUSL or not os.path.exists(static):
            self.skipTest('a static program cannot be linked, or cannot open a library')
        loader = subprocess.run(['readelf', '-p', '.interp', PROGRAM], stdout=subprocess.PIPE, check=True).stdout
        for program, cause in ([static], 'static_program'), ([loader.split()[-1].decode(), PROGRAM], 'crash'):
            done = subprocess.run([*program, 'doctor', '--format=json', '--driver', START_DRIVER], check=False,
                                  stdout=subprocess.PIPE, env=environment(FAKE_CRASH='cuInit'))
            first = findings(json.loads(done.stdout))[0]
            self.assertEqual((first['cause'], 'LD_PRELOAD' in first['advice']), (cause, cause == 'crash'))

    def test_driver_when_it_is_killed_then_the_limit_of_time_is_not_taken_for_memory(self):
        for faults, code, cause in ((['cpu=100'], signal.SIGKILL, 'killed_for_time'),
                                    (['none'], signal.SIGKILL, 'killed_for_memory'),
                                    (['signals=ignored'], signal.SIGKILL, 'killed_for_memory'),
                                    (['seccomp=socket:kill'], signal.SIGABRT, 'killed_by_seccomp')):
            crash = {} if faults[0].startswith('seccomp') else {'FAKE_CRASH': 'cuInit'}
            answer = self.examine(*faults, options=[] if crash else ['--watch'], FAKE_BUSY='1',
                                  FAKE_SIGNAL=str(int(code)), **crash)
            self.assertEqual(answer.document[0]['cause'], cause)
            self.assertNotIn('does not return', ' '.join(row['text'] for row in answer.document))
        self.assertIn('SIGSYS, after the system call socket. Tried alone, the system call socket ends',
                      answer.document[0]['text'])

    def test_driver_when_it_ends_the_process_then_each_place_is_named(self):
        for place, call in (('cuInit', 'cuInit'), ('cuCtxCreate', 'cuCtxCreate'), ('cuCtxDestroy', 'cuCtxDestroy')):
            for how in ('FAKE_CRASH', 'FAKE_EXIT'):
                first = self.examine('none', **{how: place}).document[0]
                self.assertEqual((first['cause'], first['text'].split()[0]), ('crash', call))

    def test_driver_when_it_crashes_after_a_refusal_then_the_refusal_is_named(self):
        for options in ((), ('--watch',)):
            first = self.examine('open=/dev/nvidia0:13', options=options, FAKE_CRASH='cuInit').document[0]
            self.assertEqual(first['cause'], 'crash')
            self.assertIn('opening /dev/nvidia0 fails (EACCES', first['text'])

    def test_driver_when_it_writes_to_stdout_then_the_document_is_valid(self):
        for options in ((), ('--watch',)):
            answer = self.examine('none', options=options, FAKE_LINES='20000')
            self.assertEqual((answer.status, b'wrote:' in answer.out), (0, bool(options)))
        answer = self.examine('none', FAKE_LINES='2', FAKE_CODE='999')
        self.assertIn('wrote: 2 more lines of the driver;1 more', ' '.join(row['text'] for row in answer.document))

    def daemon(self, status, **variables):
        path = self.directory() + '/daemon'
        try:
            self.assertEqual(self.examine('none', FAKE_DAEMON=path, **variables).status, status)
        finally:
            with open(path, encoding='utf-8') as file:
                for number in file.read().split():  # one of each start
                    os.kill(int(number), signal.SIGKILL)

    def load_hangs_with_signals_blocked(self):
        first = self.examine('none', options=['--timeout=12'], FAKE_HANG='load').document[0]
        self.assertEqual((first['check'], first['verdict']), ('library', 'problem'))
        self.assertIn('takes over 12 s', first['text'])
        self.assertIn('--timeout', first['advice'])

    def failure_before(self, how):
        first = self.examine('open=/dev/nvidia-uvm$:5', **{how: 'again'}).document[0]
        self.assertIn('/dev/nvidia-uvm fails (EIO', first['text'])

    def hang_in_a_call(self):
        first = self.examine('none', FAKE_HANG='cuCtxCreate').document[0]
        if os.access('/proc/self/syscall', os.R_OK):
            self.assertIn('the system call read of pipe:', first['text'])

    def hang_where_proc_is_of_other_processes(self):
        first = self.examine('unshare=pid', FAKE_HANG='cuInit').document[0]
        self.assertEqual(first['cause'], 'hang')
        self.assertIn('/proc does not show', first['text'])

    def long_start(self, *options):
        answer = self.examine('none', options=['--timeout=6', *options], FAKE_HANG='cuInit')
        self.assertEqual(answer.document[0]['cause'], 'hang')
        self.assertIn(b'still starting; waiting for at most 6 seconds', answer.err)

    def hang_beside_mps(self):
        self.assertEqual(self.examine('mps=silent', FAKE_HANG='cuInit').document[0]['cause'], 'hang')

    def hang_in_another_socket(self):
        """The process waits for a message, and nothing listens on the control socket of MPS any more."""
        directory = self.directory()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, \
                concurrent.futures.ThreadPoolExecutor(1) as pool:
            listener.bind(directory + '/control')
            listener.listen()
            accepted = pool.submit(listener.accept)
            pool.submit(listener.close)
            self.assertEqual(self.examine('CUDA_MPS_PIPE_DIRECTORY=' + directory).document[0]['cause'], 'hang')
            accepted.result()[0].close()

    def hang_with_a_full_queue(self):
        """The driver fills it, so that nothing else can connect."""
        directory = self.directory()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(directory + '/control')
            listener.listen(0)
            self.assertEqual(self.examine('CUDA_MPS_PIPE_DIRECTORY=' + directory).document[0]['cause'], 'mps_silent')

    def short_start(self):
        self.assertEqual(self.examine('none', FAKE_HANG='cuInit').err, b'')

    def test_driver_when_it_hangs_crashes_or_leaves_a_process_then_the_reason_leads_and_the_output_ends(self):
        for_each(lambda check: check(), (
            self.load_hangs_with_signals_blocked, self.long_start, lambda: self.long_start('--watch'),
            self.short_start, self.hang_beside_mps, self.hang_in_another_socket, self.hang_with_a_full_queue,
            self.hang_in_a_call,
            self.hang_where_proc_is_of_other_processes,
            lambda: self.failure_before('FAKE_CRASH'), lambda: self.failure_before('FAKE_HANG'),
            lambda: self.daemon(0), lambda: self.daemon(1, FAKE_HANG='cuCtxCreate')))


if __name__ == '__main__':
    main()
