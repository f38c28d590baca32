# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# rare.sh - the stages that only `.ci/run --all` runs. Sourced by .ci/run. The head of each says what it alone can find.
# shellcheck disable=SC2034,SC2154 # part and variant read `tests`; change.sh assigns `quick`

# The usual tests and those of the suite long.
readonly with_long=(--setup all --no-suite thorough)

# What only the tests find that a person rarely runs: with all Toolkits that are small downloads, with the recipes for
# packagers and with all real drivers.
# shellcheck disable=SC2046 # one word for each
stage_everything() {
    packages python3-pip python3-venv python3-wheel python3-setuptools python3-dev python3-cffi python3-pytest \
        g++ clang musl-tools gcc-mingw-w64-x86-64-win32 g++-mingw-w64-x86-64-win32 gcc-aarch64-linux-gnu binutils-avr binutils-djgpp bindgen \
        cmake lld man-db ffmpeg libffmpeg-nvenc-dev python3-numba chromium zsh fish cargo librust-cc-dev
    apart tests/drivers/fetch-toolkit $(toolkits headers) $(toolkits windows) >build-ci/toolkits
    fetch_drivers
    apart subprojects/cushim-audit/tests/fetch $(sed -n "/^NAMES = /s/[^']*'\([^']*\)'/\1 /gp" subprojects/cushim-audit/tests/test_wheels.py) || true
    apart python3 -m venv build-ci/zig
    apart build-ci/zig/bin/pip install -q ziglang
    local tests=(--setup all)
    PATH=$PATH:$PWD/build-ci/zig/bin variant everything -Dtypes=toolkit \
        -Dtoolkit_include="$(grep -v windows build-ci/toolkits | tail -n 1)/include"
}

# What only the tools show in other builds: what clang makes of the code of exec and trace, with which sanitizers do not
# work; the program in a release build, with the static library and the amalgamation; and what the analyzers find in all
# sources, also in those that have not changed.
stage_tools() {
    packages clang lld gcc-mingw-w64-x86-64-win32 man-db cppcheck
    local tests=(--suite exec --suite trace "${usual[@]}")
    clang_build
    tests=(--suite cushim-tools --suite limited --suite fuzz --suite nvrtc "${usual[@]}")
    release_build part
    analyze
}

# An option that no other stage sets, and a suite that needs a program which it does not name: each option with its tests,
# and each suite alone in a new directory. Sources are compiled once for all of them (ccache), and the directory of a
# suite is a copy of one that was set up.
stage_options() {
    packages ccache
    local suite suites option tests=("${usual[@]}" "${any_build[@]}")
    for option in -Dtools=disabled -Dtrace=disabled -Dregistry=disabled -Dinstall=disabled -Ddefault_library=shared \
        --unity=on; do
        echo "options: $option"
        variant option "${quick[@]}" -Dtypes=own "$option"
        discard option
    done
    for option in -Dtests=disabled '-Dtests=disabled -Dtools=disabled'; do
        echo "options: $option"
        # shellcheck disable=SC2086 # two options
        meson setup build-ci/option -Dwerror=true "${quick[@]}" $option
        meson compile -C build-ci/option
        discard option
    done
    set_up suite "${quick[@]}" -Dtypes=own
    mv build-ci/suite build-ci/suite-new
    suites build-ci/suite-new >build-ci/suites
    mapfile -t suites <build-ci/suites
    for suite in "${suites[@]}"; do
        cp -a build-ci/suite-new build-ci/suite
        echo "options: --suite $suite"
        # shellcheck disable=SC2086 # with an option
        meson test -C build-ci/suite --print-errorlogs "${usual[@]}" --suite $suite
        discard suite
    done
}

# discard BUILD: removes it, and keeps the results of its tests for the summary.
discard() {
    local results
    results=$(mktemp -d build-ci/results.XXXXXX)
    mv "build-ci/$1/meson-logs" "$results"
    rm -rf "build-ci/$1"
}

# suites BUILD: those of all projects that have usual tests. For a suite whose tests need no program, with an option:
# Meson 1.0 would build everything.
suites() {
    meson introspect --tests "$1" | python3 -c '
import json, sys
needs_programs = {}
for test in json.load(sys.stdin):
    suites = [suite for suite in test["suite"] if ":" in suite]
    if not any(suite.endswith((":long", ":thorough")) for suite in suites):
        for suite in suites:
            needs_programs[suite] = needs_programs.get(suite, False) or bool(test["depends"])
for suite, needed in sorted(needs_programs.items()):
    print(suite, "" if needed else "--no-rebuild")'
}

# Uses of values that were never set: the unit tests and the stress of softcuda under valgrind. The stress without it,
# of a million streams, finds races and leaks.
stage_valgrind() {
    packages valgrind
    local tests=(--timeout-multiplier 10 --suite unit --wrapper 'valgrind --quiet --error-exitcode=1 --leak-check=full')
    part own -Dtypes=own
    softcuda_stress build-ci/own
}

