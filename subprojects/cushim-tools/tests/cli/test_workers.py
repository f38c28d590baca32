#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package cushim for Python: a pool of processes that use a GPU each, chosen before fork() by its UUID. The GPUs are
those of a software driver, and the files of the machine describe the same ones."""

import ctypes
import importlib
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

from program import LIBRARY, PROGRAM, SOURCES, Case, main

WORKERS = 8
UUIDS = [f'GPU-{(i + 1) << 4:02x}736f66-7463-7564-612d-646576696365' for i in range(WORKERS)]
DRIVER = os.environ.get('TEST_DRIVER')


class Uuid(ctypes.Structure):
    _fields_ = [('bytes', ctypes.c_ubyte * 16)]


def text_of(uuid):
    text = bytes(uuid.bytes).hex()
    return 'GPU-' + '-'.join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def start():
    """Starts the driver. Returns the code and the UUIDs that it shows."""
    cuda = ctypes.CDLL(DRIVER)
    code, count, uuid, found = cuda.cuInit(0), ctypes.c_int(), Uuid(), []
    if code == 0:
        assert cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
    for ordinal in range(count.value):
        assert cuda.cuDeviceGetUuid(ctypes.byref(uuid), ordinal) == 0
        found.append(text_of(uuid))
    return code, found


def work(cushim, uuid, answers):
    os.environ['CUDA_VISIBLE_DEVICES'] = uuid
    before = cushim.is_started()
    code, found = start()
    answers.put((uuid, before, code, found, cushim.is_started()))


@unittest.skipIf(LIBRARY is None or DRIVER is None or not hasattr(os, 'fork'), 'it needs fork(), and a shared library for Python')
class Workers(Case):
    @classmethod
    def setUpClass(cls):
        """The package as an installation has it: links into the build."""
        directory = pathlib.Path(tempfile.mkdtemp(prefix='cushim-test-'))
        cls.addClassCleanup(shutil.rmtree, directory)
        for name, target in {'__init__.py': f'{SOURCES}/subprojects/cushim-tools/python/cushim/__init__.py',
                             'bin/cushim': PROGRAM, 'lib/libcushim.so.0': LIBRARY}.items():
            (directory / 'cushim' / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / 'cushim' / name).symlink_to(target)
        sys.path.insert(0, str(directory))
        cls.addClassCleanup(sys.path.remove, str(directory))
        cls.cushim = importlib.import_module('cushim')

    def machine(self):
        tree = self.tree().kernel_module().nodes().container()
        for number, uuid in enumerate(UUIDS):
            tree.gpu(number, uuid)
        return tree.root

    def test_workers_when_each_gets_a_uuid_then_each_uses_its_gpu(self):
        cushim, root = self.cushim, self.machine()
        devices = cushim.devices('--root', root)
        self.assertEqual([(device.ordinal, device.uuid, device.capability) for device in devices],
                         [(i, uuid, (9, 0)) for i, uuid in enumerate(UUIDS)])
        self.assertFalse(cushim.is_started())
        context = multiprocessing.get_context('fork')
        answers = context.SimpleQueue()
        workers = [context.Process(target=work, args=(cushim, device.uuid, answers)) for device in devices]
        for worker in workers:
            worker.start()
        self.assertEqual(sorted(answers.get() for _ in workers), sorted(
            (uuid, cushim.Start.NO, 0, [uuid], cushim.Start.YES) for uuid in UUIDS))
        for worker in workers:
            worker.join()
        self.assertFalse(cushim.is_started())

    def test_devices_when_the_variable_is_set_in_the_process_then_in_its_order(self):
        cushim, root = self.cushim, self.machine()
        with unittest.mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES='7,2'):
            self.assertEqual([device.uuid for device in cushim.devices('--root', root)], [UUIDS[7], UUIDS[2]])
        with unittest.mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=''):
            self.assertEqual(cushim.devices('--root', root), [])
        with self.assertRaises(cushim.Error):
            cushim.devices('--devices')


if __name__ == '__main__':
    os.environ['SOFTCUDA_DEVICES'] = str(WORKERS)
    main()
