"""The second cluster of the cases: accounts with shares, QOS and limits, kept by a slurmdbd. Its subjects begin with `shared-`.

Muster's slurmdbd keeps them in SQLite; Debian's needs MariaDB, which is started here on a socket of its own. The jobs of
the cases are those of ordinary users (`as` in prelude.sh), so only root can run them. No clock decides what is printed: what is
used at all is used by one job that has ended, every other job has a QOS whose UsageFactor is 0, priorities are worked out
at submission, and the jobs that wait do so for a node that is taken for good.
"""
import os
import re
import shutil

import accounting
import harness
import world
from harness import until

USERS = ("lp", "irc")       # of every Debian; nobody logs in as them
NODES = {
    "n1": "Gres=gpu:a100:4",
    "n2": "Gres=gpu:a100:4",
    "n3": "Gres=gpu:a100:4",
}
PARTITIONS = [
    "PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE DefaultTime=1:00:00 PriorityJobFactor=1 State=UP",
    "PartitionName=full Nodes=n3 MaxTime=INFINITE DefaultTime=1:00:00 PriorityJobFactor=4 State=UP",
    "PartitionName=long Nodes=n3 MaxTime=INFINITE PriorityJobFactor=2 State=UP",
    "PartitionName=capped Nodes=n[1-2] QOS=part MaxTime=2:00:00 State=UP",
    "PartitionName=ours Nodes=n[1-2] AllowAccounts=biology State=UP",
    "PartitionName=notours Nodes=n[1-2] DenyAccounts=theory State=UP",
    "PartitionName=rush Nodes=n[1-2] AllowQos=high State=UP",
    "PartitionName=calm Nodes=n[1-2] DenyQos=high State=UP",
]
CONF = [
    "FirstJobId=%d" % world.FIRST_JOB, "MailProg=/bin/true", "Licenses=matlab:10",
    "AccountingStorageEnforce=limits,qos", "JobAcctGatherType=jobacct_gather/linux", "AccountingStorageTRES=gres/gpu,gres/gpu:a100,license/matlab",
    "PriorityType=priority/multifactor", "PriorityDecayHalfLife=0", "PriorityUsageResetPeriod=YEARLY", "PriorityCalcPeriod=1",
    "PriorityWeightAge=100", "PriorityMaxAge=1000-0", "PriorityWeightFairshare=10000", "PriorityWeightJobSize=1000",
    "PriorityWeightPartition=400", "PriorityWeightQOS=2000", "PriorityWeightAssoc=500",
    "PriorityWeightTRES=cpu=300,mem=200,gres/gpu=1000",
    "SchedulerParameters=batch_sched_delay=1,sched_interval=2,sched_min_interval=0,bf_interval=2",
]
FREE = "usagefactor=0"
# name: limit. Each is a QOS of that name; those of ACCOUNTS_TOO are accounts below `limits` too.
QOS_LIMITS = {
    "grpjobs": "grpjobs=1", "grpsubmit": "grpsubmitjobs=1", "grpcpu": "grptres=cpu=4", "grpmem": "grptres=mem=1000",
    "grpnode": "grptres=node=1", "grpgpu": "grptres=gres/gpu=2", "grplic": "grptres=license/matlab=2",
    "grpcpumins": "grptresmins=cpu=0", "grpgpumins": "grptresmins=gres/gpu=0", "grprunmins": "grptresrunmins=cpu=30", "grpwall": "grpwall=0",
    "maxcpupj": "maxtresperjob=cpu=4", "maxmempj": "maxtresperjob=mem=1000", "maxnodepj": "maxtresperjob=node=1",
    "maxgpupj": "maxtresperjob=gres/gpu=1", "maxcpupn": "maxtrespernode=cpu=4", "maxmins": "maxtresminsperjob=cpu=60", "maxwall": "maxwall=30",
    "maxjobs": "maxjobsperuser=1", "maxsubmit": "maxsubmitjobsperuser=1", "maxcpupu": "maxtresperuser=cpu=4",
    "maxmempu": "maxtresperuser=mem=1000", "maxnodepu": "maxtresperuser=node=1", "maxgpupu": "maxtresperuser=gres/gpu=2",
    "maxjobspa": "maxjobsperaccount=1", "maxsubmitpa": "maxsubmitjobsperaccount=1", "maxcpupa": "maxtresperaccount=cpu=4",
    "maxgpupa": "maxtresperaccount=gres/gpu=2", "mincpu": "mintresperjob=cpu=4",
    "denycpu": "maxtresperjob=cpu=4 flags=DenyOnLimit", "denymin": "mintresperjob=cpu=4 flags=DenyOnLimit",
    "denywall": "maxwall=30 flags=DenyOnLimit", "denygrp": "grptres=cpu=4 flags=DenyOnLimit",
    "denyuser": "maxtresperuser=cpu=4 flags=DenyOnLimit", "denymins": "maxtresminsperjob=cpu=60 flags=DenyOnLimit",
}
PART = "part %s maxtresperjob=cpu=2 maxwall=60" % FREE      # of a partition: slurmctld does not start without it
ACCOUNT_LIMITS = {
    "a-grpjobs": "grpjobs=1", "a-grpsubmit": "grpsubmitjobs=1", "a-grpcpu": "grptres=cpu=4", "a-grpmem": "grptres=mem=1000",
    "a-grpnode": "grptres=node=1", "a-grpgpu": "grptres=gres/gpu=2", "a-grptyped": "grptres=gres/gpu:a100=2", "a-grplic": "grptres=license/matlab=2",
    "a-grpcpumins": "grptresmins=cpu=0", "a-grprunmins": "grptresrunmins=cpu=30", "a-grpwall": "grpwall=0",
    "a-maxcpupj": "maxtresperjob=cpu=4", "a-maxnodepj": "maxtresperjob=node=1", "a-maxcpupn": "maxtrespernode=cpu=4",
    "a-maxmins": "maxtresminsperjob=cpu=60", "a-maxwall": "maxwall=30", "a-maxjobs": "maxjobs=1", "a-maxsubmit": "maxsubmitjobs=1",
}
ACCOUNTS = [        # sacctmgr's words after `add`
    "account physics description=stars_and_atoms organization=science fairshare=2",
    "account theory parent=physics fairshare=1 priority=5",
    "account lasers parent=physics fairshare=3",
    "account biology fairshare=1 priority=10",
    "account idle parent=biology fairshare=parent",
    "account limits fairshare=1",
]
PEOPLE = [
    "user lp account=theory,lasers fairshare=2 defaultaccount=theory",
    "user irc account=biology,idle,theory fairshare=4 defaultaccount=biology",
    "user alice account=lasers fairshare=3 adminlevel=operator",
    "user bob account=biology partition=full fairshare=parent",
]
QOS = ["qos high priority=100 " + FREE, "qos low priority=10 description=what_is_left " + FREE, "qos used priority=50"]
# The queue: FIRST_JOB runs for good on n3, the others wait for it. (user, sbatch's arguments)
RUNNING = [("root", "-J filler -p full -c 16 -t UNLIMITED")]
WAITING = [
    ("lp", "-J first -p full -n 2 -q high -t 10"),
    ("irc", "-J second -p full -n 4 --mem=2000 -t 1:00:00"),
    ("irc", "-J gpus -p full -A theory --gres=gpu:a100:2 -t 30"),
    ("lp", "-J lasers -p full -A lasers -q low --nice=30 -t 30"),
    ("lp", "-J two -p full,long -n 1 -t 20"),
    ("lp", "-J array -p full --array=1-3 -t 20"),
    ("lp", "-J held -H -p full -t 20"),
    ("lp", "-J later --begin=2038-01-02T03:04:05 -t 30"),
]
RECORDS = [         # what tells them; the last is what slurmctld has heard
    "sacctmgr -n -P show assoc format=account,user,partition,fairshare,grptres,grpjobs,grpsubmit,maxjobs,maxtres,maxwall,qos,defaultqos,priority",
    "sacctmgr -n -P show qos", "sacctmgr -n -P show account",
    "sacctmgr -n -P show user withassoc format=user,adminlevel,defaultaccount,account",
    "sshare -a -n -P -o account,user,partition,rawshares",
]


