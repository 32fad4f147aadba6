"""No bytes make the proxy, its server and a second reader see different requests."""

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.property import fuzz_egress
from tests.support.egress_smuggling import disagreement, send

NAMES = ["Content-Length", "Transfer-Encoding", "Connection", "X", "content-length ", "Host", "TE"]
VALUES = ["4", "0", "chunked", "4,4", " 4", "identity", "close", "a.example", "x\ty", "\x0bchunked"]
ENDS = ["\r\n", "\r\n", "\r\n", "\n", "\r", "\r\n "]
BODIES = [
    "",
    "good",
    "4\r\ngood\r\n0\r\n\r\n",
    "0\r\n\r\n",
    "4\ngood\n0\n\n",
    "GET /x HTTP/1.1\r\n",
]

HEADER = st.builds(
    lambda name, colon, value, end: f"{name}{colon}{value}{end}",
    st.sampled_from(NAMES),
    st.sampled_from([": ", ":", " : ", ":\t"]),
    st.sampled_from(VALUES),
    st.sampled_from(ENDS),
)
REQUEST = st.builds(
    lambda method, headers, end, body: (
        f"{method} http://a.example/x HTTP/1.1\r\nHost: a.example\r\n{''.join(headers)}{end}{body}"
    ),
    st.sampled_from(["GET", "POST", "HEAD", "PUT"]),
    st.lists(HEADER, max_size=4),
    st.sampled_from(["\r\n", "\r\n", "\n"]),
    st.sampled_from(BODIES),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(REQUEST, min_size=1, max_size=3))
@example(["POST http://a.example/x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\n"] * 2)
def test_requests_are_one_thing_to_all_readers(requests):
    data = "".join(requests).encode("latin-1")

    assert disagreement(data, anyio.run(send, data)) == ""


@pytest.mark.parametrize("seed", ["1", "2"])
def test_random_bytes_break_no_promise(seed):
    """A few of those that ``make fuzz`` tries."""
    tally = anyio.run(fuzz_egress.run, 300, seed)

    assert tally.broken == []
    assert any(name.endswith("200") for name in tally.answers)
    assert any(name.endswith("400") for name in tally.answers)
