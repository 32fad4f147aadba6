"""``glovebox-gate CLIENT``: a client's hook asks the session's gate before a tool is used.

The hook's JSON comes in on standard input. ``claude``: the answer is in the form of its PreToolUse
hooks, in which a yes also spares the client's own question. ``codex`` takes nothing but exit codes.
Any other name: ``{"decision": "allow"|"deny", "reason"}`` comes out as well. The exit code of a no is
2, with the reason on standard error. Where nobody answers, the tool is refused.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

from gate_relay import MAX_LINE, READ_SIZE, SOCKET

REFUSED = 2
"""Exit code that hooks take for a no."""


def ask(body: dict[str, Any]) -> dict[str, Any]:
    """Return the gate's answer; OSError or ValueError where there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(SOCKET)
        line = json.dumps(body).encode() + b"\n"
        if len(line) > MAX_LINE:
            raise ValueError(f"the call has {len(line)} bytes, {MAX_LINE} at most can be judged")
        connection.sendall(line)
        heard = b""
        while b"\n" not in heard:
            data = connection.recv(READ_SIZE)
            if not data:
                raise ValueError("the gate closed before it answered")
            heard += data
    answer = json.loads(heard)
    if not isinstance(answer, dict) or answer.get("decision") not in {"allow", "deny"}:
        raise ValueError("the gate's answer is none")
    return answer


def told(client: str, answer: dict[str, Any]) -> tuple[str, int]:
    """Return what the client reads, and the exit code."""
    allowed = answer["decision"] == "allow"
    if client == "codex":
        return "", 0 if allowed else REFUSED
    if client == "claude" and allowed:
        output = {
            "hookEventName": "PreToolUse",
            "permissionDecision": answer["decision"],
            "permissionDecisionReason": str(answer.get("reason", "")),
        }
        return json.dumps({"hookSpecificOutput": output}), 0
    if client == "claude":
        return "", REFUSED
    return json.dumps(answer), 0 if allowed else REFUSED


def main(words: list[str]) -> int:
    """Ask about what stands on standard input."""
    client = words[0] if words else ""
    try:
        event = json.loads(sys.stdin.buffer.read(MAX_LINE + 1))
        answer = ask({"client": client, "event": event, "cwd": os.getcwd()})
    # Whatever fails, the tool must not be used unseen.
    except Exception as err:  # noqa: BLE001
        sys.stderr.write(f"glovebox: the gate could not be asked, so this is refused: {err}\n")
        return REFUSED
    output, code = told(client, answer)
    sys.stdout.write(output and output + "\n")
    if code:
        sys.stderr.write(f"{answer.get('reason', '')}\n")
    return code
