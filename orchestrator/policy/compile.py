"""Policies into one layer that can vote, its rules' examples checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from orchestrator.errors import PolicyError
from orchestrator.policy.document import PolicyDocument
from orchestrator.policy.examples import check_examples
from orchestrator.policy.gather import decoded, gather_files, gather_text
from orchestrator.policy.layer import BoxPaths, Layer, LayerName, compile_layer
from orchestrator.policy.yaml_nodes import Node


def load_layer(
    name: LayerName, names: Sequence[str], *, search: Path, box: BoxPaths | None = None
) -> Layer:
    """Return the named policies, with all they extend, as one layer; examples hold."""
    with _with_mend():
        tree, document = gather_files(names, search=search)
        return _compiled(name, document, tree, box=box or BoxPaths())


def layer_of_text(
    name: LayerName,
    data: bytes,
    *,
    file: str,
    search: Path,
    box: BoxPaths,
    check: Callable[[Node], None] | None = None,
) -> Layer:
    """Return one file's bytes, with the shipped policies they extend, as a layer.

    ``check`` is given the file's own tree, without what it extends, before anything else is done.
    """
    with _with_mend():
        own, tree, document = gather_text(decoded(data, file=file), file=file, search=search)
        if check is not None:
            check(own)
        return _compiled(name, document, tree, box=box)


@contextmanager
def _with_mend() -> Iterator[None]:
    """Give every mistake in a policy a next step, where it has none of its own."""
    try:
        yield
    except PolicyError as err:
        err.hint = err.hint or (
            "mend it in that line; glovebox policy lint FILE checks a policy without running anything"
        )
        raise


def _compiled(name: LayerName, document: PolicyDocument, tree: Node, *, box: BoxPaths) -> Layer:
    layer = compile_layer(name, document, tree, box=box)
    check_examples(layer, box=box)
    return layer
