"""bench/accounting.py with few jobs: it fills a database, starts daemons, asks all of its questions and leaves nothing behind.
How long they take is no matter here."""
import os
import re
import subprocess

import pytest

import harness
from accounting import MariaDb

BENCH = os.path.join(harness.REPO, "bench", "accounting.py")


def measured(*options):
    """The table as {what: figure}, and the bench's own words."""
    done = subprocess.run([BENCH, "--jobs", "2000", "--runs", "2", "--submissions", "0", "--prefix", harness.prefix(), *options],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    return {row[0]: row[1] for row in rows[1:]}, done


@pytest.mark.better_than_slurm
@pytest.mark.parametrize("kind", [
    pytest.param([], id="sqlite"),
    pytest.param(["--mariadb"], id="mariadb", marks=pytest.mark.skipif(not os.path.exists(MariaDb.PROGRAM), reason="no mariadb-server-core"))])
def test_few_jobs_are_measured(kind):
    folder = "/tmp/mbt-%d" % os.getpid()
    os.makedirs(folder, mode=0o755)
    try:
        figures, done = measured("--directory", folder, *kind)
        assert os.listdir(folder) == []
    finally:
        harness.remove(folder)
    assert done.stdout.startswith("2000 jobs in " + ("MariaDB" if kind else "SQLite"))
    assert any(what.startswith("`sacct` of one user's last week") for what in figures), figures
    disk = next(figure for what, figure in figures.items() if what.startswith("bytes on disk"))
    assert all(int(n) > 100 for n in disk.split(" / ")), disk
    printed = next(what for what in figures if "`sacct --json`" in what)
    assert float(re.search(r"([0-9.]+) GB", printed).group(1)) >= 0.002, printed     # 1,000 bytes a job at the least


def test_too_few_jobs_are_refused():
    done = subprocess.run([BENCH, "--jobs", "99"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and "--jobs is 100 to 10,000,000" in done.stderr, done.stderr
