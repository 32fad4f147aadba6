"""Templates at hand."""

import os

import pytest

from orchestrator.errors import PromptError
from orchestrator.prompts.library import Shelf, library_of, shipped_shelf, user_shelf

SHIPPED = shipped_shelf()


def test_every_shipped_template_is_whole_and_described():
    """Each renders with its least arguments."""
    library = library_of([SHIPPED])

    assert library.faults == {}
    assert library.names() == ["explain", "fix", "plan", "tests"]
    for name, template in library.templates.items():
        least = {
            argument: "X"
            for argument, form in template.head.arguments.items()
            if not form.is_optional
        }
        text = library.render(name, least)
        assert template.head.description.endswith(".")
        assert 20 < len(text.split()) < 250
        assert "\n\n\n" not in text


def test_the_compaction_text_names_its_six_sections_and_what_is_there():
    """Only what is so is said."""
    library = library_of([SHIPPED])
    plain = library.render("compact-summary", {})
    full = library.render("compact-summary", {"focus": "the API", "previous": True, "split": True})
    sections = [line[3:] for line in plain.splitlines() if line.startswith("## ")]

    assert sections == [
        "Goal",
        "Constraints and preferences",
        "Progress",
        "Key decisions",
        "Next steps",
        "Critical context",
    ]
    for word in ("previous summary", "middle of a turn", "the API"):
        assert word in full
        assert word not in plain
    assert "200 words" in library.render("branch-summary", {})


def test_a_users_template_stands_before_a_projects_and_that_before_a_shipped_one():
    """Who sits there decides."""
    project = Shelf("project", "/p", {"plan": "theirs", "fix": "theirs"})
    user = Shelf("user", "/u", {"plan": "mine"})
    library = library_of([SHIPPED, project, user])

    assert library.render("plan", {}) == "mine"
    assert library.render("fix", {}) == "theirs"
    assert library.get("fix").source == "/p/fix.md"


def test_a_project_cannot_replace_what_the_program_uses_itself():
    """Not even by a template that cannot be read."""
    for text in ("obey", "---\nfaulty"):
        library = library_of([SHIPPED, Shelf("project", "/p", {"compact-summary": text})])
        assert "obey" not in library.render("compact-summary", {})
        assert "cannot replace" in library.notes[0]
    user = library_of(
        [
            SHIPPED,
            Shelf(
                "user",
                "/u",
                {
                    "compact-summary": "---\narguments: {focus: {default: ''}, previous: {type: boolean}, split: {type: boolean}}\n---\nshort"
                },
            ),
        ]
    )
    assert user.render("compact-summary", {"focus": "x", "previous": True}) == "short"


def test_partials_of_a_project_reach_only_its_own_templates():
    """Else a project would speak in what the user wrote."""
    project = Shelf("project", "/p", {"a": "{% include 'p' %}"}, {"p": "theirs", "exact": "obey"})
    user = Shelf("user", "/u", {"b": "{% include 'p' %}", "c": "{% include 'exact' %}"})
    library = library_of([SHIPPED, project, user])

    assert library.render("a", {}) == "theirs"
    with pytest.raises(PromptError, match="no partial is called p"):
        library.render("b", {})
    assert "obey" not in library.render("c", {})
    assert "obey" not in library.render("compact-summary", {})


def test_a_projects_template_is_held_to_the_small_language():
    """It cannot run away."""
    library = library_of([Shelf("project", "/p", {"a": "{{ 'x' * 999999999 }}"})])
    with pytest.raises(PromptError, match="not for a project's own texts"):
        library.render("a", {})


def test_one_faulty_template_leaves_the_others_usable():
    """And says why when it is called."""
    library = library_of([SHIPPED, Shelf("user", "/u", {"plan": "---\nx", "ok": "fine"})])

    assert library.render("ok", {}) == "fine"
    with pytest.raises(PromptError, match=r"/u/plan\.md:1: "):
        library.get("plan")


def test_an_unknown_name_is_told_with_the_nearest():
    """A misspelt one is no empty text."""
    with pytest.raises(PromptError) as error:
        library_of([SHIPPED]).get("explian")
    assert "/explain" in error.value.hint


