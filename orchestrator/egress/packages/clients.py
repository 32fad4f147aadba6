"""All package managers that policy can name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from orchestrator.egress.packages.apt import APT
from orchestrator.egress.packages.cargo import CARGO
from orchestrator.egress.packages.client import Client
from orchestrator.egress.packages.go import GO
from orchestrator.egress.packages.maven import MAVEN
from orchestrator.egress.packages.npm import NPM
from orchestrator.egress.packages.pip import PIP
from orchestrator.schema.packages import Ecosystem

CLIENTS: Mapping[Ecosystem, Client] = MappingProxyType(
    {client.ecosystem: client for client in (PIP, NPM, APT, CARGO, GO, MAVEN)}
)
