"""Policy files into the effective policy: reading, ``extends``, layers, examples. Fails closed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path

import rfc8785

from orchestrator.errors import PolicyError
from orchestrator.policy.combine import combine
from orchestrator.policy.document import PolicyDocument
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.examples import check_examples
from orchestrator.policy.layer import LAYER_ORDER, BoxPaths, Layer, LayerName, compile_layer
from orchestrator.policy.merge import merge_trees
from orchestrator.policy.validate import nearest, validate_document
from orchestrator.policy.yaml_nodes import MAX_BYTES, Node, Place, find, parse_yaml
from orchestrator.schema.ids import Digest, digest_of

SYSTEM_FILE = Path("/etc/glovebox/policy.yaml")
"""Where an organisation's policy will live; mandatory once installed."""
_MAX_FILES = 32
_SHIPPED_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")


def load_policy(
    names: Sequence[str],
    *,
    search: Path,
    user_file: Path | None,
    system_file: Path = SYSTEM_FILE,
    box: BoxPaths | None = None,
) -> EffectivePolicy:
    """Return the effective policy; raises PolicyError, one ``file:line`` a mistake.

    ``names`` are shipped policies in ``search`` or paths; together they are the session's layer,
    as if one file extended them in order. ``user_file`` is the user's layer where it exists.
    """
    _refuse_unverified(system_file)
    if not names:
        raise PolicyError("no policy is named", hint="give --policy default")
    where = box or BoxPaths()
    layers = [load_layer("session", names, search=search, box=where)]
    if user_file is not None and user_file.exists():
        layers.append(load_layer("user", [str(user_file)], search=search, box=where))
    layers.sort(key=lambda layer: LAYER_ORDER.index(layer.name))
    return combine(
        layers,
        name="+".join(_bare(name) for name in names),
        digest=policy_digest(layers),
        box=where,
    )


def load_layer(
    name: LayerName, names: Sequence[str], *, search: Path, box: BoxPaths | None = None
) -> Layer:
    """Return the named policies, with all they extend, as one layer; examples hold."""
    where = box or BoxPaths()
    tree = _Files(search).gather(names)
    layer = compile_layer(name, _checked(tree), tree, box=where)
    check_examples(layer, box=where)
    return layer


def policy_digest(layers: Iterable[Layer]) -> Digest:
    """Return the SHA-256 of the RFC 8785 canonical form of the layers' documents."""
    documents = [
        {
            "layer": layer.name,
            "document": layer.document.model_dump(
                mode="json", exclude_none=True, exclude={"description", "extends"}
            ),
        }
        for layer in layers
    ]
    return digest_of(rfc8785.dumps(documents))


def _bare(name: str) -> str:
    return name if _SHIPPED_NAME.match(name) else Path(name).stem


def _refuse_unverified(system_file: Path) -> None:
    try:
        found = system_file.is_symlink() or system_file.exists()
    except OSError as err:
        raise PolicyError(f"{system_file}:1: cannot be looked at: {err.strerror}") from err
    if found:
        raise PolicyError(
            f"{system_file}:1: this version cannot verify an organisation's signed policy, "
            "and does not run beside one it would ignore",
            hint="use a version that verifies it, or let its owner take it away",
        )


def _checked(tree: Node) -> PolicyDocument:
    document = validate_document(tree)
    _refuse_double_ids(tree)
    return document


class _Files:
    """Reads each file once and puts them in order, parents first."""

    def __init__(self, search: Path) -> None:
        self._search = search
        self._trees: dict[Path, Node] = {}

    def gather(self, names: Sequence[str]) -> Node:
        """Return one tree of the named policies and all they extend."""
        for name in names:
            self._visit(self._find(name, folder=Path(), asked=None), chain=())
        return reduce(merge_trees, self._trees.values())

    def _visit(self, path: Path, *, chain: tuple[Path, ...], asked: Place | None = None) -> None:
        real = path.resolve()
        if real in chain:
            circle = " extends ".join(item.name for item in (*chain[chain.index(real) :], real))
            raise PolicyError(f"{asked}: extends goes in a circle: {circle}")
        if real in self._trees:
            return
        if len(chain) + len(self._trees) >= _MAX_FILES:
            raise PolicyError(f"{asked}: extends more than {_MAX_FILES} files")
        tree = parse_yaml(_read(path, asked), file=self._shown(path))
        parents = _checked(tree).extends
        listed = tree.value.get("extends") if isinstance(tree.value, Mapping) else None
        places = listed.value if listed and isinstance(listed.value, tuple) else ()
        for parent, node in zip(parents, places, strict=True):
            found = self._find(parent, folder=path.parent, asked=node.place)
            self._visit(found, chain=(*chain, real), asked=node.place)
        self._trees[real] = _without_extends(tree)

    def _find(self, name: str, *, folder: Path, asked: Place | None) -> Path:
        if not _SHIPPED_NAME.match(name):
            return folder / name
        path = self._search / f"{name}.yaml"
        if not path.is_file():
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


def absolute_name(name: str) -> str:
    """Return a policy's name so that it means the same from every working directory."""
    return name if _SHIPPED_NAME.match(name) else str(Path(name).absolute())


def _read(path: Path, asked: Place | None) -> str:
    where = f"{asked}: " if asked else ""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        return data.decode("utf-8-sig")
    except OSError as err:
        raise PolicyError(f"{where}{path}: cannot be read: {err.strerror}") from err
    except UnicodeDecodeError as err:
        line = data.count(b"\n", 0, err.start) + 1
        raise PolicyError(f"{path}:{line}: expected UTF-8 text") from err


def _without_extends(tree: Node) -> Node:
    keys = tree.value if isinstance(tree.value, Mapping) else {}
    kept = {key: node for key, node in keys.items() if key != "extends"}
    return Node(kept, tree.place, tree.key)


def _refuse_double_ids(tree: Node) -> None:
    """Refuse one id for two rules of a document: a decision names the id alone."""
    first: dict[str, Place] = {}
    for node in _rules_in(tree):
        rule_id = find(node, ("id",)) or node
        name = str(rule_id.value)
        if name in first:
            raise PolicyError(
                f"{rule_id.at}: rule id {name!r} is used twice, first on {first[name]}"
            )
        first[name] = rule_id.at


def _rules_in(node: Node) -> Iterable[Node]:
    if not isinstance(node.value, Mapping):
        return
    for key, child in node.value.items():
        if key == "rules" and isinstance(child.value, tuple):
            yield from child.value
        else:
            yield from _rules_in(child)
