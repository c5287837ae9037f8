"""Stand-ins for what three cloud tool kits put between a cluster and its cloud: AWS ParallelCluster, Google's Cluster Toolkit (slurm-gcp), Azure
CycleCloud. Each has a ResumeProgram and a SuspendProgram and a daemon that compares the cloud with what scontrol and sinfo say. What they ask for, in which words,
and how they take answers apart is as theirs; the cloud is a folder, in which a file is a machine and its text the machine's state.
"""
import os
import re
import subprocess
import textwrap

from harness import end_process, until

# What all three programs begin with: the cloud, and a command that has to succeed. They run as slurmctld's children, with next to no environment.
COMMON = """\
#!/usr/bin/python3
import json, os, re, shlex, subprocess, sys
CLOUD, LOG = {cloud!r}, {log!r}
os.environ["SLURM_CONF"] = {conf!r}
def note(text):
    with open(LOG, "a") as f:
        f.write(text + "\\n")
def sh(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if done.returncode:
        note("FAILED %s: %s%s" % (command, done.stdout, done.stderr))
        sys.exit(1)
    return done.stdout
SCONTROL, SINFO, SQUEUE = {bin!r} + "/scontrol", {bin!r} + "/sinfo", {bin!r} + "/squeue"
def machines():
    found = {{}}
    for name in os.listdir(CLOUD):
        try:
            found[name] = "" if name.startswith(".") else open(CLOUD + "/" + name).read()
        except FileNotFoundError:       # it has just ended
            pass
    return {{name: state for name, state in found.items() if state}}
def compared(slurm):
    # Without the nodes whose machine has come or gone meanwhile, which a real cloud takes minutes for.
    before, nodes, after = machines(), slurm(), machines()
    return {{n: node for n, node in nodes.items() if before.get(n) == after.get(n)}}, after
def put(name, state):
    with open(CLOUD + "/." + name, "w") as f:
        f.write(state)
    os.rename(CLOUD + "/." + name, CLOUD + "/" + name)
def end(name):
    if os.path.exists(CLOUD + "/" + name):
        os.unlink(CLOUD + "/" + name)
def without_capacity():
    path = os.path.join(os.path.dirname(CLOUD), "without_capacity")
    return open(path).read().split() if os.path.exists(path) else []
"""


