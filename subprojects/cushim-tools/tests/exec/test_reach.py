#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs reach the library of cushim exec in every way, and it reaches the driver that exec selects."""
import os
import shutil
import subprocess
import sys
import unittest

from under_exec import (CLIENT, HAS_AUDITOR, IS_FOREIGN, LIBRARIES, NEWEST, NEXT_MAJOR, PROGRAM, SETS, WITHOUT_AUDITOR,
                        Case, built, client, copied_libraries, environment, lists, main, newest_fake, run, softcuda, under)

ENTRY_POINTS = [one for one in lists.read() if not one.is_windows_only]
VERSIONS = {str(one.branch): one.version for one in lists.known_drivers()}
SYMBOLS = sorted({name for one in ENTRY_POINTS for name in (one.symbol, one.per_thread_symbol) if name}
                 | set(lists.WITHOUT_ROW))
CONTROL = 'softcuda_control'
needs_auditor = unittest.skipUnless(HAS_AUDITOR, 'the auditor needs glibc 2.35')


def library(version):
    return os.path.join(SETS, str(version), 'libcuda.so.1')


def exported(path):
    nm = subprocess.run(['nm', '-D', '--defined-only', path], stdout=subprocess.PIPE, check=True).stdout.decode()
    return {line.split()[-1].split('@')[0] for line in nm.splitlines()} & set(SYMBOLS)


class Ways(Case):
    def test_linked_program_when_run_then_all_ways_lead_to_one_address(self):
        for name in ('linked', 'linked_now'):
            answer = under(['--softcuda', '580'], built(name))
            self.assertEqual(answer.status, 7, answer.err)
            self.assertEqual(answer.out.decode().splitlines(),
                             ['version 13000', 'cuStreamQuery 1 1 1', 'cuStreamQuery_ptsz 1 1 1', 'init 0',
                              'devices 0 1'])

    @unittest.skipIf(IS_FOREIGN, 'programs of this machine cannot open a library that is built for another one')
    def test_dlopen_when_another_object_wraps_it_then_our_library_still_finds_the_driver(self):
        programs = [('env', f'LD_PRELOAD={built("wrap_dlopen.so")}', built('linked')), (built('linked_asan'),)]
        for program in programs if os.path.exists(built('linked_asan')) else programs[:1]:
            answer = under(['--softcuda', '580'], *program)
            self.assertEqual((answer.status, answer.err, answer.out.split()[1]), (7, b'', b'13000'), program)

    def opens(self, name):
        answer = client(['--softcuda', '550'], 'open', name)
        self.assertEqual((answer['result'], answer['version'], answer['init']), (0, 12040, 0))
        self.assertEqual(answer['mapped'], sorted([library(12040), softcuda(550)]))

    def test_program_when_it_opens_a_plain_name_then_gets_our_library_and_one_driver(self):
        self.opens('libcuda.so.1')

    @unittest.skipIf(HAS_AUDITOR, 'this C library has no such cost')
    def test_program_when_the_auditor_would_slow_it_then_exec_says_that_paths_are_not_redirected(self):
        done = run('exec', '--softcuda', '550', '--', *CLIENT, 'open', softcuda(470))
        self.assertEqual((done.err, done.json['version'], done.json['mapped']), (WITHOUT_AUDITOR, 11040, [softcuda(470)]))

    @needs_auditor
    def test_program_when_it_opens_a_path_then_gets_our_library_and_one_driver(self):
        self.opens(softcuda(550))  # the driver itself
        self.opens(softcuda(470))
        for name in ('libcuda.so', 'libcuda.so.550.163.01'):
            path = os.path.join(self.directory(), name)
            shutil.copy(softcuda(470), path)
            self.opens(path)

    def test_log_when_requested_then_has_the_load_of_the_command_and_that_of_our_library(self):
        log = os.path.join(self.directory(), 'log')
        client(['--softcuda', '550'], 'open', CUSHIM_LOG=log)
        with open(log, encoding='utf-8') as file:
            loaded = [line.split()[-1] for line in file if ']: loaded ' in line]
        self.assertEqual(loaded, [softcuda(550), '/.' + softcuda(550)])

    def test_log_when_a_start_fails_then_has_the_reason(self):
        log = os.path.join(self.directory(), 'log')
        client(['--softcuda', '550'], 'open', CUSHIM_LOG=log, SOFTCUDA_DEVICES='0')
        with open(log, encoding='utf-8') as file:
            self.assertEqual(len([line for line in file if ']: cuInit failed: ' in line]), 1)

    def test_proc_address_when_asked_for_any_entry_point_then_is_what_dlsym_returns(self):
        lines = [f'{one.function} {max(one.version, 7000) if flags == 2 else one.version} {flags} {symbol}'
                 for one in ENTRY_POINTS if one.version <= 13000
                 for flags, symbol in ((1, one.symbol), (2, one.per_thread_symbol)) if symbol]
        self.assertGreater(len(lines), 600)
        for hidden in ([], ['cuProfilerStop']):  # with a hidden function, cushim answers in place of the driver
            other = client(['--softcuda', '580', '--hide', ','.join(hidden)], 'ask', text='\n'.join(lines))
            self.assertEqual([line.split()[0] for line in other], hidden)

    def test_exports_when_driver_is_older_then_are_exactly_those_of_the_driver(self):
        for branch, version in VERSIONS.items():
            names = client(['--softcuda', branch], 'names', text=' '.join([*SYMBOLS, CONTROL]))
            self.assertEqual(set(names), exported(softcuda(branch)) | {CONTROL}, branch)
            self.assertTrue(os.path.exists(library(version)), version)

    def test_exports_when_library_is_linked_then_are_those_up_to_its_version(self):
        for version in sorted({first for one in ENTRY_POINTS for _, first in one.exports if first > 6050}):
            known = {name for one in ENTRY_POINTS for name, first in one.exports if first <= version}
            self.assertEqual(exported(library(version)) - set(lists.WITHOUT_ROW), known, version)

    def test_control_of_softcuda_when_driver_is_softcuda_then_is_found(self):
        code = ('import ctypes; find = ctypes.CDLL("libcuda.so.1").softcuda_control; find.restype = ctypes.c_void_p; '
                'print(any(find(version) for version in range(16)))')
        answer = under(['--softcuda', '580'], CLIENT[0], '-c', code)
        self.assertEqual((answer.status, answer.out.split()), (0, [b'True']), answer.err)

    def test_control_of_softcuda_when_driver_is_another_then_is_not_exported(self):
        answer = under(['--driver', newest_fake('fake_future')], *CLIENT, 'names', 'libcuda.so.1',
                       text=f'cuInit {CONTROL}')
        self.assertEqual((answer.status, answer.json), (0, ['cuInit']))


