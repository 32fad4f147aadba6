"""What a company's proxy answers to CONNECT, read in one way or not at all. Pure but for the reading.

Nothing of its answer but the status is ever shown: what it says is for people of the company.
"""

from __future__ import annotations

from orchestrator.egress.seams import ByteStream
from orchestrator.egress.strict import HeadScan, MessageError, check_response_head
from orchestrator.egress.tls.replay import ReplayedStream

_AUTHENTICATE = 407


def connect_request(target: str, port: int, authorization: bytes | None) -> bytes:
    """Return a CONNECT for a canonical host or address."""
    authority = f"[{target}]:{port}" if ":" in target else f"{target}:{port}"
    lines = [f"CONNECT {authority} HTTP/1.1".encode(), b"Host: " + authority.encode()]
    if authorization is not None:
        lines.append(b"Proxy-Authorization: " + authorization)
    return b"\r\n".join([*lines, b"", b""])


async def read_answer(stream: ByteStream) -> tuple[int, ByteStream]:
    """Return the status, and the stream from the first byte behind the head. MessageError, OSError.

    The head is all that is read: a body of a refusal is left where it is.
    """
    scan = HeadScan()
    while True:
        piece = await stream.receive()
        if not piece:
            raise MessageError("it ended before its answer did")
        found = scan.feed(piece)
        if found is not None:
            break
    head, rest = found
    check_response_head(head)
    status = int(head[9:12])
    if status < 200:
        raise MessageError("it answers CONNECT with an interim status")
    if status < 300 and _announces_body(head):
        raise MessageError("it opens a tunnel and announces a body in one answer")
    return status, ReplayedStream(stream, rest) if rest else stream


def refusal_text(status: int, port: int, *, with_secret: bool) -> str:
    """Return what a refusal means for who meets it, and what to do next."""
    if status == _AUTHENTICATE and with_secret:
        return (
            "the upstream proxy did not take the user and password that it was sent (407): the "
            "owner of this session sets them anew (glovebox keys set) and starts another session"
        )
    if status == _AUTHENTICATE:
        return (
            "the upstream proxy wants a user and password (407): the owner of this session names "
            "them in egress.upstream_proxy.secret of config.yaml"
        )
    if status >= 500:
        return f"the upstream proxy could not connect (status {status})"
    return (
        f"the upstream proxy refused to connect to port {port} (status {status}): it is asked by "
        "CONNECT for every port, and its administrators say what it lets through"
    )


def _announces_body(head: bytes) -> bool:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"transfer-encoding":
            return True
        if name.lower() == b"content-length" and value.strip().strip(b"0"):
            return True
    return False
