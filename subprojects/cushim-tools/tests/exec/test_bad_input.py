#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The exit status is the program's. Bad input gets a clear message, and nothing hangs."""
import os
import re
import shutil
import signal
import subprocess
import sys

from under_exec import (BUILD, HAS_AUDITOR, IS_FOREIGN, PROGRAM, SETS, Case, built, can_mount, copied_libraries, environment,
                        main, nobody_can_run, run, softcuda, under)

SOFT = ['--softcuda', '580']


class Status(Case):
    def test_program_when_it_ends_then_exec_ends_as_it(self):
        for status in (0, 1, 2, 77, 255):
            self.assertEqual(under(SOFT, 'sh', '-c', f'exit {status}').status, status)

    def test_program_when_a_signal_ends_it_then_exec_ends_by_that_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
            self.assertEqual(under(SOFT, built('linked'), str(int(number))).status, -number)

    def test_program_when_it_has_arguments_then_gets_all_of_them(self):
        arguments = ['--help', '--driver', '', 'a b', '--', '-x']
        self.assertEqual(under(SOFT, 'printf', '%s|', *arguments).out.decode(), '|'.join(arguments) + '|')

    def test_signals_when_ignored_then_stay_ignored(self):
        before = 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])'
        program = 'import signal; print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN)'
        answer = run('exec', *SOFT, '--', sys.executable, '-c', program, before=[sys.executable, '-c', before])
        self.assertEqual((answer.status, answer.out), (0, b'True\n'))

    def test_program_when_it_follows_without_dashes_then_runs(self):
        self.assertEqual(run('exec', *SOFT, 'sh', '-c', 'exit 3').status, 3)


