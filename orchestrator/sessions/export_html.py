"""A session as one page: no script, nothing fetched, all branches in it. Pure.

The page's own policy (CSP) forbids scripts, forms, frames and requests, so that even what escaping
missed could do nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from orchestrator.schema.ids import EntryId
from orchestrator.sessions.branches import Branch, branches_of, starting_at
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.entry_text import texts_of
from orchestrator.sessions.export_entry import entry_html, kind, speaker
from orchestrator.sessions.export_text import plain, safe
from orchestrator.sessions.labels import labels_of
from orchestrator.sessions.sharing import Shared
from orchestrator.sessions.stats import dollars, stats_of
from orchestrator.sessions.tree import EntryTree

TITLE = 90
"""Characters of what somebody said, where it names a place."""

STYLE = """
:root{color-scheme:light dark;--l:#8884;--dim:#777;--you:#3b82f61f;--code:#8881}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;
overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem;border-top:2px solid
var(--l);padding-top:1rem}h3{font-size:.85rem;margin:0 0 .3rem;color:var(--dim);font-weight:600}
small,.facts,.noted,.stop,nav{color:var(--dim)}
article{border-left:3px solid var(--l);padding:.4rem .8rem;margin:.6rem 0}
article.user{background:var(--you);border-color:#3b82f6}article.note{font-size:.9rem}
article:target{outline:2px solid #f59e0b}
pre,code{font:13px/1.45 ui-monospace,monospace;background:var(--code)}
pre{padding:.5rem;margin:.3rem 0;white-space:pre-wrap;max-height:40rem;overflow:auto}
.t{white-space:pre-wrap;unicode-bidi:plaintext}
pre.del{border-left:3px solid #dc2626;background:#dc26261a}
pre.ins{border-left:3px solid #16a34a;background:#16a34a1a}
.bad>summary{color:#dc2626}.call,.many{border:1px solid var(--l);padding:.3rem .5rem;margin:.3rem 0}
label{color:var(--dim);font-size:.85rem}summary{cursor:pointer}img{max-width:100%}
.u{border:1px solid #dc2626;color:#dc2626;font-size:.75em;padding:0 .2em}
.fork{font-size:.9rem}.name{background:#f59e0b33;padding:0 .3em}a{color:#3b82f6}
@media print{pre{max-height:none}}
"""

_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""Of the page; the style is named by its digest, so nothing else can style it either."""

_HEAD = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
"""


def html_page(shared: Shared, *, only_current: bool = False) -> str:
    """Return the whole page; with ``only_current`` the conversation as it stands alone."""
    tree = EntryTree(shared.entries)
    found = branches_of(tree)
    branches = found[:1] if only_current else found
    book = _Book(
        {entry.id: f"e{at}" for at, entry in enumerate(tree.entries, 1)},
        labels_of(tree.entries),
        starting_at(branches),
        {entry.id for entry in found[0].entries},
    )
    title = plain(_title(found[0].entries)) or "A session"
    return "".join(
        (
            f"{_HEAD}<title>{title}</title>\n<style>{STYLE}</style></head>\n<body>\n",
            f"<header><h1>{title}</h1>{_facts(shared)}</header>\n",
            f"{_contents(branches, book)}\n<main>\n",
            *(_branch(branch, book) for branch in branches),
            "</main></body></html>\n",
        )
    )


@dataclass(frozen=True, slots=True)
class _Book:
    """Where things are in the page."""

    anchors: Mapping[EntryId, str]
    """Of our own making: an id of a file may be any text."""
    labels: Mapping[EntryId, str]
    starts: Mapping[EntryId | None, list[Branch]]
    current: set[EntryId]


def _facts(shared: Shared) -> str:
    header, counted = shared.header, stats_of(shared.entries)
    usage, cost = counted.total.usage, counted.total.cost_usd
    facts = [
        f"session {header.id}",
        f"in {PurePath(header.cwd).name or header.cwd}",
        header.created,
        ", ".join(sorted(name for name in counted.models if name != "unknown")),
        f"{len(counted.turns)} turns, {usage.input:,} tokens in, {usage.output:,} out, {dollars(cost, usage)}",
        f"copied from session {header.forked_from}" if header.forked_from else "",
    ]
    return f'<p class="facts">{" · ".join(safe(fact) for fact in facts if fact)}</p>'


def _contents(branches: Iterable[Branch], book: _Book) -> str:
    """Return links to whatever the person said, to named entries and to branches."""
    pieces = []
    for branch in branches:
        lines = []
        for entry in branch.entries:
            is_said = entry.type == "message" and entry.body["role"] == "user"
            if is_said or entry.id in book.labels:
                link = f'<a href="#{book.anchors[entry.id]}">{safe(_words(entry)) or "…"}</a>'
                lines.append(f"<li>{_name(entry, book)}{link}</li>")
        place = "As it stands" if branch.number == 1 else f"Branch {branch.number}"
        pieces.append(f'<li><a href="#b{branch.number}">{place}</a><ul>{"".join(lines)}</ul></li>')
    return (
        f"<nav><details open><summary>Contents</summary><ul>{''.join(pieces)}</ul></details></nav>"
    )


def _branch(branch: Branch, book: _Book) -> str:
    title = "The conversation as it stands" if branch.number == 1 else f"Branch {branch.number}"
    return "".join(
        (
            f'<section id="b{branch.number}"><h2>{title}</h2>\n',
            _origin(branch, book),
            _ways(None, book) if branch.number == 1 else "",
            *(_article(entry, book) for entry in branch.entries),
            "</section>\n",
        )
    )


def _origin(branch: Branch, book: _Book) -> str:
    if branch.number == 1:
        return ""
    if branch.after is None or branch.after not in book.anchors:
        return '<p class="fork">From the very beginning.</p>'
    return f'<p class="fork"><a href="#{book.anchors[branch.after]}">This branch goes on from here</a></p>\n'


def _article(entry: Entry, book: _Book) -> str:
    inside, ways = entry_html(entry), _ways(entry.id, book)
    anchor = book.anchors[entry.id]
    if not inside and not ways:
        return f'<a id="{anchor}"></a>'
    head = f"<h3>{_name(entry, book)}{speaker(entry)} <small>{safe(entry.time[:19])}</small></h3>"
    return f'<article id="{anchor}" class="{kind(entry)}">{head}{inside}</article>\n{ways}'


def _ways(after: EntryId | None, book: _Book) -> str:
    links = [
        f'<a href="#b{branch.number}">branch {branch.number}: {safe(_title(branch.entries))}</a>'
        for branch in book.starts.get(after, ())
    ]
    return f'<p class="fork">Other ways from here: {", ".join(links)}</p>\n' if links else ""


def _name(entry: Entry, book: _Book) -> str:
    label = book.labels.get(entry.id)
    return f'<span class="name">{safe(label)}</span> ' if label else ""


def _title(entries: Iterable[Entry]) -> str:
    """Return a title that was given, or the first words that somebody said."""
    listed = list(entries)
    given = [str(e.body["title"]) for e in listed if e.type == "custom" and e.body.get("title")]
    said = (_words(entry) for entry in listed if entry.type == "message")
    return given[-1][:TITLE] if given else next(filter(None, said), "")


def _words(entry: Entry) -> str:
    """Return the last text of an entry on one line: what stands before it are notes of ours."""
    texts = [" ".join(text.split()) for text in texts_of(entry)]
    line = next((text for text in reversed(texts) if text), "")
    return line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"
