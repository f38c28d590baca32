#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Causes of causes.inc that cannot be made here lead on a tree of files that looks like such a machine. Each cause is in
a test here or in test_causes.py, and the page is up to date.

  test_trees.py PROGRAM FAKES
"""

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'cli'))
from agreement import Agreement  # pylint: disable=wrong-import-position
from program import LIBRARIES, PROGRAM, Case, environment, fake, main, run_json  # pylint: disable=wrong-import-position

LIST = os.path.join(HERE, '..', '..', 'doctor')
BUS = '/sys/bus/pci/devices/0000:01:00.0/'


class OnTree(Agreement):
    """What cannot be made here: a tree, and a fake code. With --watch, the driver is started below a root, too."""

    def machine(self, device='0x2335', driver='nvidia'):
        return self.bind(self.tree().gpu_on_bus().file(BUS + 'device', device).nodes(), BUS, driver)

    def bind(self, tree, device, driver):
        if driver:
            os.symlink('../../../bus/pci/drivers/' + driver, tree.path(device + 'driver'))
        return tree

    def leads(self, cause, tree, path='', **variables):
        driver = tree.root + path if path else fake('driver_12_4')
        machine = ['--root', tree.root] + (['--driver', driver] if variables else [])
        first = run_json('doctor', *machine, *(['--watch'] if variables else []), **variables).document[0]
        self.assertEqual(first['cause'], cause, first)
        self.compare(first, machine + (['--devices'] if variables else []), **variables)
        self.assertNotRegex(first['text'] + first['advice'], r'[{}]')
        return first

    def open_module(self, tree, machine='x86_64', version='580.95.05'):
        return tree.file('/proc/driver/nvidia/version',
                         f'NVRM version: NVIDIA UNIX Open Kernel Module for {machine}  {version}  Release Build\n')

    def test_code_3_when_hmm_is_on_then_names_it(self):
        tree = self.open_module(self.machine()).file('/sys/module/nvidia_uvm/parameters/uvm_disable_hmm', 'N\n')
        self.leads('hmm_with_kaslr', tree.file('/proc/cmdline', 'quiet\n'), FAKE_INIT='3')
        tree.file('/proc/sys/kernel/osrelease', '6.14.0\n').file('/boot/config-6.14.0', 'CONFIG_SMP=y\n')  # no arm64
        self.leads('uvm_failed', tree.file('/proc/cmdline', 'quiet nokaslr\n'), FAKE_INIT='3')

    def test_code_3_when_arm64_then_names_sva(self):
        tree = self.open_module(self.machine(), 'aarch64').file('/proc/sys/kernel/osrelease', '6.14.0\n')
        self.leads('uvm_failed_on_arm64', tree, FAKE_INIT='3')
        self.leads('kernel_without_sva', tree.file('/boot/config-6.14.0', 'CONFIG_SMP=y\n'), FAKE_INIT='3')

    def test_code_802_when_switches_wait_then_names_the_fabric_manager(self):
        tree = self.machine().kernel_module()
        self.leads('not_ready', tree, FAKE_INIT='802')
        no_switch = self.machine().kernel_module().file('/proc/2/comm', 'kthreadd\n')
        self.leads('not_ready', no_switch, FAKE_INIT='802')
        tree.file('/proc/cpuinfo', 'flags\t: fpu hypervisor\n')
        self.leads('not_ready_in_virtual_machine', tree, FAKE_INIT='802')
        switch = '/sys/bus/pci/devices/0000:02:00.0/'
        tree.file(switch + 'vendor', '0x10de').file(switch + 'class', '0x068000')
        self.leads('fabric_manager_not_visible', tree, FAKE_INIT='802')
        self.leads('fabric_manager_not_visible', tree.file('/proc/2/comm', 'bash\n'), FAKE_INIT='802')
        self.leads('fabric_manager_missing', tree.file('/proc/2/comm', 'kthreadd\n'), FAKE_INIT='802')
        self.leads('fabric_manager_not_ready', tree.file('/proc/77/comm', 'nv-fabricmanage\n'), FAKE_INIT='802')

    def test_code_803_when_versions_differ_then_names_the_library(self):
        tree = self.machine().kernel_module('580.95.05')
        self.leads('library_mismatch', tree, FAKE_INIT='803')
        tree.driver(LIBRARIES, '550.120').driver('/usr/local/cuda-12/compat', '590.48.01')
        updated = self.leads('library_mismatch', tree, LIBRARIES + '/libcuda.so.1', FAKE_INIT='804')
        self.assertIn('Restart the machine', updated['advice'])
        self.assertIn('library (550.120)', updated['text'])
        self.leads('compat_refused', tree, '/usr/local/cuda-12/compat/libcuda.so.1', FAKE_INIT='804')
        self.leads('library_mismatch_in_container', tree.container(), FAKE_INIT='803')

    def test_code_46_when_a_virtual_gpu_has_no_licence_then_names_it(self):
        tree = self.machine().kernel_module().file('/etc/nvidia/gridd.conf')
        self.leads('vgpu_without_licence', tree, FAKE_CONTEXT='46')

    def test_gpu_when_the_driver_does_not_fit_it_then_both_are_named(self):
        """Public reports. Without a loaded module: it unloads itself if it finds no GPU that it supports."""
        too_old, too_new, may = 'gpu_too_old', 'gpu_too_new', 'module_variant_not_known'
        to_open, to_closed = 'gpu_needs_open_module', 'gpu_needs_closed_module'
        for device, library, module, variant, cause, words in (
                ('0x1140', '430.26', '430.26', 'closed', too_old, 'Driver 430 does not support Fermi GPUs: 390 '),
                ('0x1140', '470.256.02', '', '', too_old, 'Driver 470 does not support Fermi GPUs: 390 '),
                ('0x1180', '495.44', '495.44', 'closed', too_old, 'Driver 495 does not support Kepler GPUs: 470 '),
                ('0x1b80', '595.58.03', '', '', too_old, 'Driver 595 does not support Pascal GPUs: 580 '),
                ('0x1b80', '580.95.05', '595.58.03', 'closed', too_old, 'Driver 595 does not support Pascal '),
                ('0x1b80', '580.95.05', '580.95.05', 'closed', 'unknown_without_gpu', 'PCI device 0000:01:00.0, id 10de:1b80'),
                ('0x1bb3', '580.178.04', '580.178.04', 'open', to_closed, 'Pascal GPUs need the proprietary '),
                ('0x1d01', '560.31', '', '', may, 'Pascal GPUs need the proprietary kernel module, and none '),
                ('0x1d01', '560.31', '', 'open', to_closed, 'of this driver is the open one. The kernel module unloads '),
                ('0x1d01', '560.31', '', 'closed', 'module_not_loaded', 'not loaded'),
                ('0x1d01', '470.256.02', '', '', 'module_not_loaded', 'not loaded'),  # before the open module
                ('0x2b85', '580.95.05', '', '', may, 'Blackwell GPUs need the open kernel module, and none is loaded.'),
                ('0x2b85', '580.95.05', '', 'closed', to_open, 'of this driver is the proprietary one. The kernel '),
                ('0x2b85', '580.95.05', '580.95.05', 'closed', to_open, 'of this driver is the proprietary one. cuInit '),
                ('0x2b85', '580.95.05', '580.95.05', 'open', 'unknown_without_gpu', 'id 10de:2b85'),
                ('0x2b85', '535.309.01', '535.309.01', 'closed', too_new, 'Driver 535 is too old for Blackwell GPUs'),
                ('0x2b85', '535.309.01', '535.309.01', 'open', too_new, 'they need 570 or newer'),
                ('0x2684', '535.309.01', '', '', 'module_not_loaded', 'not loaded'),  # both variants support Ada
                ('0x2fff', '100.1', '', '', 'module_not_loaded', 'not loaded')):  # not in the list
            tree = self.fitting(device, library, module, variant)
            first = self.leads(cause, tree, path=LIBRARIES + '/libcuda.so.1', **({'FAKE_INIT': '100'} if module else {}))
            self.assertIn(words, first['text'] + first['advice'])

    def fitting(self, device, library, module, variant):
        tree = self.machine(device, '').driver(LIBRARIES, library).file('/proc/sys/kernel/osrelease', '6.1.0\n')
        tree.file('/lib/modules/6.1.0/modules.dep', f'dkms/nvidia.ko{"" if variant else ".xz"}: a.ko\n')
        tree.file('/lib/modules/6.1.0/dkms/nvidia.ko',
                  f'\x7fELF\0license={"Dual MIT/GPL" if variant == "open" else "NVIDIA"}\0version={library}\0')
        if not module:
            shutil.rmtree(tree.root + '/dev')
        elif variant == 'open':
            self.open_module(tree, version=module)
        return tree.kernel_module(module) if module and variant == 'closed' else tree

    def test_gpus_when_several_then_all_are_looked_at(self):
        def machine(*gpus):
            tree = self.fitting(gpus[0][0], '595.58.03', '', '')
            for number, (device, driver) in enumerate(gpus):
                place = f'/sys/bus/pci/devices/0000:0{number + 1}:00.0/'
                self.bind(tree.gpu_on_bus(place[-13:-1]).file(place + 'device', device), place, driver)
            return tree
        self.leads('module_not_loaded', machine(('0x1b80', ''), ('0x2204', '')))  # the second one fits
        first = self.leads('gpu_too_old', machine(('0x1b80', ''), ('0x1180', '')))
        self.assertIn('470 is their last one', first['text'])  # the driver for both
        self.assertIn('0000:02:00.0, id 10de:1180, generation Kepler, whose last driver is 470.', first['text'])
        compat = machine(('0x1b80', '')).driver('/usr/local/cuda/compat', '595.58.03')  # not the driver of the machine
        self.leads('module_not_loaded', compat, '/usr/local/cuda/compat/libcuda.so.1', FAKE_INIT='100')
        self.leads('gpu_too_old', machine(('0x2204', 'vfio-pci'), ('0x1b80', '')))
        self.leads('module_not_loaded', machine(('0x1b80', 'vfio-pci'), ('0x2204', '')))
        self.leads('gpu_of_vfio', machine(('0x1b80', 'vfio-pci'), ('0x2204', 'vfio-pci')))
        self.leads('gpu_of_nouveau', machine(('0x1b80', 'vfio-pci'), ('0x2204', 'nouveau')))

    def test_gpu_when_bound_to_another_driver_then_names_it(self):
        for driver, cause in (('vfio-pci', 'gpu_of_vfio'), ('nouveau', 'gpu_of_nouveau'),
                              ('nova-core', 'gpu_of_nouveau')):
            tree = self.machine(driver=driver).driver(LIBRARIES)
            shutil.rmtree(tree.root + '/dev')
            self.leads(cause, tree)
        for tree in self.machine(driver='vfio-pci'), self.machine().directory('/sys/module/nouveau'):
            self.leads('unknown_without_gpu', tree.kernel_module(), FAKE_INIT='100')  # NVIDIA's module is loaded

    def test_module_when_not_loaded_then_names_the_reason(self):
        tree = self.machine(driver='').driver(LIBRARIES).file('/proc/sys/kernel/osrelease', '6.14.0\n')
        shutil.rmtree(tree.root + '/dev')
        self.leads('module_not_loaded', tree)
        self.leads('module_not_built', tree.file('/lib/modules/6.14.0/modules.dep', 'kernel/fs/ext4.ko:\n'))
        tree.file('/lib/modules/6.14.0/modules.dep', 'updates/dkms/nvidia-uvm.ko:\nkernel/nvidiafb.ko:\n')
        self.leads('module_not_built', tree)
        for name in 'nvidia-current-open', 'nvidia-legacy-390xx', 'nvidia-tesla-470', 'nvidia':
            tree.file('/lib/modules/6.14.0/modules.dep', f'updates/dkms/nvidia-uvm.ko:\nupdates/dkms/{name}.ko.zst:\n')
            self.leads('module_not_loaded', tree)
        for value, cause in (b'\0', 'module_not_loaded'), (b'\x01', 'secure_boot'):
            variable = tree.path('/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c')
            with open(variable, 'wb') as file:
                file.write(b'\x06\0\0\0' + value)
            self.leads(cause, tree)

    def test_gpu_when_its_registers_read_as_ones_then_is_lost(self):
        tree = self.machine().kernel_module().driver(LIBRARIES)
        with open(tree.path(BUS + 'config'), 'wb') as file:
            file.write(b'\xff' * 64)
        self.leads('gpu_lost', tree)

    def test_gpu_when_it_sleeps_then_its_registers_are_not_read(self):  # which would wake it
        tree = self.fitting('0x1140', '470.256.02', '', '')
        with open(tree.path(BUS + 'config'), 'wb') as file:
            file.write(b'\xff' * 64)
        self.leads('gpu_lost', tree.file(BUS + 'power/runtime_status', 'active\n'))
        self.leads('gpu_too_old', tree.file(BUS + 'power/runtime_status', 'suspended\n'))

    def test_gpu_when_a_setting_switched_it_off_then_names_it(self):
        tree = self.tree().directory('/sys/bus/pci/devices').driver(LIBRARIES)
        self.leads('no_gpu', tree)
        self.assertIn('--gpus all', self.leads('container_sees_no_gpu', tree.container())['advice'])
        os.remove(tree.root + '/.dockerenv')
        self.leads('gpu_switched_off', tree.file('/etc/prime-discrete', 'off\n'))
        tree = self.machine(driver='').driver(LIBRARIES).file('/proc/acpi/bbswitch', '0000:01:00.0 OFF\n')
        with open(tree.path(BUS + 'config'), 'wb') as file:
            file.write(b'\xff' * 64)
        self.assertIn('optirun', self.leads('gpu_off_by_bbswitch', tree)['advice'])
        self.leads('gpu_lost', tree.file('/proc/acpi/bbswitch', '0000:01:00.0 ON\n'))

    def test_wsl_when_the_driver_finds_no_gpu_then_windows_is_named(self):
        self.leads('windows_without_gpu', self.tree().file('/dev/dxg'), FAKE_INIT='100')
        self.leads('windows_with_many_gpus', self.tree().file('/dev/dxg'), FAKE_INIT='2')

    def test_sandbox_when_gvisor_then_names_it(self):
        tree = self.machine().driver(LIBRARIES).kernel_module()
        self.leads('gvisor', tree.file('/proc/version', 'Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n'))


class Page(Case):
    def test_cause_when_it_is_in_the_list_then_a_test_names_it(self):
        with open(LIST + '/causes.inc', encoding='utf-8') as file:
            causes = set(re.findall(r'^CAUSE\((\w+)', file.read(), re.M))
        named = set()
        for test in 'test_causes.py', 'test_misbehaving.py', 'test_trees.py':
            with open(os.path.join(HERE, test), encoding='utf-8') as file:
                named |= set(re.findall(r"'(\w+)'", file.read()))
        self.assertGreater(len(causes), 50)
        self.assertEqual(causes - named, set())

    def test_page_when_list_is_unchanged_then_is_what_the_list_makes_of_it(self):
        subprocess.run([sys.executable, '-B', LIST + '/write_causes.py', '--check'], env=environment(), check=True)

    def test_list_when_a_text_has_a_name_in_braces_then_a_fact_has_it(self):
        with open(LIST + '/causes.inc', encoding='utf-8') as file:
            used = set(re.findall(r'\{(\w+)\}', file.read().split('clang-format off')[1].lower()))
        with open(LIST + '/facts.inc', encoding='utf-8') as file:
            known = set(re.findall(r'FACT\((\w+)\)', file.read()))
        self.assertGreater(len(known), 20)
        self.assertEqual(used - known, set())
        self.assertEqual(known - used - {'name'}, set())


if __name__ == '__main__':
    assert PROGRAM
    main()
