# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# stages.sh - the functions that the stages of .ci/run use. Sourced.
#
#   stage_begin NAME, stage_end    a stage, whose times are reported; the first one that fails ends the run
#   as_root COMMAND...       by sudo where it is installed, as README's commands do
#   apart COMMAND...         a download, whose time is reported, but not as that of the stage
#   packages NAME...         installs these packages of Debian, and those of README's first command
#   variant NAME OPTION...   builds the project in build-ci/NAME, which it sets up with these options if it is new, and
#                            runs its tests; `tests` holds options for meson test, such as a wrapper
#   part NAME OPTION...      the same, but builds only what these tests need
#   readme_block NUMBER      prints the NUMBER'th block of README.md that is marked sh
#
# At the end, even after a failure, it prints a line for each stage with its seconds and those of the processors, each
# test that failed with its last lines, and the numbers of tests of all builds.

stage_name='' stage_start=0 stage_apart=0 stage_cpu=0 stage_times=() apart_seconds=0 cpu=0 tests=()

# Sets cpu to the seconds of the processors that the commands until now took.
read_cpu() {
    times >build-ci/times
    cpu=$(awk 'NR == 2 { split($0, part, /[ms ]+/); print int(60 * (part[1] + part[3]) + part[2] + part[4]) }' build-ci/times)
}

stage_begin() {
    read_cpu
    stage_name=$1 stage_start=$SECONDS stage_apart=$apart_seconds stage_cpu=$cpu tests=()
    printf '\n======== %s\n' "$stage_name"
}

stage_end() {
    read_cpu
    stage_times+=("$(printf '%5d s  %5d s of processors  %s' \
        $((SECONDS - stage_start - apart_seconds + stage_apart)) $((cpu - stage_cpu)) "$stage_name")")
    stage_name=
}

apart() {
    local start=$SECONDS status=0
    "$@" || status=$?
    apart_seconds=$((apart_seconds + SECONDS - start))
    return "$status"
}

as_root() { $(command -v sudo) env DEBIAN_FRONTEND="$DEBIAN_FRONTEND" "$@"; }

apt_get() { as_root apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"; }

# Downloads those that are not installed, and sets `missing` to them.
download_packages() {
    local name
    missing=()
    for name; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ -e build-ci/updated ] || apart apt_get update
    touch build-ci/updated
    apart apt_get --download-only install "${missing[@]}"
}

packages() {
    # shellcheck disable=SC2046 # one word for each
    download_packages $(readme_packages) "$@"
    [ ${#missing[@]} -eq 0 ] || apt_get -o Dpkg::Options::=--force-unsafe-io install "${missing[@]}"
}

set_up() { [ -d "build-ci/$1" ] || meson setup "build-ci/$1" -Dwerror=true -Dtests=enabled "${@:2}"; }

part() {
    set_up "$@"
    meson test -C "build-ci/$1" --print-errorlogs "${tests[@]}"
}

variant() {
    set_up "$@"
    meson compile -C "build-ci/$1"
    meson test -C "build-ci/$1" --print-errorlogs "${tests[@]}"
}

readme_block() {
    awk -v wanted="$1" '/^```sh$/ { inside = 1; block++; next } /^```$/ { inside = 0 } inside && block == wanted' README.md
}

readme_packages() { readme_block 1 | sed -n 's/.*apt-get install -y \(.*\) &&$/\1/p'; }

print_summary() {
    local status=$?
    printf '\n'
    [ ${#stage_times[@]} -eq 0 ] || printf '%s\n' "${stage_times[@]}"
    read_cpu
    printf '%5d s  %5d s of processors  altogether\n' $((SECONDS - apart_seconds)) "$cpu"
    printf '%5d s  downloads, which are not in these times\n' "$apart_seconds"
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
