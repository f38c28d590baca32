# SPDX-License-Identifier: MIT
"""client.py - a program that opens the driver itself, and prints one line of JSON about it.

  client.py open NAME       the version, the result of cuInit, and the drivers that are mapped
  client.py dlmopen NAME    opens it in a namespace of its own, and prints nothing
  client.py names NAME      which of the names on the standard input the library exports
  client.py ask NAME [FILE] each line "function version flags symbol" of the standard input for which a cuGetProcAddress
                            does not return the address of that symbol, in the library FILE if it is given
  client.py fork NAME       as open, in a child that this process forks after it has opened the driver
  client.py spawn NAME      as open, in a child that multiprocessing spawns
"""
import ctypes
import json
import os
import sys


def mapped():
    with open('/proc/self/maps', encoding='utf-8') as maps:
        return sorted({line.split()[-1] for line in maps if 'libcuda' in line or 'other-driver' in line})


def describe(name):
    library, version = ctypes.CDLL(name), ctypes.c_int(-1)
    result = library.cuDriverGetVersion(ctypes.byref(version))
    return {'result': result, 'version': version.value, 'init': library.cuInit(0), 'mapped': mapped()}


def address(library, name):
    try:
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    except AttributeError:
        return None


def ask(library, symbols, line):
    function, version, flags, symbol = line.split()
    wanted, answers = address(symbols, symbol), []
    for name, more in (('cuGetProcAddress', ()), ('cuGetProcAddress_v2', (None,))):
        found = ctypes.c_void_p()
        if address(library, name) is not None:
            getattr(library, name)(function.encode(), ctypes.byref(found), int(version),
                                   ctypes.c_uint64(int(flags)), *more)
            answers.append(found.value)
    return wanted is not None and answers != [] and all(answer == wanted for answer in answers)


def spawned(queue, name):
    queue.put(describe(name))


def main(what, name, file=None):
    if what == 'open':
        print(json.dumps(describe(name)))
    elif what == 'dlmopen':
        sys.exit(ctypes.CDLL(None).dlmopen(ctypes.c_long(-1), name.encode(), os.RTLD_NOW) == 0)
    elif what == 'names':
        library = ctypes.CDLL(name)
        print(json.dumps([symbol for symbol in sys.stdin.read().split() if address(library, symbol) is not None]))
    elif what == 'ask':
        library = ctypes.CDLL(name)
        symbols = ctypes.CDLL(file) if file else library
        lines = sys.stdin.read().splitlines()
        print(json.dumps([line for line in lines if not ask(library, symbols, line)]))
    elif what == 'fork':
        ctypes.CDLL(name)
        child = os.fork()
        if child == 0:
            print(json.dumps(describe(name)), flush=True)
            os._exit(0)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    elif what == 'spawn':
        import multiprocessing  # pylint: disable=import-outside-toplevel # slow
        context = multiprocessing.get_context('spawn')
        queue = context.Queue()
        process = context.Process(target=spawned, args=(queue, name))
        process.start()
        print(json.dumps(queue.get(timeout=60)))
        process.join()
        sys.exit(process.exitcode)


if __name__ == '__main__':
    main(*sys.argv[1:])
