"""The checklist's commands (rows 1-30 of checklist.txt), in the shape written there, on the site they are written for."""
import os
import re
import subprocess
from datetime import datetime, timedelta

import harness
import pytest
from accounting import Database
from harness import until
from sites import h100  # noqa: F401: a fixture

pytestmark = pytest.mark.better_than_slurm

TRAIN = """#!/bin/bash
#SBATCH --job-name=llm-fsdp-train
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:8
#SBATCH --exclusive
#SBATCH --time=48:00:00
#SBATCH --output=logs/%j/train.out
#SBATCH --error=logs/%j/train.err
#SBATCH --requeue

export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29500

srun torchrun --nnodes=$SLURM_JOB_NUM_NODES --nproc_per_node=8 --rdzv_backend=c10d \\
  --rdzv_endpoint="$MASTER_ADDR:$MASTER_PORT" train.py --fsdp --bf16
"""
SANITY = "#!/bin/bash\n#SBATCH --job-name=sanity\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:8\n#SBATCH --time=00:05:00\nsrun nvidia-smi\n"


def output(cluster, job):
    with open(cluster.wait_job(job)["StdOut"]) as f:
        return f.read()


def gpus(nodes, job="\\d+"):
    return "".join("GPU %d: NVIDIA H100 80GB HBM3 \\(job %s on %s\\)\n" % (i, job, node) for node in nodes for i in range(8))


@pytest.mark.row(1, 6, 26, 29, 47, 52, 54, 55, 56, 64, 119, 99)
def test_the_training_script(cluster):
    cluster.file("train.sh", TRAIN)
    said = cluster.sh("sbatch train.sh")
    assert re.fullmatch(r"Submitted batch job \d+\n", said.out) and said.code == 0 and said.err == "", said
    job = int(said.out.split()[-1])
    # One launcher a node; all of them told of the same first node.
    assert sorted(output(cluster, job).splitlines()) == [
        "torchrun on gpu-node-00%d rank %d local 0: --nnodes=4 --nproc_per_node=8 --rdzv_backend=c10d "
        "--rdzv_endpoint=gpu-node-001:29500 train.py --fsdp --bf16" % (i + 1, i) for i in range(4)]
    assert cluster.job(job)["StdOut"] == "%s/logs/%d/train.out" % (cluster.work, job)
    assert cluster.read("logs/%d/train.err" % job) == ""


@pytest.mark.row(1, 6, 29)
def test_the_sanity_script(cluster):
    cluster.file("sanity.sh", SANITY)
    said = cluster.sh("sbatch sanity.sh")
    assert re.fullmatch(r"Submitted batch job \d+\n", said.out), said
    job = said.out.split()[-1]
    assert re.fullmatch(gpus(["gpu-node-001"], job), output(cluster, job))


