"""Files into the effective policy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.errors import PolicyError
from orchestrator.policy.compile import load_layer
from orchestrator.policy.load import load_policy
from orchestrator.policy.owned_folder import OwnedFolder


def test_parents_come_first_and_later_files_override(load):
    """A child changes its parent's scalars and rules, and adds to its lists."""
    policy = load(
        "c",
        a="limits: {steps: 1, tokens: 9}\nworkspace: {hidden: [x]}",
        b="extends: [a]\nlimits: {steps: 2}",
        c="extends: [b]\nworkspace: {hidden: [y]}",
    )

    assert policy.name == "c"
    assert (policy.limits.steps, policy.limits.tokens) == (2, 9)
    assert policy.workspace.hidden == ("x", "y")
    assert policy.origins["limits.steps"].place.line == 4


def test_a_shared_parent_is_read_once(load):
    """A diamond does not let the parent undo what a child set."""
    policy = load(
        "d",
        a="limits: {steps: 1}",
        b="extends: [a]\nlimits: {steps: 2}",
        c="extends: [a]\nlimits: {tokens: 3}",
        d="extends: [b, c]",
    )

    assert policy.limits.steps == 2


def test_two_policies_are_as_one_file_that_extends_both(load):
    """--policy given twice is read in order, the later one on top, in one layer."""
    policy = load("a", "b", a="limits: {steps: 1}", b="limits: {steps: 5}")

    assert policy.limits.steps == 5
    assert policy.name == "a+b"
    assert [layer.name for layer in policy.layers] == ["session"]


