"""One door to all languages."""

from orchestrator.shell.languages.read import known_languages, read_code


def test_code_that_cannot_be_parsed_is_opaque():
    """No guess is made."""
    (effect,) = read_code("python", "print 'x'")
    assert (effect.kind, effect.reason) == ("opaque", "the python code cannot be parsed")


def test_every_known_language_reads_empty_code():
    """Each name works."""
    assert [name for name in known_languages() if read_code(name, "") != []] == []
