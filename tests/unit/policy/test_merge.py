"""How ``extends`` merges."""

from orchestrator.policy.merge import merge_trees
from orchestrator.policy.yaml_nodes import find, parse_yaml, place_of, plain


def _merged(parent: str, child: str):
    return merge_trees(parse_yaml(parent, file="a.yaml"), parse_yaml(child, file="b.yaml"))


def test_later_scalars_override_and_others_stay():
    """A child changes what it names and nothing else, and lines stay true."""
    tree = _merged("x: {a: 1, b: 2}\n", "\nx: {b: 3}\n")

    assert plain(tree) == {"x": {"a": 1, "b": 3}}
    assert str(place_of(tree, ("x", "a"))) == "a.yaml:1"
    assert str(place_of(tree, ("x", "b"))) == "b.yaml:2"


def test_lists_add_without_doubles():
    """A child cannot drop what its parent lists."""
    assert plain(_merged("l: [a, b]", "l: [b, c]")) == {"l": ("a", "b", "c")}


def test_rules_override_by_id_in_place():
    """The later rule stands where the earlier stood, whole."""
    tree = _merged("r: [{id: a, x: 1}, {id: b, y: 1}]", "r: [{id: a, z: 2}, {id: c}]")

    assert plain(tree) == {"r": ({"id": "a", "z": 2}, {"id": "b", "y": 1}, {"id": "c"})}
    assert str(find(tree, ("r", 0)).place) == "b.yaml:1"


def test_allow_lists_are_replaced_so_that_a_child_can_narrow_them():
    """A child's list of models stands alone: adding to ``*`` could never tighten."""
    tree = _merged("models: {allow: ['*']}", "models: {allow: [local]}")

    assert plain(tree) == {"models": {"allow": ("local",)}}


def test_a_value_of_another_kind_takes_the_place_of_the_earlier():
    """A mapping and a scalar cannot be mixed; the later one stands."""
    assert plain(_merged("a: {b: 1}", "a: x")) == {"a": "x"}
    assert plain(_merged("a: [[1]]", "a: [[1]]")) == {"a": ((1,), (1,))}
