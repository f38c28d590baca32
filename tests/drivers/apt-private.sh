# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# apt-private.sh - downloads one Debian package of one suite without touching the apt state of the system. Sourced.
#
#   apt_private_get SUITE PACKAGE DIR MEMBER...
#                                      downloads the current PACKAGE of SUITE, unpacks the members that match these
#                                      patterns into DIR, and sets apt_got to "PACKAGE VERSION SUITE". The package is
#                                      for the architecture CUSHIM_ARCH (a name of Debian's), or for that of this machine
#
#   apt_private_source SUITE SOURCE DIR
#                                      downloads the upstream tarball of a source package, and unpacks it into DIR
#
# They return 1 on failure, with the reason in fetch_error as one line.
#
# The mirror is the one in this machine's apt sources; CUSHIM_DEBIAN_MIRROR=URL selects another. Only the index of one
# component of the requested suite is read, non-free or apt_component, into the directory apt beside DIR. Neither root
# nor a change to the system is needed. Proxies and passwords come from the system's configuration; its sources, pins,
# package state and hooks are not used.
#
# Signatures are checked against Debian's own keyring if it is installed, else against the keys that apt trusts. Only
# the expiry date of an index is not checked: an index of sid lasts a week, a slow mirror may deliver it later, and an
# old version of these packages is as good as a new one.

# Prints the first mirror from which this machine takes a Debian suite. Downloads nothing: apt only prints what it would
# read.
apt_private_mirror() {
    apt_names='sid|unstable|testing|(old)*stable|buster|bullseye|bookworm|trixie|forky|duke'
    apt-get update --print-uris 2>/dev/null |
        sed -nE "s#^'([a-z+]+:.*[^/])/+dists/($apt_names)/InRelease'.*#\1#p" | grep -v '^cdrom:' | head -n 1
}

# Reads the index of apt_suite once.
apt_private_open() {
    apt_home=$(dirname "$apt_into")/apt/$apt_suite${apt_type-}
    fetch_error=
    if [ ! -e "$apt_home/ready" ]; then
        apt_private_configure || return 1
        apt_private_run update || {
            fetch_error="cannot read Debian's suite $apt_suite: $fetch_error"
            return 1
        }
        : >"$apt_home/ready"
    fi
    rm -f "$apt_home"/deb/*
}

apt_private_source() {
    apt_suite=$1 apt_package=$2 apt_into=$3
    apt_type=deb-src apt_component=main
    apt_private_open || return 1
    apt_private_run source --tar-only --download-only "$apt_package" || {
        fetch_error="cannot get the sources of $apt_package of Debian's suite $apt_suite: $fetch_error"
        return 1
    }
    mkdir -p "$apt_into"
    apt_tar=$(echo "$apt_home"/deb/*.orig.tar.*z)
    # shellcheck disable=SC2034 # used by the caller
    apt_got="$(basename "$apt_tar") $apt_suite"
    tar -xf "$apt_tar" -C "$apt_into" --strip-components=1
}

apt_private_get() {
    apt_suite=$1 apt_package=$2 apt_into=$3
    shift 3
    apt_private_open || return 1
    apt_private_run download "$apt_package" || {
        fetch_error="cannot get $apt_package of Debian's suite $apt_suite: $fetch_error"
        return 1
    }
    mkdir -p "$apt_into"
    apt_deb=$(echo "$apt_home"/deb/*.deb)
    # shellcheck disable=SC2034 # used by the caller
    apt_got="$apt_package $(dpkg-deb -f "$apt_deb" Version) $apt_suite"
    dpkg-deb --fsys-tarfile "$apt_deb" | tar -x -C "$apt_into" --wildcards "$@" 2>"$apt_home/log" || {
        fetch_error="cannot unpack $apt_package: $(head -n 1 "$apt_home/log")"
        return 1
    }
    rm "$apt_deb"
}

# Each suite has a configuration of its own, so that no suite's version can replace that of another.
apt_private_configure() {
    for apt_tool in apt-get dpkg-deb dpkg; do
        command -v "$apt_tool" >/dev/null || {
            fetch_error="$apt_tool is not installed: this needs Debian or Ubuntu"
            return 1
        }
    done

    apt_mirror=${CUSHIM_DEBIAN_MIRROR:-$(apt_private_mirror)}
    if [ -z "$apt_mirror" ]; then
        fetch_error="this machine's apt sources name no Debian mirror (Ubuntu's have none of these packages):"
        fetch_error="$fetch_error install debian-archive-keyring and set CUSHIM_DEBIAN_MIRROR to the URL of one"
        return 1
    fi

    apt_signed_by=
    for apt_keyring in /usr/share/keyrings/debian-archive-keyring.gpg /usr/share/keyrings/debian-archive-keyring.pgp; do
        if [ -r "$apt_keyring" ]; then
            apt_signed_by=signed-by=$apt_keyring
            break
        fi
    done

    mkdir -p "$apt_home/lists/partial" "$apt_home/cache/archives/partial" "$apt_home/deb"
    : >"$apt_home/status"
    apt_architecture=${CUSHIM_ARCH:-$(dpkg --print-architecture)}
    apt_target=Packages
    [ "${apt_type:-deb}" = deb ] || apt_target=Sources
    echo "${apt_type:-deb} [arch=$apt_architecture target=$apt_target lang=none check-valid-until=no" \
        "$apt_signed_by] $apt_mirror $apt_suite ${apt_component:-non-free}" >"$apt_home/sources.list"
    cat >"$apt_home/apt.conf" <<END
#clear APT::Update;
#clear DPkg;
#clear Dir::Etc::sourceparts;
#clear Dir::Etc::preferencesparts;
APT::Architecture "$apt_architecture";
APT::Architectures "$apt_architecture";
Dir::Etc::sourcelist "$apt_home/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$apt_home";
Dir::State::lists "$apt_home/lists";
Dir::State::status "$apt_home/status";
Dir::Cache "$apt_home/cache";
Dir::Cache::archives "$apt_home/cache/archives";
APT::Update::Error-Mode "any";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::Retries "2";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
END
    # root's apt downloads as another user, who cannot read a home directory
    [ "$(id -u)" -ne 0 ] || echo 'APT::Sandbox::User "root";' >>"$apt_home/apt.conf"
}

apt_private_run() {
    (cd "$apt_home/deb" && LC_ALL=C apt-get -q -c "$apt_home/apt.conf" "$@") >"$apt_home/log" 2>&1 || {
        fetch_error=$(grep '^E:' "$apt_home/log" | head -n 1)
        fetch_error=${fetch_error:-"apt-get $1 failed"}
        return 1
    }
}
