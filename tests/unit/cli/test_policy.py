"""``glovebox policy``, run as users run it."""

from __future__ import annotations

import json
import os

import pytest


@pytest.fixture
def written(tmp_path):
    """Writes a file below the run's directory."""

    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    return write


def test_lint_names_line_and_nearest_and_exits_7(glovebox, written):
    """A typo in a policy stops a pipeline, and says how to mend it."""
    bad = written("bad.yaml", "version: 1\nname: bad\ncommnads: {default: allow}\n")
    done = glovebox("policy", "lint", bad)

    assert done.returncode == 7
    assert "bad.yaml:3: unknown key 'commnads'; nearest: 'commands'" in done.stderr
    assert done.stdout == ""


def test_lint_of_several_files_tells_all_errors_and_remarks(glovebox, written):
    """One bad file does not hide what is said of another."""
    odd = written("odd.yaml", "version: 1\nname: odd\naudit: {sign: false}\n")
    bad = written("bad.yaml", "version: 1\nname: bad\nlimits: {steps: 0}\n")
    done = glovebox("policy", "lint", bad, odd, "default", "--json")
    data = json.loads(done.stdout)

    assert done.returncode == 7
    assert data["errors"][0].startswith("bad.yaml:3: ")
    assert [(item["file"], item["line"]) for item in data["remarks"]] == [("odd.yaml", 3)]


def test_lint_of_a_sound_policy_is_silent(glovebox):
    """Exit 0, nothing to say."""
    done = glovebox("policy", "lint", "default", "strict")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_show_effective_names_the_layer_behind_each_value(glovebox, written):
    """The user's own file is a layer of its own."""
    written("config/policy.yaml", "version: 1\nname: mine\nlimits: {steps: 7}\n")
    done = glovebox("policy", "show", "--effective")

    assert done.returncode == 0
    assert "limits.steps" in done.stdout
    steps = next(line for line in done.stdout.split("\n") if line.startswith("limits.steps"))
    assert steps.split()[1:3] == ["7", "[user"]
    assert "config/policy.yaml:3" in steps
    assert (
        "7"
        not in next(
            line
            for line in glovebox("policy", "show").stdout.split("\n")
            if line.startswith("limits.steps")
        ).split()
    )


def test_show_json_is_one_object(glovebox):
    """For machines."""
    data = json.loads(glovebox("policy", "show", "--policy", "strict", "--json").stdout)

    assert data["name"] == "strict"
    assert data["settings"]["limits.steps"]["value"] == 20


def test_explain_underlines_and_names_rule_layer_and_line(glovebox):
    """A person sees which part, which rule and what would change it."""
    done = glovebox("policy", "explain", "ls; rm -rf src")

    assert done.returncode == 0
    assert done.stdout.startswith("ASK\n")
    assert "^^^" in done.stdout
    assert "risk:destructive (session, policies/default.yaml:" in done.stdout


def test_explain_reads_stdin_and_paths(glovebox):
    """A script's text comes by stdin, a path by an option."""
    by_stdin = json.loads(glovebox("policy", "explain", "-", "--json", stdin="git push\n").stdout)
    write = json.loads(glovebox("policy", "explain", "--write", ".git/config", "--json").stdout)
    read = json.loads(glovebox("policy", "explain", "--read", "/etc/passwd", "--json").stdout)

    assert "publishes" in by_stdin["risks"]
    assert (write["effect"], write["rule"]) == ("ask", "protected")
    assert (read["effect"], read["layer"]) == ("deny", "floor")


def test_explain_takes_a_tool_alone_and_a_request(glovebox):
    """By its name; and what leaves the box is judged by the rules on the network."""
    tool = json.loads(glovebox("policy", "explain", "--tool", "bash", "--json").stdout)
    egress = glovebox("policy", "explain", "--request", "GET https://x.example/a")
    wrong = glovebox("policy", "explain", "--request", "x.example")
    both = glovebox("policy", "explain", "--request", "GET https://x.example", "ls")

    assert (tool["effect"], tool["subject"]) == ("allow", "any call of bash")
    assert egress.stdout.startswith("DENY\n  GET https://x.example/a\n")
    assert "no rule matches, and network.default is deny" in egress.stdout
    assert (wrong.returncode, both.returncode) == (2, 2)


