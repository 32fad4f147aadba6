"""An image that does all it can to run something of its own with the tool server's powers."""

import base64
import gzip

import pytest

from orchestrator.engine.archives import still_container
from orchestrator.engine.labels import owner_label
from tests.support.boxes import Stage
from tests.support.images import gloved, imported_image, leftovers

pytestmark = pytest.mark.docker

EVIL_LIBRARY = r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void take(void) {
    char name[64];
    snprintf(name, sizeof name, "/dev/shm/loaded-by-%d", getuid());
    close(open(name, O_CREAT | O_WRONLY, 0666));
}
"""
EVIL_SCRIPT = b'#!/opt/glovebox/bash\n: > "/dev/shm/ran-${0##*/}-$UID"\n'
SETTINGS = [
    'ENTRYPOINT ["/bin/bash"]',
    "ENV LD_PRELOAD=/evil.so",
    "ENV LD_AUDIT=/evil.so",
    "ENV BASH_ENV=/bin/bash",
    "ENV ENV=/bin/bash",
    "ENV PYTHONPATH=/evil",
    "ENV PATH=/evil:/bin",
    "ENV JAVA_HOME=/usr/lib/java",
    "USER nobody",
    "VOLUME /data",
    "VOLUME /opt/glovebox",
    "WORKDIR /evil",
    "HEALTHCHECK --interval=1s CMD /bin/bash",
    "ONBUILD RUN /bin/bash",
    "LABEL glovebox.owner=nobody",
    "LABEL glovebox.session=other",
]


@pytest.fixture(scope="module")
def evil_library(stage):
    """A library that leaves a mark with the uid that loaded it."""

    async def scene(scene):
        done = await scene.python(f"open('e.c', 'w').write({EVIL_LIBRARY!r})")
        assert done.error is None
        build = "gcc -shared -fPIC -s -o e.so e.c && gzip -9c e.so | base64 -w0"
        return await scene.output(build)

    return gzip.decompress(base64.b64decode(stage.play(scene)))


@pytest.fixture(scope="module")
def parts(engine, sandbox_image):
    """Real programs of a real system: a dynamic cat with its loader and library, a static shell."""
    labels = {"glovebox.session": "test", "glovebox.owner": owner_label()}
    paths = {
        "cat": "/usr/bin/cat",
        "loader": "/lib64/ld-linux-x86-64.so.2",
        "libc": "/lib/x86_64-linux-gnu/libc.so.6",
        "shell": "/opt/glovebox/bash",
    }
    with still_container(engine, sandbox_image, name="glovebox-test-parts", labels=labels) as still:
        found = {name: still.file(path, most=8 * 1024**2) for name, path in paths.items()}
    assert all(found.values()), {name: len(data) for name, data in found.items()}
    return found


@pytest.fixture(scope="module")
def hostile(engine, sandbox_image, evil_library, parts):
    """The layer of the whole hostile image, and what made it."""
    entries = {
        "bin": None,
        "bin/bash": EVIL_SCRIPT,
        "bin/sh": EVIL_SCRIPT,
        "bin/rg": EVIL_SCRIPT,
        "bin/cat": parts["cat"],
        "bin/rootshell": parts["shell"],
        "data": None,
        "data/kept": b"of the image",
        "etc": None,
        "etc/passwd": b"root::0:0::/:/bin/sh\nagent:x:0:0::/evil:/bin/bash\nboss:x:1000:1::/:\n",
        "etc/group": "/etc/elsewhere",
        "etc/elsewhere": b"root:x:0:\n",
        "etc/ld.so.preload": b"/evil.so\n",
        "evil.so": evil_library,
        "glove": "/tmp",
        "home": "/workspace",
        "lib64": None,
        "lib64/ld-linux-x86-64.so.2": parts["loader"],
        "lib": None,
        "lib/x86_64-linux-gnu": None,
        "lib/x86_64-linux-gnu/libc.so.6": parts["libc"],
        "opt": "/workspace",
        "usr": None,
        "usr/bin": None,
        "usr/bin/python3": EVIL_SCRIPT,
        "workspace": None,
        "workspace/glovebox": None,
    }
    with (
        imported_image(engine, entries, changes=SETTINGS, mode=0o4755) as image,
        gloved(engine, image, runtime=sandbox_image) as layer,
    ):
        yield layer
    assert leftovers(engine, owner_label()) == []


@pytest.fixture(scope="module")
def hostile_stage(engine, hostile, runtime_directory):
    return Stage(engine, hostile, runtime_directory)


def test_nothing_of_the_image_runs_with_the_box(hostile_stage):
    """Not at the start, not in a search, not in a call; the marks are real, as a command shows."""

    async def scene(scene):
        async def marks():
            return await scene.output("cd /dev/shm && for f in *; do echo $f; done")

        before = await marks()
        await scene.output("cat /etc/ld.so.preload")
        await scene.output("/usr/bin/python3")
        return before, await marks()

    before, after = hostile_stage.play(scene)

    assert before == "*\n"
    assert after.split() == ["loaded-by-1000", "ran-python3-1000"]


def test_set_user_id_programs_of_the_image_are_inert(hostile_stage):
    """The engine and the kernel ignore the bit; a shell of root's stays the user's."""
    command = "echo $(</proc/self/mountinfo) >/dev/null; /bin/rootshell -p -c 'echo $UID $EUID'"

    assert hostile_stage.output(command) == "1000 1000\n"


def test_commands_have_a_name_and_the_wanted_variables(hostile_stage):
    """Places of the image's own are there, its hooks are not, and the user is ours."""
    hooks = "${LD_PRELOAD-} ${LD_AUDIT-} ${BASH_ENV-} ${ENV-}"
    command = f'echo "$JAVA_HOME $PATH $HOME{hooks}"; echo "$(</etc/passwd)"; echo "$(</etc/group)"'

    assert hostile_stage.output(command).splitlines() == [
        "/usr/lib/java /evil:/bin /home/agent   ",
        "root::0:0::/:/bin/sh",
        "agent:x:1000:1000:agent:/home/agent:/opt/glovebox/bash",
        "boss:x:1000:1::/:",
        "root:x:0:",
        "agent:x:1000:",
    ]


