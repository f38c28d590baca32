#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is concluded of drivers and GPUs, and what the sentences say."""
from audit import Case, main
from makers import Elf, fatbin, pe, ptx, ptx_text, runtime, sass, wheel


class Gpus(Case):
    def runs(self, *entries, machine=62, **sections):
        elf = Elf(machine=machine).section('.nv_fatbin', fatbin(*entries))
        return {one['arch']: one['runs'] for one in self.file_of(elf.build())['gpus']}

    def check(self, found, **expected):
        self.assertEqual({arch: found[arch[1:].replace('_', '.')] for arch in expected}, expected)

    def test_sass_when_plain_then_runs_within_its_major_version(self):
        self.check(self.runs(sass(80), sass(70)), a6_1='no', a7_0='native', a7_5='native', a8_0='native',
                   a8_9='native', a9_0='no')

    def test_sass_when_accelerated_then_runs_on_one_gpu(self):
        self.check(self.runs(sass(100, 'a')), a9_0='no', a10_0='native', a10_3='no')

    def test_sass_when_for_a_family_then_runs_on_it(self):
        self.check(self.runs(sass(100, 'f'), sass(120, 'f')), a9_0='no', a10_0='native', a10_3='native',
                   a12_0='native', a12_1='native')

    def test_ptx_when_plain_then_is_compiled_for_later_gpus(self):
        self.check(self.runs(ptx(75, (6, 3))), a7_0='no', a7_5='jit', a8_0='jit', a12_0='jit')

    def test_ptx_when_accelerated_or_for_a_family_then_is_not_portable(self):
        self.check(self.runs(ptx(90, (8, 0), 'a')), a9_0='jit', a10_0='no')
        self.check(self.runs(ptx(100, (8, 8), 'f')), a10_0='jit', a10_3='jit', a12_0='no')

    def test_gpus_of_jetson_when_file_is_for_arm64_then_run_only_their_own_sass(self):
        self.check(self.runs(sass(86), sass(87), machine=183), a8_6='native', a8_7='native', a8_9='native')
        self.check(self.runs(sass(80), machine=183), a8_0='native', a8_7='no')
        self.assertNotIn('8.7', self.runs(sass(80)))

    def test_gpu_when_some_containers_lack_code_then_runs_in_part_and_is_not_known_to_run(self):
        elf = Elf().section('.nv_fatbin', fatbin(sass(80), sass(90)) * 84 + fatbin(sass(80)) * 44)
        done = self.run_on('lib.so', elf.build(), '--require-arch=9.0')
        self.assertEqual(done.status, 2)
        self.assertIn('lib.so: GPU 9.0: 84 of 128 fat binaries have code for it, and whether the others are used on it '
                      'is not known\n', done.out)
        self.assertEqual(self.run_program('--require-arch=9.0', '--strict', 'lib.so').status, 1)
        self.assertEqual(self.run_program('--require-arch=8.0', '--strict', 'lib.so').status, 0)
        done = self.run_program('lib.so')
        self.assertIn('GPU 9.0: only in part: 84 of 128 fat binaries have code for it', done.out)

    def test_gpu_when_its_generation_was_dropped_then_names_the_last_branch(self):
        elf = Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(70), ptx(35, (7, 8))))
        done = self.run_on('lib.so', elf.build())
        self.assertIn('GPU 7.0: native; driver 580 is the last that supports it', done.out)
        self.assertIn('GPUs 3.5 to 3.7: cannot run: the file needs driver 525, and driver 470 is', done.out)
        done = self.run_program('--require-arch=3.5', 'lib.so')
        self.assertEqual((done.status, 'driver 470 is the last that' in done.out), (1, True))

    def test_gpu_when_ptx_is_newer_than_the_table_then_driver_is_not_known(self):
        document = self.file_of(Elf().section('.nv_fatbin', fatbin(ptx(80, (99, 0)))).build())
        gpu = next(one for one in document['gpus'] if one['arch'] == '8.0')
        self.assertEqual((gpu['runs'], gpu['first_driver']), ('jit', None))
        self.assertEqual(self.run_program('--require-driver=580', 'lib.so').status, 1)

    def test_gpu_when_newer_than_the_driver_then_does_not_make_it_fail(self):
        """The PTX 8.7 is for GPUs that themselves need the driver that compiles it."""
        elf = Elf().section('.nv_fatbin', fatbin(sass(80), sass(90), ptx(100, (8, 7))))
        self.assertEqual(self.run_on('lib.so', elf.build(), '--require-driver=535').status, 0)
        self.assertEqual(self.run_program('--require-driver=535', '--require-arch=12.0', 'lib.so').status, 0)


