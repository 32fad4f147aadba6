"""Where the tree and bash might disagree, the command is opaque."""

import pytest

from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "command",
    [
        'echo "open; rm -rf src',
        "if true; then rm -rf src",
        "echo 'a",
        "(ls",
        "ls )",
        "ls | | ls",
        "cat <<E\nno end",
        'cat <<"E"x\nbody\nEx',
        "rm \\ --help -rf src",
        "rm <<<$a$b\\--help -rf src",
        "[x] && [$(foo)$x]",
        "a ]  ]], b",
        "*x=1",
        "then ls",
    ],
)
def test_doubtful_syntax_is_opaque(command):
    """An attack on the parser ends in a question."""
    assert "opaque" in risks(command)


@pytest.mark.parametrize(
    "command",
    [
        "cmd 2>&1 <<< x",
        "cat 3<>f",
        "git commit -F - <<'E'\nx\nE",
        "cat <<E | grep x > f\na\nE",
        "cat <<-E\n\ta\n\tE",
        "a && # why\nb",
        "echo `date` `hostname`",
        "x=`date`\ny=`date`",
    ],
)
def test_valid_syntax_the_parser_stumbles_over_is_read(command):
    """Known stumbles are mended, not asked about."""
    assert risks(command) == set()
