#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doctor: the right cause first, on directories that look like kinds of machines, and on fake drivers that start or do not."""

import os
import shutil
import subprocess

from program import LIBRARIES, MULTIARCH, PROGRAM, UNUSABLE, USABLE, Case, fake, main, run, run_json

CHECKS = {'settings', 'library', 'stub', 'compat', 'kernel-module', 'device-nodes', 'container', 'wsl', 'jetson', 'nixos',
          'flatpak', 'visible-devices', 'version', 'gpu', 'start'}
DRIVER = '--driver=' + fake('driver_12_4')


class Doctor(Case):
    def see(self, *arguments, **settings):
        """The findings, with what holds of all."""
        answer = run_json('doctor', *arguments, **settings)
        ranks = {'problem': 0, 'note': 1, 'ok': 2}
        self.assertTrue(answer.document)
        for row in answer.document:
            self.assertEqual(list(row), ['check', 'verdict', 'message', 'advice'])
            self.assertIn(row['check'], CHECKS)
            self.assertIn(row['verdict'], ranks)
            self.assertRegex(row['message'], r'\.$')
            self.assertTrue(row['advice'] or row['verdict'] != 'problem', row)
        order = [ranks[row['verdict']] for row in answer.document]
        self.assertEqual(order, sorted(order))
        self.assertEqual(answer.status, UNUSABLE if order[0] == 0 else USABLE)
        text = run('doctor', *arguments, **settings)
        self.assertEqual(text.status, answer.status)
        for row in answer.document:
            self.assertIn(row['advice'], text.out.decode())
        return answer.document

    def blames(self, check, words, *arguments, **settings):
        """The first finding is a problem of this check, and says these words."""
        first = self.see(*arguments, **settings)[0]
        self.assertEqual((first['check'], first['verdict']), (check, 'problem'), first)
        self.assertIn(words, first['message'] + ' ' + first['advice'])

    def well(self, tree, **verdicts):
        """Nothing is wrong; returns the places that were tried."""
        found = {row['check']: row['verdict'] for row in self.see('--root', tree.root)}
        self.assertNotIn('problem', found.values())
        for check, verdict in verdicts.items():
            self.assertEqual(found.get(check.replace('_', '-')), verdict, check)
        return self.tried(tree)

    def tried(self, tree):
        places = [attempt['place'] for attempt in run_json('probe', '--root', tree.root).document['tried']]
        self.assertTrue(all(place.startswith(tree.root + '/') for place in places), places)
        return [place[len(tree.root):] for place in places]


