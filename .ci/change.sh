# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# change.sh - the stages that a change must pass. Sourced by .ci/run. The head of each says what it alone can find.
# shellcheck disable=SC2034,SC2154 # part and variant read `tests`; packages assigns `missing`

# What these find does not depend on the build: README's own commands run them.
readonly any_build=(--no-suite headers --no-suite plain --no-suite audit --no-suite drivers)

# The tests that use programs and headers of others, which nobody needs for README's commands.
readonly of_other_programs=(exec-ffmpeg exec-numba trace-html cli-completion-{bash,zsh,fish} cli-manual)

# For builds in which the compiler's work is a means to an end: nobody reads their debug information, for which MinGW's
# linker takes minutes, or runs their code often.
readonly quick=(-Ddebug=false -Doptimization=0)

# The same with one file for each library and program, where another C library, processor or set of types is what can
# fail. A few tests replace a file of the library, and need an object for each: README's commands run these.
readonly quickest=("${quick[@]}" --unity=on)

# The tests of the library alone, where the tools cannot differ. The head of rare.sh says where theirs run.
readonly library=(-Dtools=disabled)

# With the name of a suite, Meson also runs the tests of it that are not usual.
readonly usual=(--no-suite long --no-suite thorough)

readme_command() {
    local command
    command=$(readme_block "$1")
    [ -n "$command" ]
    printf '%s\n\n' "$command"
    bash -euo pipefail -c "$command"
}

