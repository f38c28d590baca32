# SPDX-License-Identifier: MIT
"""The answers of a conformance run, and the format of the files with the recorded answers of a driver.

A run prints lines of the form "name <tab> value". This module represents them as a dict. A file records one run
completely, "native". Of a version limit it has only the differences from the next newer limit, and of each other
configuration those from "native":

    native <tab> create.is                           <tab> 0
    native <tab> invalidate.MemAlloc.unsafe.any.*    <tab> 900 invalidated 901
    12.2   <tab> edge.query                          <tab> 0
    9.1    <tab> capture.kind                        <tab> not-applicable StreamBeginCapture_v2

A check that is not applicable replaces all its answers, and a subject all its checks, if the reason is the same; "-"
removes one. A row of the subject invalidate with "*" for the mode and the thread stands for all of them, and "unsafe"
for the modes and threads in which unsafe calls are refused; rows after it name the cases that differ. A call that has
no such row succeeds and invalidates nothing, natively. An answer that the check itself expects has no row, unless
another one differs from it. Lines that start with # are the head of the file, which has the number of all native
answers. The configurations with hidden functions are not recorded: their answers are the native ones, with the
differences that expected/ lists.
"""

import collections
import os
import re

# The configurations of one driver: the name of the run, and the arguments of the program for it.
LIMITS = ("12.4", "12.2", "11.4", "11.0", "10.1", "10.0", "9.1", "6.5")
# Slots whose polyfills can answer at the same time. Captures need the native slots of cuStreamBeginCapture, of
# cuLaunchHostFunc and of the first two versions of cuStreamGetCaptureInfo; their polyfills answer under version limits.
HIDDEN = (
    "EventRecordWithFlags_v1", "EventElapsedTime_v2", "DevicePrimaryCtxRelease_v2", "DevicePrimaryCtxSetFlags_v2",
    "StreamGetCaptureInfo_v3", "StreamUpdateCaptureDependencies_v2", "CtxGetDevice_v2", "CtxSynchronize_v2",
    "CtxCreate_v3", "CtxCreate_v4", "StreamGetDevice_v1", "StreamGetCtx_v2", "GraphInstantiateWithFlags_v1",
    "GraphAddDependencies_v2", "GraphRemoveDependencies_v2", "GraphGetEdges_v2", "GraphNodeGetDependencies_v2",
    "GraphNodeGetDependentNodes_v2", "LaunchHostFunc_v2", "FuncGetParamCount_v1", "KernelGetParamCount_v1",
)
# Queries beside native functions that set what an older query does not report; and cuCtxCreate_v4, whose polyfill then
# calls the native cuCtxCreate_v3.
HIDDEN_QUERIES = ("StreamGetCaptureInfo_v3", "GraphGetEdges_v2", "GraphNodeGetDependencies_v2",
                  "GraphNodeGetDependentNodes_v2", "CtxCreate_v4")
CONFIGURATIONS = {
    "native": [], "per-thread": ["--per-thread"], "hidden": ["--hide", ",".join(HIDDEN)],
    "hidden-callbacks": ["--hide", "LaunchHostFunc_v1", "--subject", "callback", "--subject", "fault"],
    "hidden-queries": ["--hide", ",".join(HIDDEN_QUERIES), "--subject", "edge", "--subject", "dependency",
                       "--subject", "context"],
    **{limit: ["--max-version", limit] for limit in LIMITS},
}

NOT_APPLICABLE = "not-applicable"
QUIET = "0 active 0"


class Expected(str):
    """An answer that the check itself expects."""


def parse_run(text):
    """The answers in the output of a run. The note at a broken rule is dropped, because the value shows it."""
    answers = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if line.startswith("#") or len(fields) < 2:
            continue
        value = " ".join(fields[1:3]) if fields[1] == NOT_APPLICABLE else fields[1]
        if fields[2:] == ["as expected"]:
            value = Expected(value)
        if fields[0] in answers:
            raise ValueError(f"{fields[0]} is answered twice")
        answers[fields[0]] = value
    for subject in {name.split(".")[0] for name in answers}:
        values = {value for name, value in answers.items() if name.split(".")[0] == subject}
        if len(values) == 1 and min(values).startswith(NOT_APPLICABLE):
            answers = {name: value for name, value in answers.items() if name.split(".")[0] != subject}
            answers[subject] = values.pop()
    return answers


def covered(name, answers):
    """Whether a check that `name` belongs to is not applicable in `answers`."""
    parts = name.split(".")
    prefixes = (".".join(parts[:i]) for i in range(1, len(parts) + 1))
    return any(answers.get(prefix, "").startswith(NOT_APPLICABLE) for prefix in prefixes)


