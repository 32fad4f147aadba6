from orchestrator.workspace.node import Change, ChangeSet, Node
from orchestrator.workspace.plan import Left
from orchestrator.workspace.summary import left_lines, summary_lines

FILE = Node("file", 0o644, size=9)


def summary(*changes: Change, counts=None, **more) -> list[str]:
    return list(summary_lines(ChangeSet("0" * 12, "copy", "/x", changes, **more), counts or {}))


def test_each_kind_of_change_has_its_line():
    """Word, name, and what is worth knowing."""
    lines = summary(
        Change("a", "modified", FILE, FILE),
        Change("b", "mode", FILE, Node("file", 0o755)),
        Change("c", "added", None, Node("file", 0o644, size=7, binary=True)),
        Change("d", "deleted", Node("directory", 0o755), None),
        Change("l", "added", None, Node("symlink", 0, target="a")),
        Change("new", "added", None, FILE, renamed_from="old"),
        Change("old", "deleted", FILE, None, renamed_to="new"),
        counts={"a": (2, 1)},
    )

    assert lines == [
        "  modified  a  (+2 -1)",
        "  mode      b  (0644 -> 0755)",
        "  added     c  (binary, 7 bytes)",
        "  deleted   d/",
        "  added     l -> a",
        "  renamed   old -> new",
    ]


def test_dangers_have_sections_of_their_own():
    """What runs, what is protected, refused, conflicting or different is said before a yes."""
    lines = summary(
        Change("p", "added", None, FILE, protected=True, runs_on_host="git hook"),
        Change("r", "added", None, FILE, refused="because"),
        Change("c", "added", None, FILE, conflict="moved on"),
        Change("n", "added", None, FILE, notes=("bits are dropped",)),
        inside_git=3,
        notes=("core.pager",),
    )[4:]

    assert lines == [
        "runs on your machine:",
        "  p: git hook",
        "protected, applied only with --include-protected:",
        "  p: policy protects it",
        "refused, never applied:",
        "  r: because",
        "conflicts with your directory:",
        "  c: moved on",
        "applied differently:",
        "  n: bits are dropped",
        ".git: 3 files changed inside .git (commits, index); they stay in the box",
        "note: core.pager",
    ]


def test_names_cannot_move_the_cursor():
    """Neither in the list, nor in sections, nor in what was left."""
    evil = "a\x1b[2J\n\u202e"
    lines = summary(
        Change(
            evil, "added", None, Node("symlink", 0, target=evil), refused=evil, renamed_from=evil
        ),
        notes=(evil,),
    )

    for line in [*lines, *left_lines([Left(evil, evil)])]:
        assert not set(line) & set("\x1b\n\u202e")


def test_nothing_changed_is_said():
    """An empty list is an answer too."""
    assert summary() == ["no files changed"]
