"""The engines that are tried, and how each is started; what cannot be had here says why."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.certificates import write_certificates
from tests.conformance.daemons import (
    ALONE,
    Missing,
    Running,
    docker_daemon,
    need,
    need_root,
    started,
)

ROOTLESS_USER = "glovebox-rootless"
TLS_PORT, SSH_PORT = 2376, 2222
PODMAN_SETTINGS = '[engine]\nruntime = "runc"\n'

Start = Callable[[Path], AbstractContextManager[Running]]


@dataclass(frozen=True)
class Engine:
    """One row to try."""

    name: str
    start: Start
    loads: bool = True
    """True where the image has to be brought to it."""
    lacking: frozenset[str] = frozenset()
    """Required controls that it is known to lack, for which a session must be refused."""
    attacked: bool = True
    """False where an attack would hit this machine, for want of limits."""
    without: dict[str, str] = field(default_factory=dict)
    """Test to the reason why it says nothing about this engine."""


@contextmanager
def present(_folder: Path) -> Iterator[Running]:
    """Return the engine that is used every day."""
    yield Running(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"))


@contextmanager
def gvisor(folder: Path) -> Iterator[Running]:
    """Run gVisor as a daemon's own runtime; RUNSC may name another binary."""
    runtime = {"path": os.environ.get("RUNSC") or need("runsc"), "runtimeArgs": ["--network=none"]}
    config = {"runtimes": {"runsc": runtime}, "default-runtime": "runsc"}
    with docker_daemon(folder, **config) as running:
        yield running


@contextmanager
def remapped(folder: Path) -> Iterator[Running]:
    """Run containers whose root is a plain user of the host."""
    need_root()
    with docker_daemon(folder, "--userns-remap=default") as running:
        yield running


@contextmanager
def rootless(folder: Path) -> Iterator[Running]:
    """Run a daemon of a plain user's own."""
    need_root()
    for program in ("rootlesskit", "dockerd", "newuidmap"):
        need(program)
    with _plain_user() as user:
        run = folder / "run"
        for place in (folder, run, folder / "data"):
            place.mkdir(exist_ok=True)
            os.chown(place, user.pw_uid, user.pw_gid)
        inner = (
            f"rm -f /run/docker /run/containerd; exec dockerd --rootless --data-root {folder}/data"
            f" --exec-root {run}/exec --pidfile {run}/pid -H unix://{run}/sock {' '.join(ALONE)}"
        )
        script = (
            f"export HOME={user.pw_dir} XDG_RUNTIME_DIR={run} PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
            f"exec setpriv --reuid {user.pw_uid} --regid {user.pw_gid} --init-groups rootlesskit"
            f" --net=host --state-dir={run}/kit --copy-up=/etc --copy-up=/run"
            f" --propagation=rslave sh -c '{inner}'"
        )
        with started(script, folder, socket=run / "sock"):
            yield Running(f"unix://{run}/sock")


@contextmanager
def _plain_user() -> Iterator[pwd.struct_passwd]:
    """Make a user with ids to map, for as long as it is needed."""
    subprocess.run(["useradd", "--create-home", ROOTLESS_USER], check=True)
    try:
        yield pwd.getpwnam(ROOTLESS_USER)
    finally:
        subprocess.run(["userdel", "--remove", ROOTLESS_USER], check=True, capture_output=True)


@contextmanager
def podman(folder: Path) -> Iterator[Running]:
    """Run Podman's service of Docker's API."""
    program = need("podman")
    need("runc")
    (folder / "containers.conf").write_text(PODMAN_SETTINGS)
    script = (
        f"export CONTAINERS_CONF={folder}/containers.conf\n"
        f"exec {program} --root {folder}/data --runroot {folder}/run"
        f" system service --time=0 unix://{folder}/sock"
    )
    with started(script, folder, socket=folder / "sock"):
        yield Running(f"unix://{folder}/sock")


