#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Renders CAPTURE.md from the recorded answers of the subject invalidate, which run-on-gpu --keep writes; with --check,
checks that the page is up to date."""

import argparse
import os
import re
import sys
import textwrap

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import answers  # noqa: E402
import compare  # noqa: E402

PAGE = os.path.join(compare.HERE, "CAPTURE.md")
MODES = (("global", "GLOBAL"), ("thread-local", "THREAD_LOCAL"), ("relaxed", "RELAXED"))
STREAMS = (("capturing", "capturing"), ("other", "another"))
THREADS = (("same-thread", "same"), ("other-thread", "another"))

INTRODUCTION = """\
# Which driver calls invalidate a capture

Between `cuStreamBeginCapture` and `cuStreamEndCapture`, some calls return an error and *invalidate* the capture: its
graph is lost, and `cuStreamEndCapture` returns 901. NVIDIA's manual names a few of these calls. Other calls return an
error and leave the capture active; most calls do neither. This page shows what a driver did with {count} calls: in the
three capture modes, on the capturing stream and elsewhere, from the thread that began the capture and from another
thread.

Measured with {origin}.
The answers were the same on machines with one GPU and on one with two H200s; every call was for the GPU of the capture.
The calls go to the driver as those of any program do, and the CUDA runtime makes them, too.
`cushim trace -- PROGRAM` names the call that invalidated a capture of your program, without a rebuild
([subprojects/cushim-tools/trace](../../subprojects/cushim-tools/trace/README.md)).

## Surprising rules

{rules}
After an invalidation, work for the stream returns {work}, and a new capture cannot begin ({begin}).
`cuStreamEndCapture` returns {end} with a NULL graph; from then on the stream can be used and captured again.

## The mode of a thread

A capture has a mode, and each thread has one, too: at first `GLOBAL`, and `cuThreadExchangeStreamCaptureMode` changes
it. A call that is unsafe in rule 2 invalidates the capture according to both. The table shows `cuMemAlloc`; the tables
further below were measured with threads in the mode `GLOBAL`.

{modes}
## How to read the tables

- A cell is the code that the call returned. A plain code means that the capture was still active and ended with
  success. A **bold** code means that the call invalidated the capture, and that `cuStreamEndCapture` returned 901. If
  something else happened, the capture status after the call and the code of `cuStreamEndCapture` are in brackets.
- A column is the mode of the capture, then the stream of the call, then the thread of the call: "capturing / another"
  is a call on the capturing stream from a thread other than the one that began the capture.
- For each cell, a new capture of a non-blocking stream begins, the call is made once, the status of the capture is
  read, and the capture ends. The last section is about the legacy stream beside a blocking stream.

{codes}

## Measure it again

These commands build the test program in cushim's source tree, print a line for each cell on your GPU, and compare all
answers with those of this page:

```console
$ meson setup build && meson compile -C build
$ build/tests/conformance/conformance --subject invalidate
$ tests/conformance/run-on-gpu build
```