def test_a_users_folder_is_read_with_its_partials(tmp_path):
    """No folder is no fault; a pipe and its like are, and cost themselves alone."""
    assert user_shelf(tmp_path).templates == {}
    (tmp_path / "templates/partials").mkdir(parents=True)
    (tmp_path / "templates/a.md").write_text("\ufeff{% include 'p' %}!")
    (tmp_path / "templates/notes.txt").write_text("none")
    (tmp_path / "templates/partials/p.md").write_text("hello")
    assert library_of([user_shelf(tmp_path)]).render("a", {}) == "hello!"
    os.mkfifo(tmp_path / "templates/b.md")
    (tmp_path / "templates/c.md").symlink_to("nowhere")
    (tmp_path / "templates/d.md").write_bytes(b"fine\n\xff\n")
    (tmp_path / "templates/e.md").write_text("x" * 70_000)
    os.mkfifo(tmp_path / "templates/partials/q.md")
    library = library_of([SHIPPED, user_shelf(tmp_path)])

    assert library.render("a", {}) == "hello!"
    assert set(library.faults) == {"b", "c", "d", "e"}
    with pytest.raises(PromptError, match=r"b\.md: cannot be read: expected a regular file"):
        library.get("b")
    with pytest.raises(PromptError, match=r"d\.md:2: expected UTF-8 text"):
        library.get("d")
    (note,) = library.notes
    assert "partials/q.md: cannot be read" in note


def test_a_folder_that_cannot_be_read_is_told_and_leaves_the_others(tmp_path):
    """Shipped ones can be called."""
    (tmp_path / "templates").symlink_to("templates")
    library = library_of([SHIPPED, user_shelf(tmp_path)])

    assert "explain" in library.names()
    (note,) = library.notes
    assert "templates left out: cannot be read" in note


def test_a_faulty_one_in_the_place_of_another_calls_neither():
    """Who wrote it meant it, and not what is shipped."""
    library = library_of([SHIPPED, Shelf("user", "/u", {"plan": "---\nx"})])

    assert "plan" not in library.names()
    mended = library_of(
        [SHIPPED, Shelf("project", "/p", {"plan": "---\nx"}), Shelf("user", "/u", {"plan": "ok"})]
    )
    assert (mended.render("plan", {}), mended.faults) == ("ok", {})


@pytest.mark.parametrize(
    "text",
    ["---\nx", "---\ndescription: d\n---\n{{ focus", "{{ x | nofilter }}", "{% include 'no' %}"],
)
def test_the_programs_own_template_is_never_lost(text):
    """A summary is made with the shipped text, and the person is told why."""
    library = library_of([SHIPPED, Shelf("user", "/u", {"compact-summary": text})])

    assert library.faults == {}
    (note,) = library.notes
    assert note.startswith("/u/compact-summary.md:")
    assert note.endswith("the shipped text stays in its place")
    values = {"focus": "", "previous": False, "split": False}
    assert library.render("compact-summary", values) == library_of([SHIPPED]).render(
        "compact-summary", values
    )


def test_faults_of_bodies_are_found_without_a_call():
    """With the line that the file has."""
    user = {
        "syntax": "---\ndescription: d\n---\nfine\n{% if %}",
        "filter": "{{ said | nofilter }}",
        "partial": "{% include 'none' %}",
        "inner": "{% include 'torn' %}",
        "optional": "{% include 'none' ignore missing %}",
        "fine": "{{ said }}",
    }
    project = Shelf("project", "/p", {"theirs": "\n{{ range(3) }}"})
    library = library_of([project, Shelf("user", "/u", user, {"torn": "{{"})]).checked()

    assert library.names() == ["fine", "optional"]
    assert library.faults["syntax"].startswith("/u/syntax.md:5: not a template: ")
    assert "nofilter" in library.faults["filter"]
    assert library.faults["partial"] == "/u/partial.md: no partial is called none"
    assert "partial torn" in library.faults["inner"]
    assert library.faults["theirs"].startswith("/p/theirs.md:2: ")
