#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe --wait: a driver or a device that appears later is found, and a failure that cannot pass ends the wait."""

import os
import shutil
import threading
import time

from program import UNUSABLE, USABLE, USAGE, Case, fake, main, run, run_json

LONG = '--wait=100'  # a test that waits this long fails


class Wait(Case):
    def setUp(self):
        self.path = self.directory() + '/libcuda.so.1'
        self.start = time.monotonic()

    def seconds(self):
        return time.monotonic() - self.start

    def later(self, function, *arguments):
        timer = threading.Timer(1.5, function, arguments)
        timer.start()
        self.addCleanup(timer.join)

    def appear(self):
        shutil.copy(fake('driver_12_4'), self.path + '.new')
        os.rename(self.path + '.new', self.path)

    def assert_found_late(self, answer):
        self.assertEqual((answer.status, answer.err, answer.document['reason']), (USABLE, b'', 'none'))
        self.assertGreater(self.seconds(), 1.4)
        self.assertLess(self.seconds(), 60)

    def test_wait_when_the_driver_appears_late_then_it_is_found(self):
        self.later(self.appear)
        self.assert_found_late(run_json('probe', LONG, '--driver', self.path))

    def test_wait_when_a_damaged_driver_is_replaced_then_it_is_found(self):
        with open(fake('driver_12_4'), 'rb') as whole, open(self.path, 'wb') as file:
            file.write(whole.read(8192))
        self.later(self.appear)
        directory = os.path.dirname(self.path)
        # AddressSanitizer would report the signal in the child that opens the damaged file.
        self.assert_found_late(run_json('probe', LONG, LD_LIBRARY_PATH=directory, ASAN_OPTIONS='handle_sigbus=0'))

    def test_wait_when_the_device_appears_late_then_it_is_found(self):
        node = self.path + '.node'
        self.later(lambda: open(node, 'wb').close())
        answer = run_json('probe', '--devices', LONG, '--driver', fake('driver_12_4'), FAKE_NODE=node)
        self.assert_found_late(answer)
        self.assertEqual(len(answer.document['devices']), 1)

    def test_wait_when_the_time_is_over_then_reports_the_last_failure(self):
        for arguments, reason, variables in (([], 'no-such-file', {'CUSHIM_DRIVER': self.path}),
                                             (['--devices', '--driver', fake('driver_12_4')], 'no-device', {'FAKE_GPUS': '0'}),
                                             (['--require=12.5', '--driver', fake('driver_12_4')], 'too-old', {})):
            self.start = time.monotonic()
            answer = run_json('probe', '--wait', '1', *arguments, **variables)
            self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, reason))
            self.assertGreaterEqual(self.seconds(), 1)
            self.assertLess(self.seconds(), 60)

    def test_wait_when_a_later_probe_cannot_differ_then_returns(self):
        for arguments, variables, reason in (([], {'CUSHIM_DRIVER': 'none'}, 'not-wanted'),
                                             ([], {'CUSHIM_MAX_VERSION': 'x'}, 'bad-option'),
                                             (['--driver', fake('driver_12_4')], {}, 'none'),
                                             (['--driver', self.path, '--wait=0'], {}, 'no-such-file')):
            answer = run_json('probe', LONG, *arguments, **variables)
            self.assertEqual((answer.status != USABLE, answer.document['reason']), (reason != 'none', reason))
        answer = run('probe', LONG, '--hide=cuNoSuch')
        self.assertEqual((answer.status, answer.out, answer.err.count(b'cuNoSuch')), (USAGE, b'', 1))
        self.assertLess(self.seconds(), 60)


if __name__ == '__main__':
    main()
