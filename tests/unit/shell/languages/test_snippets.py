"""Code in languages that have no parser here."""

import pytest

from orchestrator.shell.languages.snippets import Language, languages, read_snippet


@pytest.mark.parametrize(
    ("language", "code", "kind", "text"),
    [
        ("perl", 'system("x y")', "shell", "x y"),
        ("perl", "system 'x'", "shell", "x"),
        ("perl", 'exec "a", "b"', "argv", ("a", "b")),
        ("perl", "print `x`", "shell", "x"),
        ("perl", "qx{x}", "shell", "x"),
        ("perl", "qx/x/", "shell", "x"),
        ("perl", 'open(F, "|x")', "pipe", "x"),
        ("perl", 'open(my $f, ">", "p")', "write", "p"),
        ("perl", 'open(F, ">p")', "write", "p"),
        ("perl", 'eval "system(q)"; unlink "p"', "delete", "p"),
        ("ruby", "`x`", "shell", "x"),
        ("ruby", "%x(x)", "shell", "x"),
        ("ruby", 'FileUtils.rm_rf("p")', "delete_tree", "p"),
        ("ruby", 'File.write("p", 1)', "write", "p"),
        ("javascript", 'require("child_process").execSync("x")', "shell", "x"),
        ("javascript", 'spawn("a", ["b", "c"])', "argv", ("a", "b", "c")),
        ("javascript", 'fs.rmSync("p", {recursive: true})', "delete_tree", "p"),
        ("javascript", "fs.writeFileSync(`p${x}`, 1)", "write", "p\ufffc"),
        ("php", 'shell_exec("x");', "shell", "x"),
        ("lua", 'os.execute("x")', "shell", "x"),
        ("awk", 'BEGIN { system("x") }', "shell", "x"),
        ("awk", '{ print | "x" }', "pipe", "x"),
        ("awk", '{ print > "p" }', "write", "p"),
        ("lisp", '(shell-command "x")', "shell", "x"),
        ("vim", "%!x", "pipe", "x"),
        ("gdb", "shell x", "shell", "x"),
        ("ed", "!x", "pipe", "x"),
    ],
)
def test_call_that_leaves_the_language_is_found(language, code, kind, text):
    """With its argument where that is static."""
    found = [
        (item.kind, item.words or item.text) for item in read_snippet(code, languages()[language])
    ]
    assert (kind, text) in found


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("perl", 'print "system(1) `x`" # exec "y"'),
        ("perl", "print if /system/"),
        ("ruby", 'puts "system x"'),
        ("javascript", "console.log('execSync(1)') // eval(x)"),
        ("javascript", "/exec/.exec('x')"),
        ("awk", '/system/ { print $1, "getline" }'),
        ("awk", "$1 > 5 || $2 { print ($1 > 3) }"),
        ("php", "echo 'system(1)';"),
        ("lua", "print('os.execute')"),
    ],
)
def test_words_in_strings_patterns_and_comments_are_nothing(language, code):
    """Only calls are calls."""
    deeds = [item for item in read_snippet(code, languages()[language]) if item.text != "x"]
    assert deeds == []


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("perl", "eval $x"),
        ("javascript", 'require("child_" + "process")'),
        ("javascript", "eval(x)"),
        ("ruby", "eval gets"),
        ("php", "$f('x');"),
        ("perl", "a\ufffcb"),
    ],
)
def test_computed_call_is_opaque(language, code):
    """What hides its name cannot be judged."""
    assert "opaque" in [item.kind for item in read_snippet(code, languages()[language])]


def test_code_over_the_limit_is_opaque():
    """Patterns are not tried on what no person would read."""
    (effect,) = read_snippet("x" * 9000, Language())
    assert effect.kind == "opaque"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("ruby", "puts \"a #{system('rm -rf {x}')} b\""),
        ("javascript", "console.log(`a ${require('child_process').execSync('ls')}`)"),
        ("perl", 'print "@{[system(q(ls))]}"'),
        ("ruby", '"#{"' * 6 + "x" + '"}"' * 6),
    ],
)
def test_code_in_a_string_is_read(language, code):
    """What is filled into a string runs all the same."""
    kinds = {effect.kind for effect in read_snippet(code, languages()[language])}

    assert kinds & {"shell", "pipe", "argv", "opaque"}


def test_text_filled_into_a_string_does_nothing():
    """A value in a message is no reason to ask."""
    assert read_snippet('puts "#{name} has #{items.size}"', languages()["ruby"]) == []