class Machines(Doctor):
    def test_machine_when_all_is_there_then_well(self):
        tree = self.tree().driver(LIBRARIES).kernel_module().nodes().gpu_on_bus()
        tried = self.well(tree, library='ok', kernel_module='ok', device_nodes='ok', gpu='ok', start='note', wsl=None,
                          container=None)
        self.assertEqual(tried, [LIBRARIES + '/libcuda.so.1'])

    def test_directory_when_a_bare_image_then_what_it_cannot_have_is_no_problem(self):
        self.well(self.tree().driver('/usr/lib64'), library='ok', kernel_module='note', device_nodes='note')

    def test_directory_when_empty_then_the_library_is_missing(self):
        self.blames('library', 'no NVIDIA driver library', '--root', self.tree().root)

    def test_library_when_missing_and_a_gpu_is_there_then_to_be_installed(self):
        tree = self.tree().gpu_on_bus().kernel_module().nodes()
        self.blames('library', "There is an NVIDIA GPU: install NVIDIA's driver", '--root', tree.root)

    def test_gpu_when_the_bus_shows_none_then_that_comes_first(self):
        tree = self.tree().directory('/sys/bus/pci/devices')
        self.blames('gpu', 'shows no NVIDIA GPU', '--root', tree.root)
        tree.driver(LIBRARIES).file('/dev/nvidiactl')
        self.blames('gpu', 'shows no NVIDIA GPU', '--root', tree.root)
        nodes = [row for row in self.see('--root', tree.root) if row['check'] == 'device-nodes']
        self.assertIn('/dev/nvidiactl alone means little', nodes[0]['message'])

    def test_module_when_of_another_version_then_both_are_named(self):
        tree = self.tree().driver(LIBRARIES, '535.161.07').kernel_module('550.163.01').nodes().gpu_on_bus()
        self.blames('kernel-module', 'version 535.161.07, the kernel\'s part of the driver of 550.163.01', '--root', tree.root)

    def test_module_when_the_library_does_not_tell_its_version_then_no_guess(self):
        for release in ('1', '1.1'):
            tree = self.tree().driver(LIBRARIES, release).kernel_module().nodes().gpu_on_bus()
            self.well(tree, kernel_module='ok')

    def test_module_when_a_last_00_is_left_out_then_the_same(self):
        self.well(self.tree().driver(LIBRARIES, '418.226.00').kernel_module('418.226').nodes(), kernel_module='ok')

    def test_module_when_not_loaded_then_to_be_loaded(self):
        tree = self.tree().driver(LIBRARIES).gpu_on_bus()
        self.blames('kernel-module', 'modprobe nvidia', '--root', tree.root)

    def test_module_when_nouveau_is_in_its_place_then_named(self):
        tree = self.tree().driver(LIBRARIES).gpu_on_bus().directory('/sys/module/nouveau')
        self.blames('kernel-module', 'nouveau', '--root', tree.root)

    def test_nodes_when_missing_and_the_module_is_there_then_to_be_made(self):
        tree = self.tree().driver(LIBRARIES).gpu_on_bus().kernel_module()
        self.blames('device-nodes', 'nvidia-smi', '--root', tree.root)

    def test_nodes_when_only_uvm_is_missing_then_a_note(self):
        tree = self.tree().driver(LIBRARIES).gpu_on_bus().kernel_module().file('/dev/nvidiactl').file('/dev/nvidia0')
        self.well(tree, device_nodes='note')

    def test_stub_when_it_is_all_there_is_then_blamed(self):
        self.blames('stub', 'stubs', '--root', self.tree().driver(LIBRARIES, '1', 'stub').root)
        self.blames('stub', fake('stub'), '--driver', fake('stub'))

    def test_stub_when_before_a_driver_then_a_note(self):
        tree = self.tree().driver(LIBRARIES, '1', 'stub').driver('/usr/lib64').kernel_module().nodes()
        self.well(tree, stub='note', library='ok')

    def test_file_when_broken_and_before_a_driver_then_a_note(self):
        tree = self.tree().file(LIBRARIES + '/libcuda.so.1', 'text').driver('/usr/lib64').kernel_module().nodes()
        self.well(tree)
        notes = [row for row in self.see('--root', tree.root) if (row['check'], row['verdict']) == ('library', 'note')]
        self.assertIn(f'{tree.root}{LIBRARIES}/libcuda.so.1 was passed over', notes[0]['message'])

    def test_file_when_broken_then_the_loader_is_quoted(self):
        tree = self.tree().file(LIBRARIES + '/libcuda.so.1', 'text')
        self.blames('library', 'Reinstall', '--root', tree.root)
        self.blames('library', f'{LIBRARIES}/libcuda.so.1: ', '--root', tree.root)
        self.blames('library', 'this is a directory', '--driver', tree.root)
        self.blames('library', 'libc.so.6: not a driver', '--driver=libc.so.6')