@needs_auditor
class Search(Case):
    """A program finds what it finds without exec, and a driver that was chosen."""

    def finds(self, options, name, **variables):
        """Whether the program finds the name, which is then our library."""
        answer = under(options, *CLIENT, 'open', name, **variables)
        if answer.status == 0:
            self.assertIn(SETS, ''.join(answer.json['mapped']))
        else:
            self.assertIn(b'cannot open shared object file', answer.err)
        return answer.status == 0

    def test_name_when_the_machine_lacks_it_then_is_found_only_if_it_is_the_drivers_and_the_driver_was_chosen(self):
        for name, chosen in (('libcuda.so.1', True), ('libcuda.so', False), ('libcuda.so.550.163.01', False),
                             ('/usr/lib/nowhere/libcuda.so.1', False)):
            self.assertEqual(self.finds(['--softcuda', '550'], name), chosen, name)
            self.assertEqual(self.finds([], name, CUSHIM_DRIVER=softcuda(550)), chosen, name)

    def test_name_when_the_search_finds_it_then_is_replaced(self):
        directory = self.directory()
        other = os.path.join(directory, 'libcuda.so')
        shutil.copy(softcuda(470), other)
        with open(os.path.join(directory, 'libcuda.so.1'), 'wb') as file:  # the search goes on after it
            file.write(b'\x7fELF\x01\x01\x01' + bytes(9) + b'\x03\x00\x03\x00\x01' + bytes(100))
        path = os.path.dirname(softcuda(550))
        for options in ([], ['--softcuda', '550']):
            for name, found in (('libcuda.so.1', True), ('libcuda.so', False), (softcuda(550), True)):
                self.assertEqual(self.finds(options, name, LD_LIBRARY_PATH=path), found, (options, name))
            for name in ('libcuda.so.1', 'libcuda.so', other):
                self.assertTrue(self.finds(options, name, LD_LIBRARY_PATH=f'{directory}:{path}'), (options, name))
        linked, chosen = under([], built('linked'), LD_LIBRARY_PATH=path), under(['--softcuda', '550'], built('linked'))
        self.assertEqual((linked.status, linked.err, linked.out), (7, b'', chosen.out))

    def test_stub_when_the_search_ends_at_it_then_is_not_the_driver_that_was_not_chosen(self):
        stubs = os.path.join(self.directory(), 'stubs')
        os.mkdir(stubs)
        stub = shutil.copy(softcuda(470), os.path.join(stubs, 'libcuda.so'))
        variables = {'LD_LIBRARY_PATH': f'{os.path.dirname(softcuda(550))}:{stubs}'}
        answer = under([], *CLIENT, 'open', 'libcuda.so', **variables)
        self.assertEqual((answer.json['mapped'], answer.json['version']), ([stub], 11040))
        self.assertIn(b'not redirected: ' + stub.encode(), answer.err)
        self.assertTrue(self.finds(['--softcuda', '550'], 'libcuda.so', **variables))

    def test_no_driver_when_requested_then_dlopen_fails(self):
        path = os.path.dirname(softcuda(550))
        for name in ('libcuda.so.1', 'libcuda.so', softcuda(550)):
            self.assertFalse(self.finds(['--driver', 'none'], name, LD_LIBRARY_PATH=path), name)

    def test_root_when_given_then_its_driver_is_found_or_none(self):
        root = self.tree().directory(LIBRARIES)
        path = {'LD_LIBRARY_PATH': os.path.dirname(softcuda(550))}
        for name in ('libcuda.so.1', 'libcuda.so', softcuda(550)):
            self.assertFalse(self.finds(['--root', root.root], name, **path), name)
        note = b'cushim: exec: the program starts without a driver; '
        self.assertTrue(under(['--root', root.root], 'true', **path).err.splitlines()[-1].startswith(note))
        shutil.copy(softcuda(470), root.path(f'{LIBRARIES}/libcuda.so.1'))
        for variables in ({}, path):
            self.assertEqual(client(['--root', root.root], 'open', **variables)['version'], 11040)

    def test_machine_when_it_has_no_driver_then_programs_start_as_without_exec(self):
        if run('probe', '--format=json').json['reason'] not in ('not-found', 'no-nvidia'):
            self.skipTest('this machine has a driver')
        note = b'cushim: exec: the program starts without a driver; with --softcuda 580, it starts on a software driver'
        answer = under([], 'sh', '-c', 'exit 3')
        self.assertEqual((answer.status, answer.err.splitlines()[-1]), (3, note))
        self.assertFalse(self.finds([], 'libcuda.so.1'))
        self.assertIn(b'libcuda.so.1: cannot open shared object file', under([], built('linked')).err)

    def test_variables_when_the_program_starts_then_only_those_of_exec_are_new(self):
        mine = {'LD_LIBRARY_PATH': '/nowhere', 'GLIBC_TUNABLES': 'glibc.malloc.check=0'}
        plain = subprocess.run(['env'], env=environment(**mine), stdout=subprocess.PIPE, check=True)
        new = set(under(['--softcuda', '580'], 'env', **mine).out.split(b'\n')) - set(plain.stdout.split(b'\n'))
        self.assertEqual(sorted(line.split(b'=')[0] for line in new), [b'CUSHIM_EXEC', b'GLIBC_TUNABLES', b'LD_AUDIT'])
        self.assertIn(b'GLIBC_TUNABLES=glibc.malloc.check=0:glibc.rtld.optional_static_tls=4096', new)
        own = 'glibc.rtld.optional_static_tls=9000'
        self.assertIn(f'\nGLIBC_TUNABLES={own}\n',
                      '\n' + under(['--softcuda', '580'], 'env', GLIBC_TUNABLES=own).out.decode())

    @unittest.skipIf(IS_FOREIGN, 'programs of this machine cannot open a library that is built for another one')
    def test_library_when_it_has_static_thread_local_data_then_starts_beside_the_auditor(self):
        answer = under(['--softcuda', '580'], 'env', 'LD_PRELOAD=' + built('static_tls.so'), 'true')
        self.assertEqual((answer.status, answer.err), (0, b''))


