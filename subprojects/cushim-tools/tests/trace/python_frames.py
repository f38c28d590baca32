# SPDX-License-Identifier: MIT
"""Compares the frames that the trace layer reads with those that the interpreter knows, for any Python from 3.6 on.

    python3 python_frames.py READER.SO

It prints how many frames were compared, and the first ones that differ.
"""
import asyncio
import contextlib
import ctypes
import os
import struct
import sys
import threading

MOST, DEPTH, NAME, ROOM = 8, 64, 200, 192
PACKAGES = '/site-packages/', '/dist-packages/', '/lib/python3.', '<frozen '
HAS_QUALIFIED_NAMES = sys.version_info >= (3, 11)
WITHOUT_LOCK, WITH_LOCK = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(sys.argv[1])
NUMBER, COUNT, DIFFERENCES = ctypes.c_uint64(), [0], []
PROBLEM = WITHOUT_LOCK.reader_prepare(ctypes.byref(NUMBER))


def encoded(name):
    return b''.join(bytes([ord(c) & 0xff]) if '\udc80' <= c <= '\udcff' else c.encode('utf-8', 'surrogatepass')
                    for c in name.replace('\0', '?')[-NAME:])


def expected(frame):
    """[(file, line, function)] as the interpreter knows them: those that the layer chooses."""
    frames, chosen = [], []
    while frame is not None and len(frames) < DEPTH:
        code = frame.f_code
        frames.append((code.co_filename, frame.f_lineno or code.co_firstlineno,
                       code.co_qualname if HAS_QUALIFIED_NAMES else code.co_name))
        frame = frame.f_back
    for file, line, name in frames:
        is_of_package = any(part in file[-NAME:] for part in PACKAGES)
        if len(chosen) < MOST and (len(chosen) < MOST // 2 or len(frames) <= MOST or not is_of_package):
            chosen.append((encoded(file), line, encoded(name)))
    return chosen


def unpacked(data):
    found = []
    while data:
        line, size = struct.unpack_from('<II', data)
        file, function, rest = data[8:8 + size].split(b'\0')
        assert rest == b'' and 8 + size <= len(data), data
        found.append((file, line, function))
        data = data[8 + (size + 7) // 8 * 8:]
    return found


def both(library, room):
    """What is read, and what is expected, of the same line."""
    words = (ctypes.c_uint64 * ROOM)()
    count, want = library.reader_frames(words, ctypes.c_size_t(room)), expected(sys._getframe())
    return unpacked(bytes(words)[:8 * count]), want


def check():
    for library in WITHOUT_LOCK, WITH_LOCK:
        got, want = both(library, ROOM)
        if len(got) < len(want) and sum(len(one[0]) + len(one[2]) for one in want) > 8 * (ROOM - 4 * MOST):
            want = want[:len(got)] # there was no room for more
        COUNT[0] += len(want)
        if got != want:
            DIFFERENCES.append((got, want))
    return 1


class Shapes:
    attribute = check()

    def method(self, *_, **__):
        return check()

    @staticmethod
    def static():
        return check()

    @property
    def value(self):
        return (
            0 +
            check()
        )

    def __enter__(self):
        return check()

    def __exit__(self, *_):
        check()

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return check()


def generator():
    for i in range(3):
        yield check() + i


def recursive(depth):
    if depth == 0:
        return check()
    return recursive(depth - 1)


async def coroutine(depth):
    await asyncio.sleep(0)
    if depth > 0:
        await coroutine(depth - 1)
    check()


def errors():
    try:
        try:
            raise ValueError
        except ValueError:
            check()
            raise
        finally:
            check()
    except ValueError as error:
        del error
        check()


def with_names(file, name):
    """A function whose file and name can be any text, and whose line is far behind those of others."""
    space = {'check': check}
    code = compile('\n' * 300 + 'def f():\n' + '    pass\n' * 200 + '    return check(\n)\nf()\n', file, 'exec')
    exec(code, space) # pylint: disable=exec-used
    if hasattr(code, 'replace'):
        names = dict.fromkeys(['co_name', 'co_qualname'] if HAS_QUALIFIED_NAMES else ['co_name'], name)
        space['f'].__code__ = space['f'].__code__.replace(**names)
        space['f']()


def shapes():
    one = Shapes()
    one.method()
    one.method(1,
               check(), 3,
               k=check())
    one.static()
    assert one.value == one.anything == 1
    with one, contextlib.ExitStack() as stack:
        stack.callback(check)
    assert list(generator()) == [1, 2, 3]
    assert [check() for _ in range(2)] + sorted({check(): check() for _ in range(2)}) == [1, 1, 1]
    sorted([3, 1, 2], key=lambda _: check())
    (lambda: (
        lambda: check() # pylint: disable=unnecessary-lambda
    )())()
    for depth in 0, 1, 3, 20, 62, 63, 64, 65, 200:
        recursive(depth)
    errors()
    loop = asyncio.new_event_loop()
    loop.run_until_complete(coroutine(3))
    loop.close()
    for file in 'a.py', '\xe9.py', '\u4e00.py', '\U0001f600.py', 'a\udc80\udcff.py', 'a\nb".py', 250 * 'x' + '.py':
        for name in 'f', '\xe9', '\u4e00 \U0001f600', 'a\0b', 'operator""_km', 300 * 'y':
            with_names(file, name)


def short_rooms():
    """With less room, there are fewer frames or shorter names, and nothing behind the room."""
    reads = [both(WITHOUT_LOCK, room)[0] for room in range(1, ROOM + 1)]
    for got in reads:
        assert [one[1] for one in got] == [one[1] for one in reads[-1][:len(got)]], (got, reads[-1])
        assert all(whole[0].startswith(one[0]) for one, whole in zip(got, reads[-1])), (got, reads[-1])


def in_a_thread():
    thread = threading.Thread(target=shapes)
    thread.start()
    thread.join()


def in_a_child():
    child = os.fork()
    if child == 0:
        DIFFERENCES.clear()
        shapes()
        os._exit(bool(DIFFERENCES))
    assert os.waitpid(child, 0)[1] == 0


def in_signal_handlers():
    WITHOUT_LOCK.reader_interrupt(500)
    while WITHOUT_LOCK.reader_interrupt(500) < 50:
        shapes()
    WITHOUT_LOCK.reader_interrupt(0)


def main():
    if PROBLEM != 0:
        sys.exit(f'problem {PROBLEM}, {NUMBER.value}')
    for part in shapes, in_a_thread, short_rooms, in_signal_handlers, in_a_child:
        part()
    print(COUNT[0], 'frames compared,', len(DIFFERENCES), 'comparisons differ')
    for got, want in DIFFERENCES[:3]:
        print(f'  read     {got}\n  expected {want}')
    sys.exit(bool(DIFFERENCES))


main()
