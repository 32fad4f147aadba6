"""What terminals and pipes in the box have in common, over the glove."""

import pytest

from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.schema.stream import ProgramTarget, TerminalSize, TerminalTarget

pytestmark = pytest.mark.docker


@pytest.mark.parametrize("kind", ["terminal", "program"])
def test_command_that_cannot_be_is_refused(stage, kind):
    """By its form, and by a directory that is not there; the server goes on."""

    def target(command, cwd="/workspace"):
        if kind == "terminal":
            return TerminalTarget(TerminalSize(), cwd, command)
        return ProgramTarget(command, cwd)

    async def scene(scene):
        words = []
        for wrong in (target("a\0b"), target("x" * 200_000)):
            with pytest.raises(StreamRefusedError) as caught:
                await scene.box.open_stream(wrong)
            words.append(str(caught.value))
        stream = await scene.box.open_stream(target("true", cwd="/no/such"))
        await stream.receive()
        end = await stream.close()
        return words, end, await scene.output("echo next")

    words, end, following = stage.play(scene)

    assert all("without NUL" in word for word in words)
    assert "No such file" in str(end.reason)
    assert following == "next\n"
