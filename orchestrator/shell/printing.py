"""What a command prints, where that can be told without running it."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

from orchestrator.shell.analysis import Span, Word
from orchestrator.shell.invocation import Invocation
from orchestrator.shell.output import Output
from orchestrator.shell.quoting import DYNAMIC, undo_ansi
from orchestrator.shell.rules import pattern
from orchestrator.shell.setting import Site

_DIRECTIVE = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?([sbdiq%])")
_MAX_PRINTED = 64_000


def printed(argv: Sequence[Word], use: Invocation | None, site: Site) -> Output:
    """Return what the command writes to its standard output."""
    feed = site.setting.feed
    name = (argv[0].value or "").rpartition("/")[2]
    maker = _PRINTERS.get(name)
    if maker is not None:
        found = maker(argv[1:], use, site)
        if found is not None:
            return replace(found, producer=name)
    spec = use.spec if use is not None else None
    if use is not None and _prepares(use):
        return Output("text", "", producer=name)
    if spec is not None and spec.downloads:
        return Output("download", producer=name)
    if feed.kind == "download":
        return Output("download", producer=name)
    reads = feed.reads_files
    if spec is not None and spec.dumps:
        reads = reads or bool(use and use.operands)
    if spec is not None and spec.decodes:
        return Output("decoded", producer=name, reads_files=reads)
    return Output("data", producer=name, reads_files=reads)


def _prepares(use: Invocation) -> bool:
    """Say whether it prints its own set-up for a shell."""
    words = " ".join([*use.sub, *(word.shape for word in use.operands)])
    return any(spec.prepares and pattern(spec.prepares).search(words) for spec in use.specs)


def span_of(words: Sequence[Word]) -> Span:
    """Return the span from the first word to the last."""
    if not words:
        return 0, 0
    return min(word.span[0] for word in words), max(word.span[1] for word in words)


def _text(text: str, words: Sequence[Word]) -> Output:
    if len(text) > _MAX_PRINTED:
        return Output("decoded", span=span_of(words))
    raw = words[0].raw if len(words) == 1 else ""
    return Output("text", text, span_of(words), raw)


def _echo(words: Sequence[Word], _use: Invocation | None, _site: Site) -> Output:
    at = 0
    flags = ""
    while at < len(words) and re.fullmatch(r"-[neE]+", words[at].shape):
        flags += words[at].shape
        at += 1
    text = " ".join(word.shape for word in words[at:])
    if "e" in flags:
        text = undo_ansi(text)
    return _text(text if "n" in flags else text + "\n", words[at:])


def _printf(words: Sequence[Word], _use: Invocation | None, _site: Site) -> Output | None:
    if words and words[0].shape == "--":
        words = words[1:]
    if not words or words[0].shape.startswith("-v"):
        return None
    form, arguments = words[0].shape, [word.shape for word in words[1:]]
    if "%" in _DIRECTIVE.sub("", form):
        return Output("decoded")
    pieces: list[str] = []
    while True:
        pieces.append(_formatted(form, arguments))
        if not arguments or _DIRECTIVE.search(form) is None or len(pieces) > len(words):
            break
    return _text("".join(pieces), words)


def _formatted(form: str, arguments: list[str]) -> str:
    """Fill a format in once; what an escape spells is text, a percent sign too."""
    pieces: list[str] = []
    at = 0
    for match in _DIRECTIVE.finditer(form):
        pieces += [undo_ansi(form[at : match.start()]), _directive(match[1], arguments)]
        at = match.end()
    return "".join([*pieces, undo_ansi(form[at:])])


def _directive(kind: str, arguments: list[str]) -> str:
    if kind == "%":
        return "%"
    value = arguments.pop(0) if arguments else ""
    if kind == "q":
        return shlex.quote(value)
    return undo_ansi(value) if kind == "b" else value


def _cat(words: Sequence[Word], use: Invocation | None, site: Site) -> Output | None:
    operands = use.operands if use is not None else [*words]
    if not operands or all(word.shape == "-" for word in operands):
        return site.setting.feed
    texts: list[str] = []
    for word in operands:
        path = site.scope.absolute(word.shape)
        content = site.scope.files.get(path) if path is not None else None
        if word.shape == "/dev/null":
            texts.append("")
        elif content is not None and content.kind == "download":
            return Output("download")
        elif content is not None and content.text is not None:
            texts.append(content.text)
        else:
            return Output("file", reads_files=True)
    return _text("".join(texts), operands)


def _feed(_words: Sequence[Word], _use: Invocation | None, site: Site) -> Output:
    return site.setting.feed


def _empty(words: Sequence[Word], _use: Invocation | None, _site: Site) -> Output:
    return _text("", words)


def _directory(words: Sequence[Word], _use: Invocation | None, site: Site) -> Output:
    return _text((site.scope.cwd or DYNAMIC) + "\n", words)


def _lookup(words: Sequence[Word], _use: Invocation | None, _site: Site) -> Output | None:
    names = [word for word in words if not word.shape.startswith("-")]
    return _text(names[0].shape + "\n", names) if len(names) == 1 else None


def _command(words: Sequence[Word], use: Invocation | None, site: Site) -> Output | None:
    if words and words[0].shape in {"-v", "-V"}:
        return _lookup(words, use, site)
    return None


def _type(words: Sequence[Word], use: Invocation | None, site: Site) -> Output | None:
    if words and words[0].shape in {"-p", "-P"}:
        return _lookup(words, use, site)
    return None


def _base(words: Sequence[Word], _use: Invocation | None, _site: Site) -> Output | None:
    if len(words) != 1:
        return None
    return _text(posixpath.basename(words[0].shape.rstrip("/")) + "\n", words)


def _dir(words: Sequence[Word], _use: Invocation | None, _site: Site) -> Output | None:
    if len(words) != 1:
        return None
    return _text((posixpath.dirname(words[0].shape) or ".") + "\n", words)


def _temporary(words: Sequence[Word], _use: Invocation | None, site: Site) -> Output:
    """A new path of its own; its letters are not known, which it is does not matter."""
    fresh = site.scope.fresh
    if any(word.shape not in {"-d", "-q", "-dq", "--directory", "--quiet"} for word in words):
        return _text(f"/tmp/tmp.{DYNAMIC}\n", words)  # noqa: S108 - what mktemp prints
    path = f"/tmp/tmp.XXXXXXXX{len(fresh):02}"  # noqa: S108 - what mktemp prints
    fresh[path] = True
    return _text(path + "\n", words)


def _git(words: Sequence[Word], _use: Invocation | None, site: Site) -> Output | None:
    shapes = [word.shape for word in words]
    if shapes[:1] != ["rev-parse"]:
        return None
    top = site.scope.places.workspace
    if shapes[1:] == ["--show-toplevel"]:
        return _text(top + "\n", words)
    if len(shapes) == 2 and shapes[1] in {"--git-dir", "--absolute-git-dir", "--git-common-dir"}:
        return _text(f"{top}/.git\n", words)
    if len(shapes) == 3 and shapes[1] == "--git-path":
        return _text(f"{top}/.git/{shapes[2]}\n", words)
    return None


def _list(_words: Sequence[Word], use: Invocation | None, _site: Site) -> Output | None:
    """``ls -d PATH…`` prints the paths as they stand."""
    names = use.operands if use is not None else []
    if use is None or not names or {option.name for option in use.options} - {"-d", "-1", "-A"}:
        return None
    if not use.has("-d") or any(word.value is None or word.glob for word in names):
        return None
    return _text("".join(word.shape + "\n" for word in names), names)


Printer = Callable[[Sequence[Word], Invocation | None, Site], Output | None]
_PRINTERS: dict[str, Printer] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tac": _cat,
    "tee": _feed,
    "true": _empty,
    ":": _empty,
    "pwd": _directory,
    "which": _lookup,
    "command": _command,
    "type": _type,
    "basename": _base,
    "dirname": _dir,
    "mktemp": _temporary,
    "git": _git,
    "ls": _list,
}
