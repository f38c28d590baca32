#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doctor names the true cause first, on directories that look like different machines and on fake drivers."""

import itertools
import os
import shutil
import subprocess

from program import CHECKS, LIBRARIES, MULTIARCH, PROGRAM, UNUSABLE, USABLE, Case, fake, for_each, main, run, run_json

DRIVER = '--driver=' + fake('driver_12_4')


class Files(Case):
    def test_tree_when_it_has_fifos_in_place_of_files_then_nothing_waits(self):
        tree = self.tree().gpu_on_bus().file('/etc/ld.so.preload', '/lib/queue.so\n')
        tree.file('/proc/sys/kernel/osrelease', '6.1\n')
        for path in ('/lib/queue.so', '/lib/modules/6.1/modules.dep', '/boot/config-6.1'):
            os.mkfifo(tree.path(path))
        for command in 'probe', 'doctor':
            answer = run(command, '--root', tree.root)
            self.assertIn(answer.status, (USABLE, UNUSABLE), command)
            self.assertNotIn(b'queue.so', answer.out)


class Doctor(Case):
    def findings(self, *arguments, **settings):
        """Returns the findings, after checking the rules that hold for all of them."""
        answer = run_json('doctor', *arguments, **settings)
        ranks = {'problem': 0, 'follows': 1, 'note': 2, 'ok': 3}
        self.assertTrue(answer.document)
        for row in answer.document:
            self.assertEqual(list(row), ['check', 'verdict', 'cause', 'message', 'advice', 'evidence', 'text'])
            self.assertIn(row['check'], CHECKS)
            self.assertIn(row['verdict'], ranks)
            self.assertRegex(row['text'], r'\.$')
            self.assertTrue(row['verdict'] != 'problem' or len(row['message']) <= 71, row)
            self.assertTrue(row['advice'] or row['verdict'] != 'problem', row)
            self.assertFalse(row['advice'] and row['verdict'] == 'follows', row)
        order = [ranks[row['verdict']] for row in answer.document]
        self.assertEqual(order, sorted(order))
        self.assertEqual(answer.status, UNUSABLE if order[0] == 0 else USABLE)
        text = run('doctor', *arguments, **settings)
        self.assertEqual(text.status, answer.status)
        lines = text.out.decode().splitlines()
        self.assertEqual([line for line in lines if len(line) > 80 and len(line.split()[-1]) < 40], [])
        for row in answer.document:
            self.assertIn(row['advice'], ' '.join(text.out.decode().split()))
        self.check_blocks(answer.document, answer.status == UNUSABLE, text.out.decode().strip().split('\n\n'))
        return answer.document

    def check_blocks(self, rows, has_lead, blocks):
        """The problem that leads, its evidence, what follows from it under a title, all others, and the result."""
        lead = 1 + (rows[0]['evidence'] != '') if has_lead else 0
        groups = [follows for follows, _ in itertools.groupby(row['verdict'] == 'follows' for row in rows[has_lead:])]
        self.assertEqual([block.startswith('This follows from it') for block in blocks[lead:-1]], groups, blocks)

    def blames(self, check, words, *arguments, **settings):
        """Expects that the first finding is a problem of this check and contains these words."""
        first = self.findings(*arguments, **settings)[0]
        self.assertEqual((first['check'], first['verdict']), (check, 'problem'), first)
        self.assertIn(words, first['text'] + ' ' + first['advice'])

    def passes(self, tree, **verdicts):
        """Expects that there is no problem. Returns the paths that were tried."""
        found = {row['check']: row['verdict'] for row in self.findings('--root', tree.root)}
        self.assertNotIn('problem', found.values())
        for check, verdict in verdicts.items():
            self.assertEqual(found.get(check.replace('_', '-')), verdict, check)
        return self.tried(tree)

    def tried(self, tree):
        paths = [attempt['path'] for attempt in run_json('probe', '--root', tree.root).document['tried']]
        self.assertTrue(all(path.startswith(tree.root + '/') for path in paths), paths)
        return [path[len(tree.root):] for path in paths]


