"""What was seen of signed policies."""

import os

import pytest

from orchestrator.errors import PolicyError
from orchestrator.policy.serials import check_serial, remember_serial
from orchestrator.policy.signature import PolicySignature


def signed(serial, digest="a", layer="org"):
    return PolicySignature(
        version=1,
        layer=layer,
        algorithm="ed25519",
        key="0" * 16,
        digest="sha256:" + digest * 64,
        serial=serial,
        issued="2026-11-30T12:00:00Z",
        signature="",
    )


def test_layers_count_apart(tmp_path):
    """A team's number says nothing of the organisation's."""
    remember_serial(signed(9), state=tmp_path)
    remember_serial(signed(2, layer="team"), state=tmp_path)

    check_serial(signed(2, layer="team"), file="t", state=tmp_path)
    check_serial(signed(9), file="o", state=tmp_path)
    with pytest.raises(PolicyError, match=r"o.sig: expected serial 9 or higher"):
        check_serial(signed(8), file="o", state=tmp_path)


def test_nothing_lower_is_ever_kept(tmp_path):
    """Also where a slower process comes last."""
    remember_serial(signed(9), state=tmp_path)
    remember_serial(signed(3), state=tmp_path)

    with pytest.raises(PolicyError, match="expected serial 9"):
        check_serial(signed(3), file="o", state=tmp_path)


@pytest.mark.parametrize("text", ["", "{", '{"version": 2}', '{"layers": {"user": {}}}'])
def test_broken_memory_refuses(tmp_path, text):
    """Not knowing what was seen is no leave to take anything."""
    (tmp_path / "policy-serials.json").write_text(text)

    with pytest.raises(PolicyError, match=r"policy-serials.json:1: expected the serials") as caught:
        check_serial(signed(1), file="o", state=tmp_path)
    assert "rm " in caught.value.hint


def test_memory_that_cannot_be_kept_refuses(tmp_path):
    """Without it an old policy could come back unseen."""
    (tmp_path / "file").write_text("")

    with pytest.raises(PolicyError, match="cannot be"):
        remember_serial(signed(1), state=tmp_path / "file" / "state")


def test_memory_is_the_users_own(tmp_path):
    """A private folder, a private file, nothing half written left."""
    state = tmp_path / "state"
    remember_serial(signed(1), state=state)

    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / "policy-serials.json").stat().st_mode & 0o777 == 0o600
    assert not list(state.glob("*.new"))


def test_pipe_in_the_place_of_the_serials_is_not_waited_for(tmp_path):
    """Nor taken for no memory."""
    os.mkfifo(tmp_path / "policy-serials.json")

    with pytest.raises(PolicyError, match="got a named pipe"):
        check_serial(signed(9), file="o", state=tmp_path)