class Newer(Case):
    """A driver that is newer than cushim's list."""

    def test_names_when_driver_is_newer_than_the_list_then_are_all_of_the_list_and_the_command_says_so(self):
        names = [name for one in ENTRY_POINTS for name in (one.symbol, one.per_thread_symbol) if name]
        answer = under(['--driver', newest_fake('fake_future')], *CLIENT, 'names', 'libcuda.so.1',
                       text=' '.join([*names, 'cuFromTheFuture']))
        self.assertEqual((answer.status, answer.json), (0, names))
        self.assertIn(f"(CUDA {NEXT_MAJOR // 1000}.0) is newer than cushim's list".encode(), answer.err)

    def test_names_when_limited_to_the_list_then_the_command_says_nothing(self):
        limit = f'{NEWEST // 1000}.{NEWEST % 1000 // 10}'
        answer = under(['--driver', newest_fake('fake_future'), '--max-version', limit], *CLIENT, 'open', 'libcuda.so.1')
        self.assertEqual((answer.status, answer.json['version'], answer.err), (0, NEWEST, b''))

    def test_proc_address_when_function_is_newer_than_the_list_then_is_the_drivers(self):
        path = newest_fake('fake_future')
        lines = [f'cuFromTheFuture {NEXT_MAJOR} 1 cuFromTheFuture', f'cuStreamQuery {NEXT_MAJOR} 1 cuStreamQuery_v2',
                 f'cuStreamQuery {NEXT_MAJOR} 2 cuStreamQuery_v2_ptsz', f'cuStreamQuery {NEWEST} 1 cuStreamQuery',
                 f'cuStreamGetId {NEXT_MAJOR} 1 cuStreamGetId', f'cuStreamGetId {NEXT_MAJOR} 2 cuStreamGetId_ptsz']
        # Newer functions lead into the driver, which is open under this name; those of the list into our library.
        for file, others in (([], lines[:3]), ([path], lines[3:])):
            answer = under(['--driver', path], *CLIENT, 'ask', 'libcuda.so.1', *file, text='\n'.join(lines))
            self.assertEqual((answer.status, answer.json), (0, others), file)


