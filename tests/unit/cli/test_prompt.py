"""``glovebox prompt`` as a person runs it."""

import json
import os
import re


def give(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_show_prints_what_a_session_here_would_begin_with(world):
    """The project's words framed, the user's own, and where each is from."""
    give(world.project, "AGENTS.md", "Use tabs.\x1b[31m")
    give(world.root / "config", "prompts/preferences.md", "Answer in French.")
    text = world.run("prompt", "show")
    data = json.loads(world.run("prompt", "show", "--json").out)
    rows = world.run("prompt", "show", "--layers").out.splitlines()

    assert text.code == 0, text.err
    assert "Use tabs." in text.out
    assert "\x1b" not in text.out
    assert "Answer in French." in text.out
    assert data["text"] == text.out.removesuffix("\n")
    assert sum(data["layers"].values()) <= data["tokens"] + len(data["parts"])
    sources = {part["name"]: part["source"] for part in data["parts"]}
    assert sources["AGENTS.md"] == str(world.project / "AGENTS.md")
    assert sources["safety"] == "shipped"
    assert [row.split()[0] for row in rows] == [
        "identity",
        "identity",
        "context",
        "context",
        "context",
        "tools",
        "output",
        "context",
        "total",
    ]


def test_show_says_what_a_budget_leaves_out_and_what_was_not_read(world):
    """Nothing is left out in silence."""
    give(world.project, ".glovebox/prompts/output.md", "Haiku.")
    shown = world.run("prompt", "show", "--layers", "--budget", "1")

    assert "left out to fit: output:output" in shown.out
    assert "glovebox trust --vouch" in shown.err
    world.run("trust", "--vouch", ".")
    assert "Haiku." in world.run("prompt", "show").out


def test_show_follows_tools_and_policy(world):
    """As a session would."""
    assert "bash" not in world.run("prompt", "show", "--tools", "read").out
    assert "HTTP 403" in world.run("prompt", "show", "--policy", "open-egress").out


def test_templates_are_listed_with_usage_and_source(world):
    """What can be called, and whose it is."""
    give(
        world.root / "config",
        "prompts/templates/greet.md",
        "---\ndescription: Greet.\narguments: {who: {}}\n---\nHi {{ who }}",
    )
    give(world.root / "config", "prompts/templates/bad.md", "---\nx")
    listed = world.run("prompt", "templates")
    rows = json.loads(world.run("prompt", "templates", "--json").out)
    names = [row["name"] for row in rows]

    assert listed.code == 0, listed.err
    assert "/greet WHO" in listed.out
    assert re.search(r"^/bad  broken: .*bad\.md:1: ", listed.out, re.MULTILINE)
    assert "bad.md:1: " in next(row for row in rows if row["name"] == "bad")["error"]
    assert "greet" in names
    assert "compact-summary" not in names
    assert names == sorted(names)


def test_expand_prints_what_the_model_would_be_told(world):
    """Before it is told."""
    made = world.run("prompt", "expand", "/fix make test")
    wrong = world.run("prompt", "expand", "/fix")

    assert "    make test\n" in made.out
    assert world.run("prompt", "expand", "//fix it").out == "/fix it\n"
    assert wrong.code == 1
    assert "usage: /fix COMMAND" in wrong.err


def test_a_users_text_with_an_unknown_variable_is_an_error(world):
    """With the file and what there is."""
    give(world.root / "config", "prompts/output.md", "{{ modle }}")
    shown = world.run("prompt", "show")

    assert shown.code == 1
    assert "output.md: 'modle' is undefined" in shown.err
    assert "model" in shown.err


def test_a_broken_template_costs_itself_alone(world):
    """Others are called, and the broken one says why."""
    folder = world.root / "config/prompts/templates"
    give(world.root / "config", "prompts/templates/body.md", "---\ndescription: d\n---\n{% if %}")
    give(world.root / "config", "prompts/templates/partials/p.md", "x")
    os.mkfifo(folder / "pipe.md")
    (folder / "gone.md").symlink_to("nowhere")

    assert "make test" in world.run("prompt", "expand", "/fix make test").out
    assert world.run("prompt", "show").code == 0
    listed = world.run("prompt", "templates")
    assert listed.code == 0
    assert "/fix COMMAND" in listed.out
    assert re.search(r"^/body  broken: .*body\.md:4: not a template", listed.out, re.MULTILINE)
    assert re.search(r"^/gone  broken: .*gone\.md: cannot be read", listed.out, re.MULTILINE)
    called = world.run("prompt", "expand", "/pipe now")
    assert called.code == 1
    assert "pipe.md: cannot be read: expected a regular file, got a named pipe" in called.err


def test_show_has_no_secret_that_a_session_would_take_out(world):
    """Neither by its shape in a project's words or the user's own, nor by its known value."""
    shaped = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    given = "correct-horse-battery-staple-2291"
    give(world.project, "AGENTS.md", f"Push with {shaped}; the host's is {given}.")
    give(world.root / "config", "prompts/preferences.md", f"Mine is {shaped}.")
    for form in ([], ["--json"], ["--layers"]):
        shown = world.run("prompt", "show", *form, env={"ANTHROPIC_API_KEY": given})
        assert shown.code == 0, shown.err
        assert not {word for word in (shaped, given) if word in shown.out + shown.err}
    assert "Push with [redacted:" in world.run("prompt", "show").out
