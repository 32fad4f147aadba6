import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.confirmation.answers import NobodyConfirmer
from orchestrator.confirmation.gate import Answer
from orchestrator.errors import UsageError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project_image import ProjectAsker
from orchestrator.harness.trust import TrustStore
from orchestrator.harness.trusting import answer_project
from orchestrator.policy.load import load_policy


class Person:
    """Says the same to everything."""

    def __init__(self, yes):
        self.yes = yes

    async def ask(self, question, *, timeout_s):  # noqa: ARG002 - the Protocol's form
        return Answer(self.yes, "terminal")


@pytest.fixture
def described(project):
    (project / ".devcontainer.json").write_text('{"image": "debian:12"}')
    return project


def answer(project, paths, confirmer, yes=None):
    policy = load_policy(
        ("default",), search=asset("policies"), user_file=paths.config / "policy.yaml"
    )
    asker = ProjectAsker(policy, paths, confirmer, lambda _line: None)

    async def whole():
        return await answer_project(asker, RunOptions(None, project, ""), yes=yes)

    return anyio.run(whole)


def test_answer_of_a_person_is_kept(described, paths):
    """And a later one takes its place: this is the way to change one's mind."""
    first = answer(described, paths, Person(yes=False))
    second = answer(described, paths, Person(yes=True))

    assert (first.answer, second.answer, second.by) == ("no", "yes", "terminal")
    assert TrustStore(paths).answer(described, second.digest) == second


def test_digest_seen_elsewhere_answers_for_itself_alone(described, paths):
    """A script can say yes to what a person has seen, and to nothing that came after."""
    with pytest.raises(UsageError, match="nobody to ask; its digest is sha256:") as caught:
        answer(described, paths, NobodyConfirmer())
    digest = caught.value.message.rpartition(" ")[2]

    assert answer(described, paths, NobodyConfirmer(), yes=digest).by == "flag"
    (described / ".devcontainer.json").write_text('{"image": "debian:11"}')
    with pytest.raises(UsageError, match="the present digest is"):
        answer(described, paths, NobodyConfirmer(), yes=digest)


def test_project_without_an_image_needs_no_answer(project, paths):
    """There is nothing to trust."""
    assert answer(project, paths, Person(yes=True)) is None
