"""One session's redaction as its callers use it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.redaction.redactor import Redactor

from .conftest import made

TOKEN = f"ghp_{made(36)}"


def test_text_without_secret_is_the_same_text(redactor: Redactor) -> None:
    """Nothing is rewritten for its own sake."""
    assert redactor.redact("plain ünïcode \x00 \ud83d text") == "plain ünïcode \x00 \ud83d text"
    assert redactor.redact("") == ""


def test_same_secret_has_same_placeholder_everywhere(redactor: Redactor) -> None:
    """Texts of a session can be compared."""
    first = redactor.redact(f"a {TOKEN}")
    second = redactor.redact(f"b {TOKEN} c {TOKEN}")

    (placeholder,) = redactor.placeholders_in(second)
    assert redactor.placeholders_in(first) == (placeholder,)


def test_placeholders_are_kept_as_they_are(redactor: Redactor) -> None:
    """A second pass changes nothing, even beside a telling name."""
    once = redactor.redact(
        f'password = "{made(14)}1a" token={TOKEN} Authorization: Bearer {made(30)}'
    )

    assert redactor.redact(once) == once
    assert len(redactor.placeholders_in(once)) == 3


def test_long_texts_are_redacted_alike_every_time(redactor: Redactor) -> None:
    """Remembering a result never mixes texts up."""
    texts = [f"{'x ' * 1000}{at} {TOKEN}" for at in range(40)]
    first = [redactor.redact(text) for text in texts]

    assert [redactor.redact(text) for text in texts[-3:]] == first[-3:]
    assert [redactor.redact(text) for text in texts] == first
    assert [redactor.redact(safe) for safe in first] == first
    assert len(set(first)) == 40


def test_sessions_differ() -> None:
    """Placeholders of one session say nothing in another."""
    assert Redactor({}).redact(TOKEN) != Redactor({}).redact(TOKEN)


def test_data_is_redacted_in_keys_values_and_lists(redactor: Redactor) -> None:
    """No corner of a structure is left out; its shape and plain values stay."""
    data = {
        "n": 1,
        "f": 0.5,
        "b": True,
        "z": None,
        "list": [TOKEN, ("x", TOKEN)],
        TOKEN: {"deep": TOKEN},
    }

    result = redactor.redact_json(data)

    assert TOKEN not in str(result)
    assert {name: result[name] for name in "nfbz"} == {"n": 1, "f": 0.5, "b": True, "z": None}
    assert result["list"][1][0] == "x"


def test_data_field_is_judged_by_its_name(redactor: Redactor) -> None:
    """A password in a field of its own has no other mark."""
    result = redactor.redact_json(
        {"password": "hunter2", "api_key": [made(14) + "1a"], "name": "hunter2"}
    )

    assert result["password"].startswith("[redacted:password:")
    assert result["api_key"][0].startswith("[redacted:token:")
    assert result["name"] == "hunter2"


def test_secret_goes_back_into_its_own_file(redactor: Redactor) -> None:
    """Reading and writing a file again leaves it as it was."""
    text = f"token={TOKEN}\n"
    safe = redactor.redact_read(text, "/workspace/a")
    (placeholder,) = redactor.placeholders_in(safe)

    assert redactor.restore(safe, "/workspace/a") == (text, ())
    assert redactor.restore(safe, "/workspace/b") == (safe, (placeholder,))


def test_planted_placeholder_does_not_deliver_a_secret(redactor: Redactor) -> None:
    """Who writes a placeholder into a file and reads it back gets the placeholder, not the secret."""
    placeholder = redactor.redact(TOKEN)

    seen = redactor.redact_read(f"planted {placeholder}\n", "/workspace/bait")

    assert redactor.restore(seen, "/workspace/bait") == (f"planted {placeholder}\n", ())


def test_file_with_secret_and_planted_placeholder_gives_back_neither(redactor: Redactor) -> None:
    """What cannot be told apart is refused."""
    placeholder = redactor.redact(TOKEN)

    seen = redactor.redact_read(f"{TOKEN} {placeholder}", "/workspace/bait")

    assert redactor.restore(seen, "/workspace/bait")[1] == (placeholder,)


def test_stretch_is_redacted_with_its_surroundings_in_mind(redactor: Redactor) -> None:
    """What stands around counts, and a secret is never cut in two."""
    text = f"password={made(14)}1a end"

    safe, end = redactor.redact_between(text, 9, len(text), slack=1000)
    assert safe.startswith("[redacted:password:")
    assert end == len(text)

    assert redactor.redact_between(text, 0, 12, slack=1000) == ("password=", 9)
    assert redactor.redact_between(text, 12, 15, slack=1000) == ("", 12)
    assert redactor.redact_between(text, len(text) - 3, len(text), slack=1000)[0] == "end"


@given(st.text(st.sampled_from("ghp_abAB12=:\"' \n\\%-/@.eyJ[]{}$"), max_size=200))
def test_any_text_is_redacted_once_and_for_all(text: str) -> None:
    """Redaction ends, changes nothing twice, and can always be undone."""
    redactor = Redactor({"key": "ab12AB12"}, key=bytes(32))

    once = redactor.redact_read(text, "/f")

    assert redactor.redact(text) == once
    assert redactor.redact(once) == once
    assert redactor.restore(once, "/f") == (text, ())


@pytest.mark.parametrize(
    "unit", ["a", "\n", "=", "/", "\\", "%41", "&amp;", "\x1b[", "AAAA\n", "f4Jg"]
)
def test_hostile_megabyte_is_redacted(unit: str) -> None:
    """No text makes the session stand still (a quadratic search never ends)."""
    redactor = Redactor({"key": "f4JgM7SwPYiIZjkfsbG4GDjM7rZ1Qxy", "odd": 'with space & "quote"'})

    assert redactor.redact(unit * (1_000_000 // len(unit)))


def test_value_that_is_learned_later_is_kept_out_from_then_on() -> None:
    """What was clean before is looked at again."""
    redactor = Redactor({"one": "first-known-value"})
    text = "first-known-value and second-known-value"
    before = redactor.redact(text)
    redactor.learn({"two": "second-known-value"})

    assert "second-known-value" in before
    assert "known-value" not in redactor.redact(text)
    assert "known-value" not in redactor.redact(before)
