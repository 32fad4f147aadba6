"""Has a sealed container pack the commits of a box's repository, and keeps what comes out.

The repository's settings and hooks are the box's: git reads them there and only there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from orchestrator.config.assets import asset
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.sealed_program import Output, Sealed, run_sealed
from orchestrator.engine.volumes import require_volume
from orchestrator.errors import WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.private_git import objects_mount
from orchestrator.workspace.workspace import WORKDIR, Site

MOST_BYTES = 2 * 1024**3
"""Of one bundle, whatever the box's disk would allow."""

_NOTHING = 42
"""The script's way to say that no branch has a commit that the host lacks."""

_SCRIPT = f"""
set -f
cd {WORKDIR} || exit 3
exec 3>&1 1>&2
known=
for id in "$@"; do
  if git cat-file -e "$id^{{commit}}" 2>/dev/null; then known="$known ^$id"; fi
done
refs=$(git for-each-ref --format='%(refname)' refs/heads) || exit 4
if ! git symbolic-ref -q HEAD >/dev/null && git rev-parse -q --verify HEAD >/dev/null; then
  refs="$refs HEAD"
fi
[ -n "$refs" ] || exit {_NOTHING}
count=$(printf '%s\\n' $refs $known | git rev-list --count --stdin) || exit 5
[ "$count" != 0 ] || exit {_NOTHING}
printf '%s\\n' $refs $known | git bundle create --quiet - --stdin >&3
"""

_ENVIRONMENT = (
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/tmp",
    "LC_ALL=C.UTF-8",
    "GIT_CONFIG_NOSYSTEM=1",
    "GIT_OPTIONAL_LOCKS=0",
    "GIT_TERMINAL_PROMPT=0",
    # The volume may belong to another user than the one in there, as in a copy.
    "GIT_CONFIG_COUNT=1",
    "GIT_CONFIG_KEY_0=safe.directory",
    "GIT_CONFIG_VALUE_0=*",
)


def pack_commits(site: Site, known: Sequence[str], target: Path) -> str:
    """Write a bundle of what the box's branches add to ``known``; returns its SHA-256, hex.

    Returns an empty text, and writes nothing, where they add nothing.
    """
    record = site.record
    require_volume(site.engine, record.volume, session=SessionId(record.session))
    program = Sealed(
        session=SessionId(record.session),
        # Ours and not the session's: any image may be a box, but this one has git.
        image=sandbox_image_name(asset("sandbox-image")),
        command=("/bin/sh", "-c", _SCRIPT, "sh", *known),
        mounts=(Mount("volume", record.volume, WORKDIR, read_only=True), *objects_mount(record)),
        uid=record.uid,
        gid=record.gid,
        environment=_ENVIRONMENT,
        runtime=record.runtime,
    )
    most = min(MOST_BYTES, record.disk_bytes)
    target.unlink(missing_ok=True)
    with run_sealed(site.engine, program) as output:
        digest = _keep(output, target, most)
    if output.exit_code == _NOTHING:
        target.unlink()
        return ""
    if output.exit_code:
        target.unlink()
        why = "it took too long" if output.timed_out else output.last_words[-500:]
        raise WorkspaceError(
            f"the box's repository cannot be read: {escape_terminal(why)}",
            hint="the files themselves can still be applied with `glovebox apply`",
        )
    return digest


def _keep(output: Output, target: Path, most: int) -> str:
    digest, size = hashlib.sha256(), 0
    with target.open("xb") as file:
        for piece in output.pieces:
            size += len(piece)
            if size > most:
                raise WorkspaceError(
                    f"the box's commits take more than {most} bytes; nothing was fetched",
                    hint="remove large files from them in the box",
                )
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()
