"""What a wrapped program finds in its home, on the real engine."""

import json
from functools import partial

import anyio
import pytest

from orchestrator.config.settings import Settings
from orchestrator.harness.options import NO_MODEL
from orchestrator.harness.wrap.home import HomeSource
from orchestrator.harness.wrap.run import WrapOrder, run_wrapped
from orchestrator.schema.event import ErrorRaised
from tests.support.seats import PipedSeat
from tests.support.workspaces import give


@pytest.fixture
def setup(tmp_path):
    folder = tmp_path / "agent's home"
    (folder / ".config").mkdir(parents=True)
    (folder / ".config" / "settings.json").write_text("{}")
    give(folder)
    return folder


def wrapped(options, paths, front, setup, script):
    run = options(model=NO_MODEL, prompt=None, add_dirs=(setup,))
    order = WrapOrder(run, ("sh", "-c", script), home=HomeSource.of(run, setup))
    seat = PipedSeat()
    end = anyio.run(partial(run_wrapped, order, Settings(), paths, front=front, seat=seat))
    return end, seat.said["stdout"].decode()


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_copies_are_its_own(options, paths, front, setup):
    """It may change them; the host's stay, and the chain names where they came from."""
    end, said = wrapped(
        options,
        paths,
        front,
        setup,
        "cd; cat .config/settings.json; echo x > .config/settings.json",
    )
    lines = paths.audit_log(end.session).read_text().splitlines()
    [record] = [line["body"] for line in map(json.loads, lines) if line["type"] == "home"]

    assert (end.exit_code, said) == (0, "{}")
    assert (setup / ".config" / "settings.json").read_text() == "{}"
    assert record == {"directory": str(setup), "target": "/dirs/agent's home"}


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_without_its_files_it_does_not_start(options, paths, front, setup):
    """What could not be copied is told."""
    (setup / "closed").touch(mode=0o000)
    end, said = wrapped(options, paths, front, setup, "echo started")

    assert (end.status, end.exit_code, said) == ("failed", 5, "")
    assert "--home" in front.of(ErrorRaised)[0].message


def test_place_is_that_of_the_further_directory(options, tmp_path):
    """Numbered where two have the same name."""
    first, second = tmp_path / "a" / "x", tmp_path / "b" / "x"

    assert HomeSource.of(options(add_dirs=(first, second)), second).target == "/dirs/x-2"
