"""What the command line alone cannot reach: submissions over kept connections, queues of 100,000 jobs, 10,000 nodes.

Uses the programs of bench/drivers, so these are figures of Muster alone. Each function takes the Side of bench.py and
returns figures; every loop is bounded and only processes started here are ended.
"""
import os
import re
import signal
import subprocess
import time

DRIVERS = ("muster-bench-submit", "muster-hollow")


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
    """Held (or running) jobs over two kept connections, 256 on their way at a time. Durable submissions a second."""
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


def measure_large(side):
    """100,000 separate held jobs: what queries, a restart and a scancel of all cost then, and what a job takes of memory."""
    import __main__ as bench
    jobs = side.options["large"]
    side.cluster.stop_ctld()
    side.cluster.start_ctld()
    side.cluster.wait_ctld(60)
    before = bench.resident_bytes(side.cluster.ctld.pid)
    submit_kept(side, jobs, 1)
    r = {"jobs": jobs, "bytes": (bench.resident_bytes(side.cluster.ctld.pid) - before) / jobs}
    r["squeue"] = side.median_ms("squeue", runs=3)
    r["squeue_none"] = side.median_ms("squeue", "-t", "R")
    r["squeue_json"] = side.median_ms("squeue", "--json", runs=1)
    r["show_jobs"] = side.median_ms("scontrol", "show", "jobs", runs=3)
    side.cluster.kill_ctld()
    began = time.monotonic()
    side.cluster.start_ctld()
    side.cluster.wait_ctld(120)
    r["restart"] = 1000 * (time.monotonic() - began)
    began = time.monotonic()
    side.cluster.ok("scancel", "-u", side.cluster.user, timeout=300)
    side.empty()
    r["cancel"] = 1000 * (time.monotonic() - began)
    return r


def measure_hollow(side):
    """10,000 nodes that one process plays, with live connections: registration, then jobs that end as they start."""
    nodes = side.options["hollow"]
    cluster = side.cluster
    lines = list(cluster.conf_lines)
    cluster.conf_lines = lines + ["NodeName=h[1-%d] NodeAddr=127.0.0.1 CPUs=64 Sockets=2 CoresPerSocket=32 "
                                  "RealMemory=1000000 State=UNKNOWN" % nodes,
                                  "PartitionName=hollow Nodes=h[1-%d] State=UP" % nodes,
                                  "TreeWidth=64"]
    cluster.conf_lines = [line.replace("Default=YES", "Default=NO") for line in cluster.conf_lines]
    cluster.conf_lines = [line + (" Default=YES" if line.startswith("PartitionName=hollow") else "") for line in cluster.conf_lines]
    cluster.write_lines()
    cluster.stop_ctld()
    cluster.start_ctld()
    cluster.wait_ctld(60)
    began = time.monotonic()
    player = subprocess.Popen([driver(side, "muster-hollow"), agent_socket(cluster), "h[1-%d]" % nodes],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        side.harness.until("all hollow nodes are idle", lambda: cluster.ok(
            "sinfo", "-h", "-p", "hollow", "-t", "idle", "-o", "%D").lines[-1:] == [str(nodes)], 120)
        r = {"register": 1000 * (time.monotonic() - began)}
        began = time.monotonic()
        rate = submit_kept(side, 20000, 1, run=1)
        side.empty(120)
        r["jobs"] = 20000 / (time.monotonic() - began)
        r["submitted"] = rate
        r["squeue"] = side.median_ms("squeue")
        r["sinfo"] = side.median_ms("sinfo")
        one, ids = side.submit(200, 1, "--hold -o /dev/null --wrap true")
        r["sbatch"] = len(ids) / one
        cluster.cancel_all(60)
        return r
    finally:
        player.send_signal(signal.SIGTERM)
        player.wait(20)
        cluster.conf_lines = lines
        cluster.write_lines()
        cluster.stop_ctld()
        cluster.start_ctld()
        cluster.wait_ctld(60)
