"""What the command line alone cannot reach: submissions over kept connections, queues of 100,000 jobs, 10,000 nodes.

Uses the programs of bench/drivers, so these are figures of Muster alone. Each function takes the Side of bench.py and
returns figures; every loop is bounded and only processes started here are ended.
"""
import contextlib
import os
import random
import re
import signal
import subprocess
import time

DRIVERS = ("muster-bench-submit", "muster-bench-latency", "muster-hollow")


class NoDrivers(Exception):
    pass


def driver(side, name):
    path = os.path.join(side.harness.prefix(), "bench", name)
    if not os.access(path, os.X_OK):
        raise NoDrivers("%s is not built: cmake --build BUILD --target %s" % (path, " ".join(DRIVERS)))
    return path


def agent_socket(cluster):
    return os.path.join(cluster.folder, "run", "slurmctld.%d.sock" % cluster.port)


def submit_kept(side, jobs, distinct, run=0):
    """Held (or running) jobs over two kept connections, 256 on their way at a time. `distinct`: 1: of different names, 2: of different
    sizes and lengths. Durable submissions a second."""
    out = subprocess.run([driver(side, "muster-bench-submit"), agent_socket(side.cluster), str(jobs), "256", "2",
                          str(distinct), str(run)], capture_output=True, text=True, timeout=300)
    found = re.search(r"([0-9.]+) durable submissions/s", out.stdout)
    if out.returncode != 0 or not found:
        raise AssertionError("muster-bench-submit: " + (out.stdout + out.stderr)[:300])
    return float(found.group(1))


def measure_kept(side):
    rate = submit_kept(side, 50000, 0)
    side.cluster.cancel_all(120)
    return {"rate": rate}


def fresh_controller(side):
    """One that has freed nothing yet, else growth hides in what it kept. Its memory."""
    import __main__ as bench
    side.cluster.stop_ctld()
    side.cluster.start_ctld()
    side.cluster.wait_ctld(60)
    return bench.resident_bytes(side.cluster.ctld.pid)


def loaded(side, jobs, distinct):
    """The controller's growth in bytes a job while they are submitted."""
    import __main__ as bench
    before = fresh_controller(side)
    submit_kept(side, jobs, distinct)
    return (bench.resident_bytes(side.cluster.ctld.pid) - before) / jobs


def most_memory_mib(side, *command):
    """Of a command while it runs."""
    out = side.cluster.ok("bash", "-c", "exec /usr/bin/env python3 -c '%s' %s" % (
        "import os, resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", " ".join(command)), timeout=300).out
    return int(out) / 1024


def large_queue(side, distinct):
    """100,000 separate held jobs: what queries, a restart and a scancel of all cost then, and what a job takes of memory."""
    r = {"jobs": side.options["large"], "bytes": loaded(side, side.options["large"], distinct)}
    r["squeue"] = side.printing_ms("squeue", runs=5)
    r["squeue_none"] = side.median_ms("squeue", "-t", "R")
    r["squeue_json"] = side.printing_ms("squeue", "--json", runs=3)
    r["json_memory"] = most_memory_mib(side, "squeue", "--json")
    r["show_jobs"] = side.printing_ms("scontrol", "show", "jobs", runs=5)
    side.cluster.kill_ctld()
    began = time.monotonic()
    side.cluster.start_ctld()
    side.cluster.wait_ctld(120, longest_pause=0.005)
    r["restart"] = 1000 * (time.monotonic() - began)
    began = time.monotonic()
    side.cluster.ok("scancel", "-u", side.cluster.user, timeout=300)
    side.empty()
    r["cancel"] = 1000 * (time.monotonic() - began)
    return r


def measure_large(side):
    """Jobs as a loop around one sbatch submits them: they share one request."""
    return large_queue(side, 0)


def measure_differ(side):
    """Jobs with names and output files of their own: each has its own request, which queries send and the controller keeps."""
    return large_queue(side, 1)


