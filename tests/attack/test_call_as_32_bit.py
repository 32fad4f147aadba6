"""A command enters the kernel as a 32-bit program, where numbers mean other calls."""

import pytest

pytestmark = pytest.mark.docker

SOURCE = r"""
cat > /tmp/old.c <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void) {
    long result;
    puts("about to call"); fflush(stdout);
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
    printf("getpid answered %ld\n", result);
    return 0;
}
C
cat > /tmp/x32.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>
int main(void) {
    puts("about to call"); fflush(stdout);
    printf("getpid answered %ld\n", syscall(0x40000000 | SYS_getpid));
    return 0;
}
C
gcc -o /tmp/old /tmp/old.c && gcc -o /tmp/x32 /tmp/x32.c && echo compiled
"""


@pytest.mark.parametrize("program", ["old", "x32"])
def test_other_entry_points_are_closed(stage, program):
    """Through socketcall a 32-bit program would open sockets that no filter can see."""

    async def scene(scene):
        assert await scene.output(SOURCE) == "compiled\n"
        return await scene.run(f"/tmp/{program}")

    outcome = stage.play(scene)
    print("tried inside:", outcome.data["head"], outcome.data["exit_code"], outcome.data["signal"])

    assert outcome.data["head"].startswith("about to call\n")
    killed = outcome.data["signal"] == 31 or outcome.data["exit_code"] == 128 + 31
    refused = outcome.data["head"].splitlines()[1:] == ["getpid answered -1"]
    assert killed or refused
