"""The machine is the one that the other tests here are about, and what os/node does with its control groups."""
import os

import guest


def test_systemd_and_the_unified_hierarchy():
    with open("/proc/1/comm") as f:
        assert f.read() == "systemd\n"
    with open("/proc/1/cgroup") as f:
        assert f.read() == "0::/init.scope\n"
    assert os.path.exists("/sys/fs/cgroup/cgroup.controllers")


def test_the_unit_tests_of_version_2():
    program = os.path.join(guest.REPO, "build/dev/src/os/node/os_node_test")
    done = guest.run(program, "--gtest_filter=*/v2", user="root", timeout=60)
    assert done.code == 0 and "[  PASSED  ] " in done.out and "SKIPPED" not in done.out, done.out + done.err
