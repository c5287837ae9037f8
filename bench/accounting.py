#!/usr/bin/python3
"""Measures accounting with many jobs recorded, through commands and real daemons, and prints a markdown table.

  bench/accounting.py                          1,000,000 jobs in SQLite, build/dev
  bench/accounting.py --mariadb                the same in a MariaDB server of its own
  bench/accounting.py --jobs 20000 --runs 3    fewer, quicker
  bench/accounting.py --slurm                  then the same records in Debian's slurm-wlm (tools/install-packages --oracle)

The jobs are of 500 users in 50 accounts, of the last 90 days, ended, with two steps each. They are written by
muster-bench-records (cmake --build BUILD --target muster-bench-records muster-bench-submit), then rolled up by it, before
slurmdbd and slurmctld start. Commands are timed from their start to their end, with daemons and commands on the cores of
this machine. Only processes that it started are ended, by process id, and what it wrote is removed. Needs python3-pytest,
whose tests know how such daemons are started (test/cluster).
"""
import argparse
import datetime
import importlib.util
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DRIVERS = ("muster-bench-records", "muster-bench-submit")
CLUSTER = "test"
USERS, ACCOUNTS = 500, 50   # as src/slurmdbd/daemon/bench_records.h has them
USER = "nobody"             # the uid of one of them: sacct knows users of this host alone


def say(*words):
    print("[%s]" % time.strftime("%H:%M:%S"), *words, file=sys.stderr, flush=True)


# ---- figures

class Times:
    """Of several runs of one command, in ms."""

    def __init__(self, seconds):
        self.best, self.median = 1000 * min(seconds), 1000 * statistics.median(seconds)

    def __str__(self):
        return "%.3g, %.3g ms" % (self.best, self.median)


def most_memory(pid):
    """Bytes; 0 once the process has ended."""
    try:
        with open("/proc/%d/status" % pid) as f:
            found = re.search(r"VmHWM:\s+(\d+)", f.read())
    except OSError:
        return 0
    return int(found.group(1)) * 1024 if found else 0


def forget_most_memory(pid):
    with open("/proc/%d/clear_refs" % pid, "w") as f:
        f.write("5")


class Table:
    def __init__(self):
        self.rows = []

    def add(self, what, figure, aim="–", reached=None):
        self.rows.append((what, figure, aim, "–" if reached is None else "yes" if reached else "no"))
        say("  %s: %s" % (what, figure))

    def markdown(self):
        lines = ["| what | figure | aim | reached |", "|---|---|---|---|"]
        return "\n".join(lines + ["| %s |" % " | ".join(row) for row in self.rows])


# ---- the site under measurement