class Places(Doctor):
    def test_wsl_when_whole_then_well_without_device_files(self):
        tree = self.tree().driver('/usr/lib/wsl/lib', '1').file('/dev/dxg').file('/proc/version', 'Linux 5-microsoft-WSL2')
        tried = self.well(tree, wsl='ok', device_nodes=None, kernel_module=None)
        self.assertEqual(tried[-1], '/usr/lib/wsl/lib/libcuda.so.1')
        self.assertIn(LIBRARIES + '/libcuda.so.1', tried)

    def test_wsl_when_windows_has_no_driver_then_to_be_installed_there(self):
        self.blames('wsl', "Install NVIDIA's driver in Windows", '--root', self.tree().file('/dev/dxg').root)

    def test_wsl_when_it_is_version_1_then_so_it_says(self):
        tree = self.tree().file('/proc/version', 'Linux version 4.4.0-Microsoft')
        self.blames('wsl', 'wsl -l -v', '--root', tree.root)

    def test_wsl_when_a_linux_driver_hides_the_other_then_to_be_removed(self):
        tree = self.tree().driver(LIBRARIES).driver('/usr/lib/wsl/lib', '1').file('/dev/dxg')
        self.blames('wsl', 'Remove', '--root', tree.root)

    def test_nixos_when_whole_then_well(self):
        tree = self.tree().file('/etc/NIXOS').driver('/run/opengl-driver/lib').kernel_module().nodes()
        self.assertEqual(self.well(tree, nixos='ok')[-1], '/run/opengl-driver/lib/libcuda.so.1')

    def test_nixos_when_not_set_up_then_the_settings_are_named(self):
        self.blames('nixos', 'services.xserver.videoDrivers', '--root', self.tree().file('/etc/NIXOS').gpu_on_bus().root)

    def test_jetson_when_whole_then_well_without_device_files(self):
        directory = f'/usr/lib/{MULTIARCH}/tegra'
        tree = self.tree().file('/etc/nv_tegra_release', '# R35').driver(directory, '1.1')
        self.assertEqual(self.well(tree, jetson='ok', device_nodes=None, kernel_module=None)[-1], directory + '/libcuda.so.1')

    def test_jetson_when_without_a_library_then_the_package_is_named(self):
        self.blames('jetson', 'nvidia-l4t-cuda', '--root', self.tree().file('/etc/nv_tegra_release').root)

    def test_flatpak_when_the_extension_fits_then_well(self):
        directory = f'/usr/lib/{MULTIARCH}/GL/nvidia-550-163-01/lib'
        tree = self.tree().file('/.flatpak-info').kernel_module().nodes().driver(directory)
        self.assertEqual(self.well(tree, flatpak='ok')[-1], directory + '/libcuda.so.1')

    def test_flatpak_when_the_extension_is_of_another_version_then_the_right_one_is_named(self):
        tree = self.tree().file('/.flatpak-info').kernel_module('550.163.01').nodes()
        tree.driver(f'/usr/lib/{MULTIARCH}/GL/nvidia-535-161-07/lib', '535.161.07')
        self.blames('flatpak', 'org.freedesktop.Platform.GL.nvidia-550-163-01"', '--root', tree.root)
        self.assertIn(f'/usr/lib/{MULTIARCH}/GL/nvidia-550-163-01/lib/libcuda.so.1', self.tried(tree))

    def test_places_when_each_holds_the_only_driver_then_found_there(self):
        for directory in (LIBRARIES, '/lib/' + MULTIARCH, '/usr/lib64', '/lib64', '/usr/lib', '/usr/local/lib',
                       LIBRARIES + '/nvidia/current', '/usr/lib/wsl/lib', '/run/opengl-driver/lib', '/usr/local/nvidia/lib64',
                       '/usr/local/nvidia/lib', '/.singularity.d/libs', '/run/nvidia/driver' + LIBRARIES,
                       '/run/nvidia/driver/usr/lib64', LIBRARIES + '/tegra'):
            tree = self.tree().driver(directory)
            answer = run_json('probe', '--root', tree.root)
            self.assertEqual(answer.status, USABLE, directory)
            self.assertEqual(answer.document['driver']['path'], tree.root + directory + '/libcuda.so.550.163.01')
            self.assertEqual(answer.document['tried'][-1]['place'], tree.root + directory + '/libcuda.so.1')


class Roots(Doctor):
    def test_root_when_the_driver_is_an_absolute_link_then_followed_below_the_root(self):
        tree = self.tree().driver('/opt/driver', '550.163.01').kernel_module().nodes().gpu_on_bus()
        os.symlink('/etc/alternatives/cuda', tree.path(LIBRARIES + '/libcuda.so.1'))
        os.symlink('/opt/driver/libcuda.so.1', tree.path('/etc/alternatives/cuda'))
        self.well(tree, library='ok', kernel_module='ok')
        path = run_json('probe', '--root', tree.root).document['driver']['path']
        self.assertEqual(path, tree.root + '/opt/driver/libcuda.so.550.163.01')

    def test_root_when_links_lead_out_of_it_then_not_to_this_machine(self):
        tree = self.tree().gpu_on_bus()
        os.symlink(fake('driver_12_4'), tree.path(LIBRARIES + '/libcuda.so.1'))
        os.symlink('../' * 20 + fake('driver_12_4'), tree.path('/usr/lib64/libcuda.so.1'))
        for path in ('/etc/NIXOS', '/etc/nv_tegra_release', '/.flatpak-info', '/sys/module/nouveau'):
            os.symlink(PROGRAM, tree.path(path))
        version = self.directory() + '/version'
        with open(version, 'w', encoding='utf-8') as file:
            file.write('Linux version 5-microsoft-WSL2')
        os.symlink(version, tree.path('/proc/version'))
        rows = self.see('--root', tree.root)
        self.assertIn('no NVIDIA driver library', [row['message'] for row in rows if row['check'] == 'library'][0])
        self.assertEqual({row['check'] for row in rows} & {'nixos', 'jetson', 'flatpak', 'wsl'}, set())
        self.assertNotIn('nouveau', ''.join(row['message'] for row in rows))

    def test_root_when_there_are_fifos_then_not_waited_for(self):
        tree = self.tree().driver(LIBRARIES)
        for path in ('/proc/version', '/proc/driver/nvidia/version', '/.dockerenv', '/lib64/libcuda.so.1'):
            os.mkfifo(tree.path(path))
        self.well(tree, library='ok', container=None, wsl=None)


