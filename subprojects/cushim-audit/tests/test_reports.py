#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Five failures that users reported of published packages, each on a small file of the same structure."""
import os
import re

from audit import TOOL, Case, main
from makers import Elf, fatbin, ptx, runtime, sass, wheel


RUNTIME_11_8 = runtime(b'cudaCreateTextureObject_v2', b'cudaErrorInvalidClusterSize', b'cudaErrorMpsClientTerminated')
RUNTIME_12_3 = runtime(b'cudaErrorLossyQuery', b'cudaFuncGetName', b'cudaGraphAddDependencies_v2')
BEAMS = wheel({'beams/impl.so': Elf().section('.rodata', RUNTIME_12_3).section(
    '.nv_fatbin', fatbin(sass(75), ptx(75, (8, 3)))).build()})


class Reports(Case):
    def test_wheel_when_linked_to_a_function_of_driver_550_then_names_it(self):
        """"undefined symbol: cuGreenCtxDestroy" on driver 535."""
        library = Elf().needs('libcuda.so.1').wants('cuInit').wants('cuGreenCtxDestroy').binds_now().build()
        done = self.run_on('green.whl', wheel({'green/lib.so': library}), '--require-driver=535')
        self.assertEqual(done.status, 1)
        self.assertIn('green.whl: green/lib.so: on drivers before 550, the file does not load', done.out)
        self.assertIn('cuGreenCtxDestroy', done.out)
        self.assertIn('PLUGINS.md', done.out)
        self.assertEqual(self.run_program('--require-driver=550', 'green.whl').status, 0)

    def test_wheel_when_ptx_8_3_is_for_new_gpus_then_needs_driver_545(self):
        """"the provided PTX was compiled with an unsupported toolchain" on driver 535 (SASS 7.5 and PTX 8.3 only)."""
        self.write('beams.whl', BEAMS)
        done = self.run_program('--require-driver=535', 'beams.whl')
        self.assertEqual(done.status, 1)
        self.assertIn('GPUs 8.0, 8.6, 8.9, 9.0: on drivers before 545', done.out)
        self.assertIn('-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90', done.out)
        self.assertIn('CUDA 12.2, which writes PTX 8.2', done.out)
        self.assertEqual(self.run_program('--require-driver=535', '--require-arch=7.5', 'beams.whl').status, 0)
        self.assertEqual(self.run_program('--require-driver=545', 'beams.whl').status, 0)

    def test_wheel_of_the_readme_when_audited_then_prints_what_the_readme_shows(self):
        with open(os.path.join(TOOL, 'README.md'), encoding='utf-8') as file:
            examples = re.findall(r'^\$ cushim audit (.*)dist/\S*whl\n((?:(?!```).*\n)*)', file.read(), re.M)
        self.write('beams.whl', BEAMS)
        self.assertEqual(len(examples), 2)
        for options, output in examples:
            self.assertEqual(self.run_program(*options.split(), 'beams.whl').out, output.replace('dist/', ''))

    def test_wheel_when_its_code_is_for_two_gpus_then_others_have_no_kernel_image(self):
        """"no kernel image is available for execution on the device" (SASS 7.0 and 8.0, documented as 6.0 to 9.0)."""
        library = Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(sass(70), sass(80)) * 3).build()
        self.write('search.whl', wheel({'libs/libsearch.so': library}))
        done = self.run_program('--require-arch=6.0', '--require-arch=8.9', '--require-arch=9.0', 'search.whl')
        self.assertEqual(done.status, 1)
        self.assertIn('GPUs 6.0, 9.0: "no kernel image is available"', done.out)
        done = self.run_program('--require-arch=9.0', 'search.whl')
        self.assertIn('add -gencode arch=compute_80,code=compute_80', done.out)
        done = self.run_program('--require-driver=535', '--require-arch=9.0', 'search.whl')
        self.assertIn('add -gencode arch=compute_90,code=sm_90', done.out)
        done = self.run_program('--require-driver=535', 'search.whl')
        self.assertEqual(done.out, 'search.whl: 1 CUDA file runs with driver 535; '
                                   'no code for GPUs 5.0 to 6.1 and GPU 9.0\n')
        self.assertEqual(self.run_program('--require-arch=8.9', '--require-arch=7.5', 'search.whl').status, 0)

    def test_wheel_when_relocatable_ptx_is_7_8_then_needs_driver_520(self):
        """Documented as driver 450; the runtime 11.8 runs there, and the PTX for every GPU but 5.2 does not."""
        elf = Elf().section('.rodata', RUNTIME_11_8).section('.nv_fatbin', fatbin(sass(52)))
        elf.section('__nv_relfatbin', fatbin(ptx(52, (7, 8)), sass(52)))
        self.write('model.whl', wheel({'model/core.so': elf.build()}))
        done = self.run_program('--require-driver=450', 'model.whl')
        self.assertEqual(done.status, 1)
        self.assertIn('on drivers before 520', done.out)
        self.assertIn('PTX 7.8', done.out)
        self.assertEqual(self.run_program('--require-driver=520', 'model.whl').status, 0)
        document = self.run_program('--format=json', 'model.whl').document
        self.assertEqual(document['files'][0]['first_driver'], {'cuda_version': '11.0', 'branch': 450})

    def test_wheel_when_it_ships_the_driver_then_falls_short(self):
        """cuInit() fails, because the copy in the wheel is older than the kernel module."""
        copy = Elf().soname('libcuda-43c1b388.so.570.124.06').defines('cuInit').build()
        user = Elf().needs('libcuda-43c1b388.so.570.124.06').wants('cuInit').build()
        done = self.run_on('ship.whl', wheel({'libs/libcuda-43c1b388.so.570.124.06': copy, 'libs/libplugin.so': user}))
        self.assertEqual(done.status, 1)
        self.assertIn("a copy of NVIDIA's driver 570.124.06", done.out)
        done = self.run_program('--except', 'libcuda-*', 'ship.whl')
        self.assertEqual(done.status, 1)
        self.assertIn("libplugin.so: it is linked to a copy of NVIDIA's driver, libcuda-43c1b388.so.570.124.06",
                      done.out)


if __name__ == '__main__':
    main()
