import pytest

from orchestrator.egress.inject.foreign import foreign_header, foreign_parameter
from orchestrator.egress.inject.head import RequestHead, basic_value

OWN = ["gbx_aaaabbbbccccdddd"]
GITHUB = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5"


def head(*headers: tuple[str, str]) -> RequestHead:
    return RequestHead(
        "GET", "/", tuple((name.encode(), value.encode()) for name, value in headers)
    )


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "X-Api-Key",
        "x_api_key",
        "api-key",
        "X-Goog-Api-Key",
        "PRIVATE-TOKEN",
        "Job-Token",
        "X-Auth-Token",
        "X-Vault-Token",
        "X-Shopify-Access-Token",
        "X-Amz-Security-Token",
        "DD-APPLICATION-KEY",
        "X-Auth-Key",
        "X-Original-Authorization",
        "X-Client-Secret",
        *("Token", "X-Token", "Authentication", "X-GitHub-Token", "X-Figma-Token"),
        *("Ocp-Apim-Subscription-Key", "APCA-API-KEY-ID", "X-Auth", "X_ACCESSTOKEN", "X-Jwt"),
    ],
)
def test_headers_that_carry_credentials_are_known(name):
    """By what their names end in, spelled with either dash."""
    assert foreign_header(head((name, "foreign")), OWN, "X-Other") == name


@pytest.mark.parametrize(
    "name",
    [
        *("Accept", "Content-Type", "Idempotency-Key", "X-CSRF-Token", "Sec-WebSocket-Key"),
        *("If-None-Match", "traceparent", "anthropic-version", "x-amz-date", "User-Agent"),
        *("X-Auth-Email", "X-Token-Type", "Surrogate-Key", "X-Page-Token", "Max-Tokens"),
        *("x-amz-server-side-encryption-aws-kms-key-id", "X-Idempotency-Key", "Author"),
    ],
)
def test_other_headers_are_not_suspect(name):
    """An API's usual headers come through."""
    value = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    assert foreign_header(head((name, value)), OWN, "Authorization") is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        "  ",
        OWN[0],
        f"Bearer {OWN[0]}",
        f"token  {OWN[0]}",
        basic_value("x-access-token", OWN[0]),
        basic_value(OWN[0], ""),
    ],
)
def test_placeholder_in_any_dress_is_ours(value):
    """Tools write a token as they please; nothing at all is fine too."""
    assert foreign_header(head(("Authorization", value)), OWN, "Authorization") is None


@pytest.mark.parametrize(
    "value",
    [
        "Bearer foreign",
        f"Bearer {OWN[0]}x",
        f"Bearer x{OWN[0]}",
        f"{OWN[0]}, other",
        basic_value("me", "foreign"),
        "Basic !!",
    ],
)
def test_anything_else_is_foreign(value):
    """Near is not enough."""
    assert foreign_header(head(("Authorization", value)), OWN, "X-Key") == "Authorization"


def test_second_header_of_the_name_is_looked_at_too():
    """A server may take the last one."""
    twice = head(("Authorization", f"Bearer {OWN[0]}"), ("authorization", "Bearer foreign"))

    assert foreign_header(twice, OWN, "Authorization") == "authorization"


def test_header_of_the_rule_is_always_looked_at():
    """Whatever it is called."""
    assert foreign_header(head(("X_House", "foreign")), OWN, "x-house") == "X_House"


def test_token_in_a_harmless_header_is_foreign():
    """Its form gives it away."""
    assert foreign_header(head(("X-Note", f"see {GITHUB}")), OWN, "Authorization") == "X-Note"


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/p?api_key=foreign", "api_key"),
        ("/p?a=1&API_KEY=foreign", "API_KEY"),
        ("/p?a=1;access_token=foreign", "access_token"),
        ("/p?%61ccess_token=foreign", "access_token"),
        ("/p?key=foreign", "key"),
        (f"/p?q={GITHUB}", "q"),
        ("/p?X-Amz-Signature=00", "X-Amz-Signature"),
        ("/p?a=1&token=foreign", "token"),
        ("/p?key=abcdef0123456789", "key"),
        ("/p?password=foreign", "password"),
        ("/p?client_secret=foreign", "client_secret"),
        ("/p?sig=foreign", "sig"),
        ("/p?accessToken=foreign", "accessToken"),
        ("/p?user%5Btoken%5D=foreign", "user[token]"),
        ("/p?subscription-key=0123456789abcdef", "subscription-key"),
        (f"/p?api_key={OWN[0]}&api_key=foreign", "api_key"),
    ],
)
def test_credential_in_the_query_is_foreign(target, name):
    """As servers read a query, and by the rule's own parameter."""
    assert foreign_parameter(target, OWN, "key") == name


@pytest.mark.parametrize(
    "target",
    [
        *("/p", "/p?q=words&page_token=abc", f"/p?key={OWN[0]}", "/p?key=", "/api_key=1"),
        *("/p?sort_key=name", "/p?nextPageToken=abc", "/p?max_tokens=5", "/p?author=me"),
        *("/p?continuation-token=abc", "/p?keyword=x", "/p?token_type=x", "/p?signed=1"),
    ],
)
def test_usual_query_is_not_suspect(target):
    assert foreign_parameter(target, OWN, "key") is None


@pytest.mark.parametrize("value", ["name", "PROJ-12", "a/b/c", "user:1", "lower-case-words-only"])
def test_key_in_a_query_may_be_the_name_of_something(value):
    """Where the rule itself does not put its credential there."""
    assert foreign_parameter(f"/p?key={value}", OWN, "") is None
