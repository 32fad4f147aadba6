"""Writes the pages that are made from the code: events, errors, command line.

``python docs/generate.py`` writes them; ``--check`` fails where one differs.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
from dataclasses import fields
from pathlib import Path

from policy_reference import policy_reference

from orchestrator import errors
from orchestrator.cli.app import COMMANDS, load_command, run_app
from orchestrator.schema.event import event_kinds

HERE = Path(__file__).parent
ANSWERS = """## Answers file

`--approve FILE` reads answers written down before the run. The first that fits a question answers
it; a question without one is a no. `tool`, `command` (the exact text), `digest` and `rule` must all
fit where they are given; an ask that no blanket yes may answer needs `command` or `digest`.

```yaml
version: 1
answers:
  - {command: "rm -rf build", answer: "yes"}
  - {rule: "risk:publishes", answer: "no", reason: "the release is made by a person"}
```
"""
NOTE = "<!-- made by docs/generate.py; do not edit -->\n\n"


def events_page() -> str:
    """Return the page of the event stream."""
    lines = [
        "# Events",
        "",
        "`glovebox run --json` prints these, one JSON object a line, on stdout. Every object also",
        "holds `type`, `seq` (from 0), `time` (RFC 3339, UTC) and `session`. All text is redacted.",
        "",
        "| type | fields | when |",
        "|---|---|---|",
    ]
    for kind in event_kinds():
        names = ", ".join(f"`{item.name}`" for item in fields(kind))
        lines.append(f"| `{kind.type}` | {names} | {_first_line(kind)} |")
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    """Return the page of errors and exit codes."""
    lines = [
        "# Errors and exit codes",
        "",
        "A message says place, expected, got; an indented line says what to do next.",
        "`GLOVEBOX_DEBUG=1` adds where in the code it happened.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | done |",
        "| 1 | failed |",
        "| 2 | usage |",
        "| 3 | stopped at an ask that nobody could answer (`--on-ask stop`); resumable |",
        "| 4 | a limit was reached; a conclusion was printed where anything had been done |",
        "| 5 | sandbox or engine unavailable |",
        "| 6 | the model provider failed |",
        "| 7 | policy, configuration, key or audit invalid |",
        "| 130 | interrupted; resumable |",
        "| 143 | terminated; resumable |",
        "",
        "| error | exit code | raised when |",
        "|---|---|---|",
    ]
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.GloveboxError):
            lines.append(f"| `{name}` | {kind.exit_code} | {_first_line(kind)} |")
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    """Return the page of the command line, from each command's own help."""
    parts = ["# Command line", "", "```", _help([]), "```", ""]
    for name in COMMANDS:
        inner = getattr(load_command(name), "commands", {})
        for words in [[name], *([name, word] for word in inner)]:
            parts += [f"## glovebox {' '.join(words)}", "", "```", _help(words), "```", ""]
    return "\n".join([*parts, ANSWERS])


def _help(words: list[str]) -> str:
    """Return a command's help as it is printed, 96 columns wide."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = run_app([*words, "--help"])
    if code:
        sys.exit(f"glovebox {' '.join(words)} --help ended with {code}")
    return "\n".join(line.rstrip() for line in printed.getvalue().rstrip().splitlines())


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").split("\n", 1)[0]


PAGES = {
    "events.md": events_page,
    "errors.md": errors_page,
    "cli.md": cli_page,
    "policy-reference.md": policy_reference,
}


def main() -> int:
    """Write or check the pages."""
    os.environ |= {"COLUMNS": "96", "NO_COLOR": "1"}
    stale = []
    for name, make in PAGES.items():
        path, text = HERE / name, NOTE + make()
        if "--check" in sys.argv:
            if not path.exists() or path.read_text("utf-8") != text:
                stale.append(name)
        else:
            path.write_text(text, "utf-8")
    for name in stale:
        sys.stderr.write(f"docs/{name} is stale; run python docs/generate.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
