#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each kind of file is read, and device code is found wherever it is."""
import gzip
import io
import struct
import tarfile
import zlib

from audit import Case, main
from makers import (OF_RUNTIME, Elf, archive, cubin, cubin_8, entry, fatbin, offset_of, pe, plain_cubin, ptx, ptx_text, runtime,
                    sass, wheel, wrapper)
from cushim_audit.tables import RUNTIME_NAMES # the path to it is set by audit.py


def archs(document):
    """The device code of a file, as a sorted list of texts."""
    return sorted(f'{code["kind"]} {code["arch"]}' for one in document['containers'] for code in one['code']
                  for _ in range(one['count']))


class Elves(Case):
    def test_elf_when_symbols_are_linked_then_lists_them_with_their_binding(self):
        elf = Elf().needs('libcuda.so.1').wants('cuInit').wants('cuCtxGetId', slot=False).wants('cuFooBar', weak=True)
        symbols = {one['name']: one for one in self.file_of(elf.build())['symbols']}
        self.assertEqual({name: (one['lazy'], one['weak']) for name, one in symbols.items()},
                         {'cuInit': (True, False), 'cuCtxGetId': (False, False), 'cuFooBar': (True, True)})

    def test_elf_when_all_names_are_bound_at_load_then_no_symbol_is_lazy(self):
        for tag, value, is_lazy in ((24, 0, False), (30, 8, False), (0x6ffffffb, 1, False), (30, 4, True), (0x6ffffffb, 2, True)):
            elf = Elf().needs('libcuda.so.1').wants('cuInit').binds_now(tag, value)
            self.assertEqual(self.file_of(elf.build())['symbols'][0]['lazy'], is_lazy, (tag, value))

    def test_elf_when_for_32_bits_then_is_read(self):
        document = self.file_of(Elf(bits=32, machine=3).needs('libcuda.so.1').wants('cuGreenCtxDestroy').build())
        self.assertEqual((document['format'], document['machine']), ('ELF 32', 'x86'))
        self.assertEqual(document['first_driver']['branch'], 550)

    def test_elf_when_big_endian_then_says_so_and_exits_with_2(self):
        data = bytearray(Elf().build())
        data[5] = 2
        done = self.run_on('big.so', bytes(data))
        self.assertEqual(done.status, 2)
        self.assertIn('big.so: the ELF file is big-endian', done.err)

    def test_elf_when_names_are_of_other_libraries_then_are_not_of_the_driver(self):
        elf = Elf().needs('libcublas.so.12').wants('cublasCreate_v2').wants('cudaMalloc').wants('cudnnCreate')
        self.assertEqual(self.run_on('lib.so', elf.build(), '--format=json').document['files'], [])

    def test_elf_when_fat_binaries_are_in_any_section_then_finds_them(self):
        for section in '.nv_fatbin', '.rodata', '.data', '.mine':
            with self.subTest(section):
                elf = Elf().section(section, b'\1' * 40 + fatbin(sass(80), ptx(80, (7, 0))) + fatbin(sass(90, 'a')))
                self.assertEqual(archs(self.file_of(elf.build())), ['PTX 8.0', 'SASS 8.0', 'SASS 9.0a'])

    def test_elf_when_code_in_a_fat_binary_is_not_compressed_then_counts_it_once(self):
        code = fatbin(sass(80, code=cubin(80)), entry(1, 80, (7, 0), code=ptx_text(80, '7.0')))
        elf = Elf().section('.rodata', b'\0' * 40 + code + b'\0' * 8 + cubin(75))
        self.assertEqual(archs(self.file_of(elf.build())), ['PTX 8.0', 'SASS 7.5', 'SASS 8.0'])

    def test_elf_when_code_is_for_linking_then_gpus_are_not_known(self):
        document = self.file_of(Elf().section('.nv_fatbin', fatbin(entry(8, 80, (1, 65)))).build())
        self.assertEqual((document['gpus'], document['gpus_known']), ([], False))

    def test_elf_when_relocatable_code_was_linked_then_counts_it_once(self):
        """The linked container has SASS only, and the relocatable one also PTX, which the driver links and compiles."""
        linked = fatbin(sass(52, code=b'\1' * 16))
        elf = Elf().section('.nv_fatbin', linked).section('__nv_relfatbin', fatbin(ptx(52, (7, 8)), sass(52)))
        elf.section('.nvFatBinSegment', wrapper(offset_of(elf, linked), 2))
        gpus = {one['arch']: one for one in self.file_of(elf.build())['gpus']}
        found = [(gpus[arch]['runs'], gpus[arch]['total']) for arch in ('5.2', '8.0')]
        self.assertEqual(found, [('native', 1), ('jit', 1)])

    def test_elf_when_a_source_has_no_device_code_then_its_container_is_left_out(self):
        """nvcc makes a container of each source file, for its default architecture if the options name none."""
        real = fatbin(sass(80), ptx(80, (8, 0)))
        for sections, gpus in (['.nv.callgraph', '.nv.rel.action'], []), (['.nv.info', '.text._Z1kv'], ['5.2']), \
                (['.nv.global'], ['5.2']):
            with self.subTest(sections):
                alone = Elf().section('.nv_fatbin', fatbin(plain_cubin(sections)))
                document = self.file_of(alone.build())
                self.assertEqual([one['arch'] for one in document['gpus'] if one['runs'] == 'native'], gpus)
                self.assertEqual(document['containers'][0]['kind'], 'fat binary' if gpus else 'empty')
                both = Elf().section('.nv_fatbin', fatbin(plain_cubin(sections)) + real)
                runs = {one['arch']: one['runs'] for one in self.file_of(both.build())['gpus']}
                self.assertEqual(runs['8.0'], 'part' if gpus else 'native')

    def test_elf_when_a_cut_container_has_too_small_an_entry_then_is_no_container(self):
        for entry_size, is_damaged in ((48, True), (47, False)):
            data = b'\x50\xed\x55\xba' + struct.pack('<HHQHHI', 1, 16, 1 << 30, 1, 0x101, entry_size) + b'\0' * 64
            done = self.run_on('lib.so', Elf().needs('libcuda.so.1').section('.rodata', data).build())
            self.assertEqual('ends outside of the file' in done.err, is_damaged, done.err)

    def test_elf_when_linked_container_is_empty_then_is_left_out(self):
        """nvcc adds a container for the device linker to every program, also if there is nothing to link."""
        linked, code = fatbin(sass(90, code=b'\1' * 16)), fatbin(sass(90), ptx(80, (8, 0)))
        elf = Elf().section('.nv_fatbin', linked + code)
        elf.section('.nvFatBinSegment', wrapper(offset_of(elf, linked), 2) + wrapper(offset_of(elf, code), 1))
        gpus = {one['arch']: one for one in self.file_of(elf.build())['gpus']}
        self.assertEqual([gpus[arch]['runs'] for arch in ('8.0', '9.0')], ['jit', 'native'])


