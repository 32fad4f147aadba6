"""The keys of a chat; every other key edits the line as readline's do."""

from __future__ import annotations

from typing import Protocol

from prompt_toolkit.application.current import get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import (
    KeyBindings,
    KeyBindingsBase,
    KeyPressEvent,
    merge_key_bindings,
)

KEYS = (
    ("Enter", "say it; while the model works it is told after the running calls"),
    ("Alt-Enter", "while the model works: say it when the model would stop"),
    ("Ctrl-J, or \\ Enter", "a new line"),
    ("Tab", "complete a command, or a path after @"),
    ("Esc, Ctrl-C", "stop the model; Ctrl-C at an empty line, twice, leaves"),
    ("Ctrl-T", "show the newest thought, and later ones in full; again: fold them"),
    ("Ctrl-D", "leave, at an empty line"),
    ("Ctrl-R, Up, Down", "what was said before"),
)
"""Key and what it does, for the help."""


class Acts(Protocol):
    """What keys do."""

    @property
    def is_busy(self) -> bool:
        """Say whether the model is at work."""
        ...

    def send(self, text: str, *, later: bool) -> None:
        """Have a line said."""
        ...

    def stop(self) -> None:
        """Stop the model."""
        ...

    def interrupt(self) -> None:
        """Ctrl-C at an empty line: say how to leave, or leave."""
        ...

    def leave(self) -> None:
        """Leave the chat."""
        ...

    def fold(self) -> None:
        """Show thoughts in full, or fold them."""
        ...


def bindings(acts: Acts) -> KeyBindingsBase:
    """Return the keys that do ``acts``."""
    return merge_key_bindings([_of_the_line(acts), _of_the_chat(acts)])


def _of_the_line(acts: Acts) -> KeyBindings:
    keys = KeyBindings()
    chosen = Condition(lambda: _has_chosen(get_app().current_buffer.complete_state))

    @keys.add("enter", filter=~chosen)
    def _(event: KeyPressEvent) -> None:
        _send(acts, event, later=False)

    @keys.add("enter", filter=chosen)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        _send(acts, event, later=True)

    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _of_the_chat(acts: Acts) -> KeyBindings:
    keys = KeyBindings()
    busy = Condition(lambda: acts.is_busy)
    empty = Condition(lambda: not get_app().current_buffer.text)
    completing = Condition(lambda: get_app().current_buffer.complete_state is not None)

    @keys.add("escape", filter=completing)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()

    @keys.add("escape", filter=busy & ~completing)
    def _(_event: KeyPressEvent) -> None:
        acts.stop()

    @keys.add("c-c", filter=busy)
    def _(_event: KeyPressEvent) -> None:
        acts.stop()

    @keys.add("c-c", filter=~busy & ~empty)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.reset()

    @keys.add("c-c", filter=~busy & empty)
    def _(_event: KeyPressEvent) -> None:
        acts.interrupt()

    @keys.add("c-d", filter=empty)
    def _(_event: KeyPressEvent) -> None:
        acts.leave()

    @keys.add("c-t")
    def _(_event: KeyPressEvent) -> None:
        acts.fold()

    return keys


def _has_chosen(state: object) -> bool:
    return getattr(state, "current_completion", None) is not None


def _send(acts: Acts, event: KeyPressEvent, *, later: bool) -> None:
    buffer = event.current_buffer
    if buffer.document.current_line_before_cursor.endswith("\\") and not later:
        buffer.delete_before_cursor()
        buffer.insert_text("\n")
        return
    text = buffer.text
    if not text.strip():
        return
    buffer.append_to_history()
    buffer.reset()
    acts.send(text, later=later)