class Containers(Doctor):
    def test_container_when_nothing_was_mounted_then_blamed(self):
        tree = self.tree().container().kernel_module().gpu_on_bus()
        self.blames('container', '--gpus all', '--root', tree.root)
        library = [row for row in self.see('--root', tree.root) if row['check'] == 'library'][0]
        self.assertNotIn('There is an NVIDIA GPU: install', library['advice'])  # not inside of a container
        tree.driver(LIBRARIES)
        self.blames('container', '--gpus all', '--root', tree.root)

    def test_container_when_the_host_has_no_gpu_then_that_is_the_cause(self):
        self.blames('gpu', 'shows no NVIDIA GPU', '--root', self.tree().container().directory('/sys/bus/pci/devices').root)

    def test_container_when_only_devices_were_mounted_then_the_library_is_asked_for(self):
        tree = self.tree().container().kernel_module().gpu_on_bus().nodes()
        self.blames('container', 'NVIDIA_DRIVER_CAPABILITIES', '--root', tree.root)

    def test_container_when_whole_then_well(self):
        self.well(self.tree().container().kernel_module().gpu_on_bus().nodes().driver(LIBRARIES), container='ok')


class Permissions(Doctor):
    NOBODY = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--')

    def as_someone(self):
        """What to run the program through, so that permissions bind it; a copy, since its directory may be closed to others."""
        if os.geteuid() != 0:
            return ()
        if not shutil.which('setpriv'):
            self.skipTest('permissions do not bind root, and there is no setpriv to become someone else')
        done = subprocess.run([*self.NOBODY, PROGRAM, '--version'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              check=False)
        if done.returncode != 0:
            self.skipTest('permissions do not bind root, and another user cannot run the program here: '
                          + done.stderr.decode(errors='replace').strip())
        return self.NOBODY

    def test_nodes_when_denied_then_the_group_is_hinted_at(self):
        before = self.as_someone()
        tree = self.tree().driver(LIBRARIES).kernel_module().gpu_on_bus().nodes(mode=0)
        self.blames('device-nodes', '/dev/nvidiactl /dev/nvidia0 /dev/nvidia-uvm', '--root', tree.root, before=before)
        self.blames('device-nodes', 'video or render', '--root', tree.root, before=before)

    def test_nodes_when_only_uvm_is_denied_then_named(self):
        before = self.as_someone()
        tree = self.tree().driver(LIBRARIES).kernel_module().gpu_on_bus().nodes().file('/dev/nvidia-uvm', mode=0)
        self.blames('device-nodes', 'device files /dev/nvidia-uvm.', '--root', tree.root, before=before)

    def test_nodes_when_denied_then_probe_gives_the_same_reason(self):
        before = self.as_someone()
        tree = self.tree().driver(LIBRARIES).kernel_module().nodes(mode=0)
        answer = run_json('probe', '--devices', '--root', tree.root, before=before, FAKE_INIT='100')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'device-nodes-denied'))

    def test_wsl_when_denied_then_so_it_says(self):
        before = self.as_someone()
        tree = self.tree().driver('/usr/lib/wsl/lib', '1').file('/dev/dxg', mode=0)
        self.blames('wsl', 'may not open /dev/dxg', '--root', tree.root, before=before)

    def test_library_when_unreadable_then_so_it_says(self):
        before = self.as_someone()
        tree = self.tree().driver(LIBRARIES).gpu_on_bus().kernel_module().nodes()
        os.chmod(f'{tree.root}{LIBRARIES}/libcuda.so.550.163.01', 0)
        self.blames('library', 'readable', '--root', tree.root, before=before)


