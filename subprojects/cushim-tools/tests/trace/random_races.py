#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""random_races.py SEED right|wrong OUT: random work in eight streams, and which of its calls race.

The answer comes from sets of ancestors, one bit for each work, and not from clocks. With "right", each conflict is
waited for; with "wrong", one wait is forgotten. OUT gets the numbers of the calls that race, as JSON: of the calls that
give work to a stream, those of captures included.
"""
import ctypes
import json
import random
import sys
import time

SIZE, WORKS = 4096, 150
NON_BLOCKING, LEGACY, BLOCKING = range(4), 6, {4, 5, 7} # 7: the per-thread stream


class Buffer:
    def __init__(self, kind, address, is_of_pool=False):
        self.kind, self.address, self.is_of_pool = kind, address, is_of_pool
        self.accesses = [] # (work, whether it writes, low, high, stream)


class Program:
    def __init__(self, seed, is_wrong):
        self.random, self.driver = random.Random(seed), ctypes.CDLL('libcuda.so.1')
        self.call('cuInit', 0)
        context = self.made('cuDevicePrimaryCtxRetain', ctypes.c_void_p, 0)
        self.call('cuCtxSetCurrent', ctypes.c_void_p(context))
        self.streams = [self.made('cuStreamCreate', ctypes.c_void_p, int(i < 4)) for i in range(6)] + [1, 2]
        self.events = [self.made('cuEventCreate', ctypes.c_void_p, 2) for _ in range(4)]
        self.buffers = [Buffer('D', self.made('cuMemAlloc_v2', ctypes.c_uint64, ctypes.c_size_t(SIZE)))
                        for _ in range(3)]
        self.buffers += [Buffer('H', self.made('cuMemHostAlloc', ctypes.c_void_p, ctypes.c_size_t(SIZE), 0))
                         for _ in range(2)]
        self.before = [0] * 8 # what precedes the next work of each stream
        self.recorded = [0] * 4
        self.complete, self.work, self.calls, self.races = 0, 0, 0, []
        self.freed, self.graphs = {}, [] # what precedes the free at an address; [executable, accesses, last launch]
        self.conflicts, self.forgotten = 0, self.random.randrange(5, 40) if is_wrong else -1

    def call(self, name, *arguments):
        result = getattr(self.driver, name)(*arguments)
        if result != 0:
            sys.exit(f'{name} returned {result}')

    def made(self, name, kind, *arguments):
        value = kind()
        self.call(name, ctypes.byref(value), *arguments)
        return value.value

    def give(self, name, *arguments):
        """A call that gives work to a stream."""
        self.call(name, *arguments)
        self.calls += 1

    # ---- the order ----

    def precede(self, stream):
        """What precedes a call in a stream that is made now."""
        before = self.before[stream] | self.complete
        for other in BLOCKING if stream == LEGACY else {LEGACY} if stream in BLOCKING else ():
            before |= self.before[other]
        return before

    def arrive(self, stream):
        self.before[stream] = self.precede(stream)

    def synchronize(self, stream):
        self.arrive(stream)
        self.complete |= self.before[stream]
        self.call('cuStreamSynchronize', ctypes.c_void_p(self.streams[stream]))

    def record(self, event, stream):
        self.arrive(stream)
        self.recorded[event] = self.before[stream]
        self.call('cuEventRecord', ctypes.c_void_p(self.events[event]), ctypes.c_void_p(self.streams[stream]))

    def wait(self, stream, event):
        self.arrive(stream)
        self.before[stream] |= self.recorded[event]
        self.call('cuStreamWaitEvent', ctypes.c_void_p(self.streams[stream]), ctypes.c_void_p(self.events[event]), 0)

    def wait_for(self, stream, owner):
        """Lets the next work of a stream come behind that of another one, in one of several ways."""
        how, event = self.random.randrange(4), self.random.randrange(4)
        if how == 0:
            self.synchronize(owner)
            return
        self.record(event, owner)
        if how == 1:
            self.complete |= self.recorded[event]
            self.call('cuEventSynchronize', ctypes.c_void_p(self.events[event]))
            return
        if self.random.random() < .2:
            self.record(self.random.choice([one for one in range(4) if one != event]), self.random.randrange(8))
        self.wait(stream, event)

    def conflicts_of(self, accesses, before):
        return [old for buffer, low, high, writes in accesses for old in buffer.accesses
                if old[2] < high and low < old[3] and (writes or old[1]) and not before >> old[0] & 1]

    def run(self, stream, accesses, give, also=0, is_free=False):
        """Waits for what conflicts, or forgets it; then gives the work, which is behind `also`, too."""
        while True:
            conflicts = self.conflicts_of(accesses, self.precede(stream) | also)
            self.conflicts += bool(conflicts)
            if not conflicts or self.conflicts == self.forgotten:
                break
            self.wait_for(stream, conflicts[0][4])
        if conflicts:
            self.races.append(self.calls)
            time.sleep(is_free) # pending work that uses freed memory would end the program
        self.before[stream] = self.precede(stream) | also | 1 << self.work
        for buffer, low, high, writes in accesses:
            buffer.accesses.append((self.work, writes, low, high, stream))
        give()
        self.work += 1

    # ---- the work ----

    def span(self):
        low = self.random.randrange(0, SIZE - 64)
        return low, self.random.randrange(low + 9, min(SIZE, low + 2048) + 1) # up to 8 bytes can be a flag

    def random_work(self):
        """(accesses, a function that gives the work to a stream)"""
        buffer, (low, high) = self.random.choice(self.buffers), self.span()
        size = ctypes.c_size_t(high - low)
        if self.random.random() < .4:
            return [(buffer, low, high, True)], lambda stream: self.give(
                'cuMemsetD8Async', ctypes.c_uint64(buffer.address + low), ctypes.c_ubyte(1), size,
                ctypes.c_void_p(self.streams[stream]))
        to = self.random.choice([one for one in self.buffers if one is not buffer])
        at = self.random.randrange(0, SIZE - (high - low) + 1)
        name = 'cuMemcpyAsync' if to.kind + buffer.kind == 'HH' else f'cuMemcpy{buffer.kind}to{to.kind}Async_v2'
        return ([(buffer, low, high, False), (to, at, at + high - low, True)], lambda stream: self.give(
            name, ctypes.c_uint64(to.address + at), ctypes.c_uint64(buffer.address + low), size,
            ctypes.c_void_p(self.streams[stream])))

    def allocate(self, stream):
        address = ctypes.c_uint64()
        self.arrive(stream)
        self.give('cuMemAllocAsync', ctypes.byref(address), ctypes.c_size_t(SIZE),
                  ctypes.c_void_p(self.streams[stream]))
        self.before[stream] |= self.freed.pop(address.value, 0) | 1 << self.work
        self.buffers.append(Buffer('D', address.value, is_of_pool=True))
        self.buffers[-1].accesses.append((self.work, True, 0, SIZE, stream))
        self.work += 1

    def free(self, stream):
        buffer = self.random.choice([one for one in self.buffers if one.is_of_pool])
        self.buffers.remove(buffer)
        self.run(stream, [(buffer, 0, SIZE, True)], lambda: self.give(
            'cuMemFreeAsync', ctypes.c_uint64(buffer.address), ctypes.c_void_p(self.streams[stream])), is_free=True)
        self.freed[buffer.address] = self.before[stream]

    def capture(self, stream):
        parts = [self.random_work() for _ in range(self.random.randrange(1, 4))]
        if any(buffer.is_of_pool for accesses, _ in parts for buffer, *_ in accesses):
            return
        self.call('cuStreamBeginCapture_v2', ctypes.c_void_p(self.streams[stream]), 2)
        for _, give in parts:
            give(stream)
        graph = ctypes.c_void_p()
        self.call('cuStreamEndCapture', ctypes.c_void_p(self.streams[stream]), ctypes.byref(graph))
        executable = self.made('cuGraphInstantiateWithFlags', ctypes.c_void_p, graph, ctypes.c_uint64(0))
        self.graphs.append([executable, [one for accesses, _ in parts for one in accesses], 0])

    def launch(self, stream):
        graph = self.random.choice(self.graphs)
        self.run(stream, graph[1], lambda: self.give('cuGraphLaunch', ctypes.c_void_p(graph[0]),
                                                     ctypes.c_void_p(self.streams[stream])), graph[2])
        graph[2] = self.before[stream]

    def step(self):
        stream, what = self.random.randrange(8), self.random.random()
        if what < .6:
            accesses, give = self.random_work()
            self.run(stream, accesses, lambda: give(stream))
        elif what < .68:
            self.record(self.random.randrange(4), stream)
        elif what < .76:
            self.wait(stream, self.random.randrange(4))
        elif what < .78:
            self.synchronize(stream)
        elif what < .79:
            for before in self.before:
                self.complete |= before
            self.call('cuCtxSynchronize')
        elif what < .84 and len(self.buffers) < 8:
            self.allocate(stream)
        elif what < .89 and any(one.is_of_pool for one in self.buffers):
            self.free(stream)
        elif what < .93 and len(self.graphs) < 3 and stream in NON_BLOCKING:
            self.capture(stream)
        elif self.graphs:
            self.launch(stream)


def main():
    program = Program(int(sys.argv[1]), sys.argv[2] == 'wrong')
    while program.work < WORKS:
        program.step()
    program.call('cuCtxSynchronize')
    with open(sys.argv[3], 'w', encoding='utf-8') as file:
        json.dump(program.races, file)


main()
