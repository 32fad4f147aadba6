"""Going back: turns listed, files and conversation, taken back, killed at every step."""

import json

import pytest

from tests.support.workspaces import give
from tests.support.world import bash

pytestmark = pytest.mark.docker

TURNS = (
    bash("echo one >> notes.txt; echo new > new"),
    bash("rm notes.txt; ln -s new link; mkdir d; echo deep > d/file"),
    bash("cat new"),
    {"text": "done"},
)


@pytest.fixture
def rewound(world):
    """A session of four turns, of which the first two change files."""
    give(world.project)
    model = world.script(*TURNS, {"text": "on another way"})
    ended = world.run("run", "please begin", "-m", model, "--json")
    assert ended.code == 0, ended.err
    world.model = model
    world.events = ended.events
    return world


def listed(world, session):
    return json.loads(world.run("rewind", session, "--list", "--json").out)


def changed(world, session):
    ended = world.run("diff", session, "--json")
    return {c["path"]: c["kind"] for c in json.loads(ended.out)["changes"]}


FIRST = {"notes.txt": "modified", "new": "added"}
SECOND = {"notes.txt": "deleted", "new": "added", "link": "added", "d/file": "added"}


def test_turns_that_changed_files_can_be_gone_back_to(rewound):
    """Both ways by default; the model is told, and the audit holds it."""
    session = rewound.session()
    kept = [
        (e["turn"], e["added"], e["modified"], e["deleted"])
        for e in rewound.events
        if e["type"] == "snapshot"
    ]
    assert kept == [(1, 1, 1, 0), (2, 3, 0, 1)]

    shown = rewound.run("rewind")
    back = rewound.run("rewind", "1")
    resumed = rewound.run("run", "--resume", session, "go on", "-m", rewound.model, "--json")

    assert "» please begin" in shown.out
    assert back.code == 0, back.err
    assert "back at the end of turn 1" in back.out
    assert changed(rewound, session) == SECOND, "the script's second turn ran once more"
    told = rewound.run("sessions", "show", session, "--json").out
    assert "took the conversation and the workspace's files back to the end of turn 1" in told
    assert resumed.of("session_end")[0]["turns"] == 3
    verified = rewound.run("audit", "verify", session, "--require-closed")
    assert verified.code == 0, verified.out
    chain = rewound.run("audit", "show", session, "--json").out
    assert '"rewind_intent"' in chain
    assert '"rewind"' in chain


def test_rewind_can_be_taken_back(rewound):
    """Files and conversation are where they were, and an undo of the undo goes back again."""
    session = rewound.session()
    before = listed(rewound, session)["turns"]

    rewound.run("rewind", session, "1")
    assert (changed(rewound, session), len(listed(rewound, session)["turns"])) == (FIRST, 2)
    rewound.run("rewind", session, "--undo")
    assert (changed(rewound, session), listed(rewound, session)["turns"]) == (SECOND, before)
    rewound.run("rewind", session, "--undo")

    assert (changed(rewound, session), len(listed(rewound, session)["turns"])) == (FIRST, 2)


def test_files_and_conversation_go_back_alone(rewound):
    """Each leaves the other."""
    session = rewound.session()

    assert rewound.run("rewind", session, "1", "--files").code == 0
    assert (changed(rewound, session), len(listed(rewound, session)["turns"])) == (FIRST, 5)
    assert rewound.run("rewind", session, "2", "--conversation").code == 0

    assert (changed(rewound, session), len(listed(rewound, session)["turns"])) == (FIRST, 3)


def test_session_back_at_its_start_keeps_what_it_could_go_back_to(rewound):
    """A run that changes nothing after it does not drop the turns before."""
    session = rewound.session()
    rewound.run("rewind", session, "0")
    assert changed(rewound, session) == {}
    script = rewound.script({"text": "nothing to do"}, name="other.yaml")

    ended = rewound.run("run", "--resume", session, "look", "-m", script)

    assert "earlier ones can be had again" in ended.err
    assert rewound.run("rewind", session, "s3").code == 0
    assert changed(rewound, session) == SECOND


def test_applied_session_has_no_files_to_go_back_in(rewound):
    """All is on the host; the conversation alone still goes back."""
    session = rewound.session()
    assert rewound.run("apply", session).code == 0

    refused = rewound.run("rewind", session, "1")

    assert refused.code == 1
    assert "--conversation" in refused.err
    assert rewound.run("rewind", session, "1", "--conversation").code == 0


def test_running_session_is_not_rewound(rewound):
    """Its file is another process's."""
    session = rewound.session()
    script = rewound.script(*TURNS, bash("sleep 30"), name="slow.yaml")
    process = rewound.start("run", "--resume", session, "x", "-m", script, "--json")
    try:
        process.stdout.readline()
        refused = rewound.run("rewind", session, "1")
    finally:
        process.terminate()
        process.communicate(timeout=30)

    assert refused.code == 1
    assert "has this session open" in refused.err


@pytest.mark.timeout(400)
def test_rewind_that_is_killed_at_any_step_is_whole_or_not_begun(rewound):
    """The next look finishes it; files and conversation never part."""
    session = rewound.session()
    finished = 0
    for step in range(1, 200, 3):
        died = rewound.run(str(step), "rewind", session, "1", module="tests.support.killed_at")
        looked = rewound.run("rewind", session, "--list", "--json")
        now = (changed(rewound, session), len(json.loads(looked.out)["turns"]))
        assert now in {0: [(SECOND, 5)], 1: [(FIRST, 2)]}[now[1] == 2], step
        if now[1] == 2:
            finished += 1
            assert rewound.run("rewind", session, "--undo").code == 0
            assert changed(rewound, session) == SECOND, step
        if died.code == 0:
            break
        assert died.code == -9, died.err

    assert finished > 3, "most steps come after the intent is on disk"
    assert not (rewound.state / "work" / session / "upper.next").exists()


def test_directory_that_lets_nobody_in_is_gone_back_to(world):
    """As it was, with its mode; a run as a plain user meets what root does not."""
    give(world.project)
    model = world.script(
        bash("mkdir -p s/in; echo x > s/in/f; chmod 640 s/in; chmod 0 s"),
        bash(
            "sleep 0.3; stat -c %a s; chmod 700 s; chmod 700 s/in; rm s/in/f; rmdir s/in s; echo y > y"
        ),
        {"text": "done"},
        bash("stat -c %a s; chmod 700 s; stat -c %a s/in; chmod 700 s/in; cat s/in/f"),
        {"text": "seen"},
    )
    first = world.run("run", "x", "-m", model, "--json")
    session = world.session()
    back = world.run("rewind", session, "1", "--files")
    again = world.run("run", "--resume", session, "look", "-m", model, "--json")

    assert first.of("tool_end")[1]["output"] == "0"
    assert back.code == 0, back.err
    assert again.of("tool_end")[0]["output"] == "0\n640\nx"
