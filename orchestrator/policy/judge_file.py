"""Votes on a file request: on the path as asked for, and on where it lands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.policy.ballot import FLOOR, poll
from orchestrator.policy.globs import MAX_PATH, normal_path, within
from orchestrator.policy.layer import BoxPaths, FileVotes, Layer
from orchestrator.schema.decision import Decision
from orchestrator.schema.request import FileAccess, FileRequest, file_access

_NEVER = ("/proc", "/sys", "/dev")
"""Kernel views: what is read there is not a file, whatever policy lists."""


def file_votes(
    layers: tuple[Layer, ...],
    request: FileRequest,
    *,
    box: BoxPaths,
    read_roots: Sequence[str],
) -> Iterator[Decision]:
    """Yield every vote on the request; the floor's refusals come first."""
    access = file_access(request)
    if request.resolved is None:
        yield _refusal("unresolved", "where the path lands is not known", path=request.path)
        return
    for path in dict.fromkeys((request.path, request.resolved)):
        problem = _malformed(path)
        if problem:
            yield _refusal("outside", problem, path=path)
            return
        normal = normal_path(path, "/")
        if not _in_bounds(normal, access, box, read_roots):
            roots = ", ".join(_roots(access, box, read_roots))
            why = f"it is outside of what may be {_done(access)}: {roots}"
            yield _refusal("outside", why, path=normal)
        yield from _path_votes(layers, normal, access)


def _path_votes(layers: tuple[Layer, ...], path: str, access: FileAccess) -> Iterator[Decision]:
    for layer in layers:
        glob = layer.hidden.match(path)
        if glob:
            reason = f"{path} is hidden from the box ({glob})"
            hint = "work without it; ask the person for what you need from it"
            yield Decision("deny", "hidden", layer.name, reason, hint=hint)
    if access == "write":
        yield from protected_votes(layers, path)

    def votes_of(layer: Layer) -> list[Decision]:
        votes = layer.writes if access == "write" else layer.reads
        return rule_votes(layer, votes, path, default_rule=f"default:{access}")

    question = f"{'writing' if access == 'write' else 'reading'} {path}"
    yield from poll(layers, votes_of, question=question, key=f"files.{access}.default")


def protected_votes(
    layers: tuple[Layer, ...],
    path: str,
    *,
    span: tuple[int, int] | None = None,
    tree: bool = False,
) -> Iterator[Decision]:
    """Yield an ask that no blanket yes answers, for each layer that protects the path.

    A path of a command line (with a ``span``) may hold the shell's patterns; a ``tree`` goes with
    all that lies below it.
    """
    for layer in layers:
        globs = layer.above_protected if tree else layer.protected
        glob = globs.match(path) if span is None else globs.may_match(path)
        if glob:
            yield Decision(
                effect="ask",
                rule="protected",
                layer=layer.name,
                reason=f"{path} is protected ({glob}): programs on the host act on it",
                span=span,
                hint="say what should change there and why; a person decides",
                unyielding=True,
            )


def rule_votes(
    layer: Layer,
    votes: FileVotes,
    path: str,
    *,
    default_rule: str = "",
    span: tuple[int, int] | None = None,
) -> list[Decision]:
    """Return the votes of the rules that match, else the default's under the name it is given."""
    found = [
        Decision(
            effect=rule.effect,
            rule=rule.id,
            layer=layer.name,
            reason=rule.reason or f"rule {rule.id!r} matches {path}",
            span=span,
            hint=rule.hint,
            always=rule.effect == "ask",
        )
        for rule, globs in votes.rules
        if globs.match(path)
    ]
    default = votes.default
    if found or not default_rule or default is None or default == "delegate":
        return found
    reason = f"no rule for {path}; the default is {default}"
    return [Decision(default, default_rule, layer.name, reason, span=span)]


def _malformed(path: str) -> str:
    if "\x00" in path:
        return "the path holds a NUL"
    if not path.startswith("/"):
        return "the path is not absolute"
    return f"the path is longer than {MAX_PATH} characters" if len(path) > MAX_PATH else ""


def _in_bounds(path: str, access: FileAccess, box: BoxPaths, read_roots: Sequence[str]) -> bool:
    if any(within(path, root) for root in _NEVER):
        return False
    return any(within(path, root) for root in _roots(access, box, read_roots))


def _roots(access: FileAccess, box: BoxPaths, read_roots: Sequence[str]) -> tuple[str, ...]:
    own = (box.workspace, box.scratch, box.home)
    return own if access == "write" else (*own, *read_roots)


def _done(access: FileAccess) -> str:
    return "written" if access == "write" else "read"


def _refusal(rule: str, why: str, *, path: str) -> Decision:
    return Decision(
        effect="deny",
        rule=rule,
        layer=FLOOR,
        reason=f"{path[:200]}: {why}",
        hint="use a path in the workspace",
    )
