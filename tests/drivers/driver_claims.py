# SPDX-License-Identifier: MIT
"""The rules for everything that cushim reports about a driver, checked against the driver's own symbol table."""
import entry_points as lists  # the directory of the lists is in the path of `suite`

# The names in cuda.h of the codes that are expected somewhere.
SUCCESS, INVALID_VALUE, NOT_INITIALIZED, STUB, NO_DEVICE, NOT_FOUND, NOT_SUPPORTED = 0, 1, 3, 34, 100, 500, 801

# The CUDA version from which an older entry point has the same meaning, so that a polyfill is possible. Every other
# slot is native or missing.
POLYFILLED_FROM = {
    'CtxCreate_v3': 3020, 'CtxCreate_v4': 3020,
    'DevicePrimaryCtxRelease_v2': 7000, 'DevicePrimaryCtxSetFlags_v2': 7000,
    'CtxGetDevice_v2': 4000, 'CtxSynchronize_v2': 4000,
    'EventRecordWithFlags_v1': 2000, 'EventElapsedTime_v2': 2000,
    'LaunchHostFunc_v1': 5000, 'LaunchHostFunc_v2': 5000,
    'FuncGetParamCount_v1': 12040, 'KernelGetParamCount_v1': 12040,
    'StreamIsCapturing_v1': 5050,
    'StreamGetCaptureInfo_v1': 5050, 'StreamGetCaptureInfo_v2': 5050, 'StreamGetCaptureInfo_v3': 5050,
    'StreamBeginCapture_v2': 10000, 'StreamUpdateCaptureDependencies_v2': 11030,
    'StreamGetDevice_v1': 9020, 'StreamGetCtx_v2': 9020,
    'GraphInstantiateWithFlags_v1': 10000,
    'GraphAddDependencies_v2': 10000, 'GraphRemoveDependencies_v2': 10000, 'GraphGetEdges_v2': 10000,
    'GraphNodeGetDependencies_v2': 10000, 'GraphNodeGetDependentNodes_v2': 10000,
}

# Results that an older entry point gives only because of the age of the driver: no driver before 10.0 can capture, and
# no driver before 12.4 has green contexts.
ONLY_BELOW = {
    ('LaunchHostFunc_v1', ('StreamAddCallback_v1',)): 10000,
    ('StreamIsCapturing_v1', ('StreamGetPriority_v1',)): 10000,
    ('StreamGetCtx_v2', ('StreamGetCtx_v1',)): 12040,
}

# From this version on, a driver refuses a request for a version above its own; older ones answer with their newest.
STRICT_VERSION = 13000

# Entry points that a driver lacks although its version has them, as observed on these drivers.
KNOWN_HOLES = {('cuDeviceGetLuid', 10010), ('cuDeviceGetLuid', 11000)}


WINDOWS_ONLY = {one.symbol for one in lists.read() if one.is_windows_only}


def slot_name(row):
    """For example StreamQuery_v1, StreamDestroy_v2."""
    return row.function[2:] + '_v1' if row.symbol == row.function else row.symbol[2:]