@pytest.mark.row(6, 120)
@pytest.mark.parametrize("tasks", [1, 8])
@pytest.mark.parametrize("step", ["srun python train.py --model-size=70B", "srun python train_ds.py --deepspeed ds_config.json"])
def test_srun_starts_one_task_for_each_of_ntasks_per_node(cluster, step, tasks):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=%d\n%s\n" % (tasks, step))
    assert sorted(out.splitlines()) == sorted(
        "python on gpu-node-00%d rank %d local %d: %s" % (rank // tasks + 1, rank, rank % tasks, step.split(None, 2)[2])
        for rank in range(2 * tasks))


@pytest.mark.row(2, 3, 62)
def test_restart_on_failure(cluster):
    cluster.file("train.sh", "#!/bin/bash\n#SBATCH -o run.%j\nuntil [ -e go ]; do sleep 0.02; done\n[ -e failed ] || { touch failed; exit 1; }\n")
    said = cluster.sh("JOBID=$(sbatch --parsable train.sh)\nsbatch --dependency=afternotok:$JOBID train.sh\n"
                      "echo $JOBID; squeue -h -u $USER -o '%i %E'; touch go")
    restart = re.match(r"Submitted batch job (\d+)\n(\d+)\n", said.out)
    assert restart and said.err == "", said
    assert "%s afternotok:%s(unfulfilled)" % restart.groups() in said.lines, said
    cluster.wait_job(restart[2], "FAILED")
    cluster.wait_job(restart[1])


@pytest.mark.row(2, 4)
def test_evaluate_after_training(cluster):
    cluster.file("train.sh", "#!/bin/bash\n#SBATCH -o /dev/null\nuntil [ -e trained ]; do sleep 0.02; done\necho trained >>order\n")
    cluster.file("eval.sh", "#!/bin/bash\n#SBATCH -o /dev/null\necho evaluated >>order\n")
    said = cluster.sh('jid=$(sbatch --parsable train.sh)\nsbatch --dependency=afterok:"$jid" eval.sh')
    assert re.fullmatch(r"Submitted batch job \d+\n", said.out) and said.err == "", said
    job = int(said.out.split()[-1])
    assert cluster.job(job)["Reason"] == "Dependency"
    cluster.file("trained", "")
    cluster.wait_job(job)
    assert cluster.read("order") == "trained\nevaluated\n"


@pytest.mark.row(5, 60, 137)
def test_a_sweep_on_the_command_line(cluster):
    cluster.file("sweep.sh", "#!/bin/bash\nuntil [ -e all ]; do sleep 0.05; done\necho $SLURMD_NODENAME/$CUDA_VISIBLE_DEVICES\n")
    said = cluster.sh("sbatch --array=0-15 --gres=gpu:1 sweep.sh")
    assert re.fullmatch(r"Submitted batch job \d+\n", said.out), said
    job = said.out.split()[-1]
    # All at once, each with a GPU of its own.
    until("16 to run", lambda: len(cluster.queue("-r", "-j", job, "-t", "R")) == 16)
    cluster.file("all", "")
    until("the end", lambda: not cluster.queue("-j", job))
    seen = {cluster.read("slurm-%s_%d.out" % (job, task)).strip() for task in range(16)}
    assert len(seen) == 16 and all(re.fullmatch(r"gpu-node-00[12]/[0-7]", one) for one in seen), seen


@pytest.mark.row(7)
def test_srun_test_only(cluster):
    said = cluster.sh("srun --nodes=4 --gres=gpu:8 --test-only /bin/true")
    assert said.code == 0 and said.out == "", said
    assert re.fullmatch(r"srun: Job \d+ to start at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d using 4 processors on nodes "
                        r"gpu-node-\[001-004\] in partition train\n", said.err), said
    # When it can not start at once, the time says so: the end of what is in the way, rounded up as backfill does.
    blocker = cluster.sbatch("--exclusive", "-w", "gpu-node-002", "--time=02:00:00", "--wrap", "sleep 600")
    end = datetime.fromisoformat(cluster.wait_job(blocker, "RUNNING")["EndTime"])
    said = cluster.sh("srun --nodes=4 --gres=gpu:8 --test-only /bin/true")
    start = datetime.fromisoformat(re.search(r" to start at (\S+) using 4 .* nodes gpu-node-\[001-004\] ", said.err)[1])
    assert end <= start <= end + timedelta(minutes=1), (said, end)
    assert cluster.queue("-t", "PD") == []


@pytest.mark.row(8, 62)
def test_a_look_into_a_running_job(cluster):
    job = cluster.sbatch("--nodes=2", "--gres=gpu:8", "--wrap", "srun sleep 600")
    cluster.wait_job(job, "RUNNING")
    until("its step", lambda: cluster.ok("squeue", "-h", "-s", "-j", str(job), "-o", "%i").lines.count("%d.0" % job) == 1)
    said = cluster.sh("srun --jobid=$JOBID --overlap nvidia-smi", env={"JOBID": str(job)})
    assert said.code == 0 and said.err == "", said
    assert re.fullmatch(gpus(["gpu-node-001", "gpu-node-002"], str(job)), "".join(sorted(
        said.out.splitlines(True), key=lambda line: (line.split()[-1], line)))), said
    assert cluster.job(job)["JobState"] == "RUNNING"


@pytest.mark.row(9, 40)
@pytest.mark.parametrize("line,devices", [("srun --partition=gpu --gres=gpu:1 --pty bash", "0"),
                                          ("srun --partition=gpu --gres=gpu:2 --gpu-bind=closest --pty bash", "0,1")])
def test_a_shell_on_a_node(cluster, line, devices):
    prompt = rb"[$#] ?$"
    out, code = cluster.terminal(*line.split(), rows=37, columns=91, keys=[
        (prompt, b"tty; stty size; echo $SLURM_JOB_PARTITION gpus=$CUDA_VISIBLE_DEVICES.\n"),
        (rb"gpus=[0-9,]+\.", b"sh -c 'echo go; exec sleep 60'; echo after=$?\n"),
        (rb"go\r\n", b"\x03"), (rb"\^C[\s\S]*[$#] ?$", b"exit 3\n")])
    assert re.search(r"/dev/pts/\d+", out) and "37 91" in out and "gpu gpus=%s." % devices in out and code == 3, (out, code)


@pytest.mark.row(11, 37, 57, 58, 121, 122)
def test_one_ray_a_node(cluster):
    cluster.script("ray", '#!/bin/bash\necho "$SLURMD_NODENAME $*"\n')
    out, _ = cluster.run_script(
        "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n#SBATCH --exclusive\n"
        "head=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n1)\nip_head=$head:6379\n"
        "srun --nodes=\"$SLURM_NNODES\" --ntasks=\"$SLURM_NNODES\" ray symmetric-run --address \"$ip_head\" "
        "--min-nodes \"$SLURM_NNODES\" --num-gpus=\"$SLURM_GPUS_PER_NODE\" -- python train_rl.py\n")
    assert sorted(out.splitlines()) == ["gpu-node-00%d symmetric-run --address gpu-node-001:6379 --min-nodes 4 --num-gpus=8 "
                                        "-- python train_rl.py" % i for i in (1, 2, 3, 4)]


@pytest.mark.row(13, 14, 29)
def test_squeue(cluster):
    job = cluster.sbatch("-J", "llm-fsdp-train", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    header = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)"
    for line in ("squeue", "squeue -u $USER"):
        out = cluster.sh(line).lines
        assert out[0] == header and len(out) == 2, out
        assert re.fullmatch(r" {%d}%d     train llm-fsdp %8s  R +0:\d\d      1 gpu-node-001" % (
            18 - len(str(job)), job, cluster.user[:8]), out[1]), out
    assert cluster.sh("squeue -u nobody").lines == [header]


@pytest.mark.row(15, "109d")
def test_squeue_with_every_field(cluster):
    job = cluster.sbatch("-N2", "--gres=gpu:h100:8", "-J", "llm-fsdp-train-with-a-name-too-long", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    waiting = cluster.sbatch("-N4", "--gres=gpu:8", "-J", "next", "--wrap", "true")
    until("a reason", lambda: cluster.job(waiting)["Reason"] == "Resources")
    out = cluster.sh('squeue --format="%.18i %.9P %.30j %.8u %.8T %.10M %.6D %R %b"').lines
    assert out[0] == "             JOBID PARTITION                           NAME     USER    STATE       TIME  NODES " \
                     "NODELIST(REASON) TRES_PER_NODE"
    assert out[1] == "%18d     train %30s %8s  PENDING       0:00      4 (Resources) gres/gpu:8" % (
        waiting, "next", cluster.user[:8])
    assert re.fullmatch(r"%18d     train %30s %8s  RUNNING +0:\d\d      2 gpu-node-\[001-002\] gres/gpu:h100:8" % (
        job, "llm-fsdp-train-with-a-name-too", cluster.user[:8]), out[2]), out


@pytest.mark.row(16, 29, 62)
def test_scancel(cluster):
    running = cluster.sbatch("--wrap", "sleep 600")
    cluster.wait_job(running, "RUNNING")
    pending = cluster.sbatch("--hold", "--wrap", "true")
    for job in (running, pending):
        said = cluster.sh("scancel $JOBID", env={"JOBID": str(job)})
        assert (said.out, said.err, said.code) == ("", "", 0), said
        cluster.wait_job(job, "CANCELLED")


@pytest.mark.row(17, 29)
def test_sinfo(cluster):
    assert cluster.sh("sinfo").out == (
        "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
        "train*       up 7-00:00:00      4   idle gpu-node-[001-004]\n"
        "debug        up    2:00:00      1   idle gpu-node-001\n"
        "priority     up 30-00:00:0      4   idle gpu-node-[001-004]\n"
        "gpu          up   infinite      8   idle gpu-node-[001-008]\n"
        "blackwell    up   infinite      4   idle gpu-node-[005-008]\n")


@pytest.mark.row(26, 99)
def test_show_hostnames_keeps_the_order_and_needs_no_controller(cluster):
    env = {"SLURM_CONF": "/nonexistent/slurm.conf", "SLURM_JOB_NODELIST": "gpu-node-[003-004,001]"}
    for line, want in (('scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1', "gpu-node-003\n"),
                       ('scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1', "gpu-node-003\n"),
                       ("scontrol show hostnames \"$SLURM_JOB_NODELIST\" | awk '{print $1 \" slots=8\"}'",
                        "gpu-node-003 slots=8\ngpu-node-004 slots=8\ngpu-node-001 slots=8\n")):
        said = cluster.sh(line, env=env)
        assert (said.out, said.err) == (want, ""), said


@pytest.mark.row(27)
def test_salloc(cluster):
    said = cluster.run("salloc", "--nodes=2", "--gres=gpu:8", "bash", "-c", "srun nvidia-smi; exit 5")
    assert said.code == 5, said
    assert re.fullmatch(gpus(["gpu-node-001", "gpu-node-002"]), "".join(sorted(
        said.out.splitlines(True), key=lambda line: (line.split()[-1], line)))), said
    granted = re.search(r"^salloc: Granted job allocation (\d+)$", said.err, re.M)
    cluster.wait_job(granted[1], "FAILED|COMPLETED")
    out, code = cluster.terminal("salloc", "-N1", keys=[(rb"[$#] ?$", b"echo nodes=$SLURM_JOB_NODELIST.\n"),
                                                       (rb"nodes=gpu\S+\.", b"exit\n")])
    assert "nodes=gpu-node-001." in out and code == 0, (out, code)


@pytest.mark.row(30)
def test_reconfigure_takes_a_changed_file(make_cluster):
    """What a site's hook does: change slurm.conf, reload; running jobs stay."""
    cluster = make_cluster(nodes=2)
    job = cluster.sbatch("--wrap", "sleep 600")
    before = cluster.wait_job(job, "RUNNING")
    cluster.conf_lines[-1] = "PartitionName=gpu Nodes=n2 MaxTime=1:00:00 State=UP"
    cluster.conf_lines.append("NodeName=n3 CPUs=4 RealMemory=1000 State=UNKNOWN")
    cluster.conf_lines.append("PartitionName=added Nodes=n3 State=UP")
    cluster.write_lines()
    said = cluster.sh("scontrol reconfigure")
    assert (said.code, said.err) == (0, ""), said
    until("the new limit", lambda: "MaxTime=01:00:00" in cluster.ok("scontrol", "show", "partition", "gpu").out)
    assert "NodeName=n3" in cluster.ok("scontrol", "show", "node", "n3").out
    now = cluster.job(job)
    assert (now["JobState"], now["StartTime"]) == ("RUNNING", before["StartTime"])


# ---- what waits: a clear no meanwhile, never silence
@pytest.mark.row(12)
@pytest.mark.parametrize("option", ["--container-image=nvcr.io/nvidia/pytorch:24.12-py3", "--container-mounts=/data:/data,/scratch:/scratch"])
def test_options_of_pyxis_are_unknown_without_it(cluster, option):
    said = cluster.run("srun", option, "true")
    assert said.code != 0 and said.out == "" and said.err.startswith("srun: unrecognized option '%s'\n" % option), said
    name = option.split("=")[0]
    assert "srun: hint: %s comes from a SPANK plugin such as Pyxis, and plugstack.conf loads none that brings it\n" % name in said.err, said


@pytest.mark.parametrize("line", [
    "sacct -j $JOBID", "sacct -j $JOBID --format=JobID,Elapsed,CPUTime,NCPUS,AllocGRES,State",
    "sacct --format=JobID,User,Partition,AllocGRES,Elapsed,State --starttime=2026-01-01 --endtime=2026-03-01",
    'sacct --allocations --starttime=$(date -d "1 month ago" +%Y-%m-%d) --format=User,AllocGRES,ElapsedRaw --state=COMPLETED'])
def test_sacct_without_accounting(cluster, line):
    said = cluster.sh(line, env={"JOBID": "1"})
    assert (said.code, said.out) == (1, "") and "Slurm accounting storage is disabled" in said.err, said


@pytest.mark.parametrize("line", [
    'sacctmgr add account team-a Description="Team A" Organization=research', "sacctmgr add user alice Account=team-a",
    'sacctmgr add qos team-a-qos GrpTRESMins="gres/gpu=43200"', "sacctmgr modify account team-a set QOS=team-a-qos"])
def test_sacctmgr_without_accounting(cluster, line):
    said = cluster.sh(line)
    assert said.code == 1 and "You are not running a supported accounting_storage plugin" in said.out + said.err, said


@pytest.mark.row(28)
def test_the_units_start_the_daemons(make_cluster):
    """ExecStart of the units as they are installed, run as systemd would."""
    cluster = make_cluster(start=False, nodes=1)
    database = Database(cluster)

    def start(unit, options):
        with open(os.path.join(harness.REPO, "packaging", unit + ".service.in")) as f:
            text = f.read()
        command = re.search(r"^ExecStart=@CMAKE_INSTALL_PREFIX@/sbin/(.*)$", text, re.M)[1]
        assert "WantedBy=multi-user.target" in text and "Type=notify" in text
        return cluster.spawn(*command.replace("$%s_OPTIONS" % unit.upper(), options).split())
    database.process = start("slurmdbd", "")
    cluster.ctld = start("slurmctld", "")
    cluster.wait_ctld()
    cluster.slurmds["n1"] = start("slurmd", "-N n1")
    cluster.wait_nodes("idle")
    job = cluster.sbatch("--wrap", "true")
    cluster.wait_job(job)
    try:
        database.wait_state(job, "COMPLETED")
    finally:
        database.stop()


@pytest.mark.row(28)
def test_systemd_reads_the_units(tmp_path):
    """What `systemctl enable --now slurmctld slurmdbd slurmd` finds: units that systemd has nothing to say about."""
    units = []
    for unit in ("slurmctld", "slurmd", "slurmdbd"):
        with open(os.path.join(harness.REPO, "packaging", unit + ".service.in")) as f:
            text = f.read()
        text = text.replace("@CMAKE_INSTALL_PREFIX@", harness.prefix()).replace("@CMAKE_INSTALL_FULL_DOCDIR@", harness.REPO)
        assert "@" not in text
        units.append(str(tmp_path / (unit + ".service")))
        with open(units[-1], "w") as f:
            f.write(text)
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    said = [line for line in (done.stdout + done.stderr).splitlines() if any(unit in line for unit in units) or "slurm" in line]
    assert not said, said
