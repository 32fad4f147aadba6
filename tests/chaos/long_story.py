"""Forty turns on two branches, compacted on both: killed at any write, it comes to the same end.

Each turn leaves one line in a file. What may differ from an undisturbed run: the model is told that
the run was interrupted, and the one call that ran then may have an interrupted result in place of its
own, and its line may be missing. Nothing else, and no line is there twice.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.dispatch.batch import INTERRUPTED as BROKEN_OFF
from orchestrator.harness.record import RESTARTED
from orchestrator.schema.message import AssistantMessage, ToolMessage
from orchestrator.sessions.projection import INTERRUPTED, project
from orchestrator.sessions.tree import EntryTree
from orchestrator.sessions.view import SessionView
from tests.support.killed_writing import SAID
from tests.support.workspaces import give
from tests.support.world import Ended, World, bash

LOG = "log.txt"
MODEL = {"name": "small", "context_window": 6_000, "max_output": 500}
SMALL, FULL = {"input": 1_000, "output": 10}, {"input": 5_000, "output": 10}
"""What a turn reports: after a full one the conversation is compacted."""
FILLER = "word " * 445
"""About 520 tokens a turn, so that what is kept, some 1,300, lies well between two turns and three:
an interrupted result and the note that tells of it, some 70, move no cut."""
BRANCH_AT = 8
FIRST, SECOND = range(20), range(BRANCH_AT, BRANCH_AT + 20)
FULL_TURNS = {12, 18, 22}
SUMMARY = "## Goal\nleave a line a turn"
SPARE = "nothing left to do"
"""Said by a run that is taken up after its last word."""
LAST_WORDS = {"a": "done a", "b": "done b"}
KILLED = -9
_KINDS = {"message", "compaction", "leaf"}


def script_turns(way: str) -> list[dict[str, Any]]:
    """Return a way's turns; the second one's begin where it leaves the first."""
    turns = FIRST if way == "a" else range(SECOND.stop)
    told = [
        {
            **bash(f"echo {way}{n} >> {LOG}; echo did {way}{n}"),
            "text": f"{way}{n} {FILLER}",
            "usage": FULL if n in FULL_TURNS else SMALL,
        }
        for n in turns
    ]
    return [*told, {"text": LAST_WORDS[way], "usage": SMALL}, *[{"text": SPARE}] * 2]


@dataclass
class LongStory:
    """One play of it, in a world of its own."""

    world: World
    models: dict[str, str]
    kills: int = 0

    @classmethod
    def begin(cls, root: Path) -> "LongStory":
        """Make the world."""
        world = World(root)
        world.project.mkdir(parents=True)
        (world.project / LOG).touch()
        give(world.project)
        models = {
            way: world.script(
                *script_turns(way), name=f"{way}.yaml", model=MODEL, summaries=[SUMMARY] * 9
            )
            for way in LAST_WORDS
        }
        return cls(world, models)

    def play(self, phase: int = -1, step: int = 0) -> list[int]:
        """Play all phases, killed at a step of one of them; return how many steps each had."""
        acts = (self._first, self._back, self._second)
        return [act(step if phase == number else 0) for number, act in enumerate(acts)]

    @property
    def session(self) -> str:
        """The session's id."""
        return self._file.stem.rpartition("_")[2]

    @property
    def _has_file(self) -> bool:
        return any(self.world.state.glob("sessions/*/*.jsonl"))

    @property
    def _file(self) -> Path:
        (found,) = self.world.state.glob("sessions/*/*.jsonl")
        return found

    def tree(self) -> EntryTree:
        """Read the session's tree as it is on disk."""
        return SessionView.open(self._file).tree

    def _first(self, step: int) -> int:
        return self._say("go", "a", step)

    def _back(self, step: int) -> int:
        before = len(self.tree().entries)
        said = ("rewind", self.session, str(BRANCH_AT), "--conversation")
        ended = self._run(step, *said)
        if ended.code == KILLED and len(self.tree().entries) == before:
            # Nothing of it is there: the person does it again.
            return _steps(self._run(0, *said))
        return 0 if ended.code == KILLED else _steps(ended)

    def _second(self, step: int) -> int:
        return self._say("other way", "b", step)

    def _say(self, words: str, way: str, step: int) -> int:
        """Say something; where the run is killed before that is stored, say it again."""
        ended = self._run(step, *self._saying(words, way))
        if ended.code != KILLED:
            return _steps(ended)
        if self._has_file and json.dumps(words) in self._file.read_text():
            return self._go_on(way)
        return _steps(self._run(0, *self._saying(words, way)))

    def _saying(self, words: str, way: str) -> tuple[str, ...]:
        resumed = ("--resume", self.session) if self._has_file else ()
        return ("run", words, *resumed, "-m", self.models[way])

    def _go_on(self, way: str) -> int:
        return _steps(self._run(0, "run", "--resume", self.session, "-m", self.models[way]))

    def _run(self, step: int, *arguments: str) -> Ended:
        words = (str(step), *arguments)
        ended = self.world.run(*words, module="tests.support.killed_writing")
        self.kills += ended.code == KILLED
        assert ended.code == 0 or (step and ended.code == KILLED), (words, ended.err[-2000:])
        return ended

    def clean(self) -> None:
        """Drop what dead runs left."""
        ended = self.world.run("gc")
        assert ended.code == 0, ended.err


