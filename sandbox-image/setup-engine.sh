#!/bin/sh
# Leaves a machine with a container engine that answers. Does nothing where one does; with root it
# installs Debian's package and starts the daemon; without, it names the one command to run.
#
# usage: setup-engine.sh            check, and mend where that needs root and root is had
#        setup-engine.sh --check    check alone
set -eu

url=${DOCKER_HOST:-unix:///var/run/docker.sock}
log=${DOCKERD_LOG:-/var/log/dockerd.log}
daemon=

say() { echo "setup-engine: $*" >&2; }

# Prints "ok", or why not. The docker command knows contexts and ssh; where it is missing, Python asks.
ask_engine() {
    if command -v docker >/dev/null && timeout 15 docker version >/dev/null 2>&1; then
        echo ok
        return
    fi
    python3 - "$url" <<'END'
import socket
import sys

scheme, _, rest = sys.argv[1].partition("://")
try:
    if scheme == "unix":
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(5)
        link.connect(rest)
    elif scheme == "tcp":
        host, _, port = rest.rpartition(":")
        link = socket.create_connection((host, int(port)), timeout=5)
    else:
        sys.exit(print(f"a {scheme} engine needs the docker command"))
    with link:
        link.sendall(b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n")
        answer = link.recv(64)
    print("ok" if b" 200 " in answer else f"got {answer!r} from it")
except (OSError, ValueError) as err:
    print(err)
END
}

install_engine() {
    if command -v dockerd >/dev/null; then
        return
    fi
    if ! command -v apt-get >/dev/null; then
        say "no dockerd here, and no apt-get to install it with; install Docker Engine 20.10 or newer"
        exit 1
    fi
    say "installing Docker Engine (Debian package docker.io)"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2
    apt-get install --yes -qq --no-install-recommends docker.io >&2
}

start_engine() {
    if [ -d /run/systemd/system ]; then
        say "starting the docker service"
        systemctl enable --now docker >&2
        return
    fi
    say "starting dockerd in the background (log: $log)"
    setsid dockerd >>"$log" 2>&1 </dev/null &
    daemon=$!
}

wait_for_engine() {
    waited=0
    while [ "$waited" -lt 60 ]; do
        answer=$(ask_engine)
        if [ "$answer" = ok ]; then
            say "the engine answers"
            return
        fi
        if [ -n "$daemon" ] && ! kill -0 "$daemon" 2>/dev/null; then
            break
        fi
        sleep 1
        waited=$((waited + 1))
    done
    if [ -n "$daemon" ] && [ -r "$log" ]; then
        tail -n 20 "$log" >&2
    fi
    say "the engine at $url still does not answer after $waited s: $answer"
    exit 1
}

answer=$(ask_engine)
if [ "$answer" = ok ]; then
    exit 0
fi
say "no container engine answers at $url: $answer"
if [ "${1:-}" = --check ]; then
    exit 1
fi
if [ -n "${DOCKER_HOST:-}" ]; then
    say "DOCKER_HOST names that engine; start it, or unset DOCKER_HOST"
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    case $answer in
    *"Permission denied"*) say "run: sudo usermod -aG docker $(id -un)   and log in again" ;;
    *) say "run: sudo sh $(realpath "$0")" ;;
    esac
    exit 1
fi
install_engine
# Installing may have started it already.
if [ "$(ask_engine)" != ok ]; then
    start_engine
fi
wait_for_engine