class Settings(Case):
    def test_version_limit_when_set_then_program_sees_a_driver_of_that_version(self):
        for limit, version in (('11.4', 11040), ('12.3', 12030), ('7.5', 7050), ('6.0', 6000), ('13.0', 13000)):
            answer = client(['--softcuda', '580', '--max-version', limit], 'open')
            self.assertEqual((answer['version'], answer['init']), (version, 0))
            names = client(['--softcuda', '580', '--max-version', limit], 'names', text=' '.join(SYMBOLS))
            expected = {name for one in ENTRY_POINTS for name, first in one.exports if first <= version}
            self.assertEqual(set(names) - set(lists.WITHOUT_ROW), expected, limit)

    def test_linked_program_when_driver_lacks_a_function_then_does_not_start(self):
        self.assertEqual(under(['--softcuda', '580'], built('linked_newer')).status, 7)
        for options in (['--softcuda', '470'], ['--softcuda', '580', '--max-version', '11.8']):
            answer = under(options, built('linked_newer'))
            self.assertEqual(answer.status, 127)
            self.assertIn(b'undefined symbol: cuStreamGetId', answer.err)

    def test_hidden_function_when_looked_up_then_not_found(self):
        options = ['--softcuda', '580', '--hide', 'StreamGetId,StreamGetCaptureInfo_v3']
        hidden = ['cuStreamGetId', 'cuStreamGetId_ptsz', 'cuStreamGetCaptureInfo_v3', 'cuStreamGetCaptureInfo_v3_ptsz']
        self.assertEqual(client(options, 'names', text=' '.join([*hidden, 'cuStreamGetCaptureInfo_v2'])),
                         ['cuStreamGetCaptureInfo_v2'])
        lines = ['cuStreamGetId 12000 1 cuStreamGetId', 'cuStreamGetCtx 9020 1 cuStreamGetCtx']
        self.assertEqual(client(options, 'ask', text='\n'.join(lines)), lines[:1])

    def test_hidden_function_when_linked_then_the_call_goes_to_the_slot(self):
        for name in ('linked', 'linked_now'):
            answer = under(['--softcuda', '580', '--hide', 'DeviceGetCount'], built(name))
            self.assertEqual((answer.status, answer.err), (7, b''), name)
            self.assertEqual(answer.out.decode().splitlines()[-2:], ['init 0', 'devices 801 -1'], name)

    def test_variables_when_set_for_exec_then_go_to_our_library_alone(self):
        variables = {'CUSHIM_MAX_VERSION': '12.3', 'CUSHIM_DRIVER': softcuda(580), 'CUSHIM_HIDE': 'StreamGetId'}
        self.assertEqual(client([], 'open', **variables)['version'], 12030)
        self.assertEqual(client([], 'names', text='cuStreamGetId cuInit', **variables), ['cuInit'])
        self.assertEqual(under([], 'env', **variables).out.count(b'\nCUSHIM_'), 1)

    def test_variables_when_set_by_the_program_then_do_not_reach_our_library(self):
        answer = under(['--softcuda', '580'], 'env', 'CUSHIM_MAX_VERSION=11.0', 'CUSHIM_HIDE=DriverGetVersion',
                       'CUSHIM_DRIVER=none', *CLIENT, 'open', 'libcuda.so.1')
        self.assertEqual((answer.json['result'], answer.json['version']), (0, 13000))

    def test_no_driver_when_requested_then_program_starts_and_finds_no_device(self):
        answer = under(['--driver', 'none'], built('linked'))
        self.assertEqual((answer.status, answer.err), (7, b''))
        lines = answer.out.decode().splitlines()
        self.assertEqual((lines[0], lines[-2:]), ('version 0', ['init 100', 'devices 0 0']))

    def test_program_when_the_driver_does_not_start_then_the_reason_is_shown(self):
        answer = under(['--softcuda', '580'], built('linked'), SOFTCUDA_DEVICES='0')
        self.assertIn('init 100', answer.out.decode())
        self.assertEqual(answer.err.count(b'CUDA cannot be used by this program.'), 1)


