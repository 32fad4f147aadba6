"""Every redaction case of the corpus, whole and in pieces, as text and inside data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.redaction.redactor import Redactor
from orchestrator.redaction.stream import RedactingStream

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "redact.yaml").read_text())


def redactor_for(case: dict[str, Any]) -> Redactor:
    known = case.get("known")
    values = ["".join(case["secret"])] if known is True else known or []
    return Redactor({f"key-{at}": value for at, value in enumerate(values)}, key=bytes(32))


def check(case: dict[str, Any], text: str, result: str) -> None:
    if case["expect"] == "kept":
        assert result == text
        return
    for secret in ("".join(case["secret"]), *case.get("forbidden", ())):
        assert secret not in result
    assert "[redacted:" in result


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_holds_for_the_whole_text(case: dict[str, Any]) -> None:
    """Secrets go, everything else stays byte for byte, and a second pass changes nothing."""
    text, redactor = "".join(case["text"]), redactor_for(case)

    result = redactor.redact(text)

    check(case, text, result)
    assert redactor.redact(result) == result


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 61])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_holds_for_any_pieces(case: dict[str, Any], size: int) -> None:
    """However a stream is cut, it reads as if it had come whole."""
    text, redactor = "".join(case["text"]), redactor_for(case)
    pieces: list[str] = []
    stream = RedactingStream(redactor, pieces.append)

    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    stream.flush()

    assert "".join(pieces) == redactor.redact(text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_holds_inside_data(case: dict[str, Any]) -> None:
    """A text deep in JSON data is redacted like one on its own."""
    text, redactor = "".join(case["text"]), redactor_for(case)

    result = redactor.redact_json({"calls": [{"output": text}], text: None})

    check(case, text, result["calls"][0]["output"])
    check(case, text, next(reversed(result)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_holds_inside_a_json_line(case: dict[str, Any]) -> None:
    """A line of a log or session file, escapes and all, keeps no secret."""
    line = json.dumps({"output": "".join(case["text"])})

    result = redactor_for(case).redact(line)

    check(case, line, result)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["expect"] != "kept"], ids=lambda case: case["id"]
)
def test_case_can_be_restored(case: dict[str, Any]) -> None:
    """The file a secret was read from can be written again as it was."""
    text, redactor = "".join(case["text"]), redactor_for(case)
    result = redactor.redact_read(text, "/workspace/file")

    assert redactor.restore(result, "/workspace/file") == (text, ())
    assert redactor.restore(result, "/workspace/other")[1] != ()
