from orchestrator.workspace.node import Change, ChangeSet, Node
from orchestrator.workspace.plan import Left
from orchestrator.workspace.summary import effect_lines, left_lines, summary_lines

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


def test_long_list_is_folded_and_says_how_to_see_all_of_it():
    """Dangers too; what is beside the heap is named."""
    many = [
        Change(f"gen/m{n % 700}/f{n}", "added", None, FILE, runs_on_host="it is executable")
        for n in range(5000)
    ]
    own = Change("app.py", "modified", FILE, FILE, runs_on_host="python imports it")
    changes = ChangeSet("0" * 12, "copy", "/x", (own, *many), notes=("n",) * 5000)

    lines = list(summary_lines(changes, {"app.py": (1, 2)}))

    assert lines[:5] == [
        "  modified  app.py  (+1 -2)",
        "  5000      gen/  (5000 added)",
        "runs on your machine:",
        "  app.py: python imports it",
        "  gen/m0/f0: it is executable",
    ]
    assert lines[7] == "  … and 4997 more (4997 in gen/): it is executable"
    assert lines[-2] == "note: … and 4940 more"
    assert lines[-1].endswith("glovebox diff --stat --all 000000000000")
    assert len(lines) < 100
    assert len(list(summary_lines(changes, {}, everything=True))) == 5001 * 2 + 1 + 5000


def test_long_list_of_what_was_left_or_runs_is_folded():
    """Where a person was not asked about each, as at the end of a run."""
    left = [Left(f"d/f{n}", "it is a fifo") for n in range(1000)]
    many = [Change(f"f{n}", "added", None, FILE, runs_on_host="x") for n in range(1000)]

    assert list(left_lines(left))[-1] == ("  not applied: … and 997 more (997 in d/): it is a fifo")
    assert len(list(left_lines(left, everything=True))) == 1000
    assert list(effect_lines(many))[-1] == "  runs on your machine: … and 997 more (997 in ./): x"
    assert len(list(effect_lines(many, everything=True))) == 1000
