#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that contain cushim, and what they need by their neighbours."""
from audit import Case, main
from makers import Elf, fatbin, pe, sass


def record(*names, version='0.2.0', extent='s', needs=()):
    """The record of a copy of cushim, as loader/symbols.c has it."""
    parts = [f'cushim-record-1 {version}', extent, *(f'cushim-need:{need}' for need in needs), '', *names,
             'cushim-record-end', '']
    return '\0'.join(parts).encode()


COMPANIONS = record('libnvcuvid.so.1', 'libnvidia-encode.so.1', 'nvEncodeAPI64.dll', 'nvcuvid.dll', extent='c')
SMALL = record('cuInit', 'cuCtxGetId', 'cuLogsRegisterCallback')


class Record(Case):
    def elf(self, *data):
        return Elf().section('.rodata', b'\0'.join([b'', *data, b''])).build()

    def test_look_ups_when_they_are_those_of_cushim_then_the_file_demands_no_driver(self):
        done = self.run_on('lib.so', self.elf(SMALL), '--require-driver=340')
        self.assertEqual(done.status, 0, done.out)
        self.assertIn('contains cushim 0.2.0 with 3 functions: starts on each driver and without one',
                      self.run_program('lib.so').out)
        document = self.file_of(self.elf(SMALL))
        self.assertEqual((document['lookups'], document['first_driver'], document['first_driver_known']), ([], None, True))
        self.assertEqual(document['cushim'], [{'version': '0.2.0', 'functions': 3, 'whole': False}])

    def test_name_when_it_is_elsewhere_in_the_file_too_then_it_counts(self):
        for place in ((SMALL, b'x' * 100, b'cuCtxGetId'), (b'cuCtxGetId', b'x' * 100, SMALL), (SMALL, b'cuCtxGetId')):
            data = self.elf(*place)
            self.assertEqual(self.file_of(data)['lookups'], ['cuCtxGetId'])
            self.assertEqual(self.run_on('lib.so', data, '--require-driver=470').status, 2)
            self.assertIn('note: contains cushim 0.2.0 with 3 functions', self.run_program('lib.so').out)

    def test_file_when_it_is_linked_to_the_driver_too_then_that_counts(self):
        linked = Elf().needs('libcuda.so.1').wants('cuGreenCtxDestroy', slot=False).section('.rodata', SMALL)
        self.assertEqual(self.run_on('lib.so', linked.build(), '--require-driver=535').status, 1)
        named = Elf().needs('libcuda.so.1').section('.rodata', SMALL).build()
        self.assertNotIn('without one', self.run_on('lib.so', named).out)
        dll = pe({'nvcuda.dll': ['cuGreenCtxDestroy']}, data=SMALL)
        self.assertEqual(self.run_on('lib.dll', dll, '--require-driver=535').status, 1)

    def test_dll_when_it_contains_cushim_then_its_look_ups_are_optional(self):
        self.assertEqual(self.run_on('lib.dll', pe(data=SMALL), '--require-driver=340').status, 0)

    def test_file_when_it_has_two_copies_then_both_are_read(self):
        whole = record('cuGreenCtxDestroy', version='0.3.0', extent='w')
        document = self.file_of(self.elf(SMALL, b'y' * 80, whole))
        self.assertEqual((document['lookups'], [one['version'] for one in document['cushim']]), ([], ['0.2.0', '0.3.0']))
        self.assertIn('cushim 0.3.0 with all functions', self.run_on('lib.so', self.elf(whole)).out)

    def test_record_when_it_is_damaged_then_it_excuses_nothing(self):
        for data in (SMALL.replace(b'cushim-record-end', b'cushim-record-eng'), SMALL.replace(b'record-1', b'record-2'),
                     SMALL.replace(b'\0s\0', b'\0x\0'), SMALL.replace(b'cuInit', b'cu Init'),
                     SMALL.replace(b'cuInit', b'I' * 70000)):
            self.assertIn('cuCtxGetId', self.file_of(self.elf(data))['lookups'])

    def test_companions_when_they_are_those_of_cushim_then_they_demand_no_driver(self):
        for data, name in (self.elf(SMALL, COMPANIONS), 'lib.so'), (pe(data=b'\0'.join([COMPANIONS, SMALL])), 'lib.dll'):
            done = self.run_on(name, data, '--require-driver=340')
            self.assertEqual(done.status, 0, done.out)
            self.assertIn('contains cushim 0.2.0 with 3 functions: starts on each driver and without one',
                          self.run_program(name).out)
        self.assertEqual(self.run_on('lib.so', self.elf(COMPANIONS)).status, 0)

    def test_companions_when_the_file_names_one_itself_then_it_counts(self):
        for name, library in (('lib.so', b'libnvidia-encode.so.1'), ('lib.dll', b'nvEncodeAPI64.dll')):
            for data in ((library, COMPANIONS, SMALL), (SMALL, COMPANIONS, library),
                         (SMALL, COMPANIONS.replace(b'\0c\0', b'\0s\0')), (SMALL, COMPANIONS.replace(b'-end', b'-eng'))):
                text = b'\0'.join([b'', *data, b''])
                content = pe(data=text) if name == 'lib.dll' else Elf().section('.rodata', text).build()
                self.assertEqual(self.run_on(name, content, '--require-driver=470').status, 2)
                self.assertIn('NVENC', self.run_program(name).out)

    def test_message_when_a_name_is_in_it_then_it_is_not_looked_up_unless_it_is_at_the_end(self):
        for text in (b'cuGreenCtxCreate failed', b'%s: cuGreenCtxCreate: %s', b'cuGreenCtxCreate(&one)', b'my_cuGreenCtxCreate'):
            self.assertEqual(self.file_of(self.elf(SMALL, text))['lookups'], [])
        # Linkers keep a string that is the end of another one only there.
        for text in (b'cannot find cuGreenCtxCreate', b'cuGreenCtxCreate'):
            self.assertEqual(self.file_of(self.elf(SMALL, text))['lookups'], ['cuGreenCtxCreate'])

    def test_device_code_when_a_subset_can_load_it_then_it_is_not_known(self):
        loads = record('cuModuleLoadData')
        self.assertEqual(self.run_on('lib.so', self.elf(loads), '--require-driver=535').status, 2)
        self.assertEqual(self.run_on('lib.so', self.elf(loads.replace(b'\0s\0', b'\0w\0')), '--require-driver=535').status, 0)

    def test_need_when_a_program_says_it_then_it_is_held_to_it(self):
        for need, first in (('cuda>=12.4', '12.4'), ('driver>=550.54', '12.4'), ('12.0', '12.0'), ('cuStreamGetId', '12.0'),
                            ('StreamGetDevice_v1', '9.2'), ('memory-pools', '11.2')):
            for data in (record('cuInit', needs=[need]), SMALL + f'cushim-need:{need}\0'.encode()):
                document = self.file_of(self.elf(data))
                self.assertEqual((document['first_driver']['cuda_version'], document['needs']), (first, [need]))
                self.assertEqual((document['demands'][0]['kind'], document['lookups']), ('need', []))
        data = self.elf(SMALL, b'cushim-need:cuda>=12.4')
        done = self.run_on('lib.so', data, '--require-driver=535')
        self.assertEqual((done.status, 'it says that it needs cuda>=12.4' in done.out), (1, True))
        self.assertEqual(self.run_program('--require-driver=550', 'lib.so').status, 0)
        self.assertEqual(self.run_on('lib.so', self.elf(SMALL, b'cushim-need:arch>=7.5'), '--require-driver=340').status, 0)
        done = self.run_on('lib.so', self.elf(SMALL, b'cushim-need:cuNoSuch'), '--require-driver=580')
        self.assertEqual((done.status, 'cuNoSuch' in done.out), (2, True))


