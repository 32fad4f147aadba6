"""Pictures that are named: within the directory, known by their content, never through a link."""

import base64
import os

import anyio
import pytest
from PIL import Image as Picture

from orchestrator.cli.chat.pictures import MAX_BYTES, MOST, kind_of, pictures_in
from orchestrator.errors import UsageError

PNG = b"\x89PNG\r\n\x1a\nrest"
HEADS = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a..",
    "image/webp": b"RIFF\0\0\0\0WEBPVP8 ",
}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "project"
    (made / "shots").mkdir(parents=True)
    (made / "shots" / "one.png").write_bytes(PNG)
    (made / "two.JPG").write_bytes(HEADS["image/jpeg"])
    return made


def found(text, folder):
    return anyio.run(pictures_in, text, folder)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("see @shots/one.png, and @two.JPG.", ["image/png", "image/jpeg"]),
        ("@shots/one.png @shots/one.png", ["image/png"]),
        ("me@shots/one.png", []),
        ("shots/one.png", []),
        ("@shots/one.png.txt", []),
        ("make @new.png", []),
        ("", []),
    ],
)
def test_pictures_are_those_named_after_an_at_sign(folder, text, kinds):
    """A name of no file is only a word."""
    pictures = found(text, folder)

    assert [picture.media_type for picture in pictures] == kinds
    if kinds[:1] == ["image/png"]:
        assert base64.b64decode(pictures[0].data) == PNG


@pytest.mark.parametrize(("kind", "head"), HEADS.items())
def test_content_says_what_it_is(kind, head):
    assert kind_of(head) == kind
    assert kind_of(b"x" + head) is None


def test_what_cannot_be_sent_is_refused(folder, tmp_path):
    """Also what is elsewhere, or only a link to elsewhere."""
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "away").symlink_to(tmp_path)
    (folder / "text.png").write_text("no picture")
    (folder / "big.png").write_bytes(PNG + b"\0" * MAX_BYTES)
    os.mkfifo(folder / "pipe.png")
    (folder / "folder.png").mkdir()

    for name, words in {
        "out.png": "link",
        "away/secret.png": "link",
        "../secret.png": "expected a path within",
        f"{tmp_path}/secret.png": "expected a path within",
        "~/secret.png": "expected a path within",
        "text.png": "its content is none of them",
        "big.png": "at most",
        "pipe.png": "regular file",
        "folder.png": "regular file",
    }.items():
        with pytest.raises(UsageError, match=words):
            found(f"@{name}", folder)


def test_many_pictures_are_refused(folder):
    for number in range(MOST + 1):
        (folder / f"p{number}.png").write_bytes(PNG)
    text = " ".join(f"@p{number}.png" for number in range(MOST + 1))

    with pytest.raises(UsageError, match="20 pictures at most"):
        found(text, folder)


@pytest.mark.case("session-image-02")
@pytest.mark.parametrize(
    ("size", "sent"), [((10_000, 800), False), ((800, 10_000), False), ((8_000, 9), True)]
)
def test_picture_of_too_many_pixels_is_refused_however_few_its_bytes(folder, size, sent):
    """It would stand in the session and have every later request refused."""
    drawn = Picture.new("RGB", size)
    drawn.save(folder / "wide.png")
    assert (folder / "wide.png").stat().st_size < MAX_BYTES

    if sent:
        assert len(found("@wide.png", folder)) == 1
    else:
        with pytest.raises(UsageError, match=f"got {size[0]}x{size[1]}"):
            found("@wide.png", folder)