class Drivers(Case):
    def first(self, elf):
        return (self.file_of(elf.build())['first_driver'] or {}).get('branch')

    def test_driver_when_the_newest_symbol_demands_it_then_is_the_first_with_it(self):
        for name, branch in (('cuInit', 340), ('cuStreamGetCaptureInfo_v2', 465), ('cuStreamGetCaptureInfo_v3', 545),
                             ('cuMemcpyAsync_ptsz', 346), ('cuDeviceGetLuid', 470)):
            with self.subTest(name):
                self.assertEqual(self.first(Elf().needs('libcuda.so.1').wants('cuInit').wants(name)), branch)

    def test_driver_when_a_symbol_is_weak_then_does_not_demand_it(self):
        elf = Elf().needs('libcuda.so.1').wants('cuInit').wants('cuGreenCtxCreate', weak=True)
        self.assertEqual(self.first(elf), 340)
        self.assertIn('links weakly to cuGreenCtxCreate', self.run_program('lib.so').out)

    def test_driver_when_a_symbol_is_not_in_the_list_then_note_says_so(self):
        document = self.file_of(Elf().needs('libcuda.so.1').wants('cuFutureThing').build())
        self.assertIn('cuFutureThing, which no known driver exports', document['notes'][0])

    def test_driver_when_a_symbol_is_bound_lazily_then_line_says_so(self):
        elf = Elf().needs('libcuda.so.1').wants('cuGreenCtxCreate')
        self.assertIn('the call fails', self.run_on('lib.so', elf.build()).out)
        self.assertIn('on drivers before 550, the call fails (in Python, the file does not load): ', self.run_program('--require-driver=535', 'lib.so').out)

    def test_driver_when_the_runtime_is_shared_then_is_the_first_of_its_major_version(self):
        for soname, branch in (('libcudart.so.12', 525), ('libcudart.so.11.0', 450), ('libcudart.so.10.2', 440),
                               ('libcudart.so.13', 580), ('libcudart-c64a25f3.so.12.3.101', 525)):
            with self.subTest(soname):
                self.assertEqual(self.first(Elf().needs(soname)), branch)

    def test_driver_when_names_are_looked_up_then_is_a_note_and_no_demand(self):
        names = b'\0cuInit\0cuCtxGetId\0cuMemcpyBatchAsync\0not_cuInit2\0'
        document = self.file_of(Elf().section('.rodata', names).build())
        self.assertIsNone(document['first_driver'])
        self.assertIn('looks up at least 3 functions of the driver at run time, the newest of these from CUDA 12.8 '
                      '(cuMemcpyBatchAsync)', document['notes'])

    def test_driver_when_it_lacks_functions_that_are_looked_up_then_is_not_known_to_do(self):
        """A program can need each function that it looks up, or do without: the file does not tell."""
        names = b'\0cuInit\0cuDeviceGetCount\0cuDevicePrimaryCtxRelease_v2\0cuGreenCtxDestroy\0'
        elf = Elf().section('.rodata', names)
        self.assertFalse(self.file_of(elf.build())['first_driver_known'])
        self.assertIn('  driver: not known (see the notes)\n', self.run_program('lib.so').out)
        for driver, status in (470, 2), (535, 2), (550, 0), (580, 0):
            done = self.run_program(f'--require-driver={driver}', 'lib.so')
            self.assertEqual(done.status, status, driver)
            self.assertEqual(f'driver {driver} lacks cuGreenCtxDestroy of the 4 names that it looks up; whether it '
                             'needs it is not known' in done.out, status == 2)
            self.assertEqual(self.run_program(f'--require-driver={driver}', '--strict', 'lib.so').status, status // 2)
        document = self.run_program('--format=json', '--require-driver=470', 'lib.so').document
        self.assertEqual([one['kind'] for one in document['files'][0]['unknown']], ['lookup'])
        self.assertEqual(document['summaries'][0]['newest_lookup']['branch'], 550)
        # The functions that the CUDA runtime in a file looks up tell nothing of the file.
        self.write('lib.so', elf.needs('libcudart.so.12').build())
        self.assertEqual(self.run_program('--require-driver=535', 'lib.so').status, 2)
        self.write('lib.so', Elf().section('.rodata', names + runtime(b'cudaGetKernel')).build())
        self.assertEqual(self.run_program('--require-driver=535', 'lib.so').status, 0)

    def test_driver_when_a_file_is_linked_to_a_name_that_is_not_in_the_list_then_is_not_known(self):
        done = self.run_on('lib.so', Elf().needs('libcuda.so.1').wants('cuFutureThing').build(), '--require-driver=580')
        self.assertEqual((done.status, 'cuFutureThing, and no known driver exports it' in done.out), (2, True))

    def test_driver_when_it_supports_no_gpu_of_the_file_then_falls_short(self):
        """One computation: a check agrees with the line of the file, whichever GPUs are required."""
        for code, words in (([sass(120)], 'supports none of the GPUs for which the file has code, SASS for 12.0'),
                            ([sass(35)], 'supports none of the GPUs for which the file has code, SASS for 3.5'),
                            ([sass(120), ptx(80, (8, 5))], 'GPUs 8.0, 8.6, 8.9, 9.0: on drivers before 555')):
            with self.subTest(words):
                done = self.run_on('k.fatbin', fatbin(*code), '--require-driver=535')
                self.assertEqual((done.status, words in done.out), (1, True), done.out)
        done = self.run_program('--require-driver=535', '--require-arch=12.0', 'k.fatbin')
        self.assertEqual((done.status, 'on drivers before 555, it runs on no GPU' in done.out), (1, True))

    def test_driver_when_a_file_uses_nvenc_or_nvdec_then_is_not_known(self):
        for content, video in (Elf().needs('libnvcuvid.so.1').build(), ['NVDEC']), \
                (Elf().section('.rodata', b'\0libnvidia-encode.so.1\0').build(), ['NVENC']), \
                (pe(data=b'\0nvcuvid.dll\0nvEncodeAPI64.dll\0'), ['NVDEC', 'NVENC']):
            with self.subTest(video):
                self.assertEqual(self.file_of(content)['video'], video)
                done = self.run_program('lib.so')
                self.assertIn('  driver: not known (see the notes)\n', done.out)
                self.assertIn(f'note: uses {" and ".join(video)} of the driver: ', done.out)
                done = self.run_program('--require-driver=535', 'lib.so')
                self.assertEqual(done.status, 2)
                self.assertIn(f'the driver that {" and ".join(video)} needs is not known', done.out)
        # A message that mentions the library shows nothing.
        messages = b'\0cannot load libnvcuvid.so.1\0libnvcuvid.so.1: missing\0'
        elf = Elf().needs('libcuda.so.1').section('.rodata', messages)
        self.assertEqual(self.file_of(elf.build())['video'], [])

    def test_code_when_compiled_at_run_time_then_reads_not_known(self):
        for elf in Elf().needs('libnvrtc.so.12').wants('nvrtcCompileProgram'), \
                Elf().needs('libnvJitLink.so.12').wants('__nvJitLinkComplete_12_8'), \
                Elf().section('.rodata', b'\0nvrtcCompileProgram\0'):
            document = self.file_of(elf.build())
            self.assertFalse(document['gpus_known'])
            self.assertNotIn('any driver', self.run_program('lib.so').out)
            done = self.run_program('--require-arch=8.0', 'lib.so')
            self.assertEqual((done.status, 'not known whether it runs with GPU 8.0' in done.out), (2, True))
            self.assertEqual(self.run_program('--require-arch=8.0', '--strict', 'lib.so').status, 1)

    def test_code_when_a_compiler_is_linked_and_not_called_then_gpus_are_known(self):
        """Build systems link extensions to all libraries of the Toolkit."""
        elf = Elf().needs('libnvrtc.so.12').needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(80)))
        self.assertTrue(self.file_of(elf.build())['gpus_known'])
        self.assertEqual(self.run_program('--require-arch=9.0', 'lib.so').status, 1)

    def test_code_when_it_comes_from_elsewhere_then_reads_not_known(self):
        """A program that makes PTX itself, or reads it from a file, looks up the functions that load it."""
        names = b'\0cuInit\0cuModuleLoadDataEx\0'
        self.assertFalse(self.file_of(Elf().section('.rodata', names).build())['gpus_known'])
        done = self.run_program('lib.so')
        self.assertIn('  driver: not known (see the notes)\n', done.out)
        self.assertIn('loads device code that is not in this file (cuModuleLoadDataEx)', done.out)
        document = self.file_of(Elf().section('.rodata', names + ptx_text(60, '6.0')).build())
        self.assertTrue(document['gpus_known'])

    def test_driver_when_ptx_must_be_compiled_on_each_gpu_then_is_the_first_that_compiles_it(self):
        document = self.file_of(ptx_text(75, '8.3'), 'k.ptx')
        self.assertEqual(document['first_driver']['branch'], 545)
        self.assertEqual([one['kind'] for one in document['demands']], ['ptx'])
        self.assertIn('driver 545 or newer (CUDA 12.3): the driver must compile its PTX 8.3',
                      self.run_program('k.ptx').out)
        self.assertEqual(self.run_program('--require-driver=535', 'k.ptx').status, 1)

    def test_driver_when_code_is_for_new_gpus_only_then_is_the_first_that_supports_one(self):
        elf = Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(100), sass(120)))
        document = self.file_of(elf.build())
        self.assertEqual(document['first_driver']['branch'], 570)
        self.assertEqual([one['kind'] for one in document['demands']], ['sass', 'runtime'])

    def test_driver_when_the_runtime_is_of_another_library_then_is_not_known(self):
        elf = Elf().section('.nv_fatbin', fatbin(sass(75), sass(80))).wants('__cudaRegisterFatBinary')
        out = self.run_on('lib.so', elf.build()).out
        self.assertIn('  driver: not known (see the notes)\n', out)
        self.assertIn('calls a CUDA runtime, but neither names', out)
        done = self.run_program('--require-driver=535', 'lib.so')
        self.assertEqual(done.status, 2)
        self.assertIn('the driver that its CUDA runtime needs is not known', done.out)
        self.assertIn('a CUDA runtime that is not known', self.run_program('--variant', 'lib.so').out)
        # Beside a file with a runtime, it is that one.
        self.write('a.whl', wheel({'lib.so': elf.build(), 'runtime.so': Elf().needs('libcudart.so.12').build()}))
        self.assertEqual(self.run_program('--require-driver=535', 'a.whl').status, 0)

    def test_wheel_when_it_only_compiles_at_run_time_then_driver_is_not_known(self):
        elf = Elf().section('.rodata', b'\0nvrtcCompileProgram\0')
        done = self.run_on('a.whl', wheel({'one.so': elf.build(), 'two.so': elf.build()}))
        self.assertIn('a.whl: 2 CUDA files; their driver is not known', done.out)


