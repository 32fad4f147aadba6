import pytest

from orchestrator.schema.request import ExecRequest

pytestmark = pytest.mark.docker


def test_command_starts_with_a_clean_slate(stage):
    """Environment, signals, umask, standard input, limits and session are all set on purpose."""
    text = stage.output(
        "grep SigIgn /proc/self/status; umask; readlink /proc/self/fd/0; ulimit -c; ulimit -f; "
        "cat /proc/self/oom_score_adj; ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo leader"
    )

    assert text.split()[1:] == [
        "0" * 16, "0022", "/dev/null", "0", "524288", "1000", "leader",
    ]  # fmt: skip


def test_environment_is_the_listed_one(stage):
    """What the spec and the image list is there, and nothing else."""
    text = stage.output("env", environment={"COLOUR": "green", "HOME": "/workspace"})
    names = {line.split("=")[0] for line in text.splitlines()}

    assert "COLOUR=green" in text
    assert "HOME=/workspace" in text
    assert names <= {
        "PATH", "LC_CTYPE", "TERM", "HOME", "USER", "LOGNAME", "SHELL", "COLOUR", "PWD", "SHLVL", "_",
        "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS",
    }  # fmt: skip


def test_broken_pipe_ends_quietly(stage):
    """SIGPIPE works as in any shell."""
    assert stage.output("yes | head -1; echo ${PIPESTATUS[0]}") == "y\n141\n"


@pytest.mark.parametrize("size", [50_000, 100_000, 131_000])
def test_long_command_runs(stage, size):
    """As long as the kernel takes it; pipes are smaller than that."""
    assert stage.output(f"echo {'x' * size} | wc -c") == f"{size + 1}\n"


async def answer(scene, command="true", cwd="/workspace"):
    return await scene.box.execute(ExecRequest(command, cwd, 10.0))


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"command": "true" + " " * 140_000}, "write it to a file first"),
        ({"command": "echo a\0b"}, "without NUL"),
        ({"cwd": "/workspace/missing"}, "/workspace/missing: No such file"),
        ({"cwd": "/glove"}, "/glove: Permission denied"),
    ],
    ids=["long", "nul", "missing-directory", "closed-directory"],
)
def test_command_that_cannot_start_says_why(stage, request_, words):
    """The reason is an error of the call, and the next call works."""

    async def scene(scene):
        return await answer(scene, **request_), await scene.output("echo next")

    refused, following = stage.play(scene)

    assert words in refused.error
    assert refused.code == "invalid"
    assert following == "next\n"


def test_undecodable_text_is_passed_as_it_came(stage):
    """Bytes that are no text reach the command as bytes."""
    assert stage.output("printf '\udcff' | od -An -tx1 | tr -d ' '") == "ff\n"