class Runtimes(Case):
    names = b'cudaErrorLossyQuery', b'cudaFuncGetName', b'cudaGraphAddDependencies_v2'

    def test_runtime_when_static_then_names_its_release(self):
        demand, = self.file_of(Elf().section('.rodata', runtime(*self.names)).build())['demands']
        self.assertEqual((demand['kind'], demand['name'], demand['driver']['branch']), ('runtime', '12.3', 525))

    def test_runtime_when_two_releases_have_the_same_names_then_names_both_or_that_of_the_file(self):
        names = b'cudaErrorContained', b'cudaErrorTensorMemoryLeak', b'cudaEventElapsedTime_v2'
        demand, = self.file_of(Elf().section('.rodata', runtime(*names)).build())['demands']
        self.assertEqual(demand['name'], '12.8 or 12.9')
        library = Elf().soname('libcudart.so.12').defines('cudaGetDeviceCount').section('.rodata', runtime(*names))
        for name, release in (('libcudart-c64a25f3.so.12.9.79', '12.9'), ('libcudart.so.12', '12.8 or 12.9'),
                              ('libcudart.so.12.4.1', '12.8 or 12.9')):
            demand, = self.file_of(library.build(), name)['demands']
            self.assertEqual(demand['reason'], f'it is the CUDA runtime {release}')

    def test_runtime_when_it_has_the_names_of_the_newest_release_then_can_be_a_newer_one(self):
        newest = max(RUNTIME_NAMES)
        names = [name.encode() for name in RUNTIME_NAMES[newest]]
        demand, = self.file_of(Elf().section('.rodata', runtime(*names)).build())['demands']
        self.assertRegex(demand['name'], rf'^{newest // 1000}\.{newest % 1000 // 10}( or [\d.]+)* or newer$')

    def test_runtime_when_only_its_sentence_is_there_then_is_not_one(self):
        """The runtime for device code (cudadevrt) has the sentences of all errors, and demands nothing."""
        data = b'\0'.join([b'', OF_RUNTIME, *self.names, b'cuInit', b''])
        self.assertEqual(self.file_of(Elf().section('.rodata', data).build())['demands'], [])


