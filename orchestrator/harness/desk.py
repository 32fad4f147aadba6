"""Where questions go besides the terminal: the inbox, a webhook, a notice; and where yeses are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.config.paths import Paths
from orchestrator.config.settings import ApprovalsSettings
from orchestrator.confirmation.grants import Grants
from orchestrator.confirmation.inbox import Inbox
from orchestrator.confirmation.notice import NoticeCommand
from orchestrator.confirmation.webhook import WebhookChannel
from orchestrator.confirmation.webhook_reply import checked_url
from orchestrator.credentials.names import checked_name
from orchestrator.credentials.store import KeyStore
from orchestrator.errors import ConfigError, CredentialError, UsageError
from orchestrator.harness.options import RunOptions
from orchestrator.policy.effective import EffectivePolicy


@dataclass(frozen=True, slots=True)
class Desk:
    """Where the questions of a run go besides the terminal, and where answers are kept."""

    inbox: Inbox
    grants: Grants
    questions_per_hour: int
    exact_only: bool
    """No blanket yes: none of --yolo, and none of a recorded answer that is not exact."""
    note: Callable[[str], None]
    """Tells the person something; the text is safe."""
    webhook: WebhookChannel | None = None
    notice: NoticeCommand | None = None


def open_desk(
    paths: Paths,
    policy: EffectivePolicy,
    settings: ApprovalsSettings,
    *,
    keys: KeyStore,
    note: Callable[[str], None],
    run: RunOptions | None = None,
) -> Desk:
    """Return the desk that settings and policy describe.

    Where ``run`` asks nobody, or a file, no secret is looked for. Raises ConfigError for an address that questions must not go to, CredentialError without its
    secret: a channel that was asked for is never left out in silence.
    """
    people = run is None or run.approve in {None, "ask"}
    return Desk(
        Inbox(paths.questions),
        Grants(paths.grants),
        policy.approvals.questions_per_hour,
        policy.approvals.yolo == "deny",
        note,
        _webhook(settings, paths, keys, note) if people else None,
        NoticeCommand(settings.notify, note=note) if settings.notify else None,
    )


def _webhook(
    settings: ApprovalsSettings, paths: Paths, keys: KeyStore, note: Callable[[str], None]
) -> WebhookChannel | None:
    if settings.webhook is None:
        return None
    place = f"{paths.config / 'config.yaml'}: approvals.webhook"
    try:
        url = checked_url(settings.webhook.url)
    except ValueError as error:
        raise ConfigError(f"{place}.url: {error}") from error
    try:
        name = checked_name(settings.webhook.key)
    except UsageError as error:
        raise ConfigError(f"{place}.key: {error.message}", hint=error.hint) from error
    secret = keys.get(name)
    if secret is None:
        raise CredentialError(
            f"{place}: there is no key {name!r} to sign questions with",
            hint=f"give the secret that the receiver has too: glovebox keys set {name}",
        )
    return WebhookChannel(url, secret, note=note)
