from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from orchestrator.engine.client import Engine, connect
from orchestrator.engine.images import SandboxImage, ensure_sandbox_image

pytestmark = pytest.mark.docker

TOOLS = [
    "awk",
    "bash",
    "cat",
    "curl",
    "find",
    "gcc",
    "git",
    "grep",
    "jq",
    "less",
    "make",
    "node",
    "npm",
    "patch",
    "pip3",
    "ps",
    "python3",
    "rg",
    "sed",
    "tar",
    "unzip",
    "xz",
]

Inside = Callable[..., str]
"""Run a shell line in a fresh container of the image and return what it printed."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with closing(connect()) as connected:
        yield connected


@pytest.fixture(scope="module")
def image(engine: Engine) -> SandboxImage:
    return ensure_sandbox_image(engine, lambda _: None)


@pytest.fixture(scope="module")
def inside(engine: Engine, image: SandboxImage) -> Inside:
    def run(line: str, user: str = "1000:1000") -> str:
        container = engine.api.create_container(
            image.digest,
            ["/bin/sh", "-c", f"exec 2>&1; {line}"],
            user=user,
            host_config=engine.api.create_host_config(network_mode="none"),
        )
        try:
            engine.api.start(container)
            engine.api.wait(container)
            return engine.api.logs(container).decode().strip()
        finally:
            engine.api.remove_container(container, force=True)

    return run


def test_nothing_in_the_image_can_raise_privileges(inside):
    """No file has a set-id bit; the check itself is proved on a file that has one."""
    line = "find / -xdev -perm /6000; touch /tmp/x; chmod 4755 /tmp/x; find /tmp -perm /6000"

    assert inside(line, user="0:0") == "/tmp/x"


def test_no_file_carries_capabilities(inside):
    """A file capability would be as good as a set-id bit."""
    script = (
        "import os; print([p for r, _, fs in os.walk('/usr') for f in fs"
        " if 'security.capability' in os.listxattr(p := os.path.join(r, f), follow_symlinks=False)])"
    )

    assert inside(f'python3 -c "{script}"', user="0:0") == "[]"


def test_commands_cannot_reach_the_socket_directory(inside):
    """Only root may enter the directory above the session's socket."""
    answer = inside("ls /glove/s; stat -c '%U %a' /glove")

    assert "Permission denied" in answer
    assert answer.endswith("root 700")


def test_commands_cannot_change_the_tool_server(inside):
    """The server's code belongs to root and nobody else may write it."""
    assert inside("find /opt /glove -maxdepth 0 ! -user root; find /opt ! -user root") == ""
    assert inside("find /opt ! -type l -perm /022") == ""
    assert inside("ls /opt/glovebox/toolserver") != ""


def test_daily_tools_are_there(inside):
    """What agents reach for is installed."""
    found = inside(f"for tool in {' '.join(TOOLS)}; do command -v $tool || echo lacks $tool; done")

    assert [line for line in found.splitlines() if line.startswith("lacks")] == []
    assert len(found.splitlines()) == len(TOOLS)


def test_python_has_its_daily_modules(inside):
    """Tests, images and virtual environments work without any download."""
    assert inside("python3 -c 'import pytest, PIL, venv, ensurepip' && echo fine") == "fine"


def test_git_accepts_directories_of_other_owners(inside):
    """The workspace may belong to somebody else; the box is the boundary, not the owner."""
    line = "git init -q /tmp/r && chown -R 4242 /tmp/r && git -C /tmp/r status --short && echo fine"

    assert inside(line, user="0:0") == "fine"


def test_user_of_the_box_has_a_name_and_a_home(inside):
    """Programs that ask who they are get an answer."""
    assert inside("whoami; echo ~; locale charmap") == "agent\n/home/agent\nUTF-8"


def test_image_starts_nothing_of_its_own(engine, image):
    """The driver names the command; an entry point would stand before it."""
    config = engine.api.inspect_image(image.digest)["Config"]

    assert not config["Entrypoint"]
    assert not config.get("ExposedPorts")
    assert not config.get("Volumes")


def test_image_holds_no_setting_of_the_builder(engine, image):
    """Neither environment nor history tells of the host that built it."""
    config = engine.api.inspect_image(image.digest)["Config"]
    names = {entry.partition("=")[0] for entry in config["Env"]}

    assert names == {
        "PATH",
        "LANG",
        "SSL_CERT_FILE",
        "REQUESTS_CA_BUNDLE",
        "PIP_CERT",
        "NODE_EXTRA_CA_CERTS",
    }