def mixed_jobs(count):
    """Many below a node, some of several nodes, a few large ones; the same every time."""
    drawn = random.Random(1)
    for _ in range(count):
        kind, limit = drawn.random(), drawn.choice([10, 30, 60, 120, 240, 480, 1440, 2880])
        if kind < 0.70:
            size = "-n%d" % drawn.choice([1, 2, 4, 8, 16, 32, 64])
        else:
            size = "-N%d --exclusive" % drawn.choice([1, 2, 4, 8] if kind < 0.95 else [16, 32, 64, 128])
        yield "%s -t %d" % (size, limit)


def eligible_at_once(side):
    """Mixed jobs wait for a partition that is down; it comes up. How much of the cluster is in use 5 s later, and what squeue
    and sbatch feel of it."""
    cluster = side.cluster
    cluster.ok("scontrol", "update", "PartitionName=hollow", "State=DOWN")
    script = cluster.file("mixed.sh", "".join("sbatch -Q -p hollow -J sleep600000ms -o /dev/null --wrap true %s\n" % one
                                              for one in mixed_jobs(side.options["mixed"])))
    clients = [subprocess.Popen(["bash", "-c", "split -n r/%d/8 %s | bash" % (k + 1, script)], env=cluster.env, cwd=cluster.work)
               for k in range(8)]
    for client in clients:
        client.wait(300)
    waiting = len(cluster.queue("-o", "%i"))
    if waiting != side.options["mixed"]:
        raise AssertionError("%d of %d mixed jobs are in the queue" % (waiting, side.options["mixed"]))
    began, worst = time.monotonic(), 0.0
    cluster.ok("scontrol", "update", "PartitionName=hollow", "State=UP")
    while time.monotonic() - began < 5:
        worst = max(worst, cluster.ok("squeue", timeout=60).seconds)
    allocated, _, _, there = (int(n) for n in cluster.ok("sinfo", "-h", "-p", "hollow", "-o", "%C").lines[0].split("/"))
    one, ids = side.submit(200, 1, "-p hollow -n64 -t 2880 -o /dev/null --wrap true")
    cluster.cancel_all(300)
    return {"used": 100.0 * allocated / there, "squeue_worst": 1000 * worst, "sbatch_then": len(ids) / one}


def hollow_log(cluster):
    return os.path.join(cluster.folder, "hollow.out")


def configured(side):
    """Milliseconds until all hollow nodes have a slurm.conf that changed; nothing where they got none at their registration."""
    def times():
        with open(hollow_log(side.cluster)) as f:
            return sum(line.startswith("all have") for line in f)
    before = times()
    if not before:
        return {}
    side.cluster.conf_lines.append("# changed")
    side.cluster.write_lines()
    began = time.monotonic()
    side.cluster.ok("scontrol", "reconfigure", timeout=120)
    side.harness.until("all hollow nodes have the new slurm.conf", lambda: times() > before, 120, longest_pause=0.02)
    return {"configured": 1000 * (time.monotonic() - began)}


