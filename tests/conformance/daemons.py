"""Second engines for a while: each in a network of its own, so that the first is left alone.

A daemon that starts without a bridge in the host's network would delete the first engine's.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

START_S = 40.0
ALONE = ("--bridge=none", "--iptables=false", "--ip6tables=false")


class Missing(Exception):  # noqa: N818 - reads as what it is
    """Raised where this machine cannot run an engine; the text says why."""


@dataclass(frozen=True)
class Running:
    """An engine that answers."""

    url: str
    environ: dict[str, str] = field(default_factory=dict)
    network_of: int | None = None
    """Process in whose network it is to be asked."""


def need(program: str) -> str:
    """Return where a program is; Missing where it is not installed."""
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if found is None:
        raise Missing(f"{program} is not installed")
    return found


def need_root() -> None:
    """Raise Missing for a plain user: daemons and networks are root's."""
    if os.geteuid() != 0:
        raise Missing("needs root, to start a second engine")


@contextmanager
def started(script: str, folder: Path, *, socket: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a shell script in a network of its own until the block ends; waits for its socket."""
    need_root()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", f"ip link set lo up\n{script}"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + START_S
        while not socket.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                words = (folder / "log").read_text(errors="replace").strip().splitlines()
                raise Missing("it did not start: " + " / ".join(words[-2:])[:300])
            time.sleep(0.1)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def docker_daemon(folder: Path, *more: str, **config: object) -> Iterator[Running]:
    """Run a Docker daemon with this configuration."""
    program = need("dockerd")
    (folder / "daemon.json").write_text(json.dumps(config))
    words = [
        *(program, "--config-file", str(folder / "daemon.json")),
        *("--data-root", str(folder / "data"), "--exec-root", str(folder / "exec")),
        *("--pidfile", str(folder / "pid"), "-H", f"unix://{folder}/sock"),
        *ALONE,
        *more,
    ]
    with started("exec " + " ".join(words), folder, socket=folder / "sock") as process:
        yield Running(f"unix://{folder}/sock", network_of=process.pid)


def load(url: str, archive: Path) -> None:
    """Give an engine the sandbox image."""
    words = [need("docker"), "-H", url, "load", "--quiet", "--input", str(archive)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"it does not take the image: {done.stderr.strip()[-300:]}")
