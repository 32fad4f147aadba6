from __future__ import annotations

import io

import pytest
from headers import dimensions
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("PNG", {}),
        ("GIF", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True, "comment": b"\xff\xc0" * 50}),
        ("WEBP", {}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0II*\0\x08\0\0\0\0\0"}),
    ],
)
def test_size_is_read_from_every_form(form: str, options: dict[str, object]) -> None:
    """The header tells what the decoder would."""
    sink = io.BytesIO()
    Image.new("RGB", (321, 123)).save(sink, form, **options)

    assert dimensions(sink.getvalue(), f"image/{form.lower()}") == (321, 123)


@given(st.binary(max_size=80), st.sampled_from(TYPES))
def test_any_bytes_give_a_size_or_none(data: bytes, media_type: str) -> None:
    """Damage is no crash."""
    found = dimensions(data, media_type)

    assert found is None or min(found) > 0
