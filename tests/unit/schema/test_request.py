"""Requests: what they do, their one serial form, their identity."""

from dataclasses import replace

import pytest
import rfc8785

from orchestrator.schema.ids import digest_of
from orchestrator.schema.request import (
    EditRequest,
    ExecRequest,
    FindRequest,
    GrepRequest,
    ListRequest,
    Look,
    ProcessInput,
    ProcessList,
    ProcessOutput,
    ProcessSignal,
    ProcessStart,
    ReadRequest,
    Replacement,
    WriteRequest,
    file_access,
    request_cwd,
    request_digest,
    request_subject,
    to_wire,
    typed_subject,
)

FILES = [
    ReadRequest("/w/a"),
    WriteRequest("/w/a", "x"),
    EditRequest("/w/a", (Replacement("o", "n"),)),
    GrepRequest("x", "/w"),
    FindRequest("*", "/w"),
    ListRequest("/w"),
]
PROCESSES = [
    ProcessStart("ls", "/w", "a"),
    ProcessOutput("a"),
    ProcessInput("a", "x\n"),
    ProcessSignal("a"),
]
ALL = [ExecRequest("ls", "/w", 5.0), *FILES, *PROCESSES]


@pytest.mark.parametrize("request_", ALL, ids=lambda item: item.kind)
def test_every_field_is_part_of_the_identity(request_):
    """An approval for one request is none for another that differs anywhere."""
    digests = {request_digest(request_)}
    others = {"command": "rm", "path": "/w/b", "content": "y", "pattern": "y", "glob": "*.py"}
    for name, value in to_wire(request_).items():
        if name == "kind":
            continue
        if name == "edits":
            changed = (Replacement("o", "m"),)
        elif name in {"look", "pending"}:
            changed = {"look": Look(9.0), "pending": ("x",)}[name]
        elif name in others or name in {"cwd", "resolved"}:
            changed = others.get(name, "/w/other")
        else:
            changed = not value if isinstance(value, bool) else value + type(value)(1)
        digests.add(request_digest(replace(request_, **{name: changed})))

    assert len(digests) == len(to_wire(request_))


def test_kinds_are_part_of_the_identity():
    """A find and a listing of one place are two requests."""
    assert len({request_digest(item) for item in ALL}) == len(ALL)
    assert len({item.kind for item in ALL}) == len(ALL)


def test_digest_is_that_of_the_canonical_wire_form():
    """Anybody can compute it again from the record."""
    wire = to_wire(ExecRequest("ls", "/w", 5.0))

    assert wire == {"kind": "exec", "command": "ls", "cwd": "/w", "timeout_s": 5.0}
    assert request_digest(ExecRequest("ls", "/w", 5.0)) == digest_of(rfc8785.dumps(wire))


@pytest.mark.parametrize("request_", FILES, ids=lambda item: item.kind)
def test_only_write_and_edit_write(request_):
    """Everything else may run side by side."""
    expected = "write" if request_.kind in {"write", "edit"} else "read"

    assert file_access(request_) == expected


def test_subject_is_all_that_a_person_must_see():
    """What runs, what is typed into what, or what it is about."""
    typed = ProcessInput("a", "push\n", command="bash", cwd="/w", pending=("git ",))

    assert request_subject(ProcessStart("ls", "/w", "a")) == "ls"
    assert request_subject(typed) == "typed into a (bash):\ngit push\n"
    assert typed_subject(typed)[0][typed_subject(typed)[1] :] == "git push\n"
    assert request_subject(ProcessSignal("a")) == "a"
    assert request_subject(ProcessList()) == ""


def test_directory_is_told_of_what_runs_in_one():
    """Files and signals have none."""
    assert request_cwd(ProcessStart("ls", "/w", "a")) == "/w"
    assert request_cwd(ReadRequest("/w/a")) == ""
    assert request_cwd(ProcessSignal("a")) == ""
