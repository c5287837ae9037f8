"""The checklist's directives and variables (rows 31-64 of checklist.txt): each line as written, in a script, on the second site."""
import re

import conftest
import harness
import pytest
import sites
from harness import until

pytestmark = pytest.mark.better_than_slurm

# Partitions that the scripts of other chapters name.
MORE_PARTITIONS = "".join("PartitionName=%s Nodes=gpu-node[01-08] MaxTime=72:00:00\n" % name for name in ("blackwell", "gpu"))


@pytest.fixture(scope="module")
def shared():
    folder = conftest.new_folder()
    site = sites.Site(folder, sites.A100_NODES, sites.A100_CONF + MORE_PARTITIONS, sites.A100_GRES)
    try:
        yield site.start()
    finally:
        site.stop()
        harness.remove(folder)


row = pytest.mark.row


# Directive, what `scontrol show job` says of it, what the job finds.
@pytest.mark.parametrize("directive,shown,found", [
    pytest.param("--job-name=llm-fsdp-train", {"JobName": "llm-fsdp-train"}, "$SLURM_JOB_NAME=llm-fsdp-train", marks=row(31)),
    pytest.param("--nodes=4", {"NumNodes": "4", "NodeList": "gpu-node[01-04]"}, "$SLURM_JOB_NUM_NODES=4", marks=row(32, 56)),
    pytest.param("--nodes=8", {"NumNodes": "8", "NodeList": "gpu-node[01-08]"}, "$SLURM_NNODES=8", marks=row(32, 57)),
    pytest.param("--nodes=1", {"NumNodes": "1"}, "$SLURM_JOB_NODELIST=gpu-node01", marks=row(32, 55)),
    pytest.param("--ntasks-per-node=1", {"NtasksPerN:B:S:C": "1:0:*:*", "NumTasks": "1"}, "$SLURM_NTASKS=1", marks=row(33, 61)),
    pytest.param("--ntasks-per-node=8", {"NtasksPerN:B:S:C": "8:0:*:*", "NumTasks": "8"}, "$SLURM_NTASKS=8", marks=row(33, 61)),
    pytest.param("--gres=gpu:8", {"TresPerNode": "gres/gpu:8"}, "$CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7", marks=row(34, 60)),
    pytest.param("--gres=gpu:1", {"TresPerNode": "gres/gpu:1"}, "$CUDA_VISIBLE_DEVICES=0", marks=row(34, 60)),
    pytest.param("--gres=gpu:a100:8", {"TresPerNode": "gres/gpu:a100:8"}, "$CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7",
                 marks=row(35, 60, 134)),
    pytest.param("--gpus-per-node=8", {"TresPerNode": "gres/gpu:8"}, "$SLURM_GPUS_PER_NODE=8", marks=row(37, 58)),
    pytest.param("--gpus=8", {"TresPerJob": "gres/gpu:8"}, "$SLURM_GPUS=8", marks=row(38)),
    pytest.param("--cpus-per-task=96", {"CPUs/Task": "96", "NumCPUs": "96"}, "$SLURM_CPUS_PER_TASK=96", marks=row(42)),
    pytest.param("--cpus-per-task=16", {"CPUs/Task": "16", "NumCPUs": "16"}, "$SLURM_CPUS_PER_TASK=16", marks=row(42)),
    pytest.param("--mem=900G", {"MinMemoryNode": "900G"}, "$SLURM_MEM_PER_NODE=921600", marks=row(43)),
    pytest.param("--exclusive", {"NumCPUs": "128", "OverSubscribe": "NO"}, "$SLURM_CPUS_ON_NODE=128", marks=row(44)),
    pytest.param("--time=48:00:00", {"TimeLimit": "2-00:00:00"}, "", marks=row(45)),
    pytest.param("--time=72:00:00", {"TimeLimit": "3-00:00:00"}, "", marks=row(45)),
    pytest.param("--time=00:05:00", {"TimeLimit": "00:05:00"}, "", marks=row(45)),
    pytest.param("--time=02:00:00", {"TimeLimit": "02:00:00"}, "", marks=row(45)),
    pytest.param("--partition=blackwell", {"Partition": "blackwell"}, "$SLURM_JOB_PARTITION=blackwell", marks=row(46, 134)),
    pytest.param("--partition=training", {"Partition": "training"}, "$SLURM_JOB_PARTITION=training", marks=row(46)),
    pytest.param("--partition=gpu", {"Partition": "gpu"}, "$SLURM_JOB_PARTITION=gpu", marks=row(46)),
    pytest.param("--requeue", {"Requeue": "1"}, "", marks=row(49)),
], ids=str)
def test_directive(cluster, directive, shown, found):
    name, _, value = found.partition("=")
    out, record = cluster.run_script("#!/bin/bash\n#SBATCH %s\necho \"%s\"\n" % (directive, name))
    assert {key: record.get(key) for key in shown} == shown
    assert out == value + "\n"