class Layers(Case):
    def test_layer_when_given_then_is_installed_once_and_reached_in_every_way(self):
        layer = built('newer_layer.so')
        for options, variables in ((['--layer', layer], {}), ([], {'CUSHIM_LAYERS': layer})):
            options = ['--softcuda', '580', *options]
            self.assertEqual(client(options, 'open', **variables)['version'], 13010)
            self.assertEqual(client(options, 'ask', text='cuDriverGetVersion 2020 1 cuDriverGetVersion', **variables), [])
            self.assertEqual(under(options, built('linked'), **variables).out.split()[1], b'13010')
            # The program's own cushim has no layers, and sees those of our library.
            probe = under(options, PROGRAM, 'probe', '--format=json', **variables).json
            self.assertEqual((probe['driver']['cuda_version'], probe['layers']), (13010, []))

    def test_layer_when_its_path_is_relative_then_is_found_from_another_directory(self):
        layer = os.path.relpath(built('newer_layer.so'))
        for options, variables in ((['--layer', layer], {}), ([], {'CUSHIM_LAYERS': layer})):
            answer = under(['--softcuda', '580', *options], 'sh', '-c', f'cd / && exec {built("linked")}', **variables)
            self.assertEqual((answer.err, answer.out.split()[1]), (b'', b'13010'), variables)

    def test_layers_when_set_by_the_program_then_do_not_reach_our_library(self):
        answer = under(['--softcuda', '580'], 'env', 'CUSHIM_LAYERS=' + built('newer_layer.so'), *CLIENT, 'open',
                       'libcuda.so.1')
        self.assertEqual(answer.json['version'], 13000)

    def test_layer_when_its_file_is_gone_then_there_is_no_driver(self):
        copy = os.path.join(self.directory(), 'layer.so')
        shutil.copy(built('newer_layer.so'), copy)
        answer = under(['--softcuda', '580', '--layer', copy], 'sh', '-c', f'rm {copy}; exec {built("linked")}')
        self.assertEqual(answer.out.decode().splitlines()[0], 'version 0')
        self.assertIn(f'cushim: exec: this program has no driver. The layer {copy} ', answer.err.decode())


