#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cushim doctor -- PROGRAM says only what was seen: that something was not seen counts if the record is whole."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from explained import HERE, Explained
from under_exec import PROGRAM, built, can_mount, environment, main, newest_fake, run, softcuda

STEPS = built('steps')
REFUSES = built('refuses')
SETPRIV = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
IS_ROOT = os.geteuid() == 0
# Whether a user without rights can open what doctor preloads: not below the home directory of root.
IS_REACHABLE = all(parent.stat().st_mode & 1 for parent in pathlib.Path(PROGRAM).resolve().parents)
CAN_REFUSE = os.path.exists(REFUSES) and subprocess.run([REFUSES, 'shmget', 'true'], check=False,
                                                        stderr=subprocess.DEVNULL).returncode == 0


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
        if IS_REACHABLE and shutil.which('setpriv'):
            commands += [([*SETPRIV, 'true'], 'true (process '), (['sh', '-c', ' '.join(SETPRIV) + ' true; exit 4'], 'gave up its rights; sh ends with status 4.')]
        if IS_REACHABLE and shutil.which('runuser'):
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

    def test_process_when_it_ends_under_another_name_then_it_may_have_renamed_itself(self):
        for words in ('name=worker-1 leave', 'name=worker-1 crash'):
            cause, message = self.cause(STEPS, *words.split())
            self.assertEqual(cause, 'not-seen', message)
            self.assertIn('it ended under the name worker-1: it became another program, or renamed itself', message)
        self.assertNotEqual(self.cause(STEPS, 'name=worker-1')[0], 'not-seen')

    @unittest.skipUnless(CAN_REFUSE, 'seccomp filters cannot be built here, or a process cannot have one')
    def test_process_when_it_has_no_shared_memory_then_its_end_is_not_known(self):
        for command in ['true'], ['sh', '-c', f'exec env -i {STEPS}']:
            answer = self.explain(*command, under=[REFUSES, 'shmget'], **HERE)
            self.assertEqual(answer['cause'], 'not-seen', answer['message'])
            self.assertIn('it had no shared memory in which to note its end', answer['message'])
        self.assertEqual(self.explain('true', under=[REFUSES, 'shmget'], options=['--watch'], **HERE)['cause'], 'never-looked')

    @unittest.skipUnless(CAN_REFUSE, 'seccomp filters cannot be built here, or a process cannot have one')
    def test_watch_when_it_is_refused_then_the_run_was_not_watched(self):
        done = subprocess.run([REFUSES, 'ptrace', PROGRAM, 'doctor', '--watch', '--', 'true'], env=environment(**HERE),
                              capture_output=True, check=True)
        self.assertIn(b'which was not watched as a whole', b' '.join(done.stderr.split()))
        file = os.path.join(self.directory(), 'answer.json')
        subprocess.run([REFUSES, 'shmget', REFUSES, 'ptrace', PROGRAM, 'doctor', '--format=json', '-o', file, '--watch', '--',
                        'true'], env=environment(**HERE), capture_output=True, check=True)
        answer = json.loads(pathlib.Path(file).read_text(encoding='utf-8'))
        self.assertEqual((answer['cause'], answer['advice']), ('not-seen', 'So nothing is known about what it did not do.'))

    def test_watch_when_a_process_runs_an_open_file_then_it_is_followed(self):
        runs = '''
import os, sys
if os.fork() == 0:
    os.execve(os.open(sys.argv[1], os.O_RDONLY), sys.argv[1:], os.environ)
os.wait()'''
        answer = self.explain(sys.executable, '-c', runs, '/bin/sh', '-c', ': < /dev/nvidia-none', options=['--watch'], **HERE)
        self.assertEqual(answer['cause'], 'by-device-file', answer)

    def test_watch_when_a_thread_is_not_followed_then_the_record_is_not_whole(self):
        many = '''
import threading
end = threading.Event()
threading.stack_size(65536)
threads = [threading.Thread(target=end.wait) for _ in range(600)]
for thread in threads:
    thread.start()
end.set()'''
        answer = self.explain(sys.executable, '-c', many, options=['--watch'], **HERE)
        self.assertIn('it could not be watched beside 512 other threads', answer['message'])
        self.assertEqual(answer['advice'], 'So nothing is known about what it did not do. Run it with fewer threads and '
                                           'processes at the same time, or without --watch.')

    def test_watch_when_a_process_is_left_then_the_record_is_not_whole(self):
        answer = self.explain('sh', '-c', 'env -i sleep 2 >/dev/null 2>&1 & exit 3', options=['--watch'], **HERE)
        self.assertEqual(answer['cause'], 'not-seen', answer['message'])
        self.assertIn('it left a process that still runs', answer['message'])

    def test_process_when_its_calls_have_no_room_then_the_result_of_cuinit_is_known(self):
        self.assertIn('cuInit returns', self.cause(STEPS, 'memory', 'open', 'init', SOFTCUDA_FAIL='cuInit=100')[1])
        cause, message = self.cause(STEPS, 'memory', 'open', 'init')
        self.assertEqual(cause, 'not-seen')
        self.assertIn('it made driver calls, which could not be recorded', message)

    def test_driver_when_its_calls_are_not_seen_then_nothing_is_said_about_them(self):
        directory = self.directory()
        copy = shutil.copy(softcuda(580), os.path.join(directory, 'copy.so'))
        for words, path, variables in (('open init', softcuda(580), {'CUSHIM_LAYERS': '/nowhere'}),
                                       ('open init', softcuda(580), {'CUSHIM_MAX_VERSION': 'none'}),
                                       (f'load={copy} 3', copy, {}), (f'space={softcuda(580)} init', softcuda(580), {})):
            cause, message = self.cause(STEPS, *words.split(), **variables)
            self.assertEqual(cause, 'not-seen', message)
            self.assertIn(f'it opened {path}, a driver whose calls are not seen', message)
        self.assertIn('Its calls are seen if it opens libcuda.so.1 by that name', self.explain(
            STEPS, 'open', 'init', CUSHIM_MAX_VERSION='none', **HERE)['advice'])
        os.symlink(built('wrapper.so'), os.path.join(directory, 'libcuda.so.1'))
        wrapped = {'LD_LIBRARY_PATH': directory, 'WRAPPED': softcuda(580)}
        self.assertEqual(self.cause(STEPS, 'open', 'init', **wrapped)[0], 'only-asked')

    def test_driver_when_it_is_hidden_then_it_was_not_found(self):
        answer = self.explain(STEPS, 'open', options=['--driver', 'none'], **HERE)
        self.assertEqual((answer['cause'], answer['processes'][0]['libraries'][0]['found']), ('no-driver-library', None), answer)

    def test_program_when_it_leaves_a_process_then_the_record_is_not_whole(self):
        cause, message = self.cause('sh', '-c', 'sleep 2 >/dev/null 2>&1 & sleep 0.3; exit 3')
        self.assertEqual(cause, 'not-seen', message)
        self.assertIn('it left a process that still runs', message)

    @unittest.skipUnless(IS_ROOT and can_mount(), 'this process cannot mount a small file system')
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
                ('crash', 'able-but-not-asked', 'although it can use it, and is ended by SIGSEGV.'),
                ('7', 'able-but-not-asked', 'although it can use it, and ends with status 7.')):
            answer = self.explain(STEPS, *words.split(), SOFTCUDA_FAIL='cuModuleGetFunction=500', **HERE)
            self.assertEqual(answer['cause'], cause, words)
            self.assertTrue(answer['message'].endswith(message), answer['message'])
            self.assertEqual(answer['uses_gpu'], 'copy' in words)
        for command, message in ((['sh', '-c', f'{STEPS} open init context copy; exit 5'], '; sh ends with status 5.'),
                                 (['env', 'A=1', STEPS, 'open', 'init', 'crash'], 'steps is ended by SIGSEGV'),
                                 (['sh', '-c', 'exit 3'], 'nothing that it loaded names it, and ends with status 3.')):
            self.assertIn(message, self.cause(*command)[1])

    def test_library_when_the_driver_lacks_its_functions_then_they_are_named(self):
        old = {'LD_LIBRARY_PATH': os.path.dirname(softcuda(418))}
        function = 'cuDevicePrimaryCtxRelease_v2'
        for name, words in (('needs_newer', f'needs_newer.so was not loaded: driver 418 lacks {function}, new in CUDA 11.0 (driver 450).'),
                            ('needs_newer_unlinked', f'nothing that it loads has {function}, and it is not linked to libcuda.so.1.')):
            cause, message = self.cause(STEPS, 'load=' + built(name + '.so'), **old)
            self.assertEqual(cause, 'library-not-bound')
            self.assertTrue(message.endswith(words), message)
        self.assertNotEqual(self.cause(STEPS, 'load=' + built('needs_newer.so'))[0], 'library-not-bound')

    def test_library_when_another_version_of_its_library_is_found_then_both_are_named(self):
        link = os.path.join(self.directory(), 'libnvJitLink.so.12')
        path = {'LD_LIBRARY_PATH': HERE['LD_LIBRARY_PATH'] + ':' + os.path.dirname(link) + '/'}
        for version, is_right in ('newer', True), ('older', False):
            os.symlink(built(f'jit_link_{version}.so'), link)
            answer = self.explain(STEPS, 'load=' + built('needs_jit_link.so'), **path)
            self.assertEqual(answer['cause'] != 'library-not-bound', is_right, answer)
            os.unlink(link)
        self.assertEqual(answer['message'], 'needs_jit_link.so was not loaded: libnvJitLink.so.12 lacks nvJitLinkNewer.')
        self.assertEqual(answer['advice'], f'It was built for another version than {link}: remove the directory of that file '
                                           'from LD_LIBRARY_PATH, install that version, or another build of it.')

    def test_library_when_missing_then_the_package_has_its_version(self):
        for name, package in (('libcudart.so.12', 'nvidia-cuda-runtime-cu12 '), ('libcublasLt.so.12', 'nvidia-cublas-cu12 '),
                              ('libcublas.so.11', 'nvidia-cublas-cu11 '), ('libcufft.so.11', 'nvidia-cufft-cu12 '),
                              ('libcufft.so.12', 'nvidia-cufft '), ('libcudnn.so.9', 'cuDNN or the Python package nvidia-cudnn-cu12 '),
                              ('libcudnn_ops.so.9.1.0', 'nvidia-cudnn-cu12 '), ('libcusparseLt.so.0', 'nvidia-cusparselt-cu12 '),
                              ('libcufile.so.0', 'nvidia-cufile-cu12 '), ('libnvrtc.so.12', 'nvidia-cuda-nvrtc-cu12 '),
                              ('libcublas.so.13', 'the CUDA Toolkit or the Python package nvidia-cublas '),
                              ('libnvrtc-builtins.so.12.9', 'nvidia-cuda-nvrtc-cu12 ')):
            answer = self.explain(STEPS, 'load=' + name, **HERE)
            if any(library['found'] for library in answer['processes'][0]['libraries']): # this machine has it
                continue
            self.assertEqual(answer['cause'], 'toolkit-library-missing', answer)
            if 'The file is' not in answer['advice']: # outside of the search
                self.assertIn(package, answer['advice'], name)
        self.assertIn('libcusolver.so.11', self.cause(STEPS, 'load=libcudart.so.11.0', 'load=libcusolver.so.11')[1]
                      + self.cause(STEPS, 'load=libcusolver.so.11')[1])
        self.assertEqual(self.cause(STEPS, 'open', 'init', 'load=libnvrtc-builtins.so.12.99')[0], 'companion-missing')
        work = ['open', 'init', 'context', 'copy', 'load=libcublasLt.so.99']
        self.assertEqual(self.cause(STEPS, *work)[0], 'uses-gpu')
        self.assertEqual(self.cause(STEPS, *work, 'crash'), ('companion-missing', 'steps does not find libcublasLt.so.99 (cuBLASLt), '
                                                             'and is ended by SIGSEGV.'))

    def test_library_when_the_driver_looked_for_it_then_the_failed_call_names_it(self):
        answer = self.explain(STEPS, 'open', 'init', 'context', 'load=libnvidia-nvvm70.so.4', 'lookup', '1',
                              SOFTCUDA_FAIL='cuModuleGetFunction=221', **HERE)
        self.assertEqual(answer['cause'], 'call-failed')
        self.assertIn('It did not find libnvidia-nvvm70.so.4. Install the rest of', answer['advice'])

    def test_nvenc_when_the_program_ends_badly_then_the_version_of_its_api_is_named(self):
        directory = self.directory()
        for name, link in (('companion_nvenc', 'libnvidia-encode.so.1'), ('companion_nvcuvid', 'libnvcuvid.so.1')):
            os.symlink(newest_fake(name), os.path.join(directory, link))
        path = {'LD_LIBRARY_PATH': HERE['LD_LIBRARY_PATH'] + ':' + directory}
        cause, message = self.cause(STEPS, 'open', 'load=libnvidia-encode.so.1', '1', **path)
        self.assertEqual((cause, message), ('nvenc-version', 'steps opens NVENC, whose API is 12.2 with this driver, and ends with '
                                            'status 1.'))
        self.assertEqual(self.cause(STEPS, 'open', 'load=libnvidia-encode.so.1', **path)[0], 'opened-not-started')

    def site(self):
        directory = os.path.join(self.directory(), 'site-packages')
        os.makedirs(directory)
        return directory

    def test_library_when_it_is_in_site_packages_then_its_directory_is_to_be_added(self):
        site = self.site()
        for name in 'engine', 'nvidia/cublas/lib':
            os.makedirs(os.path.join(site, name))
        shutil.copy(STEPS, os.path.join(site, 'engine', 'steps'))
        shutil.copy(built('static_tls.so'), os.path.join(site, 'nvidia/cublas/lib/libcublasLt.so.12'))
        answer = self.explain(os.path.join(site, 'engine', 'steps'), 'load=libcublasLt.so.12', **HERE)
        self.assertIn(f'The file is {site}/nvidia/cublas/lib/libcublasLt.so.12: add its directory', answer['advice'])
        self.assertNotIn('nstall', answer['advice'])

    def test_library_when_it_is_of_the_toolkit_then_the_program_can_use_cuda(self):
        library = shutil.copy(built('jit_link_older.so'), os.path.join(self.directory(), 'libcudnn.so.9'))
        answer = self.explain(sys.executable, '-c', f'import ctypes; ctypes.CDLL("{library}")', **HERE)
        self.assertEqual(answer['cause'], 'able-but-not-asked')
        self.assertIn(f'{library} has code for CUDA', answer['advice'])

    def test_library_when_an_open_file_has_the_name_as_its_soname_then_it_is_not_missing(self):
        missing = ['open', 'init', 'load=libnvrtc.so.12', '1']
        self.assertEqual(self.cause(STEPS, *missing, **HERE)[0], 'companion-missing')
        wheel = shutil.copy(newest_fake('nvrtc_12.4'), os.path.join(self.directory(), 'libnvrtc-0123abcd.so.12.4.99'))
        self.assertEqual(self.cause(STEPS, *missing[:-1], 'load=' + wheel, '1', **HERE)[0], 'only-asked')

    def test_program_when_found_first_then_a_later_search_without_it_does_not_count(self):
        directory = self.directory()
        with open(os.path.join(directory, 'nvidia-smi'), 'w', encoding='ascii') as script:
            script.write('#!/bin/sh\n')
        os.chmod(script.name, 0o755)
        for first, cause in ((directory, 'never-looked'), ('/nowhere', 'by-nvidia-smi')):
            command = ['sh', '-c', f'PATH={first}; nvidia-smi; PATH=/nowhere; nvidia-smi; exit 6']
            self.assertEqual(self.explain(*command, options=['--watch'], **HERE)['cause'], cause)

    def test_packages_when_they_exclude_each_other_then_says_so(self):
        site = self.site()
        for name in 'onnxruntime', 'onnxruntime-1.20.dist-info', 'onnxruntime_gpu-1.20.dist-info':
            os.mkdir(os.path.join(site, name))
        library = shutil.copy(built('wrap_dlopen.so'), os.path.join(site, 'onnxruntime'))
        cause, message = self.cause(STEPS, 'load=' + library)
        self.assertEqual(cause, 'packages-exclude')
        self.assertIn('onnxruntime, beside which onnxruntime-gpu is installed', message)
        os.rmdir(os.path.join(site, 'onnxruntime_gpu-1.20.dist-info'))
        self.assertNotEqual(self.cause(STEPS, 'load=' + library)[0], 'packages-exclude')

    def test_variable_when_set_after_cuinit_then_says_that_it_is_too_late(self):
        cause, message = self.cause(STEPS, 'open', 'init', 'visible=1', 'context', 'copy')
        self.assertEqual(cause, 'visible-too-late')
        self.assertIn('CUDA_VISIBLE_DEVICES="1" after cuInit', message)
        for words in ('open visible=0 init context copy', 'open init visible=1 context copy run',
                      f'visible=0,{"GPU-" * 100} open init context copy'):
            self.assertEqual(self.cause(STEPS, *words.split())[0], 'uses-gpu', words)

    def test_child_when_forked_after_cuinit_then_the_fork_is_the_reason(self):
        answer = self.explain(STEPS, 'open', 'init', 'fork', 'init', **HERE)
        self.assertEqual(answer['cause'], 'forked', answer)
        self.assertIn('its parent had initialized the driver', answer['message'])

    def test_child_when_forked_then_it_has_the_name_of_its_own_program(self):
        for words in 'fork open init 4', 'open fork init 4', 'open init fork context':
            answer = self.explain('sh', '-c', f'{STEPS} {words}; true', **HERE)
            self.assertTrue(answer['message'].startswith('steps (process '), answer['message'])
            children = [process for process in answer['processes'] if process['pid'] != answer['processes'][0]['pid']]
            self.assertEqual([os.path.basename(process['program']) for process in children], ['steps', 'steps'], words)
            self.assertEqual(children[1]['parent'], children[0]['pid'])

    def test_preloaded_object_when_it_defines_driver_functions_then_is_named(self):
        for command in ['doctor'], ['probe']:
            answer = run(*command, '--softcuda', '580', '--format=json', LD_PRELOAD=built('stand_in.so')).out.decode()
            self.assertIn('stand_in.so', answer)
            self.assertIn('cuInit', answer)
            self.assertNotIn('stand_in.so', run(*command, '--softcuda', '580', '--format=json').out.decode())

    def test_doctor_when_a_preloaded_object_refuses_cuinit_then_its_name_leads(self):
        answer = run('doctor', '--softcuda', '580', '--format=json', LD_PRELOAD=built('limiter.so'), LIMITER='init999')
        first = json.loads(answer.out)['findings'][0]
        self.assertEqual((first['check'], first['message']), ('preload', 'cuInit is that of limiter.so, and not of the driver.'))

    def test_program_when_a_preloaded_object_has_cuinit_then_is_not_said_to_be_idle(self):
        preload = 'LD_PRELOAD=' + built('stand_in.so')
        answer = self.explain('env', preload, built('linked_now'), **HERE)
        self.assertEqual(answer['cause'], 'preloaded', answer)
        self.assertIn('linked_now gets cuInit from stand_in.so, and not from the driver', answer['message'])
        answer = self.explain('env', preload, STEPS, 'open', 'init', 'context', '2', **HERE)
        self.assertIn('stand_in.so is loaded before the driver, and can answer calls itself', answer['advice'])
        answer = self.explain('env', 'LD_PRELOAD=' + built('data_symbol.so'), STEPS, 'open', 'init', 'context', '2', **HERE)
        self.assertNotIn('data_symbol.so', answer['message'] + answer['advice'])

    def test_findings_when_written_as_json_then_each_has_a_word_and_the_system_is_there(self):
        for options in (['--softcuda', '580'], []):
            document = json.loads(run('doctor', '--format=json', *options).out)
            for finding in document['findings']:
                self.assertTrue(finding['cause'], finding)
            self.assertIn('glibc', document['system']['c_library'])
            self.assertTrue(document['system']['kernel'])
        self.assertTrue(document['system']['cushim'])

    def test_trace_when_no_call_was_recorded_then_says_so(self):
        err = run('trace', '-o', os.path.join(self.directory(), 'a.trace'), '--', 'env', '-i', STEPS, **HERE).err.decode()
        self.assertIn('\nNo call was recorded.\n', err)
        self.assertIn('env was not seen to its end', err)


if __name__ == '__main__':
    main()
