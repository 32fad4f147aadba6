from contextlib import closing

import pytest

from orchestrator.errors import UsageError
from orchestrator.harness.devcontainer import find_devcontainer
from orchestrator.harness.image_inputs import devcontainer_inputs, dockerfile_inputs

HIDDEN = ("**/.env",)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM debian:12\nCOPY a.txt /\n")
    for name in ("a.txt", "b.txt", ".env"):
        (tmp_path / name).write_text(name)
    return tmp_path


def of_file(project):
    with closing(
        dockerfile_inputs(project / "Dockerfile", project=project, hidden=HIDDEN)
    ) as inputs:
        return inputs


def of_devcontainer(project, text):
    (project / ".devcontainer.json").write_text(text)
    with closing(devcontainer_inputs(project, find_devcontainer(project), hidden=HIDDEN)) as inputs:
        return inputs


def test_digest_covers_what_the_build_sees(project):
    """The Dockerfile and what it copies; a file beside it brings no new question."""
    before = of_file(project)
    (project / "b.txt").write_text("other")
    assert of_file(project).digest == before.digest

    (project / "a.txt").write_text("other")
    changed = of_file(project)
    assert changed.digest != before.digest
    (project / "Dockerfile").write_text("FROM debian:11\nCOPY a.txt /\n")
    assert of_file(project).digest not in {before.digest, changed.digest}
    assert (before.names, before.plan.images) == (("a.txt",), ("debian:12",))


def test_digest_covers_the_devcontainer_file(project):
    """Its variables and commands take effect too."""
    build = '"build": {"dockerfile": "Dockerfile"}'
    plain = of_devcontainer(project, f"{{{build}}}")

    assert of_devcontainer(project, f'{{{build}, "postCreateCommand": "x"}}').digest != plain.digest
    assert plain.digest != of_file(project).digest
    image = of_devcontainer(project, '{"image": "debian:12"}')
    assert (image.image, image.context) == ("debian:12", None)
    assert of_devcontainer(project, '{"image": "debian:11"}').digest != image.digest


def test_missing_dockerfile_is_named(project):
    """By the file that asks for it."""
    with pytest.raises(
        UsageError, match=r"\.devcontainer\.json: expected a Dockerfile at None\.txt"
    ):
        of_devcontainer(project, '{"build": {"dockerfile": "None.txt"}}')
    with pytest.raises(UsageError, match="no such file"):
        dockerfile_inputs(project / "nothing", project=project, hidden=())


def test_context_is_ready_to_be_sent(project):
    """It was measured, and stands at its start."""
    with closing(
        dockerfile_inputs(project / "Dockerfile", project=project, hidden=HIDDEN)
    ) as inputs:
        assert inputs.context.tell() == 0
    assert inputs.context.closed


def test_file_of_the_project_is_reached_without_links(project, tmp_path_factory):
    """A link of the repository's could lead to any directory of the host."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "Dockerfile").write_text("FROM x")
    (project / "away").symlink_to(outside)

    with pytest.raises(UsageError, match="no such file, or a link"):
        dockerfile_inputs(project / "away" / "Dockerfile", project=project, hidden=())
    with closing(dockerfile_inputs(outside / "Dockerfile", project=project, hidden=())) as inputs:
        assert inputs.plan.images == ("x",)


@pytest.mark.parametrize("context", ["link", "link/inner", "missing", "a.txt"])
def test_context_is_never_outside_the_project(project, tmp_path_factory, context):
    """A build would copy the host's files into an image, and the box would read them there."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "inner").mkdir()
    (outside / "inner" / "notes.txt").write_text("of the host")
    (project / "link").symlink_to(outside)
    text = f'{{"build": {{"dockerfile": "Dockerfile", "context": "{context}"}}}}'

    with pytest.raises(UsageError, match="reached without a link"):
        of_devcontainer(project, text)


def test_hidden_directory_is_no_way_around_hidden(project):
    """Its files are hidden by where they stand in the project, not in the context."""
    (project / "keys").mkdir()
    (project / "keys" / "id").write_text("secret")
    (project / "Dockerfile").write_text("FROM debian:12\nCOPY . /\n")
    (project / ".devcontainer.json").write_text(
        '{"build": {"dockerfile": "Dockerfile", "context": "keys"}}'
    )

    found = devcontainer_inputs(project, find_devcontainer(project), hidden=("keys/**",))
    with closing(found) as inputs:
        assert inputs.names == ()
