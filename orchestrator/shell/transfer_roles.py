"""Roles of what comes from other machines and of what goes to them."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from orchestrator.shell.file_roles import judge_copied, judge_written
from orchestrator.shell.invocation import slice_word
from orchestrator.shell.part import Part
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.scope import Content
from orchestrator.shell.scripts import sources_of

_NAMED = ("-o", "--output", "--output-document")
_NAMED_REMOTELY = ("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name")
_FOLDERS = ("-P", "--directory-prefix", "--output-dir", "-d")


def judge_saved(part: Part) -> None:
    """A file that receives a download: whoever runs it runs foreign code."""
    if part.word.shape == "-":
        return
    judge_written(part)
    path = part.path
    if path is not None:
        part.site.scope.files[path] = Content("download")


def judge_remote(part: Part) -> None:
    """An address whose last part names the file it is saved as, unless it is printed."""
    use = part.use
    if use.has(*_NAMED) or part.word.value is None:
        return
    name = part.word.shape.split("?")[0].split("#")[0].rstrip("/").rpartition("/")[2]
    if name and (use.spec.saves or use.has(*_NAMED_REMOTELY)):
        folder = next(iter(use.values(*_FOLDERS)), None)
        path = f"{folder.shape}/{name}" if folder is not None else name
        judge_saved(replace(part, word=replace(part.word, shape=path)))


def judge_fetched(part: Part) -> None:
    """A directory that receives what was fetched, such as a clone."""
    judge_written(part)
    path = part.path
    if path is not None and not part.site.setting.remote:
        part.site.scope.fetched.add(path)


def judge_source(part: Part) -> None:
    """A repository's address, whose last part names the directory when no other is given."""
    name = posixpath.basename(part.word.shape.rstrip("/")).removesuffix(".git")
    if name and len(part.use.operands) == 1:
        judge_fetched(replace(part, word=replace(part.word, shape=name)))


def judge_address(part: Part) -> None:
    """An address that is connected to: what of it was read from a file leaves the box."""
    if "://" not in part.word.shape and not part.word.shape.startswith(DYNAMIC):
        return
    if any(source.reads_files for source in sources_of(part.word, part.site)):
        part.site.reading.report(
            "upload", f"{part.label} sends what was read from a file", part.word.span
        )


def judge_upload(part: Part) -> None:
    """A file that is sent away; ``-`` sends standard input."""
    if part.word.shape in {"-", "."} and part.site.setting.feed.kind in {"text", "none"}:
        return
    part.site.reading.report(
        "upload", f"{part.label} sends {part.shown} to another machine", part.word.span
    )
    judge_copied(part)


def judge_at(part: Part) -> None:
    """``@FILE`` sends the file; anything else is sent as it stands."""
    if part.word.shape.startswith("@"):
        judge_upload(replace(part, word=slice_word(part.word, 1)))


def judge_form(part: Part) -> None:
    """``NAME=@FILE`` and ``NAME=<FILE`` send the file."""
    _, mark, rest = part.word.shape.partition("=")
    if mark and rest[:1] in {"@", "<"}:
        judge_upload(
            replace(part, word=slice_word(part.word, len(part.word.shape) - len(rest) + 1))
        )
    else:
        judge_at(part)


def judge_encoded(part: Part) -> None:
    """``NAME@FILE`` sends the file; with an equals sign before the mark it is text."""
    name, mark, rest = part.word.shape.partition("@")
    if mark and "=" not in name:
        judge_upload(replace(part, word=slice_word(part.word, len(part.word.shape) - len(rest))))