class Advice(Case):
    """What the sentences tell a packager to change can be done."""
    def test_advice_when_a_gpu_is_newer_than_the_first_driver_then_names_a_toolkit_that_knows_it(self):
        """PTX 8.8 for 9.0: driver 570 is the first for GPU 10.0, and compiles PTX up to 8.7."""
        elf = Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(80), sass(90), ptx(90, (8, 8))))
        self.assertIn('to run on GPUs 10.0, 12.0 from driver 570 on: add -gencode arch=compute_100,code=sm_100 -gencode '
                      'arch=compute_120,code=sm_120, or build that file with CUDA 12.8, which writes PTX 8.7\n',
                      self.run_on('lib.so', elf.build()).out)

    def test_advice_when_an_older_toolkit_lacks_a_gpu_of_the_file_then_does_not_name_it(self):
        elf = Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(75), ptx(75, (8, 7)), sass(120)))
        out = self.run_on('lib.so', elf.build()).out
        self.assertIn('from driver 525 on: add -gencode arch=compute_80,code=sm_80', out)
        self.assertNotIn('build that file', out)

    def test_advice_when_the_toolkit_has_dropped_a_gpu_then_names_the_last_one_that_has_it(self):
        elf = Elf().needs('libcudart.so.13').section('.nv_fatbin', fatbin(sass(75)))
        out = self.run_on('lib.so', elf.build(), '--require-arch=6.1').out
        self.assertIn('build that file with CUDA 12.9, the last that compiles for GPU 6.1, and add -gencode '
                      'arch=compute_61,code=sm_61', out)
        elf = Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(75)))
        self.assertNotIn('the last that compiles', self.run_on('lib.so', elf.build(), '--require-arch=6.1').out)

    def test_advice_when_code_is_written_for_one_gpu_then_does_not_ask_for_others(self):
        self.assertNotIn('add -gencode', self.run_on('k.ptx', ptx_text('103a', '8.8')).out)

    def test_advice_when_ptx_is_too_new_for_an_old_gpu_then_does_not_promise_it(self):
        """Driver 470 is the last for 3.5, and cannot compile PTX 7.8."""
        elf = Elf().needs('libcudart.so.11.0').section('.nv_fatbin', fatbin(ptx(35, (7, 8)), sass(61)))
        out = self.run_on('lib.so', elf.build()).out
        self.assertIn('GPUs 3.5 to 3.7: cannot run: PTX 7.8 (for 3.5) needs driver 520, and driver 470', out)
        self.assertIn('to run on GPUs 5.0, 5.2, 6.0,', out)