class Machines(Doctor):
    def test_machine_when_complete_then_no_problem(self):
        tree = self.tree().driver(LIBRARIES).kernel_module().nodes().gpu_on_bus()
        tried = self.passes(tree, library='ok', kernel_module='ok', device_nodes='ok', gpu='ok', start='note', wsl=None,
                          container=None)
        self.assertEqual(tried, [LIBRARIES + '/libcuda.so.1'])

    def test_root_when_it_is_a_bare_image_then_missing_module_and_nodes_are_notes(self):
        self.passes(self.tree().driver('/usr/lib64'), library='ok', kernel_module='note', device_nodes='note')

    def test_root_when_empty_then_blames_missing_library(self):
        root = self.tree().root
        self.blames('library', 'no NVIDIA driver library', '--root', root)
        self.assertNotIn('there is an NVIDIA GPU', self.findings('--root', root)[0]['advice'])

    def test_library_when_missing_beside_a_gpu_then_advises_to_install_it(self):
        tree = self.tree().gpu_on_bus().kernel_module().nodes()
        self.blames('library', 'libnvidia-compute-550 (Ubuntu)', '--root', tree.root)  # not another version: error 803
        self.assertIn('550.163.01', self.findings('--root', tree.root)[0]['message'])
        self.blames('library', 'there is an NVIDIA GPU', '--root', self.tree().gpu_on_bus().root)

    def test_gpu_when_bus_shows_none_then_missing_library_is_no_second_problem(self):
        for tree in (self.tree(), self.tree().container()):
            tree.directory('/sys/bus/pci/devices')
            rows = self.findings('--root', tree.root)
            self.assertEqual([row['check'] for row in rows if row['verdict'] == 'problem'], ['gpu'])
            self.assertIn('library', [row['check'] for row in rows])

    def test_stub_when_it_is_the_only_library_then_is_the_only_problem(self):
        tree = self.tree().driver(LIBRARIES, '1', 'stub').gpu_on_bus().kernel_module().nodes()
        rows = self.findings('--root', tree.root)
        self.assertEqual([row['check'] for row in rows if row['verdict'] == 'problem'], ['stub'])

    def test_gpu_when_bus_shows_none_then_is_the_first_problem(self):
        tree = self.tree().directory('/sys/bus/pci/devices')
        self.blames('gpu', 'No NVIDIA GPU', '--root', tree.root)
        tree.driver(LIBRARIES).file('/dev/nvidiactl')
        self.blames('gpu', 'No NVIDIA GPU', '--root', tree.root)
        nodes = [row for row in self.findings('--root', tree.root) if row['check'] == 'device-nodes']
        self.assertIn('/dev/nvidiactl alone', nodes[0]['text'])

    def test_kernel_module_when_version_differs_then_names_both_versions(self):
        tree = self.tree().driver(LIBRARIES, '535.161.07').kernel_module('550.163.01').nodes().gpu_on_bus()
        self.blames('kernel-module', 'has version 535.161.07, and the kernel module 550.163.01.', '--root', tree.root)

    def test_kernel_module_when_library_version_is_unknown_then_no_problem(self):
        for release in ('1', '1.1'):
            tree = self.tree().driver(LIBRARIES, release).kernel_module().nodes().gpu_on_bus()
            self.passes(tree, kernel_module='ok')

    def test_kernel_module_when_version_lacks_trailing_00_then_no_problem(self):
        self.passes(self.tree().driver(LIBRARIES, '418.226.00').kernel_module('418.226').nodes(), kernel_module='ok')

    def test_kernel_module_when_not_loaded_then_advises_to_load_it(self):
        tree = self.tree().driver(LIBRARIES).gpu_on_bus()
        self.blames('kernel-module', 'modprobe nvidia', '--root', tree.root)

    def test_device_nodes_when_missing_beside_kernel_module_then_advises_to_create_them(self):
        tree = self.tree().driver(LIBRARIES).gpu_on_bus().kernel_module()
        self.blames('device-nodes', 'nvidia-smi', '--root', tree.root)

    def test_device_nodes_when_only_uvm_is_missing_then_is_a_note(self):
        tree = self.tree().driver(LIBRARIES).gpu_on_bus().kernel_module().file('/dev/nvidiactl').file('/dev/nvidia0')
        self.passes(tree, device_nodes='note')

    def test_stub_when_it_is_the_only_library_then_blames_it(self):
        self.blames('stub', 'stubs', '--root', self.tree().driver(LIBRARIES, '1', 'stub').root)
        self.blames('stub', fake('stub'), '--driver', fake('stub'))

    def test_stub_when_found_before_a_driver_then_is_a_note(self):
        tree = self.tree().driver(LIBRARIES, '1', 'stub').driver('/usr/lib64').kernel_module().nodes()
        self.passes(tree, stub='note', library='ok')

    def test_stub_when_programs_get_it_by_name_then_is_a_problem_beside_a_driver_that_starts(self):
        stub, driver = self.directory(), self.directory()
        os.symlink(fake('stub'), stub + '/libcuda.so.1')
        os.symlink(fake('driver_12_4'), driver + '/libcuda.so.1')
        places = {'LD_LIBRARY_PATH': stub, 'SNAP_LIBRARY_PATH': driver}
        rows = [row for row in self.findings(**places) if row['check'] == 'stub']
        self.assertEqual([row['verdict'] for row in rows], ['problem'])
        self.assertIn('error 34', rows[0]['text'])
        self.assertIn(stub + '/libcuda.so.1', rows[0]['text'])
        if any(os.path.exists(path + '/libcuda.so.1') for path in (LIBRARIES, '/usr/lib64', '/usr/lib/wsl/lib')):
            self.skipTest('the driver of this machine precedes that of the test')
        self.blames('stub', 'LD_LIBRARY_PATH', **places)
        self.assertIn('not by every program', run('doctor', **places).out.decode())

    def test_library_when_corrupt_one_precedes_a_driver_then_is_a_note(self):
        tree = self.tree().file(LIBRARIES + '/libcuda.so.1', 'text').driver('/usr/lib64').kernel_module().nodes()
        self.passes(tree)
        notes = [row for row in self.findings('--root', tree.root) if (row['check'], row['verdict']) == ('library', 'note')]
        self.assertIn(f'{tree.root}{LIBRARIES}/libcuda.so.1 was skipped', notes[0]['text'])

    def test_library_when_corrupt_then_quotes_the_dynamic_loader(self):
        tree = self.tree().file(LIBRARIES + '/libcuda.so.1', 'text')
        self.blames('library', 'Reinstall', '--root', tree.root)
        self.blames('library', f'{LIBRARIES}/libcuda.so.1: ', '--root', tree.root)
        self.blames('library', 'a directory', '--driver', tree.root)
        self.blames('library', 'libc.so.6: not a driver', '--driver=libc.so.6')


