"""Policy texts into one tree: reading, ``extends``, order. Fails closed, with ``file:line``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path

from orchestrator.errors import PolicyError
from orchestrator.named_file import is_regular, read_named, real_path
from orchestrator.policy.document import PolicyDocument
from orchestrator.policy.merge import merge_trees
from orchestrator.policy.validate import nearest, validate_document
from orchestrator.policy.yaml_nodes import MAX_BYTES, Node, Place, find, parse_yaml

_MAX_FILES = 32
_SHIPPED_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")


def gather_files(names: Sequence[str], *, search: Path) -> tuple[Node, PolicyDocument]:
    """Return the named policies and all they extend as one; shipped ones are in ``search``."""
    files = _Files(search)
    for name in names:
        files.visit(files.find(name, folder=Path(), asked=None))
    return _whole(files.trees())


def files_of(names: Sequence[str], *, search: Path) -> tuple[Path, ...]:
    """Return the files of the named policies and of all that they extend, as far as it can be told.

    One that is missing or broken is among them, so that its mending can be waited for.
    """
    files = _Files(search)
    for name in names:
        with suppress(PolicyError):
            files.visit(files.find(name, folder=Path(), asked=None))
    return tuple(files.seen)


def gather_text(text: str, *, file: str, search: Path) -> tuple[Node, Node, PolicyDocument]:
    """Return the tree of one text alone, then that of it with the shipped policies it extends.

    A text whose exact bytes were signed or pinned extends shipped policies only: any other file
    could change without anybody being told.
    """
    files = _Files(search)
    own = parse_yaml(text, file=file)
    for parent, node in _parents(own):
        if not is_shipped_name(parent):
            raise PolicyError(
                f"{node.place}: extends {parent!r}: expected the name of a shipped policy; "
                "other files are not covered by this one's digest",
                hint="copy what it needs into this file",
            )
        files.visit(files.find(parent, folder=Path(), asked=node.place), asked=node.place)
    return (own, *_whole([*files.trees(), _without_extends(own)]))


def is_shipped_name(name: str) -> bool:
    """Say whether a name means a shipped policy, not a path."""
    return _SHIPPED_NAME.match(name) is not None


def decoded(data: bytes, *, file: str) -> str:
    """Return the bytes as text; PolicyError with the line where they are not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        line = data.count(b"\n", 0, err.start) + 1
        raise PolicyError(f"{file}:{line}: expected UTF-8 text") from err


class _Files:
    """Reads each file once and puts them in order, parents first."""

    def __init__(self, search: Path) -> None:
        self._search = search
        self.seen: dict[Path, None] = {}
        """Every file that was looked at, in order."""
        self._trees: dict[Path, Node] = {}

    def trees(self) -> list[Node]:
        return list(self._trees.values())

    def visit(
        self, path: Path, *, chain: tuple[Path, ...] = (), asked: Place | None = None
    ) -> None:
        self.seen[path] = None
        real = real_path(path)
        if real in chain:
            circle = " extends ".join(item.name for item in (*chain[chain.index(real) :], real))
            raise PolicyError(f"{asked}: extends goes in a circle: {circle}")
        if real in self._trees:
            return
        if len(chain) + len(self._trees) >= _MAX_FILES:
            raise PolicyError(f"{asked}: extends more than {_MAX_FILES} files")
        tree = parse_yaml(read_policy_text(path, asked=asked), file=self._shown(path))
        for parent, node in _parents(tree):
            found = self.find(parent, folder=path.parent, asked=node.place)
            self.visit(found, chain=(*chain, real), asked=node.place)
        self._trees[real] = _without_extends(tree)

    def find(self, name: str, *, folder: Path, asked: Place | None) -> Path:
        if not is_shipped_name(name):
            if "\0" in name:
                raise PolicyError(f"{asked}: extends {name!r}: no file name holds a NUL")
            return folder / name
        path = self._search / f"{name}.yaml"
        if not is_regular(path):
            known = sorted(item.stem for item in self._search.glob("*.yaml"))
            where = f"{asked}: " if asked else ""
            raise PolicyError(
                f"{where}no shipped policy is called {name!r}{nearest(name, known)}",
                hint="a file is named by a path with a slash or .yaml in it",
            )
        return path

    def _shown(self, path: Path) -> str:
        """Return a name that is the same on every machine for what ships."""
        return f"{self._search.name}/{path.name}" if path.parent == self._search else str(path)


def _whole(trees: Iterable[Node]) -> tuple[Node, PolicyDocument]:
    tree = reduce(merge_trees, trees)
    return tree, _checked(tree)


def _parents(tree: Node) -> Iterable[tuple[str, Node]]:
    """Return what a sound file extends, each name with its line."""
    parents = _checked(tree).extends
    listed = tree.value.get("extends") if isinstance(tree.value, Mapping) else None
    places = listed.value if listed and isinstance(listed.value, tuple) else ()
    return zip(parents, places, strict=True)


def _checked(tree: Node) -> PolicyDocument:
    document = validate_document(tree)
    _refuse_double_ids(tree)
    return document


def read_policy_text(path: Path, *, asked: Place | None = None, limit: int = MAX_BYTES) -> str:
    """Return the text of a file that a person or an ``extends`` names; PolicyError without one.

    ``asked`` is where it is named. A text of more than ``limit`` bytes is cut one byte past it.
    """
    where = f"{asked}: " if asked else ""
    try:
        data = read_named(path, limit=limit)
    except OSError as err:
        raise PolicyError(
            f"{where}{path}: cannot be read: {err.strerror}",
            hint="a layer that cannot be read is not left out; mend the file or take it away",
        ) from err
    return decoded(data, file=str(path))


def _without_extends(tree: Node) -> Node:
    keys = tree.value if isinstance(tree.value, Mapping) else {}
    kept = {key: node for key, node in keys.items() if key != "extends"}
    return Node(kept, tree.place, tree.key)


def _refuse_double_ids(tree: Node) -> None:
    """Refuse one id for two rules of a document: a decision names the id alone."""
    first: dict[str, Place] = {}
    for node in rules_in(tree):
        rule_id = find(node, ("id",)) or node
        name = str(rule_id.value)
        if name in first:
            raise PolicyError(
                f"{rule_id.at}: rule id {name!r} is used twice, first on {first[name]}"
            )
        first[name] = rule_id.at


def rules_in(node: Node) -> Iterable[Node]:
    """Yield every rule of a sound document, whatever section it stands in."""
    if not isinstance(node.value, Mapping):
        return
    for key, child in node.value.items():
        if key == "rules" and isinstance(child.value, tuple):
            yield from child.value
        else:
            yield from rules_in(child)
