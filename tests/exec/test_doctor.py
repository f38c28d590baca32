#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cushim doctor -- PROGRAM names why a program does not use the GPU, and changes neither its output nor its exit status."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from under_exec import CLIENT, HAS_AUDITOR, IS_FOREIGN, PROGRAM, Case, built, environment, main, run, softcuda

PATH = os.path.dirname(softcuda(580))
HERE = {'LD_LIBRARY_PATH': PATH}  # as on a machine that has this driver


NUMBA = '/usr/lib/python3/dist-packages/numba'
NO_MEMORY = '''
cuda, context, memory = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
print(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 60)))
'''


def python(code):
    return [sys.executable, '-c', 'import ctypes, os\n' + code]


def opens(*names):
    """A program that tries to open libraries, and starts the driver if it gets one."""
    return python(f'''
for name in {names!r}:
    try:
        library = ctypes.CDLL(name)
        print(library.cuInit(0) if 'cuda.so' in name else name)
    except OSError as error:
        print(error)
''')


@unittest.skipUnless(HAS_AUDITOR and not IS_FOREIGN, 'a program can be watched with glibc 2.35')
class Doctor(Case):
    def explain(self, *command, options=(), status=None, changing=rb' *[\d.]+ ms', **variables):
        """The answer as JSON, after a check that the program behaves as without doctor: it returns the same status and
        prints the same, but for what changes in each run."""
        done = subprocess.run([PROGRAM, 'doctor', '--format=json', *options, '--', *command], stdin=subprocess.DEVNULL,
                              env=environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              check=False)
        begin = done.stderr.rindex(b'\n{\n') + 1 if b'\n{\n' in done.stderr else done.stderr.index(b'{\n')
        if status is None:
            plain = subprocess.run(command, stdin=subprocess.DEVNULL, env=environment(**variables), timeout=120,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            texts = [[re.sub(changing, b'', text) for text in (one.stdout, one.stderr[:end])]
                     for one, end in ((done, begin), (plain, None))]
            self.assertEqual(texts[0], texts[1])
        self.assertEqual(done.returncode, plain.returncode if status is None else status, done.stderr)
        return json.loads(done.stderr[begin:])

    def test_program_when_it_uses_the_gpu_then_no_fault_is_claimed(self):
        for command in ([PROGRAM, 'run'], ['sh', '-c', f'true; {PROGRAM} run; exit 5']):
            answer = self.explain(*command, **HERE)
            self.assertEqual((answer['cause'], answer['uses_gpu']), ('uses-gpu', True), command)

    def test_program_when_it_does_not_use_the_gpu_then_the_first_obstacle_is_named(self):
        stubs = os.path.join(self.directory(), 'stubs')
        os.mkdir(stubs)
        shutil.copy(softcuda(470), os.path.join(stubs, 'libcuda.so'))
        for cause, command, words in (
                ('only-asked', opens('libcuda.so.1'), 'only asks'),
                ('development-name', opens('libcuda.so'), f'ln -s libcuda.so.1 {PATH}/libcuda.so'),
                ('library-out-of-path', ['env', '-u', 'LD_LIBRARY_PATH', *opens('libcuda.so.1')], f'Add {PATH} to'),
                ('companion-missing', opens('libcuda.so.1', 'libnvidia-encode.so.1'), 'libnvidia-encode1'),
                ('companion-missing', opens('libcuda.so.1', 'libnvrtc.so.99', 'libnvrtc.so.98'),
                 'libnvrtc.so.99, libnvrtc.so.98'),
                ('toolkit-library-missing', opens('libcudnn.so.99'), 'libcudnn.so.99'),
                ('by-nvml', opens('libnvidia-ml.so.99'), 'NVML'),
                ('stub', ['env', f'LD_LIBRARY_PATH={stubs}', *python('ctypes.CDLL("libcuda.so")')], 'stubs'),
                ('opened-not-started', python('ctypes.CDLL("libcuda.so.1")'), 'does not start it'),
                ('call-failed', python(NO_MEMORY), 'cuMemAlloc_v2, called by'),
                ('start-failed', python('os.environ["CUDA_VISIBLE_DEVICES"] = ""; ctypes.CDLL("libcuda.so.1").cuInit(0)'),
                 'itself sets CUDA_VISIBLE_DEVICES=""'),
                ('never-looked', ['sh', '-c', 'true; exit 3'], 'sh did not look')):
            answer = self.explain(*command, **HERE)
            self.assertEqual((answer['cause'], answer['uses_gpu']), (cause, False), answer)
            self.assertIn(words, answer['message'] + answer['advice'])
            self.assertIn(answer['machine'][0]['verdict'], ('ok', 'note'))

    def test_program_of_debian_when_it_does_not_use_the_gpu_then_the_first_obstacle_is_named(self):
        encode = 'ffmpeg -v error -f lavfi -i testsrc=d=0.1 -f null -c:v'.split()
        numba = ['/usr/bin/python3', '-c', 'from numba import cuda; print(cuda.is_available())']
        has_driver = run('probe', '--format=json').json['reason'] != 'not-found'
        count = 0
        for command, without, on_softcuda in (
                ([*encode, 'h264_nvenc', '-'], 'no-driver-library', 'companion-missing'),
                ([*encode, 'libx264', '-'], 'able-but-not-asked', 'able-but-not-asked'),
                (['hashcat', '-I'], 'no-driver-library', 'only-asked'),
                (numba, 'no-driver-library', 'only-asked'),
                (['blender', '-b', '--version'], 'able-but-not-asked', 'able-but-not-asked'),
                (['clinfo', '-l'], 'never-looked', 'never-looked')):
            if shutil.which(command[0]) is None or (command is numba and not os.path.exists(NUMBA)):
                continue
            for cause, variables in ((without, {}), (on_softcuda, HERE)):
                if not has_driver or variables:
                    answer = self.explain(*command, changing=rb'0x[0-9a-f]+|\d+', **variables)
                    self.assertEqual(answer['cause'], cause, (command, answer))
                    count += 1
        if count == 0:
            self.skipTest('none of the programs is installed')

    def test_machine_when_it_has_no_driver_then_its_problem_is_named(self):
        for command, cause in ((opens('libcuda.so.1'), 'no-driver-library'), ([built('linked')], 'did-not-start')):
            if run('probe', '--format=json').json['reason'] != 'not-found':
                self.skipTest('this machine has a driver')
            answer = self.explain(*command)
            self.assertEqual(answer['cause'], cause)
            self.assertIn('libcuda.so.1', answer['message'])
            self.assertIn(answer['machine'][0]['message'], answer['message'])

    def test_program_when_it_cannot_be_seen_then_says_so(self):
        if not os.path.exists(built('static')):
            self.skipTest('the static C library is not installed')
        self.assertEqual(self.explain(built('static'), **HERE)['cause'], 'unseen')

    def test_answer_when_it_is_text_then_has_80_columns_and_trace_without_calls_has_it_too(self):
        file = os.path.join(self.directory(), 'a.trace')
        answers = [run(*command, '--', *opens('libcuda.so'), **HERE).err.decode()
                   for command in (['doctor'], ['trace', '-o', file])]
        for line in answers[0].splitlines():
            self.assertTrue(len(line) <= 80 or ' ' not in line.strip(), line)
        for answer in answers:
            self.assertIn('looks only for libcuda.so', answer)

    def test_check_when_the_program_does_not_use_the_gpu_then_the_status_is_1(self):
        self.explain(PROGRAM, 'run', options=['--check'], status=0, **HERE)
        self.explain('true', options=['--check'], status=1, **HERE)

    def test_command_line_when_invalid_then_refused(self):
        for arguments in (['--check'], ['--watch', '--', 'true']):
            self.assertEqual(run('doctor', *arguments).status, 2)
        self.assertEqual(run('doctor', '--', '/nowhere/at/all').status, 127)


if __name__ == '__main__':
    main()
