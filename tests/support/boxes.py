"""Real boxes for tests: started for one scene, and gone after it whatever the scene did."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from orchestrator.engine.client import Engine
from orchestrator.sandbox.container_spec import SERVER
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.driver import BoxLimits, BoxSpec, Executor, OnOutput
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ExecRequest, WriteRequest

T = TypeVar("T")

MIB = 1024**2
LIMITS = BoxLimits(cpus=2.0, memory=512 * MIB, pids=128, disk=256 * MIB, file_size=512 * MIB)
WORKSPACE = Mount("tmpfs", "", "/workspace", size=64 * MIB)


def small_spec(image: str, **changes: Any) -> BoxSpec:
    """A box that a test machine can hold several of."""
    spec = BoxSpec(
        session=SessionId(secrets.token_hex(6)),
        image=image,
        uid=1000,
        gid=1000,
        workdir="/workspace",
        mounts=(WORKSPACE,),
        tmpfs={"/tmp": 64 * MIB},
        limits=LIMITS,
    )
    return replace(spec, **changes)


@dataclass
class Scene:
    """A running box, as a test sees it."""

    lifecycle: DockerLifecycle
    spec: BoxSpec
    box: Executor
    engine: Engine

    async def run(
        self, command: str, timeout_s: float = 30.0, on_output: OnOutput | None = None
    ) -> Outcome:
        """Run a command in the workspace."""
        request = ExecRequest(command, self.spec.workdir, timeout_s)
        return await self.box.execute(request, on_output=on_output)

    async def output(self, command: str) -> str:
        """Run a command that must succeed, and return what it printed."""
        outcome = await self.run(command)
        assert outcome.error is None, outcome
        assert outcome.data["exit_code"] == 0, outcome
        return outcome.data["head"] + outcome.data["tail"]

    async def python(self, source: str, timeout_s: float = 60.0) -> Outcome:
        """Run a Python script as a command of the box."""
        written = await self.box.execute(WriteRequest(f"{self.spec.workdir}/probe.py", source))
        assert written.error is None, written
        return await self.run("python3 -B probe.py", timeout_s)

    def container(self) -> dict[str, Any]:
        """Return what the engine knows of the box."""
        label = f"glovebox.session={self.spec.session}"
        [found] = self.engine.api.containers(all=True, filters={"label": label})
        return self.engine.api.inspect_container(found["Id"])

    async def as_server(self, source: str) -> str:
        """Run Python inside as the tool server runs: same user, powers and modules."""
        program = [*SERVER[:-1], "-c", AS_SERVER + source]

        def execute() -> str:
            made = self.engine.api.exec_create(self.container()["Id"], program, user="0:0")
            text = self.engine.api.exec_start(made["Id"]).decode()
            assert self.engine.api.exec_inspect(made["Id"])["ExitCode"] == 0, text
            return text

        return await anyio.to_thread.run_sync(execute)


AS_SERVER = """
import sys
sys.path.insert(0, "/opt/glovebox/toolserver")
from config import Config, Limits
config = Config("/workspace", "/home/agent", "/tmp/.glovebox-spill", (), ("/workspace", "/tmp"),
                1000, 1000, {"PATH": "/usr/bin:/bin"}, Limits(1 << 30, 1 << 30, 1 << 30, 1 << 26), False)
"""

Play = Callable[[Scene], Awaitable[T]]


@dataclass
class Stage:
    """Plays scenes in real boxes."""

    engine: Engine
    image: str
    runtime: Path
    sockets: bool = True

    def play(self, scene: Play[T], **changes: Any) -> T:
        """Start a box, play one scene in it, end it."""

        async def whole() -> T:
            lifecycle = DockerLifecycle(self.engine, runtime=self.runtime, sockets=self.sockets)
            spec = small_spec(self.image, **changes)
            try:
                box = await lifecycle.start(spec)
                return await scene(Scene(lifecycle, spec, box, self.engine))
            finally:
                await lifecycle.stop(spec.session)

        return anyio.run(whole)

    def output(self, command: str, **changes: Any) -> str:
        """Return what a command printed that succeeded in a box of its own."""
        return self.play(lambda scene: scene.output(command), **changes)


PROBE_HEAD = '''
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)

def tried(name, act):
    """Print what became of an attempt, on one line."""
    try:
        found = act()
    except OSError as err:
        print(name, errno.errorcode.get(err.errno, err.errno), flush=True)
    else:
        print(name, "WORKED", found, flush=True)

def call(number, *arguments):
    """Make a raw system call."""
    given = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    if libc.syscall(ctypes.c_long(number), *given) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return "done"
'''


def attempts(stage: Stage, body: str, **changes: Any) -> dict[str, str]:
    """Run a probe and return what became of each attempt; a probe that broke off is no proof."""
    source = PROBE_HEAD + body + '\nprint("probe", "ended")\n'

    async def scene(scene: Scene) -> Outcome:
        return await scene.python(source)

    outcome = stage.play(scene, **changes)
    assert outcome.error is None, outcome
    text = outcome.data["head"] + outcome.data["tail"]
    found = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    assert found.pop("probe", None) == "ended", text
    print("tried inside:", found)
    return found
