"""A commit's whole way: made by an agent in a box, told at the end, fetched on the host."""

import pytest

from tests.support.repositories import git

pytestmark = pytest.mark.docker

COMMIT = (
    "printf 'three\\n' >> notes.txt && git commit -qam 'Add three' && git log -1 --format='%an %ae'"
)


def test_agent_s_commit_reaches_a_branch_under_the_person_s_name(world):
    """Identity goes in, the commit comes out, the person's own branch stays."""
    git(world.project, "init", "-q", "-b", "main")
    git(world.project, "add", ".")
    git(world.project, "commit", "-qm", "First")
    home = world.root / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@home.example\n")
    model = world.script(
        {"tool_calls": [{"name": "bash", "arguments": {"command": COMMIT}}]},
        {"text": "committed", "expect": {"last_tool_output_contains": "Ada ada@home.example"}},
    )

    ended = world.run("run", "commit it", "-m", model, "--json", "--yolo", env={"HOME": str(home)})

    [changed] = ended.of("workspace")
    assert ended.code == 0, ended.err
    [row] = changed["commits"]
    assert (row["branch"], row["commits"]) == ("main", 1)
    assert f"commits: 1 on main wait: glovebox apply --commits {row['target'][9:21]}" in ended.err

    taken = world.run("apply", "--commits", "--yes", env={"HOME": str(home)})

    assert taken.code == 0, taken.err
    log = git(world.project, "log", "--format=%s %an", row["target"])
    assert log == "Add three Ada\nFirst Person"
    assert git(world.project, "log", "--format=%s", "main") == "First"
