"""Asking an image's package clients where they fetch from: in a box of their own, once an image.

The box has no workspace, a new home and no way out, and the clients start in ``/``: a project's
``.npmrc`` or ``pip.conf`` could name a host of its own as the registry, and is never read here.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import anyio

from orchestrator.config.paths import Paths
from orchestrator.egress.packages.client import Client
from orchestrator.egress.packages.clients import CLIENTS
from orchestrator.errors import BoxError
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.harness.packages.answers import (
    AnswerStore,
    ClientAnswer,
    places_in,
    read_answer,
)
from orchestrator.sandbox.driver import BoxSpec, Executor, Lifecycle
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.packages import Ecosystem, PackagePlace
from orchestrator.schema.request import ExecRequest

PATIENCE_S = 60.0
"""A client that takes a virtual machine up on a busy host needs some of it."""
_MISSING = 127
_WORKSPACE = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class FoundPackages:
    """Where an image's clients fetch from, and what of it is not known."""

    places: tuple[PackagePlace, ...] = ()
    problems: Mapping[Ecosystem, str] | None = None

    def lines(self) -> tuple[str, ...]:
        """Return a line for each client that nothing is let out for, raw."""
        return tuple(
            f"network.packages: {name}: {problem}"
            for name, problem in (self.problems or {}).items()
        )


async def find_packages(
    wanted: Collection[Ecosystem],
    lifecycle: Lifecycle,
    *,
    image: tuple[str, Digest],
    ids: tuple[int, int],
    paths: Paths,
    runtime: str | None = None,
) -> FoundPackages:
    """Return what the image's clients name; asks in a box only for what is not known yet.

    ``image`` is the name and the digest of one that a box can start from; ``ids`` uid and gid.
    Raises as a box's start does.
    """
    store = AnswerStore(paths, image[1])
    answers = store.read(wanted)
    missing = [name for name in wanted if name not in answers]
    if missing:
        spec = _spec(image[0], ids, runtime)
        found = await _ask(missing, lifecycle, spec)
        store.keep(found)
        answers |= found
    problems = {name: answer.problem for name, answer in answers.items() if answer.problem}
    return FoundPackages(places_in(answers), problems)


def _spec(image: str, ids: tuple[int, int], runtime: str | None) -> BoxSpec:
    return BoxSpec(
        session=SessionId(secrets.token_hex(6)),
        image=image,
        uid=ids[0],
        gid=ids[1],
        workdir=WORKDIR,
        mounts=(Mount("tmpfs", "", WORKDIR, size=_WORKSPACE),),
        runtime=runtime,
    )


async def _ask(
    wanted: Collection[Ecosystem], lifecycle: Lifecycle, spec: BoxSpec
) -> dict[Ecosystem, ClientAnswer]:
    try:
        box = await lifecycle.start(spec)
        return await ask_clients(wanted, box)
    finally:
        with anyio.CancelScope(shield=True):
            await lifecycle.stop(spec.session)


async def ask_clients(
    wanted: Collection[Ecosystem], box: Executor
) -> dict[Ecosystem, ClientAnswer]:
    """Return what the clients of a box say, each asked beside the others."""
    answers: dict[Ecosystem, ClientAnswer] = {}

    async def ask(client: Client) -> None:
        outcome = await box.execute(ExecRequest(client.command, "/", PATIENCE_S))
        answers[client.ecosystem] = _answer(client, outcome)

    async with anyio.create_task_group() as group:
        for name in wanted:
            group.start_soon(ask, CLIENTS[name])
    return {name: answers[name] for name in wanted}


def _answer(client: Client, outcome: Outcome) -> ClientAnswer:
    if outcome.error is not None:
        raise BoxError(f"box: it could not ask {client.ecosystem} ({outcome.error})")
    data = outcome.data
    if data["exit_code"] == _MISSING:
        return ClientAnswer(problem="not found in the box")
    if data["timed_out"]:
        return ClientAnswer(problem=f"it said nothing within {PATIENCE_S:.0f} s")
    if data["exit_code"] != 0 or data["tail"]:
        return ClientAnswer(
            problem=f"it could not say where it fetches from (exit {data['exit_code']})"
        )
    return read_answer(client, str(data["head"]))
