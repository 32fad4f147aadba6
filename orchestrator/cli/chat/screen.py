"""A terminal with an input line that stays usable below what scrolls by.

Whole lines go into the terminal's own scrollback and are never touched again. Below them stands the
line that is still growing, the input and a status line: only these are drawn anew.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TextIO

import anyio
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindingsBase
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import (
    BeforeInput,
    Processor,
    Transformation,
    TransformationInput,
)
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from orchestrator.cli.chat.frames import FrameOutput
from orchestrator.cli.chat.keyboard import Keyboard
from orchestrator.cli.chat.picker import HINT, Picker
from orchestrator.cli.chat.resizing import ResizedApplication, wraps_again
from orchestrator.cli.chat.view import PROMPT
from orchestrator.schema.terminal_text import escape_terminal, wrap_cells

INPUT_ROWS = 10
"""Rows that a long input takes at most; it scrolls within them."""
MENU_ROWS = 8
"""Rows kept free below the input while completions are shown."""
LIVE_SHARE = 2
"""The growing line takes one row of this many at most."""
ESCAPE_WAIT_S = 0.1
"""Seconds after which Esc is the key and not the beginning of another."""
SILENCE_S = 0.5
"""Seconds without a key after which a person is not in the middle of typing."""
PASTE_WAIT_S = 10.0
"""Seconds that a paste is waited for which does not end."""
MARK = "\ufffd"
FRAME_S = 0.02
"""Seconds between two frames."""

STYLE = Style.from_dict(
    {
        "prompt": "bold",
        "live": "",
        "status": "dim",
        "completion-menu": "noreverse",
        "completion-menu.completion": "bg:default fg:default",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion": "bg:default fg:default dim",
        "completion-menu.meta.completion.current": "reverse",
        "scrollbar": "bg:default",
    }
)


class Visible(Processor):
    """Shows what would hide or reorder the text around it as a mark; it is said as it was typed."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Return the line with each such character in one cell."""
        fragments = transformation_input.fragments
        return Transformation([(part[0], "".join(map(_seen, part[1]))) for part in fragments])


def _seen(char: str) -> str:
    # Controls are shown as ^X by the toolkit itself.
    return char if char.isascii() or escape_terminal(char) == char else MARK


@dataclass(slots=True)
class Choice:
    """What a person chooses."""

    made: anyio.Event = field(default_factory=anyio.Event)
    row: int | None = None