class Started(Doctor):
    def test_driver_when_it_starts_then_usable_and_the_gpus_are_named(self):
        rows = self.see(DRIVER, FAKE_GPUS='2')
        start = [row for row in rows if row['check'] == 'start'][0]
        self.assertEqual(start['verdict'], 'ok')
        self.assertIn('2 GPUs: Fake "GPU" 0', start['message'])
        self.assertTrue(run('doctor', DRIVER).out.endswith(b'\nCUDA can be used.\n'))

    def test_driver_when_it_does_not_start_then_the_code_is_told(self):
        rows = self.see(DRIVER, FAKE_INIT='999')
        start = [row for row in rows if row['check'] == 'start'][0]
        self.assertEqual(start['verdict'], 'problem')
        self.assertIn('code 999, FAKE_ERROR_999', start['message'])
        self.assertTrue(run('doctor', DRIVER, FAKE_INIT='999').out.endswith(b'Begin with the first problem above.\n'))

    def test_driver_when_it_shows_no_gpu_then_a_problem(self):
        self.assertEqual(run('doctor', DRIVER, FAKE_GPUS='0').status, UNUSABLE)

    def test_driver_when_out_of_step_then_the_kernel_module_is_blamed(self):
        self.blames('kernel-module', 'Restart the machine', DRIVER, FAKE_INIT='803')

    def compat(self):
        directory = self.directory() + '/compat'
        os.mkdir(directory)
        shutil.copy(fake('driver_12_4'), directory + '/libcuda.so.1')
        return '--driver=' + directory + '/libcuda.so.1'

    def test_compat_when_refused_then_blamed(self):
        self.blames('compat', 'cuda-compat', self.compat(), FAKE_INIT='804')

    def test_compat_when_out_of_step_then_blamed_before_the_kernel_module(self):
        self.blames('compat', 'LD_LIBRARY_PATH', self.compat(), FAKE_INIT='803')

    def test_compat_when_in_use_then_a_note(self):
        rows = {row['check']: row['verdict'] for row in self.see(self.compat())}
        self.assertEqual(rows['compat'], 'note')

    def test_visible_devices_when_they_hide_every_gpu_then_a_problem(self):
        for value in ('', '-1', 'NoDevFiles'):
            rows = self.see(DRIVER, FAKE_INIT='100', CUDA_VISIBLE_DEVICES=value)
            self.assertIn(('visible-devices', 'problem'), [(row['check'], row['verdict']) for row in rows], value)

    def test_visible_devices_when_they_name_some_then_a_note(self):
        rows = {row['check']: row for row in self.see(DRIVER, CUDA_VISIBLE_DEVICES='0')}
        self.assertEqual(rows['visible-devices']['verdict'], 'note')
        self.assertIn('"0"', rows['visible-devices']['message'])

    def test_visible_devices_when_another_system_is_looked_at_then_not_its_own(self):
        rows = self.see('--root', self.tree().driver(LIBRARIES).root, CUDA_VISIBLE_DEVICES='')
        self.assertNotIn('visible-devices', [row['check'] for row in rows])

    def test_version_when_too_old_then_a_problem_though_it_starts(self):
        self.blames('version', 'driver 580', DRIVER, '--require=13.0')
        self.assertIn(b'\nCUDA can be used, but not as was asked.', run('doctor', DRIVER, '--require=13.0').out)
        self.blames('version', '--max-version', DRIVER, '--require=12.0', '--max-version=11.0')
        self.assertIn('version', [row['check'] for row in self.see(DRIVER, '--require=12.4')])

    def test_version_when_too_old_for_per_thread_streams_then_so_it_says(self):
        rows = {row['check']: row for row in self.see('--driver=' + fake('driver_6_5'), '--per-thread')}
        self.assertEqual((rows['version']['verdict'], rows['library']['verdict']), ('problem', 'ok'))

    def test_settings_when_they_switch_the_driver_off_then_blamed(self):
        self.blames('settings', 'CUSHIM_DRIVER', CUSHIM_DRIVER='none')
        self.blames('settings', 'CUSHIM_MAX_VERSION', CUSHIM_MAX_VERSION='new')

    def test_settings_when_they_rehearse_then_a_note(self):
        rows = [row for row in self.see(DRIVER, CUSHIM_MAX_VERSION='11.0') if row['check'] == 'settings']
        self.assertEqual([row['verdict'] for row in rows], ['note'])
        self.assertIn('CUSHIM_MAX_VERSION is set to "11.0"', rows[0]['message'])

    def test_path_when_it_is_wrong_then_what_names_it_is_told(self):
        self.blames('library', '/nowhere/libcuda.so.1', '--driver=/nowhere/libcuda.so.1')
        self.blames('library', 'Correct CUSHIM_DRIVER', CUSHIM_DRIVER='/nowhere/libcuda.so.1')


if __name__ == '__main__':
    main()
