"""What the loop itself tells the model."""

from __future__ import annotations

from orchestrator.schema.message import AssistantMessage, Message, Text, UserMessage

CUT_CALL = (
    "Not run: the answer was cut at the output limit before this call was complete. "
    "Send it again in smaller pieces."
)
CUT_TEXT = "Your answer was cut at the output limit. Go on exactly where it stopped, more briefly."
NOT_FINISHED = "Not run: the answer that asked for it was broken off."
NOTHING_SAID = "Your answer was empty. Go on with the work, or say what came of it."
NO_TOOLS = "Not run: the run has reached its limit."
GO_ON = "Go on."
"""Said where nothing else is: no request may end with the model's own words."""
NUDGE = (
    "[The last calls and their results repeat what was there before: {what}. Doing it again will "
    "not help. Try another way, or say what is in the way.]"
)
CONCLUDE = (
    "The run has reached its limit ({kind}). No tools are left. Say briefly what is done, what is "
    "not, and what should be done next."
)


def say(text: str) -> tuple[UserMessage, ...]:
    """Return a text as what is said next."""
    return (UserMessage((Text(text),)),)


def something_to_answer(messages: tuple[Message, ...]) -> tuple[UserMessage, ...]:
    """Return what is to be said where the model spoke last; a paused answer goes on by itself."""
    last = messages[-1] if messages else None
    spoke = isinstance(last, AssistantMessage) and last.stop_reason != "pause"
    return say(GO_ON) if spoke else ()
