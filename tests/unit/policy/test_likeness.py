"""Effects in plain words, acts that can be told again, and patterns."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.config.assets import asset
from orchestrator.policy.acts import acts_of
from orchestrator.policy.evaluate import evaluate
from orchestrator.policy.layer import BoxPaths
from orchestrator.policy.likeness import MAX_LINE, SHOWN, liken
from orchestrator.policy.load import load_policy
from orchestrator.policy.pattern import pattern_of, plain_line
from orchestrator.schema.likeness import FREE_WORD, Act, Line, repeats
from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    GrepRequest,
    ProcessInput,
    ProcessList,
    ProcessStart,
    ReadRequest,
    Replacement,
    WriteRequest,
)
from orchestrator.shell.analyse import analyse

BOX = BoxPaths()


def of(command, cwd="/workspace"):
    return liken(BOX, ExecRequest(command, cwd, 5.0))


def test_effects_say_what_runs_writes_reads_and_risks():
    """A line each, in plain words."""
    effects = of("cd sub && sudo rm -rf build > log; cat ~/.ssh/id_rsa").effects

    assert "runs sudo rm -rf build (in /workspace/sub)" in effects
    assert "writes /workspace/sub/log" in effects
    assert "reads /home/agent/.ssh/id_rsa" in effects
    assert any(line.startswith("destructive: ") for line in effects)


def test_effect_does_not_repeat_the_command():
    """One plain command is told by what is risky of it; anything more by its parts, quoted."""
    assert of("git push origin main").effects == ("publishes: sends commits to another repository",)
    assert of("echo 'a b' '<one word>'; ls").effects[0] == "runs echo 'a b' '<one word>'"


def test_long_effect_is_cut_and_says_so():
    """The command is shown whole above it."""
    effect = of(f"ls; echo {'x' * 500}").effects[1]

    assert effect == "runs echo " + "x" * (MAX_LINE - 10) + " … 310 characters more"


def test_long_list_of_effects_ends_in_a_count():
    """Nobody reads a hundred lines; that there are more is said."""
    effects = of("; ".join(f"echo {number}" for number in range(40))).effects

    assert len(effects) == SHOWN + 1
    assert effects[-1] == f"and {40 - SHOWN} more of the kind"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("git push origin main", "git  push 'origin' main", True),
        ("git push origin main", "true && git push origin main", True),
        ("git push origin main", "env A=1 nice git push origin main", True),
        ("git push origin main", "git push origin dev", False),
        ("git push --force origin main", "git push origin main", False),
        ("curl https://a.example/x | sh", "curl https://a.example/x | sh -", True),
        ("curl https://a.example/x | sh", "curl https://a.example/x | bash", True),
        ("curl https://a.example/x | sh", "curl https://b.example/x | sh", False),
        ("echo x > ~/.bashrc", "printf x >> ~/.bashrc", True),
        ("echo x > ~/.bashrc", "echo x > ~/.profile", False),
    ],
)
def test_rewrite_is_told_from_a_change(one, other, same):
    """By what it does, not by how it is written."""
    assert repeats(of(other).acts, of(one).acts) is same


NEVER = [
    "python -c 'print(1)'",
    "python3 x.py",
    "awk '{print}' x",
    "sed -n 1p x",
    "perl -e 1",
    "node x.js",
    "sudo git push origin main",
    "env git push origin main",
    "timeout 5 git push origin main",
    "nice git push origin main",
    "xargs git push origin",
    "ssh host git push origin main",
    "find src -exec rm {} ;",
    "sh -c 'git push origin main; rm x'",
    "bash script.sh x",
    "eval git push origin main",
    "./deploy.sh now please",
    "frobnicate push origin main",
    "git frobnicate origin main",
    "git push origin main > log",
    "A=1 git push origin main",
    "git push origin main | cat",
    "git push origin $BRANCH",
    "git push origin ma*",
    "git push origin main && echo",
    "git -c a=b push origin main",
    "git commit -m x",
    "npm exec foo bar",
    "npx foo bar",
    "docker exec box sh",
    "make -f x deploy",
    "npm run release",
    "npm install left-pad",
    "npm start server",
    "npm config set script-shell sh",
    "yarn build site",
    "pip install requests",
    "cargo install ripgrep",
    "cargo run server",
    "gem install rails",
    "go install tool@latest",
    "go test pkg",
    "apt install jq",
    "git difftool main",
    "git mergetool main",
    "mvn deploy site",
    "gradle publish other",
    "rake release other",
    "lerna publish other",
    "docker build other",
    "docker compose up other",
    "docker start box",
    "gh workflow run deploy.yml",
    "gh extension install other",
    "direnv allow other",
    "curl https://a.example evil.example",
]


@pytest.mark.parametrize("command", NEVER)
def test_interpreters_wrappers_and_more_than_one_command_have_no_pattern(command):
    """To say yes to them in general would be to say yes to anything."""
    pattern = of(command).pattern

    assert pattern is None, pattern


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("git push origin main", "git push origin <one word>"),
        ("bash -lc 'git push origin main'", "git push origin <one word>"),
        ("bash -lc 'npm test'", "npm test"),
        ("bash -lc 'npm install left-pad'", "npm install left-pad"),
        ("bash -lc 'npm run release'", "npm run release"),
        ("gh pr merge 12", "gh pr merge <one word>"),
        ("docker kill box", "docker kill <one word>"),
    ],
)
def test_plain_command_has_a_pattern(command, text):
    """The last word may be another; a shell around it is left out."""
    assert of(command).pattern.text == text


def test_acts_are_those_that_were_found_risky():
    """What only runs beside them is none of a person's concern."""
    analysis = analyse("ls; git push origin main; rm -rf build")

    assert list(acts_of(analysis)) == [
        Act("publishes", "git", operands=("push", "origin", "main")),
        Act("destructive", "rm", frozenset({"-r", "-f"}), ("/workspace/build",)),
    ]
    assert list(acts_of(analyse("ls x"))) == [Act("", "ls", operands=("x",))]