class DeviceCode(Case):
    def test_ptx_when_compressed_in_rodata_then_is_found(self):
        text = ptx_text(60, '6.4') + b'.visible .entry k() { ret; }\n' * 100
        for packed in gzip.compress(text), zlib.compress(text), zlib.compress(text, 1), zlib.compress(text, 9):
            with self.subTest(packed[:3]):
                document = self.file_of(Elf().section('.rodata', b'x' * 33 + packed + b'y' * 20).build())
                code, = document['containers'][0]['code']
                self.assertEqual(code, {'kind': 'PTX', 'arch': '6.0', 'version': '6.4'})

    def test_ptx_when_in_plain_text_then_is_found(self):
        document = self.file_of(Elf().section('.rodata', b'\0' + ptx_text('90a', '8.0') + b'\0').build())
        self.assertEqual(archs(document), ['PTX 9.0a'])

    def test_ptx_when_a_file_of_its_own_then_is_read(self):
        self.assertEqual(archs(self.file_of(ptx_text(75, '6.3'), 'kernel.ptx')), ['PTX 7.5'])

    def test_text_when_not_ptx_then_is_not_taken_for_it(self):
        elf = Elf().section('.rodata', b'\0.version %d.%d\n.target sm_%d\0.version 8.0\0.target sm_80\0')
        self.assertEqual(self.run_on('lib.so', elf.build(), '--format=json').document['files'], [])

    def test_cubin_when_of_either_layout_then_has_its_architecture(self):
        of_12 = b'\2\2\1\0\2\5\5\0'
        for code, arch in ((cubin(75), '7.5'), (cubin(90, accelerated=True), '9.0a'),
                           # What this flag means for older GPUs is not known, but "6.0a" does not exist.
                           (cubin(60, accelerated=True), '6.0'),
                           (cubin_8(100, compat=of_12), '10.0'), (cubin_8(100, compat=of_12, flags=8), '10.0a'),
                           (cubin_8(100), '10.0'), (cubin_8(100, 'a'), '10.0a'), (cubin_8(100, 'f'), '10.0f'),
                           (cubin_8(120, 'f'), '12.0f'), (cubin_8(80, compat=b''), '8.0'),
                           # It does not tell whether it is for one GPU alone.
                           (cubin_8(100, compat=b''), '10.0a')):
            with self.subTest(arch):
                self.assertEqual(archs(self.file_of(code, 'kernel.cubin')), [f'SASS {arch}'])
                elf = Elf().section('.rodata', b'\0' * 24 + code)
                self.assertEqual(archs(self.file_of(elf.build())), [f'SASS {arch}'])

    def test_fatbin_when_a_file_of_its_own_then_is_read(self):
        self.assertEqual(archs(self.file_of(fatbin(sass(100, 'f'), sass(120, 'f')), 'kernel.fatbin')),
                         ['SASS 10.0f', 'SASS 12.0f'])


class Windows(Case):
    def test_dll_when_functions_are_imported_then_lists_them(self):
        dll = pe({'nvcuda.dll': ['cuInit', 'cuGreenCtxDestroy'], 'kernel32.dll': ['Sleep']},
                 delayed={'NVCUDA.dll': ['cuCtxGetId']})
        document = self.file_of(dll, 'lib.dll')
        self.assertEqual({one['name']: one['lazy'] for one in document['symbols']},
                         {'cuInit': False, 'cuGreenCtxDestroy': False, 'cuCtxGetId': True})
        self.assertEqual((document['format'], document['machine'], document['kind']), ('PE 64', 'x86-64', 'DLL'))
        self.assertEqual(document['first_driver']['branch'], 550)

    def test_dll_when_it_uses_the_runtime_then_names_its_release(self):
        for library, branch in ('cudart64_12.dll', 525), ('cudart64_110.dll', 450), ('cudart64_102.dll', 440):
            with self.subTest(library):
                document = self.file_of(pe({library: ['cudaMalloc']}), 'lib.dll')
                self.assertEqual(document['first_driver']['branch'], branch)

    def test_dll_when_it_names_the_hybrid_runtime_then_does_not_claim_to_contain_it(self):
        demand, = self.file_of(pe(data=b'cudaMalloc\0nvcudart_hybrid64.dll\0'), 'lib.dll')['demands']
        self.assertEqual((demand['name'], demand['driver']['branch']), ('13', 580))
        self.assertIn('names nvcudart_hybrid64.dll', demand['reason'])

    def test_dll_when_it_has_device_code_then_finds_it(self):
        dll = pe({'nvcuda.dll': ['cuInit']}, data=b'\0' * 8 + fatbin(sass(86), ptx(86, (8, 1))))
        document = self.file_of(dll, 'lib.dll')
        self.assertEqual(archs(document), ['PTX 8.6', 'SASS 8.6'])

    def test_dll_when_it_is_the_driver_then_says_so(self):
        done = self.run_on('a.whl', wheel({'nvcuda.dll': pe(exports=['cuInit', 'cuCtxCreate'], library='nvcuda.dll')}))
        self.assertEqual(done.status, 1)


