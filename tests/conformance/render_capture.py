#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the numbers, rules and tables in CAPTURE.md from the recorded answers of the subject invalidate, which
run-on-gpu --keep writes, and leaves its other text as it is; with --check, checks that the page is up to date."""

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
TABLE, PARAGRAPH = r"(?:\|.*\n)+", r"(?:.+\n)+"


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


def render(page, head, native):
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
    after = {key: native[f"capture.invalidated.{key}"] for key in ("work", "begin-again", "end")}
    # What stands in the page: the text before it, the pattern of what is replaced, and the new text.
    for before, pattern, new in (
            ("what a driver did with ", r"\d+", len(calls)),
            ("Measured with ", r".*(?=\.\n)", head[0].lstrip("# ")),
            ("## Surprising rules\n\n", r"(?s:.*?)(?=\nAfter an)", rules(calls)),
            ("work for the stream returns ", r"\d+", after["work"]),
            ("a new capture cannot begin \\(", r"\d+", after["begin-again"]),
            ("`cuStreamEndCapture` returns (?=.* with a NULL)", r"\d+", after["end"]),
            ("with threads in the mode `GLOBAL`\\.\n\n", TABLE, mode_table(native)),
            ("\n\n(?=.* of the calls returned 0)", r"\d+", len(quiet)),
            ("## Calls on a stream\n\n", TABLE, table(on_streams, stream_places)),
            ("## Calls without a stream, .*\n\n", TABLE, table(elsewhere, plain_places)),
            ("## Calls that returned 0 .*\n\n", PARAGRAPH,
             textwrap.fill(", ".join(f"`{name}`" for name in quiet), 118) + "\n"),
            ("and the capture has the relaxed mode\\.\n\n", TABLE, legacy(native)),
            ("\n\n(?=The codes are )", PARAGRAPH, None)):
        new = codes(page) + "\n" if new is None else str(new) # last: they are those of the tables
        page, count = re.subn(f"({before}){pattern}", lambda found, new=new: found[1] + new, page)
        if count != 1:
            raise SystemExit(f"CAPTURE.md has the text before {pattern} {count} times: {before}")
    return page


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
    with open(PAGE, encoding="utf-8") as file:
        old = file.read()
    page = render(old, head, runs["native"])
    if page == old:
        return 0
    if not options.check:
        with open(PAGE, "w", encoding="utf-8", newline="\n") as file:
            file.write(page)
        return 0
    print("CAPTURE.md is out of date: run python3 tests/conformance/render_capture.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
