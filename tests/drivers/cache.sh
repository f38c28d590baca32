# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# cache.sh - a directory of downloads, each either complete or absent. Sourced.
#
#   cache_root                     prints the absolute path of the cache
#   cache_fill DIRECTORY PROOF NAME...
#       for each NAME: ensures that DIRECTORY/NAME/PROOF exists, and prints DIRECTORY/NAME. An existing one is not changed.
#       For a missing one it calls the function of the script
#           fetch_one NAME INTO    fills the directory INTO, or returns 1 with the reason in fetch_error
#       and renames INTO to DIRECTORY/NAME once it is complete. A failure is a line on stderr and does not stop the others.
#       Returns 1 if any NAME is missing at the end.

cache_root() { realpath -m -- "${CUSHIM_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/cushim}"; }

cache_complain() { echo "${0##*/}: $*" >&2; }

cache_fill() {
    cache_directory=$1 cache_proof=$2
    shift 2

    # One process at a time: the second waits and then finds what the first one fetched.
    mkdir -p "$cache_directory"
    exec 9>"$cache_directory/.lock"
    flock -n 9 || {
        cache_complain "waiting for another one to end"
        flock 9
    }

    cache_missing='' cache_started=''
    for cache_name; do
        if [ ! -e "$cache_directory/$cache_name/$cache_proof" ]; then
            if [ -z "$cache_started" ]; then
                rm -rf "$cache_directory/.fetching"
                mkdir "$cache_directory/.fetching"
                trap 'rm -rf "$cache_directory/.fetching"' EXIT
                trap 'exit 129' HUP
                trap 'exit 130' INT
                trap 'exit 143' TERM
                cache_started=yes
            fi
            cache_fetch "$cache_directory/.fetching/$cache_name" || {
                cache_complain "$cache_name: $fetch_error"
                cache_missing="$cache_missing $cache_name"
                continue
            }
        fi
        echo "$cache_directory/$cache_name"
    done
    [ -z "$cache_missing" ] || {
        cache_complain "missing:$cache_missing"
        return 1
    }
}

cache_fetch() {
    mkdir -p "$1" && fetch_one "$cache_name" "$1" || return 1
    fetch_error="what was fetched holds no $cache_proof"
    [ -e "$1/$cache_proof" ] || return 1
    fetch_error="cannot put $cache_directory/$cache_name in place"
    mv -T "$1" "$cache_directory/$cache_name"
}
