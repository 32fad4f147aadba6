from dataclasses import replace

import pytest

from orchestrator.schema.egress import (
    EgressRequest,
    egress_digest,
    egress_subject,
    egress_to_wire,
)

GET = EgressRequest("inspected", "https", "api.example.com", 443, "GET", "/v1/items?id=1")


def test_path_is_the_target_without_its_query():
    assert GET.path == "/v1/items"


def test_digest_names_what_is_asked_and_not_by_which_door():
    assert egress_digest(replace(GET, door="http")) == egress_digest(GET)


def test_announced_bytes_are_no_part_of_what_is_asked():
    assert replace(GET, announced=10) == GET


@pytest.mark.parametrize(
    "other",
    [
        replace(GET, method="HEAD"),
        replace(GET, target="/v1/items?id=2"),
        replace(GET, host="api.example.org"),
        replace(GET, port=8443),
        replace(GET, scheme="http"),
        replace(GET, upgrade="websocket"),
        replace(GET, overrides=("DELETE",)),
        replace(GET, other_paths=("/admin",)),
    ],
)
def test_digest_differs_with_everything_that_matters(other):
    assert egress_digest(other) != egress_digest(GET)


def test_digest_of_a_request_without_other_paths_stays_what_it_was():
    """Approvals that were given before the field was there hold."""
    assert "other_paths" not in egress_to_wire(GET)


def test_wire_form_has_every_field():
    wire = egress_to_wire(replace(GET, other_paths=("/admin",)))

    assert wire.pop("kind") == "egress"
    assert set(wire) == {field for field in GET.__slots__ if not field.startswith("_")} - {
        "announced"
    }


@pytest.mark.parametrize(
    ("request_", "subject"),
    [
        (GET, "GET https://api.example.com/v1/items?id=1"),
        (replace(GET, port=8443), "GET https://api.example.com:8443/v1/items?id=1"),
        (EgressRequest("connect", "https", "2001:db8::1", 443), "connect to [2001:db8::1]"),
        (EgressRequest("connect", "tcp", "git.example.com", 22), "connect to git.example.com:22"),
        (EgressRequest("dns", "tcp", "example.com", 0), "look up example.com"),
    ],
)
def test_subject_shows_the_whole(request_, subject):
    assert egress_subject(request_) == subject
