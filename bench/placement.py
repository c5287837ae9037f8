"""How fast 100,000 pending jobs, or 600 gangs, are placed on 10,000 nodes, measured through the commands, so that Slurm does the same.

The nodes are powered down (State=CLOUD) and ResumeProgram does nothing: a scheduler counts them as there, and a job that
is given some sits in CONFIGURING and holds them. The jobs are array tasks of 100 time limits, submitted while the
partition is DOWN; the clock runs from State=UP until CPUs are no longer handed out, or the time is over. What is counted
is what sinfo says is allocated. Slurm gets the settings with which it looks at the whole queue.
"""
import os
import re
import time

LIMITS = 100      # arrays, each with a time limit of its own: request classes

# name, sbatch arguments, CPUs of one job, jobs that are pending, the network
SHAPES = [
    ("single", "-n1", 1, lambda nodes: 10 * nodes, None),
    ("gpus", "-N1 -n8 -c2 --gres=gpu:h100:8", 16, lambda nodes: 10 * nodes, None),
    ("tree", "-N64 --exclusive", 64 * 64, lambda nodes: nodes // 16, "tree"),
    ("block", "-N64 --exclusive", 64 * 64, lambda nodes: nodes // 16, "block"),
]


def network(kind, nodes, prefix):
    """topology.conf: leaves of 32 nodes under switches of 16 leaves under one; or blocks of 32 that make larger ones."""
    leaves = (nodes + 31) // 32
    span = lambda i: "%s[%d-%d]" % (prefix, 32 * i + 1, min(nodes, 32 * i + 32))
    if kind == "block":       # blocks are all of one size: a few nodes may be in none
        return "\n".join(["BlockName=b%d Nodes=%s" % (i, span(i)) for i in range(nodes // 32)] + ["BlockSizes=32,64,128"]) + "\n"
    lines = ["SwitchName=l%d Nodes=%s" % (i, span(i)) for i in range(leaves)]
    middles = (leaves + 15) // 16
    lines += ["SwitchName=m%d Switches=l[%d-%d]" % (i, 16 * i, min(leaves, 16 * i + 16) - 1) for i in range(middles)]
    return "\n".join(lines + ["SwitchName=top Switches=m[0-%d]" % (middles - 1)]) + "\n"


def settings(side, nodes, prefix, kind):
    lines = [line for line in side.cluster.conf_lines if not re.match("(NodeName|PartitionName|TopologyPlugin)=", line)]
    queue = 20 * nodes
    return lines + [
        "NodeName=%s[1-%d] NodeAddr=127.0.0.1 CPUs=64 Sockets=2 CoresPerSocket=32 RealMemory=256000 Gres=gpu:h100:8 "
        "State=CLOUD" % (prefix, nodes),
        "PartitionName=placing Nodes=%s[1-%d] Default=YES MaxTime=INFINITE State=UP" % (prefix, nodes),
        "SuspendProgram=/bin/true", "ResumeProgram=/bin/true", "SuspendTime=86400", "SuspendTimeout=30",
        "ResumeTimeout=60000", "ResumeRate=0", "SuspendRate=0", "TreeWidth=1000",
        "SchedulerParameters=bf_max_job_test=%d,bf_continue,bf_window=2880,bf_max_time=120,bf_interval=15,"
        "default_queue_depth=%d,sched_interval=15" % (queue, queue)] + (["TopologyPlugin=topology/" + kind] if kind else []) + (
            ["PrivateData=cloud"] if side.options["oracle"] else [])      # 22.05 hides powered-down nodes otherwise


def allocated_cpus(cluster):
    return int(cluster.ok("sinfo", "-h", "-p", "placing", "-o", "%C", timeout=120).lines[0].split("/")[0])


def cycles(cluster):
    """Longest cycle of the main scheduler and of backfill since the last reset, in milliseconds."""
    found = re.findall(r"Max cycle:\s+(\d+)", cluster.ok("sdiag", timeout=60).out)
    return [int(us) / 1000 for us in (found + ["0", "0"])[:2]]


def started(cluster, each, seconds):
    """Jobs started, and in how many seconds nearly all (95 %) of them."""
    cluster.ok("sdiag", "-r")
    began = time.monotonic()
    cluster.ok("scontrol", "update", "PartitionName=placing", "State=UP", timeout=180)
    seen = [(0.0, 0)]
    while seen[-1][0] < seconds and not (seen[-1][1] > 0 and seen[-1][0] - next(t for t, n in seen if n == seen[-1][1]) > 15):
        seen.append((time.monotonic() - began, allocated_cpus(cluster) // each))
        time.sleep(0.1)       # how often is looked: part of the measurement
    most = seen[-1][1]
    return most, next(t for t, n in seen if n >= 0.95 * most)


def measure_placement(side):
    cluster, nodes, found = side.cluster, side.options["cloud"], {}
    lines, topology = list(cluster.conf_lines), os.path.join(cluster.folder, "etc", "topology.conf")
    for name, arguments, each, pending, kind in SHAPES:
        if kind == "block" and side.options["oracle"]:
            continue              # 22.05 knows no blocks
        prefix = name[0]          # nodes of the shape's own: those of the last one are still powering down
        cluster.stop_ctld()
        with open(topology, "w") as f:
            f.write(network(kind, nodes, prefix) if kind else "")
        cluster.conf_lines = settings(side, nodes, prefix, kind)
        cluster.write_lines()
        cluster.start_ctld()
        cluster.wait_ctld(120)
        cluster.ok("scontrol", "update", "PartitionName=placing", "State=DOWN")
        for i in range(LIMITS):
            cluster.sbatch("--array=1-%d" % max(1, pending(nodes) // LIMITS), "-t", str(60 + 10 * i), "-o", "/dev/null",
                           *arguments.split(), "--wrap", "true")
        jobs, took = started(cluster, each, side.options["placement_seconds"])
        main, backfill = cycles(cluster)
        found.update({name: jobs / took if took else 0.0, name + "_started": jobs, name + "_seconds": took,
                      name + "_cycle": main, name + "_backfill": backfill})
        cluster.ok("scancel", "-u", cluster.user, timeout=300)
        cluster.stop_ctld()
        cluster.conf_lines = list(lines)
        os.unlink(topology)
    cluster.write_lines()
    cluster.start_ctld()
    cluster.wait_ctld(120)
    return found
