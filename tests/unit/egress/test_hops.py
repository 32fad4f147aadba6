import pytest

from orchestrator.egress.hops import (
    end_to_end,
    length_of,
    overrides_of,
    paths_of,
    upgrade_of,
    values,
)


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


@pytest.mark.parametrize("name", [b"X-Original-Method", b"x-forwarded-method", b"Method-Override"])
def test_methods_are_overridden_by_their_kin_too(name):
    assert overrides_of(((name, b"DELETE"),)) == ("DELETE",)


@pytest.mark.parametrize(
    "name",
    [
        *("X-Original-URL", "x_original_url", "X-Rewrite-URL", "X-Forwarded-Uri", "X-Original-URI"),
        *("X-Forwarded-Path", "X-HTTP-Path-Override", "X-Envoy-Original-Path", "X-Replaced-Path"),
        *("X-Request-URI", "X-Real-Path", "X-Override-URL", "X-MS-Original-URL", "X-URL-Override"),
    ],
)
@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ("/admin", ("/admin",)),
        (" admin?x=/y ", ("/admin",)),
        ("https://a.example:8443/admin#x", ("/admin",)),
        ("//a.example/admin", ("/admin",)),
        ("https://a.example", ("/",)),
        ("/a, /admin", ("/a, /admin", "/a", "/admin")),
        ("/\xe4", ("/\xe4",)),
        (" ", ()),
    ],
)
def test_paths_that_headers_ask_for(name, value, paths):
    headers = ((b"Accept", b"/x"), (name.encode(), value.encode("latin-1")))

    assert paths_of(headers, "/v1/x?y") == paths


@pytest.mark.parametrize("name", [b"X-Forwarded-Prefix", b"X-Script-Name", b"x_ingress_path"])
def test_prefix_stands_before_the_path(name):
    assert paths_of(((name, b"/admin/"),), "/v1/x?y") == ("/admin/v1/x",)


@pytest.mark.parametrize("name", [b"Referer", b"X-Callback-URL", b"X-File-Path", b"Content-Path"])
def test_other_headers_name_no_path_of_the_request(name):
    assert paths_of(((name, b"/admin"),), "/v1/x") == ()


def test_values_are_one_list_over_all_lines():
    assert values(((b"A", b"x, Y"), (b"a", b"z")), b"a") == [b"x", b"y", b"z"]


def test_a_length_is_a_number_or_none():
    assert length_of(((b"content-length", b"012"),)) == 12
    assert length_of(()) is None
