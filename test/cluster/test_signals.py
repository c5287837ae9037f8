"""Signals of the daemons: slurmctld(8), slurmd(8), slurmdbd(8), SIGNALS. And what RebootProgram is told (slurm.conf(5) PowerAction)."""
import os
import signal

import harness
import pytest
from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm
HARMLESS = (signal.SIGUSR1, signal.SIGXCPU, signal.SIGPIPE, signal.SIGALRM, signal.SIGCHLD)


@pytest.fixture
def daemons(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    database = Database(cluster)
    database.start()
    yield cluster.start(), database
    database.stop()


def log_of(cluster, name):
    with open("%s/log/%s.log" % (cluster.folder, name), errors="replace") as f:
        return f.read()


def test_signals_that_end_no_daemon(daemons):
    cluster, database = daemons
    processes = {"slurmctld": cluster.ctld, "slurmd-n1": cluster.slurmds["n1"], "slurmdbd": database.process}
    for name, process in processes.items():
        for signo in HARMLESS:
            os.kill(process.pid, signo)
        os.kill(process.pid, signal.SIGPROF)      # they are delivered in some order; what is logged comes after all
        until(name + " to log its connections", lambda: "connections: " in log_of(cluster, name))
        assert process.poll() is None, name
        os.rename("%s/log/%s.log" % (cluster.folder, name), "%s/log/%s.log.1" % (cluster.folder, name))
        os.kill(process.pid, signal.SIGUSR2)
        until(name + " to begin a new log", lambda: os.path.exists("%s/log/%s.log" % (cluster.folder, name)))
    cluster.wait_job(cluster.sbatch("--wrap", "true"), "COMPLETED")


def test_sigusr2_takes_the_level_of_the_log_from_the_files(cluster):
    with open(cluster.conf_path, "a") as f:
        f.write("SlurmctldDebug=debug2\n")
    cluster.ctld.send_signal(signal.SIGUSR2)

    def debug():
        cluster.ok("scontrol", "ping")
        return "debug" in log_of(cluster, "slurmctld")
    until("a line of that level", debug)


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_an_end_in_order(daemons, signo):
    cluster, database = daemons
    for process in (cluster.slurmds["n1"], cluster.ctld, database.process):
        process.send_signal(signo)
        assert process.wait(20) == 0


def test_sigabrt_ends_slurmctld_in_order_with_a_core(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0)
    job = cluster.sbatch("--hold", "--wrap", "true")
    cluster.ctld.send_signal(signal.SIGABRT)
    assert cluster.ctld.wait(20) == -signal.SIGABRT
    assert "slurmctld ends" in log_of(cluster, "slurmctld")
    cluster.start_ctld()
    cluster.wait_ctld()
    assert cluster.job(job)["JobState"] == "PENDING"


def test_rebootprogram_is_told_the_node(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0, conf="ResumeTimeout=600")
    program = cluster.script("reboot-it", "#!/bin/sh\nenv > %s/work/reboot-env\n" % cluster.folder)
    cluster.conf_lines.append("RebootProgram=" + program)
    cluster.write_lines()
    cluster.start()
    cluster.ok("scontrol", "reboot", "n1")
    env = until("the program to run", lambda: cluster.read("reboot-env") if "SLURM_CONF" in cluster.read("reboot-env") else None)
    assert "SLURM_NODE_NAME=n1\n" in env and "SLURMD_NODENAME=n1\n" in env


def test_tracked_resources_are_known_after_a_reconfigure(daemons):
    cluster, _ = daemons
    until("the cluster to be known", lambda: cluster.run("sacctmgr", "-i", "add", "account", "a").code == 0)
    assert cluster.run("sacctmgr", "-i", "modify", "account", "a", "set", "MaxTRES=license/foo=5").code != 0
    cluster.conf_lines = [line + ",license/foo" if line.startswith("AccountingStorageTRES") else line for line in cluster.conf_lines]
    cluster.write_lines()
    cluster.ok("scontrol", "reconfigure")
    until("slurmdbd to know it",
          lambda: cluster.run("sacctmgr", "-i", "modify", "account", "a", "set", "MaxTRES=license/foo=5").code == 0)


def test_reconfig_on_restart(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0)

    def read_again():
        return log_of(cluster, "slurmd-n1").count("configuration read again")

    def restart():
        cluster.kill_ctld()
        cluster.start_ctld()
        cluster.wait_ctld()
        cluster.wait_nodes("idle")
    restart()
    assert read_again() == 0
    cluster.conf_lines.append("SlurmctldParameters=reconfig_on_restart")
    cluster.write_lines()
    restart()
    until("the node to read its files", lambda: read_again() == 1)
    cluster.wait_job(cluster.sbatch("--wrap", "true"), "COMPLETED")
    assert read_again() == 1
