#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged and hostile files: a sentence and exit status 2, never a traceback, and bounded memory.

The rounds are the same in each run. `CUSHIM_FUZZ_SECONDS=600 CUSHIM_FUZZ_SEED=7 test_damaged.py Fuzz` looks for more.
"""
import io
import os
import random
import resource
import struct
import subprocess
import sys
import tarfile
import time
import unittest.mock
import zipfile
import zlib

from audit import PROGRAM, Case, main
from makers import Elf, archive, cubin, fatbin, pe, ptx, ptx_text, sass, wheel, wrapper


def samples():
    """A file of each kind."""
    code = fatbin(sass(80), ptx(80, (8, 3))) + fatbin(sass(90, 'a'))
    elf = Elf().needs('libcuda.so.1').wants('cuInit').wants('cuGreenCtxDestroy', slot=False).runpath('/a/stubs')
    data = [b'\0cuCtxGetId\0', zlib.compress(ptx_text(75, '7.0') * 20), cubin(75), ptx_text(60, '6.0')]
    elf.section('.rodata', b''.join(data))
    elf.section('.nv_fatbin', code).section('__nv_relfatbin', code).section('.nvFatBinSegment', wrapper(700, 2))
    library = elf.build()
    dll = pe({'nvcuda.dll': ['cuInit'], 'cudart64_12.dll': ['x']}, {'nvcuda.dll': ['cuCtxGetId']}, ['cuInit'], code)
    loaded = Elf().needs('libcuda.so.1').needs('libnvrtc.so.12').wants('cuInit').for_the_loader()
    loaded.section('.rodata', b'\0cushim-record-1 0.2.0\0s\0\0cuInit\0cushim-record-end\0cushim-need:12.0\0')
    tarball = io.BytesIO()
    with tarfile.open(fileobj=tarball, mode='w:gz') as file:
        info = tarfile.TarInfo('lib.so')
        info.size = len(library)
        file.addfile(info, io.BytesIO(library))
    return {'lib.so': library, 'loaded.so': loaded.build(), 'lib32.so': Elf(bits=32, machine=3).needs('libcuda.so.1').wants('cuInit').build(),
            'lib.dll': dll, 'lib.a': archive({'a.o': library, 'b.o': Elf(kind=1).wants('cuInit').build()}),
            'a.whl': wheel({'lib.so': library, 'lib.dll': dll}), 'a.tar.gz': tarball.getvalue(), 'k.cubin': cubin(90),
            'k.ptx': ptx_text(75, '7.0'), 'k.fatbin': code}


def packed(name, library):
    """An archive with a text and twice a library."""
    members = {'note.txt': b'text', 'one.so': library, 'two.so': library}
    if name.endswith('.whl'):
        return wheel(members)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode='w' + {'.tar': ''}.get(name[1:], ':' + name.rsplit('.', 1)[-1])) as file:
        for member, content in members.items():
            info = tarfile.TarInfo(member)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return data.getvalue()


def damage(data, chance):
    """A damaged copy: other bytes, a part left out or doubled, an end cut off, or a field with an extreme value."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(data)) if chance.random() < 0.5 else chance.randrange(min(len(data), 256))
        how = chance.randrange(6)
        if how == 0:
            data[at] = chance.randrange(256)
        elif how == 1:
            value = chance.choice((0, 1, 0x7fffffff, 0x80000000, 0xffffffff, len(data), len(data) - 1))
            data[at:at + 4] = struct.pack('<I', value)[:max(0, len(data) - at)]
        elif how == 2:
            value = chance.choice((0, 0xffffffffffffffff, 0x7fffffffffffffff, 1 << 32, len(data)))
            data[at:at + 8] = struct.pack('<Q', value)[:max(0, len(data) - at)]
        elif how == 3 and len(data) > 32:
            del data[at:at + chance.randrange(1, 64)]
        elif how == 4:
            data[at:at] = data[at:at + chance.randrange(1, 64)]
        elif len(data) > 32:
            del data[at:]
        if not data:
            data = bytearray(b'\0')
    return bytes(data)