@row(32, 33, 35, 42, 43, 45, 46, 48, 53)
def test_the_training_script_of_the_second_site(cluster):
    out, record = cluster.run_script(
        "#!/bin/bash\n#SBATCH --job-name=training\n#SBATCH --partition=training\n#SBATCH --nodes=8\n#SBATCH --ntasks-per-node=8\n"
        "#SBATCH --gres=gpu:a100:8\n#SBATCH --cpus-per-task=16\n#SBATCH --mem=900G\n#SBATCH --time=72:00:00\n"
        "#SBATCH --output=training_%j.log\nmodule load cuda/12.4\nmodule load nccl/2.21\nsrun python train.py --model-size=70B\n",
        env={"BASH_FUNC_module%%": '() {  echo "module $*"\n}'})
    assert record["StdOut"] == "%s/training_%s.log" % (cluster.work, record["JobId"])
    assert out.splitlines()[:2] == ["module load cuda/12.4", "module load nccl/2.21"]
    assert sorted(out.splitlines()[2:]) == sorted("python on gpu-node%02d rank %d local %d: train.py --model-size=70B" % (
        rank // 8 + 1, rank, rank % 8) for rank in range(64))
    assert record["AllocTRES"] == "cpu=1024,mem=7200G,node=8,billing=1024,gres/gpu=64,gres/gpu:a100=64"


@row(36)
def test_a_mig_profile_as_type(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0, gres_conf="")
    for i in range(4):
        open(cluster.folder + "/dev/nvidia%d" % i, "w").close()
    with open(cluster.folder + "/etc/gres.conf", "w") as f:
        f.write("Name=gpu Type=a100_3g.20gb File={0}/dev/nvidia[0-1]\nName=gpu Type=a100_1g.5gb File={0}/dev/nvidia[2-3]\n".format(
            cluster.folder))
    cluster.conf_lines = [line.replace(" State=UNKNOWN ", " Gres=gpu:a100_3g.20gb:2,gpu:a100_1g.5gb:2 State=UNKNOWN ")
                          for line in cluster.conf_lines]
    cluster.write_lines()
    cluster.start()
    out, record = cluster.run_script("#!/bin/bash\n#SBATCH --gres=gpu:a100_3g.20gb:1\necho $CUDA_VISIBLE_DEVICES\n")
    assert (out, record["TresPerNode"]) == ("0\n", "gres/gpu:a100_3g.20gb:1")
    assert record["AllocTRES"].endswith("gres/gpu=1,gres/gpu:a100_3g.20gb=1"), record
    never = cluster.run("sbatch", "--gres=gpu:a100_3g.20gb:3", "--wrap", "true")
    assert never.code == 1 and "Requested node configuration is not available" in never.err, never


@row(37)
def test_gpus_per_node_excludes_gres(cluster):
    said = cluster.run("sbatch", "--gpus-per-node=8", "--gres=gpu:8", "--wrap", "true")
    assert said.code == 1 and said.out == "" and "--gres=gpu and --gpus-per-node are mutually exclusive" in said.err, said


@row(38)
def test_gpus_are_counted_over_all_nodes(cluster):
    record = cluster.wait_job(cluster.sbatch("--gpus=24", "--wrap", "sleep 600"), "RUNNING")
    assert (record["NumNodes"], record["TresPerJob"]) == ("3", "gres/gpu:24")
    assert "gres/gpu=24," in record["AllocTRES"], record


@row(39, 60, 61)
def test_gpus_per_task_bind_each_task_to_its_own(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4\n#SBATCH --gpus-per-task=2\n"
                                "srun bash -c 'echo $SLURM_NODEID $SLURM_LOCALID $CUDA_VISIBLE_DEVICES' | sort\n")
    assert out == "".join("%d %d %d,%d\n" % (node, task, 2 * task, 2 * task + 1) for node in (0, 1) for task in range(4))


@row(41)
@pytest.mark.parametrize("option", ["--gpu-bind=map_gpu:0,1,2,3", "--gpu-bind=map:0,1,2,3", "--tres-bind=gres/gpu:map:0,1,2,3"])
def test_a_map_of_gpus(cluster, option):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --ntasks-per-node=4\n#SBATCH --gres=gpu:4\n"
                                "srun %s bash -c 'echo $SLURM_LOCALID $CUDA_VISIBLE_DEVICES' | sort\n" % option)
    assert out == "0 0\n1 1\n2 2\n3 3\n"


@row(42)
@pytest.mark.parametrize("before", ["", "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n"], ids=["inherited", "handed on"])
def test_tasks_have_the_cpus_of_the_directive(cluster, before):
    """Scripts exist for both rules: of 22.05 to 23.02, where srun had to be told, and of those before and after."""
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --cpus-per-task=96\n" + before +
                                "srun bash -c 'echo $SLURM_CPUS_PER_TASK; scontrol show step $SLURM_JOB_ID.$SLURM_STEP_ID'\n")
    assert out.startswith("96\n") and re.search(r" CPUs=96 ", out), out
    # What is said to srun wins.
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --cpus-per-task=96\n" + before +
                                "srun --cpus-per-task=2 bash -c 'echo $SLURM_CPUS_PER_TASK'\n")
    assert out == "2\n"


