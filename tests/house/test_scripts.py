import shutil
import socket
import stat
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

TOOLS = (
    "awk",
    "cat",
    "dirname",
    "grep",
    "realpath",
    "sed",
    "sh",
    "sort",
    "tail",
    "timeout",
    "touch",
)


@dataclass
class Stage:
    """A machine of stand-in commands, on which a script believes whatever it asks."""

    folder: Path

    def __post_init__(self) -> None:
        (self.folder / "bin").mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, f"{tool} is needed to run the scripts"
            (self.folder / "bin" / tool).symlink_to(found)
        self.command("sleep", "exit 0")

    def command(self, name: str, body: str) -> None:
        """Put a command on the machine that logs its call and then runs ``body``."""
        path = self.folder / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.log}"\n{body}\n')
        path.chmod(0o755)

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def up(self) -> Path:
        """The stand-in engine answers while this file is there."""
        return self.folder / "up"

    def engine(self) -> None:
        """Add a docker command that answers when the engine is up, and root's own commands."""
        self.command("docker", f'test -e "{self.up}"')
        self.command("python3", "echo '[Errno 2] No such file or directory'")
        self.command("id", "echo 0")
        self.command("apt-get", "exit 0")
        self.command("setsid", f'touch "{self.up}"; exec {shutil.which("sleep")} 2')
        self.command("systemctl", f'touch "{self.up}"')

    def called(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def run(
        self, script: Path, *arguments: str, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", str(script), *arguments],
            env={
                "PATH": str(self.folder / "bin"),
                "DOCKERD_LOG": str(self.folder / "dockerd.log"),
                **environ,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
def setup_engine(root: Path, stage: Stage) -> Path:
    stage.engine()
    return root / "sandbox-image" / "setup-engine.sh"


@pytest.fixture
def bootstrap(root: Path) -> Path:
    return root / "sandbox-image" / "bootstrap-base.sh"


def test_scripts_parse_and_can_be_run(tracked):
    """Every shell script is executable, names its shell and has no syntax error."""
    scripts = [
        path for path in tracked if path.read_bytes().startswith((b"#!/bin/sh", b"#!/bin/bash"))
    ]
    broken = []
    for path in scripts:
        shell = path.read_text().partition("\n")[0].removeprefix("#!")
        parsed = subprocess.run([shell, "-n", str(path)], check=False, capture_output=True)
        if parsed.returncode != 0 or not path.stat().st_mode & stat.S_IXUSR:
            broken.append(str(path))

    assert len(scripts) >= 5
    assert broken == []


def test_answering_engine_is_left_alone(stage, setup_engine):
    """Where an engine answers nothing is installed, started or said."""
    stage.up.touch()
    result = stage.run(setup_engine)

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert stage.called() == ["docker version"]


def test_root_without_engine_installs_and_starts_one(stage, setup_engine):
    """As root the script leaves an engine that answers."""
    result = stage.run(setup_engine)
    installs = [call for call in stage.called() if call.startswith("apt-get")]

    assert result.returncode == 0
    assert "the engine answers" in result.stderr
    assert [call.split()[1] for call in installs] == ["update", "install"]
    assert installs[1].endswith("docker.io")


def test_installed_engine_is_only_started(stage, setup_engine):
    """A daemon that is there but not running is not installed again."""
    stage.command("dockerd", "exit 0")
    result = stage.run(setup_engine)

    assert result.returncode == 0
    assert not [call for call in stage.called() if call.startswith("apt-get")]


def test_engine_that_dies_is_a_failure_with_its_last_words(stage, setup_engine):
    """A daemon that ends at once is reported with what it said, and not waited for."""
    for name in ("setsid", "systemctl"):
        stage.command(name, "echo no iptables here")
    result = stage.run(setup_engine)
    naps = [call for call in stage.called() if call.startswith("sleep")]

    assert result.returncode == 1
    assert "still does not answer" in result.stderr
    if "systemctl enable --now docker" not in stage.called():
        assert "no iptables here" in result.stderr
        assert len(naps) < 10


def test_plain_user_is_told_the_one_command(stage, setup_engine):
    """Without root nothing is tried; the last line can be copied."""
    stage.command("id", "echo 1000")
    result = stage.run(setup_engine)

    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == f"setup-engine: run: sudo sh {setup_engine}"
    assert not [call for call in stage.called() if call.startswith("apt-get")]


def test_user_outside_the_group_is_told_to_join(stage, setup_engine):
    """A running engine that refuses this user needs no installation."""
    stage.command("id", "echo 1000")
    stage.command("python3", "echo '[Errno 13] Permission denied'")
    result = stage.run(setup_engine)

    assert result.returncode == 1
    assert "usermod -aG docker" in result.stderr


def test_named_engine_is_never_replaced(stage, setup_engine):
    """Whoever set DOCKER_HOST wants that engine and no other."""
    result = stage.run(setup_engine, DOCKER_HOST="unix:///elsewhere.sock")

    assert result.returncode == 1
    assert "DOCKER_HOST" in result.stderr
    assert not [call for call in stage.called() if call.startswith("apt-get")]


def test_machine_without_apt_is_told_what_to_install(stage, setup_engine):
    """Other systems have their own ways; the need is named."""
    (stage.folder / "bin" / "apt-get").unlink()
    result = stage.run(setup_engine)

    assert result.returncode == 1
    assert "install Docker Engine 20.10 or newer" in result.stderr


def test_check_alone_changes_nothing(stage, setup_engine):
    """With --check even root only looks."""
    result = stage.run(setup_engine, "--check")

    assert result.returncode == 1
    assert not [call for call in stage.called() if call.split()[0] in {"apt-get", "setsid"}]


@pytest.mark.parametrize(("answer", "code"), [("200 OK", 0), ("503 Busy", 1)])
def test_engine_is_asked_without_the_docker_command(stage, root, answer, code):
    """Where no docker command is, the script asks the socket itself and reads the answer."""
    (stage.folder / "bin" / "python3").symlink_to(sys.executable)
    path = stage.folder / "engine.sock"
    script = root / "sandbox-image" / "setup-engine.sh"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            link, _ = listener.accept()
            with link:
                assert link.recv(200).startswith(b"GET /_ping ")
                link.sendall(f"HTTP/1.0 {answer}\r\n\r\n".encode())

        server = threading.Thread(target=serve)
        server.start()
        result = stage.run(script, "--check", DOCKER_HOST=f"unix://{path}")
        server.join(timeout=10)

    assert result.returncode == code
    assert ("503" in result.stderr) == (code == 1)


def test_base_takes_this_debians_own_mirror(stage, bootstrap, tmp_path):
    """The mirrors are those of the machine's apt, for the suites that the base needs."""
    release = Path("/etc/os-release").read_text()
    if "ID=debian" not in release.split():
        pytest.skip("this machine is no Debian, and the script reads /etc/os-release")
    codename = next(
        line.partition("=")[2] for line in release.splitlines() if "VERSION_CODENAME" in line
    )
    targets = [
        f"Packages main {codename} http://mirror.example/debian/",
        f"Packages main {codename}-security http://mirror.example/security/",
        f"Packages main {codename}-backports http://mirror.example/debian/",
        f"Packages contrib {codename} http://mirror.example/debian/",
        "Packages main nodistro http://other.example/",
    ]
    listing = "\n".join(targets)
    stage.command("apt-get", f"cat <<'END'\n{listing}\nEND")
    stage.command("apt-config", "exit 0")
    stage.command("mmdebstrap", f'cat >"{tmp_path}/sources"')

    assert stage.run(bootstrap, f"{tmp_path}/base.tar").returncode == 0
    assert (tmp_path / "sources").read_text().splitlines() == [
        "deb http://mirror.example/debian/ bookworm main",
        "deb http://mirror.example/security/ bookworm-security main",
    ]


def test_base_without_its_tool_names_the_one_command(stage, bootstrap, tmp_path):
    """A plain user is told what to install; nothing is written."""
    stage.command("apt-get", "exit 0")
    stage.command("id", "echo 1000")
    result = stage.run(bootstrap, f"{tmp_path}/base.tar")

    assert result.returncode == 1
    assert "sudo apt-get install --yes mmdebstrap" in result.stderr
    assert not (tmp_path / "base.tar").exists()
