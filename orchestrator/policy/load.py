"""The layers that hold here into the effective policy. Fails closed: one that does not load, no start."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import rfc8785

from orchestrator.errors import PolicyError
from orchestrator.policy.combine import combine
from orchestrator.policy.compile import layer_of_text, load_layer
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.gather import is_shipped_name
from orchestrator.policy.installed import SYSTEM, installed_layers
from orchestrator.policy.layer import LAYER_ORDER, BoxPaths, Layer
from orchestrator.policy.owned_folder import OwnedFolder
from orchestrator.policy.signature import LayerSource
from orchestrator.policy.tightening import refuse_loosening
from orchestrator.schema.ids import Digest, digest_of


@dataclass(frozen=True, slots=True)
class ProjectText:
    """A project's own policy as it was read once: what was asked about is what holds."""

    file: str
    data: bytes

    @property
    def digest(self) -> Digest:
        """Of the exact bytes."""
        return digest_of(self.data)


def load_policy(
    names: Sequence[str],
    *,
    search: Path,
    user_file: Path | None,
    state: Path | None = None,
    projects: Iterable[ProjectText] = (),
    system: OwnedFolder = SYSTEM,
    box: BoxPaths | None = None,
) -> EffectivePolicy:
    """Return the effective policy; raises PolicyError, one ``file:line`` a mistake.

    ``names`` are shipped policies in ``search`` or paths; together they are the session's layer,
    as if one file extended them in order. ``user_file`` is the user's layer where it exists. The
    organisation's and the team's layers in ``system`` hold whatever else is asked for; ``state``
    is where their serials are kept. ``projects`` are the project's own files, nearest first.
    """
    if not names:
        raise PolicyError("no policy is named", hint="give --policy default")
    where = box or BoxPaths()
    layers = [*installed_layers(system, search=search, state=state, box=where)]
    layers.append(load_layer("session", names, search=search, box=where))
    if user_file is not None and _is_there(user_file):
        layers.append(load_layer("user", [str(user_file)], search=search, box=where))
    layers += [project_layer(project, search=search, box=where) for project in projects]
    layers.sort(key=lambda layer: LAYER_ORDER.index(layer.name))
    return combine(
        layers,
        name="+".join(_bare(name) for name in names),
        digest=policy_digest(layers),
        box=where,
    )


def project_layer(project: ProjectText, *, search: Path, box: BoxPaths | None = None) -> Layer:
    """Return a project's own policy as a layer; PolicyError where a key in it loosens."""
    layer = layer_of_text(
        "project",
        project.data,
        file=project.file,
        search=search,
        box=box or BoxPaths(),
        check=refuse_loosening,
    )
    return replace(layer, source=LayerSource(project.file, project.digest))


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


def absolute_name(name: str) -> str:
    """Return a policy's name so that it means the same from every working directory."""
    return name if is_shipped_name(name) else str(Path(name).absolute())


def _bare(name: str) -> str:
    return name if is_shipped_name(name) else Path(name).stem


def _is_there(path: Path) -> bool:
    """Say whether a file is there, as a dangling link too; what cannot be told is no absence."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as err:
        raise PolicyError(
            f"{path}: cannot be looked at: {err.strerror}",
            hint="a layer that cannot be read is not left out; mend its folder's mode",
        ) from err
    return bool(stat.S_IFMT(mode))
