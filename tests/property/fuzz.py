"""Random and mutated text through the whole gate: nothing escapes, and work stays within its limits.

``python -m tests.property.fuzz [COUNT] [SEED]`` runs it at full length (``make fuzz``).
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.shell.analyse import MAX_CHARACTERS, analyse
from orchestrator.shell.analysis import Analysis
from orchestrator.shell.reading import MAX_COMMANDS
from tests.property import harmless, risky
from tests.support.shipped import ROOT, judge, shipped

FULL = 200_000
PASSES = 2
"""A command whose branches leave a variable in doubt is read a second time."""
MOST_FINDINGS = PASSES * 60 * MAX_COMMANDS
MARKS = (
    *("'", '"', "`", "$(", ")", "${", "}", "$((", "))", "{", "}", ";", "&", "&&", "|", "||", "\n"),
    *(
        "\\",
        "\\\n",
        "<",
        ">",
        ">>",
        "<<",
        "<<-",
        "<<<",
        "<(",
        ">(",
        "<<E\n",
        "\nE\n",
        "#",
        " ",
        "\t",
    ),
    *(
        "=",
        "*",
        "?",
        "[",
        "]",
        "[[",
        "]]",
        "~",
        "!",
        "$'",
        "\\x41",
        "$IFS",
        "$@",
        "${x:-",
        "\0",
        "\r",
    ),
    *(
        "if ",
        "then ",
        "fi",
        "for x in ",
        "do ",
        "done",
        "case ",
        "esac",
        "function f ",
        "f() ",
        "eval ",
    ),
    *(
        "sh -c ",
        "xargs ",
        "find . -exec ",
        "env -S ",
        "sudo ",
        "git -c alias.x=",
        "python3 -c ",
        "awk ",
    ),
    *(
        "\u202e",
        "\u200b",
        "\ufffc",
        "\U000f0020",
        "\U000f0000",
        "é",
        "日本",
        "\ud800",
        "\x1b[",
        "\x7f",
    ),
)


@dataclass
class Tally:
    """What was seen."""

    effects: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    """Texts that broke a promise, with the promise."""


def corpus() -> list[str]:
    """Return every command of the corpora."""
    cases = ROOT / "tests" / "cases"
    gate = yaml.safe_load((cases / "gate.yaml").read_text("utf-8"))
    everyday = yaml.safe_load((cases / "everyday.yaml").read_text("utf-8"))
    return [case["command"] for case in gate] + [
        line for kind in everyday.values() for line in kind
    ]


def texts(chance: random.Random, count: int) -> Iterator[str]:
    """Yield random bytes, random marks, and mutations of the corpus and of generated commands."""
    known = corpus()
    makers = (_bytes, _marks, _mutated, _mutated, _mutated, _spliced, _generated, _nested)
    for _ in range(count):
        yield chance.choice(makers)(chance, known)


def _bytes(chance: random.Random, _known: list[str]) -> str:
    data = chance.randbytes(chance.choice([3, 20, 80, 300]))
    return data.decode(chance.choice(["utf-8", "latin-1"]), "surrogateescape")


def _marks(chance: random.Random, _known: list[str]) -> str:
    words = ("ls", "git", "rm", "-rf", "x", "a b", "push", "/", "1")
    return "".join(chance.choices(MARKS + words, k=chance.randint(1, 30)))


def _mutated(chance: random.Random, known: list[str]) -> str:
    text = chance.choice(known)
    for _ in range(chance.randint(1, 6)):
        at, to = sorted(chance.choices(range(len(text) + 1), k=2))
        cut = text[at:to] if to - at < 30 else text[at : at + 3]
        text = chance.choice(
            [
                text[:at] + chance.choice(MARKS) + text[at:],
                text[:at] + text[at + len(cut) :],
                text[:at] + cut + text[at:],
                text[:at] + cut[::-1] + text[at + len(cut) :],
                text[:at] + chr(chance.randrange(1, 0x500)) + text[at + 1 :],
            ]
        )
    return text


def _spliced(chance: random.Random, known: list[str]) -> str:
    first, second = chance.choices(known, k=2)
    return first[: chance.randint(0, len(first))] + second[chance.randint(0, len(second)) :]


def _generated(chance: random.Random, _known: list[str]) -> str:
    made = chance.choice([risky.generate, harmless.generate])(chance)
    return _mutated(chance, [made])


def _nested(chance: random.Random, known: list[str]) -> str:
    """Repeat or nest past the limits."""
    inner = chance.choice(known)
    times = chance.choice([2, 20, 150, 500])
    left, right = chance.choice([("$(", ")"), ("{ ", "; }"), ("(", ")"), ("eval ", ""), ("`", "`"),
                                 ("if x; then ", "; fi"), ('"$(', ')"'), ("sh -c ", "")])  # fmt: skip
    if chance.random() < 0.5:
        return left * times + inner + right * times
    return chance.choice(["; ", "\n", " | ", " && ", " "]).join([inner] * min(times, 200))


def broken_promise(text: str, analysis: Analysis) -> str:
    """Return which bound the analysis of a text goes beyond; empty when it keeps them all."""
    if len(analysis.commands) > MAX_COMMANDS + 1:
        return f"{len(analysis.commands)} commands"
    if len(analysis.findings) > MOST_FINDINGS:
        return f"{len(analysis.findings)} findings"
    if len(text) > MAX_CHARACTERS and not analysis.findings:
        return "too long, and no finding"
    spans = [item.span for item in (*analysis.findings, *analysis.commands)]
    if any(not 0 <= start <= end <= len(text) for start, end in spans):
        return "a span outside of the text"
    return ""


def run(policy: EffectivePolicy, count: int, seed: str) -> Tally:
    """Put ``count`` texts through the gate."""
    tally = Tally()
    for text in texts(random.Random(seed), count):
        analysis = analyse(text)
        decision = judge(policy, text)
        promise = broken_promise(text, analysis)
        if decision.rule == "gate-error":
            promise = decision.reason
        if promise:
            tally.broken.append(f"{promise}: {text!r}")
        tally.effects[decision.effect] += 1
    return tally


def main() -> None:
    """Run at full length and print what was seen; fail when a promise was broken."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else FULL
    seed = sys.argv[2] if len(sys.argv) > 2 else "full"
    tally = run(shipped("default"), count, seed)
    seen = ", ".join(f"{effect} {number}" for effect, number in sorted(tally.effects.items()))
    print(f"fuzz: {count} texts, seed {seed}: {seen}; broken promises: {len(tally.broken)}")
    for line in tally.broken[:50]:
        print(line[:600])
    raise SystemExit(1 if tally.broken else 0)


if __name__ == "__main__":
    main()