class Places(Doctor):
    def test_wsl_when_complete_then_no_problem_without_device_nodes(self):
        tree = self.tree().driver('/usr/lib/wsl/lib', '1').file('/dev/dxg').file('/proc/version', 'Linux 5-microsoft-WSL2')
        tried = self.passes(tree, wsl='ok', device_nodes=None, kernel_module=None)
        self.assertEqual(tried[-1], '/usr/lib/wsl/lib/libcuda.so.1')
        self.assertIn(LIBRARIES + '/libcuda.so.1', tried)

    def test_wsl_when_windows_lacks_a_driver_then_advises_to_install_it_there(self):
        self.blames('wsl', "Install NVIDIA's driver in Windows", '--root', self.tree().file('/dev/dxg').root)

    def test_wsl_when_a_container_in_it_lacks_the_gpu_then_advises_to_pass_it(self):
        tree = self.tree().container().file('/proc/version', 'Linux 5-microsoft-WSL2').directory('/sys/bus/pci/devices')
        self.blames('container', '--gpus all', '--root', tree.root)
        self.blames('container', 'NVIDIA_DRIVER_CAPABILITIES', '--root', tree.file('/dev/dxg').root)

    def test_wsl_when_version_is_1_then_blames_it(self):
        tree = self.tree().file('/proc/version', 'Linux version 4.4.0-Microsoft')
        self.blames('wsl', 'wsl -l -v', '--root', tree.root)

    def test_wsl_when_linux_driver_hides_the_windows_one_then_advises_to_remove_it(self):
        tree = self.tree().driver(LIBRARIES).driver('/usr/lib/wsl/lib', '1').file('/dev/dxg')
        self.blames('wsl', 'Remove', '--root', tree.root)

    def test_nixos_when_complete_then_no_problem(self):
        tree = self.tree().file('/etc/NIXOS').driver('/run/opengl-driver/lib').kernel_module().nodes()
        self.assertEqual(self.passes(tree, nixos='ok')[-1], '/run/opengl-driver/lib/libcuda.so.1')

    def test_nixos_when_not_configured_then_names_the_settings(self):
        self.blames('nixos', 'services.xserver.videoDrivers', '--root', self.tree().file('/etc/NIXOS').gpu_on_bus().root)

    def test_jetson_when_complete_then_no_problem_without_device_nodes(self):
        for mark, directory in (('/etc/nv_tegra_release', LIBRARIES + '/tegra'), ('/etc/nv_tegra_release', LIBRARIES + '/nvidia'),
                                ('/etc/nv_tegra_release', LIBRARIES), ('/dev/nvmap', '/usr/lib')):
            tree = self.tree().file(mark).driver(directory, '1.1')
            tried = self.passes(tree, jetson='ok', device_nodes=None, kernel_module=None)
            self.assertEqual(tried[-1], directory + '/libcuda.so.1')

    def test_jetson_when_library_is_missing_then_names_the_package(self):
        self.blames('jetson', 'nvidia-l4t-cuda', '--root', self.tree().file('/etc/nv_tegra_release').root)

    def test_flatpak_when_extension_matches_then_no_problem(self):
        directory = f'/usr/lib/{MULTIARCH}/GL/nvidia-550-163-01/lib'
        tree = self.tree().file('/.flatpak-info').kernel_module().nodes().driver(directory)
        self.assertEqual(self.passes(tree, flatpak='ok')[-1], directory + '/libcuda.so.1')

    def test_flatpak_when_extension_version_differs_then_names_the_right_one(self):
        tree = self.tree().file('/.flatpak-info').kernel_module('550.163.01').nodes()
        tree.driver(f'/usr/lib/{MULTIARCH}/GL/nvidia-535-161-07/lib', '535.161.07')
        self.blames('flatpak', 'org.freedesktop.Platform.GL.nvidia-550-163-01"', '--root', tree.root)
        self.assertIn(f'/usr/lib/{MULTIARCH}/GL/nvidia-550-163-01/lib/libcuda.so.1', self.tried(tree))

    def test_flatpak_when_module_version_is_unknown_then_advises_to_install_the_driver_first(self):
        self.blames('flatpak', "Install NVIDIA's driver on the system", '--root', self.tree().file('/.flatpak-info').root)

    def test_search_when_a_known_path_holds_the_only_driver_then_finds_it(self):
        for directory in (LIBRARIES, '/lib/' + MULTIARCH, '/usr/lib64', '/lib64', '/usr/lib', '/usr/local/lib',
                       LIBRARIES + '/nvidia/current', LIBRARIES + '/nvidia', '/usr/lib/wsl/lib', '/run/opengl-driver/lib', '/usr/local/nvidia/lib64',
                       '/usr/local/nvidia/lib', '/.singularity.d/libs', '/run/nvidia/driver' + LIBRARIES,
                       '/run/nvidia/driver/usr/lib64', LIBRARIES + '/tegra'):
            tree = self.tree().driver(directory)
            answer = run_json('probe', '--root', tree.root)
            self.assertEqual(answer.status, USABLE, directory)
            self.assertEqual(answer.document['driver']['path'], tree.root + directory + '/libcuda.so.550.163.01')
            self.assertEqual(answer.document['tried'][-1]['path'], tree.root + directory + '/libcuda.so.1')