@row(43)
@pytest.mark.parametrize("text,megabytes", [("900G", 921600), ("1T", 1048576), ("64000M", 64000), ("1000", 1000), ("1048576K", 1024)])
def test_suffixes_of_memory(cluster, text, megabytes):
    if megabytes > 1024000:      # more than any node has
        said = cluster.run("sbatch", "--mem=" + text, "--wrap", "true")
        assert said.code == 1 and "Requested node configuration is not available" in said.err and "1000G" in said.err, said
        return
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --mem=%s\necho $SLURM_MEM_PER_NODE\n" % text)
    assert out == "%d\n" % megabytes


@row(44, 97)
def test_exclusive_and_shared_nodes(cluster):
    alone = cluster.sbatch("--exclusive", "--gres=gpu:1", "-w", "gpu-node01", "--wrap", "sleep 600")
    cluster.wait_job(alone, "RUNNING")
    other = cluster.sbatch("--gres=gpu:1", "-w", "gpu-node01", "--wrap", "true")
    until("a reason", lambda: cluster.job(other)["Reason"] == "Resources")
    shared = [cluster.sbatch("--gres=gpu:4", "-w", "gpu-node02", "--wrap", "sleep 600") for _ in range(2)]
    for job in shared:
        cluster.wait_job(job, "RUNNING")
    assert cluster.job(other)["JobState"] == "PENDING"
    cluster.ok("scancel", str(alone))
    assert cluster.wait_job(other)["NodeList"] == "gpu-node01"


@row(47)
def test_output_in_a_directory_that_does_not_exist(cluster):
    cluster.file("t.sh", "#!/bin/bash\n#SBATCH --output=logs/%j/train.out\n#SBATCH --error=logs/%j/train.err\necho out\necho err >&2\n")
    job = cluster.sbatch("t.sh")
    cluster.wait_job(job)
    assert (cluster.read("logs/%d/train.out" % job), cluster.read("logs/%d/train.err" % job)) == ("out\n", "err\n")


@row(49, 93, 133)
def test_requeue_after_a_node_fails(make_cluster):
    cluster = make_cluster(nodes=2)
    cluster.file("train.sh", "#!/bin/bash\n#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=train.log\n"
                 "echo \"start ${SLURM_RESTART_COUNT:-0}\"\n[ -n \"$SLURM_RESTART_COUNT\" ] || sleep 600\n")
    job = cluster.sbatch("train.sh")
    node = cluster.wait_job(job, "RUNNING")["NodeList"]
    until("its first line", lambda: cluster.sh("cat train.log").out == "start 0\n")
    cluster.ok("scontrol", "update", "NodeName=" + node, "State=DOWN", "Reason=broken")
    record = cluster.wait_job(job)
    assert record["Restarts"] == "1"
    assert [line for line in cluster.read("train.log").splitlines() if line.startswith("start")] == ["start 0", "start 1"]


@row(50, 59, 96, 137)
def test_a_thousand_shards(cluster):
    """Row 50's directive with the comment behind it; 1,000 shards, one GPU each, on the site's 64."""
    cluster.file("shards.sh", "#!/bin/bash\n#SBATCH --array=0-999          # 1000 shards\n#SBATCH --gres=gpu:1\n"
                 "#SBATCH --output=/dev/null\nSHARD_ID=$SLURM_ARRAY_TASK_ID\necho $SHARD_ID >>shards\n")
    job = cluster.sbatch("shards.sh")
    until("1000 shards", lambda: not cluster.queue("-j", str(job)), 120)
    assert sorted(map(int, cluster.read("shards").split())) == list(range(1000))
    too_many = cluster.run("sbatch", "--array=0-1001", "--wrap", "true")
    assert too_many.code == 1 and "Batch job submission failed: Invalid job array specification" in too_many.err, too_many


