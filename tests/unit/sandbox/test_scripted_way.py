import anyio
import anyio.lowlevel
import pytest

from orchestrator.sandbox.scripted import ScriptedBox
from orchestrator.sandbox.way_conformance import Echo
from orchestrator.schema.way_out import Incoming, WayOut

WAY = WayOut("")


class Knowing(Echo):
    async def knows(self, name, _caller):
        return name == "known.example"


class Stuck(Echo):
    async def serve(self, *_):
        await anyio.sleep_forever()


def play(scene):
    async def bounded():
        with anyio.fail_after(5):
            return await scene(ScriptedBox())

    return anyio.run(bounded)


def test_program_is_played_from_the_test():
    """What it says is heard outside; what is answered it hears to the end."""

    async def scene(box):
        async with box.let_out(WAY, Echo()):
            assert box.way_out.way == WAY
            program = await box.way_out.connect(Incoming("model"))
            await program.send(b"hi\n", last=True)
            return await program.receive(), await program.receive()

    assert play(scene) == (b"heard hi\n", b"")


def test_names_are_asked_for():
    """Outside says which are known, and nobody while it is shut."""

    async def scene(box):
        shut = await box.way_out.look_up("known.example")
        async with box.let_out(WAY, Knowing()):
            names = ("known.example", "other.example")
            return shut, [await box.way_out.look_up(name) for name in names]

    assert play(scene) == (False, [True, False])


def test_leaving_cuts_off_and_shuts():
    """As in a real box."""

    async def scene(box):
        async with box.let_out(WAY, Stuck()):
            program = await box.way_out.connect(Incoming("proxy"))
            await anyio.lowlevel.checkpoint()
        with pytest.raises(ConnectionResetError):
            await program.receive()
        with pytest.raises(ConnectionRefusedError):
            await box.way_out.connect(Incoming("proxy"))

    play(scene)


@pytest.mark.parametrize("failure", [ConnectionResetError("gone"), RuntimeError("a slip")])
def test_failure_outside_cuts_the_one_off(failure):
    """The program sees its connection break."""

    async def scene(box):
        async with box.let_out(WAY, Echo(failure)):
            program = await box.way_out.connect(Incoming("proxy"))
            with pytest.raises(ConnectionResetError):
                await program.receive()

    play(scene)
