"""The kinds of work that the checklist names (rows 99, 107-109c, 119-122, 126, 136, 137 of checklist.txt), as their scripts are
written there. The frameworks are stand-ins that tell how they were called; test_training.py runs a real one."""
import os
import re

import pytest

from harness import until
from sites import h100  # noqa: F401: a fixture

pytestmark = pytest.mark.better_than_slurm
row = pytest.mark.row


HEAD = "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:8\n#SBATCH --exclusive\n"
MASTER = 'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)\n'


# ---- training
@pytest.mark.parametrize("program", [
    pytest.param("train.py --fsdp --bf16", marks=row(119, 120)), pytest.param("sft.py --model base", marks=row(136)),
    pytest.param("lora.py --rank 16", marks=row(136)), pytest.param("grpo.py --policy policy.ckpt", marks=row(136, 122))])
def test_one_launcher_a_node_meets_at_the_first(cluster, program):
    blocker = cluster.wait_job(cluster.sbatch("-p", "gpu", "-w", "gpu-node-001", "--exclusive", "--wrap", "sleep 600"), "RUNNING")
    out, record = cluster.run_script(
        HEAD + "#SBATCH --partition=gpu\n" + MASTER + 'srun torchrun --nnodes $SLURM_NNODES --nproc_per_node=8 --rdzv_backend=c10d '
        '--rdzv_endpoint="$MASTER_ADDR:23456" %s\n' % program)
    assert record["NodeList"] == "gpu-node-[005-008]" and blocker["NodeList"] == "gpu-node-001"
    assert sorted(out.splitlines()) == [
        "torchrun on gpu-node-%03d rank %d local 0: --nnodes 4 --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint=gpu-node-005:23456 %s"
        % (5 + rank, rank, program) for rank in range(4)]


@row(99)
@pytest.mark.parametrize("nodes", ["gpu-node-[003-004,001]", "gpu-node-[002,004]"])
@pytest.mark.parametrize("distribution", ["block", "cyclic"])
def test_master_addr_is_where_rank_0_runs(cluster, nodes, distribution):
    """Whatever nodes a job has and whoever named them in what order: rank 0, the batch script and the first name are one node."""
    count = len(cluster.ok("scontrol", "show", "hostnames", nodes).lines)
    out, _ = cluster.run_script(
        "#!/bin/bash\n#SBATCH --nodes=%d\n#SBATCH --ntasks-per-node=2\n#SBATCH --nodelist=%s\n#SBATCH --distribution=%s\n" % (count, nodes, distribution)
        + MASTER + "echo script on $SLURMD_NODENAME\nsrun bash -c 'echo $SLURM_PROCID $SLURMD_NODENAME $MASTER_ADDR' | sort -n\n")
    script, *tasks = out.splitlines()
    assert len(tasks) == 2 * count
    first = tasks[0].split()
    assert first[0] == "0" and first[1] == first[2] and script == "script on " + first[1], out
    assert {line.split()[2] for line in tasks} == {first[1]}, out


@row(107)
def test_training_goes_on_from_its_latest_checkpoint(cluster):
    """A checkpoint every 100 steps; the node is taken away as spot nodes are, and no step before the checkpoint is done again."""
    cluster.file("train.sh", "#!/bin/bash\n#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=steps.log\n"
                 "step=$(ls checkpoints 2>/dev/null | sort -n | tail -n1)\nstep=${step:-0}\nmkdir -p checkpoints\n"
                 "echo \"run ${SLURM_RESTART_COUNT:-0} from $step\"\n"
                 "until [ -e enough ]; do step=$((step + 1)); [ $((step % 100)) != 0 ] || { touch checkpoints/$step; sleep 0.05; }; done\n"
                 "echo \"end at $step\"\n")
    job = cluster.sbatch("train.sh")
    node = cluster.wait_job(job, "RUNNING")["NodeList"]
    until("two checkpoints", lambda: len(os.listdir(cluster.work + "/checkpoints")) >= 2)
    cluster.ok("scontrol", "update", "NodeName=" + node, "State=DOWN", "Reason=spot instance reclaimed")
    until("the second run", lambda: cluster.read("steps.log").count("run 1 from ") == 1)
    cluster.file("enough", "")
    cluster.wait_job(job)
    cluster.ok("scontrol", "update", "NodeName=" + node, "State=RESUME")
    found = re.match(r"run 0 from 0\n[\s\S]*run 1 from (\d+)\n[\s\S]*end at (\d+)\n$", cluster.read("steps.log"))
    assert found, cluster.read("steps.log")
    assert int(found[1]) >= 200 and int(found[1]) % 100 == 0 and int(found[2]) >= int(found[1])