# That README's blocks suffice on a new machine; defects in the usual build, and on real drivers.
stage_readme() {
    # shellcheck disable=SC2046 # one word for each
    download_packages $(readme_packages)
    fetch_drivers
    readme_command 1
    readme_command 2
    readme_command 3
    nothing_runs_from "$PWD/build"
    packages ffmpeg python3-numba chromium zsh fish man-db
    # Where all of these were installed before, README's commands have run their tests.
    [ ${#missing[@]} -eq 0 ] ||
        meson test -C build --print-errorlogs --logbase testlog-programs "${of_other_programs[@]}"
}

# Processes that a test has left running.
nothing_runs_from() {
    local left
    left=$(ps -ww -eo pid=,args= | awk -v directory="$1/" '$2 != "awk" && index($0, directory)')
    [ -z "$left" ] || { printf 'Processes that the tests left running:\n%s\n' "$left"; return 1; }
}

fetch_drivers() {
    if ! apart tests/drivers/fetch || ! apart tests/drivers/fetch --companions; then
        echo 'Some drivers cannot be fetched, so that their tests are skipped'
    fi
}

# Lines that are too long, code that is not formatted, stages that the workflow does not run, and subjects of commits that
# do not have the form of CONTRIBUTING.md. clang-format does not
# check the length of comments with this configuration. A row of a list (.inc, entry_points.h) and of a table in a page
# may be longer; CAUSES.md is generated.
stage_sources() {
    packages clang-format python3-venv
    check_subjects
    apart python3 -m venv build-ci/reuse
    apart build-ci/reuse/bin/pip install -q reuse
    build-ci/reuse/bin/reuse lint --lines
    git ls-files '*.c' '*.h' '*.cpp' '*.hpp' '*.md' ':!*/CAUSES.md' ':!*/entry_points.h' | xargs awk '
        FNR == 1 { code = 0 }
        FILENAME ~ /\.md$/ && /^ *```/ { code = !code }
        length > 120 && !code && !/^\|/ { print FILENAME ":" FNR ": longer than 120"; bad = 1 }
        END { exit bad }'
    diff <(.ci/run --list | sort) <(workflow_stages change)
    diff <(.ci/run --list --all | sort) <(workflow_stages '\(change\|rare\)')
    if [[ $(clang-format --version) == *' version 14.'* ]]; then
        git ls-files '*.c' '*.h' '*.hpp' | xargs clang-format --dry-run -Werror
    else
        echo 'skipped: .clang-format is for clang-format 14'
    fi
}

# The subjects of the commits of a branch: "area: what changed, and for whom", without a full stop.
check_subjects() {
    local wrong
    wrong=$(git log --no-merges --format=%s "$(branch_base)..HEAD" |
        grep -vE '^[A-Za-z][A-Za-z0-9 ,/_.+-]*: [^ ].{8,100}[^.]$' || true)
    [ -z "$wrong" ] || {
        printf 'Subjects of commits that are not "area: what changed, and for whom":\n%s\n' "$wrong"
        return 1
    }
}

# Prints the stages of these jobs of the workflow.
workflow_stages() {
    sed -n "/^  $1:/,/^ *steps:/s/^ *- \([a-z]\)/\1/p" .github/workflows/ci.yml | tr ' ' '\n' | sort
}

# Defects on paths that no test takes, in what has changed: the analyzers of gcc and clang, cppcheck and shellcheck.
stage_analyzers() {
    packages clang cppcheck shellcheck
    analyze --since "$(change_base)"
    git grep -lzE '^#!.*(/| )(ba)?sh$' | xargs -0 shellcheck -x -P SCRIPTDIR .ci/*.sh
}

# analyze OPTION...
analyze() {
    [ -d build-ci/analysis ] || meson setup build-ci/analysis -Dtests=disabled -Dtypes=own
    ninja -C build-ci/analysis -t targets all | sed -n 's/^\([^:]*\.\(inc\|h\)\): CUSTOM_COMMAND.*/\1/p' |
        xargs ninja -C build-ci/analysis
    tests/analysis/analyze build-ci/analysis "$@"
}

# The commit where the branch left the main branch: HEAD, on the main branch itself.
branch_base() { git merge-base HEAD "${CUSHIM_BASE:-origin/HEAD}" 2>/dev/null || git rev-parse HEAD; }

# The commit from which a change began: on the main branch, the last one before yesterday.
change_base() {
    local base
    base=$(branch_base)
    [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-list -1 --before='1 day ago' HEAD)
    echo "${base:-$(git hash-object -t tree /dev/null)}"
}

# A function, type or constant of the last release that is gone or different.
stage_abi() {
    packages abigail-tools xz-utils
    meson setup build-ci/abi -Dtests=disabled -Dtypes=own
    meson compile -C build-ci/abi cushim:shared_library
    tests/packaging/abi build-ci/abi
}

# What does not compile with NVIDIA's types, or differs from them, in the oldest and the newest Toolkit. What the suites
# exec and trace test is always built with the own types.
stage_toolkit_types() {
    packages python3-pip g++
    # shellcheck disable=SC2046 # one word for each
    apart tests/drivers/fetch-toolkit 11.8 $(toolkits headers | tail -n 1) $(toolkits windows | tail -n 1) >build-ci/toolkits
    local tests=(--suite headers --suite cuda --suite unit "${usual[@]}")
    part toolkit "${quickest[@]}" "${library[@]}" -Dtypes=toolkit -Dtoolkit_include="$(sed -n 2p build-ci/toolkits)/include"
    ninja -C build-ci/toolkit tests/stream/stream_layer tests/conformance/conformance
}

toolkits() { tests/drivers/fetch-toolkit --names "$1" | tr ' ' '\n' | grep -v debian; }

# Warnings of clang in plain compiler commands, and what it makes of the library there. Rust, with the crate of a release.
stage_clang() {
    packages clang lld libclang-rt-14-dev libffmpeg-nvenc-dev gcc-mingw-w64-x86-64-win32 g++-mingw-w64-x86-64-win32 \
        cargo librust-cc-dev
    local tests=(--suite packaging "${usual[@]}")
    clang_build
    meson test -C build-ci/clang --print-errorlogs --logbase testlog-plain --setup all headers_compile headers_registry \
        packaging_plain packaging_amalgamation packaging_recipe_rust 'compat_ffnvcodec versions' 'softcuda alone'
}

clang_build() { CC=clang CXX=clang++ part clang "${quick[@]}" -Dtypes=own; }

# Invalid memory accesses, uses of a stack after its function returned, leaks and undefined behaviour, in the build of clang.
# Without the tests of the program, which start it hundreds of times. Without optimization, which takes three quarters of
# the compiler's time here and can remove an access that is wrong; reports name lines.
# At the end of a thread that was cancelled, the sanitizer's own use of an alternate stack would be reported.
stage_address_sanitizer() {
    packages clang libclang-rt-14-dev
    local tests=("${any_build[@]}" --no-suite structure --no-suite packaging --no-suite cli)
    local -x UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    ASAN_OPTIONS=detect_stack_use_after_return=1:use_sigaltstack=0 CC=clang CXX=clang++ \
        variant asan "${quick[@]}" -D{c,cpp}_args=-gline-tables-only -Dtypes=own -Db_sanitize=address,undefined \
        -Db_lundef=false
}

# Data races: the first loads of several threads, and softcuda, which uses threads everywhere.
stage_thread_sanitizer() {
    thread_sanitizer --suite unit --suite softcuda --suite stream "${usual[@]}"
    thread_sanitizer --logbase testlog-answers 'softcuda 580 answers as the GPU does'
}

thread_sanitizer() {
    packages
    local tests=("$@")
    TSAN_OPTIONS=halt_on_error=1:die_after_fork=0:atexit_sleep_ms=200:suppressions=$PWD/subprojects/softcuda/tests/tsan.supp \
        part tsan -Ddebug=false -Doptimization=1 -D{c,cpp}_args=-g1 -Dtypes=own -Db_sanitize=thread
}

# What only the files of a release, a release build, the static library or the amalgamation lacks, and warnings of
# Doxygen. Without tests that run the same library again: with limited versions, with random input, as a search for NVRTC.
stage_release() {
    packages doxygen man-db libffmpeg-nvenc-dev lld
    local tests=("${any_build[@]}" --no-suite limited --no-suite fuzz --no-suite nvrtc)
    release_build variant "${library[@]}" -Ddocs=enabled
}

# release_build part|variant OPTION...
release_build() {
    local directory=build-ci/release-$1
    [ -d build-ci/dist ] || meson setup build-ci/dist -Dtests=disabled
    meson dist -C build-ci/dist --no-tests
    mkdir "$directory"
    tar -xf build-ci/dist/meson-dist/*.tar.xz -C "$directory" --strip-components=1
    (cd "$directory" && "$1" release -Dtypes=own -Dbuildtype=release -Db_ndebug=true \
        -Ddefault_library=static -Damalgamation=true "${@:2}")
}

# Units of which two have the same name, because each library and program is made from one file here (a unity build).
stage_subproject() {
    packages
    tests/packaging/as-subproject -Dwerror=true -Ddebug=false -Doptimization=0 --unity=on --unity-size=100
}

# Files that are not installed, or not found after the installed tree was moved.
stage_installed() {
    packages cmake
    tests/packaging/installed -Dwerror=true "${quickest[@]}" -Doptimization=1 # the size of trace.so has a bound
}

# Mistakes in CMakeLists.txt.
stage_cmake() {
    packages cmake
    tests/packaging/with-cmake
}

# What fails on Windows: warnings of MinGW-w64, and the library, the stream layer and the program under Wine.
stage_windows() {
    packages gcc-mingw-w64-x86-64-win32 g++-mingw-w64-x86-64-win32 wine64 cmake
    local tests=(--no-suite structure) # README's commands run it: it does not depend on the build
    windows variant
    tests/windows/conformance build-ci/windows 340:6.5 580:native
}

# windows set_up|variant
windows() {
    [ -e build-ci/wine.ini ] || printf "[binaries]\nexe_wrapper = '%s'\n" "$PWD/tests/windows/wine" >build-ci/wine.ini
    CUSHIM_WINEPREFIX=$PWD/build-ci/wine \
        "$1" windows "${quick[@]}" --cross-file tests/windows/mingw64.ini --cross-file build-ci/wine.ini
}

# A difference between the headers' and Microsoft's definitions.
stage_windows_headers() {
    packages clang libwine-dev gcc-mingw-w64-x86-64-win32
    tests/windows/msvc-headers
}

# What Microsoft's compiler would make of the branches for it.
stage_windows_msvc() {
    packages clang lld libwine-dev wine64 gcc-mingw-w64-x86-64-win32 g++-mingw-w64-x86-64-win32
    local build=build-ci/softcuda-windows softcuda=subprojects/softcuda
    meson setup $build "${quickest[@]}" --cross-file tests/windows/mingw64.ini -Dtests=disabled -Dtools=enabled
    ninja -C $build $softcuda/softcuda-580.placed
    CUSHIM_WINEPREFIX=$PWD/build-ci/wine tests/windows/msvc $build/$softcuda/580/nvcuda.dll
}

# What fails on arm64: weaker ordering of memory, as far as the emulator shows it, and the code of exec for that processor
# if exec has changed.
stage_arm64() {
    packages g++-aarch64-linux-gnu qemu-user-static
    arm64_build
}

# A part of the tests of tests/cross/README.md. If the kernel cannot start programs for arm64, only tests whose programs
# start no others.
arm64_build() {
    local tests=(--timeout-multiplier 5 --suite unit --suite cuda "${usual[@]}")
    git diff --quiet "$(change_base)" -- subprojects/cushim-tools/exec || tests+=(--suite exec)
    if ! as_root tests/cross/register-emulator; then
        echo 'skipped: programs for arm64 that start others, because the kernel here cannot start programs for arm64'
        tests=(--timeout-multiplier 5 --suite compat --suite stream "${usual[@]}")
    fi
    arm64 part
    meson test -C build-ci/arm64 --no-rebuild --print-errorlogs --logbase testlog-registry headers_registry
}

# arm64 set_up|part
arm64() { "$1" arm64 "${quickest[@]}" --cross-file tests/cross/arm64.ini; }

# What fails with another C library.
stage_musl() {
    packages musl-tools
    local tests=(--suite unit --suite stream --suite examples "${usual[@]}")
    part musl "${quickest[@]}" --cross-file tests/cross/musl.ini
}
