#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is concluded of drivers and GPUs, and what the sentences say."""
from audit import Case, main
from makers import Elf, fatbin, ptx, ptx_text, sass, wheel


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

    def test_gpu_when_some_containers_lack_code_then_runs_in_part_and_never_fails(self):
        elf = Elf().section('.nv_fatbin', fatbin(sass(80), sass(90)) * 84 + fatbin(sass(80)) * 44)
        done = self.run_on('lib.so', elf.build(), '--require-arch=9.0')
        self.assertEqual(done.status, 0)
        done = self.run_program('lib.so')
        self.assertIn('GPU 9.0: only in part: 84 of 128 fat binaries have code for it', done.out)

    def test_gpu_when_its_generation_was_dropped_then_names_the_last_branch(self):
        elf = Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(70), ptx(35, (7, 8))))
        done = self.run_on('lib.so', elf.build())
        self.assertIn('GPU 7.0: native; 580 is the last branch for it', done.out)
        self.assertIn('has code for GPU 3.5, but cannot run there: it needs driver 525, and 470 is the last', done.out)
        done = self.run_program('--require-arch=3.5', 'lib.so')
        self.assertEqual((done.status, '470 is the last branch' in done.out), (1, True))

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
        self.assertIn('on drivers before 550, the call fails', self.run_program('--require-driver=535', 'lib.so').out)

    def test_driver_when_the_runtime_is_shared_then_is_the_first_of_its_major_version(self):
        for soname, branch in (('libcudart.so.12', 525), ('libcudart.so.11.0', 450), ('libcudart.so.10.2', 440),
                               ('libcudart.so.13', 580), ('libcudart-c64a25f3.so.12.3.101', 525)):
            with self.subTest(soname):
                self.assertEqual(self.first(Elf().needs(soname)), branch)

    def test_driver_when_names_are_looked_up_then_is_a_note_and_no_demand(self):
        names = b'\0cuInit\0cuCtxGetId\0cuMemcpyBatchAsync\0not_cuInit2\0'
        document = self.file_of(Elf().section('.rodata', names).build())
        self.assertIsNone(document['first_driver'])
        self.assertIn('looks up 3 functions of the driver at run time, the newest from CUDA 12.8 (cuMemcpyBatchAsync)',
                      document['notes'])

    def test_code_when_compiled_at_run_time_then_reads_not_known(self):
        for elf in Elf().needs('libnvrtc.so.12').needs('libcuda.so.1').wants('cuInit'), \
                Elf().section('.rodata', b'\0nvrtcCompileProgram\0'):
            document = self.file_of(elf.build())
            self.assertFalse(document['gpus_known'])
            self.assertNotIn('any driver', self.run_program('lib.so').out)
            done = self.run_program('--require-arch=8.0', 'lib.so')
            self.assertEqual((done.status, 'as far as is known' in done.out), (0, True))


    def test_wheel_when_it_only_compiles_at_run_time_then_driver_is_not_known(self):
        elf = Elf().section('.rodata', b'\0nvrtcCompileProgram\0')
        done = self.run_on('a.whl', wheel({'one.so': elf.build(), 'two.so': elf.build()}))
        self.assertIn('a.whl: 2 CUDA files; their driver is not known', done.out)


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

    def test_variant_when_code_is_ptx_only_then_driver_must_compile_it(self):
        self.assertIn('cuda_version_lower_bound :: 12.3', self.run_on('k.ptx', ptx_text(75, '8.3'), '--variant').out)


if __name__ == '__main__':
    main()
