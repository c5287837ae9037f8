"""The commands of docs/reservations.md, run as they stand there."""
import os
import shlex

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "reservations.md")


def commands():
    with open(PAGE) as page:
        return [line.strip() for line in page if line.startswith("    ") and line.strip()]


def test_the_commands_of_the_page(make_cluster):
    cluster = make_cluster(nodes=4, gpus=0, cpus=4)
    lines = commands()
    assert len(lines) >= 8
    for line in lines:
        cluster.ok(*shlex.split(line))
    assert "course" in cluster.ok("sinfo", "-T").out and "upgrade" not in cluster.ok("sinfo", "-T").out
