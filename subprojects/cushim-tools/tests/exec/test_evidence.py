#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cushim doctor -- PROGRAM says only what was seen: that something was not seen counts if the record is whole."""
import os
import shutil
import subprocess
import unittest

from explained import HERE, Explained
from under_exec import PROGRAM, built, environment, main, run

STEPS = built('steps')
SETPRIV = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
IS_ROOT = os.geteuid() == 0
CAN_MOUNT = IS_ROOT and subprocess.run(['unshare', '-m', 'true'], check=False, stderr=subprocess.DEVNULL).returncode == 0


class Evidence(Explained):
    def cause(self, *command, **variables):
        """The cause and the first line of the answer."""
        answer = self.explain(*command, **{**HERE, **variables})
        return answer['cause'], answer['message']

    @unittest.skipUnless(IS_ROOT, 'only root can give up rights, or change the root directory')
    def test_process_when_it_loses_rights_or_root_then_its_record_is_not_whole(self):
        os.chmod(self.directory(), 0o755)
        commands = [([STEPS, 'rights', 'open', 'init'], 'steps was not seen to its end: it gave up its rights.'),
                    ([STEPS, f'root={self.directory()}', 'open'], 'it changed its root directory'),
                    (['sh', '-c', f'{STEPS} rights open; true'], 'it gave up its rights.')]
        if shutil.which('setpriv'):
            commands += [([*SETPRIV, 'true'], 'true (process '), (['sh', '-c', ' '.join(SETPRIV) + ' true; exit 4'], 'gave up its rights.')]
        if shutil.which('runuser'):
            commands += [(['runuser', '-u', 'nobody', '--', 'true'], 'true (process ')]
        for command, words in commands:
            cause, message = self.cause(*command)
            self.assertEqual(cause, 'not-seen', message)
            self.assertIn(words, message)

    def test_process_when_its_variables_are_gone_then_its_record_is_not_whole(self):
        for command in (['env', '-i', STEPS], ['sh', '-c', f'env -i {STEPS}; exit 2'], ['sh', '-c', f'exec env -i {STEPS}']):
            cause, message = self.cause(*command)
            self.assertEqual(cause, 'not-seen', message)
            self.assertIn('it became another program', message)

    def test_process_when_its_calls_have_no_room_then_the_result_of_cuinit_is_known(self):
        self.assertIn('cuInit returns', self.cause(STEPS, 'memory', 'open', 'init', SOFTCUDA_FAIL='cuInit=100')[1])
        cause, message = self.cause(STEPS, 'memory', 'open', 'init')
        self.assertEqual(cause, 'not-seen')
        self.assertIn('it made driver calls, which could not be recorded', message)

    def test_program_when_it_leaves_a_process_then_the_record_is_not_whole(self):
        cause, message = self.cause('sh', '-c', 'sleep 2 >/dev/null 2>&1 & exit 3')
        self.assertEqual(cause, 'not-seen', message)
        self.assertIn('it left a process that still runs', message)

    @unittest.skipUnless(CAN_MOUNT, 'this process cannot mount a small file system')
    def test_process_when_tmpdir_is_full_then_the_answer_is_as_with_room(self):
        mount = f'mount -t tmpfs -o size=4k none {self.directory()} && TMPDIR={self.directory()} exec "$@"'
        done = subprocess.run(['unshare', '-m', 'sh', '-c', mount, 'sh', PROGRAM, 'doctor', '--', STEPS, 'open', 'init'],
                              env=environment(**HERE), capture_output=True, check=False)
        self.assertIn(b'steps starts the driver, but makes no context in this run.', done.stderr)

    def test_program_when_its_record_is_whole_then_it_did_not_look(self):
        for command in (['true'], ['sh', '-c', 'exit 3'], ['sh', '-c', 'sh -c "exit 3"; exit 4'], ['env', 'A=1', 'true'],
                        ['sh', '-c', 'kill -SEGV $$']):
            self.assertEqual(self.cause(*command)[0], 'never-looked', command)

    def test_program_when_it_ends_badly_then_the_first_sentence_has_it(self):
        for words, cause, message in (
                ('open init crash', 'ended-by-signal', 'steps is ended by SIGSEGV, after it starts the driver.'),
                ('open crash', 'ended-by-signal', 'steps is ended by SIGSEGV, after it opens the driver library.'),
                ('open init context copy crash', 'ended-by-signal', 'steps is ended by SIGSEGV, after 0 launches and 1 copy.'),
                ('open init context copy 3', 'uses-gpu', 'steps uses the GPU: 0 launches and 1 copy in this run, and ends with status 3.'),
                ('open init context copy', 'uses-gpu', 'steps uses the GPU: 0 launches and 1 copy in this run.'),
                ('open init context copy lookup 1', 'uses-gpu',
                 'steps uses the GPU, until cuModuleGetFunction returns CUDA_ERROR_NOT_FOUND, and ends with status 1.'),
                ('open init context lookup copy 1', 'uses-gpu', 'steps uses the GPU: 0 launches and 1 copy in this run, and ends '
                 'with status 1 after cuModuleGetFunction returned CUDA_ERROR_NOT_FOUND.'),
                ('open init 4', 'only-asked', 'steps starts the driver, but makes no context in this run, and ends with status 4.'),
                ('load=libcuda.so.99 crash', 'library-out-of-path', 'although this machine has it, and is ended by SIGSEGV.'),
                ('crash', 'able-but-not-asked', 'although it can use it, and is ended by SIGSEGV.')):
            answer = self.explain(STEPS, *words.split(), SOFTCUDA_FAIL='cuModuleGetFunction=500', **HERE)
            self.assertEqual(answer['cause'], cause, words)
            self.assertTrue(answer['message'].endswith(message), answer['message'])
            self.assertEqual(answer['uses_gpu'], 'copy' in words)
        for command, message in ((['sh', '-c', f'{STEPS} open init context copy; exit 5'], '; sh ends with status 5.'),
                                 (['env', 'A=1', STEPS, 'open', 'init', 'crash'], 'steps is ended by SIGSEGV')):
            self.assertIn(message, self.cause(*command)[1])

    def test_trace_when_no_call_was_recorded_then_says_so(self):
        err = run('trace', '-o', os.path.join(self.directory(), 'a.trace'), '--', 'env', '-i', STEPS, **HERE).err.decode()
        self.assertIn('\nNo call was recorded.\n', err)
        self.assertIn('env was not seen to its end', err)


if __name__ == '__main__':
    main()
