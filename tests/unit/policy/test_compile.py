"""Texts into layers."""

import pytest

from orchestrator.errors import PolicyError
from orchestrator.policy.compile import layer_of_text, load_layer
from orchestrator.policy.layer import BoxPaths

WRONG = (
    b"version: 1\nname: x\ncommands:\n  rules:\n"
    b"    - {id: r, program: git, effect: ask, examples: {match: [ls]}}\n"
)


def test_failing_example_refuses_with_its_line(tmp_path):
    """Of a text as of a file."""
    (tmp_path / "x.yaml").write_bytes(WRONG)
    with pytest.raises(PolicyError, match=r"x.yaml:5: rule 'r': expected a match"):
        load_layer("session", [str(tmp_path / "x.yaml")], search=tmp_path)
    with pytest.raises(PolicyError, match=r"o.yaml:5: rule 'r': expected a match") as caught:
        layer_of_text("org", WRONG, file="o.yaml", search=tmp_path, box=BoxPaths())
    assert caught.value.hint == "mend the rule or the example"


def test_check_sees_the_text_s_own_words_alone(tmp_path):
    """And before its examples are tried."""
    (tmp_path / "base.yaml").write_text("version: 1\nname: base\nlimits: {steps: 3}\n")
    seen = []
    layer = layer_of_text(
        "project",
        b"version: 1\nname: x\nextends: [base]\n",
        file="x.yaml",
        search=tmp_path,
        box=BoxPaths(),
        check=seen.append,
    )

    assert layer.document.limits.steps == 3
    assert [set(tree.value) for tree in seen] == [{"version", "name", "extends"}]
