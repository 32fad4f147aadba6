"""How much of each request a provider's prompt cache has already seen: ``-m benchmarks.prompt_cache``.

The share of a request's bytes that the request before it began with, over 30 turns of a working
session, for each API. 1.00 would be a request that adds nothing.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from orchestrator.tools.registry import builtin_tools
from tests.support.long_talk import BODIES, requests, speech_of

TURNS = 30
SIZE = 2_000
"""Characters of each question and each result."""


def main() -> int:
    """Print one line an API."""
    tools = tuple(tool.definition for tool in builtin_tools(("read", "write", "edit", "bash")))
    speech = speech_of(tools, "x" * 3_000)
    for api in BODIES:
        with tempfile.TemporaryDirectory() as folder:
            sent = list(requests(api, speech, Path(folder), turns=TURNS, size=SIZE))
        cached = sum(_shared(before, after) for before, after in pairwise(sent))
        whole = sum(len(text) for text in sent[1:])
        print(
            f"{api:17} cached share {cached / whole:.3f} of {whole / 1e6:.1f} MB in {len(sent)} requests"
        )
    return 0


def _shared(before: str, after: str) -> int:
    """Return how many characters two texts begin alike with."""
    if after.startswith(before):
        return len(before)
    return next(n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)


if __name__ == "__main__":
    sys.exit(main())