class Fleet:
    """The cloud, and whoever boots its machines: a cluster whose nodes are State=CLOUD and have no address until their kit says one."""

    def __init__(self, make_cluster, kit, conf, nodes=3, more_nodes=(), names=None, partitions=None):
        self.cluster = c = make_cluster(nodes=nodes, gpus=0, start=False, names=names, partitions=partitions)
        self.kit = kit
        self.cloud, self.log = c.work + "/cloud", c.work + "/kit.log"
        os.mkdir(self.cloud)
        c.conf_lines = [re.sub(r"NodeAddr=\S+ NodeHostname=\S+ (.*) State=UNKNOWN", r"\1 State=CLOUD", line) for line in c.conf_lines]
        c.conf_lines += [*more_nodes, "SuspendProgram=%s/kit_suspend" % c.bin, "ResumeProgram=%s/kit_resume" % c.bin,
                         "ResumeFailProgram=%s/kit_suspend" % c.bin, "ResumeRate=0", "SuspendRate=0", "SuspendTimeout=4", "ResumeTimeout=60",
                         "TreeWidth=30000", "PrivateData=cloud", *textwrap.dedent(conf).strip().split("\n")]
        c.write_lines()
        for name in ("resume", "suspend", "sync"):
            self.program(name)

    def program(self, name):
        c = self.cluster
        head = COMMON.format(cloud=self.cloud, log=self.log, conf=c.conf_path, bin=os.path.join(c.prefix, "bin"))
        return c.script("kit_" + name, head + textwrap.dedent(self.kit["common"]) + textwrap.dedent(self.kit[name]))

    def start(self):
        self.cluster.start_ctld()
        self.cluster.wait_ctld()
        return self

    def machines(self):
        found = {}
        for name in os.listdir(self.cloud):
            try:
                found[name] = "" if name.startswith(".") else open(os.path.join(self.cloud, name)).read()
            except FileNotFoundError:       # it has just ended
                pass
        return {name: state for name, state in found.items() if state}

    def lacks(self, *names):
        with open(os.path.join(self.cluster.work, "without_capacity"), "w") as f:
            f.write("\n".join(names))

    def said(self):
        return open(self.log).read().splitlines() if os.path.exists(self.log) else []

    def turn(self):
        """One turn of the kit's daemon, and of the hypervisor: machines that are there have a slurmd, others have none."""
        subprocess.run([os.path.join(self.cluster.bin, "kit_sync")], env=self.cluster.env, check=True)
        self.boot()

    def boot(self):
        there = self.machines()
        for name in there.keys() - self.cluster.slurmds.keys():
            if there[name] == "running" and name in self.cluster.names:
                self.cluster.start_slurmd(name)
        for name in self.cluster.slurmds.keys() - there.keys():
            end_process(self.cluster.slurmds.pop(name))
        failed = [line for line in self.said() if line.startswith("FAILED")]
        assert not failed, failed

    def states(self, *args):
        return dict(line.split() for line in self.cluster.ok("sinfo", "-h", "-N", "-o", "%N %T", *args).lines)

    def until_state(self, nodes, wanted, seconds=30):
        """Turns go by until each of `nodes` is in a state that `wanted` has."""
        def there():
            self.turn()
            states = self.states()
            return all(states.get(name) in wanted for name in nodes)
        until(lambda: "%s to be %s: %s\n%s" % (nodes, wanted, self.states(), "\n".join(self.said()[-20:])), there, seconds)

    def until_done(self, job, state="COMPLETED", seconds=40):
        def done():
            self.turn()
            return self.cluster.job(job)["JobState"] == state
        until(lambda: "job %s to be %s: %s\n%s\n%s" % (job, state, self.cluster.job(job), self.states(), "\n".join(self.said()[-20:])), done, seconds)


PARALLEL_CLUSTER = {
    "common": r"""
        import datetime
        def update(nodes, addresses=None, hosts=None, state=None, reason=None):
            for i in range(0, len(nodes), 100):
                command = SCONTROL + " update"
                if state:
                    command += " state=" + state
                if reason:
                    command += ' reason="%s"' % reason
                command += " nodename=" + ",".join(nodes[i:i + 100])
                if addresses:
                    command += " nodeaddr=" + ",".join(addresses[i:i + 100])
                if hosts:
                    command += " nodehostname=" + ",".join(hosts[i:i + 100])
                sh(command)
        def nodes_info(nodes=""):
            text = sh(SCONTROL + " show nodes " + nodes + r''' | awk 'BEGIN{RS="\n\n" ; ORS="######\n";} {print}' | grep -oP '''
                      r"'^(NodeName=\S+)|(NodeAddr=\S+)|(NodeHostName=\S+)|(?<!Next)(State=\S+)|(Partitions=\S+)|(SlurmdStartTime=\S+)|(LastBusyTime=\S+)|(Reason=.*)|(######)'")
            found = []
            for record in text.split("######\n"):
                node = {}
                for line in record.splitlines():
                    key, value = line.split("=")
                    if key in ("SlurmdStartTime", "LastBusyTime") and value not in ("None", "Unknown"):
                        value = datetime.datetime.strptime(value, "%Y-%m-%dT%H:%M:%S")
                    node[key] = value
                if node:
                    node["State"] = set(node["State"].split("+"))
                    found.append(node)
            return found
    """,
    "resume": r"""
        asked = json.load(open(os.environ["SLURM_RESUME_FILE"]))
        assert asked["all_nodes_resume"] == sys.argv[1], (asked, sys.argv)
        nodes = [n["NodeName"] for n in nodes_info(sys.argv[1])]
        lacking = [n for n in nodes if n in without_capacity()]
        for job in asked["jobs"]:       # all or nothing for a job
            wanted = sh(SCONTROL + " show hostnames " + job["nodes_resume"]).split()
            if set(wanted) & set(lacking):
                lacking += [n for n in wanted if n not in lacking]
        good = [n for n in nodes if n not in lacking]
        for n in good:
            put(n, "running")
        if good:
            update(good, ["127.0.0.1"] * len(good), ["ip-10-0-0-%d" % (i + 1) for i in range(len(good))])
        if lacking:
            update(lacking, state="down", reason="(Code:InsufficientInstanceCapacity)Failure when resuming nodes")
        note("resumed %d of %d for jobs %s" % (len(good), len(nodes), ",".join(str(j["job_id"]) for j in asked["jobs"])))
    """,
    "suspend": r"""
        for n in sh(SCONTROL + " show hostnames " + sys.argv[1]).split():
            end(n)
        note("suspended " + sys.argv[1])
    """,
    "sync": r"""
        partitions = sh(SCONTROL + r''' show partitions | grep -oP "^PartitionName=\K(\S+)| State=\K(\S+)" ''').splitlines()
        assert partitions and len(partitions) % 2 == 0 and set(partitions[1::2]) <= {"UP", "INACTIVE"}, partitions
        info, there = compared(lambda: {n["NodeName"]: n for n in nodes_info()})
        info = list(info.values())
        # Machines that have gone, and nodes without capacity, are taken back to power saving with their own names as addresses.
        reset = [n["NodeName"] for n in info if "DOWN" in n["State"] and not n["State"] & {"POWERING_DOWN", "POWERED_DOWN", "POWER_DOWN"}]
        reset += [n["NodeName"] for n in info if n["NodeName"] not in there and n["NodeAddr"] != n["NodeName"] and n["NodeName"] not in reset
                  and not n["State"] & {"POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "POWERED_DOWN"}]
        if reset:
            update(reset, reset, reset, "power_down_force", "Scheduler health check failed")
            for n in reset:
                end(n)
            note("reset %d" % len(reset))
        powering_down = sh(SINFO + " -h -N -o %N -t power_down,powering_down").split()
        assert set(powering_down) <= {n["NodeName"] for n in nodes_info()}
    """,
}