class Neighbour(Case):
    def test_compiler_when_a_file_uses_its_library_then_the_driver_of_its_major_version_is_needed(self):
        for library, function, first in (('libnvrtc.so.12', 'nvrtcCompileProgram', '12.0'),
                                         ('libnvrtc.so.11.2', 'nvrtcCompileProgram', '11.0'),
                                         ('libnvrtc-672ee683.so.11.2', 'nvrtcCompileProgram', '11.0'),
                                         ('libnvrtc.so.10.2', 'nvrtcCompileProgram', '10.2'),
                                         ('libnvJitLink.so.13', '__nvJitLinkComplete_13_0', '13.0')):
            elf = Elf().needs('libcuda.so.1').wants('cuInit').needs(library).wants(function).build()
            self.assertEqual(self.file_of(elf)['first_driver']['cuda_version'], first, library)
            # That a file only names the library shows nothing.
            elf = Elf().needs('libcuda.so.1').wants('cuInit').needs(library).build()
            self.assertEqual(self.file_of(elf)['first_driver']['cuda_version'], '6.5', library)
        dll = pe({'nvcuda.dll': ['cuInit'], 'nvrtc64_120_0.dll': ['nvrtcCompileProgram']})
        self.assertEqual(self.file_of(dll, 'lib.dll')['first_driver']['cuda_version'], '12.0')

    def test_compiler_when_it_is_nvrtc_12_then_older_drivers_fall_short_and_the_bound_is_its_version(self):
        elf = Elf().needs('libcuda.so.1').wants('cuInit').needs('libnvrtc.so.12').wants('nvrtcCompileProgram').build()
        done = self.run_on('lib.so', elf)
        self.assertIn('driver 525 or newer (CUDA 12.0): it compiles code with libnvrtc.so.12', done.out)
        self.assertEqual([self.run_program(f'--require-driver={one}', 'lib.so').status for one in (470, 535)], [1, 2])
        self.assertIn('cuda_version_lower_bound :: 12.0', self.run_program('--variant', 'lib.so').out)

    def test_ffmpeg_when_it_says_which_driver_nvenc_needs_then_that_is_the_driver(self):
        sentence = b'The minimum required Nvidia driver for nvenc is %s or newer\n'
        data = b'\0'.join([b'', b'libnvidia-encode.so.1', sentence, b'610.00', b'cuInit', b''])
        elf = Elf().section('.rodata', data).build()
        document = self.file_of(elf)
        self.assertEqual((document['first_driver']['branch'], document['demands'][0]['kind']), (610, 'video'))
        self.assertEqual([self.run_program(f'--require-driver={one}', 'lib.so').status for one in (580, 610)], [1, 0])
        # Its device code runs on older drivers all the same.
        with_code = Elf().section('.rodata', data).section('.nv_fatbin', fatbin(sass(50))).build()
        gpu = next(one for one in self.file_of(with_code)['gpus'] if one['arch'] == '5.0')
        self.assertEqual((gpu['runs'], gpu['first_driver']['branch']), ('native', 340))
        # Two numbers, or none: not known.
        for other in (data + b'570.0\0', data.replace(b'610.00', b'unknown')):
            self.assertIsNone(self.file_of(Elf().section('.rodata', other).build())['first_driver'])


if __name__ == '__main__':
    main()
