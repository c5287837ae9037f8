"""The one small cluster that every case sees: its configuration and the jobs in its queue.

Nothing here is left to the scheduler's timing: of the prepared jobs one runs for good, all others are held or wait for what
never comes. Cases may submit; forget_new() cancels what they left behind.
"""
import difflib
import os
import re

import harness
import transcript

FIRST_JOB = 70001       # ids that nothing else looks like
NODES = {
    "n1": "Feature=intel,fast Gres=gpu:a100:4 Weight=10",
    "n2": "Feature=intel,fast Gres=gpu:a100:4 Weight=10",
    "n3": "Feature=amd,fast Gres=gpu:h100:2 Weight=20",
    "n4": "Feature=amd Weight=5",
    "n5": "Feature=amd Weight=5",
}
PARTITIONS = [
    "PartitionName=main Nodes=n[1-6] Default=YES MaxTime=INFINITE DefaultTime=1:00:00 State=UP",
    "PartitionName=gpu Nodes=n[1-3] MaxTime=7-00:00:00 State=UP",
    "PartitionName=short Nodes=n[1-4] MaxTime=30 DefaultTime=10 MaxNodes=2 PriorityTier=10 State=UP",
    "PartitionName=closed Nodes=n[1-4] State=DOWN",
    "PartitionName=drained Nodes=n[1-4] State=DRAIN",
    "PartitionName=off Nodes=n[1-4] State=INACTIVE",
    "PartitionName=lean Nodes=n4 MaxMemPerNode=2000 MaxCPUsPerNode=2 State=UP",
]
# One line each: sbatch's arguments. The order gives the ids, FIRST_JOB upwards.
RUNNING = ["-J runner -w n1 -c 2 --mem=200 --gres=gpu:a100:1 -t UNLIMITED --comment=busy"]
WAITING = [
    "-H -J held -t 10 -n 4 --mem=1G",
    "-H -J array --array=1-5,9%2 -t 1:00:00 -p gpu,main",
    "-H -J wide -N 2-3 --ntasks-per-node=2 --exclusive -t 2-00:00:00 -p gpu --comment=two_words",
    "-J later --begin=2038-01-02T03:04:05 -t 30",
    "-J after --dependency=afterok:70002 -t 5 -p short",
    "-H -J gpus -p gpu --gres=gpu:h100:2 -C fast -t 90 --mail-type=END --mail-user=someone",
    "-H -J nice --nice=50 -t 15 -p short -x n1",
]
# Words of a case that may leave something behind.
CHANGES = re.compile(r"sbatch|srun|salloc|scancel|submit|directives|values|started|waits|beside|reserve |"
                     r"s(control|acctmgr).*(update|add|load|modify|remove|create|delete|hold|release|requeue|suspend|resume|top|reboot)", re.I)
JOB = "#!/bin/sh\nexec sleep 100000\n"


class Base:
    """What every world has. last: the id of its last prepared job; own_user: the user that runs this is told by another name."""

    def __init__(self, cluster, last, own_user=True):
        self.cluster, self.last = cluster, last
        self.normalise = transcript.Normaliser(cluster, FIRST_JOB, last, own_user)
        cluster.env["ORACLE"] = os.path.dirname(os.path.abspath(__file__))

    def play(self, case):
        """Runs a case and takes away the jobs that it left."""
        result = self.cluster.sh('. "$ORACLE/prelude.sh"\n' + case.script)
        outcome = self.normalise.outcome(result)    # at once: times are told by their distance to now
        if CHANGES.search(case.script):
            self.forget_new(case.script)
            harness.until(lambda: "%s to leave the cluster as it was\n%s" % (case.id, self.changed(case.script)),
                          lambda: not self.changed(case.script), 90)      # priorities are worked out once a minute
        return outcome

    def forget_new(self, _):
        new = {int(x) for x in self.cluster.queue("-a", "-o", "%A")} - set(range(FIRST_JOB, self.last + 1))
        if new:
            jobs = ",".join(map(str, sorted(new)))
            self.cluster.run("scancel", *jobs.split(","))
            harness.until("an end of jobs " + jobs, lambda: not self.cluster.queue("-a", "-j", jobs))
            self.gone(jobs)

    def gone(self, jobs):
        """The jobs have ended."""

    def told_by(self, _):
        """The commands that tell what a case must leave as it found it; of a case's script, those that it may have changed."""
        return ["sinfo -a -h -N -o %N|%T|%E|%f|%w|%G", "sinfo -a -h -o %R|%a|%l|%s|%F", "squeue -a -h -S i -o %i|%T|%r|%j|%Q|%l|%v"]

    def state(self, script=None):
        return {command: self.cluster.ok(*command.split()).lines for command in self.told_by(script)}

    def changed(self, script):
        return "\n".join(line for command, lines in self.state(script).items()
                         for line in difflib.unified_diff(self.before[command], lines, "before", command, n=0, lineterm=""))

    def stop(self):
        self.cluster.stop()


class World(Base):
    def __init__(self, folder):
        dev = os.path.join(folder, "dev")
        gres = "".join("NodeName=%s Name=gpu Type=%s File=%s/nvidia[0-%d]\n" % (nodes, kind, dev, last)
                       for nodes, kind, last in (("n[1-2]", "a100", 3), ("n3", "h100", 1)))
        more = ["FirstJobId=%d" % FIRST_JOB,
                "PriorityType=priority/basic", "MaxArraySize=1001", "MailProg=/bin/true",
                "NodeName=n6 NodeAddr=127.0.0.1 NodeHostname=absent Port=1 CPUs=16 RealMemory=64000 State=DOWN "
                "Reason=broken"]
        cluster = harness.Cluster(folder, nodes=5, gpus=4, node_line=NODES, gres_conf=gres, partitions=PARTITIONS,
                                  conf="\n".join(more))
        for i in range(4):
            open(os.path.join(dev, "nvidia%d" % i), "w").close()
        super().__init__(cluster, FIRST_JOB + len(RUNNING) + len(WAITING) - 1)

    def start(self):
        c = self.cluster
        c.start()
        c.file("job.sh", JOB)
        c.file("true.sh", "#!/bin/sh\ntrue\n")
        for number, line in enumerate(RUNNING + WAITING):
            job = c.sbatch(*line.split(), "job.sh")
            assert job == FIRST_JOB + number, "job %d came for %d: %s" % (job, FIRST_JOB + number, line)
            if line in RUNNING:
                c.wait_job(job, "RUNNING")
        c.ok("scontrol", "update", "nodename=n5", "state=drain", "reason=bad disk")
        c.wait_nodes("drained", ["n5"])
        c.wait_nodes(r"down\*", ["n6"])     # nobody answers there
        harness.until("the scheduler to have looked at every job",
                      lambda: "LastSchedEval=Unknown" not in c.ok("scontrol", "show", "job").out)
        self.before = self.state()
        return self
