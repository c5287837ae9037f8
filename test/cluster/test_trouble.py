"""When something is wrong: the answer comes at once, names what is wrong, and nothing is lost."""
import os
import re
import subprocess

import pytest

from harness import ORACLE, SLOW, until


def test_a_drained_node_finishes_its_job_and_takes_no_other(cluster):
    job = cluster.sbatch("-w", "n2", "-o", "/dev/null", "--wrap", "until [ -e done ]; do sleep 0.05; done")
    cluster.wait_job(job, "RUNNING")
    no_reason = cluster.run("scontrol", "update", "NodeName=n2", "State=DRAIN")
    assert no_reason.code == 1 and "You must specify a reason" in no_reason.err, no_reason
    cluster.ok("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=bad fan")
    cluster.wait_nodes("draining", ["n2"])
    waiting = cluster.sbatch("-w", "n2", "--wrap", "true")
    until("its reason", lambda: "ReqNodeNotAvail" in cluster.job(waiting)["Reason"])
    assert re.search(r"bad fan +%s" % cluster.user, cluster.ok("sinfo", "-R").out)
    cluster.file("done", "")
    cluster.wait_job(job)
    cluster.wait_nodes("drained", ["n2"])
    cluster.ok("scontrol", "update", "NodeName=n2", "State=RESUME")
    cluster.wait_job(waiting)