def _steps(ended: Ended) -> int:
    found = re.search(rf"{SAID}(\d+)", ended.err)
    assert found is not None, ended.err
    return int(found[1])


@dataclass(frozen=True)
class End:
    """What a play came to, without what an interruption may change."""

    tree: tuple[tuple[Any, ...], ...]
    """Of each entry that counts: its kind, what it says, and the numbers of those it names."""
    conversation: tuple[tuple[Any, ...], ...]
    """What the model would be told next."""
    results: dict[str, str | None]
    """Of every answer's call on any branch; None for an interrupted one."""
    lines: Counter
    intents: Counter


def end_of(story: LongStory) -> End:
    """Read what there is: session file, audit, and the file that the turns wrote."""
    verified = story.world.run("audit", "verify", story.session, "--require-closed")
    assert verified.code == 0, verified.out + verified.err
    intents = Counter(body["request"]["command"] for body in story.world.records("intent"))
    applied = story.world.run("apply", story.session)
    assert applied.code == 0, applied.err
    lines = Counter((story.world.project / LOG).read_text().split())
    tree = story.tree()
    return End(_shape(tree), _told(project(tree.path())), _results(tree), lines, intents)


def problems_of(end: End, undisturbed: End, kills: int) -> list[str]:
    """Return what must not differ, and does."""
    found = []
    if end.tree != undisturbed.tree:
        found.append(f"tree: {_difference(end.tree, undisturbed.tree)}")
    lost = [at for at, result in end.results.items() if result is None]
    if len(lost) > kills:
        found.append(f"interrupted calls: {lost}")
    for at, result in undisturbed.results.items():
        if at not in lost and end.results.get(at) != result:
            found.append(f"result of {at}: {end.results.get(at)!r}")
    told = _without_results(end.conversation, lost)
    if told != _without_results(undisturbed.conversation, lost):
        found.append(f"conversation: {_difference(end.conversation, undisturbed.conversation)}")
    missing = set(undisturbed.lines) - set(end.lines)
    if missing - set(lost) or set(end.lines) - set(undisturbed.lines):
        found.append(f"lines: {missing} are missing, {lost} were interrupted")
    found += [f"line {line}: {times} times" for line, times in end.lines.items() if times != 1]
    found += [f"intent {what}: {times} times" for what, times in end.intents.items() if times != 1]
    return found


def _difference(one: Any, other: Any) -> str:
    pairs = zip([*one, None], [*other, None], strict=False)
    at, pair = next(((n, pair) for n, pair in enumerate(pairs) if pair[0] != pair[1]), (-1, None))
    return f"{len(one)} and {len(other)}, the first at {at}: {str(pair)[:600]}"


def _shape(tree: Any) -> tuple[tuple[Any, ...], ...]:
    numbers: dict[str | None, int] = {None: 0}
    told = []
    for entry in tree.entries:
        numbers[entry.id] = numbers[entry.parent]
        said = _said(entry)
        if said is None:
            continue
        body = entry.body
        names = [body.get(name) for name in ("first_kept", "target") if name in body]
        told.append((entry.type, said, numbers[entry.parent], *(numbers[name] for name in names)))
        if entry.type != "leaf":
            numbers[entry.id] = len(told)
    return tuple(told)


def _said(entry: Any) -> str | None:
    """Return what counts of an entry; None for notes, results and what an interruption adds."""
    if entry.type not in _KINDS:
        return None
    if entry.type != "message":
        return str(entry.body.get("summary", ""))
    if entry.body["role"] == "tool":
        return None
    texts = [part.get("text", part.get("raw_arguments", "")) for part in entry.body["content"]]
    texts = [text for text in texts if text not in {RESTARTED, SPARE}]
    return json.dumps(texts) if texts else None


def _told(messages: Any) -> tuple[tuple[Any, ...], ...]:
    told = []
    for message in messages:
        if isinstance(message, ToolMessage):
            told += [("result", result.call, _own(result)) for result in message.results]
            continue
        texts = [getattr(part, "text", None) or part.raw_arguments for part in message.content]
        texts = [text for text in texts if text not in {RESTARTED, SPARE}]
        if texts:
            told.append((type(message).__name__, *texts))
    return tuple(told)


def _own(result: Any) -> str | None:
    closed = result.output in {INTERRUPTED, BROKEN_OFF}
    return None if closed else result.output


def _without_results(told: Any, lost: list[str]) -> list[Any]:
    """Leave out what interrupted calls gave back, whichever play they were interrupted in."""
    outputs = {f"did {line}" for line in lost}
    return [
        one
        for one in told
        if one[0] != "result" or not (one[2] is None or one[2].strip() in outputs)
    ]


def _results(tree: Any) -> dict[str, str | None]:
    """Return what each call gave, by the line it was to leave."""
    found: dict[str, str | None] = {}
    parents = {entry.parent for entry in tree.entries}
    for leaf in [entry.id for entry in tree.entries if entry.id not in parents]:
        asked: dict[str, str] = {}
        path = [entry for entry in tree.path(leaf) if entry.type == "message"]
        for message in project(path):
            if isinstance(message, AssistantMessage):
                asked |= {c.id: c.arguments["command"].split()[1] for c in message.tool_calls}
            elif isinstance(message, ToolMessage):
                found |= {asked[result.call]: _own(result) for result in message.results}
    return found
