#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the output of the conformance program with the recorded answers of a real driver.

    compare.py run CONFIGURATION PROGRAM [--softcuda LIBRARY [--limited]]
    compare.py file CONFIGURATION OUTPUT [--softcuda]
    compare.py polyfills

run        runs the program on the driver of this machine, or on a softcuda library, and compares its output
file       compares the recorded output of a run
polyfills  compares the recorded answers of the limited configurations with the native ones. expected/polyfills.tsv lists
           the allowed differences with their reasons; a line that allows no difference is an error.

expected/softcuda.tsv lists the allowed differences of softcuda. A configuration with hidden functions has a list of its
own, expected/CONFIGURATION.tsv; for "hidden", expected/polyfills.tsv applies, too.
Exit status: 0; 1 with the differences; 77 if the run was skipped.
"""

import argparse
import fnmatch
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import answers  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "expected", "h200-580.tsv")


class Allowed:
    """A list of allowed differences: answer, value, reason. Answer and value may contain * and ?."""

    def __init__(self, *names):
        self.rows, self.used = [], set()
        for name in names:
            with open(os.path.join(HERE, "expected", name), encoding="utf-8") as file:
                for line in file.read().splitlines():
                    if line and not line.startswith("#"):
                        pattern, value, reason = line.split("\t")
                        self.rows.append((pattern, value, reason))

    def permits(self, name, value):
        """Returns the reason, or None."""
        for row in self.rows:
            if fnmatch.fnmatchcase(name, row[0]) and fnmatch.fnmatchcase(value, row[1]):
                self.used.add(row)
                return row[2]
        return None

    def unused(self):
        return [row for row in self.rows if row not in self.used]


def allowed_in(configuration, softcuda=False):
    """The allowed differences from the recorded answers in a configuration."""
    names = ["softcuda.tsv"] if softcuda else []
    names += ["polyfills.tsv"] if configuration == "hidden" else []
    return Allowed(*names, *([f"{configuration}.tsv"] if answers.is_hidden(configuration) else []))


def compare(configuration, expected, found, allowed):
    """Prints the differences that are not allowed, and returns their number. An answer that a check does not expect is none
    if it is the recorded one."""
    count = 0
    for name, value in sorted(answers.differences(expected, found).items()):
        if allowed.permits(name, value) is None:
            print(f"{configuration}: {name}: expected {expected.get(name, 'what the check expects')}, got {value}")
            count += 1
    return count


def compare_all(runs):
    if not os.path.exists(DATA):
        return 0
    _, expected = answers.load(DATA)
    counts = {name: compare(name, expected[name], found, allowed_in(name)) for name, found in runs.items()}
    for name, count in counts.items():
        print(f"{name}: {len(runs[name])} answers, {count} differences", flush=True)
    return int(sum(counts.values()) > 0)


def run(options):
    environment = dict(os.environ)
    arguments = list(answers.CONFIGURATIONS[options.configuration])
    if options.softcuda:
        environment["CUSHIM_DRIVER"] = options.softcuda
        if not options.limited:
            arguments = [] if "--max-version" in arguments else arguments
    done = subprocess.run([options.program, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        print(done.stdout)
        return 77
    if not done.stdout:
        print(done.stderr)
    found = answers.parse_run(done.stdout)
    head, expected = answers.load(DATA)
    allowed = allowed_in(options.configuration, bool(options.softcuda))
    count = compare(options.configuration, expected[options.configuration], found, allowed)
    if options.configuration == "native" and len(found) != answers.native_count(head):
        print(f"{len(found)} answers, and {answers.native_count(head)} on the GPU")
        count += 1
    if answers.is_hidden(options.configuration):  # or nothing is hidden
        for row in Allowed(f"{options.configuration}.tsv").rows:
            if row not in allowed.used:
                print(f"{options.configuration}.tsv: nothing differs as in the line {row[0]} {row[1]}")
                count += 1
    print(f"{len(found)} answers, {count} differences, {len(allowed.used)} of the known kind")
    return int(count > 0)


def file(options):
    with open(options.output, encoding="utf-8") as output:
        found = answers.parse_run(output.read())
    _, expected = answers.load(DATA)
    allowed = allowed_in(options.configuration, options.softcuda)
    return int(compare(options.configuration, expected[options.configuration], found, allowed) > 0)


def polyfills(_):
    _, runs = answers.load(DATA)
    allowed = Allowed("polyfills.tsv")
    count = 0
    for limit in answers.LIMITS:
        rows = answers.differences(runs["native"], runs[limit])
        rows = {name: value for name, value in rows.items() if not value.startswith(answers.NOT_APPLICABLE)}
        for name, value in rows.items():
            if allowed.permits(name, value) is None:
                print(f"{limit}: {name}: native {runs['native'].get(name, 'no answer')}, here {value}")
                count += 1
    for pattern, value, _ in allowed.unused():
        print(f"polyfills.tsv: nothing differs as in the line {pattern} {value}")
        count += 1
    return int(count > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(required=True)
    one = modes.add_parser("run")
    one.add_argument("configuration", choices=answers.CONFIGURATIONS)
    one.add_argument("program")
    one.add_argument("--softcuda", help="softcuda's library for the run")
    one.add_argument("--limited", action="store_true", help="softcuda is newer than the configuration: limit it")
    one.set_defaults(mode=run)
    one = modes.add_parser("file")
    one.add_argument("configuration", choices=answers.CONFIGURATIONS)
    one.add_argument("output")
    one.add_argument("--softcuda", action="store_true", help="it was softcuda's")
    one.set_defaults(mode=file)
    modes.add_parser("polyfills").set_defaults(mode=polyfills)
    options = parser.parse_args()
    return options.mode(options)


if __name__ == "__main__":
    sys.exit(main())
