#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tracing does not end, block or mislead anybody, whatever happens to the file and to the processes."""
import glob
import os
import re
import signal
import subprocess
import time

from traced import KNOWN, LAYER, PROGRAM, PROGRAMS, Traced, environment, main, run, softcuda

SIGNAL_AT_FORK = os.path.join(PROGRAMS, 'signal_at_fork.so')


class Harmless(Traced):
    def start(self, *command, options=(), variables=(), **settings):
        """Starts a command under trace, into self.file."""
        return subprocess.Popen([PROGRAM, 'trace', '-o', self.file, '--softcuda', '580', *options, '--', *command],
                                env=environment(**dict(variables)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **settings)

    def end(self, process, status=0):
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, err)
        return out.decode(), err.decode()

    def hidden(self):
        return glob.glob(os.path.join(os.path.dirname(self.file), '.a.trace.*'))

    def count(self, path):
        return len(self.calls(path=path))

    # ---- the file ----

    def test_trace_when_two_use_one_name_then_both_have_a_file(self):
        script = f'{KNOWN} count 3; echo ready; read line; {KNOWN} count "$1"'
        first, second = (self.start('/bin/sh', '-c', script, 'sh', number) for number in ('2', '5'))
        for process in first, second:
            self.assertEqual(process.stdout.readline(), b'ready\n')
        self.assertEqual(self.end(second)[0], '')
        err = self.end(first)[1]
        self.assertIn(f'another file was written to {self.file} meanwhile; the trace is {self.file}.2', err)
        self.assertEqual((self.count(self.file), self.count(self.file + '.2')), (8, 5))
        self.assertEqual(self.hidden(), [])

    def test_trace_when_a_child_of_the_last_one_still_runs_then_it_survives(self):
        child = self.start(KNOWN, 'leave')
        child.wait(60)
        self.trace(KNOWN, 'count', '7')
        child.stdin.close()
        self.assertEqual(child.stdout.read(), b'survived\n')
        child.stdout.close()
        child.stderr.close()
        self.assertEqual(self.count(self.file), 7)

    def test_report_when_a_child_outlived_the_program_then_its_calls_are_counted_as_such(self):
        child = self.start(KNOWN, 'leave')
        child.wait(60)
        child.stdin.close()
        self.assertEqual(child.stdout.read(), b'survived\n')
        child.stdout.close()
        child.stderr.close()
        report = self.report()
        self.assertRegex(report,
                         r'\n\d+ calls of processes that outlived the program were not recorded: it had ended\n')
        self.assertNotIn('--size', report)

    def test_trace_when_program_does_not_start_then_the_last_file_stays(self):
        self.trace(KNOWN, 'count', '7')
        for command, status in (['/nowhere/program'], 127), ([self.file], 126):
            answer = self.trace(*command, status=status)
            self.assertEqual(answer.out, b'')
            self.assertIn(b'cannot run', answer.err)
        self.trace(KNOWN, 'count', '1', options=['--layer', '/nowhere/layer.so'], status=2)
        self.assertEqual((self.count(self.file), self.hidden()), (7, []))

    def test_trace_when_program_uses_the_name_then_both_are_kept(self):
        self.trace(KNOWN, 'count', '7')
        script = f'{KNOWN} count 2; rm -f "$1"; echo mine > "$1"; {KNOWN} count 3'
        self.trace('/bin/sh', '-c', script, 'sh', self.file)
        self.assertEqual(self.read(), b'mine\n')
        self.assertEqual((self.count(self.file + '.2'), self.hidden()), (5, []))

    def test_trace_when_program_moves_removes_or_replaces_the_file_then_has_all_calls(self):
        for change in 'mv "$1" "$1.moved"', 'rm "$1"', 'rm "$1"; echo mine > "$1"':
            with self.subTest(change):
                script = f'{KNOWN} count 2; set -- "$(dirname "$1")"/.a.trace.*; {change}; {KNOWN} count 3'
                answer = self.trace('/bin/sh', '-c', script, 'sh', self.file)
                self.assertEqual(self.count(self.file), 5, answer.err)
                for path in self.hidden():
                    os.remove(path)

    def test_trace_when_name_is_a_link_then_its_file_is_replaced(self):
        target = os.path.join(self.directory(), 'target')
        with open(target, 'wb'):
            pass
        os.symlink(target, self.file)
        self.trace(KNOWN, 'count', '7')
        self.assertEqual((self.count(target), os.path.islink(self.file)), (7, True))

    def test_trace_when_standard_descriptors_are_closed_then_nothing_is_written_into_the_file(self):
        for closed in '>&-', '2>&-', '<&- >&- 2>&-':
            with self.subTest(closed):
                self.trace(KNOWN, 'print', before=['/bin/sh', '-c', f'exec "$@" {closed}', 'sh'], status=3)
                self.assertEqual(self.count(self.file), 1)

    def test_trace_when_file_is_a_device_then_refused(self):
        self.file = '/dev/null'
        answer = self.trace(KNOWN, 'count', '7', status=1)
        self.assertIn(b'cannot write /dev/null: this is not a regular file', answer.err)

    def test_trace_when_under_trace_then_refused_before_anything_is_touched(self):
        inner = [PROGRAM, 'trace', '-o', self.file, '--softcuda', '580', '--', KNOWN, 'count', '7']
        answer = self.trace('/bin/sh', '-c', 'file=$1; shift; echo mine > "$file"; "$@"; echo "$?"', 'sh', self.file,
                            *inner)
        self.assertEqual(answer.out, b'2\n')
        self.assertIn(b'already runs under cushim trace', answer.err)
        self.assertEqual(self.read(), b'mine\n')

    def test_variable_when_trace_has_ended_then_calls_are_added(self):
        self.trace(KNOWN, 'count', '7')
        for calls in 7, 7:
            answer = run('run', '--driver', softcuda(580), CUSHIM_LAYERS=LAYER, CUSHIM_TRACE=self.file)
            self.assertEqual((answer.status, answer.err), (0, b''))
            self.assertGreater(self.count(self.file), calls + 100)

    # ---- reports ----

    def test_report_when_file_is_written_meanwhile_then_does_not_crash(self):
        process = self.start(KNOWN, 'mix', '3000000', options=['--size', '1M'])
        reports, deadline = 0, time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            for path in self.hidden():
                for options in ([], ['--calls'], ['--format=json']):
                    answer = run('trace', 'report', path, *options)
                    missing = b'No such file' in answer.err or b'not a trace' in answer.err
                    self.assertIn(answer.status, (1,) if missing else (0,), answer.err)
                    reports += not missing
        self.end(process)
        self.assertGreater(reports, 3)

    def test_report_when_command_is_not_terminated_then_is_cut(self):
        self.trace(KNOWN, 'count', '7')
        with open(self.file, 'r+b') as file:
            head = file.read(4096)
            place = head.index(KNOWN.encode())
            file.seek(place)
            file.write(b'x' * (4096 - place - 64))
        for options in ([], ['--format=json'], ['--format=html']):
            answer = run('trace', 'report', self.file, *options)
            self.assertIn(answer.status, (0, 1))
            if answer.status == 0:
                self.assertRegex(answer.out, rb'x{1023}(?!x)')

    # ---- the processes ----

    def signal(self, number, to_group):
        """Sends a signal to the command alone or to its process group. Returns how often the program got it."""
        # The script waits for the signal, and a little longer for a second one.
        script = ('trap "echo got; got=1" %s; echo ready; until [ "$got" ]; do sleep 0.05; done; sleep 0.2; %s print'
                  % (number.name[3:], KNOWN))
        process = self.start('/bin/sh', '-c', script, start_new_session=True)
        self.assertEqual(process.stdout.readline(), b'ready\n')
        (os.killpg if to_group else os.kill)(process.pid, number)
        out, err = self.end(process, 3)
        self.assertIn('1 call in ', err)
        self.assertEqual(self.count(self.file), 1)
        return out.count('got\n')

    def test_trace_when_signalled_alone_then_program_gets_it_and_summary_is_written(self):
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1:
            signal.signal(number, signal.SIG_DFL)
            self.assertEqual(self.signal(number, False), 1, number)

    def test_trace_when_group_is_signalled_then_program_gets_it_once(self):
        for number in signal.SIGTERM, signal.SIGINT:
            signal.signal(number, signal.SIG_DFL)
            self.assertEqual(self.signal(number, True), 1, number)

    def test_trace_when_group_is_signalled_while_program_starts_then_program_gets_it_once(self):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]) # the program is not ended by it
        self.addCleanup(signal.pthread_sigmask, signal.SIG_SETMASK, before)
        for child in '1', '2':
            variables = {'LD_PRELOAD': SIGNAL_AT_FORK, 'SIGNAL_AT_FORK': child}
            process = self.start(KNOWN, 'count-signals', variables=variables, start_new_session=True)
            self.assertEqual(self.end(process)[0], '1\n', f'after child {child}')

    def test_trace_when_signal_ends_program_then_ends_so_too(self):
        process = self.start('/bin/sh', '-c', f'{KNOWN} count 7; echo ready; exec sleep 60')
        self.assertEqual(process.stdout.readline(), b'ready\n')
        process.terminate()
        self.assertIn('7 calls in ', self.end(process, -signal.SIGTERM)[1])

    def test_thread_when_cancelled_in_its_first_call_then_others_continue(self):
        for _ in range(20):
            self.trace(KNOWN, 'cancel')
            self.assertIn(len(self.calls()), (2, 3))

    def test_handler_when_it_calls_the_driver_then_its_calls_are_recorded_or_counted(self):
        answer = self.trace(KNOWN, 'signals')
        calls, handled = map(int, answer.out.split())
        report = self.report()
        lost = re.search(r'\n(\d+) calls of signal handlers were not recorded', report)
        names = [call.split('(')[0] for _, _, call in self.calls()]
        self.assertEqual(names.count('cuModuleGetFunction'), calls - 1)
        self.assertEqual(len(names) + (int(lost[1]) if lost else 0), calls + handled)
        self.assertNotIn('damaged', report)
        self.assertFalse([call for _, _, call in self.calls() if 'did not return' in call])

    def test_program_when_it_becomes_itself_again_then_the_newest_calls_are_kept(self):
        self.trace(KNOWN, 'again', '40', options=['--size', '512K'])
        report = self.report()
        self.assertNotIn('were not recorded', report)
        self.assertIn(f' 1000 calls  {KNOWN} again 1\n', report)


if __name__ == '__main__':
    main()
