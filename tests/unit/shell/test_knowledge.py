"""The shape of table entries."""

from orchestrator.shell.knowledge import Spec


def test_word_lists_may_be_one_string():
    """Tables stay short."""
    assert Spec.model_validate({"values": "-a  --bee\n-c"}).values == ("-a", "--bee", "-c")


def test_option_with_a_role_takes_a_value_unless_it_is_glued():
    """A role speaks of the value."""
    spec = Spec.model_validate({"roles": {"-a": "write", "-b": "run"}, "glued": "-b"})
    assert spec.takes_value == {"-a"}


def test_names_joined_by_bars_share_an_entry():
    """Sub-commands that do the same are written once."""
    subs = Spec.model_validate({"subs": {"a|b": {"risk": "publishes"}}}).sub_specs
    assert subs["a"] is subs["b"]


def test_only_options_that_matter_may_be_abbreviated():
    """An abbreviation must never swallow a word on behalf of a harmless option."""
    rules = [{"risk": "opaque", "reason": "x", "any": ["--force"]}]
    spec = Spec.model_validate({"values": "--format", "roles": {"--out": "write"}, "rules": rules})
    assert spec.risky == ("--out", "--force")
