"""At the end of a run, at a real terminal: look, then decide."""

import pexpect
import pytest

from tests.support.world import GLOVEBOX, call

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("image")]


@pytest.fixture(autouse=True)
def known(world):
    """Somebody vouches for the project, so that nobody is asked at the start."""
    assert world.run("trust", "--vouch").code == 0


@pytest.fixture
def at_the_question(world):
    """Return a run at its last question, with one new file of evil content."""
    model = world.script(
        call("write", path="made.txt", content="by the box \x1b[2J\n"),
        {"text": "done"},
    )
    child = pexpect.spawn(
        str(GLOVEBOX),
        ["run", "go", "-m", model],
        cwd=world.project,
        env=world.env(),
        timeout=60,
        encoding="utf-8",
        dimensions=(40, 120),
    )
    with (world.root / "screen").open("w") as screen:
        child.logfile_read = screen
        child.expect("apply these changes")
        yield child
        child.close()
    world.run("discard", world.session())


def test_yes_after_a_look_applies(world, at_the_question):
    """``d`` shows the diff and asks again; ``y`` brings the changes to the host."""
    at_the_question.send("d\r")
    at_the_question.expect("by the box")
    at_the_question.expect("apply these changes")
    at_the_question.send("y\r")
    at_the_question.expect("1 changes applied")
    at_the_question.expect(pexpect.EOF)
    at_the_question.wait()

    assert at_the_question.exitstatus == 0
    assert (world.project / "made.txt").read_text() == "by the box \x1b[2J\n"
    at_the_question.logfile_read.flush()
    screen = (world.root / "screen").read_text()
    assert "\\x1b[2J" in screen
    assert "\x1b[2J" not in screen


@pytest.mark.parametrize("key", ["\r", "n\r", "\x03", "\x1b", "yess\r"])
def test_anything_but_a_yes_keeps_them_waiting(world, at_the_question, key):
    """Nothing reaches the host; the person is told how to go on."""
    at_the_question.send(key)
    at_the_question.expect("changes wait: glovebox diff")
    at_the_question.expect(pexpect.EOF)
    at_the_question.wait()

    assert at_the_question.exitstatus == 0
    assert not (world.project / "made.txt").exists()
    assert "made.txt" in world.run("diff").out


def test_what_was_typed_before_the_question_is_no_answer(world):
    """A key meant for something else applies nothing."""
    model = world.script(call("write", path="made.txt", content="x"), {"text": "done"})
    child = pexpect.spawn(
        str(GLOVEBOX), ["run", "go", "-m", model], cwd=world.project, env=world.env(), timeout=60
    )
    child.send("y\r")
    child.expect("apply these changes")
    assert child.expect([pexpect.TIMEOUT, "applied"], timeout=1) == 0
    child.send("n\r")
    child.expect("changes wait")
    child.expect(pexpect.EOF)
    child.close()

    assert not (world.project / "made.txt").exists()
    world.run("discard", world.session())


def test_bind_mode_tells_what_appeared(world):
    """No change waits there, so that the note is all a person hears of a new file that runs."""
    (world.project / "make.sh").write_text("echo x > .envrc\n")
    model = world.script(call("bash", command="bash make.sh"), {"text": "done"})

    ended = world.run("run", "go", "-m", model, "--workspace", "bind")

    assert (world.project / ".envrc").exists()
    assert "note: .envrc: policy protects it, and it appeared during the session" in ended.err


def test_machines_are_told_what_appeared_too(world):
    """The event has what a person reads."""
    (world.project / "make.sh").write_text("echo x > .envrc\n")
    model = world.script(call("bash", command="bash make.sh"), {"text": "done"})

    ended = world.run("run", "go", "-m", model, "--workspace", "bind", "--json")

    (note,) = ended.of("workspace")[0]["notes"]
    assert ".envrc: policy protects it" in note


def test_what_was_applied_unasked_and_runs_on_the_host_is_named(world):
    """Nobody looked before, so somebody must be able to look after."""
    model = world.script(call("bash", command="echo all: > Makefile"), {"text": "done"})

    ended = world.run("run", "go", "-m", model, "--apply")

    assert "runs on your machine: Makefile: build or test configuration" in ended.err