def test_explain_takes_text_as_typed_into_a_process(glovebox):
    """As the gate would judge an input; a path cannot be typed."""
    done = glovebox(
        "policy", "explain", "--typed-into", "python3", "import os; os.system('git push')"
    )
    wrong = glovebox("policy", "explain", "--typed-into", "bash", "--read", "x")

    assert done.stdout.startswith("ASK\n")
    assert "risk:publishes" in done.stdout
    assert "      ^^^^^^^^" in done.stdout
    assert wrong.returncode == 2
    assert "--typed-into" in wrong.stderr


@pytest.mark.parametrize("arguments", [(), ("ls", "--read", "a")])
def test_explain_wants_exactly_one_subject(glovebox, arguments):
    """Ambiguity is a usage error."""
    done = glovebox("policy", "explain", *arguments)

    assert done.returncode == 2
    assert "expected one of" in done.stderr


def test_cases_that_hold_exit_0_and_those_that_fail_exit_1(glovebox, written):
    """A pipeline can stand on the exit code."""
    good = written("good.yaml", "- {id: a, command: ls, expect: allow}\n")
    bad = written("bad.yaml", "- {id: b, command: git push, expect: allow}\n")

    assert glovebox("policy", "test", good).returncode == 0
    done = glovebox("policy", "test", good, bad, "--policy", "default", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "passed": 1,
        "failed": [{"id": "b", "expected": "allow", "got": "ask", "rule": "risk:publishes"}],
    }
    text = glovebox("policy", "test", bad).stdout
    assert text.startswith("b: expected allow, got ask by risk:publishes: ")
    assert text.endswith("0 passed, 1 failed\n")


def test_a_case_file_that_cannot_be_read_is_an_error(glovebox, tmp_path):
    """Nothing judged is not everything held."""
    (tmp_path / "latin.yaml").write_bytes(b"- {id: \xe9}")

    assert glovebox("policy", "test", "none.yaml").returncode == 7
    assert glovebox("policy", "test", "latin.yaml").returncode == 7


def test_schema_is_json(glovebox):
    """Editors read it from stdout."""
    assert "commands" in json.loads(glovebox("policy", "schema").stdout)["properties"]


def test_project_s_layer_is_shown_and_explained(glovebox, written):
    """As a run there would have it; that nobody said yes to it yet is told, and stops nothing here."""
    written(
        "repo/.glovebox/policy.yaml",
        "version: 1\nname: ours\nlimits: {steps: 3}\n"
        "commands: {rules: [{id: no-make, program: make, effect: deny}]}\n",
    )
    shown = glovebox("policy", "show", "--effective", "-C", "repo")
    line = next(row for row in shown.stdout.splitlines() if row.startswith("limits.steps"))
    explained = json.loads(glovebox("policy", "explain", "make", "-C", "repo", "--json").stdout)

    assert shown.returncode == 0
    assert line.split()[1:3] == ["3", "[project"]
    assert "overridden: 200  [session policies/default.yaml:" in shown.stdout
    assert "nobody has said yes to this project's own policy" in shown.stderr
    assert (explained["effect"], explained["layer"]) == ("deny", "project")
    assert explained["place"].endswith("repo/.glovebox/policy.yaml:4")
    plain = glovebox("policy", "explain", "make", "--json")
    assert json.loads(plain.stdout)["effect"] == "allow"


def test_project_s_layer_that_loosens_is_no_layer(glovebox, written):
    """What would start nothing is explained by nothing."""
    written(".glovebox/policy.yaml", "version: 1\nname: ours\ntools: {bash: allow}\n")
    refused = glovebox("policy", "explain", "ls")

    assert refused.returncode == 7
    assert "policy.yaml:3: tools.bash: allow would loosen" in refused.stderr


