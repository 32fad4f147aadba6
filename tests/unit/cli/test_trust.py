import json
import re

import pexpect
import pytest

from tests.support.world import GLOVEBOX, World


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.project.mkdir()
    (made.project / ".devcontainer.json").write_text('{"image": "debian:12"}')
    return made


def test_digest_answers_for_a_script(world):
    """Shown where there is nobody to ask, given back with --yes, listed, and taken back."""
    refused = world.run("trust")
    digest = re.search("sha256:[0-9a-f]{64}", refused.err)[0]
    given = world.run("trust", "--yes", digest)

    assert (refused.code, refused.out, given.code) == (2, "", 0)
    assert given.out == f"yes {digest}\n"
    [row] = json.loads(world.run("trust", "--list", "--json").out)
    assert row["directory"] == str(world.project)
    assert row["answers"][0]["digest"] == digest
    assert str(world.project) in world.run("trust", "--list").out
    assert world.run("trust", "--revoke").out == "1 forgotten\n"
    assert json.loads(world.run("trust", "--list", "--json").out) == []


def test_without_a_terminal_all_is_shown_that_a_person_would_see(world):
    """Files, build, first commands, digest: on stderr, escaped; nobody answers yes to a digest."""
    described = {
        "build": {"dockerfile": "Dockerfile", "args": {"V": "1"}},
        "postCreateCommand": "make \x1b[2J deps",
    }
    (world.project / ".devcontainer.json").write_text(json.dumps(described))
    (world.project / "Dockerfile").write_text("FROM debian:12\nCOPY tool /opt/\n")
    (world.project / "tool").write_text("x")
    refused = world.run("trust")

    assert (refused.code, refused.out) == (2, "")
    for part in (
        "FROM debian:12",
        "COPY tool /opt/",
        "built without a network, from: debian:12",
        "build argument V=1",
        r"runs first, in the box: make \x1b[2J deps",
        "paths of the project that go in: 1\n┃   tool",
    ):
        assert part in refused.err
    assert "\x1b" not in refused.err
    assert re.search("digest: sha256:[0-9a-f]{64}\n", refused.err)
    assert "there is nobody to ask" in refused.err


def test_word_about_the_directory_is_kept_listed_and_forgotten(world):
    """Given beforehand, it decides the policy of a session without a flag."""
    said = world.run("trust", ".", "--distrust", "--json")
    listed = json.loads(world.run("trust", "--list", "--json").out)
    model = world.script({"text": "done"})
    under = world.run("run", "hi", "-m", model, "--json").of("session_start")[0]["policy"]["name"]
    named = world.run("run", "hi", "-m", model, "--json", "--policy", "default")
    world.run("trust", ".", "--revoke")

    assert json.loads(said.out)["answer"] == "no"
    assert [answer["kind"] for answer in listed[0]["answers"]] == ["project"]
    assert under == "untrusted-repo"
    assert named.of("session_start")[0]["policy"]["name"] == "default"
    assert json.loads(world.run("trust", "--list", "--json").out) == []


def test_other_digest_is_refused(world):
    """What was seen is not what is there."""
    ended = world.run("trust", "--yes", "sha256:0")

    assert ended.code == 2
    assert "the present digest is sha256:" in ended.err


@pytest.mark.parametrize(("key", "word", "code"), [("y", "yes", 0), ("n", "no", 1), ("", "no", 1)])
def test_person_is_shown_the_file_and_answers(world, key, word, code):
    """At a terminal; anything but a clear yes is a no."""
    (world.project / ".devcontainer.json").write_text('{"image": "debian:12"} // \x1b[2Jhidden')
    child = pexpect.spawn(
        str(GLOVEBOX), ["trust"], cwd=world.project, env=world.env(), encoding="utf-8", timeout=30
    )
    child.expect("may the agent use the image that the project describes")
    child.expect_exact("y = yes, n = no (default); kept for exactly these files: ")
    shown = child.before
    child.send(key + "\r")
    child.expect(f"{word} sha256:")
    child.expect(pexpect.EOF)
    child.close()

    assert child.exitstatus == code
    assert "uses the image debian:12" in shown
    assert "\x1b[2J" not in shown
    assert "hidden" in shown


def test_broken_file_is_no_project_without_an_image(world):
    """It ends as the error that it is; a run only leaves it out."""
    (world.project / ".devcontainer.json").write_text('{"imgae": "debian:12"}')

    ended = world.run("trust")

    assert ended.code == 2
    assert "did you mean 'image' where it says 'imgae'?" in ended.err
    assert "describes no image" not in ended.err


def test_project_without_an_image_says_so(world):
    """And a directory that is none is a usage error."""
    (world.project / ".devcontainer.json").unlink()

    ended = world.run("trust")

    assert (ended.code, ended.out) == (0, "")
    assert "describes no image" in ended.err
    assert world.run("trust", "nowhere").code == 2


POLICY = "version: 1\nname: ours\nlimits: {steps: 3}\n"


@pytest.fixture
def ruled(world):
    """A project with a policy of its own, and no image."""
    (world.project / ".devcontainer.json").unlink()
    (world.project / ".glovebox").mkdir()
    (world.project / ".glovebox" / "policy.yaml").write_text(POLICY)
    return world


def answer(world, key):
    child = pexpect.spawn(
        str(GLOVEBOX), ["trust"], cwd=world.project, env=world.env(), encoding="utf-8", timeout=30
    )
    child.expect_exact("y = yes, n = no (default); kept for exactly this text: ")
    shown = child.before
    child.send(key + "\r")
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, shown


def test_person_is_shown_a_project_s_policy_and_then_what_changed(ruled):
    """Whole the first time; a change as a difference; a no keeps nothing."""
    path = ruled.project / ".glovebox" / "policy.yaml"
    code, shown = answer(ruled, "n")
    assert (code, "limits: {steps: 3}" in shown) == (1, True)
    assert "brings a policy of its own" in shown
    code, _ = answer(ruled, "y")
    assert code == 0
    assert ruled.run("trust").code == 0
    [row] = json.loads(ruled.run("trust", "--list", "--json").out)
    [kept] = row["answers"]
    assert (kept["kind"], kept["answer"], kept["by"]) == ("policy", "yes", "terminal")
    assert "text" not in kept

    path.write_text(POLICY.replace("3", "30"))
    code, shown = answer(ruled, "y")
    assert code == 0
    assert "own policy changed: does it hold as it is now?" in shown
    assert "-limits: {steps: 3}" in shown
    assert "+limits: {steps: 30}" in shown
    path.unlink()
    code, shown = answer(ruled, "y")
    assert code == 0
    assert "own policy is gone: may sessions begin" in shown
    assert json.loads(ruled.run("trust", "--list", "--json").out) == []


def test_policy_s_digest_answers_for_a_script(ruled):
    """For the policy alone, as often as it is given; another digest answers for nothing."""
    refused = ruled.run("trust")
    digest = re.search("digest: (sha256:[0-9a-f]{64})", refused.err)[1]
    given = ruled.run("trust", "--yes", digest, "--json")

    assert refused.code == 2
    assert "there is nobody to ask" in refused.err
    assert (given.code, json.loads(given.out)["digest"]) == (0, digest)
    assert ruled.run("trust", "--yes", digest).code == 0
    assert ruled.run("trust", "--revoke").out == "1 forgotten\n"