`tests/conformance/run-on-gpu build --keep tests/conformance/expected/h200-580.tsv` records the answers, and `python3
tests/conformance/render_capture.py` makes this page from them. A test checks that the page and its rules agree with
the recorded answers.
"""


def is_lost(value):
    return value.startswith("**")


def always(cells):
    return all(map(is_lost, cells.values()))


def on_capturing_stream(cells):
    return all(is_lost(value) == (".capturing." in place) for place, value in cells.items())


def unsafe(cells):
    """Elsewhere than on the capturing stream."""
    return all(is_lost(value) == (place.startswith("global") or place.startswith("thread-local") and ".same-" in place)
               for place, value in cells.items() if ".capturing." not in place)


def never(cells):
    return set(cells.values()) == {"0"}


def on_wrong_thread(cells):
    return [cells[f"{mode}.capturing.other-thread"] for mode, _ in MODES] == [
        "**908** (none, 401)", "**908** (none, 401)", "**0** (none, 401)"]


# A rule is a sentence, and for each {} in it the calls, with the places where they invalidate a capture.
RULES = (
    ("**A query can end the capture.** On the capturing stream, {} invalidate it, in every mode and from every"
     " thread. {} do not.",
     (on_capturing_stream, "StreamGetFlags StreamGetId StreamGetDevice"),
     (never, "StreamIsCapturing StreamGetCaptureInfo StreamGetPriority StreamGetCtx")),
    ("**A call that has nothing to do with the stream can end it.** {}, and {} of *any* stream, are *unsafe*: they"
     " invalidate a `GLOBAL` capture, whichever thread of the process makes the call, and a `THREAD_LOCAL` one if its"
     " own thread makes the call. A `RELAXED` one permits them, except for `cuStreamQuery` and"
     " `cuStreamSynchronize` on the capturing stream itself. So a library that allocates memory on a thread of its own"
     " breaks the `GLOBAL` captures of all others.",
     (unsafe, "MemAlloc MemFree MemAllocHost ModuleUnload GraphInstantiate GraphExecDestroy EventQuery_outside"
              " EventSynchronize_outside"),
     (unsafe, "StreamQuery StreamSynchronize")),
    ("**No mode permits** {}, from any thread, or a query of an event that the capture recorded: {}.",
     (always, "CtxSynchronize CtxRecordEvent CtxWaitEvent"),
     (always, "EventQuery_captured EventSynchronize_captured")),
    ("**{} from the wrong thread** returns 908 and ends the capture nevertheless: its graph is lost. Every thread can"
     " end a `RELAXED` capture.",
     (on_wrong_thread, "StreamEndCapture")),
    ("**An event from before the capture** invalidates it if the capturing stream waits for the event: {} returns 905."
     " An event that was never recorded, or that the capture recorded, does not: {} returns 0.",
     (on_capturing_stream, "StreamWaitEvent_outside"),
     (never, "StreamWaitEvent_unrecorded StreamWaitEvent_captured")),
    ("**A callback and the launch of a graph** in the capturing stream ({}) invalidate the capture. A host function"
     " ({}) becomes a node of the graph.",
     (on_capturing_stream, "StreamAddCallback GraphLaunch"),
     (never, "LaunchHostFunc")),
    ("**Allowed, although one would not expect it**, while a non-blocking stream is capturing: synchronous copies and"
     " memsets ({}), work in the legacy stream ({}), and {}. While a *blocking* stream is capturing, work in the legacy"
     " stream invalidates even a `RELAXED` capture"
     " ([see below](#the-legacy-stream-beside-the-capture-of-a-blocking-stream)).",
     (never, "MemcpyHtoD MemcpyDtoH MemsetD8"), (never, "LaunchKernel_legacy MemsetD8Async_legacy"),
     (never, "StreamCreate EventCreate ModuleLoadData CtxCreate CtxDestroy MemGetInfo")),
)


def in_words(names):
    """Functions of the driver, each once; what _outside and the like mean is in the sentence."""
    *names, last = dict.fromkeys(f"`cu{name.split('_')[0]}`" for name in names.split())
    return f"{', '.join(names)} and {last}" if names else last


def rules(calls):
    texts = []
    for number, (text, *lists) in enumerate(RULES, 1):
        for where, names in lists:
            for name in names.split():
                if not where(calls[name]):
                    raise SystemExit(f"rule {number} is not what the driver did: {name}")
        listed = (in_words(names) for _, names in lists)
        texts.append(textwrap.fill(f"{number}. {text.format(*listed)}", 118, subsequent_indent="   ",
                                   break_long_words=False, break_on_hyphens=False))
    return "\n".join(texts) + "\n"


def mode_table(native):
    """cuMemAlloc in a thread with a mode of its own."""
    lines = ["| mode of the capture | " + " | ".join(f"thread `{title}`" for _, title in MODES) + " |",
             "| --- |" + " --- |" * len(MODES)]
    words = {("invalidated", "invalidated"): "invalidates", ("invalidated", "active"): "only the thread that began it",
             ("active", "active"): "allowed"}
    for capture, title in MODES:
        cells = [words[tuple(native[f"mode.unsafe.capture-{capture}.thread-{thread}.{where}"].split()[1]
                             for where in ("same", "another"))] for thread, _ in MODES]
        lines.append(f"| `{title}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def codes(page):
    """The meaning of the codes in the cells of the page."""
    with open(os.path.join(compare.HERE, "..", "..", "loader", "lists", "errors.inc"), encoding="utf-8") as file:
        names = dict((code, name) for name, code in re.findall(r"^CUSHIM_ERROR\((\w+), (\d+),", file.read(), re.M))
    rows = " ".join(line for line in page.splitlines() if line.startswith("|"))
    used = sorted(set(re.findall(r"(?<=[ *(])\d+(?=[ *)])", rows)), key=int)
    return textwrap.fill(f"The codes are {', '.join(f'{code} `{names[code]}`' for code in used)}.", 118)


NOTES = """\
## Names of the calls

- `_outside` is an event that was recorded and had completed before the capture, `_captured` one that was recorded in
  the capture, `_unrecorded` one that was never recorded. `_external` is a call with the flag for external event
  nodes.
- `_pinned` and `_pageable` are the kinds of host memory. `_legacy` and `_per_thread` are calls on those special
  streams.
