"""Texts that bash runs although they are quoted, because it evaluates them a second time."""

import pytest

from orchestrator.shell.analyse import analyse

STORED = "x='a[$(rm -rf /)]'; "


@pytest.mark.parametrize(
    "command",
    [
        STORED + "echo $((x))",
        STORED + "(( x ))",
        STORED + "let y=x",
        STORED + "echo ${PATH:x}",
        STORED + "a=(1 2); echo ${a[x]}",
        STORED + "y[x]=1",
        STORED + "echo ${!x}",
        STORED + "[[ 1 -eq x ]]",
        STORED + "[ -v x ]",
        STORED + "for ((i=x;i<1;i++)); do :; done",
        STORED + "eval 'echo $((x))'",
        STORED + "f() { echo $((x)); }; f",
        "[[ 'a[$(rm -rf /)]' -eq 1 ]]",
        "[[ -v 'x[$(rm -rf /)]' ]]",
        "test -v 'x[$(rm -rf /)]'",
        "unset 'x[$(rm -rf /)]'",
        "command let 'x[$(rm -rf /)]'",
        "declare -i x='a[$(rm -rf /)]'",
        "typeset -n r='a[$(rm -rf /)]'; echo $r",
        "read y <<< 'a[$(rm -rf /)]'; echo $((y))",
        "set -- 'a[$(rm -rf /)]'; echo $(($1))",
        "for v in 'a[$(rm -rf /)]'; do echo $((v)); done",
        "a=('a[$(rm -rf /)]'); echo $((a))",
        "x='`rm -rf /`'; echo ${x@P}",
        r"x=\$\(rm\ -rf\ /\); echo ${x@P}",
        r'x="\$(rm -rf /)"; echo ${x@P}',
        r"x=$'a[\x24(rm -rf /)]'; echo $((x))",
        "x='a[$'; y='(rm -rf /)]'; echo $(($x$y))",
        "BASH_ALIASES[ls]='rm -rf /'\nls",
        "BASH_CMDS[ls]=/bin/rm; ls -rf /",
        "declare -A BASH_CMDS; BASH_CMDS=([ls]=/bin/rm)",
    ],
)
def test_what_is_evaluated_twice_is_opaque(command):
    """In every place where bash does it, whichever way the text got there."""
    assert "opaque" in {finding.risk for finding in analyse(command).findings}


@pytest.mark.parametrize(
    "command",
    [
        "i=1; while [ $i -lt 5 ]; do i=$((i+1)); done",
        "n=$(wc -l < a.txt); echo $((n + 1))",
        "a=(1 2 3); for ((i=0; i<${#a[@]}; i++)); do echo ${a[i]}; done",
        "awk '{print $(NF-1)}' f; echo $((1+1))",
        "grep -c '`' README.md; [ $? -eq 0 ] && echo found",
        "x='costs $5'; echo $((2*3)) $x",
        "git commit -m 'use $(pwd) here'; echo $?",
        "read -r line < a.txt; echo ${line:0:3}",
        "unset FOO; echo ${BAR:-$((1))}",
        "x='$(date)'; echo \"$x\"",
        "re='^a+$'; [[ abc =~ $re ]]; echo $((1))",
    ],
)
def test_either_half_alone_is_everyday_shell(command):
    """Arithmetic, and quoted text, mean nothing bad by themselves."""
    assert "opaque" not in {finding.risk for finding in analyse(command).findings}