def databases_of_tests():
    """test/cluster/accounting.py, which has the name of this program."""
    spec = importlib.util.spec_from_file_location("databases", os.path.join(ROOT, "test", "cluster", "accounting.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Site:
    def __init__(self, options):
        import harness
        databases = databases_of_tests()
        self.harness, self.options = harness, options
        self.until = int(time.time())
        folder = tempfile.mkdtemp(prefix="mba-", dir=options.directory)
        os.chmod(folder, 0o755)
        self.cluster = harness.Cluster(folder, nodes=4, gpus=8, cpus=64, memory=256000,
                                       conf="MaxJobCount=2000000\nSlurmctldDebug=error\nMessageTimeout=60")
        self.database, self.running = None, []
        try:
            self.database = (databases.OnMariaDb if options.mariadb else databases.Database)(self.cluster)
        except BaseException:
            self.close()
            raise

    def close(self):
        for process in self.running:
            self.harness.end_process(process)
        self.cluster.stop()
        if self.database:
            self.database.stop()
        self.harness.remove(self.cluster.folder)

    def driver(self, name):
        path = os.path.join(self.harness.prefix(), "bench", name)
        if not os.access(path, os.X_OK):
            raise SystemExit("bench: %s is not built: cmake --build BUILD --target %s" % (path, " ".join(DRIVERS)))
        return path

    def place(self):
        """Where the records are, for muster-bench-records."""
        return "maria:" + self.database.server.socket if self.options.mariadb else "sqlite:" + self.database.file

    def records(self, verb, place, *words):
        """What it printed; its progress goes to our stderr."""
        command = [self.driver("muster-bench-records"), verb, place, CLUSTER, *map(str, words), str(self.until)]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    def start(self):
        self.database.start()
        self.cluster.start_ctld()
        self.cluster.wait_ctld(120)
        self.load_accounts()

    def load_accounts(self):
        self.harness.until("slurmdbd to know the cluster", lambda: CLUSTER in self.cluster.run(
            "sacctmgr", "-n", "show", "cluster", "format=cluster").out, 120)
        lines = ["Cluster - '%s'" % CLUSTER, "Parent - 'root'"]
        lines += ["Account - 'lab%d':Description='a lab':Organization='site'" % i for i in range(ACCOUNTS)]
        for account in range(ACCOUNTS):
            lines.append("Parent - 'lab%d'" % account)
            lines += ["User - 'user%d'" % user for user in range(account, USERS, ACCOUNTS)]
        self.cluster.ok("sacctmgr", "-i", "load", "file=" + self.cluster.file("accounts", "\n".join(lines) + "\n"), timeout=120)

    def times(self, *command, runs=None):
        return Times([self.cluster.ok(*command, timeout=300).seconds for _ in range(runs or self.options.runs)])

    def streamed(self, *command):
        """Seconds, bytes printed, most memory of the command and of slurmdbd meanwhile."""
        dbd = self.database.process.pid
        forget_most_memory(dbd)
        began = time.monotonic()
        process = subprocess.Popen(command, env=self.cluster.env, cwd=self.cluster.work, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE)
        self.running.append(process)
        count, memory, looked = 0, 0, began
        with process.stdout as out:
            while part := os.read(out.fileno(), 1 << 20):
                count += len(part)
                if (now := time.monotonic()) - looked > 0.1 or not memory:
                    memory, looked = max(memory, most_memory(process.pid)), now
        if process.wait(60):
            raise AssertionError("%s ended with status %d" % (" ".join(command), process.returncode))
        return time.monotonic() - began, count, memory, most_memory(dbd)

    def submissions(self):
        """Durable ones a second, of jobs that stay held."""
        socket = os.path.join(self.cluster.folder, "run", "slurmctld.%d.sock" % self.cluster.port)
        out = subprocess.run([self.driver("muster-bench-submit"), socket, str(self.options.submissions), "256", "2"],
                             capture_output=True, text=True, timeout=300)
        found = re.search(r"([0-9.]+) durable submissions/s", out.stdout)
        if out.returncode or not found:
            raise AssertionError("muster-bench-submit: " + (out.stdout + out.stderr)[:300])
        return float(found.group(1))

    def dbd_socket(self):
        return os.path.join(self.cluster.folder, "run", "slurmdbd.%d.sock" % self.database.port)


def rate(text):
    return float(re.search(r"([0-9.]+) records/s", text).group(1))


# ---- measurements

def last_month():
    """Its first day and the first day after it."""
    end = datetime.date.today().replace(day=1)
    return (end - datetime.timedelta(days=1)).replace(day=1), end


def bytes_by_table(site):
    """{table: bytes with its indexes}"""
    if site.options.mariadb:
        rows = site.database.server.ask("ANALYZE TABLE slurm_acct_db.muster_jobs, slurm_acct_db.muster_steps, slurm_acct_db.muster_usage;"
                                        "SELECT table_name, data_length + index_length FROM information_schema.tables "
                                        "WHERE table_schema = 'slurm_acct_db'")
        return {name: int(size) for name, size in re.findall(r"^(muster_\w+)\t(\d+)$", rows, re.M)}
    db = sqlite3.connect(site.database.file)
    try:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        of = dict(db.execute("SELECT name, tbl_name FROM sqlite_master"))
        sizes = {}
        for name, size in db.execute("SELECT name, SUM(pgsize) FROM dbstat GROUP BY name"):
            table = of.get(name, name)
            sizes[table] = sizes.get(table, 0) + size
        return sizes
    finally:
        db.close()


def fill(site, table):
    jobs = site.options.jobs
    say("%d jobs are written" % jobs)
    stored = rate(site.records("store", site.place(), jobs))
    asked = 5000 if site.options.mariadb else 10000
    table.add("records/s written by Storage, a job and its steps are three, a sync every 6,000", "%.0f" % stored, "≥ %d" % asked, stored >= asked)
    say("they are rolled up")
    took = float(re.search(r"in ([0-9.]+) s", site.records("roll", site.place())).group(1))
    table.add("90 days rolled up by Storage; a month is a third of it", "%.1f s" % took, "< 60 s a month", took / 3 < 60)
    sizes = bytes_by_table(site)
    add_sizes(table, sizes, "muster_jobs", "muster_steps", jobs)


def add_sizes(table, sizes, jobs, steps, count):
    job, step = int(sizes.get(jobs, 0)) / count, int(sizes.get(steps, 0)) / count
    table.add("bytes on disk for a job / for its two steps, with indexes", "%.0f / %.0f" % (job, step), "< 600", job + step < 600)


def commands(site, table):
    one = str(site.options.jobs // 2)
    week = ["sacct", "-a", "-u", USER, "-S", "now-7days"]
    found = len(site.cluster.ok(*week, "-n", "-X", timeout=300).lines)
    took = site.times(*week)
    table.add("`sacct` of one user's last week (%d jobs)" % found, str(took), "< 100 ms", took.median < 100)
    took = site.times("sacct", "-j", one)
    table.add("`sacct -j` of one job", str(took), "< 5 ms", took.median < 5)
    first, end = last_month()
    took = site.times("sreport", "cluster", "AccountUtilizationByUser", "start=%s" % first, "end=%s" % end)
    table.add("`sreport cluster AccountUtilizationByUser` of a month", str(took), "< 50 ms", took.median < 50)


def as_json(site, table):
    say("all of them as JSON")
    seconds, count, memory, dbd = site.streamed("sacct", "-a", "-S", "2000-01-01", "--json")
    speed = count / seconds / 1e6
    table.add("all as `sacct --json`, with steps: %.2f GB in %.1f s" % (count / 1e9, seconds), "%.0f MB/s" % speed, "> 200 MB/s", speed > 200)
    table.add("most memory of that `sacct` / of slurmdbd", "%.0f / %.0f MB" % (memory / 1e6, dbd / 1e6), "constant")


def uploads(site, table):
    sent = max(1000, site.options.jobs // 10)
    say("%d more jobs are sent to slurmdbd" % sent)
    through = rate(site.records("send", site.dbd_socket(), sent))
    asked = 5000 if site.options.mariadb else 10000
    table.add("records/s sustained into slurmdbd over its socket, 1,000 in a message", "%.0f" % through, "≥ %d" % asked, through >= asked)
    if not site.options.submissions:
        return
    for pace in (asked, None):
        beside(site, table, pace)


def beside(site, table, pace):
    """Submissions while records are sent, `pace` a second; None: as fast as slurmdbd takes them."""
    alone, beside = [], []
    for i in range(3):
        alone.append(site.submissions())
        command = [site.driver("muster-bench-records"), "send", site.dbd_socket(), "other%d%s" % (i, pace or ""), "10000000", str(site.until)]
        command += [str(pace)] if pace else []
        sender = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        site.running.append(sender)
        beside.append(site.submissions())
        if sender.poll() is not None:
            raise AssertionError("muster-bench-records send has ended with status %s" % sender.returncode)
        site.harness.end_process(sender)
    alone, beside = statistics.median(alone), statistics.median(beside)
    table.add("submissions/s to slurmctld alone / while %s are sent to slurmdbd on the same cores" %
              ("%d records/s" % pace if pace else "as many records as it takes"), "%.0f / %.0f" % (alone, beside), "within 5 %", beside > 0.95 * alone)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000000, metavar="N", help="jobs recorded (1,000,000)")
    parser.add_argument("--mariadb", action="store_true", help="in MariaDB; otherwise in SQLite")
    parser.add_argument("--slurm", action="store_true", help="afterwards the same records and commands with Debian's Slurm")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="of each command; best and median are told (10)")
    parser.add_argument("--submissions", type=int, default=10000, metavar="N", help="jobs submitted in each measurement of that (10,000); 0: it is left out")
    parser.add_argument("--directory", default="/tmp", help="where the records are meanwhile: 2 GB for a million jobs; a short path (/tmp)")
    parser.add_argument("--prefix", default="build/dev", help="the build to measure (build/dev)")
    options = parser.parse_args()
    if not 100 <= options.jobs <= 10**7 or options.runs < 1 or options.submissions < 0:
        parser.error("--jobs is 100 to 10,000,000, --runs is 1 or more, --submissions 0 or more")
    os.environ["MUSTER_PREFIX"] = os.path.abspath(options.prefix)
    options.load = os.getloadavg()[0]
    sys.path.insert(0, os.path.join(ROOT, "test", "cluster"))
    return options


def tell(options, table, where):
    print("%d jobs in %s, %s, load %.1f at the start and %.1f at the end; times are best, median of %d\n" % (
        options.jobs, where, time.strftime("%Y-%m-%d %H:%M"), options.load, os.getloadavg()[0], options.runs))
    print(table.markdown(), flush=True)


def main():
    options = arguments()
    table, site = Table(), Site(options)
    try:
        fill(site, table)
        site.start()
        commands(site, table)
        as_json(site, table)
        uploads(site, table)
    finally:
        site.close()
    tell(options, table, "MariaDB" if options.mariadb else "SQLite")
    if options.slurm:
        print(flush=True)
        beside = [os.path.join(ROOT, "bench", "accounting_slurm.py"), "--jobs", str(options.jobs), "--runs", str(options.runs),
                  "--directory", options.directory, "--prefix", "/usr"]
        subprocess.run(beside, env={**os.environ, "MUSTER_ORACLE": "1"}, check=True)


if __name__ == "__main__":
    main()
