"""Short questions to the shell analysis, for tests."""

from orchestrator.shell.analyse import analyse
from orchestrator.shell.analysis import Finding, SimpleCommand


def risks(command: str) -> set[str]:
    """Return the risk classes found in a command."""
    return {finding.risk for finding in analyse(command).findings}


def findings(command: str) -> tuple[Finding, ...]:
    """Return what was found."""
    return analyse(command).findings


def argvs(command: str) -> list[list[str | None]]:
    """Return the argument lists of all commands, None for words that are not static."""
    return [[word.value for word in item.argv] for item in analyse(command).commands]


def only(command: str) -> SimpleCommand:
    """Return the one command a line runs."""
    (found,) = analyse(command).commands
    return found
