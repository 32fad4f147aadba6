"""A session moves into a warm box only where it is what a cold one would have been."""

import os
import secrets
from dataclasses import replace
from functools import partial

import anyio
import pytest

from orchestrator.engine.containers import find_containers
from orchestrator.harness.closing import Closing
from orchestrator.harness.governing import policy_of
from orchestrator.harness.pool.claim import Claimant
from orchestrator.harness.room import open_room
from orchestrator.schema.ids import SessionId
from orchestrator.schema.request import ExecRequest
from orchestrator.workspace.pending import waiting_sessions
from orchestrator.workspace.warmth import remove_unclaimed
from tests.support.pools import claimed, filled, warm_pool
from tests.support.workspaces import PLAIN_UID, give

pytestmark = pytest.mark.docker


def order(command):
    return ExecRequest(command, "/workspace", 30.0)


def stay(run, paths, front, *, change=None, inside=None):
    """Warm a box, change something, ask for it, and play what is done in the room."""

    async def whole():
        async with warm_pool(run, paths) as pool:
            if change is not None:
                change()
            async with claimed(run, paths, pool) as claim:
                if inside is None:
                    return claim.why
                assert claim.claimed is not None, claim.why
                policy = policy_of(run, paths)
                async with open_room(
                    run, policy, paths, session=claim.session, note=front.note, claim=claim
                ) as room:
                    return await inside(room)

    return anyio.run(whole)


async def said(room, command):
    outcome = await room.box.execute(order(command))
    assert outcome.error is None, outcome
    assert outcome.data["exit_code"] == 0, outcome
    return outcome.data["head"]


def as_owner(path, text):
    path.write_text(text)
    give(path)


def test_warm_box_is_moved_into_and_gone_afterwards(options, paths, front, engine):
    """It is proved, it works, and it tells that it was warm."""

    async def inside(room):
        assert room.posture.facts["start"] == "warm"
        required = policy_of(options(), paths).sandbox.require
        assert required
        assert all(room.posture.controls[name] for name in required)
        text = await said(room, "cat notes.txt; touch new; id -u")
        return room.session, text, await room.settle(Closing.noting(print))

    session, text, changes = stay(options(), paths, front, inside=inside)

    assert text == f"one\ntwo\n{os.geteuid() or PLAIN_UID}\n"
    assert changes == [{"path": "new", "kind": "added"}]
    assert find_containers(engine, session=session) == []
    assert waiting_sessions(paths, options().directory) == [session]


def test_host_files_are_seen_as_they_are_when_the_box_is_taken(options, paths, front, project):
    """Whatever happened while it waited: made, changed, deleted, renamed, at any depth."""
    for name in ("old.txt", "gone.txt", "deep/er/changed.txt", "deep/moved.txt"):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before\n")
    give(project)

    def change():
        as_owner(project / "old.txt", "after, and longer\n")
        as_owner(project / "deep/er/changed.txt", "after\n")
        as_owner(project / "deep/made.txt", "new\n")
        (project / "deep/fresh").mkdir()
        give(project / "deep/fresh")
        as_owner(project / "deep/fresh/file", "new too\n")
        (project / "gone.txt").unlink()
        (project / "deep/moved.txt").rename(project / "deep/er/arrived.txt")

    async def inside(room):
        await said(room, "for f in gone.txt deep/moved.txt; do test ! -e $f || exit 1; done")
        return await said(room, "find . -type f | sort | while read f; do echo $f $(cat $f); done")

    assert stay(options(), paths, front, change=change, inside=inside).splitlines() == [
        "./deep/er/arrived.txt before",
        "./deep/er/changed.txt after",
        "./deep/fresh/file new too",
        "./deep/made.txt new",
        "./notes.txt one two",
        "./old.txt after, and longer",
    ]


def test_host_changes_count_as_conflicts_from_the_taking_on(options, paths, front, project):
    """What changed before is the base; what changes later is the host's own work."""
    as_owner(project / "early.txt", "1\n")
    as_owner(project / "late.txt", "1\n")

    async def inside(room):
        await anyio.sleep(0.05)
        as_owner(project / "late.txt", "host\n")
        await said(room, "echo box > early.txt; echo box > late.txt")
        return {
            row["path"]: row.get("conflict", "") for row in await room.settle(Closing.noting(print))
        }

    change = partial(as_owner, project / "early.txt", "2\n")
    found = stay(options(), paths, front, change=change, inside=inside)

    assert found["early.txt"] == ""
    assert "changed on the host" in found["late.txt"]


def test_hidden_file_that_appeared_is_never_shown(options, paths, front, project):
    """The layer that hides was made before it was there, so the box is not used."""
    change = partial(as_owner, project / ".env", "SECRET=1\n")

    assert "hidden files" in stay(options(), paths, front, change=change)


def test_hidden_file_that_went_makes_no_warm_box(options, paths, front, project):
    """The next one shows what took its place."""
    as_owner(project / ".env", "SECRET=1\n")
    change = (project / ".env").unlink

    assert "hidden files" in stay(options(), paths, front, change=change)


def test_hidden_file_stays_hidden_in_a_warm_box(options, paths, front, project):
    """Also where its folder changed while the box waited; the folder's time is the present one."""
    (project / "conf").mkdir()
    as_owner(project / "conf/.env", "SECRET=1\n")
    give(project)

    def change():
        as_owner(project / "conf/app.ini", "x\n")
        os.utime(project / "conf", (1e9, 1e9))

    async def inside(room):
        return await said(room, "ls -A conf; stat -c %Y conf")

    assert stay(options(), paths, front, change=change, inside=inside) == "app.ini\n1000000000\n"


