"""Roles of files: read, written, changed, removed, moved."""

from __future__ import annotations

import re
from dataclasses import replace

from orchestrator.shell import places
from orchestrator.shell.accesses import judge_read, judge_write
from orchestrator.shell.contents import remember
from orchestrator.shell.deletes import empties_root, judge_delete
from orchestrator.shell.invocation import slice_word
from orchestrator.shell.part import Part
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.reading import UNSEEN
from orchestrator.shell.scripts import sources_of

_LIKE_PATH = re.compile(r"[\w.~/@+-]*[./][\w.~/@+-]*[A-Za-z][\w.~/@+-]*")
_CHECKED = re.compile(r"\$\{\w+:\?")
"""An expansion that fails where the variable is empty."""
_SCRATCH = "/tmp/"  # noqa: S108 - a place to judge, not to use


def judge_shown(part: Part) -> None:
    """A file whose content is printed."""
    if not part.site.setting.remote:
        judge_read(part.word.shape, part.word.span, part.site)


def judge_copied(part: Part) -> None:
    """A file that is read but not printed."""
    if not part.site.setting.remote:
        judge_read(part.word.shape, part.word.span, part.site, shows=False)


def judge_written(part: Part) -> None:
    """A file that is written; ``-`` is standard output."""
    if part.word.shape != "-" and not part.site.setting.remote:
        judge_write(part.word.shape, part.word.span, part.site)


def judge_assigned(part: Part) -> None:
    """A variable of code that redirects its output: the value may be the file's name."""
    name, _, _ = part.word.shape.partition("=")
    value = slice_word(part.word, len(name) + 1)
    redirects = any(">" in word.shape for word in part.use.operands[:1])
    if redirects and _LIKE_PATH.fullmatch(value.shape):
        judge_written(replace(part, word=value))


def judge_edited(part: Part) -> None:
    """A file that is read, changed and written back."""
    judge_copied(part)
    judge_written(part)


def judge_sink(part: Part) -> None:
    """A file that receives standard input: what it then holds may be run."""
    judge_written(part)
    feed = part.site.setting.feed
    if feed.text == "" and not part.use.has("-a", "--append") and part.path != "/dev/null":
        part.site.reading.report("destructive", f"empties a file: {part.shown}", part.word.span)
    if not part.site.setting.remote:
        remember(part.word.shape, part.site.setting.feed, part.site.scope, append=False)


def judge_replaced(part: Part) -> None:
    """A file whose old content is lost."""
    judge_written(part)
    if part.path is None or places.kind_of(part.path) != "harmless":
        part.site.reading.report(
            "destructive", f"the old content of {part.shown} is lost", part.word.span
        )


def judge_removed(part: Part) -> None:
    """A path that is deleted, as a tree when an option says so."""
    spec = part.use.spec
    tree = spec.deletes_trees or part.use.has(*spec.deletes_with)
    judge_delete(part.word, part.site, tree=tree, grave=tree and _may_lose_more(part))


def _may_lose_more(part: Part) -> bool:
    """Say whether a tree's path is read from a file, or comes to the root where it is empty."""
    word, site = part.word, part.site
    sources = list(sources_of(word, site))
    if word.raw == UNSEEN:
        sources.append(site.setting.feed)
    if any(source.reads_files or source.kind == "download" for source in sources):
        return True
    shape = word.shape
    if word.raw == UNSEEN:
        # Found below a folder that find was given: the folder's name may be empty.
        folder, slash, found = shape.rpartition("/")
        if found != DYNAMIC or not slash:
            return False
        shape = folder + slash
    sure = _CHECKED.search(word.raw) or {source.kind for source in sources} == {"paths"}
    return not sure and empties_root(shape)


def judge_moved(part: Part) -> None:
    """A path that goes away from where it was."""
    path, site = part.path, part.site
    if {source.kind for source in sources_of(part.word, site)} == {"paths"}:
        # A loop over a pattern of the workspace: nothing is lost, it only goes elsewhere.
        return
    if path is None or (not site.scope.inside(path) and not path.startswith(_SCRATCH)):
        judge_delete(part.word, site, tree=False)
    elif path == site.scope.places.workspace:
        judge_delete(part.word, site, tree=True)
    else:
        judge_write(part.word.shape, part.word.span, site)
        site.reading.trees.setdefault((path, part.word.span))
    judge_copied(part)


def judge_target(part: Part) -> None:
    """Where something is moved to: into nothing means lost."""
    judge_written(part)
    path = (part.path or "") + "/"
    for fresh in part.site.scope.fresh:
        if path.startswith(fresh + "/"):
            # From now on it holds work that would be lost with it.
            part.site.scope.fresh[fresh] = False
    if part.word.shape == "/dev/null":
        part.site.reading.report("destructive", "moves files into nothing", part.word.span)


def judge_victim(part: Part) -> None:
    """A process to signal: whoever picks it by a search does not know what it hits."""
    word = part.word
    if word.value is None and (part.site.reading.outputs_in(word.span) or word.raw == UNSEEN):
        part.site.reading.report(
            "destructive", "signals processes that cannot be seen in the command", word.span
        )
