# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# stages.sh - what .ci/run is written in. Sourced.
#
#   stage NAME COMMAND...    runs one stage if its name has the word `only` in it, and says how long it took; the first
#                            that fails ends the run
#   variant NAME OPTION...   builds the project in build-ci/NAME with these options of meson setup, and runs its tests;
#                            `tests` holds options for meson test, such as a wrapper
#   readme_block NUMBER      prints the NUMBER'th block of README.md that is marked sh
#
# At the end, whatever it is: a line for each stage with its seconds, and the tests of all builds in one line.

stage_name='' stage_start=0 stage_times=() tests=()

stage() {
    [[ $1 == *"${only-}"* ]] || return 0
    stage_name=$1 stage_start=$SECONDS
    shift
    printf '\n======== %s\n' "$stage_name"
    "$@"
    stage_times+=("$(printf '%5d s  %s' $((SECONDS - stage_start)) "$stage_name")")
    stage_name=
}

variant() {
    local build=build-ci/$1
    shift
    meson setup "$build" -Dwerror=true -Dtests=enabled "$@"
    meson compile -C "$build"
    meson test -C "$build" --print-errorlogs "${tests[@]}"
}

readme_block() {
    awk -v wanted="$1" '/^```sh$/ { inside = 1; block++; next } /^```$/ { inside = 0 } inside && block == wanted' README.md
}

finish() {
    local status=$?
    printf '\n'
    [ ${#stage_times[@]} -eq 0 ] || printf '%s\n' "${stage_times[@]}"
    printf '%5d s  altogether\n' "$SECONDS"
    [ -z "$stage_name" ] || printf '\nFAILED in: %s\n' "$stage_name"
    # Meson writes a line of JSON for each test of a build's last run.
    find build build-ci -path '*/meson-logs/testlog*.json' -exec cat {} + 2>/dev/null | python3 -c '
import collections, json, sys
results = collections.Counter(json.loads(line)["result"] for line in sys.stdin)
passed, skipped = results["OK"] + results["EXPECTEDFAIL"], results["SKIP"]
print(f"\n{passed} passed, {sum(results.values()) - passed - skipped} failed, {skipped} skipped")' || true
    exit "$status"
}
trap finish EXIT