class Fuzz(Case):
    def test_files_when_damaged_then_are_read_or_refused_with_a_sentence(self):
        seed, seconds = int(os.environ.get('CUSHIM_FUZZ_SEED', '1')), float(os.environ.get('CUSHIM_FUZZ_SECONDS', '0'))
        chance, kinds, start = random.Random(seed), samples(), time.monotonic()
        statuses, rounds = {0: 0, 1: 0, 2: 0}, 0
        while rounds < 1500 or time.monotonic() - start < seconds:
            rounds += 1
            name = chance.choice(sorted(kinds))
            data = damage(kinds[name], chance)
            self.write(name, data)
            try:
                done = self.run_program(name)
            except BaseException:
                path = os.path.join(os.environ.get('TMPDIR', '/tmp'), f'cushim-audit-crash-{seed}-{rounds}-{name}')
                with open(path, 'wb') as file:
                    file.write(data)
                print(f'round {rounds} of seed {seed}: {path}', file=sys.stderr)
                raise
            statuses[done.status] += 1
            self.assertEqual(done.status == 2, done.err != '', name)
        # The damage is of both kinds: some files remain readable.
        self.assertGreater(min(statuses[0] + statuses[1], statuses[2]), rounds // 10)

    def test_samples_when_whole_then_are_read(self):
        for name, data in samples().items():
            self.assertIn(self.run_on(name, data).status, (0, 1), name)


class Hostile(Case):
    def refused(self, name, data, words):
        done = self.run_on(name, data)
        self.assertEqual((done.status, words in done.err), (2, True), done.err)

    def test_fat_binary_when_it_ends_outside_then_is_refused(self):
        self.refused('lib.so', Elf().section('.nv_fatbin', fatbin(sass(80), sass(90))).build()[:700], '')
        self.refused('k.fatbin', fatbin(sass(80), sass(90))[:-8], 'ends outside')

    def test_fat_binary_when_an_entry_is_too_large_then_is_refused(self):
        data = bytearray(fatbin(sass(80)))
        data[24:32] = struct.pack('<Q', 1 << 40)
        self.refused('k.fatbin', bytes(data), 'larger than the fat binary')

    def test_elf_when_it_claims_many_sections_or_symbols_then_is_refused(self):
        data = bytearray(Elf().build())
        data[40:48] = struct.pack('<Q', 1 << 60)
        self.refused('lib.so', bytes(data), 'the file ends before')

    def test_elf_when_the_headers_of_sections_are_wrong_then_the_segments_decide(self):
        """The dynamic loader does not read the headers of sections."""
        data = Elf().needs('libcuda.so.1').wants('cuGreenCtxDestroy', slot=False).for_the_loader().build()
        self.assertEqual(self.run_on('lib.so', data, '--require-driver=535').status, 1)
        kinds = data.index(struct.pack('<I', 11), data.index(b'.shstrtab\0'))  # that of .dynsym
        for name, changed in {'none': data[:40] + b'\0' * 8 + data[48:60] + b'\0' * 4 + data[64:],
                              'other': data[:kinds] + b'\1' + data[kinds + 1:]}.items():
            done = self.run_on('lib.so', changed, '--require-driver=535')
            self.assertEqual((done.status, 'cuGreenCtxDestroy' in done.out), (1, True), name)
            self.assertEqual(self.file_of(changed)['lookups'], [])

    def test_elf_when_sections_and_segments_differ_then_is_refused(self):
        elf = Elf().needs('libcuda.so.1').wants('cuGreenCtxDestroy').for_the_loader()
        elf.section('.other', bytes(48), kind=11)
        data = elf.build()
        row = struct.Struct('<IIQQQQIIQQ')
        table = struct.unpack_from('<Q', data, 40)[0]
        for index, kind, field, value in ((2, 11, 4, 64), (2, 11, 5, 24), (4, 6, 4, 64)):
            section = list(row.unpack_from(data, table + index * row.size))
            self.assertEqual(section[1], kind)
            section[field] = value
            at = table + index * row.size
            self.refused('lib.so', data[:at] + row.pack(*section) + data[at + row.size:], 'name different')

    def test_archive_when_a_member_is_not_of_interest_then_is_not_unpacked_and_counts(self):
        """It claims 4 GiB of zeros."""
        data = io.BytesIO(wheel({'lib.so': samples()['lib.so'], 'data.bin': bytes(1 << 20)}))
        start = time.process_time()
        self.assertNotEqual(self.run_on('a.whl', data.getvalue()).status, 2)
        self.assertLess(time.process_time() - start, 5)
        claims = bytearray(data.getvalue())
        for at in (claims.rindex(b'data.bin') - 46 + 24, claims.index(b'data.bin') - 30 + 22):
            claims[at:at + 4] = b'\xfe\xff\xff\xff'
        self.assertNotEqual(self.run_on('a.whl', bytes(claims)).status, 2)
        with unittest.mock.patch('cushim_audit.inputs.MAX_UNPACKED', 1 << 20):
            self.refused('a.whl', data.getvalue(), 'unpacks to more than')

    def test_wheel_when_it_is_cut_off_then_is_refused(self):
        data = wheel({'lib.so': samples()['lib.so']})
        self.refused('a.whl', data[:len(data) // 2], 'the archive cannot be read')

    def test_wheel_when_a_checksum_is_wrong_then_is_refused(self):
        data = io.BytesIO()
        with zipfile.ZipFile(data, 'w') as file:
            file.writestr('lib.so', samples()['lib.so'] + b'\0' * 8192)
        # Also if the member no longer starts as a library.
        for old, new in (b'cuGreenCtxDestroy', b'cuGreenCtxDestroi'), (b'\x7fELF', b'\x7fELG'):
            self.refused('a.whl', data.getvalue().replace(old, new, 1), 'CRC')

    def test_archive_when_any_byte_is_changed_then_is_refused_or_read_as_before(self):
        """Each way to pack has a checksum, also of members that no longer look like a library."""
        for name in 'a.tar.gz', 'a.tar.bz2', 'a.tar.xz', 'a.whl':
            data = packed(name, samples()['lib.so'])
            whole, changed = self.run_on(name, data, '--format=json').document['files'], 0
            for at in range(0, len(data), 7):
                done = self.run_on(name, data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:], '--format=json')
                self.assertTrue(done.status == 2 or done.document['files'] == whole, (name, at))
                changed += done.status == 2
            self.assertGreater(changed, len(data) // 7 // 2, name)

    def test_tarball_when_cut_off_at_a_header_then_is_refused(self):
        data = packed('a.tar', samples()['lib.so'])
        self.refused('a.tar', data[:data.index(b'two.so')], 'damaged at offset')
        self.refused('a.tar', data.replace(b'two.so', b'twx.so'), 'damaged at offset')

    def test_archives_when_nested_deeply_then_are_refused(self):
        data = samples()['lib.so']
        for _ in range(6):
            data = wheel({'inner.whl': data})
        self.refused('a.whl', data, 'more than 3 deep')

    def test_tarball_when_it_has_a_device_or_a_link_then_it_is_passed_over(self):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode='w') as file:
            for name, kind in ('zero', tarfile.CHRTYPE), ('link', tarfile.SYMTYPE), ('pipe', tarfile.FIFOTYPE):
                info = tarfile.TarInfo(name)
                info.type, info.linkname = kind, '/etc/passwd'
                file.addfile(info)
        self.assertEqual(self.run_on('a.tar', data.getvalue()).status, 0)

    def test_directory_when_it_has_pipes_and_links_then_they_are_passed_over(self):
        os.mkfifo(os.path.join(self.directory, 'pipe'))
        os.symlink('nowhere', os.path.join(self.directory, 'broken'))
        os.symlink('.', os.path.join(self.directory, 'loop'))
        self.assertEqual(self.run_program('.').status, 0)
        self.assertEqual(self.run_program('pipe').status, 2)

    def test_names_when_not_text_then_are_printed_escaped(self):
        elf = Elf().needs('libcuda.so.1').wants('cuInit')
        elf.strings = elf.strings.replace(b'cuInit', b'cuI\xff\xfe\x1bt')
        self.assertEqual(self.run_on('lib.so', elf.build()).status, 0)
        with open(os.path.join(os.fsencode(self.directory), b'\xff\xfe.so'), 'wb') as file:
            file.write(Elf().needs('libcuda.so.1').wants('cuGreenCtxDestroy').build())
        self.assertEqual(self.run_program('--require-driver=535', '.').status, 1)

    def test_bomb_when_unpacked_then_memory_is_bounded(self):
        """A wheel of 3 MB with a library of 600 MB, and a section with compressed text of 600 MB: within 200 MB."""
        library = Elf().needs('libcuda.so.1').wants('cuInit').build()
        path = os.path.join(self.directory, 'bomb.whl')
        with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            with file.open('lib.so', 'w') as member:
                member.write(library)
                for _ in range(600):
                    member.write(b'\0' * (1 << 20))
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        packed = b''.join(packer.compress(b' ' * (1 << 20)) for _ in range(600)) + packer.flush()
        other = self.write('bomb.so', Elf().section('.rodata', packed).build())
        done = subprocess.run([sys.executable, '-B', PROGRAM, path, other], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, preexec_fn=limit_memory, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b''))
        # Half of the library does not fit: the limit works.
        done = subprocess.run([sys.executable, '-c', 'bytearray(300 << 20)'], stderr=subprocess.DEVNULL,
                              preexec_fn=limit_memory, check=False)
        self.assertNotEqual(done.returncode, 0)


def limit_memory():
    """Files that are mapped to be read do not count: the kernel can drop their pages at any time."""
    resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20))


if __name__ == '__main__':
    main()
