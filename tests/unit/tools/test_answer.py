from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ExecRequest
from orchestrator.tools import BUILTIN_NAMES, builtin_tools
from orchestrator.tools.answer import Answer, render_answer, render_error
from orchestrator.tools.tool import Rendered

KEYS = st.sampled_from(
    [
        "type",
        "text",
        "start",
        "lines",
        "total_lines",
        "next_offset",
        "cut_lines",
        "media_type",
        "data",
        "bytes",
        "created",
        "diff",
        "matches",
        "paths",
        "entries",
        "total",
        "limited",
        "notes",
        "head",
        "tail",
        "exit_code",
        "signal",
        "spill",
        "limit",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


class Number(Answer):
    number: int


def put(answer: Number) -> Rendered:
    return Rendered(str(answer.number))


def test_data_that_fits_is_put_into_words() -> None:
    """Fields of a newer box are ignored."""
    assert render_answer(Outcome({"number": 3, "new": 1}), Number, put).output == "3"


def test_data_that_does_not_fit_is_an_error_that_names_the_field() -> None:
    """The box is not trusted to keep the contract."""
    rendered = render_answer(Outcome({"number": "x"}), Number, put)

    assert rendered.is_error
    assert "number" in rendered.output


def test_error_is_cleaned_and_carries_its_code() -> None:
    """A name in a message may hold anything."""
    rendered = render_error("a\x1b[2J: no", code="not_found")

    assert rendered.is_error
    assert rendered.output == "a\u241b[2J: no"
    assert rendered.details == {"code": "not_found"}


@given(st.sampled_from(BUILTIN_NAMES), st.dictionaries(KEYS, VALUES, max_size=8))
def test_any_data_is_rendered_by_any_tool(name: str, data: dict[str, Any]) -> None:
    """No answer of the box can break a turn or reach the model raw."""
    (tool,) = builtin_tools([name])

    rendered = tool.render(ExecRequest("x", "/workspace", 1.0), Outcome(data))

    assert rendered.output
    assert not set(rendered.output) & {"\x1b", "\0", "\r", "\x9b"}
    rendered.output.encode()
