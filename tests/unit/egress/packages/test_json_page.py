import pytest

from orchestrator.egress.packages.json_page import json_object, rows, text_of


def test_shapes_that_are_not_expected_are_nothing():
    """A server may send anything."""
    assert rows([{"a": 1}, 5, None]) == [{"a": 1}]
    assert rows("x") == []
    assert text_of({"a": 5}, "a") == ""
    assert text_of({"a": "x"}, "a") == "x"


@pytest.mark.parametrize("body", [b"", b"5", b"[" * 50_000, b"\xff"])
def test_only_an_object_is_a_page(body):
    """Deep nesting is an error like any other."""
    with pytest.raises(ValueError):  # noqa: PT011 - of any text
        json_object(body)
