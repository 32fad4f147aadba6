"""Who lost; how it is shown is tested in ``test_show``."""

from orchestrator.policy.load import ProjectText, load_policy
from orchestrator.policy.overruled import lost_votes, overruled
from orchestrator.policy.owned_folder import OwnedFolder


def test_project_s_word_on_what_is_not_its_to_say_is_refused(tmp_path):
    """By way of a shipped policy it extends, as its own file may not hold it."""
    (tmp_path / "p.yaml").write_text("version: 1\nname: p\nsandbox: {image: mine}\n")
    (tmp_path / "other.yaml").write_text("version: 1\nname: other\nsandbox: {image: theirs}\n")
    policy = load_policy(
        ["p"],
        search=tmp_path,
        user_file=None,
        projects=[ProjectText("x", b"version: 1\nname: x\nextends: [other]\n")],
        system=OwnedFolder(tmp_path / "none"),
    )
    [said] = overruled(policy, "sandbox.image", policy.sandbox.image)

    assert policy.sandbox.image == "mine"
    assert (said.how, said.value, said.origin.layer) == ("refused", "theirs", "project")


def test_nothing_is_overruled_where_all_agree(load):
    """Equal words are one."""
    policy = load(p="limits: {steps: 5}", user="limits: {steps: 5}")

    assert list(overruled(policy, "limits.steps", 5)) == []


def test_project_s_yes_is_no_vote(layer):
    """Also where nobody else says anything."""
    layers = [layer("", name="project"), layer("")]
    votes = {(0, "tools.x"): ("allow",), (1, "tools.x"): ("delegate",), (0, "tools.y"): ("ask",)}

    assert lost_votes(layers, votes) == {(0, "tools.x"): "no vote"}
