"""How circumstances are handed down."""

from orchestrator.shell.output import Output
from orchestrator.shell.reading import Reading
from orchestrator.shell.scope import Places, Scope
from orchestrator.shell.setting import Setting, Site


def site(**setting) -> Site:
    scope = Scope(Places(workspace="/workspace", home="/home/agent"), "/workspace")
    return Site(Setting(**setting), scope, Reading(), None)


def test_inner_code_is_deeper_and_without_the_outer_assignments():
    """``X=1 sh -c code``: the code is one level down, and X is its shell's, not its commands'."""
    inner = site(environment=(("X", "1"),), no_lookup=True).inner("sh -c")

    assert (inner.setting.depth, inner.setting.origin) == (1, "sh -c")
    assert (inner.setting.environment, inner.setting.no_lookup) == ((), False)


def test_inner_code_keeps_the_input_unless_given_another():
    """Who reads standard input inside reads what stands outside."""
    feed = Output()
    outer = site().fed(feed)

    assert outer.inner("eval").setting.feed is feed


def test_forked_site_keeps_its_changes_to_itself():
    """A subshell's ``cd`` moves nobody else."""
    outer = site()
    outer.forked().scope.cwd = "/tmp"

    assert outer.scope.cwd == "/workspace"
