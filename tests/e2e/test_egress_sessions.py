"""The way out of every kind of session: answered from elsewhere, warm, resumed, in the background."""

import asyncio
import http.server
import json
import threading
from contextlib import contextmanager

import anyio
import anyio.to_thread
import pytest
import yaml

from orchestrator.confirmation.inbox import Inbox
from orchestrator.harness.options import NO_MODEL, RunOptions
from orchestrator.harness.person import Person
from orchestrator.harness.shell import open_shell
from orchestrator.schema.stream import TerminalSize
from tests.support.asking import until_asked
from tests.support.outing import allow
from tests.support.upstream import upstream
from tests.support.workspaces import give
from tests.support.world import World, bash

pytestmark = pytest.mark.docker

BY_PROXY = "curl -sS --noproxy '' -x http://127.0.0.1:3128"
"""Names of the box itself would be reached directly."""


async def drip(head, reader, writer):  # noqa: ARG001 - the form of Answer
    """Begin an answer, and never end it."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\nbegun\n")
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.05)


def test_another_process_answers_and_takes_its_yes_back(outing, tmp_path):
    """``approvals answer`` lets the request go on, ``approvals revoke`` ends what it let out."""
    elsewhere = World(tmp_path)

    async def answer(far):
        held = await until_asked(Inbox(outing.paths.questions))
        done = await anyio.to_thread.run_sync(
            lambda: elsewhere.run(
                "approvals", "answer", held.question.id, "yes", "--scope", "session"
            )
        )
        assert done.code == 0, done.err
        await far.arrived.wait()
        revoked = await anyio.to_thread.run_sync(
            lambda: elsewhere.run("approvals", "revoke", "--all")
        )
        assert revoked.code == 0, revoked.err
        return held

    async def run():
        async with upstream("api.acme.example", answer=drip) as far:
            rule = {**allow("api.acme.example", schemes=["http"]), "effect": "ask"}
            policy = outing.policy(default="deny", rules=[rule])
            held = []

            async def somebody():
                held.append(await answer(far))

            async with anyio.create_task_group() as group:
                group.start_soon(somebody)
                outputs = await outing.run(
                    policy,
                    "curl -sS --max-time 60 http://api.acme.example/a?token=1; echo ended $?",
                    net=far.net,
                    approve="ask",
                )
            return held[0], outputs

    held, (output,) = anyio.run(run)

    assert held.question.subject == "GET http://api.acme.example/a?token=1"
    assert "begun" in output
    assert "ended 0" not in output
    (end,) = outing.records("egress_end")
    assert "do not let it pass" in end["problem"]
    assert "token=1" not in repr(outing.records("approval_asked"))


@contextmanager
def listening():
    """A plain server on this host's loopback; yields its port and what it was asked."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "6")
            self.end_headers()
            self.wfile.write(b"hello\n")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1], asked
        server.shutdown()
        thread.join()


def near(world, port, effect="allow"):
    """Return a policy that lets out to this host's own loopback, which only a rule can say."""
    rule = {
        "id": "near",
        "hosts": ["localhost"],
        "schemes": ["http"],
        "ports": [port],
        "private": ["127.0.0.0/8", "::1/128"],
        "effect": effect,
    }
    path = world.root / "near.yaml"
    network = {"default": "deny", "rules": [rule]}
    document = {"version": 1, "name": "near", "extends": ["default"], "network": network}
    path.write_text(yaml.safe_dump(document))
    return str(path)


@pytest.fixture
def pooled(world):
    give(world.project)
    yield world
    world.run("pool", "stop", str(world.project))


def test_warm_and_resumed_sessions_have_the_same_way_out(pooled):
    """What a pool made knows nothing of rules; they come with the session that moves in."""
    with listening() as (port, asked):
        policy = near(pooled, port)
        url = f"http://localhost:{port}"
        config = pooled.root / "config"
        config.mkdir()
        (config / "config.yaml").write_text(yaml.safe_dump({"policy": [policy]}))
        assert pooled.run("pool", "warm", str(pooled.project)).code == 0
        model = pooled.script(bash(f"{BY_PROXY} {url}/warm"), {"text": "done"})
        warm = pooled.run("run", "go", "-m", model, "--json")
        [start] = warm.of("session_start")
        more = pooled.script(
            {"text": "-"},
            {"text": "-"},
            bash(f"({BY_PROXY} {url}/behind >out &) ; sleep 1; cat out"),
            {"text": "done"},
            name="more.yaml",
        )
        resumed = pooled.run("run", "on", "-m", more, "--resume", start["session"], "--json")

    assert start["posture"]["facts"]["start"] == "warm"
    assert start["posture"]["facts"]["way_out"].startswith("proxy")
    assert "hello" in warm.of("tool_end")[0]["output"]
    assert "hello" in resumed.of("tool_end")[0]["output"], resumed.err
    assert asked == ["/warm", "/behind"]


def test_run_that_is_to_stop_ends_and_goes_on_with_the_answer(world):
    """The request is refused and its question kept; the next try of a resumed run has its answer."""
    with listening() as (port, asked):
        policy = near(world, port, "ask")
        get = bash(f"{BY_PROXY} http://localhost:{port}/a")
        model = world.script(get, {"text": "never said"})
        stopped = world.run(
            "run", "go", "-m", model, "--policy", policy, "--on-ask", "stop", "--json"
        )
        [row] = json.loads(world.run("approvals", "list", "--json").out)["questions"]
        before = list(asked)
        answered = world.run("approvals", "answer", row["question"]["id"], "yes")
        again = world.script({"text": "-"}, get, {"text": "done"}, name="again.yaml")
        session = row["question"]["session"]
        resumed = world.run(
            "run", "on", "-m", again, "--resume", session, "--policy", policy, "--json"
        )

    assert (stopped.code, before) == (3, [])
    assert "nobody could be asked" in stopped.of("tool_end")[0]["output"]
    assert row["question"]["subject"] == f"GET http://localhost:{port}/a"
    assert answered.code == 0, answered.err
    assert resumed.code == 0, resumed.err
    assert "hello" in resumed.of("tool_end")[0]["output"]
    assert asked == ["/a"]


def test_shell_of_a_person_has_the_way_out_and_asks_in_the_inbox(outing, tmp_path):
    """The terminal is the person's own: the question waits for another one of theirs."""
    elsewhere = World(tmp_path)

    async def answer():
        held = await until_asked(Inbox(outing.paths.questions))
        done = await anyio.to_thread.run_sync(
            lambda: elsewhere.run("approvals", "answer", held.question.id, "yes")
        )
        assert done.code == 0, done.err

    async def run():
        async with upstream("docs.acme.example") as far:
            rule = {**allow("docs.acme.example", schemes=["http"]), "effect": "ask"}
            options = RunOptions(
                prompt=None,
                directory=outing.project,
                model=NO_MODEL,
                policies=(outing.policy(default="deny", rules=[rule]),),
            )
            async with (
                open_shell(options, outing.paths, front=outing.told, net=far.net) as shell,
                anyio.create_task_group() as group,
            ):
                group.start_soon(answer)
                stream = await shell.access.open_terminal(
                    TerminalSize(80, 24),
                    Person.here("shell"),
                    command="curl -sS http://docs.acme.example/",
                )
                shown = b""
                while data := await stream.receive():
                    shown += data
                await stream.close()
            return shown, far.asked

    shown, asked = anyio.run(run)

    assert b"hello" in shown
    assert asked == ["GET / HTTP/1.1"]
    (body,) = outing.records("egress")
    assert body["answer"]["by"] == "inbox"
    assert any("a question waits" in note for note in outing.told.notes)
