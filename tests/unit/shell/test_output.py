"""Outputs in a row."""

import pytest

from orchestrator.shell.output import NOTHING, Output, join_outputs


@pytest.mark.parametrize(
    ("first", "second", "kind", "text"),
    [
        (NOTHING, Output("text", "a"), "text", "a"),
        (Output("text", "a"), NOTHING, "text", "a"),
        (Output("text", "a"), Output("text", "b"), "text", "ab"),
        (Output("text", "a"), Output("data"), "data", None),
        (Output("text", "a"), Output("download"), "download", None),
    ],
)
def test_joined_output_is_as_dark_as_its_darkest_part(first, second, kind, text):
    """One download in it makes it a download."""
    joined = join_outputs(first, second)
    assert (joined.kind, joined.text) == (kind, text)
