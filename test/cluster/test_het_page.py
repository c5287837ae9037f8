"""The commands of docs/heterogeneous-jobs.md print what the page says."""
import os
import re

import pytest

from harness import REPO, until

PAGE = os.path.join(REPO, "docs", "heterogeneous-jobs.md")


def sessions():
    """(command, expected lines) of each $ line, in order."""
    text = open(PAGE).read()
    out = []
    for block in re.findall(r"```\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, expected = part.partition("\n")
            out.append((command, expected.splitlines()))
    return out


@pytest.mark.better_than_slurm
def test_the_page(make_cluster):
    cluster = make_cluster()
    for command, expected in sessions():
        seen = []

        def same():
            seen[:] = [cluster.sh(command, timeout=60)]
            return seen[0].out.splitlines() == expected
        if command.startswith(("squeue", "scontrol show")):
            until(lambda: "%s to print %s, not %s" % (command, expected, seen), same)     # the job starts, or ends, meanwhile
        else:
            assert same(), (command, expected, seen)