class Roots(Doctor):
    def test_root_when_driver_is_an_absolute_link_then_follows_it_below_the_root(self):
        tree = self.tree().driver('/opt/driver', '550.163.01').kernel_module().nodes().gpu_on_bus()
        os.symlink('/etc/alternatives/cuda', tree.path(LIBRARIES + '/libcuda.so.1'))
        os.symlink('/opt/driver/libcuda.so.1', tree.path('/etc/alternatives/cuda'))
        self.passes(tree, library='ok', kernel_module='ok')
        path = run_json('probe', '--root', tree.root).document['driver']['path']
        self.assertEqual(path, tree.root + '/opt/driver/libcuda.so.550.163.01')

    def test_root_when_links_lead_out_of_it_then_reads_nothing_outside(self):
        tree = self.tree().gpu_on_bus()
        os.symlink(fake('driver_12_4'), tree.path(LIBRARIES + '/libcuda.so.1'))
        os.symlink('../' * 20 + fake('driver_12_4'), tree.path('/usr/lib64/libcuda.so.1'))
        for path in ('/etc/nv_tegra_release', '/.flatpak-info', '/sys/module/nouveau'):
            os.symlink(PROGRAM, tree.path(path))
        version = self.directory() + '/version'
        with open(version, 'w', encoding='utf-8') as file:
            file.write('Linux version 5-microsoft-WSL2')
        for i in range(39):  # the last one is the first that is not followed
            os.symlink(f'/{i + 1}', tree.path(f'/{i}'))
        os.symlink(version, tree.path('/39'))
        for path in ('/proc/version', '/etc/NIXOS'):
            os.symlink('/0', tree.path(path))
        rows = self.findings('--root', tree.root)
        self.assertIn('no NVIDIA driver library', [row['text'] for row in rows if row['check'] == 'library'][0])
        self.assertEqual({row['check'] for row in rows} & {'nixos', 'jetson', 'flatpak', 'wsl'}, set())
        self.assertNotIn('nouveau', ''.join(row['text'] for row in rows))

    def test_root_when_it_holds_fifos_then_program_returns(self):
        tree = self.tree().driver(LIBRARIES)
        for path in ('/proc/version', '/proc/driver/nvidia/version', '/.dockerenv', '/lib64/libcuda.so.1'):
            os.mkfifo(tree.path(path))
        self.passes(tree, library='ok', container=None, wsl=None)


