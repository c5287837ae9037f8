"""What docs/install.md has an administrator type and write, for one host that stands for both of the page's."""
import os
import re
import time

PAGE = open(os.path.join(os.path.dirname(__file__), "../../docs/install.md")).read()
# The page has two hosts and a real kernel's groups; here one host stands for both.
HERE = "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"


def commands(heading):
    """The commands of the page in the step with this number."""
    block = re.search(r"\*\*%s\..*?```sh\n(.*?)```" % heading, PAGE, re.S).group(1)
    return [line for line in block.splitlines() if not line.startswith(("systemctl", "scp"))]


def page_conf(host):
    text = re.search(r"```\n(ClusterName.*?)```", PAGE, re.S).group(1)
    text = text.replace("SlurmctldHost=ctl", "SlurmctldHost=%s(127.0.0.1)" % host)
    return text.replace("NodeName=node1", "NodeName=%s NodeAddr=127.0.0.1" % host) + HERE


def until(what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return
        time.sleep(0.1)
    assert what()


def first_job(root):
    """Steps 3 to 5 in a root where packages were installed: daemons that have run a job."""
    host = root.ok("hostname -s").strip()
    for command in commands(3):
        root.ok(command)
    root.write("/etc/slurm/slurm.conf", page_conf(host))
    for command in commands(4):
        root.ok(command)
    root.start("/usr/sbin/slurmctld -D")
    root.start("/usr/sbin/slurmd -D")
    until(lambda: "idle" in root.run("sinfo -h -o %t").stdout)
    for command in commands(5):
        root.ok(command)
    assert root.ok("srun -n1 hostname -s").strip() == host
    root.ok("scancel -u root")


def over_a_job(root, change):
    """`change` happens while a job runs, which goes on."""
    job = root.ok("sbatch --parsable --wrap 'sleep 4; echo done' -o /tmp/out").strip()
    until(lambda: root.run("squeue -h -o %t").stdout.strip() == "R")
    change()
    until(lambda: root.run("squeue -h").stdout == "")
    assert root.ok("cat /tmp/out") == "done\n"
    shown = root.ok("scontrol -o show job " + job)
    assert "JobId=%s " % job in shown and "JobState=COMPLETED" in shown
