#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe --list and --no-start: what is known without a start."""

from program import UNUSABLE, USABLE, USAGE, LIBRARIES, Case, fake, main, run, run_json

UUIDS = ['GPU-88913974-b729-bde5-cec9-7908a6baaae2', 'GPU-3f644bed-38e5-c968-467b-217d6a497735',
         'GPU-10000000-0000-0000-0000-000000000002', 'GPU-20000000-0000-0000-0000-000000000003']
DRIVER = '--driver=' + fake('driver_12_4')
GPU = {'ordinal': (int, type(None)), 'hidden': bool, 'hidden_by': (str, type(None)), 'name': (str, type(None)),
       'compute_capability': (str, type(None)), 'pci_bus_id': str, 'uuid': (str, type(None)),
       'minor': (int, type(None)), 'nvml_index': (int, type(None)), 'mig': (bool, type(None)), 'asleep': bool}


class Machine(Case):
    def machine(self, count=4, **gpu):
        tree = self.tree().kernel_module().nodes().container()
        for number in range(count):
            tree.gpu(number, UUIDS[number], **gpu)
        return tree

    def lines(self, tree, status=USABLE, **variables):
        answer = run('probe', '--list', '--root', tree.root, **variables)
        self.assertEqual((answer.status, answer.err), (status, b''), answer)
        return answer.out.decode().splitlines()


class List(Machine):
    def test_list_when_nothing_hides_a_gpu_then_each_has_its_number_and_name(self):
        lines = self.lines(self.machine(2))
        self.assertEqual(lines, ['GPU 0   NVIDIA H200, compute capability 9.0', '        0000:01:00.0  ' + UUIDS[0],
                                 'GPU 1   NVIDIA H200, compute capability 9.0', '        0000:02:00.0  ' + UUIDS[1],
                                 'CUDA shows 2 of 2 GPUs to this process.'])

    def test_list_when_the_list_is_a_range_then_the_last_line_names_the_mistake(self):
        lines = self.lines(self.machine(), CUDA_VISIBLE_DEVICES='0-3')
        self.assertIn('CUDA_VISIBLE_DEVICES=0-3 shows 1 of 4 GPUs: what follows a number is ignored.', lines[-1])
        self.assertEqual(lines.count('        hidden by CUDA_VISIBLE_DEVICES'), 3)

    def test_list_when_the_order_is_changed_then_the_numbers_are_those_of_cuda(self):
        lines = self.lines(self.machine(2), CUDA_VISIBLE_DEVICES='1,0')
        self.assertEqual([line[:5] for line in lines[:3:2]], ['GPU 0', 'GPU 1'])
        self.assertIn(UUIDS[1], lines[1])

    def test_list_when_a_name_is_long_then_no_line_is_longer_than_80(self):
        tree = self.machine(3, name='NVIDIA RTX PRO 6000 Blackwell Server Edition', device='0x2bb5')
        lines = self.lines(tree, CUDA_VISIBLE_DEVICES='0')
        self.assertIn('compute capability 12.0', lines[0])
        self.assertEqual([line for line in lines[:-1] if len(line) > 80], [])

    def test_list_when_cuda_shows_none_then_fails(self):
        for value, code in (('', 100), ('0,0', 101), ('GPU-77', 100)):
            answer = run_json('probe', '--list', '--root', self.machine(1).root, CUDA_VISIBLE_DEVICES=value)
            self.assertEqual((answer.status, answer.document['code']), (UNUSABLE, code))
            self.assertEqual(answer.document['visible'], 0)
            self.assertIn('CUDA_VISIBLE_DEVICES', answer.document['message'])

    def test_list_when_it_is_not_known_then_says_so_and_does_not_fail(self):
        tree = self.machine(1).file('/proc/driver/nvidia/capabilities/gpu0/mig/gi1/access')
        answer = run_json('probe', '--list', '--root', tree.root)
        self.assertEqual((answer.status, answer.document['code'], answer.document['visible']), (USABLE, None, None))
        self.assertIn('MIG', answer.document['message'])
        self.assertIn('GPU ?', self.lines(tree)[0])

    def test_list_when_written_as_json_then_has_the_documented_types(self):
        document = run_json('probe', '--list', '--root', self.machine().root, CUDA_VISIBLE_DEVICES='1').document
        self.assertEqual(list(document), ['count', 'visible', 'code', 'message', 'advice', 'gpus'])
        self.assertEqual((document['count'], document['visible'], document['code']), (4, 1, 0))
        for gpu in document['gpus']:
            self.assertEqual(set(gpu), set(GPU))
            for key, types in GPU.items():
                self.assertIsInstance(gpu[key], types, key)
        self.assertEqual([(gpu['ordinal'], gpu['hidden_by']) for gpu in document['gpus']],
                         [(None, 'variable'), (0, None), (None, 'variable'), (None, 'variable')])

    def test_list_when_combined_with_what_needs_the_driver_then_refused(self):
        for more in (['--devices'], ['--choose=a'], ['--require=12.0'], ['--no-start'], ['--wait=1']):
            answer = run('probe', '--list', *more)
            self.assertEqual((answer.status, answer.out), (USAGE, b''), more)


