import json

import pytest
from cgroup import STALE_SECONDS, Counter

from tests.support.boxes import LIMITS


def test_counter_is_read_rarely_unless_it_matters():
    """The recent count may be old; the current one never is."""
    reads = []

    def read():
        reads.append(1)
        return len(reads)

    counter = Counter(read)

    assert [counter.recent() for _ in range(5)] == [1] * 5
    assert counter.current() == 2
    assert counter.recent() == 2
    assert STALE_SECONDS < 0.2


@pytest.mark.docker
def test_limits_of_a_real_box_are_found(stage):
    """Inside, the kernel tells what the engine was asked for, under either cgroup version."""
    source = """
import json, cgroup
print(json.dumps([cgroup.pids_limit(), cgroup.memory_limit(), cgroup.is_crowded(),
                  cgroup.oom_kills(), cgroup.failed_forks(), cgroup.cpu_limit()]))
"""
    found = json.loads(stage.play(lambda scene: scene.as_server(source)))

    assert found == [LIMITS.pids, LIMITS.memory, False, 0, 0, LIMITS.cpus]
