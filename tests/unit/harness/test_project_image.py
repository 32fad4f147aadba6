import functools

import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.confirmation.answers import BlanketConfirmer, NobodyConfirmer, ScriptedConfirmer
from orchestrator.confirmation.gate import Answer
from orchestrator.errors import ConfigError
from orchestrator.harness.image_question import TOOL
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project_image import ProjectAsker, is_dockerfile
from orchestrator.harness.trust import TrustStore
from orchestrator.policy.load import load_policy
from tests.support.images import drop_image

YES, NO = Answer(yes=True, by="terminal"), Answer(yes=False, by="terminal")
DEVCONTAINER = """{"build": {"dockerfile": "Dockerfile"}, "features": {},
 "containerEnv": {"GREETING": "hi", "LD_PRELOAD": "/evil.so", "PATH": "${containerEnv:PATH}:/own"},
 "postCreateCommand": "make"}"""


@pytest.fixture
def described(project, sandbox_image):
    """A project that describes an image upon one that the engine has."""
    folder = project / ".devcontainer"
    folder.mkdir()
    (folder / "devcontainer.json").write_text(DEVCONTAINER)
    (folder / "Dockerfile").write_text(f"FROM {sandbox_image}\nRUN echo baked > /baked\n")
    return project


class Scene:
    """One project, asked about in one way."""

    def __init__(self, project, paths, confirmer, policy="default"):
        self.options = functools.partial(RunOptions, "x", project, "scripted:x")
        self.notes = []
        self.confirmer = confirmer
        found = load_policy(
            (policy,), search=asset("policies"), user_file=paths.config / "policy.yaml"
        )
        self.asker = ProjectAsker(found, paths, confirmer, self.notes.append)

    def chosen(self, **options):
        return anyio.run(self.asker.chosen, self.options(**options))


class Kept(ScriptedConfirmer):
    """Answers as a person at a terminal would, and keeps what was asked."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    async def ask(self, question, *, timeout_s):
        await super().ask(question, timeout_s=timeout_s)
        return self.answer


@pytest.mark.docker
def test_project_image_is_used_after_a_yes(described, paths, engine):
    """Built, with its variables and its first command; the host's and the hooks are left out."""
    confirmer = Kept(YES)
    scene = Scene(described, paths, confirmer)

    found = scene.chosen(environment={"GREETING": "by flag"})
    try:
        again = scene.chosen()
        assert engine.api.inspect_image(found.options.image)["Config"]["Labels"]
    finally:
        drop_image(engine, found.options.image)

    assert found.options.image.startswith("glovebox/project:")
    assert found.commands == ("make",)
    assert found.options.environment["GREETING"] == "by flag"
    assert found.options.environment["PATH"].endswith(":/own")
    assert found.options.environment["PATH"].startswith("/usr/local")
    assert "LD_PRELOAD" not in found.options.environment
    assert any("LD_PRELOAD is left out" in note for note in scene.notes)
    assert any("features are not installed" in note for note in scene.notes)
    assert found.facts["used"] == "yes"
    assert (again.options.image, len(confirmer.asked)) == (found.options.image, 1)


def test_question_shows_everything_that_goes_in(described, paths):
    """The Dockerfile whole, the other file, the digest, the base, and what runs first."""
    confirmer = Kept(NO)
    found = Scene(described, paths, confirmer).chosen()

    [question] = confirmer.asked
    assert question.tool == TOOL
    assert question.subject == (described / ".devcontainer/Dockerfile").read_text()
    assert DEVCONTAINER in question.body
    notes = "\n".join(question.decision.notes)
    assert question.digest in notes
    assert "glovebox/sandbox:" in notes
    assert "runs first, in the box: make" in notes
    assert "features are not installed" in notes
    assert question.decision.unyielding
    assert found.facts == {
        "file": ".devcontainer/Dockerfile",
        "digest": question.digest,
        "used": "no",
    }