class View:
    """What a program must see of a library that is loaded with given options."""

    def __init__(self, library, rows, own_version, setting, answered=()):
        self.library, self.rows, self.setting = library, rows, setting
        self.own_version = own_version
        self.limited = bool(setting.limit) and setting.limit < own_version
        self.version = setting.limit if self.limited else own_version
        self.answered = answered  # symbols that are not exported, but that the driver's cuGetProcAddress returns
        self.row_of = {(row.function, row.since): row for row in rows}
        self.functions = {}
        for row in rows:
            self.functions.setdefault(row.function, []).append(row)
        self.symbols = {row.symbol for row in rows} | {row.per_thread_symbol for row in rows}
        self.newest_row = max(row.since for row in rows)
        hidden = {name[2:] if name.startswith('cu') else name for name in setting.hide}
        self.hidden = {row for row in rows
                       if {slot_name(row), row.function[2:], row.symbol[2:]} & hidden}
        self.adapted = self.adapted_in(setting.per_thread)
        # Functions whose default stream can be the per-thread one.
        self.formed = {row.function for row in rows if row.per_thread_symbol != '-'}
        # Rows that the version has and the library lacks, and the other way round, without the known ones.
        self.holes = [row for row in rows
                      if (row.symbol in library.exports) != (row.since <= own_version)
                      and (row.symbol, own_version) not in KNOWN_HOLES and row.symbol not in WINDOWS_ONLY]

    def adapted_in(self, per_thread):
        """The slots of a table that cushim answers although the driver has them."""
        adapted = {'Init_v1', 'GetErrorString_v1'} | ({'DriverGetVersion_v1'} if self.limited else set())
        if self.limited or self.hidden or per_thread:
            adapted |= {'GetProcAddress_v1', 'GetProcAddress_v2'}
        return adapted

    def symbol(self, row, per_thread):
        return row.per_thread_symbol if per_thread and row.per_thread_symbol != '-' else row.symbol

    def has(self, row, per_thread):
        visible = not (self.limited and row.since > self.version) and row not in self.hidden
        symbol = self.symbol(row, per_thread)
        # If only later entry points of a function have a per-thread variant, the earlier ones use the wrong stream.
        if per_thread and row.function in self.formed and (row.per_thread_symbol == '-' or self.version < 7000):
            return False
        return visible and (symbol in self.library.exports or symbol in self.answered)

    def answer(self, row):
        """The word with which a lookup of a row, at the row's own version, is answered."""
        if row.since > self.own_version:
            return 'driver-too-old'
        if row.since > self.version:
            return 'limited'
        if self.setting.per_thread and row.function in self.formed and row.since < 7000:
            return 'too-new'
        if row in self.hidden:
            return 'hidden'
        return 'found' if self.has(row, self.setting.per_thread) else 'lacking'

    def newest(self, function, version, per_thread):
        """The newest row of a function that a version has, or None. No row has a per-thread variant before CUDA 7.0."""
        if per_thread and version < 7000 and function in self.formed:
            return None
        for row in reversed(self.functions[function]):
            if row.since <= version:
                return row
        return None


