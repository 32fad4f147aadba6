"""A project's own policy: read from the host's tree before a box starts, and held only once known.

It can only tighten, so it needs no trust to be obeyed. It needs a person's yes to *change*: what an
agent wrote, or what somebody else took away, is shown as a difference first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.errors import PolicyError
from orchestrator.harness.project_file import WHAT, project_roots, read_project_policy
from orchestrator.harness.trust import TrustAnswer, TrustStore
from orchestrator.policy.load import ProjectText
from orchestrator.schema.ids import digest_of

REMOVED = digest_of(b"")
"""Stands for a file that is gone: what would be agreed to is nothing."""


@dataclass(frozen=True, slots=True)
class ProjectPolicy:
    """One directory's policy as it is, beside what a person said yes to."""

    root: Path
    text: ProjectText | None
    """None where one was known that is gone."""
    pin: TrustAnswer | None
    """The last yes, with the text it was for; None where there was none."""

    @property
    def digest(self) -> str:
        """Of the exact bytes."""
        return self.text.digest if self.text else REMOVED

    @property
    def is_known(self) -> bool:
        """Say whether a person said yes to exactly this."""
        return self.text is not None and self.pin is not None and self.pin.digest == self.digest

    @property
    def words(self) -> str:
        """The bytes as text that tells every byte, also where they are no UTF-8."""
        return self.text.data.decode("utf-8", "backslashreplace") if self.text else ""


def project_policies(directory: Path, paths: Paths) -> tuple[ProjectPolicy, ...]:
    """Return the policies of a directory and of those above it, up to its repository's root.

    A session below the root is under the root's policy too. Nearest first; PolicyError where one
    cannot be read.
    """
    store = TrustStore(paths)
    found = []
    for root in project_roots(directory):
        text, pin = read_project_policy(root), store.pinned(root)
        if text is not None or pin is not None:
            found.append(ProjectPolicy(root, text, pin))
    return tuple(found)


def texts_of(policies: tuple[ProjectPolicy, ...]) -> tuple[ProjectText, ...]:
    """Return what there is to load."""
    return tuple(policy.text for policy in policies if policy.text is not None)


def require_known(policies: tuple[ProjectPolicy, ...]) -> None:
    """Raise PolicyError, with what to do, unless a person knows each of them."""
    for policy in policies:
        if not policy.is_known:
            raise unknown_policy(policy)


def unknown_policy(policy: ProjectPolicy) -> PolicyError:
    """Return the refusal of a policy to which nobody said yes."""
    place = f"{policy.root / WHAT}:1"
    if policy.text is None:
        what = "is gone, and nobody has said yes to that"
    elif policy.pin is None:
        what = "nobody has said yes to this project's own policy"
    else:
        what = "changed since a person said yes to it"
    return PolicyError(
        f"{place}: {what}; its digest is {policy.digest}",
        hint=f"look at it and answer: glovebox trust {policy.root}; where nobody can be asked, "
        "add --yes with the digest you have seen",
    )


def keep_policy(policy: ProjectPolicy, paths: Paths, *, by: str) -> None:
    """Keep a person's yes to exactly this."""
    store = TrustStore(paths)
    if policy.text is None:
        store.unpin(policy.root)
    else:
        store.pin(policy.root, policy.text.digest, what=WHAT, text=policy.words, by=by)