class Containers(Doctor):
    def test_container_when_nothing_is_mounted_then_blames_it(self):
        tree = self.tree().container().kernel_module().gpu_on_bus()
        self.blames('container', '--gpus all', '--root', tree.root)
        library = [row for row in self.findings('--root', tree.root) if row['check'] == 'library'][0]
        self.assertNotIn('there is an NVIDIA GPU', library['advice'])  # not inside a container
        tree.driver(LIBRARIES)
        self.blames('container', '--gpus all', '--root', tree.root)

    def test_container_when_another_root_is_examined_then_variables_of_this_process_do_not_count(self):
        tree = self.tree().container().kernel_module().gpu_on_bus()
        broken = self.directory()
        os.mkdir(broken + '/libcuda.so.1')
        self.assertEqual(self.findings('--root', tree.root, NVIDIA_VISIBLE_DEVICES='none', LD_LIBRARY_PATH=broken),
                         self.findings('--root', tree.root))

    def test_container_when_host_has_no_gpu_then_blames_the_gpu(self):
        self.blames('gpu', '--gpus all', '--root', self.tree().container().directory('/sys/bus/pci/devices').root)

    def test_container_when_only_nodes_are_mounted_then_advises_to_mount_the_library(self):
        tree = self.tree().container().kernel_module().gpu_on_bus().nodes()
        self.blames('container', 'NVIDIA_DRIVER_CAPABILITIES', '--root', tree.root)

    def test_container_when_a_given_library_is_missing_then_none_is_claimed(self):
        tree = self.tree().container().kernel_module().gpu_on_bus().nodes().driver(LIBRARIES)
        rows = self.findings('--root', tree.root, '--driver=/nowhere/libcuda.so.1')
        self.assertEqual(rows[0]['message'], 'The requested driver library does not exist.')
        self.assertNotIn('a driver library', ' '.join(row['text'] for row in rows[1:]))

    def test_container_when_complete_then_no_problem(self):
        self.passes(self.tree().container().kernel_module().gpu_on_bus().nodes().driver(LIBRARIES), container='ok')