softcuda_stress() {
    # shellcheck disable=SC2054 # commas within an argument
    local libraries=$1/subprojects/softcuda valgrind=(valgrind --quiet --error-exitcode=1 --leak-check=full
        --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect)
    ninja -C "$1" subprojects/softcuda/tests/softcuda_stress subprojects/softcuda/softcuda-{390,580}.placed
    for driver in 390 580; do
        echo "softcuda $driver"
        GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
            "$1/subprojects/softcuda/tests/softcuda_stress" "$libraries/$driver/libcuda.so.1" 1000000 4000 64
        "${valgrind[@]}" "$1/subprojects/softcuda/tests/softcuda_stress" "$libraries/$driver/libcuda.so.1" 5000 200 16
    done
}

# What the tests of the suite long find with sanitizers, and what those of gcc find. Without the search for leaks: with
# threads, that search crashes on the stacks that ASan keeps for detect_stack_use_after_return (gcc 12).
stage_sanitizers_long() {
    packages
    local tests=(--no-suite headers --no-suite plain --no-suite audit --no-suite structure --no-suite packaging
        "${with_long[@]}")
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1:detect_leaks=0 \
        variant asan-gcc -Dtypes=own -Db_sanitize=address,undefined
    thread_sanitizer --logbase testlog-long --suite conformance --suite stream --suite trace "${with_long[@]}"
}

# Inputs on which a reader crashes: clang's fuzzer, half a minute for each of ten kinds of input, four at a time.
stage_fuzzers() {
    packages clang libclang-rt-14-dev
    tests/fuzz/search build-ci/fuzz 30
}

# Builds that differ with the directory.
stage_identical() {
    packages
    tests/packaging/identical
}

# Differences between Windows and a GPU that only the versions between the oldest and the newest driver show.
stage_windows_versions() {
    packages gcc-mingw-w64-x86-64-win32 g++-mingw-w64-x86-64-win32 wine64
    windows set_up
    ninja -C build-ci/windows tests/conformance/conformance.exe \
        subprojects/softcuda/softcuda-{340,390,418,450,470,535,550,580}.placed
    tests/windows/conformance build-ci/windows
}

# What fails on arm64 in exec, the examples, the stream layer, conformance and with real drivers.
stage_arm64_long() {
    packages g++-aarch64-linux-gnu qemu-user-static
    apart env CUSHIM_ARCH=arm64 tests/drivers/fetch >/dev/null
    as_root tests/cross/register-emulator
    arm64 set_up
    meson compile -C build-ci/arm64
    meson test -C build-ci/arm64 --no-rebuild --print-errorlogs --logbase testlog-more --setup all --timeout-multiplier 15 \
        --suite examples --suite exec
    meson test -C build-ci/arm64 --no-rebuild --print-errorlogs --logbase testlog-long --setup all --timeout-multiplier 15 \
        'stream layer on 340' 'stream layer on 580' 450 470 535 550 555 \
        'softcuda 580 answers as the GPU does' 'as the real 550' \
        'softcuda 580, '{hidden,hidden-callbacks,11.0,10.0,9.1}', answers as the GPU does'
}

# What the first use of a release meets on a system of its own: a C library or a driver that the program does not accept.
stage_mission() {
    packages musl-tools gcc-aarch64-linux-gnu qemu-user-static gcc-mingw-w64-x86-64-win32 wine64
    tests/packaging/mission/mission
}

# What changes for programs that people run, whole: FFmpeg, hashcat and PyCUDA with cushim in place of their own loaders
# and of libcuda.
stage_ports() {
    packages clang g++ zlib1g-dev libminizip-dev libxxhash-dev opencl-c-headers ocl-icd-libopencl1 pocl-opencl-icd \
        python3-dev python3-pip python3-venv
    meson setup build-ci/ports-softcuda -Dtests=disabled -Dtypes=own
    ninja -C build-ci/ports-softcuda subprojects/softcuda/softcuda-{340,470,580}.placed
    for program in ffmpeg hashcat pycuda; do
        tests/ports/ports.py build $program build-ci/ports-$program
        tests/ports/ports.py compare $program build-ci/ports-$program build-ci/ports-softcuda/subprojects/softcuda
    done
}

# What `cushim doctor -- PROGRAM` says about programs that people run: right, vague or wrong.
stage_doctor_programs() {
    # shellcheck disable=SC2046 # one word for each
    packages $(subprojects/cushim-tools/tests/exec/doctor_programs --packages)
    apart tests/drivers/fetch 550 >/dev/null || true
    set_up doctor-programs -Dtypes=own
    ninja -C build-ci/doctor-programs
    subprojects/cushim-tools/tests/exec/doctor_programs build-ci/doctor-programs
}
