"""The two encoders of canonical JSON agree wherever the quick one is used."""

from enum import IntEnum
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.schema.canonical import MAX_SAFE, canonical_json, canonical_text

TEXT = st.text(st.characters(exclude_categories=()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**54), 2**54) | st.floats() | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner) | st.tuples(inner),
    max_leaves=20,
)


class Number(IntEnum):
    ONE = 1


@given(JSON)
def test_bytes_and_refusals_are_those_of_rfc_8785(value: Any) -> None:
    """Whatever is encoded, the form is the one that others compute."""
    try:
        expected = rfc8785.dumps(value)
    except ValueError as error:
        with pytest.raises(type(error)):
            canonical_json(value)
    else:
        assert canonical_json(value) == expected


def test_every_byte_below_128_is_escaped_alike() -> None:
    """Control bytes have short escapes, or lower-case digits."""
    text = "".join(map(chr, range(256)))

    assert canonical_json({text[:128]: text}) == rfc8785.dumps({text[:128]: text})


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "hard",
    [1.0, MAX_SAFE + 1, -MAX_SAFE - 1, {"\U00010000": 0}, {1: 0}, (1,), Number.ONE, nested(9)],
)
def test_hard_cases_are_left_to_the_other_encoder(hard: Any) -> None:
    """Where the standard library would say something else, or might, it is not asked."""
    assert canonical_text([hard]) is None


def test_plain_data_takes_the_quick_way() -> None:
    """Records are mostly that."""
    assert canonical_text({"b": [1, None, True], "a": "ü"}) == '{"a":"ü","b":[1,null,true]}'
