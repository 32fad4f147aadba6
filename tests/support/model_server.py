"""A model server on loopback for tests: says what it is told to, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """One HTTP answer; ``events`` make a stream, which ``cut`` breaks off without its end."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    events: tuple[dict[str, Any], ...] = ()
    named: bool = True
    done: bool = False
    cut: bool = False
    silent_s: float = 0.0
    """Seconds the stream stays open and silent after its events."""
    bytewise: bool = False
    """Each byte of the stream is a chunk of its own."""
    dateless: bool = False
    """The server does not tell what its clock says."""


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512
    """As many may knock at once; the usual five lose connections."""


class ModelServer:
    """Answers requests in order from a list; the last answer is repeated."""

    def __init__(self, replies: list[Reply]) -> None:
        self.replies = replies
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = _Listening(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def take(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            return self.replies[min(len(self.asked), len(self.replies)) - 1]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    owner: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(raw) if raw else None
        reply = self.owner.take(Asked(self.command, self.path, headers, body))
        if reply.events or reply.cut or reply.silent_s:
            self._stream(reply)
        else:
            self._plain(reply)

    do_GET = _answer  # noqa: N815 - the standard library's names
    do_POST = _answer  # noqa: N815 - the same

    def _plain(self, reply: Reply) -> None:
        raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        (self.send_response_only if reply.dateless else self.send_response)(reply.status)
        headers = {"content-type": "application/json"} | reply.headers
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in reply.events:
            name = f"event: {event['type']}\n" if reply.named else ""
            said = f"{name}data: {json.dumps(event)}\n\n".encode()
            step = 1 if reply.bytewise else len(said)
            for at in range(0, len(said), step):
                self._chunk(said[at : at + step])
        if reply.done:
            self._chunk(b"data: [DONE]\n\n")
        if reply.silent_s:
            self.owner.closing.wait(reply.silent_s)
        if reply.cut or reply.silent_s:
            self.close_connection = True
        else:
            self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


@contextmanager
def serving(*replies: Reply) -> Iterator[ModelServer]:
    """Run a server while the context is open."""
    with ModelServer(list(replies)) as server:
        yield server


Dialect = Callable[..., Reply]


def anthropic_reply(
    *, text: str = "", calls: tuple[tuple[str, str, str], ...] = (), stop: str = "", **more: Any
) -> Reply:
    """Answer as Anthropic Messages; calls are ``(id, name, arguments)``."""
    usage = {"input_tokens": 11, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": start | {"usage": usage | {"output_tokens": 1}}},
        {"type": "ping"},
    ]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if text:
        pieces = [{"type": "text_delta", "text": piece} for piece in (text[:4], text[4:])]
        blocks.append(({"type": "text", "text": ""}, pieces))
    for call_id, name, raw in calls:
        halves = (raw[:5], raw[5:])
        pieces = [{"type": "input_json_delta", "partial_json": half} for half in halves]
        blocks.append(({"type": "tool_use", "id": call_id, "name": name, "input": {}}, pieces))
    for index, (block, pieces) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in pieces]
        events.append({"type": "content_block_stop", "index": index})
    reason = stop or ("tool_use" if calls else "end_turn")
    events += [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]
    return Reply(events=tuple(events), **more)


def chat_reply(
    *, text: str = "", calls: tuple[tuple[str, str, str], ...] = (), stop: str = "", **more: Any
) -> Reply:
    """Answer as Chat Completions."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}

    events = [chunk({"role": "assistant", "content": None})]
    events += [chunk({"content": piece}) for piece in (text[:4], text[4:]) if piece]
    for index, (call_id, name, raw) in enumerate(calls):
        head = {"index": index, "id": call_id, "type": "function"}
        events.append(chunk({"tool_calls": [head | {"function": {"name": name, "arguments": ""}}]}))
        for half in (raw[:5], raw[5:]):
            entry = {"index": index, "function": {"arguments": half}}
            events.append(chunk({"tool_calls": [entry]}))
    events.append(chunk({}, stop or ("tool_calls" if calls else "stop")))
    details = {"cached_tokens": 5, "cache_write_tokens": 3}
    usage = {"prompt_tokens": 19, "completion_tokens": 7, "prompt_tokens_details": details}
    last: dict[str, Any] = {"id": "c1", "object": "chat.completion.chunk", "choices": []}
    events.append(last | {"usage": usage | {"total_tokens": 26}})
    return Reply(events=tuple(events), named=False, done=True, **more)


def responses_reply(
    *, text: str = "", calls: tuple[tuple[str, str, str], ...] = (), stop: str = "", **more: Any
) -> Reply:
    """Answer as Responses."""
    items: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"id": "r1"}}]
    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        items.append({"type": "message", "id": "m1", "role": "assistant", "content": [part]})
        events += [
            {"type": "response.output_text.delta", "item_id": "m1", "delta": piece}
            for piece in (text[:4], text[4:])
        ]
    for number, (call_id, name, raw) in enumerate(calls):
        head = {"type": "function_call", "id": f"fc_{number}", "call_id": call_id}
        items.append(head | {"name": name, "arguments": raw, "status": "completed"})
    events += [{"type": "response.output_item.done", "item": item} for item in items]
    usage = {
        "input_tokens": 19,
        "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 3},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 26,
    }
    response: dict[str, Any] = {"id": "r1", "status": "completed", "output": items, "usage": usage}
    kind = "response.completed"
    if stop:
        kind = "response.incomplete"
        response |= {"status": "incomplete", "incomplete_details": {"reason": stop}}
    events.append({"type": kind, "response": response})
    return Reply(events=tuple(events), **more)


def gemini_reply(
    *, text: str = "", calls: tuple[tuple[str, str, str], ...] = (), stop: str = "", **more: Any
) -> Reply:
    """Answer as Gemini, whose calls always come whole."""

    def chunk(part: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        content = {"role": "model", "parts": [part]}
        candidate = {"index": 0, "content": content} | ({"finishReason": finish} if finish else {})
        return {"candidates": [candidate], "modelVersion": "m", "responseId": "r1"}

    events = [chunk({"text": piece}) for piece in (text[:4], text[4:]) if piece]
    for call_id, name, raw in calls:
        call = {"name": name, "args": json.loads(raw)} | ({"id": call_id} if call_id else {})
        events.append(chunk({"functionCall": call, "thoughtSignature": "c2ln"}))
    usage = {
        "promptTokenCount": 16,
        "cachedContentTokenCount": 5,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
        "totalTokenCount": 23,
    }
    events.append(chunk({"text": ""}, stop or "STOP") | {"usageMetadata": usage})
    return Reply(events=tuple(events), named=False, **more)


REPLIES: dict[str, Dialect] = {
    "anthropic": anthropic_reply,
    "openai-chat": chat_reply,
    "openai-responses": responses_reply,
    "gemini": gemini_reply,
}
CUT_STOPS = {
    "anthropic": "max_tokens",
    "openai-chat": "length",
    "openai-responses": "max_output_tokens",
    "gemini": "MAX_TOKENS",
}


def error_body(api: str, kind: str, message: str, code: str | None = None) -> dict[str, Any]:
    """Return an error as the vendor writes it."""
    inner: dict[str, Any] = {"type": kind, "message": message}
    if api == "gemini":
        return {"error": {"code": 0, "status": kind.upper(), "message": message}}
    if api == "anthropic":
        return {"type": "error", "error": inner}
    return {"error": inner | {"code": code, "param": None}}
