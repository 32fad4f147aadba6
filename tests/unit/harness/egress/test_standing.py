from datetime import timedelta

from orchestrator.confirmation.gate import utc_now
from orchestrator.confirmation.grants import Grants
from orchestrator.harness.egress.standing import StandingGrants
from tests.support.asking import question, yes


def given(folder, scope="session"):
    grants = Grants(folder / "grants")
    grant = grants.add(question(), yes(scope))
    assert grant is not None
    return grants, StandingGrants(grants), grant.id


def test_yes_stands_until_it_is_taken_back(tmp_path):
    grants, standing, grant = given(tmp_path)
    before = standing.stands(grant)
    grants.revoke(grant, who="ann")

    assert (before, standing.stands(grant)) == (True, False)


def test_yes_stands_no_longer_than_it_was_given_for(tmp_path):
    _, standing, grant = given(tmp_path, "30m")

    assert standing.stands(grant)
    assert not standing.stands(grant, now=utc_now() + timedelta(minutes=31))


def test_unknown_yes_does_not_stand(tmp_path):
    assert not StandingGrants(Grants(tmp_path / "grants")).stands("0123456789ab")


def test_where_grants_cannot_be_read_none_stands(tmp_path):
    grants, standing, grant = given(tmp_path)
    assert standing.stands(grant)
    (tmp_path / "grants" / "ffffffffffff.json").write_text("{")
    (tmp_path / "grants" / "ffffffffffff.json").chmod(0o600)

    assert not standing.stands(grant)
    assert grants.stamp() is not None
