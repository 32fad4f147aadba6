"""What the way out of one session's box is put together from."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from orchestrator.audit.log import AuditLog
from orchestrator.config.paths import Paths
from orchestrator.config.providers import ProviderSettings
from orchestrator.config.settings import EgressSettings
from orchestrator.dispatch.output import OutputFilter
from orchestrator.egress.packages.hosts import PackageHosts
from orchestrator.harness.box_models.box_use import BoxUse
from orchestrator.harness.egress.net import Net
from orchestrator.harness.egress.running import RunningCalls
from orchestrator.harness.egress.unanswered import Unanswered
from orchestrator.harness.governed import Governed
from orchestrator.sandbox.driver import WayOpener
from orchestrator.schema.ids import SessionId


@dataclass(frozen=True, slots=True)
class WayParts:
    """What a way out is put together from."""

    governed: Governed
    session: SessionId
    box: WayOpener
    audit: AuditLog
    output: OutputFilter
    observe: RunningCalls
    note: Callable[[str], None]
    """Tells the person something; the text is safe."""
    paths: Paths
    settings: EgressSettings = field(default_factory=EgressSettings)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    """Model servers of the user's own configuration."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    cost_before_usd: float = 0.0
    """What the session's models had cost before it was opened, as far as it is known."""
    use: BoxUse = field(default_factory=BoxUse)
    """Is told what the box uses of models."""
    unanswered: Unanswered = field(default_factory=Unanswered)
    """Is told of questions that nobody could be asked."""
    net: Net = field(default_factory=Net)
    packages: PackageHosts = field(default_factory=PackageHosts)
    """Where the package clients of the box's image fetch from."""
