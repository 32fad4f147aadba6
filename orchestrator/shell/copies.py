"""What copying, moving and linking leave behind, in case the same command uses it."""

from __future__ import annotations

import posixpath

from orchestrator.shell.accesses import judge_write
from orchestrator.shell.analysis import Word
from orchestrator.shell.contents import remember
from orchestrator.shell.invocation import Invocation
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.scripts import stream_of
from orchestrator.shell.setting import Site
from orchestrator.shell.stand_ins import note_stand_in

_FOLDER_OPTIONS = ("-t", "--target-directory")


def follow_copy(use: Invocation, site: Site) -> None:
    """Remember that a copy of a fetched file is a fetched file, and one of a program that program."""
    for operand in use.operands[:-1]:
        note_stand_in(operand, use.operands[-1], site.scope)
    if not site.setting.remote:
        _judge_inside(use, site)
    fed = stream_of(use.operands[0], site) if len(use.operands) == 2 else None
    if use.spec.links and fed is None:
        _follow_link(use, site)
    elif len(use.operands) == 2:
        if fed is not None:
            remember(use.operands[1].shape, fed, site.scope, append=False)
        source, target = (site.scope.absolute(word.shape) for word in use.operands)
        if source is not None and target is not None and source in site.scope.files:
            site.scope.files[target] = site.scope.files[source]


def _judge_inside(use: Invocation, site: Site) -> None:
    """Judge what is written into a folder: there the sources keep their names."""
    folder = next(iter(use.values(*_FOLDER_OPTIONS)), None)
    sources = use.operands if folder is not None else use.operands[:-1]
    if folder is None and use.operands:
        last = use.operands[-1]
        plain = not last.shape.endswith("/") and last.shape not in {".", ".."}
        folder = None if plain and len(sources) < 2 else last
    if folder is None:
        return
    for source in sources:
        name = _base(source)
        if name and DYNAMIC not in name:
            judge_write(f"{folder.shape.rstrip('/') or '/'}/{name}", source.span, site)


def _follow_link(use: Invocation, site: Site) -> None:
    """Remember where a new name leads, also when it lands in a folder that is there already."""
    if not use.operands:
        return
    scope, last = site.scope, use.operands[-1]
    symbolic = use.has("-s", "--symbolic") and not use.has("-r", "--relative")
    for source in use.operands[:-1] or use.operands:
        name = _base(source)
        places = [last.shape, f"{last.shape}/{name}"] if len(use.operands) > 1 else [name]
        for place in places:
            link = scope.absolute(place, follow=False)
            if link is None or DYNAMIC in link + source.shape:
                continue
            below = posixpath.join(posixpath.dirname(link), source.shape)
            target = scope.absolute(below if symbolic else source.shape)
            if target is not None and target != link:
                scope.links[link] = target


def _base(word: Word) -> str:
    name = posixpath.basename(word.shape.rstrip("/"))
    return "" if name in {".", ".."} else name
