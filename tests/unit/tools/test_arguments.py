from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field

from orchestrator.tools.arguments import Arguments, input_schema, parse_arguments
from orchestrator.tools.tool import ArgumentError


class Point(Arguments):
    x_axis: int


class Shape(Arguments):
    name: str
    corner_count: int = Field(default=3, ge=1, description="corners")
    scale: float | None = None
    points: tuple[Point, ...] = ()


def complaint(**arguments: Any) -> str:
    with pytest.raises(ArgumentError) as error:
        parse_arguments(Shape, "shape", arguments)
    return str(error.value)


def test_every_wrong_field_has_its_line() -> None:
    """The model mends all in one go."""
    message = complaint(nam="x", cornerCount="many", points=[{"xAxis": None, "y": 1}])

    assert message.splitlines() == [
        "shape: wrong arguments, nothing was done",
        "- name: missing",
        (
            "- cornerCount: input should be a valid integer, unable to parse string as an "
            'integer, got "many" (string)'
        ),
        "- points.0.xAxis: missing",
        "- points.0.y: unknown field",
        "- nam: unknown field, did you mean name?",
        (
            "fields: name (string, required), cornerCount (integer), scale (number), "
            "points (array of {xAxis})"
        ),
    ]


def test_wrong_value_is_shown_in_part() -> None:
    """A message is no echo of megabytes."""
    message = complaint(name=["x" * 10_000])

    assert "(array)" in message
    assert len(message) < 500


@pytest.mark.parametrize("given", [{"cornerCount": "4"}, {"cornerCount": 4.0}, {"corner_count": 4}])
def test_harmless_slips_are_taken(given: dict[str, Any]) -> None:
    """A number in quotes and the other spelling are clear enough."""
    assert parse_arguments(Shape, "shape", {"name": "x", **given}).corner_count == 4


def test_null_means_left_out() -> None:
    """Some models send every field."""
    assert parse_arguments(Shape, "shape", {"name": "x", "cornerCount": None}).corner_count == 3


def test_half_surrogate_is_named_wherever_it_is() -> None:
    """It could not be recorded, digested or run."""
    assert "- name: must not contain half of a surrogate pair" in complaint(name="a\udc00")
    assert "- points.0.x: must not contain half" in complaint(name="a", points=[{"x": "\ud800"}])


def test_schema_is_short_and_complete() -> None:
    """Types, descriptions and what is required; no titles, defaults or unions."""
    assert input_schema(Shape) == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "cornerCount": {"type": "integer", "description": "corners"},
            "scale": {"type": "number"},
            "points": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"xAxis": {"type": "integer"}},
                    "required": ["xAxis"],
                },
            },
        },
        "required": ["name"],
    }