def test_directory_that_was_replaced_is_not_shown(options, paths, front, project):
    """Another directory at the same path is another project."""

    def change():
        project.rename(project.with_name("away"))
        project.mkdir()
        as_owner(project / "other.txt", "x\n")
        give(project)

    assert "replaced" in stay(options(), paths, front, change=change)


def test_directory_whose_mode_changed_is_not_shown(options, paths, front, project):
    """The box would see the mode of before."""
    assert "mode" in stay(options(), paths, front, change=lambda: project.chmod(0o700))


def test_policy_that_changed_makes_no_warm_box(options, paths, front):
    """The box was made under the old one; the next is made under the new one."""
    run = options()
    paths.config.mkdir()
    user = paths.config / "policy.yaml"

    async def whole():
        async with warm_pool(run, paths) as pool:
            user.write_text("version: 1\nname: mine\nsandbox: {pids: 100}\n")
            async with claimed(run, paths, pool) as claim:
                why = claim.why
            await anyio.sleep(0.1)
            await filled(pool)
            async with claimed(run, paths, pool) as claim:
                assert claim.claimed is not None, claim.why
                return why, claim.claimed.posture.facts["pids_limit"]

    why, pids = anyio.run(whole)

    assert "changed since" in why
    assert pids == "100"
    assert front.notes == []


def test_name_that_changed_makes_no_warm_box(options, paths, front, tmp_path, monkeypatch):
    """The box would commit under the one that git had when it was made."""
    settings = tmp_path / "gitconfig"
    settings.write_text("[user]\nname = Before\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    change = partial(settings.write_text, "[user]\nname = After\n")

    assert "who commits" in stay(options(), paths, front, change=change)


def test_image_that_moved_makes_no_warm_box(options, paths, front, engine, sandbox_image):
    """A name is looked up when the session starts, warm or cold."""
    engine.api.tag(sandbox_image, "glovebox/sandbox-test", "moving")
    run = options(image="glovebox/sandbox-test:moving")
    try:
        why = stay(
            run,
            paths,
            front,
            change=lambda: engine.api.tag(
                "glovebox/base:bookworm", "glovebox/sandbox-test", "moving"
            ),
        )
    finally:
        engine.api.remove_image("glovebox/sandbox-test:moving")

    assert "another by now" in why


def test_box_outlives_the_pool_that_made_it(options, paths, engine):
    """Whoever took it owns it: neither the pool's end nor a sweep touches it."""
    run = options()

    async def whole():
        async with warm_pool(run, paths) as pool:
            claimant = Claimant(
                run, policy_of(run, paths), paths=paths, environ=os.environ, note=print
            )
            claim = await claimant.claim(pool)
        taken = claim.claimed
        assert taken is not None, claim.why
        try:
            assert taken.session not in await taken.lifecycle.reap()
            await anyio.to_thread.run_sync(remove_unclaimed, paths, engine)
            await anyio.sleep(5)
            return await said(taken, "echo alive")
        finally:
            await taken.close(Closing.noting(print))

    assert anyio.run(whole) == "alive\n"
    assert list((paths.state / "work").iterdir()) == []


def test_claim_that_was_not_used_leaves_nothing(options, paths, engine):
    """A session that failed before its room was made is as if it had not been."""

    async def whole():
        async with warm_pool(options(), paths) as pool, claimed(options(), paths, pool) as claim:
            return claim.session

    session = anyio.run(whole)

    assert session is not None
    assert find_containers(engine, session=session) == []
    assert not paths.work(session).exists()


def test_waiting_box_is_no_session(options, paths):
    """Nobody is offered to apply what is in it."""
    run = options()

    async def whole():
        async with warm_pool(run, paths) as pool:
            assert paths.work(pool.ready[0]).exists()
            return waiting_sessions(paths, run.directory)

    assert anyio.run(whole) == []


def test_refused_box_is_swept(options, paths, front, project, engine):
    """Its workspace is marked as nobody's, and goes with the next start."""
    run = options()

    async def whole():
        async with warm_pool(run, paths) as pool:
            [session] = pool.ready
            as_owner(project / ".env", "SECRET=1\n")
            async with claimed(run, paths, pool) as claim:
                assert claim.claimed is None
            policy = policy_of(run, paths)
            cold = SessionId(secrets.token_hex(6))
            async with open_room(
                run, policy, paths, session=cold, note=front.note, claim=claim
            ) as room:
                assert "hidden files" in room.posture.facts["start"]
                assert await said(room, "ls -A") == "notes.txt\n"
            return session

    session = anyio.run(whole)

    assert not paths.work(session).exists()
    assert find_containers(engine, session=session) == []
    assert front.notes == []


def test_copy_is_never_kept_warm(options, paths):
    """It would show the files of some time ago."""
    run = options(workspace="copy")

    async def whole():
        async with warm_pool(run, paths):
            pass

    with pytest.raises(BaseExceptionGroup) as caught:
        anyio.run(whole)

    assert caught.group_contains(AssertionError, match="mode copy cannot wait")
    assert list((paths.state / "work").iterdir()) == []


def test_no_pool_is_a_cold_start(options, paths):
    """The reason is told in the session's posture."""
    run = options()
    claimant = Claimant(run, policy_of(run, paths), paths=paths, environ=os.environ, note=print)

    assert anyio.run(claimant.claim).why == "no pool runs"


def test_resumed_session_asks_for_none(options, paths):
    """It has a workspace of its own."""
    run = replace(options(), resume="abc")
    claimant = Claimant(run, policy_of(run, paths), paths=paths, environ=os.environ, note=print)

    assert "its own workspace" in anyio.run(claimant.claim).why