def test_volumes_of_the_image_are_plain_files_again(hostile_stage):
    """No directory outside of the limits, and what the image had there is there."""
    script = "echo $(</data/kept); : 2>/dev/null > /data/new || echo closed"

    assert hostile_stage.output(script) == "of the image\nclosed\n"


def test_box_keeps_its_own_settings(hostile_stage):
    """Health check, user, entry point and labels are those of the box."""

    async def scene(scene):
        return scene.container(), scene.spec.session

    found, session = hostile_stage.play(scene)
    config = found["Config"]

    assert config["Healthcheck"] == {"Test": ["NONE"]}
    assert config["User"] == "0:0"
    assert config["Entrypoint"][0] == "/opt/glovebox/runtime/ld.so"
    assert config["StopSignal"] == "SIGKILL"
    assert config["Labels"]["glovebox.session"] == session
    assert config["Labels"]["glovebox.owner"] == owner_label()
    assert not config.get("Volumes")
    assert not [mount for mount in found["Mounts"] if mount["Type"] == "volume"]
    assert [entry for entry in config["Env"] if "=" in entry] == [
        "HOME=/",
        "LC_ALL=C",
        "PATH=/opt/glovebox",
    ]


def test_file_of_the_image_among_the_servers_does_not_stay(
    engine, sandbox_image, runtime_directory
):
    """Python would import it before its own module of that name."""
    planted = {
        "opt": None,
        "opt/glovebox": None,
        "opt/glovebox/toolserver": None,
        "opt/glovebox/toolserver/json.py": b"raise SystemExit\n",
        "opt/glovebox/runtime": "/evil",
        "glove": None,
        "glove/s": None,
        "glove/s/glove": b"not a socket",
    }
    with (
        imported_image(engine, planted) as image,
        gloved(engine, image, runtime=sandbox_image) as layer,
    ):
        found = Stage(engine, layer, runtime_directory).output(
            "cd /opt/glovebox; echo toolserver/json.py* toolserver/__main__.py; echo /glove/*"
        )

    assert found == "toolserver/json.py* toolserver/__main__.py\n/glove/*\n"
