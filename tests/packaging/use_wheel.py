# SPDX-License-Identifier: MIT
"""The extensions `first` and `second`, each with its own copy of cushim, in one process: the rules of loader/amalgamation/PLUGINS.md.

The path of Python has both extensions, and CUSHIM_DRIVER is softcuda. Each test runs in a process of its own.
"""
import _ctypes
import ctypes
import multiprocessing
import os
import pathlib
import select
import threading
import unittest

NOT_INITIALIZED, NOT_READY = 3, 600


def in_own_process(test):
    def run(self):
        def child(results):
            try:
                test(self)
            except BaseException as error:
                results.send(repr(error))
                raise
        results, sender = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context('fork').Process(target=child, args=(sender,))
        process.start()
        process.join(60)
        if process.is_alive():
            process.kill()
            self.fail('the process hangs')
        self.assertEqual(process.exitcode, 0, results.recv() if results.poll() else 'the process crashed')
    return run


class Work:
    """Work on the device, which waits for a byte, with a completion."""

    def __init__(self, module):
        (gate, self.gate), (self.reports, report) = os.pipe(), os.pipe()
        assert module.load(0)[0] == 0 and module.start(gate, report) == 0
        assert self.report() == b'w'  # a thread of the driver is in the extension

    def report(self):
        return os.read(self.reports, 1) if select.select([self.reports], [], [], 20)[0] else b''

    def finish(self):
        os.write(self.gate, b'.')
        return self.report()


def is_mapped(path):
    return path in pathlib.Path('/proc/self/maps').read_text(encoding='utf-8')


def unload(module):
    """Closes the handles of this function and of Python."""
    library = ctypes.PyDLL(module.__file__)
    for _ in range(2):
        _ctypes.dlclose(library._handle)
    return library._handle


class Wheels(unittest.TestCase):
    @in_own_process
    def test_copies_when_two_are_loaded_then_they_share_no_state(self):
        import first
        import second
        loaded = first.load(11000)
        self.assertEqual(loaded[:3], (0, 11000, 0))
        code, version, is_per_thread, table = second.load(0)
        self.assertEqual((code, is_per_thread), (0, 1))
        self.assertGreater(version, 11000)
        self.assertNotEqual(table, loaded[3])
        works = [Work(first), Work(second)]
        self.assertEqual([work.finish() for work in works], [b'd', b'd'])

    @in_own_process
    def test_descriptor_when_the_work_is_done_then_it_is_readable(self):
        import first
        work = Work(first)
        self.assertEqual(first.poll(), NOT_READY)
        self.assertEqual(select.select([first.descriptor()], [], [], 0)[0], [])
        work.finish()
        self.assertEqual(select.select([first.descriptor()], [], [], 20)[0], [first.descriptor()])
        self.assertEqual(first.poll(), 0)
        first.destroy()

    @in_own_process
    def test_unload_when_work_is_outstanding_then_its_callback_still_runs(self):
        import first
        import second
        works = [Work(first), Work(second)]
        handle = unload(first)
        self.assertTrue(is_mapped(first.__file__))
        self.assertEqual([work.finish() for work in works], [b'd', b'd'])
        self.assertEqual(ctypes.PyDLL(first.__file__)._handle, handle)
        self.assertEqual(first.poll(), 0)

    @in_own_process
    def test_unload_when_no_driver_was_loaded_then_the_extension_is_unmapped(self):
        import first
        import second
        second.load(0)
        path = first.__file__
        self.assertTrue(is_mapped(path))
        unload(first)
        self.assertFalse(is_mapped(path))
        os._exit(0)  # the module object is still there

    @in_own_process
    def test_thread_when_it_ends_after_an_error_and_an_unload_then_nothing_happens(self):
        import first
        first.load(0)
        failed, unloaded = threading.Barrier(2), threading.Event()

        def fail():
            self.assertIn('NULL', first.fail())
            failed.wait(20)
            unloaded.wait(20)
        thread = threading.Thread(target=fail)
        thread.start()
        failed.wait(20)
        unload(first)
        unloaded.set()
        thread.join()
        self.assertTrue(is_mapped(first.__file__))

    @in_own_process
    def test_fork_when_cuda_is_not_initialised_then_both_processes_can_use_it(self):
        import first
        self.assertEqual(first.load(0)[0], 0)
        child = os.fork()
        self.assertEqual(Work(first).finish(), b'd')
        if child == 0:
            os._exit(7)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    @in_own_process
    def test_fork_when_work_is_outstanding_then_the_child_reports_it_and_ends_and_the_parent_goes_on(self):
        import first
        work = Work(first)
        child = os.fork()
        if child == 0:
            self.assertEqual(first.init(), (NOT_INITIALIZED, 'forked'))
            self.assertEqual(first.poll(), NOT_INITIALIZED)
            self.assertEqual(first.descriptor(), -1)
            first.destroy()
            unload(first)
            return  # ends as usual
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(first.poll(), NOT_READY)
        self.assertEqual(work.finish(), b'd')


if __name__ == '__main__':
    unittest.main()
