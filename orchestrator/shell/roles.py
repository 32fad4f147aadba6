"""What the value of an option, or an operand, makes a program do."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from orchestrator.shell.accesses import judge_read, judge_write
from orchestrator.shell.analysis import Word
from orchestrator.shell.contents import remember
from orchestrator.shell.deletes import judge_delete
from orchestrator.shell.invocation import Invocation, slice_word
from orchestrator.shell.output import NOTHING
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.reading import anchor_in
from orchestrator.shell.scope import Content
from orchestrator.shell.scripts import SHELL, STANDARD_INPUT, run_file, run_text
from orchestrator.shell.setting import Code, Site
from orchestrator.shell.settings import judge_pair, judge_setting
from orchestrator.shell.source import Anchor
from orchestrator.shell.variables import is_harmless_program


_RECIPE = re.compile(r"^\t([^\n]+)|^[^\t#=\n]*:[^=;\n]*;([^\n]+)|\$\(shell ([^)]*)\)|!=([^\n]+)", re.MULTILINE)
_MAKE_VARIABLE = re.compile(r"\$\([^()]*\)|\$\{\w+\}|\$[@<^*?%+]")


@dataclass(frozen=True, slots=True)
class Part:
    """One word with a role, and whom it belongs to."""

    role: str
    word: Word
    label: str
    """Program and option, for messages."""
    use: Invocation
    site: Site


def judge_part(part: Part) -> None:
    """Judge one word by its role."""
    name, _, argument = part.role.partition(":")
    if name == "code":
        run_text(argument, part.word, part.site.inner(part.label))
    elif name == "setting":
        judge_setting(argument, part.word, part.site)
    elif name == "pair":
        _pair(argument, part)
    else:
        _ROLES[name](part)


def known_roles() -> frozenset[str]:
    """Return every role without an argument."""
    return frozenset(_ROLES)


def _pair(table: str, part: Part) -> None:
    """A key and, in the next operand, the value it is set to for good."""
    operands = part.use.operands
    value = operands[1] if len(operands) > 1 and operands[0] is part.word else None
    if value is None:
        return
    if not judge_pair(table, part.word.shape, value, site=part.site):
        part.site.reading.report(
            "persistence", f"{part.label} changes {part.word.shape} for good", part.word.span
        )


def _data(_part: Part) -> None:
    """Plain text does nothing."""


def _read(part: Part) -> None:
    if not part.site.setting.remote:
        judge_read(part.word.shape, part.word.span, part.site.scope, part.site.reading)


def _copy(part: Part) -> None:
    if not part.site.setting.remote:
        judge_read(part.word.shape, part.word.span, part.site.scope, part.site.reading, shows=False)


def _write(part: Part) -> None:
    if part.word.shape != "-" and not part.site.setting.remote:
        judge_write(part.word.shape, part.word.span, part.site.scope, part.site.reading)


def _edited(part: Part) -> None:
    """A file that is read, changed and written back."""
    _copy(part)
    _write(part)


def _save(part: Part) -> None:
    """A download into a file: whoever runs the file runs foreign code."""
    if part.word.shape == "-":
        return
    _write(part)
    path = part.site.scope.absolute(part.word.shape)
    if path is not None:
        part.site.scope.files[path] = Content("download")
    part.site.reading.downloaded = True


def _remote(part: Part) -> None:
    """An address whose last part names the file it is saved as, unless it is printed."""
    use = part.use
    if use.has("-o", "--output", "--output-document") or part.word.value is None:
        return
    saves = use.has("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name")
    name = part.word.shape.split("?")[0].split("#")[0].rstrip("/").rpartition("/")[2]
    if name and (saves or part.use.spec.saves):
        folder = next(iter(use.values("-P", "--directory-prefix", "--output-dir", "-d")), None)
        path = f"{folder.shape}/{name}" if folder is not None else name
        _save(replace(part, word=replace(part.word, shape=path)))


def _fetch(part: Part) -> None:
    """A download into a directory, such as a clone."""
    path = part.site.scope.absolute(part.word.shape)
    if path is not None and not part.site.setting.remote:
        part.site.scope.fetched.add(path)


def _source(part: Part) -> None:
    """A repository's address, whose last part names the directory when no other is given."""
    name = posixpath.basename(part.word.shape.rstrip("/")).removesuffix(".git")
    if name and len(part.use.operands) == 1:
        _fetch(replace(part, word=replace(part.word, shape=name)))


def _delete(part: Part) -> None:
    tree = part.use.has(*part.use.spec.deletes_with)
    judge_delete(part.word, part.site.scope, part.site.reading, tree=tree)


def _sink(part: Part) -> None:
    _write(part)
    if not part.site.setting.remote:
        remember(part.word.shape, part.site.setting.feed, part.site.scope, append=False)


def _replaced(part: Part) -> None:
    _write(part)
    path = part.site.scope.absolute(part.word.shape)
    if path != "/dev/null":
        part.site.reading.report(
            "destructive", f"the old content of {part.word.raw} is lost", part.word.span
        )


def _moved(part: Part) -> None:
    path = part.site.scope.absolute(part.word.shape)
    if path is None or (not part.site.scope.inside(path) and not path.startswith("/tmp/")):  # noqa: S108
        judge_delete(part.word, part.site.scope, part.site.reading, tree=False)
    elif path == part.site.scope.places.workspace:
        judge_delete(part.word, part.site.scope, part.site.reading, tree=True)
    else:
        judge_write(part.word.shape, part.word.span, part.site.scope, part.site.reading)
    _copy(part)


