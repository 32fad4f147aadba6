import pytest

from orchestrator.egress.hops import end_to_end, length_of, overrides_of, upgrade_of, values


def test_headers_of_one_hop_go_no_further():
    headers = (
        (b"Host", b"a.example"),
        (b"Connection", b"close, X-Named"),
        (b"X-Named", b"1"),
        (b"Keep-Alive", b"timeout=5"),
        (b"Proxy-Authorization", b"Basic x"),
        (b"Proxy-Connection", b"keep-alive"),
        (b"Proxy-Anything", b"x"),
        (b"X-Glovebox-Rule", b"fake"),
        (b"TE", b"trailers"),
        (b"Trailer", b"X"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Upgrade", b"websocket"),
        (b"Accept", b"*/*"),
    )

    assert end_to_end(headers) == ((b"Host", b"a.example"), (b"Accept", b"*/*"))


def test_connection_cannot_take_away_what_a_request_was_judged_by():
    headers = (
        (b"Connection", b"host, content-length, authorization"),
        (b"Host", b"a.example"),
        (b"Content-Length", b"3"),
        (b"Authorization", b"x"),
    )

    assert end_to_end(headers) == headers[1:]


@pytest.mark.parametrize(
    ("headers", "upgrade"),
    [
        (((b"Connection", b"keep-alive, Upgrade"), (b"Upgrade", b"WebSocket")), "websocket"),
        (((b"Upgrade", b"websocket"),), ""),
        (((b"Connection", b"upgrade"), (b"Upgrade", b"a, b")), "a,b"),
        ((), ""),
    ],
)
def test_a_switch_is_asked_for_by_both_headers(headers, upgrade):
    assert upgrade_of(headers) == upgrade


def test_methods_are_overridden_by_any_of_three_headers_however_they_are_spelled():
    headers = (
        (b"X-HTTP-Method-Override", b"DELETE"),
        (b"x-method-override", b"PUT, PATCH"),
        (b"X_HTTP_METHOD", b"\xffX"),
    )

    assert overrides_of(headers) == ("DELETE", "PUT", "PATCH", "\\xffX")


def test_values_are_one_list_over_all_lines():
    assert values(((b"A", b"x, Y"), (b"a", b"z")), b"a") == [b"x", b"y", b"z"]


def test_a_length_is_a_number_or_none():
    assert length_of(((b"content-length", b"012"),)) == 12
    assert length_of(()) is None
