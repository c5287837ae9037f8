#!/usr/bin/python3
"""Measures a workload manager through its commands alone, and puts two of them side by side.

  bench/bench.py                                     build/release, every measurement
  bench/bench.py --against /usr                      beside Debian's slurm-wlm 22.05 (tools/install-packages --oracle)
  bench/bench.py --only submit,steps --deep 2000     some of them, with a shallower queue
  bench/bench.py --load a.json b.json                the table again, from saved results

Measurements: start submit throughput wait launch steps queries cancel restart crash placement (placement.py), and
with the programs of bench/drivers kept large differ hollow busy (at_scale.py; Muster alone). Each runs on a private cluster of four
nodes on loopback (test/cluster/harness.py) whose daemons share this machine's cores with the clients, so ratios of one
run count, not figures of different machines. Only processes that it started are ended, by process id. Every loop is
bounded. Results go to build/bench/*.json, a picture to docs/performance.svg with --svg.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# key, what, unit, whether more is better, how many times better is asked for (None: no ratio is)
ROWS = [
    ("crash.lost", "acknowledged jobs lost by kill -9 under load", "%", False, None),
    ("crash.reused", "job ids given twice after it", "", False, None),
    ("start.squeue", "squeue, empty queue", "ms", False, 2),
    ("start.sinfo", "sinfo, empty queue", "ms", False, 2),
    ("start.show_job", "scontrol show job of the only job", "ms", False, 2),
    ("submit.one", "sbatch, one client", "/s", True, 2),
    ("submit.eight", "sbatch, eight clients", "/s", True, 2),
    ("submit.cpu", "controller CPU for a submission", "ms", False, None),
    ("throughput.separate", "no-op batch jobs end to end, separate", "/s", True, 5),
    ("throughput.array", "no-op batch jobs end to end, array", "/s", True, 5),
    ("wait.noop", "sbatch --wait of a no-op", "ms", False, 20),
    ("launch.hostname", "srun -N1 hostname", "ms", False, 2),
    ("launch.n16", "srun -N4 -n16 true", "ms", False, 5),
    ("launch.n64", "srun -N4 -n64 true", "ms", False, 4),
    ("launch.salloc", "salloc true", "ms", False, 1),
    ("steps.serial", "steps inside a job, one after the other", "/s", True, 5),
    ("steps.parallel", "steps inside a job, eight at a time", "/s", True, 5),
    ("queries.squeue", "squeue, deep queue", "ms", False, 4),
    ("queries.squeue_none", "squeue -t R that matches nothing", "ms", False, None),
    ("queries.squeue_json", "squeue --json", "ms", False, None),
    ("queries.show_jobs", "scontrol show jobs", "ms", False, 4),
    ("queries.show_job", "scontrol show job ID", "ms", False, 1),
    ("queries.sinfo", "sinfo", "ms", False, 1),
    ("queries.bytes", "controller memory for a pending job", "B", False, None),
    ("restart.answer", "restart until the first answer, deep queue", "ms", False, None),
    ("cancel.all", "scancel of all of the deep queue", "ms", False, None),
    ("placement.single", "jobs of one CPU placed, 100,000 pending, 10,000 nodes", "/s", True, None),
    ("placement.gpus", "jobs of 8 h100 placed, 100,000 pending, 10,000 nodes", "/s", True, None),
    ("placement.tree", "gangs of 64 nodes in a tree placed, 10,000 nodes", "/s", True, None),
    ("placement.block", "gangs of 64 nodes in blocks placed, 10,000 nodes", "/s", True, None),
    ("placement.single_cycle", "longest scheduling cycle, jobs of one CPU", "ms", False, None),
    ("placement.gpus_cycle", "longest scheduling cycle, jobs of 8 h100", "ms", False, None),
    ("placement.gpus_backfill", "longest backfill cycle, jobs of 8 h100", "ms", False, None),
    ("placement.tree_cycle", "longest scheduling cycle, gangs in a tree", "ms", False, None),
    ("kept.rate", "durable submissions over kept connections", "/s", True, None),
    *[(queue + key, what + words, unit, False, None) for queue, words in
      (("large.", ", large queue of equal jobs"), ("differ.", ", large queue of jobs that differ")) for key, what, unit in (
          ("squeue", "squeue", "ms"),
          ("squeue_none", "squeue -t R that matches nothing", "ms"),
          ("squeue_json", "squeue --json", "ms"),
          ("json_memory", "most memory of that squeue --json", "MiB"),
          ("show_jobs", "scontrol show jobs", "ms"),
          ("bytes", "controller memory for a pending job", "B"),
          ("restart", "kill -9 and restart until the first answer", "ms"),
          ("cancel", "scancel of all", "ms"))],
    ("hollow.register", "10,000 nodes connect and register", "ms", False, None),
    ("hollow.configured", "10,000 nodes without slurm.conf get a changed one", "ms", False, None),
    ("hollow.jobs", "jobs submitted, placed and ended on 10,000 nodes", "/s", True, None),
    ("hollow.sbatch", "sbatch, one client, with 10,000 nodes connected", "/s", True, None),
    ("hollow.sinfo", "sinfo with 10,000 nodes", "ms", False, None),
    ("hollow.used", "CPUs in use 5 s after 9,000 mixed jobs became eligible on 10,000 nodes", "%", True, None),
    ("hollow.squeue_worst", "slowest squeue in these 5 s", "ms", False, None),
    ("hollow.sbatch_then", "sbatch, one client, after that (a full cluster, a deep queue)", "/s", True, None),
    ("busy.idle", "submission over a kept connection, p99, 10,000 idle nodes", "ms", False, None),
    ("busy.planning", "the same, while full plans of 50,000 mixed jobs follow each other", "ms", False, None),
    ("busy.polled", "the same, while 100 clients ask each second as well", "ms", False, None),
]
# What DESIGN asks for as a figure, at 100,000 jobs and 10,000 nodes on the two cores of its reference machine. A quarter of
# Slurm's time there where it asks for four times.
BARS = {"queries.squeue_json": 200, "kept.rate": 20000, "large.squeue": 230, "large.squeue_none": 5, "large.squeue_json": 2000,
        "large.show_jobs": 465, "large.bytes": 1024, "large.restart": 500, "large.cancel": 1000, "hollow.used": 99}


def say(*words):
    print("[%s]" % time.strftime("%H:%M:%S"), *words, file=sys.stderr, flush=True)


# ---- one side, in a process of its own: harness.py is bound to one prefix


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) * 1024


def version(prefix):
    """Asked of slurmctld: Debian's commands print theirs only where there is a slurm.conf."""
    program = os.path.join(prefix, "sbin", "slurmctld")
    try:
        return subprocess.run([program, "-V"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit("bench: %s -V: %s: build first, or give --prefix" % (program, error))


class Side:
    """One cluster under measurement."""

    def __init__(self, harness, options):
        self.harness, self.options = harness, options
        folder = tempfile.mkdtemp(prefix="mb-")
        os.chmod(folder, 0o755)
        self.cluster = harness.Cluster(folder, nodes=4, gpus=0, cpus=64, memory=256000, conf="\n".join([
            "MaxJobCount=2000000", "MaxArraySize=200001", "MinJobAge=10", "SlurmctldDebug=error", "SlurmdDebug=error",
            "MessageTimeout=60"]))

    def close(self):
        self.cluster.stop()
        self.harness.remove(self.cluster.folder)

    def median_ms(self, *command, runs=None):
        times = []
        for _ in range(runs or self.options["runs"]):
            times.append(self.cluster.ok(*command, timeout=300).seconds)
        return 1000 * statistics.median(times)

    def printing_ms(self, *command, runs=None):
        """Of a command that prints much, to /dev/null: what reads a pipe would be measured, too."""
        return self.median_ms("bash", "-c", "exec %s > /dev/null" % " ".join(command), runs=runs)

    def each_ms(self, *command):
        """One of many in a row, as a shell starts them: what a command of a few milliseconds takes."""
        n = 10 * self.options["runs"]
        script = "for i in $(seq %d); do %s >/dev/null || exit 1; done" % (n, " ".join(command))
        return 1000 * self.cluster.ok("bash", "-c", script, timeout=300).seconds / n

    def submit(self, count, clients, arguments):
        """`clients` shells that call sbatch one after the other: seconds, ids."""
        each = count // clients
        script = "for i in $(seq %d); do sbatch --parsable %s; done" % (each, arguments)
        began = time.monotonic()
        running = [subprocess.Popen(["bash", "-c", script], env=self.cluster.env, cwd=self.cluster.work, text=True,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for _ in range(clients)]
        ids, errors = [], ""
        for process in running:
            out, err = process.communicate(timeout=900)
            ids += out.split()
            errors = errors or err
        if len(ids) < each * clients:
            say("  %d of %d submissions failed: %s" % (each * clients - len(ids), each * clients, errors[:200]))
        return time.monotonic() - began, ids

    def empty(self, limit=600):
        end = time.monotonic() + limit
        while self.cluster.queue("-o", "%i"):
            if time.monotonic() > end:
                raise AssertionError("the queue is not empty after %d s" % limit)
            time.sleep(0.01)


HELD = "--hold -o /dev/null --wrap true"


def measure_start(side):
    r = {"squeue": side.each_ms("squeue"), "sinfo": side.each_ms("sinfo")}
    job = side.cluster.sbatch("--hold", "-o", "/dev/null", "--wrap", "true")
    r["show_job"] = side.each_ms("scontrol", "show", "job", str(job))
    side.cluster.cancel_all(60)
    return r


def measure_submit(side):
    n = side.options["submissions"]
    pid = side.cluster.ctld.pid
    before = cpu_seconds(pid)
    one, first = side.submit(n, 1, HELD)
    cpu = cpu_seconds(pid) - before
    eight, second = side.submit(n, 8, HELD)
    side.cluster.cancel_all(300)
    return {"one": len(first) / one, "eight": len(second) / eight, "cpu": 1000 * cpu / max(1, len(first))}


def measure_throughput(side):
    n = side.options["jobs"]
    began = time.monotonic()
    side.submit(n, 8, "-n1 -o /dev/null --wrap true")
    side.empty()
    separate = n / (time.monotonic() - began)
    began = time.monotonic()
    side.cluster.sbatch("--array=1-%d" % n, "-n1", "-o", "/dev/null", "--wrap", "true")
    side.empty()
    return {"separate": separate, "array": n / (time.monotonic() - began)}


def measure_wait(side):
    return {"noop": side.median_ms("sbatch", "--wait", "-o", "/dev/null", "--wrap", "true", runs=5)}


def measure_launch(side):
    return {"hostname": side.median_ms("srun", "-N1", "hostname"), "n16": side.median_ms("srun", "-N4", "-n16", "true"),
            "n64": side.median_ms("srun", "-N4", "-n64", "true"), "salloc": side.median_ms("salloc", "-N1", "true")}


def measure_steps(side):
    n = side.options["steps"]
    serial = side.cluster.ok("salloc", "-n1", "bash", "-c", "date +%%s.%%N; for i in $(seq %d); do srun -n1 true; done; "
                             "date +%%s.%%N" % n, timeout=300).lines
    parallel = side.cluster.ok("salloc", "-n8", "bash", "-c", "date +%%s.%%N; seq %d | xargs -P8 -I_ srun --exact -n1 -c1 true; "
                               "date +%%s.%%N" % n, timeout=300).lines
    rate = [n / (float(lines[-1]) - float(lines[0])) for lines in (serial, parallel)]
    return {"serial": rate[0], "parallel": rate[1]}


def fill(side):
    """The deep queue: held separate jobs. Their number, and the controller's growth."""
    side.cluster.stop_ctld()        # a controller that has freed nothing yet, else growth hides in what it kept
    side.cluster.start_ctld()
    side.cluster.wait_ctld(60)
    before = resident_bytes(side.cluster.ctld.pid)
    _, ids = side.submit(side.options["deep"], 8, HELD)
    return ids, (resident_bytes(side.cluster.ctld.pid) - before) / max(1, len(ids))


def measure_queries(side):
    ids, growth = fill(side)
    r = {"bytes": growth, "jobs": len(ids)}
    r["squeue"] = side.printing_ms("squeue")
    r["squeue_none"] = side.median_ms("squeue", "-t", "R")
    r["squeue_json"] = side.printing_ms("squeue", "--json", runs=3)
    r["show_jobs"] = side.printing_ms("scontrol", "show", "jobs", runs=5)
    r["show_job"] = side.median_ms("scontrol", "show", "job", ids[len(ids) // 2])
    r["sinfo"] = side.median_ms("sinfo")
    return r


def measure_restart(side):
    if not side.cluster.queue("-o", "%i"):
        fill(side)
    side.cluster.kill_ctld()
    began = time.monotonic()
    side.cluster.start_ctld()
    side.cluster.wait_ctld(120)
    return {"answer": 1000 * (time.monotonic() - began)}


def measure_cancel(side):
    if not side.cluster.queue("-o", "%i"):
        fill(side)
    began = time.monotonic()
    side.cluster.ok("scancel", "-u", side.cluster.user, timeout=300)
    side.empty()
    return {"all": 1000 * (time.monotonic() - began)}


def measure_crash(side):
    """Acknowledged while the controller is killed after some seconds of load; looked for after the restart, by name too:
    an id that is given a second time hides a loss."""
    seconds = side.options["crash_seconds"]
    script = ("end=$(($(date +%%s) + %d)); i=0; while [ $(date +%%s) -lt $end ]; do i=$((i + 1)); "
              "id=$(timeout 10 sbatch --parsable -J c$0_$i %s) && echo $id=c$0_$i; done" % (seconds + 2, HELD))
    running = [subprocess.Popen(["bash", "-c", script, str(client)], env=side.cluster.env, cwd=side.cluster.work, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for client in range(4)]
    time.sleep(seconds)             # the load itself: how long it lasts is what is measured against
    side.cluster.kill_ctld()
    side.cluster.start_ctld()
    side.cluster.wait_ctld(60)
    jobs = [one for process in running for one in process.communicate(timeout=120)[0].split()]
    there = set(side.cluster.queue("-o", "%i=%j"))
    side.cluster.cancel_all(300)
    ids = [job.split("=")[0] for job in jobs]
    return {"lost": 100.0 * len([job for job in jobs if job not in there]) / max(1, len(jobs)),
            "reused": len(ids) - len(set(ids)), "acknowledged": len(jobs)}


COMMANDS = ["start", "submit", "throughput", "wait", "launch", "steps", "queries", "restart", "cancel", "crash",
            "placement"]
DRIVEN = ["kept", "large", "differ", "hollow", "busy"]
ORDER = COMMANDS + DRIVEN


def measure(prefix, options, out):
    """Runs in the child: MUSTER_PREFIX and MUSTER_ORACLE are set."""
    sys.path.insert(0, os.path.join(ROOT, "test", "cluster"))
    import harness
    import at_scale
    import placement
    homes = {"placement": placement, **{name: at_scale for name in DRIVEN}}
    results = {"prefix": prefix, "version": version(prefix), "cores": os.cpu_count(), "date": time.strftime("%F"), "options": options, "figures": {}, "errors": {}}
    side = Side(harness, options)
    try:
        side.cluster.start()
        for name in [name for name in ORDER if name in options["only"]]:
            if name in DRIVEN and options["oracle"]:
                continue        # the drivers speak Muster's protocol
            began = time.monotonic()
            try:
                found = getattr(homes.get(name, sys.modules["__main__"]), "measure_" + name)(side)
                results["figures"].update({"%s.%s" % (name, key): value for key, value in found.items()})
                say("  %s (%.0f s): %s" % (name, time.monotonic() - began,
                                           ", ".join("%s %.4g" % pair for pair in found.items())))
            except (at_scale.NoDrivers, AssertionError, OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
                results["errors"][name] = str(error)[:600]
                say("  %s failed: %s" % (name, str(error)[:300]))
            with open(out, "w") as f:
                json.dump(results, f, indent=1)
    finally:
        side.close()


# ---- both sides


def shown(value, unit):
    if value is None:
        return "–"
    text = "%.0f" % value if value >= 100 or value == int(value) else "%.3g" % value
    return (text + " " + unit).strip()


def ratio(row, ours, other):
    """How many times better ours is; None where it cannot be said."""
    if ours is None or other is None or not ours or not other or row[2] in ("%", ""):
        return None
    return ours / other if row[3] else other / ours


def asked_for(row, ours):
    """The ratio, else the bar and whether it is reached."""
    if row[4] is not None:
        return "%d" % row[4]
    bar, value = BARS.get(row[0]), ours["figures"].get(row[0])
    if bar is None:
        return "–"
    reached = "" if value is None else ": yes" if (value >= bar if row[3] else value <= bar) else ": no"
    return ("≥ " if row[3] else "≤ ") + shown(bar, row[2]) + reached


def table(ours, other):
    lines = ["| metric | %s | %s | times better | asked for |" % (ours["version"], other["version"] if other else "–"),
             "|---|---|---|---|---|"]
    for row in ROWS:
        mine = ours["figures"].get(row[0])
        theirs = other["figures"].get(row[0]) if other else None
        if mine is None and theirs is None:
            continue
        times = ratio(row, mine, theirs)
        lines.append("| %s | %s | %s | %s | %s |" % (row[1], shown(mine, row[2]), shown(theirs, row[2]),
                                                    "–" if times is None else "%.1f" % times, asked_for(row, ours)))
    return "\n".join(lines)


def draw(ours, other, path):
    """Bars of the ratios on a logarithmic scale, one line where both are equal."""
    import math
    import xml.sax.saxutils
    rows = [(row, ratio(row, ours["figures"].get(row[0]), other["figures"].get(row[0]))) for row in ROWS]
    rows = [(row, times) for row, times in rows if times]
    top = max(10.0, max(times for _, times in rows))
    low = min(0.5, min(times for _, times in rows))
    width, left, line = 860, 330, 24
    scale = (width - left - 90) / (math.log10(top) - math.log10(low))
    at = lambda times: left + scale * (math.log10(times) - math.log10(low))
    height = 70 + line * len(rows)
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">' % (width, height),
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="12" y="24" font-size="16">%s against %s, %s cores: times better</text>' % (
               xml.sax.saxutils.escape(ours["version"]), xml.sax.saxutils.escape(other["version"]), ours["cores"])]
    for i, (row, times) in enumerate(rows):
        y = 44 + line * i
        x0, x1 = sorted((at(1.0), at(times)))
        color = "#2a7f62" if times >= (row[4] or 1) else "#c98a1b" if times >= 1 else "#b23b3b"
        svg.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (left - 10, y + 14, xml.sax.saxutils.escape(row[1])))
        svg.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (x0, y + 2, max(1.0, x1 - x0), line - 8, color))
        svg.append('<text x="%.1f" y="%d">%.1f×</text>' % (x1 + 6, y + 14, times))
    svg.append('<line x1="%.1f" x2="%.1f" y1="40" y2="%d" stroke="black"/>' % (at(1.0), at(1.0), height - 22))
    svg.append('<text x="12" y="%d" fill="#555">%s; logarithmic; green: what the design asks for is reached</text></svg>' % (
        height - 8, ours["date"]))
    with open(path, "w") as f:
        f.write("\n".join(svg) + "\n")


def child(prefix, label, args):
    os.makedirs(os.path.join(ROOT, "build", "bench"), exist_ok=True)
    out = os.path.join(ROOT, "build", "bench", label + ".json")
    name = version(prefix)
    say("%s: %s" % (prefix, name))
    options = {"only": args.only, "deep": args.deep, "submissions": args.submissions, "jobs": args.jobs, "steps": args.steps,
               "runs": args.runs, "crash_seconds": args.crash_seconds, "large": args.large, "hollow": args.hollow, "mixed": args.mixed,
               "busy": args.busy,
               "cloud": args.cloud, "placement_seconds": args.placement_seconds,
               "oracle": "slurm-wlm" in name}
    env = dict(os.environ, MUSTER_PREFIX=prefix, MUSTER_ORACLE="1" if "slurm-wlm" in name else "0")
    subprocess.run([sys.executable, os.path.abspath(__file__), "--child", json.dumps([prefix, options, out])], env=env, check=True)
    with open(out) as f:
        return json.load(f)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", default=os.path.join(ROOT, "build", "release"), help="folder with bin/ and sbin/")
    parser.add_argument("--against", metavar="PREFIX", help="measure this one too, before ours; /usr is Debian's")
    parser.add_argument("--only", default=",".join(ORDER), help="measurements, separated by commas")
    parser.add_argument("--deep", type=int, default=10000, help="jobs in the deep queue (10000)")
    parser.add_argument("--submissions", type=int, default=800)
    parser.add_argument("--jobs", type=int, default=500, help="no-op jobs for throughput")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--runs", type=int, default=9, help="runs of which the median counts")
    parser.add_argument("--large", type=int, default=100000, help="jobs in the large queue (100000)")
    parser.add_argument("--hollow", type=int, default=10000, help="nodes that one process plays (10000)")
    parser.add_argument("--mixed", type=int, default=9000, help="jobs that become eligible at once on them (9000)")
    parser.add_argument("--busy", type=int, default=60000, help="mixed jobs on them while submissions are timed (60000)")
    parser.add_argument("--cloud", type=int, default=10000, help="nodes that no daemon backs, for placement (10000)")
    parser.add_argument("--placement-seconds", type=int, default=60, help="how long each shape is watched at most")
    parser.add_argument("--crash-seconds", type=int, default=8)
    parser.add_argument("--svg", action="store_true", help="write docs/performance.svg")
    parser.add_argument("--load", nargs=2, metavar="FILE", help="ours and the other's saved results; measure nothing")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return measure(*json.loads(args.child))
    args.only = args.only.split(",")
    unknown = [name for name in args.only if name not in ORDER]
    if unknown:
        parser.error("--only %s: the measurements are %s" % (unknown[0], ", ".join(ORDER)))
    if args.load:
        ours, other = (json.load(open(name)) for name in args.load)
    else:
        other = child(os.path.abspath(args.against), "other", args) if args.against else None
        ours = child(os.path.abspath(args.prefix), "ours", args)
    print(table(ours, other))
    for side in (ours, other):
        for name, error in (side["errors"] if side else {}).items():
            print("\n%s: %s failed: %s" % (side["version"], name, error))
    if args.svg and other:
        draw(ours, other, os.path.join(ROOT, "docs", "performance.svg"))
    return 1 if ours["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