- `StreamCopyAttributes_from` copies from the stream of the column, and `_to` copies to it.
- `CtxPushPopCurrent`, `MemPoolCreateDestroy`, `MemAddressReserveFree`, `MemCreateRelease` and `DevicePrimaryCtxRetain`
  (with the release) are pairs of calls. The code is the first one that is not 0.
- `ThreadExchangeStreamCaptureMode` changes the mode to relaxed and back.
- `StreamDestroy` was not tried on the capturing stream: it succeeds, and a later use of the handle crashes.
"""


def cell(value):
    code, status, end = value.split()
    if status == "active" and end == "0":
        return code
    if status == "invalidated" and end == "901":
        return f"**{code}**"
    return f"**{code}** ({'' if status == 'active' else status + ', '}{end})"


def is_plain(cells):
    return any(".any." in place for place in cells)


def table(rows, places):
    """Renders one table. `places` are the (key, title) pairs of its columns within a mode."""
    head = [f"{title} {place}" if place else title for _, title in MODES for _, place in places]
    lines = ["| call | " + " | ".join(head) + " |", "| --- |" + " --- |" * len(head)]
    for name, cells in rows:
        columns = [cells.get(f"{mode}.{place}", "–") for mode, _ in MODES for place, _ in places]
        lines.append(f"| `{name}` | " + " | ".join(columns) + " |")
    return "\n".join(lines) + "\n"


def render(head, native):
    calls, crashed = {}, []
    for key, value in native.items():
        if not key.startswith("invalidate."):
            continue
        _, name, *place = key.split(".")
        if place and place[0] == "needs":
            raise SystemExit(f"{key}: the measurement failed")
        if not place:
            crashed.append(name)
        else:
            calls.setdefault(name, {})[".".join(place)] = cell(value)
    harmless = {name for name, cells in calls.items() if set(cells.values()) == {"0"}}
    on_streams = [(name, cells) for name, cells in calls.items() if name not in harmless and not is_plain(cells)]
    elsewhere = [(name, cells) for name, cells in calls.items() if name not in harmless and is_plain(cells)]
    stream_places = [
        (f"{stream}.{thread}", f"{stream_title} / {thread_title}")
        for stream, stream_title in STREAMS
        for thread, thread_title in THREADS
    ]
    plain_places = [(f"any.{thread}", f"/ {title}") for thread, title in THREADS]
    quiet = [name for name in calls if name in harmless]
    tables = "\n".join([
        f"{len(quiet)} of the calls returned 0 and did not invalidate a capture anywhere. The others:\n",
        "## Calls on a stream\n",
        table(on_streams, stream_places),
        "## Calls without a stream, or on a special stream\n",
        table(elsewhere, plain_places),
        "## Calls that returned 0 and invalidated nothing, in every mode and place\n",
        textwrap.fill(", ".join(f"`{name}`" for name in quiet), 118) + "\n",
        NOTES,
        "## The legacy stream beside the capture of a blocking stream\n",
        "The capturing stream was created without `CU_STREAM_NON_BLOCKING`, and the capture has the relaxed mode.\n",
        legacy(native),
    ])
    after = {key: native[f"capture.invalidated.{key}"] for key in ("work", "begin-again", "end")}
    introduction = INTRODUCTION.format(
        origin=head[0].lstrip("# "), count=len(calls), rules=rules(calls), modes=mode_table(native),
        codes=codes(tables), work=after["work"], begin=after["begin-again"], end=after["end"])
    return introduction + "\n" + tables


def legacy(native):
    rows = (
        ("`cuStreamIsCapturing` of the legacy stream", "is-capturing", "status-1", None),
        ("`cuStreamQuery` of the legacy stream", "query", "status-2", None),
        ("`cuMemsetD8Async` in the legacy stream", "memset", "memset-status", "memset-end"),
        ("`cuMemsetD8`", "plain-memset", "plain-memset-status", "plain-memset-end"),
        ("`cuStreamQuery` of the per-thread stream", "per-thread", "per-thread-status", "per-thread-end"),
    )
    lines = ["| call | code | status after the call | `cuStreamEndCapture` |", "| --- | --- | --- | --- |"]
    for title, *keys in rows:
        values = [native.get(f"capture.legacy-beside.{key}", "–") if key else "" for key in keys]
        lines.append(f"| {title} | " + " | ".join(values) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    head, runs = answers.load(compare.DATA)
    page = render(head, runs["native"])
    if not options.check:
        with open(PAGE, "w", encoding="utf-8", newline="\n") as file:
            file.write(page)
        return 0
    with open(PAGE, encoding="utf-8") as file:
        if file.read() == page:
            return 0
    print("CAPTURE.md is out of date: run python3 tests/conformance/render_capture.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
