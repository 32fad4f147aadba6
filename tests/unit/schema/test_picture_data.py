import base64

import pytest

from orchestrator.schema.picture_data import PICTURE_STARTS, PICTURE_TYPES, is_base64

HEADS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\0\0\0\0WEBP")


def test_each_kind_has_its_beginning() -> None:
    """As many as there are media types."""
    starts = [base64.b64encode(head + bytes(9)).decode() for head in HEADS]

    assert len(PICTURE_TYPES) == len(PICTURE_STARTS) == len(HEADS)
    assert all(data.startswith(begin) for data, begin in zip(starts, PICTURE_STARTS, strict=True))


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("AAAA", True),
        ("QQ==", True),
        ("", False),
        ("a b", False),
        ("AA=A", False),
        ("AAAA\n", False),
    ],
)
def test_a_text_is_not_taken_for_data(text: str, is_it: bool) -> None:
    assert is_base64(text) is is_it
