"""Width and height from a picture's first bytes, held to what PIL writes."""

import base64
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Drawn

from orchestrator.schema.message import Image
from orchestrator.schema.picture_size import pixels

FORMS = [("PNG", {}), ("GIF", {}), ("JPEG", {}), ("JPEG", {"progressive": True}), ("WEBP", {})]
FORMS += [("WEBP", {"lossless": True}), ("JPEG", {"exif": b"Exif\0\0" + b"x" * 40_000})]


def drawn(form, size, **more):
    file = io.BytesIO()
    Drawn.new("RGB", size, "white").save(file, form, **more)
    return Image(f"image/{form.lower()}", base64.b64encode(file.getvalue()).decode())


@pytest.mark.parametrize(("form", "more"), FORMS)
@pytest.mark.parametrize("size", [(1, 1), (640, 3), (1568, 882)])
def test_size_is_read_from_each_kind(form, more, size):
    assert pixels(drawn(form, size, **more)) == size


def test_size_of_a_picture_with_an_alpha_channel_is_read():
    """WebP then has another header."""
    file = io.BytesIO()
    Drawn.new("RGBA", (300, 20), (1, 2, 3, 4)).save(file, "WEBP", exif=b"Exif\0\0x")
    image = Image("image/webp", base64.b64encode(file.getvalue()).decode())

    assert pixels(image) == (300, 20)


@given(
    st.sampled_from(["image/png", "image/jpeg", "image/gif", "image/webp", "image/x"]),
    st.binary(max_size=60),
    st.text(max_size=4),
)
def test_damage_is_no_size(kind, data, rest):
    """Whatever stands there, it is told or it is not; nothing is raised."""
    found = pixels(Image(kind, base64.b64encode(data).decode() + rest))

    assert found is None or min(found) > 0