class Archives(Case):
    library = Elf().needs('libcuda.so.1').wants('cuCtxGetId').build()

    def names(self, *arguments):
        return [one['name'] for one in self.run_program('--format=json', *arguments).document['files']]

    def test_static_archive_when_members_have_code_then_each_is_read(self):
        member = Elf(kind=1).section('.nv_fatbin', fatbin(sass(70))).build()
        self.write('lib.a', archive({'one.o': member, 'note.txt': b'text', 'two.o': member}))
        self.assertEqual(self.names('lib.a'), ['lib.a(one.o)', 'lib.a(two.o)'])

    def test_static_archive_when_a_member_uses_the_driver_then_demands_it(self):
        member = Elf(kind=1).wants('cuGreenCtxDestroy').build()
        self.assertEqual(self.file_of(archive({'one.o': member}), 'lib.a')['first_driver']['branch'], 550)

    def test_thin_archive_then_says_so(self):
        done = self.run_on('lib.a', b'!<thin>\n')
        self.assertEqual((done.status, 'thin archive' in done.err), (2, True))

    def test_tarball_when_packed_in_each_way_then_is_read(self):
        for mode in 'w', 'w:gz', 'w:bz2', 'w:xz':
            with self.subTest(mode):
                data = io.BytesIO()
                with tarfile.open(fileobj=data, mode=mode) as file:
                    info = tarfile.TarInfo('pkg/lib.so')
                    info.size = len(self.library)
                    file.addfile(info, io.BytesIO(self.library))
                name = 'a.tar' + mode[1:].replace(':', '.')
                self.write(name, data.getvalue())
                self.assertEqual(self.names(name), [f'{name}: pkg/lib.so'])

    def test_wheel_when_in_a_tarball_then_is_read(self):
        inner, data = wheel({'lib.so': self.library}), io.BytesIO()
        with tarfile.open(fileobj=data, mode='w') as file:
            info = tarfile.TarInfo('dist/a.whl')
            info.size = len(inner)
            file.addfile(info, io.BytesIO(inner))
        self.write('a.tar', data.getvalue())
        self.assertEqual(self.names('a.tar'), ['a.tar: dist/a.whl: lib.so'])

    def test_package_of_debian_when_given_then_is_refused(self):
        package = archive({'debian-binary': b'2.0\n', 'data.tar.xz': b''}).replace(b'binary/', b'binary ')
        done = self.run_on('d/a.deb', package)
        self.assertEqual((done.status, 'dpkg-deb -x' in done.err), (2, True))
        self.assertEqual(done.out, 'd/a.deb: no CUDA files were found among those that could be read\n')
        self.assertEqual(self.run_program('d').status, 0)

    def test_package_of_conda_when_this_python_cannot_read_it_then_is_refused(self):
        if 'zst' in tarfile.TarFile.OPEN_METH:
            self.skipTest('this Python reads Zstandard')
        package = wheel({'metadata.json': b'{}' * 8, 'pkg-a-1.tar.zst': b'\x28\xb5\x2f\xfd' + b'\0' * 16})
        for name, content in ('a.conda', package), ('a.tar.zst', b'\x28\xb5\x2f\xfd' + b'\0' * 16):
            done = self.run_on(name, content)
            self.assertEqual((done.status, 'Zstandard' in done.err), (2, True))

    def test_member_when_large_then_is_read_from_a_temporary_file(self):
        large = Elf().section('.nv_fatbin', fatbin(sass(80)) + b'\0' * (40 << 20)).build()
        self.write('a.whl', wheel({'lib.so': large}))
        self.assertEqual(self.names('a.whl'), ['a.whl: lib.so'])

    def test_directory_when_it_has_files_of_all_kinds_then_reads_those_about_cuda(self):
        self.write('d/lib/lib.so', self.library)
        self.write('d/kernel.ptx', ptx_text(80, '7.0'))
        self.write('d/a.whl', wheel({'lib.so': self.library}))
        self.write('d/note.txt', b'text')
        self.write('d/empty', b'')
        self.write('d/other.so', Elf().needs('libc.so.6').build())
        self.assertEqual(self.names('d'), ['d/a.whl: lib.so', 'd/kernel.ptx', 'd/lib/lib.so'])


if __name__ == '__main__':
    main()
