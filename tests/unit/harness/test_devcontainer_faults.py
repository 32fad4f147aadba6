import json

import pytest

from orchestrator.errors import UsageError
from orchestrator.harness.devcontainer import parse_devcontainer
from orchestrator.harness.devcontainer_faults import INSTEAD

PATH = ".devcontainer.json"
NAMED = "expected 'image' or 'build.dockerfile', got "


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", ": expected JSON with comments, got an empty file", "look there"),
        ('{\n  "image": "x"\n  "name": "y"\n}', ":3:3: expected JSON with comments, got", "comma"),
        ('{"image": "x",\n', ":2:1: expected JSON with comments, got its end", "bracket"),
        ('{"a": "x\n"}', ":1:9: expected JSON with comments, got '\\n'", "quote"),
        ("[" * 3000, ": expected JSON with comments, got brackets nested too deep", INSTEAD),
        ("null", ": expected an object {…}, got null", "the whole file is one object"),
        ("[1]", ": expected an object {…}, got a list", "the whole file is one object"),
        ('{"build": "Dockerfile"}', ": build: expected an object", 'write "build": {"dockerfile"'),
        (
            '{"build": {"dockerfile": "D", "args": ["A=1"]}}',
            ": build.args: expected an object {…}, got a list",
            'write it as {"NAME": "value"}',
        ),
        (
            '{"image": "x", "containerEnv": {"PORT": 3000}}',
            ": containerEnv.PORT: expected a text in quotes, got 3000",
            'write it in quotes: "3000"',
        ),
        (
            '{"image": "x", "remoteEnv": {"DEBUG": true}}',
            ": remoteEnv.DEBUG: expected a text in quotes, got true",
            'write it in quotes: "true"',
        ),
        (
            '{"image": "x", "postCreateCommand": ["a", 3]}',
            ": postCreateCommand: expected a command as a text, a list of words, or an object of",
            "write each of its words in quotes",
        ),
        ('{"build": {"dockerfile": ""}}', ": build.dockerfile: expected a text that is not", ""),
        ('{"image": ""}', ": image: expected an image's name, got ''", '"image": "debian:12"'),
        ('{"image": "a b"}', ": image: expected an image's name, got 'a b'", "without variables"),
        ('{"image": "${localEnv:X}"}', ": image: expected an image's name, got", "variables"),
        ('{"name": "x"}', f": {NAMED}neither of them", "add one of them, or start with --image"),
        ('{"imgae": "x"}', f": {NAMED}neither of them", "did you mean 'image' where it says 'img"),
        (
            '{"build": {"dockerFile": "D"}}',
            f": {NAMED}neither of them",
            "did you mean 'build.dockerfile' where it says 'build.dockerFile'?",
        ),
        ('{"dockerfile": "D"}', f": {NAMED}neither of them", "did you mean 'dockerFile'"),
        ('{"dockerComposeFile": "c"}', f": {NAMED}'dockerComposeFile'; Compose files", "--image"),
        ('{"dockerFile": "../D"}', ": expected a path inside the project, got '../D'", "relative"),
    ],
)
def test_broken_file_is_told_with_place_expected_got_and_next_step(text, message, hint):
    """As its author would want it; no word of the reader's own insides."""
    with pytest.raises(UsageError) as caught:
        parse_devcontainer(text, path=PATH)

    told = f"{caught.value.message} {caught.value.hint}"
    assert caught.value.message.startswith(PATH + message)
    assert hint in caught.value.hint
    assert caught.value.hint
    assert not [word for word in ("<string>", "pydantic", "Described", "dict") if word in told]


def test_values_that_can_be_secrets_are_not_repeated():
    """Texts, lists and objects are told by their kind."""
    for value in (["s3cret"], {"k": "s3cret"}):
        with pytest.raises(UsageError) as caught:
            parse_devcontainer(json.dumps({"image": "x", "containerEnv": {"K": value}}), path=PATH)
        assert "s3cret" not in caught.value.message + caught.value.hint
