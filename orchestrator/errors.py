"""The one tree of errors, with the exit code each ends a command with.

::

    GloveboxError                 1
    ├── UsageError                2
    ├── EngineError               5   the container engine is missing or failed
    │   └── EngineUnavailable     5   no engine answers
    ├── BoxError                  5   the box is gone, or breaks the protocol
    │   └── PostureError          5   the box lacks a control that policy requires
    ├── ModelError                6   the provider failed (kind says how)
    ├── ConfigError               7   configuration is invalid
    │   └── PolicyError           7   a policy file is invalid
    ├── AuditError                7   a chain is broken or cannot be written
    │   └── AuditUnavailable      7   no record, no action
    ├── CredentialError           7   a key is missing or the vault cannot be opened
    ├── WorkspaceError            1   the workspace cannot be prepared, read or applied
    ├── ApprovalError             1   a question cannot be answered, or not any more
    ├── SessionError              1   a session file cannot be used
    │   └── SessionBusy           1   another process holds the session
    ├── ContextError              1   a conversation cannot be made to fit its model
    ├── SkillError                1   a skill cannot be read or used
    ├── PromptError               1   a prompt or template cannot be put together
    └── ScriptError               1   a scripted model's script does not fit the run

A message gives place, expected, got; ``hint`` gives the next step. Neither holds a secret.
"""

from __future__ import annotations

from typing import Literal


class GloveboxError(Exception):
    """Anything this program raises on purpose."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the message, and apart from it what the reader can do next."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GloveboxError):
    """Raised when a command line asks for what cannot be."""

    exit_code = 2


class EngineError(GloveboxError):
    """Raised when the container engine refuses or fails an operation."""

    exit_code = 5


class EngineUnavailable(EngineError):  # noqa: N818 - reads as what it is
    """Raised when no container engine answers."""


class BoxError(GloveboxError):
    """Raised when the box is gone or its tool server breaks the protocol."""

    exit_code = 5


class PostureError(BoxError):
    """Raised when a running box lacks a control that policy requires."""


ModelFailure = Literal[
    "auth",
    "bad_request",
    "network",
    "overflow",
    "overloaded",
    "quota",
    "rate_limit",
    "server",
    "thoughts_refused",
    "too_large",
]


class ModelError(GloveboxError):
    """Raised when a model provider fails; ``retryable`` failures were retried before."""

    exit_code = 6

    def __init__(
        self,
        message: str,
        *,
        kind: ModelFailure,
        status: int | None = None,
        retry_after_s: float | None = None,
        tries: int | None = None,
        hint: str = "",
    ) -> None:
        """Keep what a retry needs: the kind, the HTTP status and the wait asked for, in seconds.

        ``tries``: at most so many requests together, as what comes twice is no chance.
        """
        super().__init__(message, hint=hint)
        self.kind: ModelFailure = kind
        self.status = status
        self.retry_after_s = retry_after_s
        self.tries = tries

    @property
    def retryable(self) -> bool:
        """True where the same request may go through later."""
        return self.kind in {"network", "overloaded", "rate_limit", "server"}


class ConfigError(GloveboxError):
    """Raised when a configuration file, variable or flag is invalid."""

    exit_code = 7


class PolicyError(ConfigError):
    """Raised when a policy cannot be loaded; the message begins with ``file:line``."""


class AuditError(GloveboxError):
    """Raised when an audit chain does not hold."""

    exit_code = 7


class AuditUnavailable(AuditError):  # noqa: N818 - reads as what it is
    """Raised when a record cannot be written; the act it announces must not happen."""


class CredentialError(GloveboxError):
    """Raised when a key is missing or its store cannot be opened."""

    exit_code = 7


class WorkspaceError(GloveboxError):
    """Raised when a workspace cannot be prepared, read back or applied."""


class ApprovalError(GloveboxError):
    """Raised when a question cannot be kept or answered, or not any more."""


class SessionError(GloveboxError):
    """Raised when a session file cannot be used."""


class SessionBusy(SessionError):  # noqa: N818 - reads as what it is
    """Raised when another live process holds the session."""


class ContextError(GloveboxError):
    """Raised when a conversation cannot be made to fit its model; nothing was sent."""


class SkillError(GloveboxError):
    """Raised when a skill cannot be read or used."""


class PromptError(GloveboxError):
    """Raised when a prompt or a template cannot be put together."""


class ScriptError(GloveboxError):
    """Raised when a scripted model's script does not fit the run."""
