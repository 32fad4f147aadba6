"""Text as a model gets it: no terminal control, nothing that a person could not have typed."""

from __future__ import annotations

import re

from orchestrator.tools.tool import Rendered

MAX_OUTPUT = 60_000
"""Bytes of UTF-8 in one result, whatever the box sent."""

# CSI, then OSC and the other strings up to their terminator, then two-character sequences. A string
# without terminator ends with its line, or one stray byte would eat the rest of the output.
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STRUCK = re.compile(r"[^\n\x08]\x08")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def plain_output(text: str) -> str:
    """Return command output as a terminal would leave it: colours gone, progress lines final.

    Of a line that was overwritten by returns the last writing stays; an overstruck character
    goes; all other control characters but newline and tab are dropped.
    """
    text = _SEQUENCES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_writing(line) for line in text.split("\n"))
    if "\x08" in text:
        text = _STRUCK.sub("", text)
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def plain_content(text: str) -> str:
    """Return file content with control characters shown as pictures (ESC is ``␛``), tabs kept.

    Dropping them would make a line look like another one.
    """
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(_picture, text.replace("\r\n", "\n")))


def bounded(rendered: Rendered) -> Rendered:
    """Return the result with its output cut at ``MAX_OUTPUT`` and never empty."""
    output = rendered.output or "(no output)"
    raw = output.encode()
    if len(raw) > MAX_OUTPUT:
        shown = raw[:MAX_OUTPUT].decode("utf-8", "ignore")
        output = f"{shown}\n[cut: {MAX_OUTPUT} of {len(raw)} bytes shown]"
    return Rendered(output, rendered.details, rendered.is_error, rendered.images)


def _last_writing(line: str) -> str:
    writings = [part for part in line.split("\r") if part]
    return writings[-1] if writings else ""


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\\u{code:04x}"