def _target(part: Part) -> None:
    """Where something is moved to: into the void means lost."""
    _write(part)
    if part.word.shape == "/dev/null":
        part.site.reading.report("destructive", "moves files into nothing", part.word.span)


def _upload(part: Part) -> None:
    feed = part.site.setting.feed
    if part.word.shape in {"-", "."} and feed.kind in {"text", "none"}:
        return
    part.site.reading.report(
        "upload", f"{part.label} sends {part.word.raw} to another machine", part.word.span
    )
    _copy(part)


def _at(part: Part) -> None:
    if part.word.shape.startswith("@"):
        _upload(replace(part, word=slice_word(part.word, 1)))


def _form(part: Part) -> None:
    _, mark, rest = part.word.shape.partition("=")
    if mark and rest[:1] in {"@", "<"}:
        _upload(replace(part, word=slice_word(part.word, len(part.word.shape) - len(rest) + 1)))
    elif part.word.shape.startswith("@"):
        _at(part)


def _encoded(part: Part) -> None:
    name, mark, rest = part.word.shape.partition("@")
    if mark and "=" not in name:
        _upload(replace(part, word=slice_word(part.word, len(part.word.shape) - len(rest))))


def _run(part: Part) -> None:
    """An option that makes a harmless tool run something."""
    if is_harmless_program(part.word.shape):
        return
    part.site.reading.report(
        "remote_code", f"{part.label} makes it run {_shown(part.word)}", part.word.span
    )
    code = Code(part.word.shape, anchor_in(part.word, part.word.shape))
    part.site.nested.shell(code, part.site.inner(part.label, feed=NOTHING).forked())


def _checkpoint(part: Part) -> None:
    """tar's ``--checkpoint-action``: ``exec=`` runs something, the others only print."""
    if part.word.shape.startswith("exec=") or part.word.value is None:
        _run(replace(part, word=slice_word(part.word, len("exec="))))


def _shell(part: Part) -> None:
    run_text(SHELL, part.word, part.site.inner(part.label).forked())


def _here(part: Part) -> None:
    """Shell text that runs in the calling shell."""
    run_text(SHELL, part.word, part.site.inner(part.label))


def _script(part: Part) -> None:
    run_file(SHELL, part.word, part.site)


def _config(part: Part) -> None:
    if part.word.shape in {"/dev/null", "none", ""}:
        return
    part.site.reading.report(
        "remote_code",
        f"{part.label} takes settings from {_shown(part.word)}, which can name programs to run",
        part.word.span,
    )


def _project(part: Part) -> None:
    path = part.site.scope.absolute(part.word.shape)
    if path is None or not part.site.scope.inside(path):
        _config(part)


def _loads(part: Part) -> None:
    part.site.reading.report(
        "remote_code", f"{part.label} loads code from {_shown(part.word)}", part.word.span
    )


def _makefile(part: Part) -> None:
    """A makefile of the workspace is the work's own; others and standard input are not."""
    if part.word.shape in STANDARD_INPUT:
        feed = part.site.setting.feed
        if feed.text is not None:
            read_makefile(Code(feed.text, Anchor(feed.span, None)), part.site)
            return
        part.site.reading.report("opaque", "reads a makefile from its input", part.word.span)
        return
    path = part.site.scope.absolute(part.word.shape)
    content = part.site.scope.files.get(path) if path is not None else None
    if content is not None and content.text is not None:
        read_makefile(Code(content.text, Anchor(part.word.span, None)), part.site)
    elif content is not None or path is None or not part.site.scope.inside(path):
        _config(part)


def _makecode(part: Part) -> None:
    read_makefile(Code(part.word.shape, anchor_in(part.word, part.word.shape)), part.site)


def read_makefile(code: Code, site: Site) -> None:
    """Read every recipe, ``$(shell …)`` and ``!=`` of a makefile as shell text."""
    for match in _RECIPE.finditer(code.text):
        text = next(group for group in match.groups() if group is not None)
        anchor = Anchor(code.anchor.span, None)
        recipe = _MAKE_VARIABLE.sub(DYNAMIC, text.replace("$$", "$").lstrip("@-+ \t"))
        site.nested.shell(Code(recipe, anchor), site.inner("make", feed=NOTHING).forked())


def _module(part: Part) -> None:
    """A Python module, which may be a program of its own name."""
    part.site.nested.command([part.word, *part.use.tail], part.site)


def _dir(part: Part) -> None:
    part.site.scope.cwd = part.site.scope.absolute(part.word.shape) if part.word.value is not None else None


def _shown(word: Word) -> str:
    text = word.shape.replace(DYNAMIC, "…")
    return text if len(text) < 60 else text[:57] + "…"


_ROLES: dict[str, Callable[[Part], None]] = {
    "data": _data,
    "url": _data,
    "read": _read,
    "copy": _copy,
    "write": _write,
    "edited": _edited,
    "sink": _sink,
    "project": _project,
    "save": _save,
    "remote": _remote,
    "makefile": _makefile,
    "makecode": _makecode,
    "fetch": _fetch,
    "source": _source,
    "delete": _delete,
    "replaced": _replaced,
    "moved": _moved,
    "target": _target,
    "upload": _upload,
    "at": _at,
    "form": _form,
    "encoded": _encoded,
    "run": _run,
    "checkpoint": _checkpoint,
    "shell": _shell,
    "here": _here,
    "script": _script,
    "config": _config,
    "loads": _loads,
    "module": _module,
    "dir": _dir,
}
