"""Features of nodes that a boot changes: helpers.conf(5), sbatch(1) --constraint, --reboot and --delay-boot. The helper of these nodes keeps
what is active in a file, and what is to be active in another, which the "boot" of the test puts in its place."""
import os
import re
import shutil

import pytest

from harness import end_process, until

pytestmark = pytest.mark.better_than_slurm      # 22.05 takes minutes over its states

HELPER = """#!/bin/sh
[ $# -gt 0 ] || { cat %(f)s/active-$SLURMD_NODENAME; exit; }
echo "$SLURMD_NODENAME $# $1" >> %(f)s/helped
echo "$1" > %(f)s/next-$SLURMD_NODENAME
"""
LINES = "Feature=nps1,nps2 Helper=%(bin)s/nps\nMutuallyExclusive=nps1,nps2\n"


def write(cluster, name, text):
    with open(os.path.join(cluster.folder, name), "w") as f:
        f.write(text)


def with_helpers(make_cluster, helpers=LINES, helper=HELPER, conf=(), start=True, active=("nps1", "nps1")):
    cluster = make_cluster(start=False, nodes=2, gpus=0)
    cluster.script("nps", helper % {"f": cluster.folder})
    cluster.script("reboot", '#!/bin/sh\necho "$SLURMD_NODENAME $*" >> %s/did\n' % cluster.folder)
    for name, feature in zip(cluster.names, active):
        write(cluster, "active-" + name, feature)
    write(cluster, "etc/helpers.conf", helpers % {"bin": cluster.bin})
    cluster.conf_lines += ["NodeFeaturesPlugins=node_features/helpers", "RebootProgram=%s/reboot" % cluster.bin, "ResumeTimeout=120", *conf]
    cluster.write_lines()
    return cluster.start() if start else cluster


def said(cluster, name):
    path = os.path.join(cluster.folder, name)
    return open(path).read().split("\n")[:-1] if os.path.exists(path) else []


def come_back(cluster, name, features=True):
    """The machine has booted, with what its helper prepared."""
    end_process(cluster.slurmds[name])
    prepared = os.path.join(cluster.folder, "next-" + name)
    if features and os.path.exists(prepared):
        os.rename(prepared, os.path.join(cluster.folder, "active-" + name))
    cluster.slurmds[name] = cluster.spawn("slurmd", "-D", "-b", "-N", name, "-f", cluster.conf_path)


def node(cluster, name, key):
    found = re.search(r" %s=(\S*)" % key, cluster.ok("scontrol", "-o", "show", "node", name).out)
    return found.group(1) if found else ""


def wait_configuring(cluster, job):
    until("job %s to wait for its nodes: %s" % (job, cluster.logs()), lambda: cluster.ok("squeue", "-h", "-j", str(job), "-o", "%t").out == "CF\n")


def test_a_job_boots_the_node_that_it_needs(make_cluster):
    cluster = with_helpers(make_cluster)
    assert node(cluster, "n1", "AvailableFeatures") == "nps1,nps2" and node(cluster, "n1", "ActiveFeatures") == "nps1"
    job = cluster.sbatch("-C", "nps2", "-w", "n2", "--wrap", "echo here")
    wait_configuring(cluster, job)
    until("the program, after the helper", lambda: said(cluster, "did") == ["n2 nps2"])
    assert said(cluster, "helped") == ["n2 1 nps2"]
    assert "REBOOT_ISSUED" in node(cluster, "n2", "State") and "POWER_UP_NODE" in cluster.ok("squeue", "--json").out
    assert cluster.ok("sinfo", "-h", "-n", "n2", "-o", "%T").out.strip().endswith("^")
    cluster.kill_ctld()                         # what is under way outlives the controller
    cluster.start_ctld()
    cluster.wait_ctld()
    come_back(cluster, "n2")
    cluster.wait_job(job)
    assert cluster.ok("sinfo", "-h", "-N", "-p", "main", "-o", "%N %f %b").out.split("\n")[:2] == ["n1 nps1,nps2 nps1", "n2 nps1,nps2 nps2"]
    assert "Reason=" not in cluster.ok("scontrol", "show", "node", "n2").out
    cluster.wait_job(cluster.sbatch("-C", "nps2", "--wrap", "true"))        # n2 has it
    cluster.wait_job(cluster.sbatch("-C", "nps1|nps2", "-N", "1", "--wrap", "true"))
    assert set(said(cluster, "did")) == {"n2 nps2"}     # told again to a node that registered without having gone


def test_all_nodes_of_a_job_get_the_same(make_cluster):
    cluster = with_helpers(make_cluster, active=("nps1", "nps2"))
    job = cluster.sbatch("-N2", "-C", "nps2|nps1", "--wrap", "true")
    until("n1 alone to boot", lambda: said(cluster, "did") == ["n1 nps2"])
    come_back(cluster, "n1")
    cluster.wait_job(job)
    assert said(cluster, "did") == ["n1 nps2"]


def test_without_a_reboot(make_cluster):
    cluster = with_helpers(make_cluster, "Feature=mig Helper=%(bin)s/nps Flags=rebootless\n",
                           helper=HELPER.replace("next-", "active-"), active=("", ""))
    job = cluster.sbatch("-C", "mig", "-w", "n1", "--wrap", "true")
    cluster.wait_job(job)
    assert said(cluster, "helped") == ["n1 1 mig"] and said(cluster, "did") == []
    assert node(cluster, "n1", "ActiveFeatures") == "mig" and node(cluster, "n2", "ActiveFeatures") != "mig"