def test_a_node_set_down_ends_its_job(cluster):
    job = cluster.sbatch("-w", "n3", "--no-requeue", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", "update", "NodeName=n3", "State=DOWN", "Reason=gone")
    cluster.wait_job(job, "NODE_FAIL")
    if cluster.node_states()["n3"].startswith("down"):      # ReturnToService=2 may have brought it back already
        cluster.run("scontrol", "update", "NodeName=n3", "State=RESUME")


@pytest.mark.better_than_slurm
def test_a_node_that_dies_is_noticed_at_once(make_cluster):
    """Its job is requeued and runs elsewhere."""
    cluster = make_cluster(nodes=2, conf="SlurmdTimeout=5")
    job = cluster.sbatch("--requeue", "-N1", "-o", "/dev/null", "--wrap", "[ -n \"$SLURM_RESTART_COUNT\" ] || sleep 60")
    node = cluster.wait_job(job, "RUNNING")["NodeList"]
    process = cluster.slurmds[node]
    process.kill()
    process.wait()
    cluster.wait_nodes(r"down\*?", [node], seconds=20)
    record = cluster.wait_job(job, seconds=40)
    assert record["Restarts"] == "1" and record["NodeList"] != node


def test_output_that_can_not_be_written(cluster):
    job = cluster.sbatch("-o", "/proc/no/such/file", "--wrap", "true")
    record = cluster.wait_job(job, "FAILED")
    assert record["ExitCode"] == "0:53", record


def test_an_unknown_user(cluster):
    result = cluster.run("squeue", "-u", "no-such-user")
    assert "squeue: error: Invalid user: no-such-user" in result.err, result
    result = cluster.run("sbatch", "--uid=no-such-user", "--wrap", "true")
    assert result.code != 0 and result.out == "" and re.search("(?i)uid|user", result.err), result


def test_a_node_that_has_less_than_the_file_says(make_cluster):
    cluster = make_cluster(nodes=2, cpus=512, gpus=0, real_hardware=True, start=False)
    cluster.start(wait=False)
    cluster.wait_nodes("(inval|invalid|drained)", seconds=20)
    text = cluster.ok("scontrol", "show", "node", "n1").out
    assert re.search(r"Reason=.*Low (CPUs|socket\*core\*thread count)", text), text
    job = cluster.sbatch("--wrap", "true")
    until("a reason", lambda: re.search("Resources|ReqNodeNotAvail|Nodes_required", cluster.job(job)["Reason"]))


NO_CONTROLLER = [
    (["squeue"], "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"),
    (["sinfo"], "Unable to contact slurm controller (connect failure)"),
    (["scontrol", "show", "job", "1"], "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"),
    (["scontrol", "show", "nodes"], "slurm_load_node error: Unable to contact slurm controller (connect failure)"),
    (["scancel", "1"], "Unable to contact slurm controller (connect failure)"),
]


@pytest.mark.parametrize("command,text", NO_CONTROLLER, ids=[" ".join(c) for c, _ in NO_CONTROLLER])
def test_no_controller(make_cluster, command, text):
    cluster = make_cluster(nodes=1, gpus=0, start=False)
    result = cluster.run(*command)
    assert result.code != 0 and text in result.err, result
    # What changes something waits a little for a controller that is being restarted.
    assert ORACLE or command[0] == "scancel" or result.seconds < 3 * SLOW, result


def test_ping_without_a_controller(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0, start=False)
    result = cluster.run("scontrol", "ping")
    assert result.code == 1 and re.match(r"Slurmctld\(primary\) at \S+ is DOWN\n", result.out), result
    assert ORACLE or result.seconds < 3 * SLOW, result


def test_ping(cluster):
    assert re.fullmatch(r"Slurmctld\(primary\) at \S+ is UP\n", cluster.ok("scontrol", "ping").out)


@pytest.mark.parametrize("command,text", [
    (["sacct"], "Slurm accounting storage is disabled"),
    (["sacctmgr", "-n", "show", "account"], "You are not running a supported accounting_storage plugin"),
    (["sreport", "cluster", "utilization"], "You are not running a supported accounting_storage plugin"),
], ids=["sacct", "sacctmgr", "sreport"])
def test_commands_that_need_accounting(cluster, command, text):
    result = cluster.run(*command)
    assert result.code == 1 and text in result.err + result.out, result


def test_versions_need_no_configuration(cluster):
    for name in ("sbatch", "srun", "squeue", "sinfo", "scontrol", "scancel"):
        env = {} if ORACLE else {"SLURM_CONF": "/nonexistent/slurm.conf"}
        assert re.fullmatch(r"slurm\S* \d+\.\d+\.\d+\S*\n", cluster.ok(name, "-V", env=env).out)


@pytest.mark.better_than_slurm
def test_a_full_disk_loses_nothing(make_cluster):
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    cluster = make_cluster(nodes=1, gpus=0, start=False)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs", cluster.state_folder],
                      capture_output=True).returncode:
        pytest.skip("this machine mounts no tmpfs")
    try:
        cluster.start()
        kept = [cluster.sbatch("--hold", "--wrap", "true") for _ in range(5)]
        ballast = os.path.join(cluster.state_folder, "ballast")
        subprocess.run(["dd", "if=/dev/zero", "of=" + ballast, "bs=64k"], capture_output=True)
        big = cluster.file("big.sh", "#!/bin/bash\n" + "# %s\n" % ("x" * 70) * 3000)
        refused = None
        for _ in range(50):
            result = cluster.run("sbatch", "--parsable", "--hold", big, timeout=20)
            if result.code:
                refused = result
                break
            kept.append(int(result.out))
        assert refused is not None and refused.out == "" and "sbatch: error:" in refused.err, refused
        assert cluster.ctld.poll() is None, "slurmctld ended: " + cluster.logs()
        assert set(cluster.queue("-o", "%i")) == {str(job) for job in kept}
        os.unlink(ballast)
        kept.append(cluster.sbatch("--hold", "--wrap", "true"))
        cluster.kill_ctld()
        cluster.start_ctld()
        cluster.wait_ctld()
        assert set(cluster.queue("-o", "%i")) == {str(job) for job in kept}
    finally:
        cluster.stop()
        cluster.slurmds = {}
        subprocess.run(["umount", "-l", cluster.state_folder], capture_output=True)


def test_scontrol_shutdown_ends_the_daemons_within_seconds(make_cluster):
    cluster = make_cluster(nodes=2)
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "until [ -e go ]; do sleep 0.05; done; touch survived")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", "shutdown")
    assert cluster.ctld.wait(10) == 0
    for process in cluster.slurmds.values():
        assert process.wait(10) == 0
    cluster.file("go", "")
    until("the job to live on", lambda: os.path.exists(cluster.work + "/survived"))
    cluster.start()
    cluster.wait_job(job)
