"""Every role that a table may name has a judge, and no judge is without a role."""

from orchestrator.shell.knowledge import ROLES
from orchestrator.shell.roles import judged_roles


def test_roles_and_judges_are_the_same():
    """The list in ``knowledge`` is what the tables are checked against."""
    assert judged_roles() == frozenset(ROLES)
