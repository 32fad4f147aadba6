"""What the box answers, checked before anything looks at it: types, sizes, nothing taken on trust.

The form on the wire is described in ``sandbox-image/toolserver/messages.py``, its other end.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from orchestrator.errors import BoxError
from orchestrator.schema.exec_record import ExecReport, ExecSeen
from orchestrator.schema.outcome import Outcome

Text = Annotated[str, StringConstraints(max_length=256 * 1024)]
Line = Annotated[str, StringConstraints(max_length=16 * 1024)]
Picture = Annotated[str, StringConstraints(max_length=12 * 1024 * 1024)]
Count = Annotated[int, Field(ge=0, le=2**63)]
MANY = 20_000


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _Exec(_Answer):
    exit_code: int | None
    signal: int | None
    timed_out: bool
    cancelled: bool
    head: Text
    tail: Text
    total_bytes: Count
    total_lines: Count
    spill: Line | None
    duration_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    limit: Literal["memory", "pids", "disk", "files", "output", "policy"] | None
    limit_note: Line | None = None
    full: Line | None = None


class _CutLine(_Answer):
    line: Count
    shown: Count
    bytes: Count


class _TextRead(_Answer):
    type: Literal["text"]
    text: Text
    start: Count
    lines: Count
    total_lines: Count | None
    total_bytes: Count
    next_offset: Count | None
    cut_lines: Annotated[list[_CutLine], Field(max_length=MANY)]


class _ImageRead(_Answer):
    type: Literal["image"]
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: Picture
    width: Count
    height: Count
    original_width: Count
    original_height: Count


class _BinaryRead(_Answer):
    type: Literal["binary"]
    bytes: Count
    note: Line | None = None


class _EmptyRead(_Answer):
    type: Literal["empty"]


class _Write(_Answer):
    bytes: Count
    created: bool
    diff: Text


class _Edit(_Answer):
    replacements: Count
    lines: Annotated[list[Count], Field(max_length=MANY)]
    diff: Text


class _Match(_Answer):
    path: Line
    line: Count
    text: Line
    cut: bool
    context: bool
    length: Count | None = None


class _Found(_Answer):
    total: Count
    limited: bool
    notes: Annotated[list[Line], Field(max_length=100)] = []


class _Grep(_Found):
    matches: Annotated[list[_Match], Field(max_length=MANY)]


class _Find(_Found):
    paths: Annotated[list[Line], Field(max_length=MANY)]


class _Entry(_Answer):
    name: Line
    type: Line
    size: Count
    target: Line | None = None


class _List(_Found):
    entries: Annotated[list[_Entry], Field(max_length=MANY)]


class _Resolve(_Answer):
    path: Line


class _Stream(_Answer):
    exit_code: Annotated[int, Field(ge=0, le=255)] | None = None
    signal: Annotated[int, Field(ge=1, le=64)] | None = None
    reason: Line | None = None


class _LetOut(_Answer):
    pass


class _Taken(_Answer):
    taken: bool


class MountSeen(_Answer):
    """One mount as the box sees it; options and propagation separated by commas."""

    target: Line
    kind: Line
    options: Line
    propagation: Line


class Findings(_Answer):
    """What the probe found inside; see ``toolserver/probe.py``."""

    status: Annotated[dict[str, Line], Field(max_length=20)]
    kernel: Line
    interfaces: Annotated[list[Line], Field(max_length=100)]
    routes: int
    root_options: Line
    root_writes: Annotated[list[Line], Field(max_length=20)]
    pids_limit: Count | None
    memory_limit: Count | None
    cpu_limit: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    limit_writes: Annotated[list[Line], Field(max_length=20)]
    disk_limit: Count
    disk_places: Annotated[list[Line], Field(max_length=400)]
    file_size_limit: Count | None
    mounts: Annotated[list[MountSeen], Field(max_length=1001)]
    namespaces: Annotated[dict[str, Line], Field(max_length=20)]
    devices: Annotated[list[Line], Field(max_length=100)]
    shown: Annotated[dict[str, Line], Field(max_length=100)]
    version: Line
    exec_record: Line
    """Why nothing is recorded; empty where it is."""
    refused: Annotated[dict[str, bool], Field(max_length=40)]


class _Ending(_Answer):
    running: bool
    exit_code: int | None
    signal: int | None
    limit: Literal["memory", "pids", "disk", "files", "policy"] | None
    limit_note: Line | None = None
    duration_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Process(_Ending):
    text: Text
    start: Count
    next: Count
    lost: Count
    skipped: Count
    more: Count
    unread: Count
    why: Literal["match", "ended", "quiet", "time", "cancelled", "slow", "broken"]


class _Listed(_Ending):
    handle: Line
    command: Line
    terminal: bool
    unseen: Count


class _ProcessList(_Answer):
    processes: Annotated[list[_Listed], Field(max_length=100)]


class _Started(_Answer):
    pid: Count
    parent: Count
    path: Line
    argv: Annotated[list[Line], Field(max_length=1000)]
    real: Line
    lines: Annotated[list[Line], Field(max_length=10)]
    by: Line
    cut: bool
    unreadable: bool


class _Execs(_Answer):
    execs: Annotated[list[_Started], Field(max_length=MANY)]
    unlisted: Count
    overflow: bool
    last: bool


_NUL = b"\0"
_Read = Annotated[_TextRead | _ImageRead | _BinaryRead | _EmptyRead, Field(discriminator="type")]
_DATA: dict[str, TypeAdapter[Any]] = {
    "exec": TypeAdapter(_Exec),
    "read": TypeAdapter(_Read),
    "write": TypeAdapter(_Write),
    "edit": TypeAdapter(_Edit),
    "grep": TypeAdapter(_Grep),
    "find": TypeAdapter(_Find),
    "ls": TypeAdapter(_List),
    "process_start": TypeAdapter(_Process),
    "process_output": TypeAdapter(_Process),
    "process_input": TypeAdapter(_Process),
    "process_signal": TypeAdapter(_Process),
    "process_list": TypeAdapter(_ProcessList),
    "resolve": TypeAdapter(_Resolve),
    "probe": TypeAdapter(Findings),
    "stream": TypeAdapter(_Stream),
    "let_out": TypeAdapter(_LetOut),
    "expect_link": TypeAdapter(_Taken),
    "take_link": TypeAdapter(_Taken),
}


def wire_bytes(body: dict[str, Any]) -> bytes:
    """Return a request as it goes over the wire."""
    content = body.get("content")
    if isinstance(content, str):
        rest = {name: value for name, value in body.items() if name != "content"}
        return wire_bytes(rest) + _NUL + content.encode("utf-8", "surrogatepass")
    try:
        return to_json(body)
    except PydanticSerializationError:
        # Bytes of a command or path that are no text travel as halves of surrogate pairs.
        return json.dumps(body).encode()


def parse_answer(kind: str, payload: bytes) -> Outcome:
    """Return the outcome in a RESULT frame; raises BoxError for one of another shape."""
    head, beside, text = payload.partition(_NUL)
    answer = _parse_json(kind, head)
    if not isinstance(answer, dict):
        raise BoxError(f"box: {kind} answered with what is not an object")
    if beside:
        _put_text(kind, answer.get("data"), text)
    if "error" in answer:
        return Outcome(error=_word(answer["error"], 16_384), code=_word(answer.get("code"), 40))
    try:
        data = _DATA[kind].validate_python(answer.get("data"))
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BoxError(
            f"box: {kind} answered wrongly at {where or 'data'}: {first['msg']}"
        ) from err
    return Outcome(data=data.model_dump(exclude_unset=True))


def parse_execs(payload: bytes) -> ExecReport:
    """Return what an EXECS frame tells; raises BoxError for one of another shape."""
    try:
        told = _Execs.model_validate_json(payload)
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        raise BoxError(f"box: told wrongly of started programs: {first['msg']}") from err
    return ExecReport(
        tuple(
            ExecSeen(
                item.pid,
                item.parent,
                item.path,
                tuple(item.argv),
                real=item.real,
                lines=tuple(item.lines),
                by=item.by,
                cut=item.cut,
                unreadable=item.unreadable,
            )
            for item in told.execs
        ),
        unlisted=told.unlisted,
        overflow=told.overflow,
        last=told.last,
    )


def _parse_json(kind: str, payload: bytes) -> object:
    try:
        return from_json(payload)
    except ValueError:
        # It may be half of a surrogate pair alone, which the slower parser takes.
        pass
    try:
        return json.loads(payload)
    except (ValueError, RecursionError) as err:
        raise BoxError(f"box: {kind} answered with what is not JSON") from err


def _put_text(kind: str, data: object, text: bytes) -> None:
    if not isinstance(data, dict) or "text" in data:
        raise BoxError(f"box: {kind} answered with a text that belongs nowhere")
    try:
        data["text"] = text.decode()
    except UnicodeDecodeError as err:
        raise BoxError(f"box: {kind} answered with a text that is not UTF-8") from err


def _word(value: object, limit: int) -> str:
    if not isinstance(value, str):
        raise BoxError("box: answered with an error that is no text")
    # A surrogate would break whoever encodes the text later.
    return value[:limit].encode("utf-8", "replace").decode()