class NoStart(Machine):
    BUILDS = 'cu13: cuda>=13.0; new: cuda>=12.0 arch>=10.0; cu12: cuda>=12.0 arch>=7.5; cpu'

    def test_choose_when_not_started_then_the_files_decide(self):
        """A start of this driver would fail, and the program end."""
        tree = self.machine(2).driver(LIBRARIES)
        answer = run('probe', '--choose', self.BUILDS, '--no-start', '--root', tree.root, FAKE_CRASH='cuInit')
        self.assertEqual((answer.status, answer.out), (USABLE, b'cu12\n'), answer)
        lines = answer.err.decode().splitlines()
        self.assertIn('GPU 0 has compute capability 9.0.', lines[1])
        self.assertIn('not started', lines[2])
        document = run_json('probe', '--choose', self.BUILDS, '--no-start', '--root', tree.root).document
        self.assertEqual((document['choice'], document['started']), ('cu12', False))

    def test_choose_when_the_variable_hides_every_gpu_then_only_a_build_without_conditions(self):
        tree = self.machine(2).driver(LIBRARIES)
        answer = run('probe', '--choose', self.BUILDS, '--no-start', '--root', tree.root, CUDA_VISIBLE_DEVICES='7')
        self.assertEqual(answer.out, b'cpu\n')
        self.assertIn(b'CUDA_VISIBLE_DEVICES', answer.err)

    def test_choose_when_only_a_start_shows_it_then_refused(self):
        for builds in ('a: memory>=8G; cpu', 'a: memory-pools', 'a: cuda>=12.0; b: arch>=8.0'):
            answer = run('probe', '--choose', builds, '--no-start', DRIVER)
            self.assertEqual((answer.status, answer.out), (USAGE, b''), builds)
        answer = run('probe', '--choose', 'a: cuda>=12.0 cuStreamQuery', '--no-start', DRIVER)
        self.assertEqual(answer.out, b'a\n')

    def test_require_when_not_started_then_the_files_decide(self):
        tree = self.machine(2).driver(LIBRARIES)
        for conditions, status in {('arch>=9.0',): USABLE, ('cuda>=12.0', 'arch>=7.5'): USABLE,
                                   ('arch>=10.0',): UNUSABLE, ('cuda>=99.0', 'arch>=7.5'): UNUSABLE,
                                   ('memory>=8G',): USAGE}.items():
            required = [f'--require={condition}' for condition in conditions]
            answer = run('probe', *required, '--no-start', '--root', tree.root, FAKE_CRASH='cuInit')
            self.assertEqual(answer.status, status, (conditions, answer))
        answer = run('probe', '--require=arch>=10.0', '--no-start', '--root', tree.root)
        self.assertIn(b'arch>=10.0', answer.out)
        self.assertIn(b'not started', answer.out)

    def test_require_when_not_started_then_features_are_refused(self):
        answer = run_json('probe', '--require=12.0', '--no-start', DRIVER, FAKE_CRASH='cuInit')
        self.assertEqual((answer.status, answer.document['initialised']), (USABLE, None))
        self.assertIn('not started', run('probe', '--require=12.0', '--no-start', DRIVER).out.decode())
        for arguments in (['--require=memory-pools'], ['--require=arch>=8.0'], ['--require=12.0', '--devices'], []):
            self.assertEqual(run('probe', '--no-start', *arguments, DRIVER).status, USAGE, arguments)


if __name__ == '__main__':
    main()
