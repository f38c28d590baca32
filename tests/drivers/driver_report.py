# SPDX-License-Identifier: MIT
"""Parses the output of probe_driver, which reports what cushim sees of a driver."""
import collections
import subprocess

Slot = collections.namedtuple('Slot', 'name function since state symbol address require via')
Row = collections.namedtuple('Row', 'function since symbol per_thread_symbol')
Answer = collections.namedtuple('Answer', 'signature flags function version code address status')


class Setting:
    """One way to load a driver."""

    def __init__(self, what='', limit=0, hide=(), per_thread=False, more=(), variables=None):
        self.limit, self.hide, self.per_thread = limit, tuple(hide), per_thread
        self.more, self.variables = list(more), variables or {}
        words = [what] if what else []
        words += ['limit %d' % limit] if limit else []
        words += ['hide %s' % ','.join(hide) if len(hide) < 5 else 'hide of %d' % len(hide)] if hide else []
        words += ['per-thread'] if per_thread else []
        self.words = ', '.join(words) or 'plain'

    def arguments(self, path):
        line = list(self.more)
        if not self.variables and '--handle' not in line:
            line += ['--path', path]
        line += ['--per-thread'] if self.per_thread else []
        if self.variables:
            return line
        line += ['--max-version', str(self.limit)] if self.limit else []
        line += ['--hide', ','.join(self.hide)] if self.hide else []
        return line


def _number(word):
    """An address or a number; None for a value that was not written or does not exist."""
    return None if word in ('-', 'untouched') else int(word, 0)


class Report:
    """One run of probe_driver. Addresses are those of its process; `base` is the load address of the library."""

    def __init__(self, probe, library, setting):
        environment = dict(library.environment, **setting.variables)
        environment['ASAN_OPTIONS'] = environment.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
        done = subprocess.run([probe] + setting.arguments(library.path), env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.status, self.words = done.returncode, done.stderr.strip()
        self.base = None
        self.load = self.driver = self.version = self.count = self.devices = None
        self.path = self.reason = None
        self.sides = {}
        self.slots, self.both, self.rows = {}, {}, []
        self.lookups, self.names = {}, {}
        self.own, self.through = [], []
        for line in done.stdout.splitlines():
            kind, *words = line.split('\t')
            getattr(self, '_' + kind)(*words)
        if self.base is not None:
            self.base -= library.exports.get('cuInit', 0)

    def _load(self, code, reason, path, own_version, version):
        self.load, self.reason, self.path = int(code), reason, path
        self.own_version, self.cushim_version = int(own_version), int(version)

    def _side(self, what, before, after):
        self.sides[what] = (int(before), int(after))

    def _driver(self, code, version):
        self.driver = (_number(code), _number(version))

    def _version(self, code, version):
        self.version = (int(code), int(version))

    def _count(self, code, number):
        self.count, self.devices = int(code), int(number)

    def _init(self, address):
        self.base = _number(address)

    def _slot(self, name, function, since, state, symbol, address, require, via):
        self.slots[name] = Slot(name, function, int(since), state, symbol, _number(address), int(require),
                                [] if via == '-' else via.split(','))

    def _both(self, name, *addresses):
        self.both[name] = [_number(address) for address in addresses]

    def _row(self, function, since, symbol, per_thread_symbol):
        self.rows.append(Row(function, int(since), symbol, per_thread_symbol))

    def _lookup(self, function, version, code, address, symbol):
        self.lookups[function, int(version)] = (int(code), _number(address), symbol)

    def _name(self, name, code, address):
        self.names[name] = (int(code), _number(address))

    def _own(self, *words):
        self.own.append(self._answer(*words))

    def _through(self, *words):
        self.through.append(self._answer(*words))

    @staticmethod
    def _answer(signature, flags, function, version, code, address, status):
        return Answer(int(signature), int(flags), function, int(version), int(code), _number(address), int(status))
