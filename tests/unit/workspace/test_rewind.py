from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.snapshots_words import Moment
from tests.support.live_box import LiveBox
from tests.support.workspaces import by_path, picture

pytestmark = pytest.mark.docker

TURNS = (
    "echo one > new; printf 'a\\0b' > binary; echo more >> app.py",
    "rm -r old; mkdir -p deep/er; echo x > deep/er/file; ln -s er deep/link; chmod 700 run.sh",
    "mv src sources; ln new hard; rm binary; mkfifo pipe; echo changed > deep/er/file",
    "rm -r deep; mkdir deep old; echo other > deep/y; rm link; ln -sfn deep link; chmod 555 old",
    "rm hard new pipe; truncate -s 3M big; touch -d @1000000000 run.sh; echo back > old.txt",
)


class Turns:
    """A session whose turns are scripts, with the picture after each."""

    def __init__(self, desk) -> None:
        self.desk = desk
        self.workspace, self.prepared = desk.begin()
        self.history = FileHistory(self.workspace)
        self.pictures: dict[int, str] = {}
        self.numbers: dict[int, int] = {}

    def play(self, *scripts: str) -> None:
        with LiveBox(self.desk.engine, self.prepared) as box:
            if not self.pictures:
                self.note(0, box, Moment("start"))
            for script in scripts:
                turn = max(self.pictures) + 1
                box.run(script)
                self.note(turn, box, Moment("turn", turn, f"entry{turn}"))

    def note(self, turn: int, box: LiveBox, moment: Moment) -> None:
        taken = self.history.take(moment)
        assert taken.snapshot is not None
        self.numbers[turn] = taken.snapshot.number
        self.pictures[turn] = box.picture()

    def rewind(self, turn: int) -> None:
        self.back_to(self.numbers[turn])

    def back_to(self, number: int):
        newest = Moment("before", max(self.pictures))
        return FileHistory(self.workspace).rewind(
            number, now=newest, then=Moment("rewound", newest.turn)
        )

    def look(self) -> str:
        with LiveBox(self.desk.engine, self.again()) as box:
            return box.picture()

    def again(self):
        """Prepare the workspace as a resumed session does."""
        record = self.workspace.site.record
        self.workspace, self.prepared = self.desk.begin(record.session)
        self.desk.begun.pop()
        self.history = FileHistory(self.workspace)
        return self.prepared


NAMES = st.sampled_from(["app.py", "old", "old/a.txt", "src", "link", "x", "y", "d", "d/x", "d/y"])
ALONE = st.sampled_from(
    [
        "rm -rf '{0}'",
        "mkdir -p '{0}'",
        "echo $RANDOM > '{0}'",
        "echo $RANDOM >> '{0}'",
        "head -c 70000 /dev/urandom > '{0}'",
        "chmod u=rwX,g=rX,o= '{0}'",
        "chmod 751 '{0}'",
        "touch -d @1234567890 '{0}'",
        "mkfifo '{0}'",
        "truncate -s 0 '{0}'",
    ]
)
PAIRED = st.sampled_from(
    ["mv -T '{0}' '{1}'", "cp -a '{0}' '{1}'", "ln '{0}' '{1}'", "ln -s '{0}' '{1}'"]
)
EFFECTS = st.one_of(
    st.builds(str.format, ALONE, NAMES), st.builds(str.format, PAIRED, NAMES, NAMES)
)


def script(effects: list[str]) -> str:
    """Run the effects one after the other; one that is not possible is passed over."""
    # A pipe that nobody reads would hold the script up for good.
    return "\n".join(f"timeout 2 bash -c {effect!r} 2>/dev/null || :" for effect in effects)


@pytest.fixture
def turns(desk) -> Turns:
    return Turns(desk)


@pytest.fixture
def any_turns(any_desk) -> Turns:
    return Turns(any_desk)


def test_each_turn_can_be_had_again(turns):
    """Backwards, forwards and back: names, contents, modes, links and times are as they were."""
    turns.play(*TURNS)

    for turn in (3, 1, 0, 5, 2, 4):
        turns.rewind(turn)
        assert turns.look().split("\n") == turns.pictures[turn].split("\n"), turn


def test_what_is_brought_back_can_be_undone(any_turns):
    """The files as they were before are a snapshot too, also where no turn had ended."""
    any_turns.play(*TURNS[:2])
    with LiveBox(any_turns.desk.engine, any_turns.again()) as box:
        box.run("echo by hand > app.py; rm -r deep")
        by_hand = box.picture()

    done = any_turns.back_to(any_turns.numbers[1])
    assert whole_seconds(any_turns.look()) == whole_seconds(any_turns.pictures[1])
    any_turns.back_to(done.before.number)

    assert whole_seconds(any_turns.look()) == whole_seconds(by_hand)


def test_diff_and_apply_are_those_of_the_turn(any_turns):
    """What is applied after a rewind is what the box showed at that turn."""
    any_turns.play(*TURNS[:3])
    any_turns.rewind(1)

    changes = by_path(any_turns.desk.look(any_turns.workspace))
    applied = any_turns.desk.take(any_turns.workspace)

    assert set(changes) == {"new", "binary", "app.py"}
    assert applied.nothing_left
    assert (any_turns.desk.project / "new").read_text() == "one\n"
    assert (any_turns.desk.project / "old" / "a.txt").exists()


