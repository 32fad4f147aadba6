"""Private keys go line by line, in every dress that tools put them in."""

from __future__ import annotations

import string
from collections.abc import Callable

import pytest

from orchestrator.redaction.key_blocks import find_key_blocks, open_block_start

from .conftest import made

Redact = Callable[[str], str]
BASE64 = string.ascii_letters + string.digits + "+/"
BODY = [made(64, BASE64), made(63, BASE64) + "=", made(12, BASE64)]
KINDS = ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "]


def block(kind: str = "", *, prefix: str = "", end: str = "\n", number: bool = False) -> str:
    lines = [f"-----BEGIN {kind}PRIVATE KEY-----", *BODY, f"-----END {kind}PRIVATE KEY-----"]
    shown = (
        f"{at:>6}\t{line}" if number else f"{prefix}{line}" for at, line in enumerate(lines, 1)
    )
    return end.join(shown) + end


def assert_gone(result: str) -> None:
    assert not [line for line in BODY if line in result]


@pytest.mark.parametrize("kind", KINDS)
def test_every_body_line_goes_and_the_frame_stays(redact: Redact, kind: str) -> None:
    """Each line has a placeholder of its own, so lines keep their numbers."""
    result = redact(f"before\n{block(kind)}after\n").split("\n")

    assert result[:2] == ["before", f"-----BEGIN {kind}PRIVATE KEY-----"]
    assert all(line.startswith("[redacted:private-key:") for line in result[2:5])
    assert len(set(result[2:5])) == 3
    assert result[5:] == [f"-----END {kind}PRIVATE KEY-----", "after", ""]


@pytest.mark.parametrize(
    "prefix", ["  ", "> ", "+", "-", "# ", "// ", " * ", "12:", "12-", "12\t", "   2 │ "]
)
def test_what_stands_before_a_line_does_not_hide_it(redact: Redact, prefix: str) -> None:
    """Diffs, comments, quotes, grep and numbered listings."""
    assert_gone(redact(block(prefix=prefix)))


def test_line_numbers_stay(redact: Redact) -> None:
    """A listing keeps its numbers."""
    result = redact(block(number=True)).split("\n")

    assert_gone("\n".join(result))
    assert [line[:7] for line in result[:5]] == [f"{at:>6}\t" for at in range(1, 6)]


@pytest.mark.parametrize("end", ["\\n", "\\\\n", "\\r\\n", " ", "\r\n"])
def test_key_on_one_line_goes(redact: Redact, end: str) -> None:
    """JSON escapes and flattened environment variables."""
    assert_gone(redact(f'"private_key": "{block(end=end)}", "id": "x"'))


def test_key_put_together_in_code_goes(redact: Redact) -> None:
    """String literals, one a line."""
    lines = "".join(f'    "{line}\\n"\n' for line in BODY)

    assert_gone(
        redact(f'key = ("-----BEGIN PRIVATE KEY-----\\n"\n{lines}"-----END PRIVATE KEY-----")')
    )


def test_block_cut_at_its_end_goes(redact: Redact) -> None:
    """Truncated output still shows no key; what follows stays."""
    cut = block("RSA ").split("-----END")[0]

    result = redact(f"{cut}[9 lines left out]\nplain words here\n")

    assert_gone(result)
    assert result.endswith("[9 lines left out]\nplain words here\n")


def test_block_cut_at_its_beginning_goes(redact: Redact) -> None:
    """The tail of a file is no safer than its head."""
    cut = f"{BODY[0]}\n{BODY[1]}\n-----END PRIVATE KEY-----\nafter"

    result = redact(f"plain words here\n{cut}")

    assert BODY[0] not in result
    assert BODY[1] not in result
    assert result.startswith("plain words here\n[")
    assert result.endswith("\nafter")


def test_headers_inside_a_block_stay(redact: Redact) -> None:
    """What encrypts the key is no secret."""
    text = f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{BODY[0]}\n-----END RSA PRIVATE KEY-----"

    assert "\nProc-Type: 4,ENCRYPTED\n\n[redacted:private-key:" in redact(text)


def test_pgp_block_goes(redact: Redact) -> None:
    """OpenPGP's armour has its own words."""
    text = block("PGP ").replace("PRIVATE KEY", "PRIVATE KEY BLOCK")

    assert_gone(redact(text))


def test_two_cut_blocks_both_go(redact: Redact) -> None:
    """A beginning after a beginning closes the first."""
    cut = block().split("-----END")[0]

    assert_gone(redact(cut + cut))


@pytest.mark.parametrize(
    "what", ["PUBLIC KEY", "CERTIFICATE", "CERTIFICATE REQUEST", "PGP PUBLIC KEY BLOCK"]
)
def test_public_blocks_stay(redact: Redact, what: str) -> None:
    """What everyone may have is left alone."""
    text = "\n".join([f"-----BEGIN {what}-----", *BODY, f"-----END {what}-----"])

    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY----- is the first line of such a file, then base64 follows",
        'if line == "-----BEGIN PRIVATE KEY-----":\n    inside = True\nelif line == "-----END PRIVATE KEY-----":\n    inside = False\n',
        "Private-Lines: 14 is what PuTTY writes",
    ],
)
def test_code_and_prose_about_keys_stays(redact: Redact, text: str) -> None:
    """Talking of keys is no leak."""
    assert redact(text) == text


def test_putty_key_goes(redact: Redact) -> None:
    """PuTTY counts its lines instead of framing them."""
    assert_gone(
        redact("Private-Lines: 3\n" + "\n".join(BODY[:2]) + "\nPrivate-MAC: x\n").replace(
            BODY[2], ""
        )
    )


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("plain", None),
        (block(), None),
        ("x\n-----BEGIN PRIVATE KEY-----", 2),
        (f"x\n-----BEGIN PRIVATE KEY-----\n{BODY[0]}\n{BODY[1][:9]}", 2),
        ("-----BEGIN PRIVATE KEY----- in prose\nand more\n", None),
    ],
)
def test_open_block_is_told_from_a_finished_one(text: str, start: int | None) -> None:
    """A stream waits for the end of a key, and for nothing else."""
    assert open_block_start(text) == start


@pytest.mark.parametrize(
    "unit",
    [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n",
        "-----END PRIVATE KEY-----\n",
    ],
)
def test_hostile_repetition_is_searched_through(unit: str) -> None:
    """Markers without end do not make the search quadratic."""
    spans = list(find_key_blocks(unit * (1_000_000 // len(unit))))

    assert all(span.kind == "private-key" for span in spans)
