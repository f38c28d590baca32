#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls that did not return: why they wait, and for which work; also of a program that still runs."""
import contextlib
import glob
import os
import pathlib
import re
import signal
import subprocess
import time

from traced import FINDINGS, PROGRAM, Traced, environment, main, run

RETURNED = 1 << 45
HOST_FUNCTION = '. A host function must not wait for a thread that waits for it, nor call the driver'
PENDING = ', and no wait for this work has succeeded: '


class Hangs(Traced):
    def stop(self, first):
        """Makes a file in which no call from one of this function on returned."""
        lines = [call for _, _, call in self.calls()]
        index = max(at for at, call in enumerate(lines) if call.startswith(first + '('))

        def change(number, words):
            if number >= index:
                words[0] &= ~RETURNED
        self.change(change)

    def hangs(self):
        """{function: sentence} of the calls that did not return."""
        return {text.split(' ', 1)[0]: text.split(' ', 1)[1]
                for _, _, _, text in self.findings().get('Calls that did not return', [])}

    def test_hang_when_work_is_pending_then_each_call_has_its_reason(self):
        self.trace(FINDINGS, 'leave-work', status=-signal.SIGKILL)
        self.assertEqual(self.hangs(), {})
        self.stop('cuEventSynchronize')
        host, memset = 'cuLaunchHostFunc in stream 2', 'cuMemsetD8Async in stream 1'
        both = f'{memset}, {host}{HOST_FUNCTION}'
        self.assertEqual(self.hangs(), {
            'cuEventSynchronize': 'did not return: it waits for the work behind which its event was recorded' + PENDING
                                  + host + HOST_FUNCTION,
            'cuStreamSynchronize': 'did not return: it waits for the work of its stream' + PENDING + both,
            'cuModuleLoadData': 'did not return: loading a module waits for all work of the context' + PENDING + both,
            'cuMemFree_v2': 'did not return: freeing memory waits for all work of the context' + PENDING + both,
            'cuMemAlloc_v2': 'did not return',
            'cuCtxSynchronize': 'did not return: it waits for all work of the context' + PENDING + both})
        text = self.report('--findings')
        self.assertEqual(text.splitlines()[1:2], ['Calls that did not return:'])
        self.assertNotIn('did not return', text.partition('The longest waits')[2])

    def test_hang_when_much_work_is_pending_elsewhere_then_only_its_own_is_named(self):
        self.trace(FINDINGS, 'leave-much-work', status=-signal.SIGKILL)
        self.stop('cuStreamSynchronize')
        hangs = self.hangs()
        self.assertEqual(hangs['cuStreamSynchronize'],
                         'did not return: it waits for the work of its stream' + PENDING + 'cuMemsetD16Async in stream 1')
        self.assertRegex(hangs['cuCtxSynchronize'], r'cuMemsetD8Async in stream 2 \(\d+ times\), and earlier work$')

    def test_hang_when_waits_have_succeeded_then_their_work_is_not_named(self):
        self.trace(FINDINGS, 'leave-work', status=-signal.SIGKILL)
        self.stop('cuModuleLoadData')
        self.assertEqual(self.hangs()['cuModuleLoadData'],
                         'did not return: loading a module waits for all work of the context')

    def test_hang_when_file_lacks_calls_then_does_not_say_that_no_wait_has_succeeded(self):
        self.trace(FINDINGS, 'leave-work', status=-signal.SIGKILL)
        self.stop('cuEventSynchronize')
        self.lose_call()
        self.assertEqual(self.hangs()['cuCtxSynchronize'],
                         'did not return: it waits for all work of the context, and the file, which lacks calls, has '
                         'no wait for this work that succeeded: cuMemsetD8Async in stream 1, cuLaunchHostFunc in '
                         'stream 2' + HOST_FUNCTION)

    def test_hang_when_process_has_called_exit_then_is_none(self):
        self.trace(FINDINGS, 'exit-with-work')
        self.stop('cuModuleLoadData')
        self.assertIn('did not return', self.report('--calls'))
        self.assertEqual(self.hangs(), {})

    def test_hang_when_program_still_runs_then_report_finds_its_recording(self):
        with subprocess.Popen([PROGRAM, 'trace', '-o', self.file, '--softcuda', '580', '--', FINDINGS, 'block'],
                              env=environment(), stderr=subprocess.DEVNULL) as program:
            try:
                end = time.monotonic() + 60
                while True:
                    answer = run('trace', 'report', self.file, '--findings')
                    if b'has not returned for ' in answer.out or time.monotonic() > end:
                        break
                    time.sleep(0.2)
            finally:
                parts = pathlib.Path(f'/proc/{program.pid}/task/{program.pid}/children').read_text(encoding='ascii')
                for child in parts.split():
                    with contextlib.suppress(FileNotFoundError, ProcessLookupError): # a child that has ended
                        if FINDINGS in pathlib.Path(f'/proc/{child}/cmdline').read_text(encoding='utf-8').split('\0'):
                            os.kill(int(child), signal.SIGKILL)
        text = answer.out.decode()
        self.assertRegex(text, r'cuStreamSynchronize has not returned for [\d.]+ s: it waits for the work of its stream'
                         + re.escape(PENDING + 'cuLaunchHostFunc in stream 1' + HOST_FUNCTION))
        self.assertRegex(answer.err.decode(), r'^cushim: trace: the program has not ended: .*/\.a\.trace\.\w{6}\n$')
        self.assertEqual(glob.glob(os.path.join(os.path.dirname(self.file), '.a.trace.*')), [])
        self.assertEqual(self.hangs()['cuStreamSynchronize'],
                         'did not return: it waits for the work of its stream' + PENDING
                         + 'cuLaunchHostFunc in stream 1' + HOST_FUNCTION)


if __name__ == '__main__':
    main()
