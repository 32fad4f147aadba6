from dataclasses import replace

from orchestrator.harness.egress.records import (
    MOST_PATH,
    caller_body,
    decided_body,
    egress_event,
    ended_body,
)
from orchestrator.schema.egress import InjectionTerms, Terms, Traffic
from tests.support.egress_desk import CURL, GET, TUNNEL, says


def body(request, **more):
    given = {"generation": 3, "caller": CURL, "answered": None} | more
    return decided_body(request, says("allow", terms=given.pop("terms", None))(request), **given)


def test_decision_names_who_what_and_why():
    found = body(GET)

    assert (found["rule"], found["layer"], found["effect"]) == ("rule-1", "session", "allow")
    assert (found["generation"], found["caller"]["pid"]) == (3, 12)
    assert "upgrade" not in found


def test_long_path_is_cut_and_its_digest_is_of_the_whole():
    long = replace(GET, target="/" + "a" * 10_000)

    assert len(body(long)["path"]) == MOST_PATH
    assert body(long)["digest"] != body(replace(long, target=long.target[:MOST_PATH]))["digest"]


def test_paths_that_headers_ask_for_are_told():
    asked = replace(GET, other_paths=("/admin", "/" + "x" * 5000))
    told = body(asked)["other_paths"]

    assert told == ["/admin", ("/" + "x" * 5000)[:MOST_PATH]]
    assert "other_paths" not in body(GET)


def test_secret_that_is_put_in_is_named_and_not_told():
    terms = Terms(injections=(InjectionTerms("api", "vault:acme", "header", "Authorization"),))

    assert body(GET, terms=terms)["injected"] == ["vault:acme"]


def test_tunnel_has_no_path():
    assert body(TUNNEL)["path"] is None
    assert body(TUNNEL, terms=Terms(inspect=True))["inspect"] is True


def test_caller_is_bounded():
    found = caller_body(replace(CURL, argv=("x" * 9000,) * 100))

    assert found is not None
    assert len(found["argv"]) < 50
    assert max(map(len, found["argv"])) == MOST_PATH
    assert caller_body(None) is None


def test_end_names_the_record_that_it_ends():
    found = ended_body(7, Traffic(1, 2, 200, "203.0.113.1", "broke"), duration_ms=1.6)

    assert (found["egress"], found["duration_ms"], found["problem"]) == (7, 2, "broke")


def test_event_has_the_path_without_its_query():
    event = egress_event(
        GET, says("deny")(GET), traffic=Traffic(), answered_by="terminal", caller=None
    )

    assert (event.path, event.program, event.answered_by) == ("/v1/items", "", "terminal")


def test_of_a_query_only_what_git_asks_for_is_told():
    git = replace(GET, target="/o/r/info/refs?service=git-receive-pack")

    assert body(git)["service"] == "git-receive-pack"
    assert "service" not in body(replace(git, target=f"{git.target}&token=1"))
    assert "service" not in body(replace(git, target="/x?git-receive-pack"))