GOOGLE = {
    "common": r"""
        def hostlist(nodes):
            return sh(SCONTROL + " show hostlist " + ",".join(nodes)).strip()
        def down_nodes_notify_jobs(nodes, reason, jobs):
            sh("%s update nodename=%s state=down reason=%s" % (SCONTROL, hostlist(nodes), shlex.quote(reason)))
            for job in jobs:
                if not set(sh(SCONTROL + " show hostnames " + job["nodes_alloc"]).split()) & set(nodes):
                    continue
                sh("%s update jobid=%s admincomment='%s'" % (SCONTROL, job["job_id"], reason))
                sh("%s notify %s '%s'" % (SCONTROL, job["job_id"], reason))
        def slurm_nodes():
            found = {}
            for node in json.loads(sh(SCONTROL + " show nodes --json"))["nodes"]:
                base, *flags = node["state"]
                found[node["name"]] = (base, set(flags))
            return found
    """,
    "resume": r"""
        asked = json.load(open(os.environ["SLURM_RESUME_FILE"]))
        nodes = sh(SCONTROL + " show hostnames " + sys.argv[1]).split()
        lacking = [n for n in nodes if n in without_capacity()]
        for n in nodes:
            if n not in lacking:
                put(n, "running")
        if lacking:
            down_nodes_notify_jobs(lacking, "GCP Error: ZONE_RESOURCE_POOL_EXHAUSTED: no resources in zone", asked["jobs"])
        note("resumed %s, %d lacking, jobs %s" % (sys.argv[1], len(lacking),
             " ".join("%s:%s:%s" % (j["job_id"], j["partition"], j["oversubscribe"]) for j in asked["jobs"])))
    """,
    "suspend": r"""
        for n in sh(SCONTROL + " show hostnames " + sys.argv[1]).split():
            end(n)
        note("suspended " + sys.argv[1])
    """,
    "sync": r"""
        nodes, there = compared(slurm_nodes)
        def action(name, base, flags):
            power = flags & {"POWER_DOWN", "POWERING_UP", "POWERING_DOWN", "POWERED_DOWN"}
            if name not in there:
                if "POWERING_UP" in flags:
                    return None
                if (base == "DOWN" and "POWERED_DOWN" in flags) or "POWERING_DOWN" in flags:
                    return "state=resume"
                if "COMPLETING" in flags or (base != "DOWN" and not power):
                    return "state=down reason='Unbacked instance'"
                if (base == "DOWN" and not power) or "NOT_RESPONDING" in flags:
                    return "state=power_down"
            elif there[name] == "terminated" and not flags & {"POWERED_DOWN", "POWERING_DOWN"}:
                put(name, "running")        # a preempted machine is started again
                return "state=down reason='Preempted instance'"
            elif there[name] == "running" and "POWERED_DOWN" in flags:
                end(name)       # an orphan
            return None
        by_action = {}
        for name, (base, flags) in nodes.items():
            wanted = action(name, base, flags)
            if wanted:
                by_action.setdefault(wanted, []).append(name)
        for wanted, nodes in by_action.items():
            sh("%s update nodename=%s %s" % (SCONTROL, hostlist(nodes), wanted))
            note("%s %s" % (wanted, hostlist(nodes)))
    """,
}

