#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Causes of causes.inc lead where they hold, on a machine that is changed. test_trees.py has the others.

  test_causes.py PROGRAM FAKES START_DRIVER
"""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time

from on_machine import IS_MUSL, NOBODY, NVML, START_DRIVER, Machine
from program import LIBRARIES, PROGRAM, for_each, main, run, run_json

# cause: the changes of fault.c, and the environment
CHANGES = {
    'limit_of_files': (['nofile=32'], {}),
    'limit_of_data': (['data=40'], {}),
    'no_host_memory': (['seccomp=reserve:12'], {}),
    'memory_refused': (['seccomp=reserve:1'], {}),
    'limit_of_files_of_system': (['seccomp=pipe:23'], {}),
    'limit_of_processes': (['seccomp=thread:11'], {}),
    'thread_refused': (['seccomp=thread:1'], {}),
    'limit_of_address_space': (['as=2000'], {}),
    'maps_refused': (['open=/proc/self/maps:13'], {}),
    'comm_missing': (['open=/comm:2'], {}),
    'comm_read_only': (['read-only=/proc'], {}),
    'comm_refused': (['landlock=dev'], {}),
    'socket_family_refused': (['seccomp=socket:97'], {}),
    'call_refused': (['seccomp=eventfd:1'], {}),
    'unneeded_refused': (['open=/dev/shm:13'], {'FAKE_CODE': '304'}),
    'memfd_refused': (['seccomp=memfd:1'], {'FAKE_CODE': '304'}),
    'node_on_nodev': (['nodev=/dev/nvidiactl'], {}),
    'node_permissions': (['private=/dev/nvidiactl', NOBODY], {}),
    'device_control_group': (['open=/dev/nvidiactl:1'], {}),
    'devices_refused': (['open=/dev/nvidiactl:13'], {}),
    'requests_refused': (['seccomp=ioctl:1'], {}),
    'uvm_node_missing': (['dev-without=nvidia-uvm'], {}),
    'node_missing': (['dev-without=nvidiactl'], {}),
    'gpu_initialisation_failed': (['open=/dev/nvidia0:5'], {}),
    'node_without_driver': (['null=/dev/nvidiactl'], {}),
    'variable': (['CUDA_ODD_SETTING=1'], {'FAKE_VARIABLE': 'CUDA_ODD_SETTING'}),
    'jetson_without_nvmap': (['none'], {'FAKE_OPEN': '/dev/nvmap', 'FAKE_CODE': '999'}),
    'jetson_permissions': (['open=/dev/nvmap:13'], {'FAKE_OPEN': '/dev/nvmap'}),
    'refused': (['open=/nowhere/file:13'], {'FAKE_OPEN': '/nowhere/file'}),
    'operation_failed': (['open=/nowhere/file:5'], {'FAKE_OPEN': '/nowhere/file'}),
    'no_space': (['full=/var/tmp'], {'FAKE_CREATE': '/var/tmp/file'}),
    'visible_devices': (['CUDA_VISIBLE_DEVICES=abc'], {}),
    'crash': (['none'], {'FAKE_CRASH': 'cuInit'}),
    'killed_by_seccomp': (['none'], {'FAKE_CRASH': 'cuInit', 'FAKE_SIGNAL': str(int(signal.SIGSYS))}),
    'killed_for_memory': (['none'], {'FAKE_CRASH': 'cuInit', 'FAKE_SIGNAL': str(int(signal.SIGKILL))}),
    'thread_killed': (['seccomp=socket:kill-thread'], {}),
    'killed_for_file_size': (['none'], {'FAKE_CRASH': 'cuCtxCreate', 'FAKE_SIGNAL': str(int(signal.SIGXFSZ))}),
    'killed_for_time': (['none'], {'FAKE_CRASH': 'cuInit', 'FAKE_SIGNAL': str(int(signal.SIGXCPU))}),
    'hang': (['none'], {'FAKE_HANG': 'cuCtxCreate'}),
    'hang_in_kernel': (['none'], {'FAKE_WAIT': 'cuInit'}),
    'gpu_exclusive': (['none'], {'FAKE_CONTEXT': '46', 'FAKE_MODE': '3'}),
    'gpu_prohibited': (['none'], {'FAKE_CONTEXT': '46', 'FAKE_MODE': '2'}),
    'gpu_unavailable': (['none'], {'FAKE_CONTEXT': '46'}),
    'gpu_memory_full': (['none'], {'FAKE_CONTEXT': '2', 'FAKE_USED': '139', **NVML}),
    'gpu_memory_not_known': (['none'], {'FAKE_CONTEXT': '2', 'FAKE_NVML': '9', **NVML}),
    'mig_without_instances': (['none'], {'FAKE_CODE': '100', 'FAKE_MIG': '1', **NVML}),
    'mps_silent': (['mps=silent'], {}),
    'mps_not_reached': (['none'], {'FAKE_CODE': '805'}),
    'mps_server_failed': (['none'], {'FAKE_CODE': '807'}),
    'mps_full': (['none'], {'FAKE_CODE': '808'}),
    'mps_ended': (['none'], {'FAKE_CODE': '810'}),
    'uvm_failed': (['none'], {'FAKE_CODE': '3'}),
    'unknown_without_gpu': (['none'], {'FAKE_CODE': '100'}),
    'driver_part_missing': (['none'], {'FAKE_CODE': '500', 'FAKE_OPEN': 'libnvdxgdmal.so.1'}),
    'unknown': (['none'], {'FAKE_CODE': '700'}),
}
# In a container, these lead in the place of others.
IN_CONTAINER = {'device_control_group': 'container_lost_devices', 'uvm_node_missing': 'uvm_not_in_container'}


class OnMachine(Machine):
    def test_cause_when_the_machine_is_changed_then_leads(self):
        def check(cause):
            faults, variables = CHANGES[cause]
            answer = self.examine(*faults, **variables)
            first = answer.document[0]
            self.assertIn(first['cause'], {cause, IN_CONTAINER.get(cause)}, first)
            self.assertEqual(first['verdict'], 'problem', cause)
            self.assertNotIn('problem', [row['verdict'] for row in answer.document[1:]], cause)
            self.assertNotRegex(first['text'] + first['advice'], r'[{}]')
        for_each(check, [cause for cause, (faults, _) in CHANGES.items() if self.possible(*faults)])

    def test_limit_when_it_is_the_cause_then_its_value_is_said(self):
        for fault, words in (('nofile=32', 'The limit is 32 ('), ('data=40', 'The limit is 40960 KiB.'),
                             ('as=2000', 'The limit is 2048000 KiB,')):
            self.assertIn(words, self.examine(fault).document[0]['text'])
        first = self.examine('cpu=3', FAKE_CRASH='cuInit', FAKE_SIGNAL=str(int(signal.SIGXCPU))).document[0]
        self.assertIn('The limit is 3 seconds.', first['text'])
        first = self.examine('nproc=9999', 'seccomp=thread:11').document[0]
        self.assertIn('9999 for this user', first['text'])
        small = 'The limit of the stack (ulimit -s) is small: 256 KiB.'
        self.assertNotIn('stack', self.examine('stack=262144', FAKE_CRASH='load').document[0]['text'])  # SIGABRT
        for place in ('cuInit', 'load'):
            for faults, is_small in (['stack=262144'], True), (['none'], False):
                first = self.examine(*faults, FAKE_CRASH=place, FAKE_SIGNAL=str(int(signal.SIGSEGV))).document[0]
                self.assertEqual(small in first['text'], is_small, first)
                self.assertEqual('ulimit -s' in first['text'], is_small, first)
                self.assertNotIn('exists' if is_small else 'Searching', first['text'])  # there may be no library
                self.assertTrue('ulimit -s 8192' in first['advice'] or not is_small)
            self.assertIn('reinstall it' if place == 'cuInit' else 'Correct CUSHIM_DRIVER', first['advice'])

    def test_control_group_when_memory_is_used_up_then_the_killed_start_is_explained(self):
        self.require('memory=64')
        first = self.examine('memory=64', FAKE_TOUCH='200').document[0]
        self.assertEqual(first['cause'], 'killed_for_memory')
        self.assertIn('limit of the control group of this process is 64 MiB', first['text'])
        self.assertEqual(self.examine('memory=64').status, 0)

    def test_control_group_when_it_has_no_room_for_a_thread_then_its_limit_is_named(self):
        self.require('tasks=2')
        first = self.examine('tasks=1').document[0]
        self.assertEqual(first['cause'], 'limit_of_processes')
        self.assertIn('1 for its control group', first['text'])
        self.assertEqual(self.examine('tasks=2').status, 0)  # enough for a program, but not for the doctor's child

    def test_control_group_when_it_denies_a_device_then_is_named(self):
        self.require('device=c 1:8 rwm')  # that of /dev/random, which the machine has as NVIDIA's
        first = self.examine('device=c 1:8 rwm').document[0]
        self.assertIn(first['cause'], ('device_control_group', 'container_lost_devices'))
        self.assertIn('/dev/nvidiactl', first['text'])

    def test_container_when_it_lost_its_devices_then_is_not_said_to_have_access(self):
        tree = self.tree().kernel_module().gpu_on_bus().nodes().driver(LIBRARIES).container()
        answer = run_json('doctor', '--root', tree.root, '--watch', '--driver', START_DRIVER,
                          before=(*self.machine, 'open=/dev/nvidiactl:1', '--'))
        self.assertEqual(answer.document[0]['cause'], 'container_lost_devices')
        self.assertNotIn('with access', ' '.join(row['text'] for row in answer.document))

    def test_gpus_when_the_driver_reports_fewer_than_the_bus_then_the_others_are_named(self):
        tree = self.tree().kernel_module().gpu_on_bus().gpu_on_bus('0000:02:00.0').nodes().driver(LIBRARIES)
        # The sound of a GPU, and a GPU that is not NVIDIA's, do not count.
        for number, (vendor, kind) in enumerate((('0x10de', '0x040300'), ('0x1002', '0x030000'))):
            device = f'/sys/bus/pci/devices/0000:03:00.{number}/'
            tree.file(device + 'vendor', vendor).file(device + 'class', kind)
        def ask(**variables):
            answer = run_json('doctor', '--root', tree.root, '--watch', '--driver', START_DRIVER,
                              before=(*self.machine, 'none', '--'), FAKE_BUS_ID='0000:02:00.0', **variables)
            self.assertEqual(answer.status, 0)
            return ' '.join(row['text'] for row in answer.document)
        self.assertIn('The PCI bus shows 2 NVIDIA GPUs, and programs see 1. Not seen: PCI device 0000:01:00.0, ', ask())
        self.assertNotIn('Not seen', ask(CUDA_VISIBLE_DEVICES='0'))

    def test_call_when_a_filter_ends_the_process_for_it_then_the_filter_is_named(self):
        first = self.examine('seccomp=pipe:kill').document[0]  # the doctor itself uses pipes
        self.assertEqual(first['cause'], 'killed_by_seccomp')
        self.assertIn('the system call pipe2', first['text'])
        first = self.examine('seccomp=prctl:kill').document[0]  # a child cannot load the library
        self.assertIn('A seccomp filter', first['advice'])

    def test_probe_when_nothing_was_started_then_only_what_is_certain_makes_it_fail(self):
        named = shutil.copy(START_DRIVER, self.directory() + '/libcuda.so.550.163.01')  # as NVIDIA's own
        private = ['private=/dev/nvidia0', 'uid=65534']
        for library, faults, variables, reason in (
                (named, ['none'], {}, 'none'), (named, private, {}, 'device-nodes-denied'),
                (named, ['none'], {'CUDA_VISIBLE_DEVICES': ''}, 'hidden'),
                (named, ['none'], {'CUDA_VISIBLE_DEVICES': '99'}, 'hidden'),
                (named, ['none'], {'CUDA_VISIBLE_DEVICES': 'abc'}, 'hidden'),
                (named, ['none'], {'CUDA_VISIBLE_DEVICES': '0'}, 'none'),
                (named, ['none'], {'CUDA_VISIBLE_DEVICES': 'GPU-0'}, 'none'),  # it can exist
                (START_DRIVER, ['none'], {'CUDA_VISIBLE_DEVICES': ''}, 'none')):  # perhaps it needs no GPU
            answer = run_json('probe', '--driver', library, before=(*self.machine, *faults, '--'), **variables)
            self.assertEqual((answer.document['reason'], answer.status), (reason, int(reason != 'none')), variables)
            text = run('probe', '--driver', library, before=(*self.machine, *faults, '--'), **variables).out.decode()
            first = ' '.join(text.split('library ')[0].split())
            self.assertEqual('whether a GPU can be used is not known (--devices starts it)' in first, reason == 'none')
            self.assertIn('NVIDIA driver 550.163.01 ' if library == named and reason == 'none' else '', first)

    def test_variable_when_the_driver_starts_without_it_then_it_alone_is_named(self):
        message = self.examine('CUDA_ODD=1', 'CUDA_OTHER=2', FAKE_VARIABLE='CUDA_ODD').document[0]['text']
        self.assertIn('CUDA works: CUDA_ODD="1".', message)
        first = self.examine('CUDA_VISIBLE_DEVICES=abc', FAKE_CODE='100').document[0]  # fails without it, too
        self.assertEqual(first['cause'], 'unknown_without_gpu')
        without = 'the variables CUDA_..., without which it fails, too'
        self.assertIn(without, first['text'])
        self.assertNotIn(without, self.examine('none', FAKE_CODE='100').document[0]['text'])  # none is set
        first = self.examine('CUDA_ODD=1', FAKE_CRASH='cuInit').document[0]  # it is not started again
        self.assertIn('not ruled out: CUDA_ODD="1"', first['text'])

    def test_mps_when_the_daemon_is_of_another_user_then_both_are_named(self):
        def message(*faults):
            return self.examine(*faults, FAKE_CODE='805').document[0]['text']
        self.assertIn('/nowhere/control does not exist', message('CUDA_MPS_PIPE_DIRECTORY=/nowhere'))
        self.require_nobody()
        self.assertRegex(message('mps=silent', NOBODY), 'belongs to the user root, and this process to nobody')
        self.assertNotIn('belongs', message('mps=silent'))

    def test_operations_when_they_are_equal_then_have_a_line_and_the_usual_ones_are_marked(self):
        place = self.directory()
        for name in 'one', 'two':
            os.mkdir(f'{place}/{name}')
        answer = self.examine('none', options=['--watch'], FAKE_CODE='500', FAKE_OPEN='libnvdxgdmal.so.1',
                              FAKE_THREAD='1', LD_LIBRARY_PATH=f'{place}/one:{place}/two')
        rows = [row['message'] for row in answer.document if row['check'] == 'operation']
        searches = [row for row in rows if 'libnvdxgdmal' in row]
        self.assertEqual(len(searches), 1)
        self.assertRegex(searches[0], r'^open(at)?\(libnvdxgdmal\.so\.1\) fails with ENOENT \(.*\), in \d+ directories\.$')
        usual = [row for row in rows if row.endswith(', as in every start.')]
        self.assertEqual(len(usual), len({row.split('(')[0] + row.split(' fails with ')[1][:6] for row in usual}))
        self.assertGreater(len(usual), 2)

    def test_files_when_a_start_was_watched_then_none_is_left_open(self):
        self.assertIn('(3 are open before the start)', self.examine('nofile=32').document[0]['text'])

    def test_files_when_no_child_can_be_created_then_none_is_left_open(self):
        self.require_nobody()
        answer = self.examine('uid=59999', 'nproc=1', FAKE_FILES='1')
        self.assertIn(b'3 descriptors are open', answer.err)

    def test_call_when_it_fails_with_emfile_far_below_the_limit_then_a_filter_is_named(self):
        self.assertEqual(self.examine('nofile=1024', 'seccomp=pipe:24').document[0]['cause'], 'call_refused')

    def test_context_when_it_fails_with_code_100_then_no_missing_gpu_is_claimed(self):
        self.assertEqual(self.examine('none', FAKE_CONTEXT='100').document[0]['cause'], 'unknown')

    def test_memory_of_the_gpu_when_nvml_knows_then_it_decides(self):
        for free, used in (139264, '4'), (3072, '137'):
            first = self.examine('none', FAKE_CONTEXT='2', FAKE_USED=used, **NVML).document[0]
            self.assertEqual(first['cause'], 'unknown')
            self.assertIn(f'of which {free} MiB are free', first['text'])
        for answer in {'FAKE_USED': '139'}, {'FAKE_NVML': '9'}:  # cuInit itself has no use for it
            self.leads('unknown', None, 'none', FAKE_CODE='2', **answer, **NVML)
        self.leads('limit_of_files', None, 'nofile=32', FAKE_CONTEXT='2')
        self.leads('gpu_memory_full', None, 'none', FAKE_CONTEXT='2', FAKE_USED='139', FAKE_BUS_ID='0000:06:00.0',
                   **NVML)

    def test_context_when_an_old_driver_is_in_exclusive_mode_then_the_mode_is_named(self):
        self.leads('gpu_exclusive', None, 'none', FAKE_CONTEXT='46', FAKE_MODE='1')

    def test_code_999_when_the_machine_has_slept_then_names_the_sleep(self):
        source, library = self.directory() + '/clock.c', self.directory() + '/clock.so'
        with open(source, 'w', encoding='utf-8') as file:
            file.write("""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    time->tv_sec += clock == CLOCK_BOOTTIME ? 3600 : 0;
    return result;
}
""")
        subprocess.run(['cc', '-shared', '-fPIC', '-o', library, source], check=True)
        first = self.examine('LD_PRELOAD=' + library, FAKE_CODE='999').document[0]
        self.assertEqual(first['cause'], 'uvm_broken_after_sleep')

    def test_driver_when_a_call_fails_with_an_error_without_a_name_then_its_number_is_shown(self):
        self.assertIn(' fails (error 200, ', self.examine('seccomp=eventfd:200').document[0]['text'])

    def test_code_999_when_the_machine_has_not_slept_then_is_unknown(self):
        has_slept = time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC) > 5
        cause = self.examine('none', FAKE_CODE='999').document[0]['cause']
        self.assertEqual(cause, 'uvm_broken_after_sleep' if has_slept else 'unknown')

    def test_code_999_when_only_the_namespace_of_time_shows_a_sleep_then_is_unknown(self):
        self.assertEqual(self.examine('unshare=time', FAKE_CODE='999').document[0]['cause'], 'unknown')

    def test_library_when_it_cannot_be_used_then_its_path_and_the_reason_lead(self):
        directory, loader = self.directory(), os.path.dirname(PROGRAM) + '/../../../loader'
        os.chmod(directory, 0o755)
        library = directory + '/libcuda.so.1'
        shutil.copy(START_DRIVER, library)
        os.chmod(library, 0o600)
        def lead(*faults):
            return run_json('doctor', LD_LIBRARY_PATH=f'{loader}:{directory}',
                            before=(*self.machine, *faults, '--')).document[0]['text']
        self.require_nobody()
        message = lead(NOBODY)
        self.assertIn(library, message)
        self.assertIn('may not read', message)
        self.assertIn('noexec', lead('noexec=' + directory))
        with open(library, 'r+b') as file:
            file.seek(18)
            file.write((0xf3).to_bytes(2, sys.byteorder))  # RISC-V
        if not IS_MUSL:  # which loads it
            self.assertIn('another processor', lead('none'))
        with open(library, 'r+b') as file:
            file.seek(4)
            file.write(b'\1')  # 32-bit
        if not IS_MUSL:
            self.assertIn(f'{library}: wrong ELF class: ELFCLASS32, which means a 32-bit file', lead('none'))
        with open(library, 'w', encoding='ascii') as file:
            file.write('version https://git-lfs.github.com/spec/v1\n')
        self.assertIn(library, lead('none'))
        os.remove(library)
        os.symlink('libcuda.so.580', library)
        self.assertIn(f'{library}: a link to libcuda.so.580', lead('none'))
        mount = 'mount --bind "$0" /usr/local/lib && exec "$@"'
        known = run_json('doctor', before=(*self.machine, '--', '/bin/sh', '-c', mount, directory))
        self.assertIn('/usr/local/lib/libcuda.so.1: a link to libcuda.so.580', known.document[0]['text'])
        os.remove(library)
        shutil.copy(START_DRIVER, library)
        mount = 'mount --bind "$0" /usr/local/lib && mount -o remount,bind,noexec /usr/local/lib && exec "$@"'
        known = run_json('doctor', before=(*self.machine, '--', '/bin/sh', '-c', mount, directory))
        self.assertIn('(/usr/local/lib/libcuda.so.1: ', known.document[0]['text'])

    def test_cause_when_ptrace_is_refused_then_is_found_by_trial(self):
        for cause in ('limit_of_files', 'limit_of_processes', 'comm_refused', 'call_refused', 'devices_refused',
                      'requests_refused', 'gpu_initialisation_failed'):
            with self.subTest(cause):
                faults, variables = CHANGES[cause]
                faults = ['nofile=12'] if cause == 'limit_of_files' else faults
                for refusal in ('seccomp=ptrace:1', 'seccomp=ptrace:kill'):
                    answer = run_json('doctor', '--driver', START_DRIVER, **variables,
                                      before=(*self.machine, refusal, *faults, '--'))
                    self.assertEqual(answer.document[0]['cause'], cause)
                    self.assertIn('could not be watched', ' '.join(row['text'] for row in answer.document))

    def leads(self, cause, tree, *faults, **variables):
        """The operation is that of the changed machine; the evidence is that of the tree."""
        arguments = ['--root', tree.root] if tree else []
        answer = run_json('doctor', *arguments, '--watch', '--driver', variables.pop('driver', START_DRIVER),
                          before=(*self.machine, *faults, '--'), **variables)
        self.assertEqual(answer.document[0]['cause'], cause, answer.document[0])
        return answer.document[0]

    def test_device_when_refused_then_the_evidence_decides(self):
        def tree(*files):
            result = self.tree().kernel_module().gpu_on_bus().nodes().directory('/sys/module')
            for path, text in files:
                result.file(path, text)
            return result
        service = ('/proc/self/cgroup', '0::/system.slice/render.service\n')
        uvm = ('/sys/module/nvidia_uvm/refcnt', '0\n')
        self.leads('service_refuses_devices', tree(service), 'open=/dev/nvidiactl:1')
        for mount, cause in (('tmpfs', 'service_without_devices'), ('devtmpfs', 'service_before_devices')):
            mounts = ('/proc/self/mountinfo', f'22 1 8:1 / / rw - ext4 a rw\n23 22 0:6 / /dev rw,nosuid - {mount} udev rw\n'
                                              '24 23 0:7 / /dev/shm rw - tmpfs tmpfs rw\n')
            self.leads(cause, tree(service, mounts), 'open=/dev/nvidiactl:2')
        absent = tree(service)
        shutil.rmtree(absent.root + '/dev')
        self.assertIn('probe --devices --wait 60', self.leads('service_before_devices', absent, 'open=/dev/nv:2')['advice'])
        self.leads('device_control_group', tree(), 'open=/dev/nvidiactl:1')
        self.leads('device_control_group', tree((service[0], '0::/user.slice/user@7.service/a.scope\n')),
                   'open=/dev/nvidiactl:1')
        self.leads('container_lost_devices', tree(service).container(), 'open=/dev/nvidiactl:1')
        no_memory = 'seccomp=reserve:12'
        for value, cause in ('2', 'strict_overcommit'), ('1', 'no_host_memory'):
            self.leads(cause, tree(('/proc/sys/vm/overcommit_memory', value + '\n')), no_memory)
        self.leads('selinux', tree(('/sys/fs/selinux/enforce', '1')), 'open=/dev/nvidiactl:13')
        self.leads('uvm_not_in_flatpak', tree(('/.flatpak-info', ''), uvm), 'open=/dev/nvidia-uvm$:2')
        self.leads('uvm_not_in_container', tree(uvm).container(), 'open=/dev/nvidia-uvm$:2')
        self.leads('uvm_not_loaded', tree(), 'open=/dev/nvidia-uvm$:2')
        self.leads('uvm_node_missing', tree(uvm), 'open=/dev/nvidia-uvm$:2')
        self.leads('node_not_a_device', tree(), 'open=/dev/nvidiactl:6')
        other = tree(('/proc/devices', 'Character devices:\n195 nvidia\n'))
        os.remove(other.root + '/dev/nvidiactl')
        os.mknod(other.root + '/dev/nvidiactl', stat.S_IFCHR | 0o666, os.makedev(1, 255))
        self.leads('node_stale', other, 'open=/dev/nvidiactl:6')
        self.leads('node_stale_not_opened', other, 'none', FAKE_CODE='100')
        self.leads('node_stale_not_opened', other, 'none', FAKE_CODE='999')
        self.leads('unknown', other, 'none', FAKE_CODE='700')
        os.remove(other.root + '/dev/nvidiactl')
        os.mknod(other.root + '/dev/nvidiactl', stat.S_IFCHR | 0o666, os.makedev(195, 254))
        self.leads('node_stale_not_opened', other, 'none', FAKE_CODE='100')
        os.remove(other.root + '/dev/nvidiactl')
        os.mknod(other.root + '/dev/nvidiactl', stat.S_IFCHR | 0o666, os.makedev(195, 255))
        self.leads('unknown_without_gpu', other, 'none', FAKE_CODE='100')
        none = tree(('/proc/devices', 'Character devices:\n  1 mem\n  5 /dev/tty\n\nBlock devices:\n250 loop\n'))
        os.remove(none.root + '/dev/nvidiactl')
        os.mknod(none.root + '/dev/nvidiactl', stat.S_IFCHR | 0o666, os.makedev(250, 255))
        self.leads('node_stale', none, 'open=/dev/nvidiactl:6')
        os.remove(none.root + '/dev/nvidiactl')
        os.mknod(none.root + '/dev/nvidiactl', stat.S_IFCHR | 0o666, os.makedev(5, 255))
        self.leads('node_without_driver', none, 'open=/dev/nvidiactl:6')
        self.leads('unknown_without_gpu', tree(('/proc/devices', '195 nvidia\n')), 'none', FAKE_CODE='100')
        empty = tree().container()
        shutil.rmtree(empty.root + '/dev')
        self.leads('container_without_gpu', empty, 'open=/dev/nvidia:2')

    def test_device_when_it_is_a_broken_link_or_in_a_closed_directory_then_is_named(self):
        def first(change, *faults):
            loader = f'LD_LIBRARY_PATH={os.path.dirname(PROGRAM)}/../../../loader'
            before = (*self.machine, '--', '/bin/sh', '-c', change + ' && exec "$0" "$@"', self.machine[0], *faults, loader, '--')
            return run_json('doctor', '--driver', START_DRIVER, before=before).document[0]
        for target in 'gone', 'nvidia0':
            self.assertEqual(first(f'ln -sf {target} /dev/nvidia0')['cause'], 'node_broken_link')
        self.require_nobody()
        self.assertEqual(first('chmod 444 /dev/nvidiactl', NOBODY)['cause'], 'node_permissions')
        for own in ('chown 65534 /dev/nvidiactl && chmod 600', 'chgrp 65534 /dev/nvidiactl && chmod 060'):
            refused = first(own + ' /dev/nvidiactl', 'landlock=proc', NOBODY)
            self.assertEqual(refused['cause'], 'devices_refused')
        closed = first('chmod 700 /dev', NOBODY)
        self.assertEqual(closed['cause'], 'node_permissions')
        self.assertIn('may not search /dev', closed['text'])

    def test_library_when_it_is_of_cuda_compat_then_is_named(self):
        directory = self.directory() + '/compat'
        os.mkdir(directory)
        shutil.copy(START_DRIVER, directory + '/libcuda.so.1')
        first = self.leads('compat_shadows', None, 'none', driver=directory + '/libcuda.so.1', FAKE_CODE='803',
                           LD_LIBRARY_PATH=directory)
        self.assertIn('LD_LIBRARY_PATH names its directory', first['text'])

    def test_open_when_a_preloaded_library_refuses_then_is_named(self):
        source, library = self.directory() + '/open.c', self.directory() + '/open.so'
        with open(source, 'w', encoding='utf-8') as file:
            file.write("""
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int open(const char *path, int flags, ...)
{
    if (strcmp(path, "/dev/nvidiactl") != 0)
        return (int)syscall(SYS_openat, -100, path, flags, 0);
    errno = EACCES;
    return -1;
}
int open64(const char *, int, ...) __attribute__((alias("open")));
""")
        subprocess.run(['cc', '-shared', '-fPIC', '-w', '-o', library, source], check=True)
        self.leads('intercepted', None, 'LD_PRELOAD=' + library)

    def test_visible_devices_when_its_first_entry_names_no_gpu_then_the_reason_is_given(self):
        def check(row):
            value, words = row
            first = self.examine('CUDA_VISIBLE_DEVICES=' + value).document[0]
            self.assertEqual(first['cause'], 'visible_devices', value)
            self.assertIn(words, first['text'])
        for_each(check, (
            ('', 'it is empty'), (',0', 'first entry is empty'), ('-1,0', '"-1" is neither the number nor the UUID'),
            ('MIG-1', '"MIG-1" names a part of a GPU'), ('GPU-12', 'has the UUID "GPU-12"'),
            ('1', 'names GPU 1, but this process can use 1 GPU, '), ('abc', '"abc" is neither the number nor the UUID'),
            ('0,0', 'names a GPU twice')))

    def test_visible_devices_when_a_value_is_odd_and_shows_a_gpu_then_is_not_blamed(self):
        """Each of these was said to hide every GPU, and driver 580 shows one."""
        def check(value):
            rows = self.examine('CUDA_VISIBLE_DEVICES=' + value).document
            self.assertNotIn('hides every GPU', ' '.join(row['text'] for row in rows), value)
            self.assertEqual([row for row in rows if row['cause'] != row['check']], [], value)
        for_each(check, ('0;1', '0x0', '0 1', '0:1', '0-3', '0.0', '0abc', '00', ' 0', '0,7'))

    def test_machine_when_it_works_then_no_cause(self):
        def check(row):
            faults, options = row
            answer = self.examine(*faults, options=options)
            self.assertEqual(answer.status, 0, (faults, answer.document[0]))
            self.assertEqual([row for row in answer.document if row['cause'] != row['check']], [])
            self.assertNotIn('not loaded', ' '.join(row['text'] for row in answer.document))
        for_each(check, [(faults, options) for options in ((), ('--watch',)) for faults in (
                       ['none'], ['seccomp=ptrace:1'], ['seccomp=memfd:1'], ['open=/proc/driver:13'], ['HOME=/nowhere'],
                       ['open=/sys/:13'], ['memlock=0'], ['CUDA_VISIBLE_DEVICES=0'], ['traced'], ['empty=/sys'],
                       ['seccomp=wait:1'], ['seccomp=ptrace:kill'], ['signals=ignored'], ['close=0'], ['close=2'],
                       ['unshare=pid+proc'],
                       ['proc=hidepid=2', NOBODY], ['proc=subset=pid'], ['cpu=60'], ['read-only=/'])
                   if self.possible(*faults)])


if __name__ == '__main__':
    main()