def world_of(subject):
    import figures      # which has its database from here
    kinds = {"shared": Shared, "figures": figures.Figures}
    return kinds.get(subject.split("-")[0], world.World)


def possible():
    return os.geteuid() == 0 and shutil.which("setpriv") is not None


class Slurmdbd:
    """Debian's slurmdbd and the mariadbd that it keeps its records in."""

    def __init__(self, cluster):
        self.cluster, self.process = cluster, None
        port = harness.free_ports(1)[0]
        self.maria = accounting.MariaDb(cluster.folder + "/maria")
        cluster.env["MYSQL_UNIX_PORT"] = self.maria.socket
        path = cluster.folder + "/etc/slurmdbd.conf"
        with open(path, "w") as f:
            f.write("\n".join((
                "AuthType=auth/munge", "AuthInfo=socket=" + cluster.munge.socket, "DbdHost=localhost", "DbdAddr=127.0.0.1", "DbdPort=%d" % port,
                "SlurmUser=root", "StorageType=accounting_storage/mysql", "StorageHost=localhost", "StorageUser=root",
                "PidFile=%s/run/slurmdbd.pid" % cluster.folder, "LogFile=%s/log/slurmdbd.log" % cluster.folder)) + "\n")
        os.chmod(path, 0o600)
        cluster.conf_lines = [line for line in cluster.conf_lines if not line.startswith("AccountingStorageType=")] + [
            "AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=127.0.0.1",
            "AccountingStoragePort=%d" % port, "AccountingStoragePass=" + cluster.munge.socket]
        cluster.write_lines()

    def start(self):
        self.process = self.cluster.spawn("slurmdbd", "-D")

    def stop(self):
        harness.end_process(self.process)
        self.maria.stop()


