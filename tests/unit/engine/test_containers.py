import os
from contextlib import closing

import pytest

from orchestrator.engine.base_image import BASE
from orchestrator.engine.client import connect
from orchestrator.engine.containers import (
    COPIER_PATIENCE_S,
    FoundContainer,
    create_container,
    find_containers,
    leftovers,
    remove_container,
    wait_gone,
)
from orchestrator.engine.labels import OWNER, owner_label
from orchestrator.engine.volumes import copier, remove_volume
from orchestrator.errors import EngineError
from orchestrator.schema.mount import Mount

DEAD = "4194303:1:" + ":".join(owner_label().split(":")[2:])
NOW = 1_000_000.0


@pytest.fixture
def engine(scripted_engine):
    engine = connect(scripted_engine.url)
    yield engine
    engine.close()


def found(owner, *, age=0.0, kind="box"):
    return FoundContainer("id", "abc", kind, owner, NOW - age, "running")


@pytest.mark.parametrize(
    ("container", "left"),
    [
        (found(owner_label()), False),
        (found(DEAD), True),
        (found(DEAD, kind="copier"), True),
        (found("", kind="copier"), False),
        (found("", kind="copier", age=COPIER_PATIENCE_S + 1), True),
    ],
)
def test_leftover_is_what_a_dead_owner_left(container, left):
    """What may still be somebody's is left alone."""
    assert (leftovers([container], now=NOW, same_machine=True) == [container]) is left


def test_other_machines_containers_are_left_alone():
    """On a shared engine nobody cleans up after others."""
    other = found("1:1:another-boot:1")

    assert leftovers([other], now=NOW, same_machine=False) == []
    assert leftovers([other], now=NOW, same_machine=True) == [other]


def test_options_go_to_the_engine_as_they_are(engine, scripted_engine):
    """Nothing of the user's docker configuration is mixed in."""
    scripted_engine.say("POST /containers/create", (201, {"Id": "abc"}))

    assert create_container(engine, "name", {"Image": "i"}) == "abc"


def test_refusal_names_the_container(engine, scripted_engine):
    """The engine's own reason is kept."""
    scripted_engine.say("POST /containers/create", (409, {"message": "name in use"}))

    with pytest.raises(EngineError, match=r"create container glove.*name in use"):
        create_container(engine, "glove", {})


def test_container_is_removed_until_it_is_gone(engine, scripted_engine):
    """An engine that is at it already is waited for."""
    there, gone = (200, {}), (404, {"message": "no such container"})
    scripted_engine.say("GET /containers/abc/json", there, there, gone)
    scripted_engine.say("DELETE /containers/abc", (409, {"message": "in progress"}), (204, None))

    remove_container(engine, "abc")

    assert scripted_engine.asked.count("DELETE /containers/abc") == 2


def test_container_that_is_gone_needs_no_removal(engine, scripted_engine):
    """No box is no error."""
    scripted_engine.say("GET /containers/abc/json", (404, {"message": "no such container"}))

    remove_container(engine, "abc")

    assert "DELETE /containers/abc" not in scripted_engine.asked


def test_end_is_waited_for_and_no_longer(engine, scripted_engine):
    """The caller decides what to do with one that stays."""
    scripted_engine.say("GET /containers/abc/json", (200, {}))
    assert wait_gone(engine, "abc", 0.05) is False

    scripted_engine.say("GET /containers/abc/json", (404, {"message": "no such container"}))
    assert wait_gone(engine, "abc", 0.05) is True


def test_labels_are_read_back(engine, scripted_engine):
    """What was labelled is found by it."""
    labels = {"glovebox.session": "s", "glovebox.kind": "box", "glovebox.owner": "o"}
    item = {"Id": "abc", "Labels": labels, "Created": 5, "State": "created"}
    scripted_engine.say("GET /containers/json", (200, [item, {"Id": "x", "Labels": None}]))

    first, second = find_containers(engine, session="s")

    assert first == FoundContainer("abc", "s", "box", "o", 5.0, "created")
    assert (second.owner, second.session) == ("", "")


@pytest.mark.docker
def test_container_without_a_session_is_found_too():
    """One for copying may have been made for something that outlives sessions."""
    with closing(connect()) as real:
        labels = {OWNER: owner_label()}
        mount = Mount("volume", f"glovebox-test-{os.getpid()}", "/x")
        try:
            with copier(real, BASE, mount, labels=labels) as helper:
                found = {item.id: item for item in find_containers(real)}
            assert found[helper.container].kind == "copier"
        finally:
            remove_volume(real, mount.source)