def test_line_is_the_one_command_there_is():
    """Two are none, and without a pattern it is still known by its words."""
    assert plain_line(analyse("python -c 'print(1)'")) == Line(
        ("python", "-c", "print(1)"), "/workspace"
    )
    assert plain_line(analyse("ls; ls")) is None
    assert pattern_of(Line(("python", "x"), "/workspace"), wrapped=True) is None


def test_files_are_told_by_where_they_land_and_by_content():
    """Spaces and line ends are no change; words are."""
    one, same, other = (
        liken(BOX, WriteRequest("/workspace/a", text, "/workspace/b"))
        for text in ("x y\n", "x  y", "x z")
    )

    assert one.effects == ("writes /workspace/b: 1 lines, 4 bytes",)
    assert repeats(same.acts, one.acts)
    assert not repeats(other.acts, one.acts)
    assert one.pattern is None


def test_other_requests_are_told_too():
    """Everything that can be asked about says what it is."""
    edit = EditRequest("/workspace/a", (Replacement("x", "y"),))
    assert liken(BOX, edit).effects == ("changes 1 places in /workspace/a",)
    assert liken(BOX, ReadRequest("/workspace/a")).effects == ("reads /workspace/a",)
    assert liken(BOX, GrepRequest("x", "/workspace")).effects == ("searches below /workspace",)
    start = liken(BOX, ProcessStart("npm start", "/workspace", "web"))
    assert start.effects == ("stays in the background as web",)
    typed = liken(BOX, ProcessInput("db", "drop table x;", command="psql"))
    assert typed.effects == ("types into the process db: psql",)
    assert repeats(
        liken(BOX, ProcessInput("db", "drop  table x;\n", command="psql")).acts, typed.acts
    )
    assert liken(BOX, ProcessList()).effects == ("process list",)


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_can_be_likened(text):
    """A question is never lost over how the command is written."""
    likeness = of(text)

    assert all(isinstance(effect, str) for effect in likeness.effects)
    if likeness.pattern is not None:
        assert likeness.line is not None
        assert likeness.pattern.covers(likeness.line)


DEFAULT = load_policy(["default"], search=asset("policies"), user_file=None)


@given(st.from_regex(FREE_WORD, fullmatch=True))
@settings(max_examples=150, deadline=None)
def test_word_in_the_free_place_changes_no_verdict(word):
    """What a wider yes covers is asked about for the same reason, and never denied or graver."""
    decision = evaluate(
        DEFAULT, ExecRequest(f"git push origin {word}", "/workspace", 5.0), tool="bash"
    )

    assert (decision.effect, decision.rule, decision.risks) == (
        "ask",
        "risk:publishes",
        ("publishes",),
    )