def test_turn_before_an_apply_is_had_again_over_the_host_that_has_it(turns):
    """The host has the newer content by then: the layer holds the older one, and diff says so."""
    turns.play(*TURNS)
    project = turns.desk.project
    before = picture(project)
    turns.desk.take(turns.workspace, Selection(globs=("app.py", "sources", "deep", "old", "src")))
    assert picture(project) != before

    for turn in (0, 2, 5, 1, 4):
        turns.rewind(turn)
        shown, noted = turns.look().split("\n"), turns.pictures[turn].split("\n")
        assert without_directory_times(shown) == without_directory_times(noted), turn

    turns.rewind(0)
    turns.desk.take(turns.workspace)

    assert picture(project) == before


def without_directory_times(lines):
    """A directory that an apply made on the host has another time; its content is what counts."""
    return [" ".join(line.split(" ")[:4]) if " d " in line else line for line in lines]


def test_running_box_is_not_touched(any_turns):
    """A layer must not change under a mount."""
    any_turns.play(TURNS[0])
    with LiveBox(any_turns.desk.engine, any_turns.prepared) as box:
        with pytest.raises(WorkspaceError, match="still runs"):
            any_turns.rewind(0)
        assert "more" in box.run("cat app.py")


def test_snapshot_that_is_not_there_is_named(turns):
    """Nothing changes, and nothing is snapshotted for it."""
    turns.play(TURNS[0])

    with pytest.raises(WorkspaceError, match="no snapshot 99"):
        turns.back_to(99)

    assert [item.number for item in turns.history.snapshots()] == [1, 2]


@pytest.mark.parametrize("mode", ["bind", "none"])
def test_mode_without_snapshots_says_why(desk, mode):
    """Files of a bind are the person's own; those in memory are gone with the box."""
    desk.mode = mode
    workspace, _ = desk.begin()

    assert not FileHistory(workspace).is_kept
    with pytest.raises(WorkspaceError, match=f"mode {mode} has no snapshots"):
        FileHistory(workspace).snapshots()


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.lists(EFFECTS, min_size=1, max_size=8), min_size=2, max_size=4), st.integers(0, 99)
)
def test_whatever_was_done_any_turn_comes_back(desk, scripts, seed):
    """Random effects in a real box; every turn, in random order, with its own picture."""
    turns = Turns(desk)
    try:
        turns.play(*(f"{script(effects)}\necho {n} > turn" for n, effects in enumerate(scripts)))
        order = list(turns.pictures)
        Random(seed).shuffle(order)
        for turn in order:
            turns.rewind(turn)
            assert turns.look().split("\n") == turns.pictures[turn].split("\n"), (turn, scripts)
    finally:
        desk.clean()
        desk.begun.clear()


def test_large_file_is_stored_only_when_it_changed(turns):
    """What a turn costs is what it changed, whatever else the session made before."""
    turns.play("head -c 30000000 /dev/urandom > big", "echo small > small", "mv big moved")

    contents = turns.workspace.site.folder / "snapshots" / "contents"
    assert sum(path.stat().st_size for path in contents.iterdir()) < 31_000_000
    turns.rewind(1)
    assert turns.look() == turns.pictures[1]


def whole_seconds(picture):
    """An archive tells whole seconds, and the top's own attributes are the engine's."""
    return re.sub(r"(\d{10})\.\d+", r"\1", picture).split("\n")


def test_copy_comes_back_too(desk):
    """Names, contents, modes, links and times, as exactly as an archive tells them."""
    desk.mode = "copy"
    turns = Turns(desk)
    turns.play(*TURNS)

    for turn in (3, 0, 5, 1):
        turns.rewind(turn)
        assert whole_seconds(turns.look()) == whole_seconds(turns.pictures[turn]), turn
    assert (
        len(
            desk.engine.api.volumes(filters={"name": turns.workspace.site.record.session})[
                "Volumes"
            ]
        )
        == 1
    )


def test_copy_keeps_only_what_changed(desk):
    """What went in from the host is taken from there, once something else is in its place."""
    desk.mode = "copy"
    turns = Turns(desk)
    turns.play("echo new > new", "echo more >> app.py")

    contents = FileHistory(turns.workspace)
    assert contents.used_bytes() == sum(
        map(len, ("new\n", "print('one')\n", "print('one')\nmore\n"))
    )


def test_original_that_nobody_has_any_more_is_named(desk):
    """The person changed the file before the box did, so what went in is gone."""
    desk.mode = "copy"
    turns = Turns(desk)
    turns.play()
    (desk.project / "app.py").write_text("changed by the person\n")
    turns.play("echo more >> app.py", "echo x > x")

    with pytest.raises(WorkspaceError, match=r"'app\.py'.*nothing has changed"):
        turns.rewind(0)

    assert turns.look() == turns.pictures[2]
    turns.rewind(1)
    assert whole_seconds(turns.look()) == whole_seconds(turns.pictures[1])