@contextmanager
def encrypted(folder: Path) -> Iterator[Running]:
    """Run an engine behind TCP with certificates on both sides."""
    write_certificates(folder / "tls")
    words = [f"--tls{name}={folder}/tls/{file}" for name, file in _DAEMON_FILES.items()]
    more = ["--tlsverify", *words, "-H", f"tcp://127.0.0.1:{TLS_PORT}"]
    with docker_daemon(folder, *more) as running:
        environ = {"DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(folder / "tls")}
        yield Running(f"tcp://127.0.0.1:{TLS_PORT}", environ, running.network_of)


_DAEMON_FILES = {"cacert": "ca.pem", "cert": "server-cert.pem", "key": "server-key.pem"}


@contextmanager
def context(folder: Path) -> Iterator[Running]:
    """Reach the same kind of engine by the name of a docker context alone."""
    with encrypted(folder) as running:
        environ = {"DOCKER_CONFIG": str(folder / "config"), "DOCKER_CONTEXT": "conformance"}
        tls = folder / "tls"
        endpoint = f"host={running.url},ca={tls}/ca.pem,cert={tls}/cert.pem,key={tls}/key.pem"
        # The SDK finds contexts beside this file alone, which the first `docker context use` writes.
        (folder / "config").mkdir()
        (folder / "config" / "config.json").write_text("{}")
        words = [need("docker"), "context", "create", "conformance", "--docker", endpoint]
        subprocess.run(
            words,
            env={"PATH": os.environ["PATH"], "DOCKER_CONFIG": environ["DOCKER_CONFIG"]},
            check=True,
            capture_output=True,
        )
        yield Running("", environ, running.network_of)


@contextmanager
def over_ssh(folder: Path) -> Iterator[Running]:
    """Reach the everyday engine through a secure shell on the loopback."""
    server = need("sshd")
    need_root()
    if os.environ.get("DOCKER_HOST"):
        raise Missing("DOCKER_HOST is set; the server's side would not have it")
    for name in ("host", "user"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(key, check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    Path("/run/sshd").mkdir(exist_ok=True)
    (folder / "sshd.conf").write_text(
        f"Port {SSH_PORT}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nStrictModes no\n"
        f"PidFile {folder}/pid\nAuthorizedKeysFile {folder}/authorized\nUsePAM no\n"
        "PermitRootLogin prohibit-password\nMaxStartups 100\n"
    )
    # The client has no option for another configuration, and reads root's own: hence a wrapper.
    (folder / "ssh.conf").write_text(
        f"IdentityFile {folder}/user\nStrictHostKeyChecking accept-new\n"
        f"UserKnownHostsFile {folder}/known\nLogLevel ERROR\n"
    )
    wrapper = folder / "bin" / "ssh"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {need("ssh")} -F {folder}/ssh.conf "$@"\n')
    wrapper.chmod(0o755)
    process = subprocess.Popen(
        [server, "-D", "-e", "-f", str(folder / "sshd.conf")], stderr=subprocess.DEVNULL
    )
    try:
        path = f"{wrapper.parent}:{os.environ['PATH']}"
        yield Running(f"ssh://root@127.0.0.1:{SSH_PORT}", {"PATH": path})
    finally:
        process.terminate()
        process.wait()


_GVISOR = "commands call gVisor's kernel: there is no filter that could answer"
_BOMB = "a fork bomb meets the host's limit, and that ends the box: contained, but the session ends"
_WRITING = [
    f"test_real_box_keeps_the_contract[check_{what}-{way}]"
    for what in ("files", "refusals")
    for way in ("socket", "stdio")
]
CGROUPS_2 = Path("/sys/fs/cgroup/cgroup.controllers").exists()
ENGINES = (
    Engine("docker", present, loads=False),
    Engine(
        "gvisor",
        gvisor,
        without={
            "test_every_refused_call_is_refused": _GVISOR,
            "test_only_ordinary_sockets_open": _GVISOR,
            "test_other_entry_points_are_closed": _GVISOR,
            "test_nobody_else_can_be_become": "its status file has no NoNewPrivs; the posture asks",
            "test_memory_hog_ends_as_an_error_of_its_call": "it counts no kills: a hog just dies",
            "test_fork_bomb_ends_and_the_session_goes_on": _BOMB,
            "test_another_call_survives_a_fork_bomb": _BOMB,
            "test_no_file_of_the_system_opens_for_writing": "a device node made in it is gVisor's own",
            "test_the_server_cannot_be_touched": "see the control server_out_of_reach",
        },
    ),
    Engine("userns", remapped),
    Engine(
        "rootless",
        rootless,
        lacking=frozenset()
        if CGROUPS_2
        else frozenset({"pids_limit", "memory_limit", "cpu_limit"}),
        attacked=CGROUPS_2,
    ),
    # Its API of Docker drops the wish for a group namespace, and version 1 has none by default.
    Engine(
        "podman",
        podman,
        # Its scratch directories belong to root: a command could not write in its own home.
        lacking=frozenset({"disk_watch"} if CGROUPS_2 else {"disk_watch", "private_namespaces"}),
        attacked=False,
        without=dict.fromkeys(_WRITING, "nothing can be written there: see the control disk_watch"),
    ),
    Engine("tls", encrypted),
    Engine("context", context),
    Engine("ssh", over_ssh, loads=False),
)
