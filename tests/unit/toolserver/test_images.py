from __future__ import annotations

import base64
import io

import images
import pytest
from PIL import Image
from refusal import Refusal

from tests.support.boxed_files import BoxedFiles


def picture(form: str, size: tuple[int, int], *, noise: bool = False) -> bytes:
    image = Image.effect_noise(size, 90) if noise else Image.new("RGB", size, (200, 30, 40))
    sink = io.BytesIO()
    image.convert("RGB").save(sink, form)
    return sink.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_small_picture_passes_unchanged_whatever_its_name(box: BoxedFiles, form: str) -> None:
    """Pictures are known by content, and one that fits keeps its bytes."""
    data = picture(form, (40, 30))
    box.put("notes.txt", data)

    answer = box.data("read", "notes.txt")

    assert answer["type"] == "image"
    assert answer["media_type"] == f"image/{form.lower()}"
    assert base64.b64decode(answer["data"]) == data
    assert (answer["width"], answer["height"]) == (40, 30)


def test_text_named_like_a_picture_is_text(box: BoxedFiles) -> None:
    """A name proves nothing."""
    box.put("a.png", "not a picture")

    assert box.data("read", "a.png")["type"] == "text"


def test_large_picture_is_scaled_to_the_limit(box: BoxedFiles) -> None:
    """The longer edge is the documented one; the original size is told."""
    box.put("a.png", picture("PNG", (4000, 1000)))

    answer = box.data("read", "a.png")

    assert (answer["width"], answer["height"]) == (images.MAX_EDGE, images.MAX_EDGE // 4)
    assert (answer["original_width"], answer["original_height"]) == (4000, 1000)
    with Image.open(io.BytesIO(base64.b64decode(answer["data"]))) as scaled:
        assert scaled.size == (answer["width"], answer["height"])


def test_heavy_picture_is_encoded_below_the_byte_limit(box: BoxedFiles) -> None:
    """Noise does not compress as PNG; another form must be found."""
    box.put("a.png", picture("PNG", (1500, 1500), noise=True))

    answer = box.data("read", "a.png")

    assert len(base64.b64decode(answer["data"])) <= images.MAX_BYTES
    assert answer["media_type"] == "image/jpeg"


def test_damaged_picture_is_reported_as_binary(box: BoxedFiles) -> None:
    """A provider would refuse it, and every later turn with it."""
    box.put("a.png", picture("PNG", (400, 300), noise=True)[:2000])

    answer = box.data("read", "a.png")

    assert answer["type"] == "binary"
    assert "damaged" in answer["note"]


def test_header_alone_is_reported_as_binary(box: BoxedFiles) -> None:
    """A signature without a picture is none."""
    box.put("a.png", b"\x89PNG\r\n\x1a\n")

    assert box.data("read", "a.png")["type"] == "binary"


def test_header_that_promises_too_many_pixels_is_refused_undecoded(box: BoxedFiles) -> None:
    """A bomb is known by its header."""
    data = bytearray(picture("PNG", (10, 10)))
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    box.put("a.png", bytes(data))

    assert box.refusal("read", "a.png")[0] == "too_large"


def test_oversized_source_is_refused_unread() -> None:
    """The size alone decides."""
    with pytest.raises(Refusal) as refused:
        images.load(-1, images.MAX_SOURCE + 1, "image/png")

    assert refused.value.code == "too_large"


def test_without_pil_a_fitting_picture_passes_and_a_large_one_says_why() -> None:
    """An image of the user's own may lack PIL."""
    small = picture("PNG", (40, 30))

    assert images.unchecked(small, "image/png", (40, 30))["type"] == "image"
    with pytest.raises(Refusal) as refused:
        images.unchecked(small, "image/png", (images.MAX_EDGE + 1, 30))
    assert "PIL" in refused.value.message


def test_camera_orientation_is_applied(box: BoxedFiles) -> None:
    """A scaled photograph stands upright."""
    exif = Image.Exif()
    exif[0x0112] = 6
    sink = io.BytesIO()
    Image.new("RGB", (3000, 1000)).save(sink, "JPEG", exif=exif)
    box.put("a.jpg", sink.getvalue())

    answer = box.data("read", "a.jpg")

    assert answer["height"] > answer["width"]