class Summaries(Case):
    def test_summary_when_files_serve_a_gpu_in_part_then_counts_both_kinds(self):
        """"12 of 12 files" would not read as "in part"."""
        whole, part = fatbin(sass(80), sass(90)), fatbin(sass(80)) + fatbin(sass(90))
        files = {'a.so': whole, 'b.so': part, 'c.so': part}
        self.write('a.whl', wheel({name: Elf().needs('libcudart.so.12').section('.nv_fatbin', code).build()
                                   for name, code in files.items()}))
        out = self.run_program('a.whl').out
        self.assertIn('only in part: 1 of 3 files has all of their code for them, 2 have some\n', out)
        self.assertIn('a.whl: 3 CUDA files; driver 525 or newer\n', out)

        self.assertIn('only in part: 2 of 2 files have some code for them\n',
                      self.run_program('--except', 'a.so', 'a.whl').out)

    def test_summary_when_gpus_differ_in_numbers_only_then_stand_together(self):
        code = fatbin(sass(80)) * 3 + fatbin(sass(80), sass(86)) * 2 + fatbin(sass(90))
        elf = Elf().needs('libcudart.so.12').section('.nv_fatbin', code + fatbin(sass(89)))
        self.assertIn('GPUs 8.0 to 9.0: only in part: 1 to 6 of 7 fat binaries have code for them\n',
                      self.run_on('lib.so', elf.build()).out)

    def test_summary_when_gpus_need_the_same_driver_then_names_it_once(self):
        code = fatbin(sass(61), ptx(50, (7, 8)))
        self.write('a.whl', wheel({'a.so': Elf().needs('libcudart.so.11.0').section('.nv_fatbin', code).build()}))
        self.assertIn('driver 450 or newer; on GPUs 5.0 to 6.0 and GPUs 7.0 to 8.6, driver 520 or newer\n',
                      self.run_program('a.whl').out)

    def test_summary_when_files_demand_different_drivers_then_names_the_file(self):
        self.write('a.whl', wheel({'old.so': Elf().needs('libcudart.so.12').build(),
                                   'new.so': Elf().needs('libcudart.so.13').build()}))
        self.assertIn('a.whl: 2 CUDA files; driver 580 or newer for both of them (new.so needs it); the least demanding '
                      'file needs driver 525\n', self.run_program('a.whl').out)

    def test_summary_when_device_code_alone_demands_a_driver_then_names_it_once(self):
        self.write('a.whl', wheel({'a.so': Elf().section('.nv_fatbin', fatbin(ptx(30, (4, 2)))).build()}))
        self.assertIn('a.whl: 1 CUDA file; driver 346 or newer, for the device code\n', self.run_program('a.whl').out)

    def test_summary_when_device_code_demands_more_then_least_demanding_file_needs_it(self):
        old = Elf().needs('libcuda.so.1').wants('cuInit').section('.nv_fatbin', fatbin(sass(60)))
        self.write('a.whl', wheel({'old.so': old.build(), 'new.so': Elf().needs('libcudart.so.13').build()}))
        self.assertIn('; the least demanding file needs driver 367\n', self.run_program('a.whl').out)

    def test_summary_when_a_wheel_has_one_file_then_is_in_the_singular(self):
        self.write('a.whl', wheel({'a.so': Elf().section('.rodata', b'\0nvrtcCompileProgram\0').build()}))
        self.assertIn('a.whl: 1 CUDA file; its driver is not known\n', self.run_program('a.whl').out)


    def test_summary_when_device_code_demands_the_driver_then_agrees_with_line_variant_json_and_status(self):
        """mistralrs-cuda 0.3.2: the line of the file said 555, and the summary 525."""
        library = Elf().needs('libcuda.so.1').wants('cuInit').wants('cuCtxGetId').section('.nv_fatbin',
                                                                                          fatbin(ptx(80, (8, 5)))).build()
        self.write('one.whl', wheel({'one/lib.so': library}))
        self.write('two.whl', wheel({'one/lib.so': library, 'libcudart.so': Elf().needs('libcudart.so.12').build()}))
        out = self.run_program('one.whl').out
        self.assertIn('  driver 555 or newer (CUDA 12.5): the driver must compile its PTX 8.5\n', out)
        self.assertIn('one.whl: 1 CUDA file; driver 555 or newer\n', out)
        self.assertIn('two.whl: 2 CUDA files; driver 555 or newer for both of them (one/lib.so needs it); the least '
                      'demanding file needs driver 525\n', self.run_program('two.whl').out)
        for name in 'one.whl', 'two.whl':
            self.assertIn('cuda_version_lower_bound :: 12.5\n', self.run_program('--variant', name).out)
            document = self.run_program('--format=json', name).document
            self.assertEqual(document['summaries'][0]['first_driver']['branch'], 555)
            self.assertEqual([self.run_program(f'--require-driver={one}', name).status for one in (550, 555)], [1, 0])

    def test_summary_when_files_have_code_for_different_gpus_then_each_must_work(self):
        self.write('old.fatbin', fatbin(sass(80)))
        self.write('new.fatbin', fatbin(sass(120)))
        self.assertIn('2 CUDA files; driver 570 or newer for both of them (./new.fatbin needs it); the least demanding '
                      'file needs driver 450', self.run_program('.').out)

    def test_summary_when_no_gpu_serves_all_files_before_then_is_more_than_each_file_demands(self):
        """One file runs on 8.0 from 450 on, the other on 9.0 from 520 on, and both on one GPU from 550 on."""
        self.write('a.fatbin', fatbin(sass(80), ptx(90, (8, 5), 'a')))
        self.write('b.fatbin', fatbin(sass(90), ptx(80, (8, 4), 'a')))
        self.assertIn('2 CUDA files; driver 550 or newer for both of them (on older ones, no GPU runs each of them); '
                      'the least demanding file needs driver 450', self.run_program('.').out)


