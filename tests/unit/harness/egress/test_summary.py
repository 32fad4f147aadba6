from textwrap import indent

from orchestrator.config.assets import asset
from orchestrator.harness.egress.book import EACH_ALIKE
from orchestrator.harness.egress.records import decided_body, ended_body
from orchestrator.harness.egress.summary import SHOWN_PATHS, number, suggested_rule, summarise
from orchestrator.policy.load import load_policy
from orchestrator.schema.egress import EgressRequest, Traffic
from tests.support.egress import judge
from tests.support.egress_desk import CURL, GET, says


def chain(*records):
    """Return records as they stand in a chain; each is a kind and a body."""
    return [
        {"type": kind, "seq": seq, "time": f"2026-11-30T12:00:{seq:02}Z", "body": body}
        for seq, (kind, body) in enumerate(records)
    ]


def decided(effect, target="/v1/items", *, host="api.example"):
    request = EgressRequest("inspected", "https", host, 443, "GET", target)
    verdict = says(effect)(request)
    return "egress", decided_body(request, verdict, generation=1, caller=CURL, answered=None)


def ended(seq, up, down, problem=""):
    traffic = Traffic(up, down, status=200, problem=problem)
    return "egress_end", ended_body(seq, traffic, duration_ms=1.0)


def test_requests_alike_are_one_row_with_their_bytes():
    summary = summarise(
        chain(decided("allow", "/a"), ended(0, 10, 100), decided("allow", "/b"), ended(2, 1, 2))
    )
    (row,) = summary.rows

    assert (row.count, row.bytes_up, row.bytes_down) == (2, 11, 102)
    assert (row.paths, row.last) == (["/a", "/b"], "2026-11-30T12:00:02Z")
    assert (row.programs, summary.count("allow")) == (["/usr/bin/curl"], 2)


def test_what_was_let_out_comes_before_what_was_refused():
    records = chain(
        decided("deny", host="evil.example"),
        decided("deny", host="evil.example"),
        decided("allow"),
    )

    assert [row.effect for row in summarise(records).rows] == ["allow", "deny"]


def test_refusals_that_were_counted_count():
    """Three have a record each; the counter is of all of them, and the last one holds."""
    records = chain(
        *(decided("deny"),) * EACH_ALIKE,
        ("egress_again", {"egress": 0, "count": 10}),
        ("egress_again", {"egress": 0, "count": 25}),
        ("egress_again", {"egress": None, "count": 7}),
    )
    summary = summarise(records)

    assert (summary.rows[0].count, summary.uncounted) == (25, 7)


def test_many_paths_are_a_count():
    (row,) = summarise(chain(*(decided("allow", f"/{n}") for n in range(9)))).rows

    assert (len(row.paths), row.more_paths) == (SHOWN_PATHS, 9 - SHOWN_PATHS)


def test_end_of_what_broke_off_says_why():
    (row,) = summarise(chain(decided("allow"), ended(0, 0, 0, "nothing passed"))).rows

    assert row.problems == ["nothing passed"]


def test_first_request_and_verdict_are_as_they_were():
    (row,) = summarise(chain(decided("deny", "/v1/items"))).rows

    assert (row.first.host, row.first.method, row.first.path) == ("api.example", "GET", "/v1/items")
    assert (row.verdict.decision.effect, row.verdict.decision.rule) == ("deny", "rule-1")
    assert row.as_data()["reason"] == "because"


def test_artefacts_and_changes_of_the_rules_are_kept():
    records = chain(
        ("artefact", {"name": "x"}), ("policy_change", {"generation": 2, "files": ["a.yaml"]})
    )
    summary = summarise(records)

    assert [item["name"] for item in summary.artefacts] == ["x"]
    assert summary.changes[0]["generation"] == 2


def test_refusal_after_a_yes_counts_as_one_with_its_reason():
    """It was let out by the rules, and by nothing else."""

    def end(seq, refused, problem, address=""):
        traffic = Traffic(problem=problem, refused=refused, address=address)
        return "egress_end", ended_body(seq, traffic, duration_ms=1.0)

    records = chain(
        decided("allow"),
        ended(0, 1, 2),
        decided("allow", "/big"),
        end(2, "rule-1", "this session's upload is 90 bytes, 7 are left"),
        decided("allow", "/big"),
        end(4, "rule-1", "this session's upload is 90 bytes, 3 are left"),
        decided("allow", "/in"),
        end(6, "address", "api.example leads to an address that is private", "10.1.2.3"),
    )
    summary = summarise(records)
    passed, bound, address = summary.rows

    assert (summary.count("allow"), summary.count("deny")) == (1, 3)
    assert (passed.paths, bound.paths, bound.count) == (["/v1/items"], ["/big"], 2)
    assert (bound.rule, bound.layer, bound.problems) == ("rule-1", "session", [])
    assert bound.reason == "this session's upload is 90 bytes, 7 are left"
    assert suggested_rule(bound) is None
    assert (address.rule, address.layer) == ("address", "floor")
    assert 'private: ["10.1.2.3/32"]' in suggested_rule(address)


def test_records_without_sense_are_left_out():
    """A chain is a file: anything may stand in it."""
    records = [
        {"type": "egress", "body": None},
        {"type": "egress", "body": {"host": 7}},
        {"type": "egress_end", "body": {"egress": [1]}},
        {"type": "egress_end", "body": {"egress": 99, "bytes_up": "many"}},
        {"body": "x"},
        *chain(decided("allow"), ended(0, True, 5)),
    ]
    (row,) = summarise(records).rows

    assert (row.count, row.bytes_up, row.bytes_down) == (1, 0, 5)
    assert number(True) == number("7") == 0


def test_look_ups_are_rows_of_their_own():
    look_up = EgressRequest("dns", "https", GET.host, 0)
    body = decided_body(look_up, says("deny")(look_up), generation=1, caller=None, answered=None)

    assert len(summarise(chain(("egress", body), decided("deny"))).rows) == 2


def refused(*targets, rule="unmatched"):
    records = []
    for target in targets:
        request = EgressRequest("inspected", "https", "api.example", 443, "GET", target)
        verdict = says("deny", rule=rule)(request)
        body = decided_body(request, verdict, generation=1, caller=None, answered=None)
        records.append(("egress", body))
    return summarise(chain(*records)).rows[0]


def test_suggested_rule_lets_out_what_was_refused_and_no_more(tmp_path):
    """Put into a policy as it is."""
    rule = suggested_rule(refused("/v1/items", "/v1/others"))
    assert rule is not None
    file = tmp_path / "p.yaml"
    lines = indent(rule, "    ")
    file.write_text(f"version: 1\nname: p\nnetwork:\n  default: deny\n  rules:\n{lines}\n")
    policy = load_policy([str(file)], search=asset("policies"), user_file=None)

    def effect(text):
        return judge(policy, text).decision.effect

    assert effect("GET https://api.example/v1/items") == "allow"
    assert effect("GET https://api.example/v1/others") == "allow"
    assert effect("POST https://api.example/v1/items") == "deny"
    assert effect("GET https://api.example/v1/more") == "deny"


def test_no_rule_is_suggested_where_one_denies_or_nothing_was_refused():
    """A further rule would change nothing: the strictest wins."""
    assert suggested_rule(refused("/v1/items", rule="no-tracker")) is None
    assert suggested_rule(summarise(chain(decided("allow"))).rows[0]) is None
