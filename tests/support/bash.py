"""Real bash as a judge of what a command line runs."""

import subprocess

# Every unknown command lands in the handler, which prints its arguments; there is no PATH, and the
# restricted shell neither writes files nor runs anything by path.
RECORDER = r"""
command_not_found_handle() {
    local s=$'\001' a; for a; do s+="$a"$'\002'; done; printf %s "$s" >&9
}
exec 9>&1 >/dev/null
set -r
c=$1; set --
eval "$c"
"""


def run_in_bash(command, folder):
    """Return the argument lists bash ran, or None when it took too long."""
    try:
        done = subprocess.run(
            ["/bin/bash", "--norc", "--noprofile", "-c", RECORDER, "bash", command],
            env={"PATH": "/nonexistent", "HOME": "/home/agent"},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    text = done.stdout.decode("utf-8", "replace")
    return [part.split("\x02")[:-1] for part in text.split("\x01")[1:]]