@row(51)
def test_directives_without_an_interpreter_line(cluster):
    cluster.file("train.sh", "#SBATCH --job-name=train-model\n#SBATCH --nodes=4\npython train.py\n")
    said = cluster.sh("sbatch train.sh")
    assert said.code == 1 and said.out == "", said
    assert said.err.splitlines()[0] == "sbatch: error: This does not look like a batch script.  The first", said
    assert "add a first line such as #!/bin/bash before the #SBATCH lines" in said.err.splitlines()[-1], said


@row(53)
def test_a_function_of_the_login_shell(cluster):
    """`module` is a function that the login shell's profile defines and exports; the job finds it."""
    cluster.file("profile", 'module() { echo "module $*"; }\nexport -f module\n')
    cluster.file("load.sh", "#!/bin/bash\nmodule load cuda/12.4\nmodule load nccl/2.21\n")
    said = cluster.sh(". ./profile; sbatch --wait -o module.out load.sh >&2; cat module.out")
    assert said.out == "module load cuda/12.4\nmodule load nccl/2.21\n", said


@row(54, 64)
@pytest.mark.parametrize("port", ["29500", "23456"])
def test_what_is_exported_reaches_the_tasks(cluster, port):
    out, _ = cluster.run_script(
        "#!/bin/bash\n#SBATCH --nodes=4\nexport MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
        "export MASTER_PORT=%s\nsrun bash -c 'echo $SLURM_PROCID $MASTER_ADDR:$MASTER_PORT' | sort\n" % port)
    assert out == "".join("%d gpu-node01:%s\n" % (i, port) for i in range(4))


@row(55, 56, 57, 61)
def test_variables(cluster):
    out, _ = cluster.run_script(
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=2\n"
        "echo \"$SLURM_JOB_NODELIST\" --nnodes=$SLURM_JOB_NUM_NODES --nnodes=\"$SLURM_NNODES\"\n"
        "srun bash -c 'echo $SLURM_PROCID $SLURM_LOCALID $SLURM_NODEID $SLURM_NTASKS' | sort\n")
    assert out == "gpu-node[01-02] --nnodes=2 --nnodes=2\n0 0 0 4\n1 1 0 4\n2 0 1 4\n3 1 1 4\n"


@row(58)
def test_gpus_per_node_is_set_only_where_asked_for(cluster):
    for directive, found in (("--gpus-per-node=8", "8"), ("--gres=gpu:8", "unset")):
        out, _ = cluster.run_script("#!/bin/bash\n#SBATCH %s\necho ${SLURM_GPUS_PER_NODE-unset}\n" % directive)
        assert out == found + "\n"


@row(60)
def test_each_job_has_gpus_of_its_own(cluster):
    seen = []
    for i in range(4):
        job = cluster.sbatch("-w", "gpu-node01", "--gres=gpu:2", "-o", "seen%d" % i, "--wrap", "echo $CUDA_VISIBLE_DEVICES; sleep 600")
        cluster.wait_job(job, "RUNNING")
        until("its line", lambda i=i: cluster.sh("cat seen%d" % i).out.endswith("\n"))
        seen += cluster.read("seen%d" % i).strip().split(",")
    assert sorted(seen) == list("01234567")
    out, _ = cluster.run_script("#!/bin/bash\necho ${CUDA_VISIBLE_DEVICES-unset}\n")
    assert out in ("unset\n", "\n")


@row(63, 124)
def test_nccl_variables(cluster):
    nccl = {"NCCL_IB_HCA": "mlx5", "NCCL_IB_GID_INDEX": "3", "NCCL_NET_GDR_READ": "1", "NCCL_NET_GDR_LEVEL": "SYS",
            "NCCL_SOCKET_IFNAME": "eth0", "NCCL_IB_DISABLE": "0", "NCCL_DEBUG": "INFO"}
    script = "#!/bin/bash\n#SBATCH --nodes=2\n%ssrun env | grep ^NCCL_ | sort\n"
    want = "".join("%s=%s\n" % pair * 2 for pair in sorted(nccl.items()))
    out, _ = cluster.run_script(script % "".join("export %s=%s\n" % pair for pair in nccl.items()))
    assert out == want
    out, _ = cluster.run_script(script % "", env=nccl)
    assert out == want
