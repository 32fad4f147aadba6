"""The sandbox image by itself, looked at by a client that is not ours."""

import pytest
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

pytestmark = pytest.mark.docker

WRITABLE = "find / -xdev -type d -writable -not -path '/proc/*' 2>/dev/null"


@pytest.fixture(scope="module")
def look(sandbox_image):
    """Runs one command in a plain container of the image, as the command user."""
    testcontainers_config.ryuk_disabled = True
    container = (
        DockerContainer(sandbox_image)
        .with_command(["sleep", "300"])
        .with_kwargs(network_mode="none", user="1000:1000")
    )
    with container:

        def run(command):
            code, output = container.exec(["sh", "-c", command])
            return code, output.decode()

        yield run


def test_nothing_in_the_image_raises_privileges(look):
    """No set-user-id or set-group-id file: there is nothing to climb on."""
    code, found = look("find / -xdev -perm /6000 -type f 2>/dev/null; echo searched")

    assert found.split() == ["searched"], code


def test_command_user_may_not_write_the_tool_server(look):
    """Its own places are its home, the workspace and scratch, and nothing of the server's."""
    _, found = look(WRITABLE)
    places = set(found.split())

    assert "/home/agent" in places
    assert not [place for place in places if place.startswith(("/opt", "/usr", "/etc", "/glove"))]


def test_command_user_may_not_look_into_the_glove(look):
    """The socket's directory is root's alone."""
    code, _ = look("ls /glove")

    assert code != 0


@pytest.mark.parametrize("program", ["python3", "git", "rg", "node", "make", "gcc", "curl"])
def test_daily_programs_are_there(look, program):
    """An agent can work with what the image has."""
    code, output = look(f"{program} --version")

    assert code == 0, output
