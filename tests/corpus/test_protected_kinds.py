"""Kinds of ways to write to a protected path, judged end to end by the shipped default policy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.policy.cases import Failure, parse_cases, run_cases
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.load import load_policy
from orchestrator.policy.owned_folder import OwnedFolder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=["default", "yolo"])
def policy(request: pytest.FixtureRequest) -> EffectivePolicy:
    """The two policies whose users must be able to count on it."""
    return load_policy(
        [request.param], search=ROOT / "policies", user_file=None, system=OwnedFolder(ROOT / "none")
    )


def _failures(command: str, expect: str, policy: EffectivePolicy) -> tuple[Failure, ...]:
    text = json.dumps([{"id": "kind", "command": command, "expect": expect}])
    return run_cases(policy, parse_cases(text, file="kinds.yaml")).failed


@pytest.mark.parametrize(
    "command",
    [
        "cp x .gi*/hooks/y",
        "echo x > .gi?/config",
        "cp x .[g]it/config",
        "cp x .GI*/config",
        "mv x .github/w*/y.yml",
        "mv .github other",
        "mv .gith* other",
        "git mv .github other",
        "cp -r workflows .github/",
        "cp x/.envrc .",
        "mv -t . x/.envrc",
        "ln -s .git g; cp x g/hooks/pre-commit",
        "ln -s .git g; (cd g && cp x hooks/pre-commit)",
        "ln -s a b; ln -s ../.git sub/a; echo x > sub/a/config",
        "ln -s $PWD/.git d; echo x > d/config",
        "ln .git/config c; echo x > c",
        "cmake -E create_symlink .git g; cp x g/config",
        'cp x "$(git rev-parse --git-dir)/hooks/pre-commit"',
        'cp x "$(git rev-parse --git-path hooks)/pre-commit"',
        "go build -o .git/hooks/pre-commit",
        "7z x a.7z -o.git/hooks",
        "cmake -E copy x .git/hooks/pre-commit",
        "pytest --junitxml=.envrc",
        "npx prettier --write .vscode/tasks.json",
        "black .git/hooks/x.py",
        "awk -v o=.envrc '{print > o}' x",
        "git mv x .github/workflows/y.yml",
        "xargs touch <<< .git/hooks/x",
        "echo .envrc | xargs -I{} cp x {}",
        "ls -d .git | xargs -I% cp x %/hooks/y",
        r"find -name .git -exec cp x {}/hooks/y \;",
    ],
)
def test_a_protected_path_is_met_however_it_is_written(command: str, policy: EffectivePolicy):
    """A pattern, a link, a folder above it or a program's own option still writes there."""
    assert _failures(command, "deny-or-ask", policy) == ()


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/a/b/ *.toml",
        "touch */config",
        "cp -r docs/* build/",
        "mkdir -p .github/ISSUE_TEMPLATE",
        "cp bug.md .github/",
        "mv src lib",
        "mv a.txt b.txt dir/",
        "ln -s src/lib lib; touch lib/a.py",
        "ln -sf v2 current; cp x current/app",
        "go build -o bin/app ./...",
        "7z x a.7z -oout",
        "cmake -E copy a.txt build/",
        "pytest --junitxml=report.xml",
        "npx prettier --write src",
        "git mv a.py b.py",
        "awk -v t=0.5 '$1 > t' x",
        "awk -v OFS=, '{print > \"out.csv\"}' x",
        "echo a.txt b.txt | xargs touch",
        r"find . -name .git -prune -o -name '*.py' -exec chmod a+r {} \;",
        "cat .git/HEAD; ls .git/h*",
    ],
)
def test_work_beside_protected_paths_is_silent(command: str, policy: EffectivePolicy):
    """Doubt must not grow into questions about everyday work."""
    assert _failures(command, "allow", policy) == ()
