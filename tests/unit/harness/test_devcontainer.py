import json

import pytest

from orchestrator.errors import UsageError
from orchestrator.harness.devcontainer import find_devcontainer, parse_devcontainer
from orchestrator.harness.devcontainer_values import container_variables

PATH = ".devcontainer/devcontainer.json"


def parsed(path=PATH, **data):
    return parse_devcontainer(json.dumps(data), path=path)


def test_comments_and_trailing_commas_are_fine():
    """Editors write them."""
    found = parse_devcontainer('{\n// ours\n"image": "debian:12", /* x */\n}', path=PATH)

    assert (found.image, found.dockerfile, found.notices) == ("debian:12", None, ())


def test_build_is_relative_to_the_file():
    """Context and Dockerfile, in the present and in the old form."""
    found = parsed(
        build={"dockerfile": "Dockerfile", "context": "..", "args": {"A": "1"}, "target": "t"}
    )

    assert (found.dockerfile, found.context) == (".devcontainer/Dockerfile", ".")
    assert (found.args, found.target, found.image) == ({"A": "1"}, "t", None)
    old = parsed(".devcontainer.json", dockerFile="docker/Dockerfile", context="docker")
    assert (old.dockerfile, old.context) == ("docker/Dockerfile", "docker")
    whole = parsed(build={"dockerfile": "D", "context": "${localWorkspaceFolder}/sub"})
    assert whole.context == "sub"


@pytest.mark.parametrize("path", ["../../etc/x", "/etc/x", "a/../../../x"])
def test_paths_that_lead_out_are_refused(path):
    """The project is all there is."""
    with pytest.raises(UsageError, match="leads out of the project"):
        parsed(build={"dockerfile": path})
    with pytest.raises(UsageError, match="leads out of the project"):
        parsed(build={"dockerfile": "D", "context": path})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "expected JSON with comments"),
        ("[]", r"expected an object \{…\}, got an empty list"),
        ('{"image": 5}', "image: "),
        ('{"image": "x", "containerEnv": []}', "containerEnv"),
        ("{}", "got neither of them"),
        ('{"dockerComposeFile": "c.yml"}', "Compose files are not supported"),
    ],
)
def test_nonsense_is_named_with_its_place(text, words):
    """A file of somebody else's must not end in a traceback."""
    with pytest.raises(UsageError, match=words) as caught:
        parse_devcontainer(text, path=PATH)
    assert caught.value.message.startswith(PATH)


def test_what_is_not_followed_is_told():
    """Features, users, commands of the host, and every key that is not known."""
    found = parsed(
        image="x",
        name="n",
        customizations={},
        features={},
        remoteUser="u",
        initializeCommand="i",
        forwardPorts=[1],
        runArgs=["--privileged"],
    )

    assert [notice.removeprefix(f"{PATH}: ") for notice in found.notices] == [
        "features are not installed; put what you need into the Dockerfile",
        "remoteUser is not used: commands run as your own uid",
        "initializeCommand would run on this machine and never does",
        "not used: forwardPorts, runArgs",
    ]


def test_variables_of_the_host_never_pass(monkeypatch):
    """Only a default that the file itself gives, and a notice."""
    monkeypatch.setenv("TOKEN", "secret")
    found = parsed(
        image="x",
        containerEnv={"A": "${localEnv:TOKEN}", "B": "x${localEnv:NO:y}z", "C": "plain"},
        remoteEnv={"D": "${containerWorkspaceFolder}/bin", "E": None, "F": "${odd:x}", "G H": "x"},
    )

    assert found.environment == {"A": "", "B": "xyz", "C": "plain", "D": "/workspace/bin", "F": ""}
    assert len([notice for notice in found.notices if "left out" in notice]) == 3
    assert any("'G H'" in notice for notice in found.notices)


def test_variables_of_the_image_are_put_in():
    """A longer PATH is the usual one."""
    given = {
        "PATH": "${containerEnv:PATH}:/x",
        "A": "1",
        "B": "${containerEnv:A}${containerEnv:N:n}",
    }

    assert container_variables(given, {"PATH": "/bin"}) == {"PATH": "/bin:/x", "A": "1", "B": "1n"}


@pytest.mark.parametrize(
    ("given", "commands"),
    [
        ("make all", ("make all",)),
        (["echo", "a b"], ("echo 'a b'",)),
        ({"one": "a", "two": ["b", "c"]}, ("a", "b c")),
        ("  ", ()),
        ([], ()),
    ],
)
def test_first_commands_have_three_forms(given, commands):
    """Text for the shell, arguments, or several by name."""
    assert parsed(image="x", postCreateCommand=given).commands == commands


@pytest.mark.parametrize(
    "path",
    [".devcontainer/devcontainer.json", ".devcontainer.json", ".devcontainer/b/devcontainer.json"],
)
def test_file_is_found_in_its_three_places(tmp_path, path):
    """In the order of the specification; of several folders the first by name."""
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text('{"image": "x"}')

    assert find_devcontainer(tmp_path).path == path


def test_project_without_a_file_asks_for_nothing(tmp_path):
    """An empty folder is none either."""
    assert find_devcontainer(tmp_path) is None
    (tmp_path / ".devcontainer").mkdir()
    assert find_devcontainer(tmp_path) is None


def test_link_in_place_of_the_file_is_not_followed(tmp_path):
    """It could point at any file of the host, which would then be shown."""
    (tmp_path / "elsewhere").write_text('{"image": "x"}')
    (tmp_path / ".devcontainer.json").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UsageError, match="cannot be read"):
        find_devcontainer(tmp_path)


def test_folder_that_is_none_asks_for_nothing(tmp_path):
    """Whatever a repository puts there, its runs go on."""
    (tmp_path / ".devcontainer").write_text("x")
    assert find_devcontainer(tmp_path) is None
    (tmp_path / ".devcontainer").unlink()
    (tmp_path / ".devcontainer").symlink_to("/etc")
    assert find_devcontainer(tmp_path) is None


def test_long_file_is_refused_before_it_is_read():
    """The reader takes minutes for a megabyte, and every run would wait for it."""
    with pytest.raises(UsageError, match="expected at most 65536 characters"):
        parse_devcontainer('{"image": "x", "y": [' + "1," * 40_000 + "]}", path=PATH)
