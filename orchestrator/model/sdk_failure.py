"""An SDK's exceptions translated where they enter; what they carry, a request with the key, stays out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import httpx2

from orchestrator.credentials.secret import Secret
from orchestrator.errors import ModelError
from orchestrator.model.errors import Failure, broken_stream, model_error, retry_after


class Translator:
    """Knows one SDK's exceptions (both SDKs name and shape theirs alike)."""

    def __init__(self, module: ModuleType, model: str, key: Secret | None) -> None:
        """Translate for a model; ``key`` is struck out where a server repeats it."""
        self._module = module
        self._model = model
        self._key = key

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Raise ModelError in place of whatever the SDK or its HTTP client raises."""
        failed: ModelError
        try:
            yield
        except self._module.APIStatusError as error:
            failed = self._status(error)
        except self._module.APITimeoutError:
            failed = broken_stream(self._model, "nothing arrived in time")
        except self._module.APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, ModelError):
                # Our own, of a hook: one SDK wraps all that is raised on the way.
                failed = cause
            else:
                failed = broken_stream(self._model, self._told(cause or error))
        except self._module.APIError as error:
            failed = model_error(self._model, self._failure(told_status(error.body), error))
        except httpx2.TimeoutException:
            failed = broken_stream(self._model, "the stream fell silent")
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            failed = broken_stream(self._model, self._told(error))
        except (json.JSONDecodeError, UnicodeDecodeError):
            failed = broken_stream(self._model, "the stream broke off inside an event")
        else:
            return
        # Not chained: the SDK's exception holds the request, and that holds the key.
        raise failed from None

    def _status(self, error: Any) -> ModelError:
        failure = self._failure(error.status_code, error)
        if 300 <= error.status_code < 400:
            return redirected(self._model, error.status_code, error.response.headers)
        return model_error(self._model, failure)

    def _failure(self, status: int, error: Any) -> Failure:
        kind, code, message = words_of(error.body)
        response = getattr(error, "response", None)
        wait = retry_after(response.headers, datetime.now(UTC)) if response is not None else None
        said = message or (str(error) if error.body is None else "")
        return Failure(status, kind, code, self._struck(said), wait)

    def _told(self, error: BaseException) -> str:
        return self._struck(str(error)) or type(error).__name__

    def _struck(self, text: str) -> str:
        return struck(text, self._key)


def struck(text: str, key: Secret | None) -> str:
    """Return the text without the key: some servers repeat it in their refusal."""
    return text.replace(key.reveal(), "[key]") if key else text


def redirected(model: str, status: int, headers: Mapping[str, str]) -> ModelError:
    """Return the error for a base URL that sends its clients elsewhere."""
    where = headers.get("location", "another address")
    return ModelError(
        f"{model}: bad_request {status}: the base URL redirects to {where}",
        kind="bad_request",
        status=status,
        hint="redirects are not followed, as the key would follow too; set the final base_url",
    )


def words_of(body: Any) -> tuple[str, str, str]:
    """Return type, code and message of an error body, in whatever shape a server gave it."""
    if isinstance(body, str):
        return "", "", body
    if isinstance(body, list) and body:
        # Google's, where it speaks as OpenAI does.
        body = body[0]
    if not isinstance(body, Mapping):
        return "", "", ""
    inner = body.get("error") or body.get("base_resp") or body
    if not isinstance(inner, Mapping):
        return "", _word(body, "code"), str(inner)
    names = ("message", "detail", "error", "msg", "status_msg", "errorMsg", "error_description")
    message = next((inner[name] for name in names if inner.get(name)), "")
    kind = _word(inner, "type") or _word(inner, "status")
    return kind, _word(inner, "code") or _word(inner, "status_code"), str(message)


def told_status(body: Any) -> int:
    """Return the status that an error names itself, inside an answer that had begun well: else 200."""
    if isinstance(body, list) and body:
        body = body[0]
    outer = body if isinstance(body, Mapping) else {}
    inner = outer.get("error")
    for holder in (inner if isinstance(inner, Mapping) else {}, outer):
        for name in ("status", "status_code", "code"):
            told = str(holder.get(name))
            if re.fullmatch(r"[45]\d\d", told):
                return int(told)
    return 200


def failure_in(body: Mapping[str, Any]) -> Failure:
    """Return the failure that an event or an answer tells of."""
    kind, code, message = words_of(body)
    return Failure(told_status(body), kind, code, message)


def _word(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    return str(value) if value and not isinstance(value, Mapping | list) else ""
