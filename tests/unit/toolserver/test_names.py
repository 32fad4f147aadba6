from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from names import folded_name, has_controls, raw_name, shown_name, shown_path
from refusal import Refusal

NAMES = st.binary(min_size=1, max_size=40).map(
    lambda raw: raw.replace(b"\0", b"").replace(b"/", b"")
)


@given(NAMES)
def test_any_name_comes_back_from_its_shown_form(raw: bytes) -> None:
    """The escape is reversible for every name a file system can hold."""
    assert raw_name(shown_name(raw)) == raw


@given(st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace").replace(b"\0", b"")))
def test_any_text_name_is_shown_printable(raw: bytes) -> None:
    """Nothing shown can move a cursor, reorder or hide."""
    assert shown_name(raw).isprintable()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"plain name.txt", "plain name.txt"),
        ("é.txt".encode(), "é.txt"),
        (b"a\nb", r"a\nb"),
        (b"back\\slash", r"back\\slash"),
        (b"\x1b[2J", r"\x1b[2J"),
        (b"\xff.txt", r"\xff.txt"),
        ("9\u202fAM".encode(), r"9\u202fAM"),
        ("e\u0301".encode(), r"e\u0301"),
        ("\U000e0041".encode(), r"\U000e0041"),
    ],
)
def test_special_names_have_documented_forms(raw: bytes, shown: str) -> None:
    """The forms are part of what tools promise."""
    assert shown_name(raw) == shown


def test_path_is_escaped_component_by_component() -> None:
    """Slashes stay slashes."""
    assert shown_path(b"/a\n/b") == r"/a\n/b"


@pytest.mark.parametrize(
    "shown",
    [
        r"dir\file",
        r"a\x2fb",
        r"a\x2e",
        r"a\u002fb",
        "a\\",
        r"a\x0",
        r"\UFFFFFFFF",
        "a\0b",
        r"a\x00",
    ],
)
def test_malformed_or_needless_escape_is_refused(shown: str) -> None:
    """An escape that could hide a path's shape, and one nobody would write, are errors."""
    with pytest.raises(Refusal) as refused:
        raw_name(shown)

    assert refused.value.code == "invalid"


def test_half_surrogate_is_refused() -> None:
    """Text that is no Unicode names no file."""
    with pytest.raises(Refusal):
        raw_name("a\ud800")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("9\u202fAM.png", "9 AM.png"),
        ("cafe\u0301", "caf\u00e9"),
        ("it\u2019s", "it's"),
        ("README", "readme"),
    ],
)
def test_same_looking_names_fold_alike(left: str, right: str) -> None:
    """What a reader takes for one name has one folded form."""
    assert folded_name(left.encode()) == folded_name(right.encode())


def test_controls_are_seen_in_any_form() -> None:
    """Control characters and bytes that are not UTF-8 count; accents do not."""
    assert has_controls(b"a\nb")
    assert has_controls(b"\xff")
    assert not has_controls("é".encode())
