"""An Outcome on its way to words: its data is checked, since the box is not trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.schema.outcome import Outcome
from orchestrator.tools.plain import bounded, plain_content
from orchestrator.tools.tool import Rendered


class Answer(BaseModel):
    """What the box may answer to one kind of request; fields of a newer box are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Form = TypeVar("Form", bound=Answer)


def render_answer(outcome: Outcome, form: type[Form], put: Callable[[Form], Rendered]) -> Rendered:
    """Return the failure, or what ``put`` makes of the checked data; bounded and never empty."""
    if outcome.error is not None:
        return bounded(render_error(outcome.error, code=outcome.code))
    try:
        answer = form.model_validate(dict(outcome.data))
    except ValidationError as error:
        fields = sorted({".".join(map(str, detail["loc"])) for detail in error.errors()})
        message = f"the box's answer does not fit this version: {', '.join(fields)}"
        return bounded(render_error(message, code="invalid"))
    return bounded(put(answer))


def render_error(message: str, *, code: str | None) -> Rendered:
    """Return a failed operation for the model."""
    details: dict[str, Any] = {"code": code} if code else {}
    return Rendered(plain_content(message), details, is_error=True)
