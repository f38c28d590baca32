#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Renders CAPTURE.md from the recorded answers of the subject invalidate; with --check, checks that the file is up to
date."""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import answers  # noqa: E402
import compare  # noqa: E402

PAGE = os.path.join(compare.HERE, "CAPTURE.md")
MODES = (("global", "GLOBAL"), ("thread-local", "THREAD_LOCAL"), ("relaxed", "RELAXED"))
STREAMS = (("capturing", "capturing"), ("other", "another"))
THREADS = (("same-thread", "same"), ("other-thread", "another"))

INTRODUCTION = """\
# Which driver calls invalidate a capture

Between `cuStreamBeginCapture` and `cuStreamEndCapture`, some calls return an error and invalidate the capture, some return
an error and leave the capture active, and most do neither. NVIDIA's manual names a few of them. This page shows what one
driver did with each call: in the three capture modes, on the capturing stream and on another stream, from the thread that
began the capture and from another thread.

Source: the `invalidate.*` rows of `expected/h200-580.tsv` ({origin}), rendered by `python3 tests/conformance/render_capture.py`.
`tests/conformance/run-on-gpu` asks a GPU again.

A cell shows the code that the call returned. A plain code means that the capture was still active after the call and ended
with success. A **bold** code means that the call invalidated the capture and `cuStreamEndCapture` returned 901; if something
else happened, the brackets have the capture status after the call and the code of `cuStreamEndCapture`. A column names the
mode of the capture, then the stream of the call, then the thread of the call: "capturing / another" is a call on the capturing
stream from a thread other than the one that began the capture. Each thread has the default capture mode, global. The
streams are non-blocking; the last section covers the legacy stream beside a blocking stream.
"""

NOTES = """\
## Names of the calls

- `_outside` is an event that was recorded and had completed before the capture, `_captured` one that was recorded in the
  capture, `_unrecorded` one that was never recorded. `_external` is a call with the flag for external event nodes.
- `_pinned` and `_pageable` are the kinds of host memory. `_legacy` and `_per_thread` are calls on those special streams.
- `StreamCopyAttributes_from` and `_to` say which of the two streams is the stream of the column.
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
    parts = [
        INTRODUCTION.format(origin=head[0].lstrip("# ")),
        f"{len(calls)} calls were tried; {len(quiet)} of them returned 0 and did not invalidate a capture anywhere. The others:\n",
        "## Calls on a stream\n",
        table(on_streams, stream_places),
        "## Calls without a stream, or on a special stream\n",
        table(elsewhere, plain_places),
        "## Calls that returned 0 and invalidated nothing, in every mode and place\n",
        ", ".join(f"`{name}`" for name in quiet) + "\n",
        NOTES,
        "## The legacy stream beside the capture of a blocking stream\n",
        "The capturing stream was created without `CU_STREAM_NON_BLOCKING`, and the capture has the relaxed mode.\n",
        legacy(native),
    ]
    return "\n".join(parts)


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
