"""Where things live."""

from pathlib import Path

import pytest

from orchestrator.config.paths import Paths, paths_from, project_slug
from orchestrator.schema.ids import SessionId

HOME = Path("/home/u")


@pytest.mark.parametrize(
    ("environ", "state", "config"),
    [
        ({}, "/home/u/.local/state/glovebox", "/home/u/.config/glovebox"),
        ({"XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"}, "/s/glovebox", "/c/glovebox"),
        (
            {"XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""},
            "/home/u/.local/state/glovebox",
            "/home/u/.config/glovebox",
        ),
        ({"GLOVEBOX_STATE": "/gs", "GLOVEBOX_CONFIG": "/gc", "XDG_STATE_HOME": "/s"}, "/gs", "/gc"),
    ],
)
def test_roots_follow_the_environment(environ, state, config):
    """Own variables, then XDG, then the home."""
    assert paths_from(environ, HOME) == Paths(Path(state), Path(config))


def test_everything_lives_below_the_two_roots():
    """One folder to back up, one to remove."""
    paths = Paths(Path("/s"), Path("/c"))
    session = SessionId("0123456789ab")

    assert paths.audit_log(session) == Path("/s/audit/0123456789ab.jsonl")
    assert paths.work(session) == Path("/s/work/0123456789ab")
    assert paths.keys == Path("/s/keys")
    assert paths.project_sessions(Path("/a/My Project!")).parent == paths.sessions


@pytest.mark.parametrize(
    ("directory", "word"),
    [
        ("/a/My Project!", "my-project"),
        ("/", "root"),
        ("/a/日本", "root"),
        ("/a/" + "x" * 300, "x" * 40),
        ("/a/..hidden..", "hidden"),
    ],
)
def test_slug_is_readable(directory, word):
    """Letters, digits and dashes, short enough for any file system."""
    slug = project_slug(Path(directory))

    assert slug.rpartition("-")[0] == word
    assert len(slug.encode()) <= 60


def test_directories_of_one_name_have_two_slugs():
    """Sessions of one project never show up in another."""
    assert project_slug(Path("/a/app")) != project_slug(Path("/b/app"))
    assert project_slug(Path("/a/app")) == project_slug(Path("/a/app"))
