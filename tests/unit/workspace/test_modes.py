from dataclasses import replace

import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.modes import HostFacts, choose_mode, command_ids

GOOD = HostFacts(engine_local=True, engine_remaps=False, owner=1000, command_uid=1000)


def test_overlay_is_had_where_it_holds():
    """Without a reason against it there is no notice."""
    assert choose_mode("overlay", GOOD) == ("overlay", "")


@pytest.mark.parametrize(
    ("worse", "words"),
    [
        ({"engine_local": False}, "another machine"),
        ({"engine_remaps": True}, "maps users"),
        ({"owner": 0}, "belongs to root"),
        ({"owner": 1001}, "belongs to uid 1001"),
        ({"overlay_problem": "it is on NFS"}, "on NFS"),
    ],
)
def test_overlay_that_would_not_hold_becomes_a_copy_and_says_why(worse, words):
    """Never silently."""
    mode, notice = choose_mode("overlay", replace(GOOD, **worse))

    assert mode == "copy"
    assert words in notice


@pytest.mark.parametrize("worse", [{"engine_local": False}, {"engine_remaps": True}, {"owner": 0}])
def test_bind_that_would_not_hold_is_refused(worse):
    """No other mode keeps bind's promise of live files."""
    with pytest.raises(WorkspaceError, match="mode bind") as caught:
        choose_mode("bind", replace(GOOD, **worse))

    assert "copy" in caught.value.hint


@pytest.mark.parametrize("mode", ["copy", "none"])
def test_other_modes_hold_everywhere(mode):
    """They depend on nothing."""
    facts = HostFacts(engine_local=False, engine_remaps=True, owner=0, command_uid=5)

    assert choose_mode(mode, facts) == (mode, "")


@pytest.mark.parametrize(
    ("caller", "owner", "ids"),
    [
        ((1234, 1235), (0, 0), (1234, 1235)),
        ((0, 0), (1001, 1002), (1001, 1002)),
        ((0, 0), (0, 0), (1000, 1000)),
        ((0, 0), (1001, 0), (1001, 1001)),
        ((1234, 0), (1, 1), (1234, 1234)),
    ],
)
def test_commands_never_run_as_root(caller, owner, ids):
    """Neither uid nor gid is 0, whoever calls."""
    assert command_ids(caller, owner) == ids