def differences(base, other):
    """The differences that turn `base` into `other`: a dict as in the file."""
    rows = {name: value for name, value in other.items()
            if base.get(name) != value and (name in base or not isinstance(value, Expected))}
    for name in base:
        if name not in other and not covered(name, other):
            rows[name] = "-"
    return rows


def apply(base, rows):
    answers = {name: value for name, value in base.items() if not covered(name, rows)}
    answers.update(rows)
    return {name: value for name, value in answers.items() if value != "-"}


def cases(name):
    """The answers that the name in a row stands for."""
    if "*" not in name:
        return [name]
    subject, call, modes, stream, _ = name.split(".")
    every = [f"{subject}.{call}.{mode}.{stream}.{thread}" for mode in ("global", "thread-local", "relaxed")
             for thread in ("same-thread", "other-thread")]
    return every[:3] if modes == "unsafe" else every


def with_quiet_calls(native, names):
    """Adds the answers of calls in the subject invalidate that have no row for all cases, in the order of the calls."""
    with open(os.path.join(os.path.dirname(__file__), "invalidate_calls.inc"), encoding="utf-8") as file:
        calls = [f"invalidate.{call}" for call in re.findall(r"^CALL\((\w+),", file.read(), re.M)]
    quiet = {case: QUIET for call in calls if not any(name.startswith(f"{call}.*.") for name in names)
             for case in cases(f"{call}.*.any.*")}
    place = {call: number for number, call in enumerate(calls)}
    return dict(sorted({**quiet, **native}.items(), key=lambda one: place.get(".".join(one[0].split(".")[:2]), -1)))


def fold(rows):
    """The rows of a file for these answers."""
    folded = {}
    for name, value in rows.items():
        parts = name.split(".")
        if parts[0] == "invalidate" and len(parts) == 5:
            together = f"{parts[0]}.{parts[1]}.*.{parts[3]}.*"
            unsafe = together.replace("*", "unsafe", 1)
            values = [rows.get(case) for case in cases(together)]
            if None not in values and len(set(values[:3])) == len(set(values[3:])) == 1:
                folded.update({together: values[3], **({unsafe: values[0]} if values[0] != values[3] else {})})
                continue
            if None not in values:
                folded[together] = collections.Counter(values).most_common(1)[0][0]
                if value == folded[together]:
                    continue
        folded[name] = value
    return folded


def with_bases(configurations):
    """The recorded ones of these configurations, newest limit first, each with the one that its rows differ from."""
    base = "native"
    for configuration in CONFIGURATIONS:
        if configuration in configurations and not is_hidden(configuration):
            yield configuration, base
            base = configuration if configuration in LIMITS else "native"


def is_hidden(configuration):
    return configuration.startswith("hidden")


def is_selected(configuration, name):
    """Whether the configuration runs the subject of this answer."""
    arguments = CONFIGURATIONS[configuration]
    return "--subject" not in arguments or name.split(".")[0] in arguments


def load(path):
    """The lines of the head, and the answers of each configuration."""
    head, rows, names = [], {}, set()
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("#"):
                head.append(line)
            else:
                configuration, name, value = line.split("\t")
                names |= {name} if configuration == "native" else set()
                rows.setdefault(configuration, {}).update((case, value) for case in cases(name))
    runs = {"native": with_quiet_calls(rows["native"], names)}
    for configuration, base in with_bases(rows):
        runs[configuration] = apply(runs[base], rows[configuration])
    for configuration in CONFIGURATIONS:
        runs.setdefault(configuration, {name: value for name, value in runs["native"].items()
                                        if is_selected(configuration, name)})
    return head, runs


def save(path, head, runs):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in head)
        for configuration, base in with_bases(runs):
            answers = runs[configuration]
            rows = fold(differences({} if configuration == "native" else runs[base], answers))
            if configuration == "native":
                rows = {name: value for name, value in rows.items()
                        if value != QUIET or not name.endswith(".*.any.*")}
            file.writelines(f"{configuration}\t{name}\t{value}\n" for name, value in rows.items())


def native_count(head):
    """The number of all native answers."""
    return int(next(line.split()[1] for line in head if line.endswith(" native answers")))


def program_in(build):
    """The program in a build directory, or the program itself."""
    inside = os.path.join(build, "tests", "conformance", "conformance")
    return inside if os.path.isdir(build) else build


def counts(answers):
    """The number of answers, and the number of checks or answers that are not applicable."""
    missing = sum(value.startswith(NOT_APPLICABLE) for value in answers.values())
    return len(answers) - missing, missing