@row(120)
def test_deepspeed_with_a_hostfile(cluster):
    """`deepspeed` starts one process for each line of its hostfile; the stand-in does so with srun, which is how it gets there."""
    cluster.script("deepspeed", """#!/bin/bash
for word; do case $word in --hostfile=*) hosts=${word#*=};; --master_addr=*) master=${word#*=};; esac; done
rank=0
while read -r host slots; do
  srun --overlap -N1 -n1 -w "$host" bash -c "echo $rank \\$SLURMD_NODENAME ${slots#slots=} \\$CUDA_VISIBLE_DEVICES $master" </dev/null
  rank=$((rank + 1))
done <"$hosts"
""")
    out, record = cluster.run_script(
        HEAD + MASTER + "scontrol show hostnames \"$SLURM_JOB_NODELIST\" | awk '{print $1 \" slots=8\"}' >hostfile\n"
        "deepspeed --hostfile=hostfile --master_addr=$MASTER_ADDR train_ds.py --deepspeed ds_config.json\n")
    assert out == "".join("%d gpu-node-%03d 8 0,1,2,3,4,5,6,7 gpu-node-001\n" % (rank, rank + 1) for rank in range(4)), (out, record)


# ---- jobs that follow each other
STAGE = '#!/bin/bash\n#SBATCH --output=%s.out\n#SBATCH --gres=gpu:%d\n[ ! -e fail-%s ] || exit 1\necho %s >>order\n'


@row(108, 122)
def test_reward_and_policy_jobs_take_turns(cluster):
    """RLHF: samples are scored, the policy is trained on the scores, the next samples are of the new policy."""
    for name, gpus in (("sample", 4), ("reward", 1), ("policy", 8)):
        cluster.file(name + ".sh", STAGE % (name, gpus, name, name))
    last = int(cluster.sh("jid=$(sbatch --parsable --hold sample.sh)\nfirst=$jid\nfor i in 1 2; do\n"
                          'jid=$(sbatch --parsable --dependency=afterok:"$jid" reward.sh)\n'
                          'jid=$(sbatch --parsable --dependency=afterok:"$jid" policy.sh)\n'
                          '[ $i = 2 ] || jid=$(sbatch --parsable --dependency=afterok:"$jid" sample.sh)\n'
                          "done\nscontrol release $first\necho $jid").out)
    cluster.wait_job(last)
    assert cluster.read("order").split() == ["sample", "reward", "policy"] * 2


@row(108)
def test_no_policy_is_trained_on_rewards_that_failed(cluster):
    for name in ("reward", "policy"):
        cluster.file(name + ".sh", STAGE % (name, 1, name, name))
    cluster.file("fail-reward", "")
    cluster.sh("rm -f order")
    reward = cluster.sbatch("--hold", "reward.sh")
    waits = cluster.sbatch("--dependency=afterok:%d" % reward, "policy.sh")
    goes = cluster.sbatch("--dependency=afterok:%d" % reward, "--kill-on-invalid-dep=yes", "policy.sh")
    again = cluster.sbatch("--dependency=afternotok:%d" % reward, "--wrap", "true")
    cluster.ok("scontrol", "release", str(reward))
    cluster.wait_job(reward, "FAILED")
    until("the reason", lambda: cluster.job(waits)["Reason"] == "DependencyNeverSatisfied")
    cluster.wait_job(goes, "CANCELLED")
    cluster.wait_job(again)
    assert cluster.sh("cat order").out == ""
    os.unlink(cluster.work + "/fail-reward")


