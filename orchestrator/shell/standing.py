"""Where a walker stands: a text, the words of it, and the site they run at."""

from __future__ import annotations

from typing import Protocol

from orchestrator.shell.setting import Site
from orchestrator.shell.source import Source
from orchestrator.shell.words import Words


class Standing(Protocol):
    """What reading a part of a statement needs."""

    source: Source
    words: Words
    site: Site
