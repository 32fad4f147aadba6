"""Count what every request carries: the system prompt and the tool definitions, in tokens.

Counted with tiktoken and its o200k_base encoding. tiktoken would download the ranks; the package
bpe-openai ships the same file, and tiktoken checks its digest.
Run: ``python benchmarks/tokens.py [--json]``; exit code 1 when the default four exceed the budget.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import tiktoken

from orchestrator.prompts.build import PromptFacts, system_prompt
from orchestrator.tools import BUILTIN_NAMES, DEFAULT_NAMES, builtin_tools

BUDGET = 1000
"""Tokens of the system prompt and the default four tools together."""

RANKS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
"""The address by which tiktoken names the ranks in its cache; nothing is fetched from it."""


def o200k_base() -> tiktoken.Encoding:
    """Return tiktoken's o200k_base, its cache filled from bpe-openai."""
    spec = find_spec("bpe_openai")
    if spec is None or spec.origin is None:
        raise SystemExit("bpe-openai is not installed: pip install '.[dev]'")
    packed = Path(spec.origin).parent / "data" / "o200k_base.tiktoken.gz"
    with tempfile.TemporaryDirectory() as cache:
        name = hashlib.sha1(RANKS.encode(), usedforsecurity=False).hexdigest()
        (Path(cache) / name).write_bytes(gzip.decompress(packed.read_bytes()))
        os.environ["TIKTOKEN_CACHE_DIR"] = cache
        return tiktoken.get_encoding("o200k_base")


def count_tokens(encoding: tiktoken.Encoding) -> dict[str, int]:
    """Return the tokens of the prompt, of each tool, and of prompt and default four together."""
    facts = PromptFacts(workdir="/workspace", date="2026-01-31", tools=DEFAULT_NAMES)
    counts = {"system prompt": len(encoding.encode(system_prompt(facts)))}
    for tool in builtin_tools(BUILTIN_NAMES):
        definition = tool.definition
        form = {
            "name": definition.name,
            "description": definition.description,
            "input_schema": definition.input_schema,
        }
        text = json.dumps(form, separators=(",", ":"), ensure_ascii=False)
        counts[definition.name] = len(encoding.encode(text))
    counts["default four"] = sum(counts[name] for name in DEFAULT_NAMES)
    counts["total"] = counts["system prompt"] + counts["default four"]
    return counts


def main() -> int:
    """Print the counts."""
    counts = count_tokens(o200k_base())
    if "--json" in sys.argv[1:]:
        print(json.dumps(counts))
    else:
        for name, count in counts.items():
            print(f"{name:15} {count:5}")
        print(f"budget          {BUDGET:5}")
    return 0 if counts["total"] <= BUDGET else 1


if __name__ == "__main__":
    sys.exit(main())