def test_a_node_that_does_not_come_back(make_cluster):
    cluster = with_helpers(make_cluster, LINES + "BootTime=2\n", conf=["ResumeTimeout=2"])
    job = cluster.sbatch("-C", "nps2", "-N1", "--requeue", "--wrap", "true")
    wait_configuring(cluster, job)
    first = cluster.job(job)["NodeList"]
    end_process(cluster.slurmds[first])
    cluster.wait_nodes("down.*", [first])
    assert "Reason=rebooted for job %d : reboot timed out" % job in cluster.ok("scontrol", "show", "node", first).out
    other = {"n1": "n2", "n2": "n1"}[first]
    until("the job to boot %s: %s" % (other, cluster.job(job)), lambda: other + " nps2" in said(cluster, "did"))
    come_back(cluster, other)
    assert cluster.wait_job(job)["Restarts"] == "1"


def test_a_node_that_comes_back_without_it(make_cluster):
    cluster = with_helpers(make_cluster)
    job = cluster.sbatch("-C", "nps2", "-w", "n1", "--requeue", "--wrap", "true")
    until("n1 to be told", lambda: said(cluster, "did") == ["n1 nps2"])
    come_back(cluster, "n1", features=False)
    cluster.wait_nodes("drain.*", ["n1"])
    assert "Reason=features not active after the boot: nps2" in cluster.ok("scontrol", "show", "node", "n1").out
    assert cluster.wait_job(job, "PENDING")["Restarts"] == "1"


def test_helpers_that_fail(make_cluster):
    refuses = HELPER.replace("echo \"$1\" >", "echo no such thing; exit 3; echo \"$1\" >")
    cluster = with_helpers(make_cluster, LINES + "ExecTime=20\n", helper=refuses)
    job = cluster.sbatch("-C", "nps2", "-w", "n1", "--requeue", "--wrap", "true")
    cluster.wait_nodes("drain.*", ["n1"])
    assert "exit code 3: no such thing" in cluster.ok("scontrol", "show", "node", "n1").out
    assert said(cluster, "did") == [], "a node that could not get it does not boot"
    assert cluster.wait_job(job, "PENDING")["Restarts"] == "1"
    cluster.script("nps", "#!/bin/sh\nexec sleep 1000\n")       # from now on it hangs
    write(cluster, "etc/helpers.conf", (LINES + "ExecTime=1\n") % {"bin": cluster.bin})
    come_back(cluster, "n2")
    cluster.wait_nodes("drain.*", ["n2"])
    assert "timed out" in cluster.ok("scontrol", "show", "node", "n2").out


def test_reboot_for_a_job(make_cluster):
    cluster = with_helpers(make_cluster)
    if os.geteuid() == 0 and shutil.which("setpriv"):
        refused = cluster.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sbatch", "--reboot", "--wrap", "true", cwd="/")
        assert refused.code == 1 and "only administrators may reboot nodes" in refused.err, refused
    job = cluster.sbatch("--reboot", "-w", "n1", "--wrap", "true")
    wait_configuring(cluster, job)
    assert cluster.job(job)["Reboot"] == "1"
    until("the program", lambda: [line.strip() for line in said(cluster, "did")] == ["n1"])
    assert said(cluster, "helped") == []
    come_back(cluster, "n1")
    cluster.wait_job(job)


def test_delay_boot_and_who_may(make_cluster):
    cluster = with_helpers(make_cluster, LINES + "AllowUserBoot=%s\n" % "nobody,daemon")
    mine = cluster.sbatch("-C", "nps2", "--wrap", "true")
    patient = cluster.sbatch("-C", "nps1&nps1", "--delay-boot=60", "--wrap", "true")
    cluster.wait_job(patient)
    assert cluster.job(mine)["JobState"] == "PENDING" and said(cluster, "did") == []
    cluster.ok("scontrol", "update", "nodename=n2", "ActiveFeatures=nps2")      # only slurmctld thinks so
    cluster.wait_job(mine)
    assert said(cluster, "did") == []
    write(cluster, "etc/helpers.conf", LINES % {"bin": cluster.bin})
    cluster.conf_lines.append("SchedulerParameters=delay_boot=60")
    cluster.write_lines()
    cluster.ok("scontrol", "reconfigure")
    cluster.ok("scontrol", "update", "nodename=n[1-2]", "ActiveFeatures=nps1")
    waits = cluster.sbatch("-C", "nps2", "--wrap", "true")
    at_once = cluster.sbatch("-C", "nps2", "-w", "n2", "--delay-boot=0", "--wrap", "true")
    wait_configuring(cluster, at_once)
    assert cluster.job(waits)["JobState"] == "PENDING"


def test_what_is_refused_runs_nothing(make_cluster):
    cluster = with_helpers(make_cluster)
    for constraint, rule in (("nps1&nps2", "exclude each other"), ("[nps1|nps2]", "no brackets and no counts"),
                             ("nps2*1", "no brackets and no counts"), ("nps2;touch${IFS}owned", "no node has the feature"),
                             ("`touch owned`", "Invalid feature"), ("nps2$(id)", "expected & or |"), ("--help", "no node has the feature"), ("nps3", "did you mean nps")):
        refused = cluster.run("sbatch", "--constraint=" + constraint, "--wrap", "true")
        assert refused.code == 1 and rule in refused.err, (rule, refused)
    refused = cluster.run("sbatch", "--delay-boot=x", "--wrap", "true")
    assert refused.code == 255 and "Invalid --delay-boot specification" in refused.err, refused
    assert said(cluster, "helped") == [] and said(cluster, "did") == [] and not os.path.exists(os.path.join(cluster.work, "owned"))


def test_the_file_is_checked(make_cluster):
    cluster = with_helpers(make_cluster, "Feature=a Helper=nps\n", start=False)
    checked = cluster.run("muster", "check-config", cluster.conf_path)
    assert checked.code == 1 and "helpers.conf:1: error: Helper: has to be the absolute path of a program" in checked.out + checked.err, checked
