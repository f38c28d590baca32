#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates COVERAGE.md from coverage.tsv, the sources, and the state of each slot on each driver.

    coverage.py BUILD [--check]

BUILD is a build directory with the program `cushim` and softcuda. With --check, only checks that the page is up to
date. Exit status: 0; 1 if the page is not up to date, or if an operation has no function, no call or no test; 77 if
the build lacks something that is needed.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "loader" / "lists"))
import entry_points as lists  # pylint: disable=wrong-import-position

PAGE = HERE / "COVERAGE.md"
STREAM = ROOT / "tests" / "stream"
DRIVERS = {str(one.branch): lists.version_text(one.version) for one in lists.known_drivers()}
TESTS_SHOWN = 2

INTRODUCTION = """\
# What the stream layer covers

This page lists each operation on the stream pages of three of NVIDIA's driver manuals, and of the stream types of two
Rust crates, with the cushim function that performs it, tests of that function, and its state on each driver.

`python3 tests/conformance/coverage.py BUILD` generates it from `coverage.tsv` (operations and functions), `src`,
`tests/stream`, and the states that `cushim table` reports on each version of softcuda, which has the exports of that
driver.

**native**: the function calls the newest entry point that it knows, in the driver. **poly**: this driver has only older
entry points or none; a polyfill gives the same meaning or refuses. **-**: missing; the call returns
`CUDA_ERROR_NOT_SUPPORTED`. **always**: no call of the driver. The tests are checks of `tests/stream`:
`meson test -C build --suite stream` runs all of them, `build/tests/stream/stream_layer --subject capture` one subject.
"""

MENTIONED = """\
The pages also name `cuDeviceGetAttribute`, `cuDeviceGetProperties`, `cuMemAllocManaged` and `cuGraphAddNode`. These
are not stream operations; call them through the table. One page has `cuStreamLaunchHostFunc`, a mistake for
`cuLaunchHostFunc`.
"""

SECTIONS = (
    ("NVIDIA's driver manual", "From the stream pages of CUDA 5.5, 11 and 12. The column \"in\" names the manuals.", ("5.5", "11", "12")),
    ("The stream types of two Rust crates", "The column \"in\" names the crates, A and B.", ("A", "B")),
)


class Sources:
    """The functions and slots that each C function uses. clang-format keeps the form by which they are found."""

    def __init__(self, paths):
        self.calls, self.slots = {}, {}
        self.checks = []  # the file, function and name of each
        for path in paths:
            text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
            self.checks += [(path, *check) for check in re.findall(r'^CHECK\((\w+),\s+"([\w.-]+)"', text, flags=re.M)]
            text = re.sub(r"^CHECK\((\w+),.*?\)\n\{\n", r"static void \1(void)\n{\n", text, flags=re.S | re.M)
            text = re.sub(r'"[^"\n]*"', '""', text)
            for match in re.finditer(r"^[A-Za-z_][^;={}#]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", text, flags=re.S | re.M):
                name, body = match[1], match[2]
                # The name of a static function is qualified by its file.
                key = (path, name) if re.match(r"static\b", match[0]) else (None, name)
                self.calls[key] = (path, body)
                self.slots[key] = set(re.findall(
                    r"(?:(?:\btable|cushim_table_legacy\(\)|\bdriver)\s*->|\bCUSH_CALL\()\s*(\w+_v\d+)\b", body))

    def key(self, path, name):
        return next((key for key in ((path, name), (None, name)) if key in self.calls), None)

    def reached(self, key, seen=None):
        """This function and all functions that it calls or names: one whose address is taken counts as called."""
        seen = set() if seen is None else seen
        if key is None or key in seen:
            return seen
        seen.add(key)
        path, body = self.calls[key]
        for name in set(re.findall(r"\b[a-z]\w+\b", body)):
            self.reached(self.key(path, name), seen)
        return seen

    def slots_of(self, name):
        return set().union(*(self.slots[key] for key in self.reached(self.key(None, name))))


# The functions of the framework that compare an answer with the expected one.
JUDGES = re.compile(r"\b(?:expect(?:_error|_driver_error|_success|_true|_number|_status)?|observe)\(")


def checks_of(sources):
    """For each public function, the checks that call it and judge its result or, if there is none, that call it."""
    judged, called = collections.defaultdict(list), collections.defaultdict(list)
    for path, function, name in sources.checks:
        direct, any_call = set(), set()
        for key in sources.reached(sources.key(path, function)):
            where, body = sources.calls[key]
            if where.name == "support.c":
                continue
            for statement in body.split(";"):
                names = re.findall(r"\b(cushim_\w+)\b", statement)
                any_call.update(names)
                if JUDGES.search(statement):
                    direct.update(names)
        for found in direct:
            judged[found].append(name)
        for found in any_call - direct:
            called[found].append(name)

    def best_first(function):
        """Checks of the function's own subject first, then those of subjects with more checks of it, then those of edge
        cases."""
        found = judged[function] or called[function]
        subjects = collections.Counter(check.split(".")[0] for check in found)

        def place(check):
            subject = check.split(".")[0]
            edge = check.endswith(("on-old", "argument", "null"))
            return edge, subject.replace("-", "_") not in function, -subjects[subject]
        return sorted(found, key=place)

    return {function: best_first(function) for function in {*judged, *called}}


