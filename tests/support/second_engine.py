"""A second Docker Engine of a test's own, which it may stop, freeze and restart as it likes.

It lives in its own network namespace: an engine without a bridge removes the bridge of any other
in the same one. Needs root.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import docker

_UP_S = 60.0
_STEP_S = 0.1


@dataclass
class SecondEngine:
    """One engine below a directory of its own."""

    root: Path
    process: subprocess.Popen | None = None
    options: Sequence[str] = ()
    """More options for dockerd."""

    @property
    def url(self) -> str:
        """Return what ``DOCKER_HOST`` is to be."""
        return f"unix://{self.root}/docker.sock"

    def start(self) -> None:
        """Start it, and return when it answers."""
        with (self.root / "dockerd.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    "unshare", "--net",
                    "dockerd",
                    "--host", self.url,
                    "--data-root", str(self.root / "data"),
                    "--exec-root", str(self.root / "exec"),
                    "--pidfile", str(self.root / "pid"),
                    "--bridge", "none",
                    "--iptables=false",
                    "--ip6tables=false",
                    *self.options,
                ],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self.wait_until_up()

    def wait_until_up(self) -> None:
        """Return when it answers; RuntimeError with its last words when it does not."""
        deadline = time.monotonic() + _UP_S
        while not self.answers():
            over = self.process is not None and self.process.poll() is not None
            if over or time.monotonic() > deadline:
                raise RuntimeError((self.root / "dockerd.log").read_text()[-2000:])
            time.sleep(_STEP_S)

    def answers(self) -> bool:
        """Say whether it can be talked to."""
        with suppress(docker.errors.DockerException, OSError):
            client = docker.DockerClient(self.url, timeout=5)
            try:
                return bool(client.ping())
            finally:
                client.close()
        return False

    def send(self, number: signal.Signals) -> None:
        """Send the daemon a signal; its containers run on until it tidies up."""
        os.kill(self._pid(), number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the daemon and wait for it."""
        if self.process is None:
            return
        with suppress(ProcessLookupError, FileNotFoundError):
            self.send(number)
        self.process.wait(_UP_S)
        self.process = None
        # One that outlives its dockerd keeps the next one from starting its own.
        _kill(f"containerd --config {self.root}")
        (self.root / "exec/containerd/containerd.pid").unlink(missing_ok=True)
        (self.root / "pid").unlink(missing_ok=True)

    def load(self, *names: str) -> None:
        """Bring images over from the shared engine, without a registry."""
        with subprocess.Popen(["docker", "save", *names], stdout=subprocess.PIPE) as saved:
            subprocess.run(
                ["docker", "--host", self.url, "load", "--quiet"],
                stdin=saved.stdout,
                stdout=subprocess.DEVNULL,
                check=True,
            )
        if saved.returncode != 0:
            raise RuntimeError(f"docker save {names} failed")

    def _pid(self) -> int:
        # The daemon itself: unshare runs it in its own place, so the pid is the child's.
        return int((self.root / "pid").read_text())


@contextmanager
def second_engine(root: Path, *options: str) -> Iterator[SecondEngine]:
    """Run one below ``root``, and remove everything of it afterwards."""
    engine = SecondEngine(root, options=options)
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()
        # The shims that a killed daemon left.
        _kill(str(root / "exec"))
        for line in reversed(Path("/proc/self/mountinfo").read_text().splitlines()):
            target = line.split()[4]
            if target.startswith(f"{root}/"):
                subprocess.run(["umount", "--lazy", target], check=False)
        subprocess.run(["rm", "-rf", "--one-file-system", str(root)], check=True)


def _kill(pattern: str) -> None:
    """End every process whose command line has the pattern, and wait until they are gone."""
    deadline = time.monotonic() + _UP_S
    while True:
        found = subprocess.run(
            ["pgrep", "--full", pattern], capture_output=True, text=True, check=False
        )
        if not found.stdout or time.monotonic() > deadline:
            return
        for pid in found.stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(_STEP_S)
