# SPDX-License-Identifier: MIT
"""Runs programs under `cushim trace`, and reads their calls from the report."""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'exec'))
# pylint: disable=unused-import,wrong-import-position
from under_exec import BUILD, PROGRAM, Answer, Case, environment, lists, main, run, softcuda

PROGRAMS = os.path.join(BUILD, 'subprojects', 'cushim-tools', 'tests', 'trace')
KNOWN = os.path.join(PROGRAMS, 'program')
FINDINGS = os.path.join(PROGRAMS, 'findings')
ENUMERATING = os.path.join(PROGRAMS, 'enumerating_layer.so')
BATCHING = os.path.join(PROGRAMS, 'batching_layer.so')
NESTED = os.path.join(PROGRAMS, 'nested_layer.so')
REUSING = os.path.join(PROGRAMS, 'reusing_layer.so')
LAYER = os.path.join(BUILD, 'subprojects', 'cushim-tools', 'trace', 'trace.so')
CALL = re.compile(r' *(?P<time>\d+\.\d{9}) +(?P<process>-?\d+) +(?P<thread>-?\d+) +'
                  r'(?P<duration>- |-|[\d.]+ \w+)  (?P<call>.*)')

FINDING = re.compile(r' *(?P<time>\d+\.\d{9}) +(?P<process>-?\d+) +(?P<thread>-?\d+)  (?P<text>.*)')


class Traced(Case):
    def setUp(self):
        self.file = os.path.join(self.directory(), 'a.trace')

    def trace(self, *command, options=(), driver='580', before=(), status=0, **variables):
        """Runs a command under trace, into self.file. It ends with this status, or with any if that is None."""
        done = subprocess.run([*before, PROGRAM, 'trace', '-o', self.file, '--softcuda', driver, *options,
                               '--', *command],
                              env=environment(**variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, check=False)
        self.assertIn(done.returncode, [done.returncode if status is None else status], done.stderr)
        return Answer(done)

    def read(self):
        return pathlib.Path(self.file).read_bytes()

    def write(self, data):
        pathlib.Path(self.file).write_bytes(data)

    def report(self, *options, path=None):
        answer = run('trace', 'report', path or self.file, *options)
        self.assertEqual((answer.status, answer.err), (0, b''))
        return answer.out.decode()

    def events(self, *options):
        """The report as JSON: the events."""
        return json.loads(self.report('--format=json', *options))['traceEvents']

    def calls(self, *options, path=None, places=False):
        """[(process, thread, "function(arguments) = result")]; what the driver says follows the result, and so does
        where the call was made if `places`."""
        lines = self.report('--calls', *options, path=path).replace('\n' + 45 * ' ', '; ').splitlines()
        if not places:
            lines = [re.sub(r'; at [^;]*', '', re.sub(r'  from [^;]*', '', line)) for line in lines]
        found = [CALL.fullmatch(line) for line in lines]
        self.assertNotIn(None, found, lines[:3])
        times = [float(one['time']) for one in found]
        self.assertEqual(times, sorted(times))
        return [(one['process'], one['thread'], one['call']) for one in found]

    def findings(self, *options, path=None):
        """{title: [(time, process, thread, text)]}"""
        found, title = {}, None
        for line in self.report('--findings', *options, path=path).splitlines():
            one = FINDING.fullmatch(line)
            if one:
                found[title].append((float(one['time']), one['process'], one['thread'], one['text']))
            elif line.split() == ['seconds', 'process', 'thread']:
                continue
            elif line.endswith(':') and not line.startswith(33 * ' '): # where, and what the driver says
                title = line.rstrip(':')
                found[title] = []
        return found

    def change(self, change):
        """Changes the file: change(number, words) for each of its calls, in the order of the chunk."""
        data = bytearray(self.read())
        number = 0
        for chunk in range(256 << 10, len(data), 64 << 10):
            used, = struct.unpack_from('<Q', data, chunk + 32)
            place = chunk + 40
            while place < chunk + used:
                words = list(struct.unpack_from('<3Q', data, place))
                if words[0] & 0xfff < 0xf00:
                    change(number, words)
                    number += 1
                    struct.pack_into('<3Q', data, place, *words)
                place += 8 * (words[0] >> 13 & 0xffff)
        self.write(data)

    def lose_call(self):
        """Changes the file: one that lacks a call."""
        data = bytearray(self.read())
        struct.pack_into('<Q', data, 1088, 1) # dropped
        self.write(data)