class Sqlite(accounting.Database):
    def __init__(self, cluster):
        super().__init__(cluster)
        # what CONF says stands
        cluster.conf_lines = [line for line in cluster.conf_lines if line != "AccountingStorageTRES=gres/gpu"]
        cluster.write_lines()


class Shared(world.Base):
    def __init__(self, folder):
        gres = "NodeName=n[1-3] Name=gpu Type=a100 File=%s/nvidia[0-3]\n" % os.path.join(folder, "dev")
        cluster = harness.Cluster(folder, nodes=3, gpus=4, node_line=NODES, gres_conf=gres, partitions=PARTITIONS, conf="\n".join(CONF))
        super().__init__(cluster, world.FIRST_JOB + len(RUNNING) + len(WAITING), own_user=False)
        for i in range(4):
            open(os.path.join(folder, "dev", "nvidia%d" % i), "w").close()
        os.chmod(cluster.work, 0o777)
        self.database = Slurmdbd(cluster) if harness.ORACLE else Sqlite(cluster)

    def start(self):
        c = self.cluster
        self.database.start()
        until("slurmdbd to answer", lambda: c.run("sacctmgr", "-n", "show", "qos").code == 0)
        c.ok("sacctmgr", "-i", "add", "qos", *PART.split())
        c.start()
        until("slurmdbd to know the cluster", lambda: "test" in c.ok("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
        self.fill()
        self.queue()
        self.before = self.state()
        return self

    def fill(self):
        """The users come last: when slurmctld has heard of them, it has heard of all."""
        words = ["modify qos normal set " + FREE] + ["add " + line for line in QOS]
        words += ["add qos %s %s %s" % (name, FREE, limit) for name, limit in QOS_LIMITS.items()]
        words += ["add " + line for line in ACCOUNTS]
        words += ["add account %s parent=limits %s" % item for item in ACCOUNT_LIMITS.items()]
        words += ["modify account physics set qos+=high,low,used", "modify account limits set qos+=" + ",".join(QOS_LIMITS)]
        words += ["add " + line for line in PEOPLE] + ["add user lp,irc account=" + ",".join(ACCOUNT_LIMITS)]
        c = self.cluster
        for line in words:
            c.ok("sacctmgr", "-i", *line.split())
        last = "a-maxwall|lp"
        until("slurmctld to know the users", lambda: last in c.ok("sshare", "-a", "-n", "-P", "-o", "account,user").out)

    def queue(self):
        """What is used, theory alone used: some seconds of eight CPUs. Then the jobs that stay."""
        c = self.cluster
        c.file("job.sh", world.JOB)
        c.file("true.sh", "#!/bin/sh\ntrue\n")
        used = self.submit("lp", "-A theory -q used -n 8 --mem=8 -w n1 --wrap 'sleep 2'")
        c.wait_job(used)
        until("its use to be counted", lambda: c.ok("sshare", "-n", "-P", "-A", "theory", "-o", "rawusage").out.split()[0] != "0", 150)
        c.stop_ctld()       # one that starts works priorities out at once, not after a PriorityCalcPeriod
        c.start_ctld()
        c.wait_ctld()
        c.wait_nodes("idle")
        for number, (user, options) in enumerate(RUNNING + WAITING, used + 1):
            job = self.submit(user, options + " job.sh")
            assert job == number, "job %d came for %d: %s" % (job, number, options)
            if number < used + 1 + len(RUNNING):
                c.wait_job(job, "RUNNING")
        until("a reason for every job", lambda: "None" not in c.queue("-t", "PENDING", "-o", "%r"))
        until("slurmdbd to know what waits", lambda: "70008_" in c.ok("sacct", "-a", "-X", "-n", "-s", "PENDING", "-o", "jobid").out, 150)
        until("priorities that know what was used", lambda: not {"0", "10000"} & set(c.ok("sprio", "-h", "-u", "lp", "-o", "%F").out.split()), 150)

    def submit(self, user, options):
        result = self.cluster.sh('. "$ORACLE/prelude.sh"; as %s sbatch --parsable -o /dev/null %s' % (user, options))
        assert result.code == 0, result
        return int(result.out.split(";")[0])

    def told_by(self, script):
        commands = super().told_by(script)
        if script is None or "sacctmgr" in script:
            commands += RECORDS
        return commands + (["scontrol -o show res"] if script is None or " res" in script else [])

    def state(self, script=None):
        """Debian's slurmctld forgets the order of associations when one goes."""
        return {command: sorted(map(str.strip, lines)) for command, lines in super().state(script).items()}

    def forget_new(self, script):
        """Reservations and records too: those whose names begin with `new`."""
        super().forget_new(script)
        c = self.cluster
        if " res" in script:
            for name in re.findall(r"(?m)^ReservationName=(\S+)", c.run("scontrol", "-o", "show", "res").out):
                c.run("scontrol", "delete", "reservation=" + name)
        for kind, field in (("user", "user"), ("account", "account"), ("qos", "name"), ("cluster", "cluster"),
                            ("federation", "federation")) if "sacctmgr" in script else ():
            for name in c.ok("sacctmgr", "-n", "-P", "show", kind, "format=" + field).lines:
                if name.startswith("new"):     # refused until slurmdbd has heard that the jobs of a case have ended
                    until(kind + " " + name + " to go", lambda: self.deleted(kind, field, name))

    def gone(self, jobs):
        """slurmdbd has heard of it, so that a list of what waits does not show them."""
        until("slurmdbd to hear of the end of jobs " + jobs, lambda: not re.search(
            "PENDING|RUNNING", self.cluster.ok("sacct", "-a", "-X", "-n", "-P", "-j", jobs, "-o", "state").out))

    def deleted(self, kind, field, name):
        self.cluster.run("sacctmgr", "-i", "delete", kind, name)
        return name not in self.cluster.ok("sacctmgr", "-n", "-P", "show", kind, "format=" + field).lines

    def stop(self):
        for user in USERS:
            self.cluster.run("scancel", "-u", user)
        try:
            super().stop()
        finally:
            self.database.stop()