def public_functions():
    found = {}
    for header in ("context", "stream", "event", "graph", "capture", "completion"):
        text = (ROOT / "include" / "cushim" / f"{header}.h").read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for name in re.findall(r"CUSHIM_API [^;]*?\b(cushim_\w+)\(", text):
            found[name] = header
    return found


def states(build):
    """The state of each slot on each driver."""
    program = build / "src" / "tools" / "cushim" / "cushim"
    answers = {}
    for driver in DRIVERS:
        library = build / "subprojects" / "softcuda" / driver / "libcuda.so.1"
        if not program.exists() or not library.exists():
            print(f"skipped: {program} or {library} does not exist")
            sys.exit(77)
        done = subprocess.run([program, "table", "--format=json", "--driver", library.resolve()], capture_output=True,
                              text=True, check=True)
        answers[driver] = {row["slot"]: row["state"] for row in json.loads(done.stdout)}
    return answers


def state_of(name, slots, driver):
    """The best of the slots of a name that our function calls."""
    found = {driver[slot] for slot in slots if slot == name or re.sub(r"_v\d+$", "", slot) == name}
    return next(word for state, word in (("native", "native"), ("adapted", "native"), ("polyfill", "poly"),
                                         ("missing", "-")) if state in found)


class Page:
    def __init__(self, build):
        self.sources = Sources(sorted([*(ROOT / "src" / "stream").glob("*.c"), *(ROOT / "src" / "completion").glob("*.c")]))
        self.checks = checks_of(Sources(sorted(STREAM.glob("*.c"))))
        self.public = public_functions()
        self.states = states(build)
        self.wrong = []

    def tests(self, functions):
        found = []
        for function in functions:
            here = self.checks.get(function, [])
            if not here:
                self.wrong.append(f"{function} has no test")
            found += [name for name in here[:-(-TESTS_SHOWN // len(functions))] if name not in found]
        return ", ".join(f"`{name}`" for name in found)

    def behind(self, operation, functions, driver_functions):
        """A cell for each driver: the worst state of the driver functions."""
        slots = set().union(*(self.sources.slots_of(function) for function in functions))
        if driver_functions == "-":
            return ["always" for _ in DRIVERS]
        cells = []
        for driver in DRIVERS:
            words = []
            for name in driver_functions.split():
                try:
                    words.append(state_of(name, slots, self.states[driver]))
                except StopIteration:
                    self.wrong.append(f"{operation}: {' '.join(functions)} does not call {name}")
                    return ["?" for _ in DRIVERS]
            cells.append(next(word for word in ("-", "poly", "native") if word in words))
        return cells

    def row(self, where, operation, functions, driver_functions):
        functions = functions.split()
        for function in functions:
            if function not in self.public:
                self.wrong.append(f"{operation}: there is no {function}")
                return f"| `{operation}` | {where} | | |" + " |" * len(DRIVERS)
        cells = self.behind(operation, functions, driver_functions)
        names = ", ".join(f"`{name}`" for name in functions)
        return f"| `{operation}` | {where} | {names} | {self.tests(functions)} | {' | '.join(cells)} |"

    def render(self):
        lines = (HERE / "coverage.tsv").read_text(encoding="utf-8").splitlines()
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        drivers = " | ".join(f"{driver} ({version})" for driver, version in DRIVERS.items())
        text = [INTRODUCTION]
        for title, words, places in SECTIONS:
            mine = [row for row in rows if set(row[0].split()) & set(places)]
            text += [f"## {title}\n", *([words + "\n"] if words else []),
                     f"| operation | in | function | tests | {drivers} |", "| --- " * (4 + len(DRIVERS)) + "|"]
            text += [self.row(*row) for row in mine]
            text += ["", *([MENTIONED] if places[0] == "5.5" else [])]
        text += ["## Every function of the layer\n", "Some of these are not operations of those pages. Each has a test, too.\n",
                 "| function | header | tests |", "| --- | --- | --- |"]
        for function, header in self.public.items():
            text.append(f"| `{function}` | `{header}.h` | {self.tests([function])} |")
        return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = Page(options.build)
    text = page.render()
    for line in dict.fromkeys(page.wrong):
        print(line)
    if options.check:
        old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if old != text:
            print("COVERAGE.md is not up to date: run python3 tests/conformance/coverage.py BUILD")
            return 1
    else:
        PAGE.write_text(text, encoding="utf-8")
    return 1 if page.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
