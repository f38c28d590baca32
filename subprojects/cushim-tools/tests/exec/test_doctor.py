#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cushim doctor -- PROGRAM names why a program does not use the GPU, and changes neither its output nor its exit status."""
import os
import shutil
import signal
import struct
import subprocess
import sys
import unittest

from explained import HERE, PATH, Explained
from under_exec import PROGRAM, built, main, nobody_can_run, run, softcuda


# A context is current in `cuda`, and memory() allocates.
CONTEXT = '''
cuda, context, address = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
memory = lambda size: cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
'''
# The text of the error is the driver's own, as without doctor.
HIDES = '''
os.environ['CUDA_VISIBLE_DEVICES'] = ''
cuda, text = ctypes.CDLL('libcuda.so.1'), ctypes.c_char_p()
print(cuda.cuGetErrorString(cuda.cuInit(0), ctypes.byref(text)), text.value)
'''
TOO_MUCH = 'print(memory(1 << 60))\n'
WORK = 'print(memory(4), cuda.cuMemsetD8_v2(address, 0, 4))\n'


def loads(image, function='cuModuleLoadData'):
    """A program that copies, and then loads this device code."""
    return python(CONTEXT + WORK + f'print(cuda.{function}(ctypes.byref(context), {image!r}, 0, None, None))')


def cubin(abi, flags):
    """The header of an ELF file for a GPU."""
    return b'\x7fELF\x02\x01\x01\x33' + bytes([abi]) + bytes(39) + struct.pack('<I', flags) + bytes(12)


def fat_binary(*codes):
    """Of (kind, architecture, version of PTX): 1 is PTX, 2 is a cubin."""
    entries = b''.join(struct.pack('<HHIQIIHHIIIQ', kind, 0, 48, 8, 0, 0, minor, major, arch, 0, 0, 0) + bytes(8)
                       for kind, arch, major, minor in codes)
    return struct.pack('<IHHQ', 0xba55ed50, 1, 16, len(entries)) + entries


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


