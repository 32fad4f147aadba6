"""Whatever a risky command is rewritten to is seen; dangerous words that are data are not."""

import random

import pytest

from tests.property import harmless, risky
from tests.property.spelling import rewrite
from tests.support.bash import run_in_bash
from tests.support.shipped import judge

REWRITES = 10_000
SHARDS = 10
HARMLESS = 2_000
MOST_ASKED = 0.005


@pytest.mark.parametrize("seed", range(SHARDS))
def test_no_rewrite_of_a_risky_command_is_allowed(seed, default):
    """Quoting, variables, wrappers, nesting and encodings hide nothing."""
    chance = random.Random(f"risky {seed}")
    commands = [risky.generate(chance) for _ in range(REWRITES // SHARDS)]
    allowed = [command for command in commands if judge(default, command).effect == "allow"]

    assert len(set(commands)) > 0.9 * len(commands)
    assert allowed == []


def test_dangerous_words_that_are_data_are_seldom_asked_about(default):
    """A person who is asked about words in a message stops reading questions."""
    chance = random.Random("harmless")
    commands = [harmless.generate(chance) for _ in range(HARMLESS)]
    asked = [command for command in commands if judge(default, command).effect != "allow"]

    assert len(set(commands)) > 0.6 * HARMLESS
    assert len(asked) <= MOST_ASKED * HARMLESS, asked


def test_every_layer_keeps_what_is_harmless_harmless(default):
    """The rewrites are found by what they run: around ``echo`` most of the spellings are allowed."""
    chance = random.Random("echo")
    commands = []
    for _ in range(1_000):
        before, command = rewrite(["echo", "a", "-n"], chance)
        commands.append(f"{before}\n{command}")
    asked = [command for command in commands if judge(default, command).effect != "allow"]

    assert len(asked) < 0.05 * len(commands), asked[:20]


def test_a_rewrite_runs_what_it_rewrites(tmp_path):
    """The generator is honest: bash runs the very words it began with."""
    chance = random.Random("bash")
    strayed = []
    for _ in range(250):
        argv = chance.choice(risky.COMMANDS).split()
        argv[0] = f"zz-{argv[0]}"
        before, command = rewrite(argv, chance)
        ran = run_in_bash(f"{before}\n{command}", tmp_path)
        if ran is None or argv not in ran:
            strayed.append((command, ran))

    assert strayed == []
