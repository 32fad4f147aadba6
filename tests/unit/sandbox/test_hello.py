import json
from dataclasses import replace

import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.hello import command_environment, hello_bytes, parse_ready
from tests.support.boxed_files import TOOLSERVER  # makes the server's modules importable
from tests.support.boxes import small_spec

SPEC = small_spec("image", environment={"COLOUR": "green"}, read_roots=("/opt/data",))


def test_server_understands_the_hello():
    """Both ends of the first message are kept together by this test."""
    assert TOOLSERVER.is_dir()
    from config import parse_config  # noqa: PLC0415 - the server's module, found through the above

    config = parse_config(json.loads(hello_bytes(SPEC, (), token="t", has_socket=True)))

    assert config.workdir == "/workspace"
    assert config.read_roots == ("/opt/data",)
    assert config.limits.disk == SPEC.limits.disk
    assert config.environment["COLOUR"] == "green"


def test_socket_is_named_only_where_there_is_one():
    """A remote box is not sent looking for it."""
    assert json.loads(hello_bytes(SPEC, (), token="t", has_socket=False))["socket"] is None


def test_environment_has_three_sources_and_the_last_wins():
    """The image's variables, the box's own, the spec's; the host's are none of them."""
    spec = replace(SPEC, environment={"HOME": "/elsewhere"})

    found = command_environment(spec, ("PATH=/opt/bin", "HOME=/root", "ODD", "A=b=c"))

    assert (found["PATH"], found["A"], found["HOME"]) == ("/opt/bin", "b=c", "/elsewhere")
    assert "ODD" not in found
    assert set(found) == {"PATH", "LC_CTYPE", "TERM", "HOME", "USER", "LOGNAME", "SHELL", "A"}


HOOKS = [
    "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "BASH_ENV", "BASH_FUNC_ls%%", "ENV", "SHELLOPTS",
    "PS4", "IFS", "CDPATH", "PROMPT_COMMAND", "PYTHONSTARTUP",
]  # fmt: skip
PLACES = ["LD_LIBRARY_PATH", "JAVA_HOME", "GOPATH", "NODE_OPTIONS", "PYTHONPATH", "ENVIRONMENT"]


@pytest.mark.parametrize(
    ("name", "kept"), [(name, False) for name in HOOKS] + [(name, True) for name in PLACES]
)
def test_hooks_of_the_image_do_not_reach_commands(name, kept):
    """What changes the meaning of a command line stays out; where things lie comes in."""
    assert (name in command_environment(SPEC, (f"{name}=x",))) is kept


@pytest.mark.parametrize(
    ("image", "kept"), [("LANG=C.UTF-8", None), ("LANG=de_DE.UTF-8", "de_DE.UTF-8")]
)
def test_locale_is_utf_8_at_little_cost(image, kept):
    """The image's own language stays; the plain one is said in the cheaper way."""
    found = command_environment(SPEC, (image,))

    assert found["LC_CTYPE"] == "C.UTF-8"
    assert found.get("LANG") == kept


def test_ready_is_understood():
    """The answer tells how calls go."""
    ready = parse_ready(b'{"version": 4, "transport": "socket", "problem": null}')

    assert ready.transport == "socket"


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{}",
        b'{"version": 1, "transport": "socket", "problem": null}',
        b'{"version": 4, "transport": "pigeon", "problem": null}',
        b'{"version": 4, "transport": "stdio", "problem": 5}',
    ],
)
def test_other_answer_is_refused_with_a_way_out(payload):
    """An old image is the likely reason, and the hint says what to do."""
    with pytest.raises(BoxError, match="version 4") as caught:
        parse_ready(payload)

    assert "image build" in caught.value.hint