@contextlib.contextmanager
def hollow_nodes(side):
    """10,000 nodes that one process plays, with live connections, idle. Yields the seconds until they were; afterwards the cluster is as before."""
    nodes = side.options["hollow"]
    cluster = side.cluster
    lines = list(cluster.conf_lines)
    cluster.conf_lines = lines + ["NodeName=h[1-%d] NodeAddr=127.0.0.1 CPUs=64 Sockets=2 CoresPerSocket=32 "
                                  "RealMemory=1000000 State=UNKNOWN" % nodes,
                                  "PartitionName=hollow Nodes=h[1-%d] State=UP" % nodes,
                                  "TreeWidth=64", "SlurmctldParameters=enable_configless"]
    cluster.conf_lines = [line.replace("Default=YES", "Default=NO") for line in cluster.conf_lines]
    cluster.conf_lines = [line + (" Default=YES" if line.startswith("PartitionName=hollow") else "") for line in cluster.conf_lines]
    cluster.write_lines()
    cluster.stop_ctld()
    cluster.start_ctld()
    cluster.wait_ctld(60)
    began = time.monotonic()
    with open(hollow_log(cluster), "w") as out:
        player = subprocess.Popen([driver(side, "muster-hollow"), agent_socket(cluster), "h[1-%d]" % nodes], stdout=out,
                                  stderr=subprocess.DEVNULL)
    try:
        side.harness.until("all hollow nodes are idle", lambda: cluster.ok(
            "sinfo", "-h", "-p", "hollow", "-t", "idle", "-o", "%D").lines[-1:] == [str(nodes)], 120)
        yield time.monotonic() - began
    finally:
        player.send_signal(signal.SIGTERM)
        player.wait(20)
        cluster.conf_lines = lines
        cluster.write_lines()
        cluster.stop_ctld()
        cluster.start_ctld()
        cluster.wait_ctld(60)


def measure_hollow(side):
    """Registration of 10,000 nodes, then jobs that end as they start."""
    cluster = side.cluster
    with hollow_nodes(side) as registered:
        r = {"register": 1000 * registered}
        r.update(configured(side))
        began = time.monotonic()
        rate = submit_kept(side, 20000, 1, run=1)
        side.empty(120)
        r["jobs"] = 20000 / (time.monotonic() - began)
        r["submitted"] = rate
        r["sinfo"] = side.median_ms("sinfo")
        one, ids = side.submit(side.options["submissions"], 1, "--hold -o /dev/null --wrap true")
        r["sbatch"] = len(ids) / one
        cluster.cancel_all(60)
        r.update(eligible_at_once(side))
        return r


def latency(side, *arguments):
    """The p99 in ms that muster-bench-latency tells."""
    out = subprocess.run([driver(side, "muster-bench-latency"), agent_socket(side.cluster), *map(str, arguments)],
                         capture_output=True, text=True, timeout=120)
    found = re.search(r"p99 ([0-9.]+) ms", out.stdout)
    if out.returncode != 0 or not found:
        raise AssertionError("muster-bench-latency: " + (out.stdout + out.stderr)[:300])
    return float(found.group(1))


def measure_busy(side):
    """What a submission takes, one every 5 ms: with 10,000 idle nodes; while full plans of a deep mixed queue follow each other; and
    while 100 clients ask for a job each second beside that."""
    cluster = side.cluster
    lines = list(cluster.conf_lines)
    cluster.conf_lines = lines + ["SchedulerParameters=bf_interval=1,bf_max_job_test=1000000,bf_window=20160"]
    try:
        with hollow_nodes(side):
            r = {"idle": latency(side, "submit", 10, 200)}
            submit_kept(side, side.options["busy"], 2, run=1)
            side.harness.until("the cluster is full", lambda: cluster.ok("sinfo", "-h", "-p", "hollow", "-t", "idle", "-o", "%D").lines[-1:] in
                               ([], ["0"]), 60)
            r["planning"] = latency(side, "submit", 10, 200)
            r["cycles"] = backfill_cycles(cluster)
            pollers = subprocess.Popen([driver(side, "muster-bench-latency"), agent_socket(cluster), "poll", "14", "100", "1000"],
                                       stdout=subprocess.DEVNULL)
            try:
                time.sleep(2)           # their first questions
                r["polled"] = latency(side, "submit", 10, 200)
            finally:
                pollers.wait(60)
            cluster.cancel_all(300)
            return r
    finally:
        cluster.conf_lines = lines
        cluster.write_lines()
        cluster.stop_ctld()
        cluster.start_ctld()
        cluster.wait_ctld(60)


def backfill_cycles(cluster):
    """How many full plans there were."""
    found = re.search(r"Total cycles:\s+(\d+)", cluster.ok("sdiag").out.split("Backfilling stats")[-1])
    return int(found.group(1)) if found else 0
