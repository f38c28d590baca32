#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that NVIDIA's tools of an installed Toolkit make, and the tests' own fat binaries in NVIDIA's eyes."""
import os
import shutil
import subprocess
import sys

from audit import Case, main

from cushim_audit import fatbin
from cushim_audit.window import Window

from makers import fatbin as make_fatbin
from makers import ptx, sass

PTX = '.version {}\n.target sm_{}\n.address_size 64\n.visible .entry k() {{ ret; }}\n'


def tool(name):
    return shutil.which(name) or shutil.which(name, path='/usr/local/cuda/bin')


def run(*command, **settings):
    return subprocess.run([str(one) for one in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **settings)


class Nvidia(Case):
    def need(self, *names):
        paths = [tool(name) for name in names]
        if None in paths:
            self.skipTest('the CUDA Toolkit is not installed: ' + ', '.join(names))
        return paths

    def made_by_fatbinary(self, *options):
        """A fat binary with a cubin for 8.0, PTX for 9.0 and a cubin for 9.0a, as sets of what audit reads."""
        ptxas, fatbinary = self.need('ptxas', 'fatbinary')
        images = []
        for arch, kind in ('80', 'elf'), ('90', 'ptx'), ('90a', 'elf'):
            source = self.write(f'k{arch}.ptx', PTX.format('8.0', arch).encode())
            if kind == 'elf':
                image = os.path.join(self.directory, f'k{arch}.cubin')
                self.assertEqual(run(ptxas, f'-arch=sm_{arch}', source, '-o', image).returncode, 0)
            images.append(f'--image3=kind={kind},sm={arch},file={image if kind == "elf" else source}')
        out = os.path.join(self.directory, 'made.fatbin')
        done = run(fatbinary, '--create', out, '-64', *options, *images)
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(out, 'rb') as file:
            return file.read()

    def test_fatbinary_when_it_makes_a_container_then_is_read_as_ours(self):
        ours = make_fatbin(sass(80), ptx(90, (8, 0)), sass(90, 'a'))
        for options in [], ['--compress=false'], ['--compress-all'], ['--compress-mode=size']:
            with self.subTest(options):
                found = [[(code.kind, code.arch, code.suffix) for one in fatbin.find_containers(Window(data))
                          for code in one.codes] for data in (self.made_by_fatbinary(*options), ours)]
                self.assertEqual(*found)

    def test_program_when_nvcc_makes_it_then_has_the_gpus_of_its_options(self):
        nvcc, = self.need('nvcc')
        source = self.write('k.cu', b'__global__ void k(int *p) { *p = 1; }\nint main() { k<<<1, 1>>>(nullptr); }\n')
        architectures = ['-gencode=arch=compute_80,code=sm_80', '-gencode=arch=compute_90,code=compute_90']
        for options in [], ['-rdc=true']:
            with self.subTest(options):
                program = os.path.join(self.directory, 'k')
                done = run(nvcc, source, '-o', program, *architectures, *options)
                if done.returncode != 0:
                    self.skipTest('nvcc does not work here: ' + done.stdout.strip().splitlines()[-1])
                document = self.run_program('--format=json', 'k').document['files'][0]
                gpus = {one['arch']: (one['runs'], one['total']) for one in document['gpus']}
                self.assertEqual([gpus[arch] for arch in ('7.5', '8.0', '8.9', '9.0', '12.0')],
                                 [('no', 1), ('native', 1), ('native', 1), ('jit', 1), ('jit', 1)])
                self.assertEqual(document['demands'][0]['kind'], 'runtime')


if __name__ == '__main__':
    if tool('fatbinary') is None:
        print('skipped: the CUDA Toolkit is not installed')
        sys.exit(77)
    main()
