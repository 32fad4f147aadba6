#!/bin/sh
# Makes a bare Debian 12 and writes it to a tar file that a container engine can import; for
# machines that no image registry answers. The packages come from the mirror this machine's own
# apt uses, checked against Debian's archive keys.
#
# usage: bootstrap-base.sh OUTPUT.tar
set -eu

output=${1:?usage: bootstrap-base.sh OUTPUT.tar}
suite=bookworm
packages='mmdebstrap debian-archive-keyring'

say() { echo "bootstrap-base: $*" >&2; }

ensure_tool() {
    if command -v mmdebstrap >/dev/null && [ -e /usr/share/keyrings/debian-archive-keyring.gpg ]; then
        return
    fi
    if ! command -v apt-get >/dev/null; then
        say "mmdebstrap and Debian's archive keys are needed, and there is no apt-get to install them"
        say "on a machine that reaches an image registry run: docker pull debian:$suite-slim"
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        say "mmdebstrap is needed; run: sudo apt-get install --yes $packages"
        exit 1
    fi
    say "installing $packages"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2
    # shellcheck disable=SC2086 # one word a package
    apt-get install --yes -qq --no-install-recommends $packages >&2
}

# Prints sources.list lines for the suite from this Debian's own mirrors; nothing on another
# system or where apt has never fetched its lists, and then mmdebstrap takes its default.
own_sources() {
    command -v apt-get >/dev/null || return 0
    (
        . /etc/os-release
        [ "${ID:-}" = debian ] || exit 0
        apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(CODENAME) $(REPO_URI)' |
            awk -v own="$VERSION_CODENAME" -v suite="$suite" '
                $1 == "Packages" && $2 == "main" && index($3, own) == 1 {
                    rest = substr($3, length(own) + 1)
                    if (rest == "" || rest == "-updates" || rest == "-security")
                        print "deb", $4, suite rest, "main"
                }' | sort -u
    )
}

ensure_tool
sources=$(own_sources)
proxy=
if command -v apt-config >/dev/null; then
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
fi

# The slim image's exclusions; licences stay. The files that mmdebstrap copies from this machine
# (resolver, host name, proxy) are taken out again. Layers need no fsync a file.
set -- --variant=minbase --include=ca-certificates \
    --dpkgopt=force-unsafe-io \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --aptopt='Acquire::Languages "none"' \
    --customize-hook='rm -f "$1/etc/resolv.conf" "$1/etc/hostname"' \
    --customize-hook='sed -i /Proxy/d "$1/etc/apt/apt.conf.d/99mmdebstrap"'
if [ -n "$proxy" ]; then
    set -- "$@" --aptopt="Acquire::http::Proxy \"$proxy\""
fi

say "fetching Debian $suite"
if [ -n "$sources" ]; then
    printf '%s\n' "$sources" | mmdebstrap "$@" "$suite" "$output" -
else
    mmdebstrap "$@" "$suite" "$output"
fi