def test_answer_is_remembered_until_something_changes(described, paths):
    """A no as well: nobody wants to be asked each time."""
    confirmer = Kept(NO)
    scene = Scene(described, paths, confirmer)
    scene.chosen()
    scene.chosen()
    assert len(confirmer.asked) == 1

    (described / ".devcontainer/devcontainer.json").write_text(DEVCONTAINER + "\n")
    assert scene.chosen().options.image is None
    assert len(confirmer.asked) == 2


@pytest.mark.parametrize("confirmer", [NobodyConfirmer(), BlanketConfirmer(NobodyConfirmer())])
def test_nobody_there_means_not_used(described, paths, confirmer):
    """Nor does a blanket yes answer; the note names the command, and nothing is remembered."""
    scene = Scene(described, paths, confirmer)

    found = scene.chosen()

    assert (found.options.image, found.commands) == (None, ())
    assert f"glovebox trust {described}" in scene.notes[0]
    assert TrustStore(paths).projects() == []


@pytest.mark.parametrize("policy", ["untrusted-repo", "strict"])
def test_closed_policies_do_not_even_ask(described, paths, policy):
    """Whatever was answered under another one."""
    confirmer = Kept(YES)
    scene = Scene(described, paths, confirmer, policy)

    assert scene.chosen().options.image is None
    assert confirmer.asked == []
    assert "denies it" in scene.notes[0]
    with pytest.raises(ConfigError, match="builds no image of a project"):
        scene.chosen(image="./.devcontainer/Dockerfile")


def test_named_image_makes_the_projects_own_no_matter(described, paths):
    """The flag, or the policy, has said which."""
    confirmer = Kept(YES)

    assert Scene(described, paths, confirmer).chosen(image="debian:12").options.image == "debian:12"
    assert confirmer.asked == []


def test_named_dockerfile_needs_a_yes_too(described, paths):
    """It may be the repository's; left out silently it would be another image than was asked for."""
    scene = Scene(described, paths, NobodyConfirmer())

    with pytest.raises(ConfigError, match="nobody has said yes") as caught:
        scene.chosen(image="./.devcontainer/Dockerfile")
    assert f"glovebox trust {described} --image" in caught.value.hint


@pytest.mark.docker
def test_named_dockerfile_is_built(described, paths, engine):
    """Its own directory is the context."""
    found = Scene(described, paths, Kept(YES)).chosen(image="./.devcontainer/Dockerfile")
    try:
        labels = engine.api.inspect_image(found.options.image)["Config"]["Labels"]
    finally:
        drop_image(engine, found.options.image)

    assert labels["glovebox.source"].endswith("/.devcontainer/Dockerfile")
    assert found.commands == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "expected JSON"), ('{"build": {"dockerfile": "../../x"}}', "leads out")],
)
def test_broken_file_keeps_nobody_from_working(project, paths, text, words):
    """It is told, escaped, and the usual image is used."""
    (project / ".devcontainer.json").write_text(text)
    scene = Scene(project, paths, Kept(YES))

    assert scene.chosen().options.image is None
    assert words in scene.notes[0]


def test_project_that_describes_nothing_is_not_asked_about(project, paths):
    """No question, no note, nothing for the record."""
    scene = Scene(project, paths, Kept(YES))

    found = scene.chosen()

    assert (found.options, found.facts, scene.notes) == (scene.options(), {}, [])


@pytest.mark.parametrize(
    ("image", "path"),
    [
        ("./Dockerfile", "/p/Dockerfile"),
        ("/x/Dockerfile", "/x/Dockerfile"),
        ("debian:12", None),
        ("docker/Dockerfile", None),
        (None, None),
    ],
)
def test_path_is_told_by_how_it_begins(tmp_path, image, path):
    """A repository of that name must not become a build because a folder has it too."""
    found = is_dockerfile(image, tmp_path / "p")

    assert (found is None) == (path is None)
    if path is not None:
        assert str(found).endswith(path)
