"""What nested code does counts like what the shell does."""

import pytest

from tests.support.shell_reading import findings, risks


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os; os.system('git push')", "publishes"),
        ("import subprocess; subprocess.run(['rm', '-rf', 'x'])", "destructive"),
        ("import shutil; shutil.rmtree('x')", "destructive"),
        ("import os; os.remove('/etc/x')", "destructive"),
        ("open('/etc/x', 'w')", "persistence"),
        ("open('/home/agent/.ssh/id_rsa')", "secrets"),
        ("import os; os.rename('/etc/a', 'b')", "destructive"),
        ("exec(\"import os; os.system('git push')\")", "publishes"),
        ("import os; os.system(x)", "opaque"),
        ("import subprocess; subprocess.run(['sh'], input=x)", "opaque"),
    ],
)
def test_act_of_code_has_the_risk_of_its_deed(code, expected):
    """A language is only another way to say it."""
    assert expected in risks(
        f'python3 -c "{code}"' if '"' not in code else f"python3 <<'E'\n{code}\nE"
    )


def test_finding_in_code_points_into_the_code():
    """A person sees the call, not the whole script."""
    command = "python3 -c 'x = 1; import shutil; shutil.rmtree(\"src\")'"
    (finding,) = findings(command)
    assert command[finding.span[0] : finding.span[1]] == 'shutil.rmtree("src")'