class Claims:
    """Counts the comparisons, and records the failed ones."""

    def __init__(self):
        self.checks, self.failures, self.setting = 0, [], ''
        self.via_sets = {}  # slot -> sets of slots that its polyfill was seen to call

    def expect(self, got, wanted, *what):
        self.checks += 1
        if got != wanted:
            self.failures.append('[%s] %s: %s, not %s' % (self.setting, ' '.join(map(str, what)), got, wanted))
        return got == wanted

    def expect_in(self, got, wanted, *what):
        self.checks += 1
        if got not in wanted:
            self.failures.append('[%s] %s: %s, not one of %s' % (self.setting, ' '.join(map(str, what)), got,
                                                                 ', '.join(map(str, wanted))))

    # ---- One load ----

    def hold(self, report, view):
        """Compares a whole report with the view."""
        self.expect((report.status, report.words), (0, ''), 'exit status')
        if not self.expect((report.load, report.reason), (SUCCESS, 'none'), 'the load') or report.status != 0:
            return
        self.expect(report.own_version, view.own_version, "the diagnosis's version")
        self.expect(report.cushim_version, view.version, 'cushim_driver_version')
        has_version = report.slots['DriverGetVersion_v1'].state != 'missing'
        self.expect(report.version, (SUCCESS, view.version) if has_version else (NOT_SUPPORTED, -1), 'cuDriverGetVersion')
        has_count = report.slots['DeviceGetCount_v1'].state != 'missing'
        self.expect(report.count, NOT_INITIALIZED if has_count else NOT_SUPPORTED, 'cuDeviceGetCount before cuInit')
        self.expect(report.devices, -1, 'what a cuDeviceGetCount that fails has written')
        self.hold_sides(report)
        self.hold_slots(report, view)
        self.hold_lookups(report, view)
        for answer in report.through:
            self.hold_through(report, view, answer)

    def hold_sides(self, report):
        for what, (before, after) in report.sides.items():
            self.expect(after, before, what, 'after the load')

    def hold_failure(self, report, code, reason):
        """Checks a load that must fail."""
        self.expect((report.status, report.words), (0, ''), 'exit status')
        if not self.expect((report.load, report.reason), (code, reason), 'the load'):
            return
        self.expect((report.cushim_version, report.version), (0, (SUCCESS, 0)), 'what is loaded')
        self.hold_sides(report)
        for slot in report.slots.values():
            self.expect((slot.state, slot.symbol, bool(slot.address), slot.require), ('missing', '-', True, NO_DEVICE),
                        slot.name)

    # ---- Slots ----

    def hold_slots(self, report, view):
        seen = set()
        is_whole = not view.hidden and not view.holes
        for slot in report.slots.values():
            row = view.row_of.get((slot.function, slot.since))
            if not self.expect(row is not None and slot_name(row), slot.name, 'the row of slot', slot.name):
                continue
            seen.add(slot.name)
            symbol = view.symbol(row, view.setting.per_thread)
            offset = slot.address - report.base if slot.address else None
            name = view.library.names.get(offset)
            if view.has(row, view.setting.per_thread):
                exported = symbol in view.library.exports
                if slot.name in view.adapted:
                    wanted = ('adapted', None, '-')
                else:
                    wanted = ('native', symbol if exported else None, symbol if exported else '-')
                self.expect((slot.state, name, slot.symbol), wanted, slot.name, 'is, points at, and is named')
            else:
                self.expect_in(slot.state, ('polyfill', 'missing'), slot.name)
                self.expect((bool(slot.address), name, slot.symbol), (True, None, '-'), slot.name,
                            'is not NULL, points at, and is named')
            self.expect(slot.require, NOT_SUPPORTED if slot.state == 'missing' else SUCCESS, 'cushim_require', slot.name)
            self.expect(bool(slot.via), slot.state == 'polyfill', slot.name, 'stands on others')
            for via in slot.via:
                self.expect(via != slot.name and report.slots[via].state != 'missing', True, slot.name, 'stands on', via)
            if slot.via:
                self.via_sets.setdefault(slot.name, set()).add(tuple(slot.via))
            if is_whole and slot.state in ('polyfill', 'missing'):
                promised = self.polyfilled_from(view, slot.name, row) <= view.version
                self.expect(slot.state, 'polyfill' if promised else 'missing', slot.name)
        self.expect(len(seen), len(report.slots), 'slots with a row')

    @staticmethod
    def polyfilled_from(view, name, row):
        """In the per-thread table, what depends on the default stream is there from CUDA 7.0 on."""
        promised = POLYFILLED_FROM.get(name, 10 ** 9)
        return max(promised, 7000) if view.setting.per_thread and row.function in view.formed else promised

    def hold_consistency(self, report):
        """A polyfill that was possible once must exist wherever it is possible; called after all reports were
        checked."""
        for name, sets in self.via_sets.items():
            if name not in report.slots:
                return  # the process ended early, which hold() has reported
            slot = report.slots[name]
            possible = any(all(report.slots[via].state != 'missing' for via in via_set) for via_set in sets
                           if report.cushim_version < ONLY_BELOW.get((name, via_set), 10 ** 9))
            if possible:
                self.expect(slot.state != 'missing', True, name, 'is missing though', sorted(sets), 'are there')
            elif slot.state == 'polyfill':
                self.expect(slot.state, 'missing', name)

    # ---- Lookups ----

    def entry_of(self, report, view, row, per_thread, adapted):
        """Returns the (offset, name) that a lookup of this row must give, or None."""
        if row is None or not view.has(row, per_thread):
            return None
        if slot_name(row) in adapted:
            return report.both[slot_name(row)][per_thread] - report.base, '-'
        symbol = view.symbol(row, per_thread)
        offset = view.library.exports.get(symbol)
        return (offset, symbol) if offset is not None else (view.answered[symbol], '-')

    def hold_lookups(self, report, view):
        found = 0
        for row in view.rows:
            for version in (row.since - 1, row.since, view.version, view.version + 10):
                code, address, symbol = report.lookups[row.function, version]
                what = 'cushim_lookup', row.function, version
                if not 2000 <= version <= view.version:
                    self.expect((code, address), (INVALID_VALUE, None), what)
                    continue
                per_thread = view.setting.per_thread
                wanted = self.entry_of(report, view, view.newest(row.function, version, per_thread), per_thread,
                                       view.adapted)
                name = view.library.names.get(address - report.base, '') if address else ''
                if version > view.newest_row and name.startswith(row.function + '_v') and name not in view.symbols:
                    continue  # the driver and its ABI are newer than our rows; hold_names() compares with the driver instead
                if wanted is None:
                    self.expect((code, address), (NOT_FOUND, None), what)
                else:
                    offset = address - report.base if address else None
                    self.expect((code, offset, symbol), (SUCCESS,) + wanted, what)
            found += view.has(row, view.setting.per_thread)
        return found

    def hold_through(self, report, view, answer):
        """A result of the slot cuGetProcAddress."""
        what = 'the slot cuGetProcAddress', answer
        adapted = 'GetProcAddress_v%d' % answer.signature in view.adapted
        if answer.version > view.version and not adapted:
            return
        if answer.version > view.version >= STRICT_VERSION:
            self.expect((answer.code, answer.address), (INVALID_VALUE, None), what)
            return
        per_thread = answer.flags == 2 or (answer.flags == 0 and view.setting.per_thread)
        reached = view.newest(answer.function, min(answer.version, view.version), per_thread)
        wanted = self.entry_of(report, view, reached, per_thread, view.adapted_in(per_thread) if adapted else ())
        self.hold_answer(report, answer, wanted, what)

    def hold_answer(self, report, answer, wanted, what):
        """The rules of cuGetProcAddress: the older version returns "not found", the newer one success and NULL."""
        if wanted is not None:
            self.expect((answer.code, answer.address and answer.address - report.base), (SUCCESS, wanted[0]), what)
            if answer.signature == 2:
                self.expect(answer.status, 0, what, 'status')
        elif answer.signature == 1:
            self.expect((answer.code, answer.address or 0), (NOT_FOUND, 0), what)
        else:
            self.expect((answer.code, answer.address), (SUCCESS, 0), what)
            self.expect_in(answer.status, (1, 2), what, 'status')

    def hold_own(self, report, view):
        """The driver's own cuGetProcAddress agrees for each row at the row's own version, if it knows the function."""
        agreed = 0
        for answer in report.own:
            if answer.function not in view.functions or answer.version > view.newest_row:
                continue
            what = "the driver's own cuGetProcAddress", answer
            per_thread = answer.flags == 2
            wanted = self.entry_of(report, view, view.newest(answer.function, answer.version, per_thread), per_thread, ())
            if answer.version <= view.own_version:
                self.hold_answer(report, answer, wanted, what)
                agreed += wanted is not None
            elif answer.code == SUCCESS and answer.address:
                # Drivers before 13.0 also answer above their own version, with the newest entry point that they have.
                wanted = self.entry_of(report, view, view.newest(answer.function, view.own_version, per_thread),
                                       per_thread, ())
                self.expect(answer.address - report.base, wanted and wanted[0], what)
        return agreed

    # ---- Names that are not in our list ----

    def hold_names(self, report, view):
        flags = 2 if view.setting.per_thread else 1
        own = {answer.function: answer for answer in report.own
               if answer.version == view.version and answer.flags == flags}
        for name, (code, address) in report.names.items():
            what = 'cushim_lookup', name, view.version
            if name in view.functions and view.version <= view.newest_row:
                per_thread = view.setting.per_thread
                wanted = self.entry_of(report, view, view.newest(name, view.version, per_thread), per_thread,
                                       view.adapted)
                offset = wanted and wanted[0]
            elif own:
                answer = own[name]
                offset = answer.address - report.base if answer.code == SUCCESS and answer.address else None
            else:
                offset = None if name in view.symbols or view.limited else view.library.exports.get(name)
            self.expect((code, address and address - report.base), (NOT_FOUND if offset is None else SUCCESS, offset),
                        what)