class BadInput(Case):
    def refuses(self, answer, status, *words):
        self.assertEqual((answer.status, answer.out), (status, b''), answer.err)
        for word in words:
            self.assertIn(word, answer.err.decode())

    def test_command_line_when_invalid_then_refused(self):
        for arguments, word in ((['exec'], 'the program is missing'), (['exec', '--'], 'the program is missing'),
                                (['exec', *SOFT], 'the program is missing'),
                                *((['exec', '--max-version', version, '--', 'true'], 'is not a CUDA version')
                                  for version in ('', 'new', '0', '-1', '12.', '12.3.4', '4294967308.0')),
                                (['exec', '--softcuda', '581', '--', 'true'], 'no software driver "581"'),
                                (['exec', *SOFT, '--driver', 'x', '--', 'true'], 'cannot be combined'),
                                (['exec', *SOFT, '--hide', 'cuNoSuch', '--', 'true'], 'cuNoSuch'),
                                (['exec', '--format=json', '--', 'true'], 'has no option --format'),
                                (['exec', '--devices', '--', 'true'], 'has no option --devices')):
            self.refuses(run(*arguments), 2, word)

    def test_program_when_missing_or_not_executable_then_status_is_that_of_a_shell(self):
        self.refuses(under(SOFT, '/nowhere/at/all'), 127, 'cannot run /nowhere/at/all', 'No such file')
        self.refuses(under(SOFT, 'no-such-program'), 127, 'cannot run no-such-program')
        self.refuses(under(SOFT, self.directory()), 126, 'Permission denied')
        full = ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh']
        self.refuses(run('exec', *SOFT, '--', '/nowhere/at/all', before=full), 127)

    def test_driver_when_it_cannot_be_used_then_program_does_not_start(self):
        text = os.path.join(self.directory(), 'libcuda.so.1')
        with open(text, 'w', encoding='ascii') as file:
            file.write('no library\n')
        queue = os.path.join(self.directory(), 'queue')
        os.mkfifo(queue)
        for path in ('/nowhere/libcuda.so.1', text, 'libc.so.6', queue, self.directory(), '/dev/zero', PROGRAM,
                     built('newer_layer.so'), os.path.join(SETS, 'auditor.so')):
            self.refuses(under(['--driver', path], 'echo'), 1, path)

    def test_version_limit_of_the_environment_when_invalid_then_program_does_not_start(self):
        for version in ('new', '0', '-1', '12.', '12.3.4', '4294967308.0'):
            self.refuses(under(SOFT, 'echo', CUSHIM_MAX_VERSION=version), 1, f'CUSHIM_MAX_VERSION is "{version}"')

    def test_layer_when_it_cannot_be_used_then_program_does_not_start(self):
        self.refuses(under([*SOFT, '--layer', '/nowhere/layer.so'], 'echo'), 2, 'there is no file "/nowhere/layer.so"')
        queue = os.path.join(self.directory(), 'queue')
        os.mkfifo(queue)
        for layer in (softcuda(580), os.path.realpath(__file__), queue, self.directory(), '/dev/zero', PROGRAM):
            self.refuses(under([*SOFT, '--layer', layer], 'echo'), 1, f'The layer {layer} cannot be used')
        self.refuses(under([*SOFT, '--layer', built('newer_layer.so')], 'echo', CUSHIM_LAYERS=built('newer_layer.so')),
                     1, 'is already installed')

    def test_driver_when_it_is_our_own_library_then_refused(self):
        library = os.path.join(SETS, '13000', 'libcuda.so.1')
        copy = os.path.join(copied_libraries(self.directory()), '13000', 'libcuda.so.1')
        words = 'is the library of cushim exec itself'
        for path in (library, copy):
            self.refuses(under(['--driver', path], 'echo'), 2, words)
            self.refuses(under([], 'echo', CUSHIM_DRIVER=path), 2, words)
        self.refuses(under([], 'echo', LD_LIBRARY_PATH=os.path.dirname(copy)), 2, words)
        self.refuses(under(SOFT, PROGRAM, 'exec', *SOFT, '--', 'echo'), 2, 'already runs under cushim exec')
        # Without the rest of its tree, the library cannot be opened.
        link, alone = (os.path.join(self.directory(), name) for name in ('link', 'libcuda.so.1'))
        os.symlink(library, link)
        shutil.copy(library, alone)
        for path in (link, alone):
            self.refuses(under(['--driver', path], 'echo'), 1, 'libcushim-exec.so')
            self.refuses(under([], 'echo', CUSHIM_DRIVER=path), 1, 'libcushim-exec.so')
        self.refuses(under([], 'echo', LD_LIBRARY_PATH=os.path.dirname(alone)), 1, 'libcushim-exec.so')

    def test_settings_when_they_lead_back_to_our_library_then_there_is_no_driver(self):
        library = os.path.join(SETS, '13000', 'libcuda.so.1')
        copy = os.path.join(copied_libraries(self.directory()), '13000', 'libcuda.so.1')
        alone = shutil.copy(library, self.directory())
        for driver in (library, '/.' + library, copy, alone, 'libcuda.so.1', '', '/nowhere/libcuda.so.1'):
            for audit in ({}, {'LD_AUDIT': os.path.join(SETS, 'auditor.so')} if HAS_AUDITOR else {}):
                variables = {'LD_LIBRARY_PATH': os.path.dirname(library),
                             'CUSHIM_EXEC': f'names={os.path.dirname(library)};driver={driver}', **audit}
                done = subprocess.run([built('linked')], env=environment(**variables), stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, timeout=60, check=False)
                lines = done.stdout.decode().splitlines()
                self.assertIn(b'cushim: exec: this program has no driver. ', done.stderr, variables)
                self.assertEqual((done.returncode, lines[0], lines[-2]), (7, 'version 0', 'init 100'), variables)

    def test_path_when_the_dynamic_loader_would_divide_or_change_it_then_refused(self):
        for name, character in (('a:b', ':'), ('a;b', ';'), ('$LIB', '$')):
            root = os.path.join(self.directory(), name)
            os.makedirs(os.path.join(root, 'cli'))
            program = shutil.copy(PROGRAM, os.path.join(root, 'cli'))
            copied_libraries(root)
            done = under(['--driver', softcuda(580)], 'echo', program=program,
                         LD_LIBRARY_PATH=os.path.join(BUILD, 'loader'))
            self.refuses(done, 2, f"exec: a path with '{character}' cannot be used: {root}/exec/13000")
            layer = shutil.copy(built('newer_layer.so'), root)
            done = under([*SOFT, '--layer', layer], 'echo')
            if character == '$':
                self.refuses(done, 1, 'the dynamic loader would replace $LIB')
            else:
                self.refuses(done, 2, f"exec: a path with '{character}' cannot be used: {layer}")

    def states(self, program, word, *arguments):
        """The program runs, after a statement that it uses the machine's own driver."""
        answer = under(SOFT, program, *arguments)
        rest = (', so it and the programs that it starts use the machine\'s own driver' if 'rights' in word else
                ', so it uses the machine\'s own driver; dynamically linked programs that it starts use the selected one')
        self.assertEqual(answer.err.decode(errors='replace').splitlines()[0], f'cushim: exec: {program} {word}{rest}')
        return answer

    def test_program_when_statically_linked_then_says_that_it_uses_the_machines_driver(self):
        if not os.path.exists(built('static')):
            self.skipTest('the static C library is not installed')
        self.assertEqual(self.states(built('static'), 'is statically linked').status, 5)

    def test_program_when_it_has_more_rights_then_says_that_it_uses_the_machines_driver(self):
        if os.geteuid() != 0:
            self.skipTest('only root can create a program of another user')
        if IS_FOREIGN:
            self.skipTest('under the emulator, a program has the rights of its user')
        program = os.path.join(self.directory(), 'linked')
        shutil.copy(built('linked'), program)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        # The dynamic loader ignores the variables, and finds no libcuda.so.1, or that of the machine.
        self.assertNotIn(b'version 13000\ncuStreamQuery 1', self.states(program, 'has more rights than its user').out)
        answer = run('exec', *SOFT, '--', program, before=['setpriv', '--no-new-privs'])
        self.assertEqual((answer.err, answer.out.splitlines()[0]), (b'', b'version 13000'))
        if not can_mount():
            self.skipTest('of this test, the part with a file system that gives no rights: none can be mounted here')
        mount = self.directory()
        without = f'mount -t tmpfs -o nosuid none {mount} && cd {mount} && cp -p {program} . && exec "$@"'
        answer = run('exec', *SOFT, '--', './linked', before=['unshare', '-m', 'sh', '-c', without, 'sh'])
        self.assertEqual((answer.err, answer.out.splitlines()[0]), (b'', b'version 13000'))

    def test_script_when_its_interpreter_is_statically_linked_then_says_that_it_uses_the_machines_driver(self):
        if not os.path.exists(built('static')):
            self.skipTest('the static C library is not installed')
        inner, outer = (os.path.join(self.directory(), name) for name in ('inner', 'outer'))
        for script, interpreter in (inner, built('static')), (outer, inner):
            with open(script, 'w', encoding='utf-8') as file:
                file.write(f'#! {interpreter} -x\n')
            os.chmod(script, 0o755)
            self.assertEqual(self.states(script, 'is statically linked').status, 5)

    def test_script_when_its_interpreter_is_ordinary_then_nothing_is_said(self):
        script = os.path.join(self.directory(), 'script')
        for start in ('#!/bin/sh\n', '#!' + script + '\n', '#!', ''):  # the second one is refused by the kernel
            with open(script, 'w', encoding='utf-8') as file:
                file.write(start + 'exit 3\n')
            os.chmod(script, 0o4755)  # which has no effect on a script
            self.assertNotIn(b"the machine's own driver", under(SOFT, script).err, start)

    def test_dynamic_loader_when_it_is_the_program_then_the_program_that_it_runs_gets_our_library(self):
        loader = re.search(rb'interpreter: (.*)]', subprocess.run(['readelf', '-lW', built('linked')], check=True,
                                                                  stdout=subprocess.PIPE).stdout).group(1)
        loader = os.environ.get('QEMU_LD_PREFIX', '').encode() + loader
        answer = under(SOFT, loader, built('linked'))
        self.assertEqual((answer.status, answer.err, answer.out.split()[1]), (7, b'', b'13000'))

    def test_program_when_it_has_capabilities_then_says_that_it_uses_the_machines_driver(self):
        program = os.path.join(self.directory(), 'linked')
        os.chmod(os.path.dirname(program), 0o755)
        shutil.copy(built('linked'), program)
        capability = bytes.fromhex('0100000200200000000000000000000000000000')  # cap_net_raw, effective
        try:
            os.setxattr(program, 'security.capability', capability)
        except OSError as error:
            self.skipTest(f'this user or file system cannot set capabilities: {error.strerror}')
        if not nobody_can_run():
            self.skipTest('another user cannot run the program cushim here')
        done = subprocess.run([PROGRAM, 'exec', *SOFT, '--', program], user=65534, env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertIn(f'{program} has more rights than its user, so it and the programs that it starts use the machine',
                      done.stderr.decode())

    def test_program_when_built_for_another_architecture_then_says_that_it_uses_the_machines_driver(self):
        if IS_FOREIGN:
            self.skipTest('under the emulator, this message also comes from the shell, and under() removes it')
        program = os.path.join(self.directory(), 'other')
        with open(built('linked'), 'rb') as file:
            header = file.read(64)
        with open(program, 'wb') as file:  # neither the kernel nor a shell runs it: the machine 999 does not exist
            file.write(header[:18] + (999).to_bytes(2, sys.byteorder) + header[20:] + bytes(100))
        os.chmod(program, 0o755)
        self.assertNotEqual(self.states(program, 'is built for another processor architecture').status, 0)

    def test_program_when_32_bit_then_says_that_it_uses_the_machines_driver(self):
        program = os.path.join(self.directory(), 'small')
        source = program + '.c'
        with open(source, 'w', encoding='ascii') as file:
            file.write('int main(void) { return 5; }\n')
        made = subprocess.run(['cc', '-m32', source, '-o', program], stderr=subprocess.PIPE, check=False)
        if made.returncode != 0:
            # Without a compiler for it, the header of one is enough: neither the kernel nor a shell runs the rest.
            with open(program, 'wb') as file:
                file.write(b'\x7fELF\x01\x01\x01' + bytes(9) + b'\x02\x00\x03\x00\x01' + bytes(100))
            os.chmod(program, 0o755)
        self.assertIn(self.states(program, 'is a 32-bit program').status, (5, 126, 127))


if __name__ == '__main__':
    main()
