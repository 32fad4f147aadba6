"""What each key does, pressed on a pseudo-terminal."""

from orchestrator.cli.chat.keys import KEYS
from orchestrator.cli.chat.surface import Said
from orchestrator.cli.chat.terminal import LEAVE_WORDS


def test_keys_stop_the_model_or_leave(sit):
    """Esc and Ctrl-C stop it; at rest Ctrl-C empties the line, says how to leave, and leaves."""

    async def scene(seat):
        seat.talk.is_busy = True
        seat.type("\x1b")
        await seat.look(0.4)
        seat.type("\x03")
        await seat.look(0.2)
        assert seat.talk.stopped == 2
        seat.talk.is_busy = False
        seat.type("\x1b")
        seat.type("words")
        await seat.until("words")
        seat.type("\x03")
        await seat.until("words", gone=True)
        seat.type("\x03")
        await seat.until(LEAVE_WORDS)
        seat.type("\x03")
        assert await seat.said() is None
        seat.type("\x04")
        assert await seat.said() is None
        assert seat.talk.stopped == 2

    sit(scene)


def test_later_is_what_alt_enter_says(sit):
    async def scene(seat):
        seat.talk.is_busy = True
        seat.type("and then this\x1b\r")
        assert await seat.said() == Said("and then this", later=True)

    sit(scene)


def test_help_names_the_keys():
    assert {"Enter", "Ctrl-D", "Ctrl-T"} <= {keys for keys, _ in KEYS}