class Screen:
    """What stays, what grows, what is typed."""

    def __init__(
        self,
        keys: KeyBindingsBase,
        *,
        history: History,
        completer: Completer,
        status: Callable[[], str],
        source: TextIO,
        out: TextIO,
        colour: bool = True,
    ) -> None:
        """``status`` gives the safe text of the last row."""
        self.buffer = Buffer(
            history=history,
            completer=completer,
            multiline=True,
            complete_while_typing=True,
            enable_history_search=False,
        )
        self._status = status
        self._picker = Picker(self._chosen, height=self._picker_height)
        self._choice: Choice | None = None
        self._waiting: list[str] = []
        self._growing: tuple[str, str] = ("", "")
        self._keyboard = Keyboard(source)
        self._output = FrameOutput(out, term=os.environ.get("TERM"))
        self.app = ResizedApplication(
            layout=Layout(self._layout(), focused_element=self.buffer),
            key_bindings=keys,
            style=STYLE,
            output=self._output,
            input=self._keyboard,
            color_depth=None if colour else ColorDepth.DEPTH_1_BIT,
            erase_when_done=True,
            min_redraw_interval=FRAME_S,
        )
        self.app.wraps_again = wraps_again(os.environ)
        self.app.ttimeoutlen = self.app.timeoutlen = ESCAPE_WAIT_S
        self.app.before_render += lambda _: self._begin_frame()
        self.app.after_render += lambda _: self._end_frame()

    @property
    def size(self) -> Size:
        """Rows and columns now."""
        return self._output.get_size()

    def put(self, text: str) -> None:
        """Have safe whole lines scroll by; each ends with a line feed."""
        self._waiting.append(text)
        if self.app.is_running:
            self.app.invalidate()
        else:
            self._write_waiting()

    def grow(self, text: str, style: str = "live") -> None:
        """Show the safe line that is not whole yet, in place of the one before."""
        self._growing = (text, f"class:{style}")
        self.app.invalidate()

    async def choose(self, rows: Sequence[str], at: int) -> int | None:
        """Let the person choose among safe rows; None for none of them."""
        choice = self._choice = Choice()
        self._picker.begin(rows, at)
        self.app.layout.focus(self._picker.window)
        self.app.invalidate()
        try:
            await choice.made.wait()
        finally:
            self._choice = None
            self.app.layout.focus(self.buffer)
            self.app.invalidate()
        return choice.row

    def _chosen(self, row: int | None) -> None:
        if self._choice is not None:
            self._choice.row = row
            self._choice.made.set()

    def refresh(self) -> None:
        """Draw the status line anew."""
        self.app.invalidate()

    async def run(self, begun: Callable[[], None]) -> None:
        """Show it until ``leave``; EOFError where the terminal is gone."""
        try:
            await self.app.run_async(
                pre_run=begun, set_exception_handler=False, handle_sigint=False
            )
        finally:
            # A frame that was begun and not ended must not keep back what follows.
            self._output.release()
            self._write_waiting()

    def leave(self) -> None:
        """Give the terminal back."""
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Leave the terminal to somebody else until the end of the block.

        Not in the middle of a word or of a paste: what was meant for the input line goes there,
        and cannot become an answer to a question that has just come up.
        """
        if not self.app.is_running:
            yield
            return
        await self._silence()
        async with in_terminal():
            # What happened before a question stands before it.
            self._write_waiting()
            yield

    async def _silence(self) -> None:
        keyboard = self._keyboard
        while True:
            most = PASTE_WAIT_S if keyboard.is_pasting else SILENCE_S
            if keyboard.silent_s >= most:
                return
            await anyio.sleep(min(most - keyboard.silent_s, SILENCE_S))

    def _begin_frame(self) -> None:
        self._output.hold()
        if self._waiting:
            self.app.renderer.erase()
            self._write_waiting()

    def _end_frame(self) -> None:
        self._output.release()

    def _write_waiting(self) -> None:
        if self._waiting:
            self._output.write_raw("".join(self._waiting).replace("\n", "\r\n"))
            self._waiting.clear()
            self._output.flush()

    def _layout(self) -> FloatContainer:
        choosing = Condition(lambda: self._choice is not None)
        growing = Window(FormattedTextControl(self._growing_rows), dont_extend_height=True)
        return FloatContainer(
            HSplit(
                [
                    ConditionalContainer(growing, Condition(lambda: bool(self._growing[0]))),
                    ConditionalContainer(self._picker.window, choosing),
                    ConditionalContainer(self._line(), ~choosing),
                    Window(
                        FormattedTextControl(self._status_row),
                        height=1,
                        dont_extend_height=True,
                    ),
                ]
            ),
            floats=[
                Float(
                    CompletionsMenu(max_height=MENU_ROWS, scroll_offset=1),
                    xcursor=True,
                    ycursor=True,
                )
            ],
        )

    def _line(self) -> Window:
        control = BufferControl(
            self.buffer, input_processors=[Visible(), BeforeInput(PROMPT, "class:prompt")]
        )
        return Window(control, height=self._input_height, wrap_lines=True, dont_extend_height=True)

    def _picker_height(self) -> Dimension:
        return Dimension(min=1, max=max(self.size.rows // LIVE_SHARE, 3))

    def _input_height(self) -> Dimension:
        least = MENU_ROWS if self.buffer.complete_state is not None else 1
        return Dimension(min=least, max=max(INPUT_ROWS, least))

    def _growing_rows(self) -> StyleAndTextTuples:
        text, style = self._growing
        rows, columns = self.size
        pieces = wrap_cells(text, max(columns - 1, 1))[-max(rows // LIVE_SHARE, 1) :]
        return [(style, "\n".join(pieces))]

    def _status_row(self) -> StyleAndTextTuples:
        # No wider than the screen, and no background: a narrower window wraps nothing of it.
        words = self._status() if self._choice is None else f"  {HINT}"
        return [("class:status", wrap_cells(words, max(self.size.columns - 1, 1))[0])]