class Permissions(Doctor):
    NOBODY = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--')

    def unprivileged(self):
        """Returns the command that runs the program as a user whom permissions bind, or skips the test."""
        if os.geteuid() != 0:
            return ()
        if not shutil.which('setpriv'):
            self.skipTest('permissions do not bind root, and setpriv is not installed')
        done = subprocess.run([*self.NOBODY, PROGRAM, '--version'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              check=False)
        if done.returncode != 0:
            self.skipTest('permissions do not bind root, and another user cannot run the program here: '
                          + done.stderr.decode(errors='replace').strip())
        return self.NOBODY

    def test_device_nodes_when_denied_then_names_the_groups(self):
        before = self.unprivileged()
        tree = self.tree().driver(LIBRARIES).kernel_module().gpu_on_bus().nodes(mode=0)
        self.blames('device-nodes', '/dev/nvidiactl /dev/nvidia0 /dev/nvidia-uvm', '--root', tree.root, before=before)
        self.blames('device-nodes', 'video or render', '--root', tree.root, before=before)

    def test_device_nodes_when_only_uvm_is_denied_then_names_it(self):
        before = self.unprivileged()
        tree = self.tree().driver(LIBRARIES).kernel_module().gpu_on_bus().nodes().file('/dev/nvidia-uvm', mode=0)
        self.blames('device-nodes', 'It may not open /dev/nvidia-uvm.', '--root', tree.root, before=before)

    def test_device_nodes_when_denied_then_probe_reports_the_same_reason(self):
        before = self.unprivileged()
        tree = self.tree().driver(LIBRARIES).kernel_module().nodes(mode=0)
        answer = run_json('probe', '--devices', '--root', tree.root, before=before, FAKE_INIT='100')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'device-nodes-denied'))

    def test_wsl_when_node_is_denied_then_blames_it(self):
        before = self.unprivileged()
        tree = self.tree().driver('/usr/lib/wsl/lib', '1').file('/dev/dxg', mode=0)
        self.blames('wsl', 'not permitted to open /dev/dxg', '--root', tree.root, before=before)

    def test_library_when_unreadable_then_blames_it(self):
        before = self.unprivileged()
        tree = self.tree().driver(LIBRARIES).gpu_on_bus().kernel_module().nodes()
        os.chmod(f'{tree.root}{LIBRARIES}/libcuda.so.550.163.01', 0)
        self.blames('library', 'readable', '--root', tree.root, before=before)