def test_lint_reads_a_file_as_a_project_s_own(glovebox, written):
    """A pipeline of the repository finds what would stop everybody's sessions."""
    loose = written("loose.yaml", "version: 1\nname: x\ntools: {bash: allow}\n")
    tight = written(
        "tight.yaml",
        "version: 1\nname: x\ncommands: {rules: [{id: r, program: make, effect: ask,"
        " examples: {match: [make], no_match: [ls]}}]}\n",
    )

    assert glovebox("policy", "lint", loose).returncode == 0
    refused = glovebox("policy", "lint", "--as-project", loose)
    assert (refused.returncode, refused.stdout) == (7, "")
    assert "loose.yaml:3: tools.bash: allow would loosen" in refused.stderr
    done = glovebox("policy", "lint", "--as-project", tight)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert glovebox("policy", "lint", "--as-project", "none.yaml").returncode == 7


NO_FILES = (
    ("self.yaml", "Too many levels of symbolic links"),
    ("pipe.yaml", "expected a regular file, got a named pipe"),
    ("dir.yaml", "expected a regular file, got a directory"),
    ("zero.yaml", "expected a regular file, got a device"),
)


@pytest.fixture
def no_files(tmp_path):
    """Makes what is no file: a circle of links, a pipe nobody writes to, a directory, a device."""
    (tmp_path / "self.yaml").symlink_to("self.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "dir.yaml").mkdir()
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")


@pytest.mark.parametrize(("name", "why"), NO_FILES)
@pytest.mark.parametrize(
    "words",
    [
        "lint FILE",
        "lint --as-project FILE",
        "explain ls --policy ./FILE",
        "verify FILE --layer org --key FILE",
        "test FILE",
        "diff default ./FILE",
        "diff default strict --cases FILE",
    ],
)
@pytest.mark.usefixtures("no_files")
def test_what_is_no_file_is_refused_without_waiting(glovebox, words, name, why):
    """Policies, cases and keys alike: exit 7, the place and the reason."""
    done = glovebox("policy", *words.replace("FILE", name).split())

    assert done.returncode == 7, done
    assert f"{name}: cannot be read: {why}" in done.stderr


@pytest.mark.usefixtures("no_files")
def test_lint_tells_the_next_step_and_where_a_file_is_named(glovebox, written):
    """An ``extends`` points at what cannot be read by its line."""
    name = written("on.yaml", "version: 1\nname: on\nextends: [./pipe.yaml]\n")
    done = glovebox("policy", "lint", name)

    assert done.returncode == 7
    assert "on.yaml:3: pipe.yaml: cannot be read: expected a regular file" in done.stderr
    assert "mend the file or take it away" in done.stderr


@pytest.mark.usefixtures("no_files")
def test_directory_in_a_circle_is_no_directory(glovebox):
    """And no internal error."""
    done = glovebox("run", "--cd", "self.yaml", "hello")

    assert (done.returncode, "expected a directory" in done.stderr) == (2, True), done
    assert "internal" not in glovebox("trust", "self.yaml").stderr


def test_empty_policy_says_what_a_policy_begins_with(glovebox, written):
    """A comment alone is as empty."""
    for text in ("", "# nothing yet\n"):
        done = glovebox("policy", "lint", str(written("empty.yaml", text)))

        assert done.returncode == 7
        assert "empty.yaml:1: expected a policy, got an empty file" in done.stderr
        assert "version: 1" in done.stderr


def test_settings_that_are_no_file_are_refused(glovebox, tmp_path):
    """A pipe would hold up every command for ever."""
    (tmp_path / "config").mkdir()
    os.mkfifo(tmp_path / "config" / "config.yaml")

    done = glovebox("policy", "explain", "ls")
    assert done.returncode == 7
    assert "config.yaml: cannot be read: expected a regular file, got a named pipe" in done.stderr


def test_policy_on_standard_input_is_read(glovebox):
    """As ``/dev/stdin``, and so what ``<(command)`` gives."""
    done = glovebox("policy", "lint", "/dev/stdin", stdin="version: 1\nname: x\nnope: 1\n")

    assert done.returncode == 7
    assert "/dev/stdin:3:" in done.stderr


def test_name_that_is_too_long_for_a_file_is_no_internal_error(glovebox):
    """It is no shipped policy, no file, no chain and no key."""
    long = "a" * 300
    for words, code in (
        (("policy", "lint", long), 7),
        (("policy", "lint", f"./{long}"), 7),
        (("audit", "verify", long), 2),
    ):
        done = glovebox(*words)
        assert (done.returncode, "internal" in done.stderr) == (code, False), done
