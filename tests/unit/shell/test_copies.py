"""What copies, moves and links leave behind."""

from orchestrator.shell.analyse import analyse


def _writes(command: str) -> set[str]:
    return {path for path, _ in analyse(command).writes}


def test_a_write_through_a_new_link_lands_where_the_link_leads():
    """A relative link starts at its own folder, and one into a folder keeps its source's name."""
    assert "/workspace/.git/hooks/y" in _writes("ln -s .git g; cp x g/hooks/y")
    assert "/workspace/.git/config" in _writes("ln -s ../.git sub/g; echo x > sub/g/config")
    assert "/workspace/.git/config" in _writes("ln -s ../.git sub; echo x > sub/.git/config")
    assert "/workspace/sub/.git/config" in _writes("ln -s .git sub/g; echo x > sub/g/config")
    assert "/workspace/.git/config" in _writes("ln .git/config c; echo x > c")


def test_links_in_a_circle_end():
    """The kernel gives up on them too."""
    assert _writes("ln -s a b; ln -s b a; echo x > a/c")


def test_what_goes_into_a_folder_keeps_its_name():
    """Only where the target is plainly a folder."""
    assert "/workspace/.github/workflows" in _writes("cp -r x/workflows .github/")
    assert "/workspace/.envrc" in _writes("cp x/.envrc .")
    assert "/workspace/d/b" in _writes("mv a b d")
    assert "/workspace/b/a" not in _writes("mv a b")


def test_a_move_takes_the_whole_tree():
    """What lies below goes with it."""
    assert ("/workspace/.github", (3, 10)) in analyse("mv .github x").trees
    assert ("/workspace/.github", (7, 14)) in analyse("rm -rf .github").trees