def test_a_file_extends_by_path_from_its_own_folder(tmp_path, load):
    """A project can keep its parts together."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "base.yaml").write_text("version: 1\nname: base\nlimits: {steps: 4}\n")
    (tmp_path / "sub" / "mine.yaml").write_text("version: 1\nname: mine\nextends: [./base.yaml]\n")

    policy = load(str(tmp_path / "sub" / "mine.yaml"))

    assert policy.limits.steps == 4
    assert policy.name == "mine"


def test_the_user_s_own_file_is_a_layer_that_tightens(load):
    """What the user set for all sessions holds in each."""
    policy = load(p="limits: {steps: 50}", user="limits: {steps: 10}")

    assert [layer.name for layer in policy.layers] == ["user", "session"]
    assert policy.limits.steps == 10
    assert load(p="limits: {steps: 50}", user="limits: {steps: 99}").limits.steps == 50


def test_a_circle_is_refused_with_its_line(load):
    """Files that extend each other have no order."""
    with pytest.raises(
        PolicyError, match=r"b.yaml:3: extends goes in a circle: a.yaml extends b.yaml"
    ):
        load("a", a="extends: [b]", b="extends: [a]")


def test_too_long_a_chain_is_refused(load):
    """A bound on files read."""
    files = {f"f{n}": f"extends: [f{n + 1}]" for n in range(40)} | {"f40": "limits: {steps: 1}"}

    with pytest.raises(PolicyError, match="extends more than 32 files"):
        load("f0", **files)


def test_an_unknown_name_is_told_with_the_nearest(load):
    """A slip in a name is one glance to mend."""
    with pytest.raises(
        PolicyError, match="no shipped policy is called 'defualt'; nearest: 'default'"
    ):
        load("defualt", default="limits: {steps: 1}")
    with pytest.raises(PolicyError, match=r"a.yaml:3: no shipped policy is called 'zz'"):
        load("a", a="extends: [zz]")


def test_no_name_is_no_policy():
    """Nothing named, nothing assumed."""
    with pytest.raises(PolicyError, match="no policy is named"):
        load_policy([], search=Path(), user_file=None, system=OwnedFolder(Path("/nonexistent")))


def test_files_that_cannot_be_read_are_refused(load, tmp_path):
    """Missing, foreign and oversized files end the load."""
    with pytest.raises(PolicyError, match="cannot be read: No such file"):
        load("./missing.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"version: 1\nname: caf\xe9\n")
    with pytest.raises(PolicyError, match=r"latin.yaml:2: expected UTF-8 text"):
        load(str(tmp_path / "latin.yaml"))
    (tmp_path / "big.yaml").write_bytes(b"#" * 300_000)
    with pytest.raises(PolicyError, match=r"big.yaml:1: file is too large"):
        load(str(tmp_path / "big.yaml"))
    (tmp_path / "list.yaml").write_text("[1, 2]")
    with pytest.raises(PolicyError, match=r"list.yaml:1: the file: expected a mapping"):
        load(str(tmp_path / "list.yaml"))


def test_a_mistake_in_a_parent_names_the_parent_s_line(load):
    """The file to mend is the one that is wrong."""
    with pytest.raises(PolicyError, match=r"a.yaml:3: unknown key 'limit'; nearest: 'limits'"):
        load("b", a="limit: {steps: 1}", b="extends: [a]")


def test_one_id_for_two_rules_is_refused(load):
    """A decision names a rule by its id alone."""
    with pytest.raises(
        PolicyError, match=r"p.yaml:4: rule id 'x' is used twice, first on .*p.yaml:3"
    ):
        load(
            p="commands: {rules: [{id: x, program: a, effect: ask}]}\n"
            "files: {read: {rules: [{id: x, paths: a, effect: ask}]}}"
        )
    with pytest.raises(PolicyError, match=r"rule id 'x' is used twice"):
        load(
            p="commands: {rules: [{id: x, program: a, effect: deny},"
            " {id: x, program: a, effect: allow}]}"
        )


def test_a_user_s_file_that_cannot_be_read_refuses(tmp_path):
    """A layer that leads nowhere is not taken for one that is not there."""
    (tmp_path / "p.yaml").write_text("version: 1\nname: p\n")
    user = tmp_path / "policy.yaml"
    user.symlink_to(tmp_path / "gone.yaml")
    with pytest.raises(PolicyError, match=r"policy.yaml: cannot be read: No such file") as caught:
        load_policy(["p"], search=tmp_path, user_file=user, system=OwnedFolder(tmp_path / "none"))
    assert "not left out" in caught.value.hint

    far = tmp_path / ("x" * 300) / "policy.yaml"
    with pytest.raises(PolicyError, match="cannot be looked at"):
        load_policy(["p"], search=tmp_path, user_file=far, system=OwnedFolder(tmp_path / "none"))


def test_digest_names_the_content_and_not_the_words_around_it(load):
    """Comments and descriptions change nothing; every rule does."""
    first = load(p="limits: {wall_time: 60m} # a comment")
    same = load(p="description: other\nlimits: {wall_time: 1h}")
    other = load(p="limits: {wall_time: 2h}")

    assert first.digest == same.digest
    assert first.digest != other.digest
    assert first.digest != load(p="limits: {wall_time: 1h}", user="limits: {steps: 1}").digest
    assert first.digest.startswith("sha256:")


def test_digest_is_the_same_in_another_process(shipped):
    """Hash order does not leak into it."""
    code = (
        "from pathlib import Path; from orchestrator.policy.load import load_policy;"
        "from orchestrator.policy.owned_folder import OwnedFolder;"
        f"print(load_policy(['default'], search=Path({str(Path(__file__).parents[3] / 'policies')!r}),"
        " user_file=None, system=OwnedFolder(Path('/nonexistent'))).digest)"
    )
    env = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )

    assert done.stdout.strip() == shipped("default").digest


def test_a_single_layer_can_be_loaded_for_checking(tmp_path):
    """Lint looks at a file without the machine's other layers."""
    (tmp_path / "p.yaml").write_text("version: 1\nname: p\nlimits: {steps: 1}\n")

    assert load_layer("team", ["p"], search=tmp_path).name == "team"