class Mistakes(Case):
    def test_stub_when_in_a_wheel_then_falls_short(self):
        stub = Elf().soname('libcuda.so.1').defines('cuInit').build()
        done = self.run_on('a.whl', wheel({'libs/libcuda.so.1': stub}))
        self.assertEqual((done.status, 'the stub of the driver' in done.out), (1, True))

    def test_driver_when_in_a_directory_then_is_a_note(self):
        driver = Elf().soname('libcuda.so.1').defines('cuInit').build()
        self.write('lib/libcuda.so.570.124.06', driver)
        done = self.run_program('lib')
        self.assertEqual((done.status, "this is NVIDIA's driver 570.124.06" in done.out), (0, True))

    def test_rpath_when_it_leads_to_stubs_then_falls_short(self):
        elf = Elf().needs('libcuda.so.1').wants('cuInit').runpath('$ORIGIN:/usr/local/cuda/lib64/stubs')
        done = self.run_on('lib.so', elf.build())
        self.assertEqual((done.status, '/usr/local/cuda/lib64/stubs' in done.out), (1, True))


class Variants(Case):
    def test_variant_when_printed_then_has_the_bounds(self):
        elf = Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(80), sass(90, 'a'), ptx(90, (8, 3))))
        done = self.run_on('a.whl', wheel({'lib.so': elf.build()}), '--variant')
        self.assertEqual(done.out.splitlines(), [
            'a.whl:', '  nvidia :: cuda_version_lower_bound :: 12.0', '  nvidia :: sm_arch :: 80_real',
            '  nvidia :: sm_arch :: 90_virtual', '  nvidia :: sm_arch :: 90a_real', '  conda: __cuda >=12.0'])

    def test_variant_when_there_are_several_files_then_has_the_bounds_of_each(self):
        self.write('a.whl', wheel({'a.so': Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(80))).build(),
                                   'b.so': Elf().needs('libcudart.so.13').build(),
                                   'c.so': Elf().section('.rodata', b'\0nvrtcCompileProgram\0').build()}))
        out = self.run_program('--variant', 'a.whl').out
        for line in ('a.so: cuda_version_lower_bound :: 12.0; sm_arch :: 80_real', 'b.so: cuda_version_lower_bound :: 13.0',
                     'c.so: no bound that is known'):
            self.assertIn(f'  {line}\n', out)

    def test_variant_when_code_is_ptx_only_then_driver_must_compile_it(self):
        self.assertIn('cuda_version_lower_bound :: 12.3', self.run_on('k.ptx', ptx_text(75, '8.3'), '--variant').out)


if __name__ == '__main__':
    main()
