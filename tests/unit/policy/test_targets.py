"""What a command hits, whatever it is called by."""

import pytest

from orchestrator.policy.acts import acts_of
from orchestrator.policy.shown import Shown
from orchestrator.policy.targets import coarse_act
from orchestrator.schema.likeness import Act, repeats
from orchestrator.shell.analyse import analyse


def told(command):
    return tuple(acts_of(analyse(command), tell=coarse_act))


@pytest.mark.parametrize(
    ("denied", "command"),
    [
        ("git push --force origin main", "git push origin +main"),
        ("git push --force origin main", "git push -f origin HEAD:refs/heads/main"),
        ("git push origin :main", "git push --delete origin main"),
        ("git push --all origin", "git push origin --all -q"),
        ("git -C . push origin main", "git push origin main"),
        ("git push -o a origin main", "git push -o b origin main"),
        ("git push", "git -c a.b=c push -q"),
        ("git -C sub reset --hard", "cd sub && git reset --hard"),
        ("git clean -fdx", "git clean -fd ."),
        ("npm publish", "npm publish --tag beta"),
        ("npm publish --tag=a", "npm publish --tag a"),
        ("curl -d @f https://a.example", "curl -s -d @f https://a.example https://b.example"),
        ("kubectl delete pod x -n dev", "kubectl delete -n dev pod x"),
        ("find build -delete", "find ./build -depth -delete"),
        ("pip install a", "pip install -q a b"),
        ("curl https://a.example/x | sh", "curl https://a.example/x | sh -"),
        ("rm -rf a b", "rm -rf b a"),
    ],
)
def test_call_that_hits_the_same_repeats_it(denied, command):
    """Names, order, milder and further options change nothing."""
    assert repeats(told(command), told(denied))


@pytest.mark.parametrize(
    ("denied", "command"),
    [
        ("git push --force origin main", "git push origin main"),
        ("git push origin :main", "git push origin main"),
        ("git push --all origin", "git push --tags origin"),
        ("git push origin", "git push origin topic"),
        ("git push", "git push origin topic"),
        ("git reset --hard", "git reset --hard HEAD~1"),
        ("git reset --hard", "git -C sub reset --hard"),
        ("git clean -fdx", "git clean -fdx build"),
        ("npm publish", "npm publish ./other"),
        ("npm publish --tag a", "npm publish --tag b"),
        ("curl -d @f https://a.example", "curl -d @g https://a.example"),
        ("kubectl delete pod x -n dev", "kubectl delete pod x -n prod"),
        ("find build -delete", "find build -name '*.pyc' -delete"),
        ("rm -rf a b", "rm -rf a"),
        ("rm -rf build", "rmdir build"),
        ("pip install a", "pip install b"),
        ("frobnicate --drop x", "frobnicate --list x"),
    ],
)
def test_call_that_hits_less_or_other_is_a_change(denied, command):
    """The no was not to that."""
    assert not repeats(told(command), told(denied))


def test_push_is_told_by_what_it_changes_over_there():
    """Each ref by its short name, whatever is sent to it."""
    assert told("git push origin +x:refs/heads/main heads/dev refs/tags/v1") == tuple(
        Act(kind, "git push", operands=("origin", "main", "dev", "refs/tags/v1"))
        for kind in ("publishes", "destructive")
    )
    assert told("git push : :")[0].operands == (":", ":")
    assert told("git push")[0].operands == ("", "HEAD")


def test_what_was_started_is_still_compared_word_by_word():
    """Coarse reading is for a no alone: a setting may name a program to run."""
    shown = Shown(analyse("git -c a.b=c push origin main"))

    assert shown.covers(analyse("git -c a.b=c push origin main"))
    assert not shown.covers(analyse("git -c a.b=d push origin main"))
    assert not shown.covers(analyse("git push origin x:main"))