class Doctor(Explained):
    def test_program_when_it_uses_the_gpu_then_no_fault_is_claimed(self):
        for command, words in (([PROGRAM, 'run'], 'launches'), (['sh', '-c', f'true; {PROGRAM} run; exit 5'], 'launches'),
                               (python(CONTEXT + TOO_MUCH + WORK), '0 launches and 1 copy'),
                               (python(CONTEXT + WORK + TOO_MUCH + WORK), '0 launches and 2 copies'),
                               (python(CONTEXT + WORK + TOO_MUCH), 'until cuMemAlloc_v2 returns')):
            answer = self.explain(*command, **HERE)
            self.assertEqual((answer['cause'], answer['uses_gpu']), ('uses-gpu', True), answer)
            self.assertIn(words, answer['message'])

    def test_program_when_it_does_not_use_the_gpu_then_the_first_obstacle_is_named(self):
        stubs = os.path.join(self.directory(), 'stubs')
        os.mkdir(stubs)
        shutil.copy(softcuda(470), os.path.join(stubs, 'libcuda.so'))
        for cause, command, words in (
                ('only-asked', opens('libcuda.so.1'), 'makes no context'),
                ('only-asked', python(CONTEXT), 'makes a context'),
                ('runtime-newer-than-driver', python('ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(ctypes.c_int()))'),
                 'CUDA 13.0'),
                ('development-name', opens('libcuda.so'), f'ln -s libcuda.so.1 {PATH}/libcuda.so'),
                ('library-out-of-path', ['env', '-u', 'LD_LIBRARY_PATH', *opens('libcuda.so.1')], f'Add {PATH} to'),
                ('companion-missing', opens('libcuda.so.1', 'libnvidia-encode.so.1'), 'libnvidia-encode1'),
                ('companion-missing', opens('libcuda.so.1', 'libnvrtc.so.99', 'libnvrtc.so.98'),
                 'libnvrtc.so.99, libnvrtc.so.98'),
                ('toolkit-library-missing', opens('libcudnn.so.99'), 'libcudnn.so.99'),
                ('by-nvml', opens('libnvidia-ml.so.99'), 'NVML'),
                ('stub', ['env', f'LD_LIBRARY_PATH={stubs}', *python('ctypes.CDLL("libcuda.so")')], 'stubs'),
                ('opened-not-started', python('ctypes.CDLL("libcuda.so.1")'), 'does not start it'),
                ('call-failed', python(CONTEXT + TOO_MUCH), 'cuMemAlloc_v2 returns CUDA_ERROR_OUT_OF_MEMORY'),
                ('cuinit-program', python(HIDES), 'starts CUDA with CUDA_VISIBLE_DEVICES="", which hides'),
                ('cuinit-program', ['env', 'CUDA_VISIBLE_DEVICES=-1', *opens('libcuda.so.1')], 'It, or what started it, sets'),
                ('never-looked', ['sh', '-c', 'true; exit 3'], 'sh did not look')):
            answer = self.explain(*command, **HERE)
            self.assertEqual((answer['cause'], answer['uses_gpu']), (cause, False), answer)
            self.assertIn(words, answer['message'] + answer['advice'])
            self.assertIn(answer['machine'][0]['verdict'], ('ok', 'note'))

    def test_version_when_limited_then_the_limit_is_named_and_not_the_driver(self):
        version = python('n = ctypes.c_int(); ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(n)); print(n)')
        needs = [built('steps'), 'load=' + built('needs_newer.so')]
        for command, words in ((version, 'CUDA 10.0 (the version limit)'), (needs, 'the version limit, CUDA 10.0, excludes cu')):
            answer = ' '.join(run('doctor', '--max-version=10.0', '--', *command, **HERE).err.decode().split())
            self.assertIn(words, answer)
            self.assertIn('Remove the limit (--max-version or CUSHIM_MAX_VERSION), or install', answer)
            self.assertNotIn('13.0', answer)

    def test_program_when_its_code_is_not_for_this_gpu_then_it_is_named(self):
        ptx = b'// from nvcc\n.version 9.1\n.target sm_75\n.address_size 64\n'
        for image, result, words in (
                (fat_binary((2, 75, 0, 0), (2, 86, 0, 0), (1, 86, 8, 4), (2, 75, 0, 0)), 209,
                 'it has code for 7.5, 8.6, PTX 8.4 of 8.6.'),
                (ptx, 222, 'newer than the driver: PTX 9.1 of 7.5.'), (ptx, 209, 'code for PTX 9.1 of 7.5.')):
            answer = self.explain(*loads(image), SOFTCUDA_FAIL=f'cuModuleLoadData={result}', **HERE)
            self.assertEqual((answer['cause'], answer['uses_gpu']), ('call-failed', False))
            self.assertIn(words, answer['message'])
        for function in ('cuModuleLoadDataEx', 'cuModuleLoadFatBinary'):
            for image, words in ((cubin(7, 0x56), 'code for 8.6.'), (cubin(8, 0x7802), 'code for 12.0.')):
                answer = self.explain(*loads(image, function), SOFTCUDA_FAIL=f'{function}=209', **HERE)
                self.assertIn(words, answer['message'])
        damaged = fat_binary((2, 75, 0, 0)).replace(struct.pack('<IQ', 48, 8), struct.pack('<IQ', 48, 1 << 40))
        for image in (b'', damaged, b'\x50\xed', b'\x7fEL', struct.pack('<IIQQ', 0x466243b1, 1, 0, 0)): # without a text, no code
            self.assertEqual(self.explain(*loads(image), SOFTCUDA_FAIL='cuModuleLoadData=209', **HERE)['cause'], 'uses-gpu')

    def test_program_when_its_system_calls_are_watched_then_what_only_they_show_is_seen(self):
        for cause, command in (('uses-gpu', [PROGRAM, 'run']), ('companion-missing', opens('libcuda.so.1', 'libnvrtc.so.99')),
                               ('by-nvidia-smi', ['/bin/sh', '-c', 'PATH=/nowhere; nvidia-smi; exit 6']),
                               ('only-asked', [built('linked_asan')]), ('never-looked', [built('static')]),
                               ('by-device-file', ['sh', '-c', ': < /dev/nvidia-none']), ('never-looked', ['sh', '-c', 'kill -SEGV $$'])):
            if not os.path.exists(command[0]) and '/' in command[0]:
                continue
            answer = self.explain(*command, options=['--watch'], **HERE)
            self.assertEqual(answer['cause'], cause, answer)
        self.assertEqual(answer['exit_status'], 128 + signal.SIGSEGV)
        self.assertEqual(self.explain(*opens('lib\nx.so'), **HERE)['cause'], 'never-looked')

    def test_program_when_it_gains_rights_then_it_has_them_also_while_it_is_watched(self):
        program = os.path.join(self.directory(), 'id')
        shutil.copy(shutil.which('id'), program)
        if os.geteuid() != 0 or not nobody_can_run():
            self.skipTest('this user cannot give a program its rights, or another user cannot run the program cushim here')
        os.chmod(os.path.dirname(program), 0o755)
        os.chmod(program, 0o4711)
        self.assertIn(b'euid=0', subprocess.run([program], user=65534, stdout=subprocess.PIPE, check=True).stdout)
        self.explain('sh', '-c', f'{program}; cd {os.path.dirname(program)}; ./id', options=['--watch'], user=65534)
        for before, words in (([], 'it became id, which has more rights than its user'),
                              (['setpriv', '--no-new-privs'], 'did not look for CUDA')):
            self.assertIn(words, self.explain(*before, program, options=['--watch'], user=65534)['message'])

    @unittest.skipUnless(os.geteuid() == 0, 'only root can give a directory to any group')
    def test_program_when_it_tries_to_run_a_directory_with_a_group_then_it_became_nothing_else(self):
        directory = os.path.join(self.directory(), 'sg')
        os.mkdir(directory)
        os.chown(directory, -1, 65534)
        os.chmod(directory, 0o2755)
        answer = self.explain('sh', '-c', f'{directory}; true', options=['--watch'], **HERE)
        self.assertEqual(answer['cause'], 'never-looked', answer['message'])

    def test_machine_when_it_has_no_driver_then_its_problem_is_named(self):
        for command, cause in ((opens('libcuda.so.1'), 'no-driver-library'), ([built('linked')], 'did-not-start')):
            if run('probe', '--format=json').json['reason'] not in ('not-found', 'no-nvidia'):
                self.skipTest('this machine has a driver')
            answer = self.explain(*command)
            self.assertEqual(answer['cause'], cause)
            self.assertIn('libcuda.so.1', answer['message'])
            self.assertIn(answer['machine'][0]['message'], answer['advice'])

    def test_program_when_it_cannot_be_seen_then_says_so(self):
        if not os.path.exists(built('static')):
            self.skipTest('the static C library is not installed')
        answer = self.explain(built('static'), **HERE)
        self.assertEqual(answer['cause'], 'unseen')
        self.assertIn('it is statically linked', answer['message'])

    def test_answer_when_it_is_text_then_has_80_columns_and_trace_without_calls_has_it_too(self):
        file = os.path.join(self.directory(), 'a.trace')
        answers = [run(*command, '--', *opens('libcuda.so'), **HERE).err.decode()
                   for command in (['doctor'], ['trace', '-o', file])]
        for line in answers[0].splitlines():
            self.assertTrue(len(line) <= 80 or ' ' not in line.strip(), line)
        for answer in answers:
            self.assertIn('looks only for libcuda.so, and this machine has only libcuda.so.1.\n', answer)

    def test_check_when_the_program_does_not_use_the_gpu_then_the_status_is_1(self):
        self.explain(PROGRAM, 'run', options=['--check'], status=0, **HERE)
        self.explain('true', options=['--check'], status=1, **HERE)

    def test_condition_when_required_beside_a_program_then_the_driver_is_checked(self):
        for condition, verdict in (('driver>=550', 'ok'), ('cuda>=99', 'problem'), ('99.0', 'problem')):
            answer = self.explain(PROGRAM, 'run', options=['--require', condition], **HERE)
            found = [finding['verdict'] for finding in answer['machine'] if finding['check'] == 'version']
            self.assertEqual((answer['cause'], found), ('uses-gpu', [verdict]), condition)

    def test_command_line_when_invalid_then_refused(self):
        for arguments in (['--check'], ['--'], ['-o', 'file'], ['--layer', 'x', '--', 'true']):
            self.assertEqual(run('doctor', *arguments).status, 2)
        self.assertEqual(run('doctor', '--', '/nowhere/at/all').status, 127)


if __name__ == '__main__':
    main()
