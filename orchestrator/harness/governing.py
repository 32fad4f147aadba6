"""Which policy a run is under: every layer that holds here, and no flag that gets around one."""

from __future__ import annotations

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.confirmation.gate import Confirmer
from orchestrator.errors import PolicyError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.overrides import refuse_overrides
from orchestrator.harness.project_policy import (
    project_policies,
    require_known,
    texts_of,
)
from orchestrator.harness.project_question import settle_project_policies
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.installed import SYSTEM, installed_layers
from orchestrator.policy.layer import BoxPaths, Layer
from orchestrator.policy.load import load_policy


def policy_of(options: RunOptions, paths: Paths) -> EffectivePolicy:
    """Return the policy that a run with these options is under; nobody is asked.

    PolicyError where the project's own policy is one that no person knows.
    """
    policy = loaded_policy(options, paths)
    require_known(project_policies(options.directory, paths))
    return policy


def loaded_policy(options: RunOptions, paths: Paths) -> EffectivePolicy:
    """Return the policy, whatever is known of the project's own; ConfigError where a flag defies it."""
    policy = load_policy(
        options.policies,
        search=asset("policies"),
        user_file=paths.config / "policy.yaml",
        state=paths.state,
        projects=texts_of(project_policies(options.directory, paths)),
    )
    refuse_overrides(options, policy)
    return policy


async def agreed_policy(
    options: RunOptions, policy: EffectivePolicy, paths: Paths, *, confirmer: Confirmer
) -> None:
    """Ask about a project's own policy that is not known; PolicyError where the answer is no.

    What was loaded before is compared with what is there now, so that a yes is to what will hold.
    """
    found = project_policies(options.directory, paths)
    loaded = {layer.source.digest for layer in policy.layers if layer.source}
    changed = [item for item in texts_of(found) if item.digest not in loaded]
    if changed:
        raise PolicyError(
            f"{changed[0].file}:1: changed while the session was about to begin",
            hint="look at it, then start again",
        )
    await settle_project_policies(found, paths, confirmer, timeout_s=policy.approvals.timeout)


def installed_now(paths: Paths) -> tuple[Layer, ...]:
    """Return the organisation's and the team's layer; PolicyError where one does not hold."""
    layers = installed_layers(SYSTEM, search=asset("policies"), state=paths.state, box=BoxPaths())
    return tuple(layers)


def protected_now(paths: Paths) -> tuple[str, ...]:
    """Return what the installed layers protect; PolicyError where one of them does not hold.

    Bringing changes to the host is under them too, also those of sessions begun before.
    """
    sections = [layer.document.workspace for layer in installed_now(paths)]
    return tuple(glob for section in sections if section for glob in section.protected or ())
