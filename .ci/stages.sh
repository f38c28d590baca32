# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# stages.sh - the functions that .ci/run uses. Sourced.
#
#   stage_begin NAME, stage_end    a stage, whose time is reported; the first one that fails ends the run
#   variant NAME OPTION...   builds the project in build-ci/NAME with these options of meson setup, and runs its tests;
#                            `tests` holds options for meson test, such as a wrapper
#   part NAME OPTION...      the same, but builds only what these tests need
#   readme_block NUMBER      prints the NUMBER'th block of README.md that is marked sh
#
# At the end, even after a failure, it prints a line for each stage with its seconds, each test that failed with its last
# lines, and the numbers of tests of all builds.

stage_name='' stage_start=0 stage_times=() tests=()

stage_begin() {
    stage_name=$1 stage_start=$SECONDS
    printf '\n======== %s\n' "$stage_name"
}

stage_end() {
    stage_times+=("$(printf '%5d s  %s' $((SECONDS - stage_start)) "$stage_name")")
    stage_name=
}

part() {
    meson setup "build-ci/$1" -Dwerror=true -Dtests=enabled "${@:2}"
    meson test -C "build-ci/$1" --print-errorlogs "${tests[@]}"
}

variant() {
    meson setup "build-ci/$1" -Dwerror=true -Dtests=enabled "${@:2}"
    meson compile -C "build-ci/$1"
    meson test -C "build-ci/$1" --print-errorlogs "${tests[@]}"
}

readme_block() {
    awk -v wanted="$1" '/^```sh$/ { inside = 1; block++; next } /^```$/ { inside = 0 } inside && block == wanted' README.md
}

print_summary() {
    local status=$?
    printf '\n'
    [ ${#stage_times[@]} -eq 0 ] || printf '%s\n' "${stage_times[@]}"
    printf '%5d s  altogether\n' "$SECONDS"
    [ -z "$stage_name" ] || printf '\nFAILED in: %s\n' "$stage_name"
    # For each test of the last run of a build, Meson writes a line of JSON.
    find build build-ci -path '*/meson-logs/testlog*.json' -exec cat {} + 2>/dev/null | python3 -c '
import collections, json, sys
tests = [json.loads(line) for line in sys.stdin]
results = collections.Counter(test["result"] for test in tests)
passed, skipped = results["OK"] + results["EXPECTEDFAIL"], results["SKIP"]
for test in tests:
    if test["result"] not in ("OK", "EXPECTEDFAIL", "SKIP"):
        print("%s: %s, after %.0f s" % (test["result"], test["name"], test["duration"]))
        print("\n".join((test.get("stderr", "") or test.get("stdout", "")).splitlines()[-8:]))
print(f"\n{passed} passed, {len(tests) - passed - skipped} failed, {skipped} skipped")' || true
    exit "$status"
}
trap print_summary EXIT