class Children(Case):
    def test_child_when_started_in_any_way_then_has_our_library_and_one_driver(self):
        mapped = sorted([library(12030), softcuda(580)])
        options = ['--softcuda', '580', '--max-version', '12.3']
        for what in ('fork', 'spawn'):
            answer = client(options, what)
            self.assertEqual((answer['version'], answer['mapped']), (12030, mapped), what)
        answer = under(options, 'sh', '-c', f'{sys.executable} -B {CLIENT[2]} open libcuda.so.1; exit $?')
        self.assertEqual((answer.json['version'], answer.json['mapped']), (12030, mapped))

    def test_child_when_settings_are_gone_then_our_library_does_not_find_itself(self):
        answer = under(['--softcuda', '580'], 'env', '-u', 'CUSHIM_EXEC', *CLIENT, 'open', library(13000))
        self.assertEqual((answer.status, answer.json['result']), (0, 0))
        self.assertEqual([path for path in answer.json['mapped'] if path.startswith(SETS)], [library(13000)])

    @unittest.skipIf(IS_FOREIGN, 'the Python of this machine cannot open a library that is built for another one')
    def test_settings_when_they_name_our_library_then_there_is_no_driver(self):
        done = subprocess.run([*CLIENT, 'open', library(13000)], stdout=subprocess.PIPE, timeout=60, check=True,
                              env=environment(CUSHIM_EXEC=f'names={SETS}/13000;driver={library(13000)};hide='))
        self.assertIn(b'"version": 0, "init": 100', done.stdout)

    @needs_auditor
    def test_process_when_it_opens_a_driver_that_is_not_redirected_then_a_line_says_so(self):
        other = os.path.join(self.directory(), 'other-driver.so')
        shutil.copy(softcuda(470), other)
        options = ['--softcuda', '580']
        line = b'cushim: exec: this process opened a CUDA driver that is not redirected: %s\n'
        answer = under(options, *CLIENT, 'open', other)
        self.assertEqual((answer.json['mapped'], answer.err), ([other], line % other.encode()))
        for path in (softcuda(470), softcuda(580)):
            answer = under(options, *CLIENT, 'dlmopen', path)
            self.assertEqual((answer.status, answer.err), (0, line % path.encode()))
        self.assertEqual(under(options, *CLIENT, 'open', 'libcuda.so.1').err, b'')
        self.assertEqual(under(options, *CLIENT, 'dlmopen', 'libcuda.so.1').err, b'')

    @needs_auditor
    def test_process_when_it_then_ends_in_any_way_then_the_line_was_written(self):
        other = os.path.join(self.directory(), 'other-driver.so')
        shutil.copy(softcuda(470), other)
        for end in ('os._exit(0)', 'os.kill(os.getpid(), 9)', 'os.execlp("true", "true")'):
            answer = under(['--softcuda', '580'], sys.executable, '-c', f'import ctypes, os; ctypes.CDLL("{other}"); {end}')
            self.assertIn(b'not redirected', answer.err, end)

    def test_libraries_when_moved_then_are_found(self):
        directory = os.path.join(copied_libraries(self.directory()), '13000')
        variables = {'LD_LIBRARY_PATH': directory, 'CUSHIM_EXEC': f'names={directory};driver=/.{softcuda(580)}'}
        for audit in ({}, {'LD_AUDIT': f'{directory}/../auditor.so'} if HAS_AUDITOR else {}):
            done = subprocess.run([built('linked')], env=environment(**variables, **audit), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr, done.stdout.split()[1]), (7, b'', b'13000'), audit)


if __name__ == '__main__':
    main()
