"""The place a session works in, on the real engine."""

import secrets

import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.engine.containers import find_containers
from orchestrator.engine.labels import BOX
from orchestrator.errors import ConfigError, EngineError, PostureError
from orchestrator.harness.closing import Closing
from orchestrator.harness.room import open_room
from orchestrator.policy.load import load_policy
from orchestrator.schema.ids import SessionId
from orchestrator.schema.request import ExecRequest, WriteRequest
from orchestrator.workspace.warmth import remove_unclaimed

SESSION = SessionId(secrets.token_hex(6))


def policy_of(tmp_path, text=None):
    if text is None:
        return load_policy(["default"], search=asset("policies"), user_file=None)
    path = tmp_path / "p.yaml"
    path.write_text(f"version: 1\nname: p\nextends: [default]\n{text}")
    return load_policy([str(path)], search=asset("policies"), user_file=None)


def visit(options, policy, do, *, paths, front):
    """Open a room, do something in it, and return what came of it."""

    async def run():
        async with open_room(options, policy, paths, session=SESSION, note=front.note) as room:
            return await do(room)

    return anyio.run(run)


def boxes(engine):
    return [box for box in find_containers(engine, kind=BOX) if box.session == SESSION]


def test_flag_that_policy_does_not_allow_is_refused_before_anything_is_made(
    tmp_path, options, paths, front
):
    """A session cannot choose a looser mode than its policy offers."""
    policy = policy_of(tmp_path, "workspace: {modes: [overlay, copy]}\n")

    with pytest.raises(ConfigError, match="--workspace bind"):
        visit(options(workspace="bind"), policy, None, paths=paths, front=front)

    assert not paths.state.exists()


@pytest.mark.docker
def test_room_is_proved_and_gone_afterwards(tmp_path, engine, options, *, paths, front):
    """All that policy requires holds; on leaving, no container is left."""
    policy = policy_of(tmp_path)

    async def look(room):
        assert [box.session for box in boxes(engine)] == [SESSION]
        outcome = await room.box.execute(ExecRequest("cat notes.txt", "/workspace", 10.0))
        await room.settle(Closing.noting(front.note))
        return room, outcome

    room, outcome = visit(options(), policy, look, paths=paths, front=front)

    assert outcome.data["head"] == "one\ntwo\n"
    assert all(room.posture.controls[name] for name in policy.sandbox.require)
    assert room.image_digest.startswith("sha256:")
    assert boxes(engine) == []


@pytest.mark.docker
def test_settled_room_tells_what_changed(tmp_path, engine, options, *, paths, front):
    """One row a change; what is protected says so."""
    policy = policy_of(tmp_path)

    async def work(room):
        for path in ("/workspace/new.txt", "/workspace/.envrc"):
            request = WriteRequest(path, "x", resolved=path)
            assert (await room.box.execute(request)).error is None
        return await room.settle(Closing.noting(front.note))

    rows = {row["path"]: row for row in visit(options(), policy, work, paths=paths, front=front)}

    assert rows["new.txt"] == {"path": "new.txt", "kind": "added"}
    assert rows[".envrc"]["protected"] is True
    assert boxes(engine) == []


@pytest.mark.docker
def test_copy_is_read_again_after_each_box(tmp_path, options, *, paths, front):
    """What is kept of a reading ends with the next box, and holds from one box's end on."""
    policy = policy_of(tmp_path)

    async def work(room, name):
        path = f"/workspace/{name}"
        assert (await room.box.execute(WriteRequest(path, "x", resolved=path))).error is None
        await room.settle(Closing.noting(front.note))
        return {change.path for change in room.found.changes}, room.found.rest

    def go_on(name):
        return visit(
            options(workspace="copy", resume=SESSION),
            policy,
            lambda room: work(room, name),
            paths=paths,
            front=front,
        )

    # Without a file of its own a session never began, and a sweep removes what it left.
    kept = paths.sessions / "project" / f"20261130_{SESSION}.jsonl"
    kept.parent.mkdir(parents=True)
    kept.touch()
    first, rest = go_on("one")
    both, later = go_on("two")

    assert first == {"one"}
    assert both == {"one", "two"}
    assert rest != later
    assert rest
    assert later


@pytest.mark.docker
def test_failure_inside_leaves_no_box(tmp_path, engine, options, *, paths, front):
    """Whatever happens in the room."""

    async def fail(room):  # noqa: ARG001 - what is done in a room
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        visit(options(), policy_of(tmp_path), fail, paths=paths, front=front)

    assert boxes(engine) == []


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_image_that_is_missing_is_an_engine_error(tmp_path, options, paths, front):
    """It is not fetched from anywhere in silence."""
    missing = options(image="glovebox/no-such-image:none")

    with pytest.raises(EngineError, match="no-such-image"):
        visit(missing, policy_of(tmp_path), None, paths=paths, front=front)


@pytest.mark.docker
def test_control_that_does_not_hold_ends_the_box(tmp_path, engine, options, *, paths, front):
    """A root that can be written is no read-only root."""
    policy = policy_of(tmp_path, "sandbox: {read_only_root: false, require: [read_only_root]}\n")
    if policy.sandbox.read_only_root:
        pytest.fail("the policy combines to a read-only root: nothing is tested here")

    with pytest.raises(PostureError, match="read_only_root"):
        visit(options(), policy, None, paths=paths, front=front)

    assert boxes(engine) == []


@pytest.mark.docker
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_start_that_the_engine_leaves_is_swept_later(
    tmp_path, engine, options, *, paths, front, proxy
):
    """What was prepared is told of, and removed once the engine answers."""

    def cut(line):
        front.notes.append(line)
        if "no diff" in line:
            proxy.cut()

    async def run():
        bound = options(workspace="bind")
        async with open_room(bound, policy_of(tmp_path), paths, session=SESSION, note=cut):
            pytest.fail("a room without an engine")

    with pytest.raises(EngineError):
        anyio.run(run)
    left = list((paths.state / "work").iterdir())
    swept = remove_unclaimed(paths, engine)

    assert [path.name for path in left] == [SESSION]
    assert any(f"workspace of session {SESSION}" in note for note in front.notes)
    assert swept == [SESSION]
    assert list((paths.state / "work").iterdir()) == []
