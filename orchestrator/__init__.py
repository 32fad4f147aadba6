"""Glovebox: the head stays on the host, the hands work in a container.

Start reading at ``orchestrator.cli.run`` and ``orchestrator.harness.session``.
"""

__version__ = "0.1.0"