class Started(Doctor):
    def test_start_when_init_succeeds_then_names_the_gpus(self):
        rows = self.findings(DRIVER, FAKE_GPUS='2')
        start = [row for row in rows if row['check'] == 'start'][0]
        self.assertEqual(start['verdict'], 'ok')
        self.assertIn('2 GPUs: Fake "GPU" 0', start['text'])
        self.assertTrue(run('doctor', DRIVER).out.endswith(b'\nCUDA can be used.\n'))

    def test_start_when_init_fails_then_reports_the_code(self):
        row = self.findings(DRIVER, FAKE_INIT='999')[0]
        self.assertEqual(row['verdict'], 'problem')
        self.assertIn('cuInit returns code 999, FAKE_ERROR_999', row['text'])
        self.assertTrue(run('doctor', DRIVER, FAKE_INIT='999').out.endswith(b'Begin with the first problem above.\n'))

    def test_start_when_a_later_step_fails_then_names_the_call(self):
        for variable, call in (('FAKE_CONTEXT', 'cuCtxCreate'), ('FAKE_MEMORY', 'cuMemAlloc'), ('FAKE_STREAM', 'cuStreamCreate')):
            self.assertIn(call + ' returns code 999', self.findings(DRIVER, **{variable: '999'})[0]['text'])
            self.assertNotIn(b'CUDA can be used', run('doctor', DRIVER, **{variable: '999'}).out)

    def test_start_when_functions_are_hidden_then_does_not_say_that_cuda_can_be_used(self):
        answer = run('doctor', DRIVER, '--hide=cuCtxCreate')
        self.assertEqual(answer.status, USABLE)
        self.assertNotIn(b'CUDA can be used', answer.out)

    def test_start_when_driver_crashes_then_other_findings_are_printed(self):
        for call in ('cuInit', 'cuCtxCreate', 'cuStreamCreate'):
            rows = self.findings(DRIVER, FAKE_CRASH=call)
            start = [row['text'] for row in rows if row['check'] == 'start'][0]
            self.assertIn(call + ' ends the process with a signal (Aborted)', start)
            self.assertIn('library', [row['check'] for row in rows])

    def test_start_when_driver_hangs_then_ends_and_names_the_system_call(self):
        def check(call):
            rows = self.findings(DRIVER, '--timeout=4', FAKE_HANG=call)
            start = [row['text'] for row in rows if row['check'] == 'start'][0]
            self.assertIn(call + ' has not returned for 4 seconds. The process waits (state S)', start)
            self.assertIn('library', [row['check'] for row in rows])
        for_each(check, ('cuInit', 'cuCtxCreate', 'cuStreamCreate'))

    def test_start_when_driver_has_no_gpu_then_exit_status_is_unusable(self):
        self.assertEqual(run('doctor', DRIVER, FAKE_GPUS='0').status, UNUSABLE)

    def compat(self):
        directory = self.directory() + '/compat'
        os.mkdir(directory)
        shutil.copy(fake('driver_12_4'), directory + '/libcuda.so.1')
        return '--driver=' + directory + '/libcuda.so.1'

    def test_compat_when_in_use_then_is_a_note(self):
        rows = {row['check']: row['verdict'] for row in self.findings(self.compat())}
        self.assertEqual(rows['compat'], 'note')

    def test_visible_devices_when_every_gpu_is_hidden_then_is_a_problem(self):
        for value in ('', '-1', 'NoDevFiles'):
            rows = self.findings(DRIVER, FAKE_INIT='100', CUDA_VISIBLE_DEVICES=value)
            row = next(row for row in rows if row['check'] == 'visible-devices')
            self.assertIn(row['verdict'], ('problem', 'follows'), value) # a machine without a GPU has another cause

    def test_visible_devices_when_some_are_named_then_is_a_note(self):
        rows = {row['check']: row for row in self.findings(DRIVER, CUDA_VISIBLE_DEVICES='0')}
        self.assertEqual(rows['visible-devices']['verdict'], 'note')
        self.assertIn('"0"', rows['visible-devices']['text'])

    def test_gpu_when_the_kernel_module_lists_two_then_a_line_for_each(self):
        tree = self.tree().driver(LIBRARIES).kernel_module().nodes()
        for number in range(2):
            tree.gpu(number, f'GPU-{number}8913974-b729-bde5-cec9-7908a6baaae2')
        os.remove(tree.root + '/dev/nvidia1')
        rows = [row for row in self.findings('--root', tree.root) if row['check'] == 'gpu']
        self.assertEqual([row['verdict'] for row in rows], ['note', 'ok'])
        self.assertIn('NVIDIA H200, compute capability 9.0, 0000:02:00.0, GPU-18913974-', rows[0]['text'])
        self.assertIn('its device file does not exist here', rows[0]['text'])

    def test_visible_devices_when_root_is_given_then_is_not_checked(self):
        rows = self.findings('--root', self.tree().driver(LIBRARIES).root, CUDA_VISIBLE_DEVICES='')
        self.assertNotIn('visible-devices', [row['check'] for row in rows])

    def test_version_when_driver_is_too_old_then_is_a_problem_though_init_succeeds(self):
        self.blames('version', 'driver 580', DRIVER, '--require=13.0')
        self.assertIn(b'\nCUDA can be used, but not as required.', run('doctor', DRIVER, '--require=13.0').out)
        self.blames('version', '--max-version', DRIVER, '--require=12.0', '--max-version=11.0')
        self.assertIn('version', [row['check'] for row in self.findings(DRIVER, '--require=12.4')])
        for condition, words in (('cuda>=13.0', 'driver 580'), ('driver>=580', 'driver 580'), ('driver<550', 'driver<550'),
                                 ('StreamGetDevice_v1', 'cuStreamGetDevice')):
            self.blames('version', words, DRIVER, f'--require={condition}')
        for condition in ('cuda>=12.4', 'driver>=550', 'cuda<13.0', 'StreamQuery_v1'):
            rows = self.findings(DRIVER, f'--require={condition}')
            self.assertIn(('version', 'ok'), [(row['check'], row['verdict']) for row in rows], condition)
        for condition in ('arch>=9.0', 'memory>=1G', 'memory-pools'):
            self.assertEqual(run('doctor', f'--require={condition}').status, 2, condition)

    def test_settings_when_driver_is_switched_off_then_blames_them(self):
        self.blames('settings', 'CUSHIM_DRIVER', CUSHIM_DRIVER='none')
        self.blames('settings', 'CUSHIM_MAX_VERSION', CUSHIM_MAX_VERSION='new')

    def test_settings_when_version_is_limited_then_is_a_note(self):
        rows = [row for row in self.findings(DRIVER, CUSHIM_MAX_VERSION='11.0') if row['check'] == 'settings']
        self.assertEqual([row['verdict'] for row in rows], ['note'])
        self.assertIn('CUSHIM_MAX_VERSION is set to "11.0"', rows[0]['text'])

    def test_library_when_given_path_does_not_exist_then_names_its_origin(self):
        self.blames('library', '/nowhere/libcuda.so.1', '--driver=/nowhere/libcuda.so.1')
        self.blames('library', 'Correct CUSHIM_DRIVER', CUSHIM_DRIVER='/nowhere/libcuda.so.1')


if __name__ == '__main__':
    main()
