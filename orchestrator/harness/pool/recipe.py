"""What a warm box is made for: equal recipes make equal boxes, and only then is one used. Pure."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace

from pydantic import TypeAdapter

from orchestrator import __version__
from orchestrator.config.paths import Paths
from orchestrator.harness.luggage import brought_environment
from orchestrator.harness.options import LimitOptions, RunOptions
from orchestrator.harness.plan import RoomPlan
from orchestrator.policy.load import absolute_name
from orchestrator.schema.ids import Digest, digest_of

OPTIONS = TypeAdapter(RunOptions)

ENGINE_VARIABLES = (
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
)
"""Which engine a box is made on."""


def recipe_of(options: RunOptions) -> RunOptions:
    """Return the options with all that a box does not depend on taken out.

    What is not named here counts: an option that is added later makes boxes of its own. The pool
    has another working directory, so files are named absolutely.
    """
    return replace(
        options,
        prompt=None,
        model="",
        approve=None,
        on_ask="deny",
        yolo=False,
        limits=LimitOptions(),
        resume=None,
        resume_latest=False,
        tools=(),
        skill=None,
        remarks=(),
        policies=tuple(map(absolute_name, options.policies)),
    )


def why_cold(options: RunOptions) -> str:
    """Return why no warm box can serve a run; empty where one can."""
    if options.resume is not None or options.resume_latest:
        return "a session goes on in its own workspace"
    if options.add_dirs:
        return "further directories are looked at when a box is made"
    return ""


def pool_id(recipe: RunOptions, paths: Paths, environ: Mapping[str, str]) -> str:
    """Return the name of the pool for a recipe: one of this user, state and engine."""
    parts = {
        "version": __version__,
        "recipe": OPTIONS.dump_python(recipe, mode="json"),
        "roots": [str(paths.state), str(paths.config)],
        "engine": [environ.get(name) for name in ENGINE_VARIABLES],
        "ids": [os.getuid(), os.getgid(), sorted(os.getgroups())],
    }
    return digest_of(json.dumps(parts, sort_keys=True).encode())[7:23]


def box_key(pool: str, plan: RoomPlan) -> Digest:
    """Return what a box of a pool must have been made under to serve this plan.

    Blocks: the image's sources are read for its name.
    """
    parts = [pool, plan.policy.digest, plan.image, plan.mode]
    return digest_of(json.dumps(parts).encode())


def brought_key(options: RunOptions) -> Digest:
    """Return what tells the variables of commands, which a box must have been made with, too.

    Apart from the rest, since it blocks for longer: the host's git is asked for the person's name.
    """
    return digest_of(json.dumps(sorted(brought_environment(options).items())).encode())
