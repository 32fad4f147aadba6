"""Python code, read from its own tree."""

import pytest

from orchestrator.shell.languages.python_code import read_python


def kinds(code):
    effects = read_python(code)
    assert effects is not None
    return [(effect.kind, effect.words or effect.text) for effect in effects]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os\nos.system('x')", ("shell", "x")),
        ("from os import system as s\ns('x')", ("shell", "x")),
        ("import os as o; o.popen('x')", ("shell", "x")),
        ("__import__('os').system('x')", ("shell", "x")),
        ("import importlib as i; i.import_module('os').system('x')", ("shell", "x")),
        ("import os; getattr(os, 'sys' + 'tem')('x')", ("shell", "x")),
        ("import os; vars(os)['system']('x')", ("shell", "x")),
        ("import os; os.__dict__['system']('x')", ("shell", "x")),
        ("import sys; sys.modules['os'].system('x')", ("shell", "x")),
        ("import os; f = os.system; f('x')", ("shell", "x")),
        ("import os; a = 'x'; os.system(a + ' y')", ("shell", "x y")),
        ("import os; os.system(f'x {y}')", ("shell", "x \ufffc")),
        ("import subprocess as s; s.run(['a', 'b'])", ("argv", ("a", "b"))),
        ("import subprocess; subprocess.Popen('x', shell=True)", ("shell", "x")),
        ("import os; os.execvp('a', ['a', 'b'])", ("argv", ("a", "b"))),
        ("import os; os.spawnlp(0, 'a', 'a', 'b')", ("argv", ("a", "b"))),
        ("from shutil import rmtree; rmtree('x')", ("delete_tree", "x")),
        ("import os; os.remove('x')", ("delete", "x")),
        ("from pathlib import Path; Path('x').unlink()", ("delete", "x")),
        ("from pathlib import Path; (Path('a') / 'b').write_text('')", ("write", "a/b")),
        ("open('x', 'w')", ("write", "x")),
        ("open('x')", ("read", "x")),
        ("open('x', mode='a')", ("write", "x")),
        ("import os; os.rename('a', 'b')", ("move", "a")),
        ("exec('y')", ("python", "y")),
    ],
)
def test_call_is_found_under_any_name(code, expected):
    """Imports, aliases and lookups are followed."""
    assert expected in kinds(code)


@pytest.mark.parametrize(
    "code",
    [
        "exec(x)",
        "import os; getattr(os, x)('y')",
        "import os; list(map(os.system, ['x']))",
        "import pickle; pickle.loads(x)",
        "import base64; exec(base64.b64decode('x'))",
        "import ctypes; ctypes.CDLL('x')",
        "x = eval",
    ],
)
def test_hidden_call_is_opaque(code):
    """What is computed cannot be judged."""
    assert "opaque" in [kind for kind, _ in kinds(code)]


@pytest.mark.parametrize(
    "code",
    [
        "print('rm -rf /')",
        "import json; print(json.dumps({}))",
        "x = 'os.system(1)'",
        "import re; re.compile('x')",
        "system('x')",
        "class A:\n    def system(self): pass\nA().system()",
    ],
)
def test_harmless_code_has_no_effects(code):
    """Words in strings and other people's methods are nothing."""
    assert kinds(code) == []


def test_code_that_is_no_python_is_none():
    """The caller says so, rather than guessing."""
    assert read_python("print 'x'") is None


def test_code_nested_too_deeply_is_opaque():
    """The parser gives up; so do we, and say so."""
    effects = read_python("(" * 500 + ")" * 500)
    assert effects is None or effects[0].kind == "opaque"
