"""``glovebox audit egress``, on a chain that a session's gatekeeper wrote."""

import json
from dataclasses import replace

import anyio
import pytest

from orchestrator.cli.audit_egress import egress, egress_line
from orchestrator.schema.egress import Traffic
from tests.support.egress_desk import CURL, GET, TUNNEL, Judged, open_egress_desk, says

EVIL = replace(CURL, program="/tmp/\x1b[2J")


@pytest.fixture
def chain(tmp_path):
    """One request let out, one refused four times, by a program with an odd name."""

    def judge(request):
        known = request.host == "api.example"
        return says("allow" if known else "deny", rule="rule-1" if known else "unmatched")(request)

    async def run():
        async with open_egress_desk(tmp_path, Judged(judge)) as desk:
            admission = await desk.gatekeeper.admit(GET, CURL)
            desk.gatekeeper.passed(admission, Traffic(120, 20_300, status=200))
            for _ in range(4):
                await desk.gatekeeper.admit(replace(TUNNEL, host="evil.example"), EVIL)
        return desk.audit_file

    return anyio.run(run)


def test_summary_tells_what_left_and_what_was_refused(chain, capsys):
    egress(str(chain))
    out = capsys.readouterr().out

    assert "1 let out, 4 refused; 120 B up, 20.3 kB down" in out
    assert "GET https://api.example  by rule-1 (session), 120 B up, 20.3 kB down" in out
    assert "connect to evil.example  by unmatched (session)" in out
    assert "because" in out
    assert "\x1b" not in out


def test_refusal_has_a_rule_that_would_let_it_out(chain, capsys):
    egress(str(chain))

    assert "evil.example" in capsys.readouterr().out.partition("a rule that would let it out")[2]


def test_summary_for_machines_has_everything(chain, capsys):
    egress(str(chain), as_json=True)
    data = json.loads(capsys.readouterr().out)

    assert (data["allowed"], data["refused"]) == (1, 4)
    assert [row["count"] for row in data["rows"]] == [1, 4]
    assert data["rows"][0]["suggested_rule"] is None
    assert "evil.example" in data["rows"][1]["suggested_rule"]
    assert data["artefacts"] == data["rule_changes"] == []


def test_chain_without_any_says_so(tmp_path, capsys):
    empty = tmp_path / "x.jsonl"
    empty.write_text('{"type":"genesis","body":{}}\n')
    egress(str(empty))

    assert capsys.readouterr().out == "nothing left the box, and nothing asked to\n"


def test_artefacts_and_changed_rules_are_told(tmp_path, capsys):
    path = tmp_path / "x.jsonl"
    artefact = {
        "ecosystem": "pip",
        "name": "shop",
        "version": "1.2",
        "sha256": "ab12",
        "matches": False,
        "problem": "a part of the file was asked for",
    }
    rows = [
        {"type": "egress", "seq": 0, "time": "t", "body": {"host": "a", "effect": "allow"}},
        {"type": "artefact", "seq": 1, "time": "t", "body": artefact},
        {
            "type": "policy_change",
            "seq": 2,
            "time": "t",
            "body": {"generation": 2, "files": ["p.yaml"]},
        },
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    egress(str(path))
    out = capsys.readouterr().out

    assert "pip shop 1.2  sha256:ab12  NOT WHAT ITS INDEX ANNOUNCED; a part of the file" in out
    assert "set 2, from p.yaml" in out


def test_list_shows_each_record_in_a_line(chain):
    records = [json.loads(line) for line in chain.read_bytes().splitlines()]
    lines = [line for line in map(egress_line, records) if line]

    assert lines[0] == (
        "allow GET https://api.example/v1/items: rule-1 (session), asked by /usr/bin/curl"
    )
    assert any(line.startswith("of 1: 200 120 B up, 20.3 kB down") for line in lines)
    assert egress_line({"type": "egress", "body": None}) is None
    assert egress_line({"type": "outcome", "body": {}}) is None
