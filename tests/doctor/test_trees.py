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

LIST = os.path.join(HERE, '..', '..', 'src', 'tools', 'cushim', 'doctor')
BUS = '/sys/bus/pci/devices/0000:01:00.0/'


class OnTree(Agreement):
    """What cannot be made here: a tree, and a fake code. With --watch, the driver is started below a root, too."""

    def machine(self, device='0x2335', driver='nvidia'):
        tree = self.tree().gpu_on_bus().file(BUS + 'device', device).nodes()
        os.symlink('../../../bus/pci/drivers/' + driver, tree.path(BUS + 'driver'))
        return tree

    def leads(self, cause, tree, **variables):
        machine = ['--root', tree.root] + (['--driver', fake('driver_12_4')] if variables else [])
        first = run_json('doctor', *machine, *(['--watch'] if variables else []), **variables).document[0]
        self.assertEqual(first['cause'], cause, first)
        self.compare(first, machine + (['--devices'] if variables else []), **variables)
        self.assertNotRegex(first['message'] + first['advice'], r'[{}]')
        return first

    def open_module(self, tree, machine='x86_64'):
        return tree.file('/proc/driver/nvidia/version',
                         f'NVRM version: NVIDIA UNIX Open Kernel Module for {machine}  580.95.05  Release Build\n')

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
        self.leads('library_mismatch_in_container', tree.container(), FAKE_INIT='803')

    def test_code_46_when_a_virtual_gpu_has_no_licence_then_names_it(self):
        tree = self.machine().kernel_module().file('/etc/nvidia/gridd.conf')
        self.leads('vgpu_without_licence', tree, FAKE_CONTEXT='46')

    def test_code_100_when_the_driver_dropped_the_gpu_then_names_it(self):
        first = self.leads('gpu_too_old', self.machine('0x1b80').kernel_module('590.44.01'), FAKE_INIT='100')
        self.assertIn('(PCI device 0000:01:00.0, id 10de:1b80)', first['message'])
        self.leads('unknown_without_gpu', self.machine('0x1b80').kernel_module('580.95.05'), FAKE_INIT='100')
        self.leads('gpu_too_old', self.machine('0x1180').kernel_module('495.44'), FAKE_INIT='100')

    def test_code_100_when_blackwell_has_the_closed_module_then_names_it(self):
        self.leads('gpu_needs_open_module', self.machine('0x2b85').kernel_module('580.95.05'), FAKE_INIT='100')

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
        tree.file('/lib/modules/6.14.0/modules.dep', 'updates/dkms/nvidia.ko.zst:\n')
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

    def test_gpu_when_a_setting_switched_it_off_then_names_it(self):
        tree = self.tree().directory('/sys/bus/pci/devices').driver(LIBRARIES)
        self.leads('no_gpu', tree)
        self.leads('gpu_switched_off', tree.file('/etc/prime-discrete', 'off\n'))

    def test_sandbox_when_gvisor_then_names_it(self):
        tree = self.machine().driver(LIBRARIES).kernel_module()
        self.leads('gvisor', tree.file('/proc/version', 'Linux version 4.4.0 gVisor'))


class Page(Case):
    def test_cause_when_it_is_in_the_list_then_a_test_names_it(self):
        with open(LIST + '/causes.inc', encoding='utf-8') as file:
            causes = set(re.findall(r'^CAUSE\((\w+)', file.read(), re.M))
        named = set()
        for test in 'test_causes.py', 'test_trees.py':
            with open(os.path.join(HERE, test), encoding='utf-8') as file:
                named |= set(re.findall(r"'(\w+)'", file.read()))
        self.assertGreater(len(causes), 50)
        self.assertEqual(causes - named, set())

    def test_page_when_list_is_unchanged_then_is_what_the_list_makes_of_it(self):
        subprocess.run([sys.executable, '-B', LIST + '/write_causes.py', '--check'], env=environment(), check=True)

    def test_list_when_it_names_a_placeholder_then_a_fact_has_it(self):
        with open(LIST + '/causes.inc', encoding='utf-8') as file:
            used = set(re.findall(r'\{(\w+)\}', file.read().split('clang-format off')[1]))
        with open(LIST + '/facts.inc', encoding='utf-8') as file:
            known = set(re.findall(r'FACT\((\w+)\)', file.read()))
        self.assertGreater(len(known), 20)
        self.assertEqual(used - known, set())
        self.assertEqual(known - used - {'name'}, set())


if __name__ == '__main__':
    assert PROGRAM
    main()