@row(137)
@pytest.mark.parametrize("tasks", [16, 1000])
def test_offline_scoring_as_an_array(cluster, tasks):
    """16 to 1,000 tasks, one GPU each: every task scores its own shard once, on one GPU."""
    cluster.file("score.sh", "#!/bin/bash\n#SBATCH --gres=gpu:1\n#SBATCH --partition=gpu\n#SBATCH --output=/dev/null\n"
                 "commas=${CUDA_VISIBLE_DEVICES//[^,]/}\necho $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT ${#commas} >>scored-%d\n" % tasks)
    job = cluster.sbatch("--array=0-%d" % (tasks - 1), "score.sh")
    until("the end of the array", lambda: not cluster.queue("-j", str(job)), 180)
    lines = [line.split(" ") for line in cluster.read("scored-%d" % tasks).splitlines()]
    assert sorted(int(line[0]) for line in lines) == list(range(tasks))
    assert {tuple(line[1:]) for line in lines} == {(str(tasks), "0")}


# ---- what a task is on its node
@row("109c")
def test_tasks_are_plain_processes_of_the_node(cluster):
    """No container and no namespace lies between a task and the machine: it is a child of slurmstepd, with the host's own view."""
    kinds = ("mnt", "pid", "net", "ipc", "uts", "user")
    of_task = cluster.ok("srun", "bash", "-c", "cat /proc/$PPID/comm; readlink %s" % " ".join("/proc/self/ns/" + kind for kind in kinds)).lines
    assert of_task == ["slurmstepd"] + [os.readlink("/proc/self/ns/" + kind) for kind in kinds]
    out, _ = cluster.run_script("#!/bin/bash\ncat /proc/$PPID/comm\nreadlink /proc/self/ns/mnt /proc/self/root\n")
    assert out.splitlines() == ["slurmstepd", os.readlink("/proc/self/ns/mnt"), "/"]


@row(126)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to hide folders from a node")
def test_the_scheduler_needs_no_shared_file_system(make_cluster):
    """A node that sees neither the controller's folders nor the one that was submitted from: script, environment and input
    travel with the job, its output lies on the node's own scratch."""
    cluster = make_cluster(start=False, nodes=2, gpus=0)
    login = cluster.folder + "/login"
    scratch = cluster.folder + "/scratch"
    for folder in (login, scratch):
        os.mkdir(folder)
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.wrapper = ["unshare", "--mount", "sh", "-c", "for d in %s %s %s; do mount -t tmpfs none $d; done; exec \"$@\"" % (
        cluster.state_folder, login, scratch), "sh"]
    for name in cluster.names:
        cluster.start_slurmd(name)
    cluster.wait_nodes("idle")
    with open(login + "/job.sh", "w") as f:
        f.write("#!/bin/bash\n#SBATCH -o %s/out\necho $WORD $SLURMD_NODENAME\nls %s | wc -l\nsrun bash -c 'echo step $SLURMD_NODENAME' | sort\n"
                % (scratch, login))
    job = cluster.sbatch("-N2", "job.sh", cwd=login, env={"WORD": "travels"})
    cluster.wait_job(job)
    assert os.listdir(scratch) == [], "this is the login node's"
    seen = cluster.ok("srun", "-w", "n1", "-D/", "cat", scratch + "/out").out
    assert seen == "travels n1\n0\nstep n1\nstep n2\n", seen
    # What is to be everywhere is sent: sbcast, and srun --bcast.
    with open(login + "/tool", "w") as f:
        f.write("#!/bin/sh\necho sent to $SLURMD_NODENAME\n")
    os.chmod(login + "/tool", 0o755)
    said = cluster.ok("srun", "-N2", "-D/", "--bcast=%s/tool" % scratch, login + "/tool")
    assert sorted(said.lines) == ["sent to n1", "sent to n2"], said