CYCLE_CLOUD = {
    "common": r"""
        def show_nodes():
            found, node = {}, None
            for line in sh(SCONTROL + " show nodes").splitlines():
                for word in line.split():
                    key, is_pair, value = word.partition("=")
                    if not is_pair:
                        continue
                    if key == "NodeName":
                        node = found[value] = {}
                    node[key] = value
            return found
        def suspend_exc_nodes():
            for line in sh(SCONTROL + " show config").splitlines():
                if line.startswith("SuspendExcNodes"):
                    key, value = line.split("=")
                    value = value.strip()
                    with open(os.environ["SLURM_CONF"] + ".keep_alive", "w") as f:
                        f.write("# " + line if value == "(null)" else line)
                    return [] if value == "(null)" else sh(SCONTROL + " show hostnames " + value).split()
            note("FAILED no SuspendExcNodes in show config")
    """,
    "resume": r"""
        sh(SCONTROL + " ping")
        for n in sh(SCONTROL + " show hostnames " + sys.argv[1]).split():
            if n not in without_capacity():
                put(n, "running")
        note("resumed " + sys.argv[1])
    """,
    "suspend": r"""
        for n in sh(SCONTROL + " show hostnames " + sys.argv[1]).split():
            end(n)
        note("suspended " + sys.argv[1])
    """,
    "sync": r"""
        kept = suspend_exc_nodes()
        nodes, there = compared(show_nodes)
        keep_path = os.path.join(os.path.dirname(CLOUD), "keep_alive")
        keep = open(keep_path).read().split() if os.path.exists(keep_path) else []
        for name, node in nodes.items():
            states = set(node["State"].lower().split("+"))
            joined = not states & {"powered_down", "powering_down", "powering_up"}
            reason = node.get("Reason", "")
            if reason in ("cyclecloud_no_node", "cyclecloud_zombie_node") and {"idle", "powered_down"} <= states:
                sh("%s update NodeName=%s 'Reason=(null)'" % (SCONTROL, name))
                note("reason of %s unset" % name)
                continue
            if name not in there:
                if joined:
                    sh("{0} update NodeName={1} NodeAddr={1} NodeHostName={1} State=down Reason=cyclecloud_no_node".format(SCONTROL, name))
                    note(name + " is missing")
                continue
            if name in keep and name not in kept:
                sh("%s update SuspendExcNodes+=%s" % (SCONTROL, name))
                note("keeps " + name)
            if name not in keep and name in kept:
                sh("%s update SuspendExcNodes-=%s" % (SCONTROL, name))
                note("lets %s go" % name)
            if "powered_down" in states and "down" not in states:
                sh("{0} update NodeName={1} NodeAddr={1} NodeHostName={1} State=down Reason=cyclecloud_zombie_node".format(SCONTROL, name))
                note(name + " is a zombie")
                continue
            if "powering_up" in states and node["NodeAddr"] == name:
                sh("%s update NodeName=%s NodeAddr=127.0.0.1 NodeHostName=ip-%s" % (SCONTROL, name, name))
    """,
}
