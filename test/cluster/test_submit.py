"""Checklist rows 1-5 and 31-54: sbatch, its options as directives, what becomes of them."""
import os
import re
import subprocess

import pytest

from harness import COMMANDS, prefix, until

# Debian's Slurm gives no numbers for GPUs that are plain files, as the tests' are.
devices = pytest.mark.better_than_slurm


@pytest.mark.row(1, 52)
def test_prints_the_job_id(cluster):
    out = cluster.ok("sbatch", cluster.file("train.sh", "#!/bin/bash\necho trained\n")).out
    assert re.fullmatch(r"Submitted batch job \d+\n", out)
    job = int(out.split()[-1])
    cluster.wait_job(job)
    assert cluster.read("slurm-%d.out" % job) == "trained\n"


@pytest.mark.better_than_slurm
@pytest.mark.plain_build
def test_commands_load_the_c_library_alone():
    """A command is a process per use: libstdc++.so and whatever needs it cost more than all the rest of sbatch."""
    programs = [os.path.join(prefix(), "bin", name) for name in COMMANDS]
    built = [program for program in programs if os.path.exists(program)]
    assert built
    for program in built:
        loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        names = {line.split()[0].rsplit("/", 1)[-1].split(".so")[0] for line in loaded.splitlines()}
        assert names <= {"linux-vdso", "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm"}, program


def test_parsable_and_script_from_standard_input(cluster):
    out = cluster.ok("sbatch", "--parsable", stdin="#!/bin/sh\necho from stdin\n").out
    assert re.fullmatch(r"\d+\n", out)
    cluster.wait_job(int(out))
    assert cluster.read("slurm-%s.out" % out.strip()) == "from stdin\n"


def test_arguments_reach_the_script(cluster):
    job = cluster.sbatch(cluster.file("args.sh", '#!/bin/bash\nprintf "%s|" "$@"\n'), "a b", "--c", "*")
    cluster.wait_job(job)
    assert cluster.read("slurm-%d.out" % job) == "a b|--c|*|"


@pytest.mark.row(3)
def test_afternotok_restarts_a_failed_job(cluster):
    failing = cluster.file("train.sh", "#!/bin/bash\nexit 1\n")
    jobid = cluster.ok("sbatch", "--parsable", "--hold", failing).out.strip()
    again = cluster.sbatch("--dependency=afternotok:" + jobid, "--wrap", "true")
    never = cluster.sbatch("--dependency=afterok:" + jobid, "--wrap", "true")
    assert cluster.job(again)["Reason"] == "Dependency"
    cluster.ok("scontrol", "release", jobid)
    cluster.wait_job(jobid, "FAILED")
    cluster.wait_job(again)
    until("DependencyNeverSatisfied", lambda: cluster.job(never)["Reason"] == "DependencyNeverSatisfied")


@pytest.mark.row(2, 4)
def test_afterok_runs_a_pipeline(cluster):
    out = cluster.sh('jid=$(sbatch --parsable -o first.out --wrap "echo first >order"); '
                     'sbatch --parsable --dependency=afterok:"$jid" -o second.out --wrap "echo second >>order"').out
    cluster.wait_job(int(out))
    assert cluster.read("order") == "first\nsecond\n"


@pytest.mark.row(5)
@devices
def test_array_on_the_command_line(cluster):
    cluster.file("sweep.sh", "#!/bin/bash\necho $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $CUDA_VISIBLE_DEVICES\n")
    job = cluster.sbatch("--array=0-15", "--gres=gpu:1", "sweep.sh")
    until("16 outputs", lambda: not cluster.queue("-j", str(job)))
    for task in range(16):
        out = cluster.read("slurm-%d_%d.out" % (job, task))
        assert re.fullmatch(r"%d %d \d\n" % (job, task), out), out


DIRECTIVES = """#!/bin/bash
#SBATCH --job-name=llm-fsdp-train
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:8
#SBATCH --cpus-per-task=16
#SBATCH --mem=9G
#SBATCH --time=48:00:00
#SBATCH --partition=gpu
#SBATCH --output=training_%j.log
#SBATCH --exclusive
#SBATCH --requeue
echo "$SLURM_JOB_NAME $SLURM_JOB_NUM_NODES $SLURM_NTASKS_PER_NODE $SLURM_CPUS_PER_TASK $SLURM_JOB_PARTITION"
#SBATCH --nodes=1
"""


@pytest.mark.row(31, 32, 33, 34, 42, 43, 44, 45, 46, 48, 49)
def test_directives(cluster):
    out, record = cluster.run_script(DIRECTIVES)
    assert out == "llm-fsdp-train 4 1 16 gpu\n"
    assert record["StdOut"] == "%s/training_%s.log" % (cluster.work, record["JobId"])
    assert record["NumNodes"] == "4" and record["NumTasks"] == "4" and record["NumCPUs"] == "64"
    assert record["CPUs/Task"] == "16" and record["TimeLimit"] == "2-00:00:00" and record["Requeue"] == "1"
    assert record["MinMemoryNode"] == "9G" and record["Partition"] == "gpu"
    assert re.fullmatch("gres[:/]gpu:8", record["TresPerNode"])


@pytest.mark.row(31, 32)
def test_the_command_line_wins_over_directives(cluster):
    out, record = cluster.run_script(DIRECTIVES, "--nodes=2", "-J", "other")
    assert out.split()[:2] == ["other", "2"] and record["NumNodes"] == "2"


@pytest.mark.parametrize("text,shown", [("48:00:00", "2-00:00:00"), ("72:00:00", "3-00:00:00"), ("00:05:00", "00:05:00"),
                                        ("02:00:00", "02:00:00"), ("90", "01:30:00"), ("1-12", "1-12:00:00")])
def test_time_limits(cluster, text, shown):
    assert cluster.job(cluster.sbatch("--hold", "-p", "gpu", "--time=" + text, "--wrap", "true"))["TimeLimit"] == shown


@devices
@pytest.mark.parametrize("directive,per_node", [("--gres=gpu:8", "gpu:8"), ("--gres=gpu:1", "gpu:1"),
                                                ("--gres=gpu:h100:8", "gpu:h100:8"), ("--gpus-per-node=8", "gpu:8")])
def test_gpus_per_node(cluster, directive, per_node):
    out, record = cluster.run_script("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH %s\n"
                                     "srun bash -c 'echo $SLURM_PROCID $CUDA_VISIBLE_DEVICES' | sort\n" % directive)
    devices = ",".join(map(str, range(int(per_node.rpartition(":")[2]))))
    assert out == "0 %s\n1 %s\n" % (devices, devices)
    assert re.fullmatch("gres[:/]" + per_node, record["TresPerNode"])


def test_gpus_of_the_whole_job(cluster):
    job = cluster.sbatch("--gpus=12", "-N2", "--wrap", "sleep 60")
    record = cluster.wait_job(job, "RUNNING")
    assert re.fullmatch("gres[:/]gpu:12", record["TresPerJob"])
    text = cluster.ok("scontrol", "-d", "show", "job", str(job)).out
    counts = [(len(names.split(",")) if "[" not in names else 2) * int(n)
              for names, n in re.findall(r"Nodes=(\S+) .*GRES=gpu:h100:(\d+)", text)]
    assert sum(counts) == 12, text


@devices
def test_gpus_per_task_binds_each_task_to_its_own(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --ntasks=4\n#SBATCH --nodes=1\n#SBATCH --gpus-per-task=2\n"
                                "srun bash -c 'echo $SLURM_PROCID $CUDA_VISIBLE_DEVICES' | sort\n")
    rows = [line.split() for line in out.splitlines()]
    assert [row[0] for row in rows] == ["0", "1", "2", "3"]
    assert sorted(",".join(row[1] for row in rows).split(",")) == [str(i) for i in range(8)]
    assert all(len(row[1].split(",")) == 2 for row in rows)


@devices
def test_gpu_bind_closest_is_taken(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --gres=gpu:2\nsrun --gpu-bind=closest "
                                "bash -c 'echo $CUDA_VISIBLE_DEVICES'\n")
    assert out == "0,1\n"


@devices
def test_a_mig_profile_as_type(make_cluster):
    one = make_cluster(nodes=1, gpus=0, cpus=4, gres_conf="", start=False)
    for i in range(4):
        open(one.folder + "/dev/nvidia%d" % i, "w").close()
    with open(one.folder + "/etc/gres.conf", "w") as f:
        f.write("NodeName=n1 Name=gpu Type=a100_3g.20gb File=%s/dev/nvidia[0-1]\n"
                "NodeName=n1 Name=gpu Type=a100_1g.5gb File=%s/dev/nvidia[2-3]\n" % (one.folder, one.folder))
    one.conf_lines = [line.replace(" State=UNKNOWN", " Gres=gpu:a100_3g.20gb:2,gpu:a100_1g.5gb:2 State=UNKNOWN")
                      for line in one.conf_lines]
    one.write_lines()
    one.start()
    out, record = one.run_script("#!/bin/bash\n#SBATCH --gres=gpu:a100_1g.5gb:1\necho $CUDA_VISIBLE_DEVICES\n")
    assert out in ("2\n", "3\n")
    assert re.fullmatch(r"gres[:/]gpu:a100_1g\.5gb:1", record["TresPerNode"])
    refused = one.run("sbatch", "--gres=gpu:a100_7g.40gb:1", "--wrap", "true")
    assert refused.code == 1 and "Batch job submission failed: " in refused.err, refused


def test_more_gpus_than_any_node_has(cluster):
    result = cluster.run("sbatch", "--gres=gpu:9", "--wrap", "true")
    assert result.code == 1 and result.out == "", result
    assert "sbatch: error: Batch job submission failed: Requested node configuration is not available" in result.err


@pytest.mark.row(44)
def test_exclusive_takes_the_whole_node(cluster):
    record = cluster.wait_job(cluster.sbatch("--exclusive", "-n1", "--wrap", "sleep 60"), "RUNNING")
    assert record["NumCPUs"] == str(cluster.cpus) and record["OverSubscribe"] == "NO"
    other = cluster.wait_job(cluster.sbatch("-n1", "--wrap", "sleep 60"), "RUNNING")
    assert other["NodeList"] != record["NodeList"]


@pytest.mark.parametrize("name", ["training", "nosuch"])
def test_a_partition_that_is_not_there(cluster, name):
    result = cluster.run("sbatch", "--partition=" + name, "--wrap", "true")
    assert result.code == 1 and result.out == "", result
    assert "sbatch: error: invalid partition specified: %s\n" % name in result.err, result
    assert "sbatch: error: Batch job submission failed: Invalid partition name specified\n" in result.err, result


@pytest.mark.better_than_slurm
def test_output_in_a_directory_that_does_not_exist(cluster):
    path = cluster.file("t.sh", "#!/bin/bash\n#SBATCH --output=logs/%j/train.out\n#SBATCH --error=logs/%j/train.err\n"
                        "echo to out\necho to err >&2\n")
    result = cluster.run("sbatch", "--parsable", path)
    if result.code:         # or say at once which folder is missing
        assert "logs" in result.err, result
        return
    job = int(result.out)
    cluster.wait_job(job)
    assert cluster.read("logs/%d/train.out" % job) == "to out\n"
    assert cluster.read("logs/%d/train.err" % job) == "to err\n"


def test_output_and_error_apart_appended_and_named(cluster):
    for _ in range(2):
        cluster.run_script("#!/bin/bash\necho o\necho e >&2\n", "-o", "%x-%u.out", "-e", "%x.err", "-J", "named",
                           "--open-mode=append")
    assert cluster.read("named-%s.out" % cluster.user) == "o\no\n" and cluster.read("named.err") == "e\ne\n"


@pytest.mark.row(50)
def test_array_directive_with_a_comment_behind_it(cluster):
    path = cluster.file("shards.sh", "#!/bin/bash\n#SBATCH --array=0-999          # 1000 shards\n"
                        "#SBATCH --hold\necho $SLURM_ARRAY_TASK_ID\n")
    job = cluster.sbatch(path)
    line = cluster.queue("-j", str(job), "-o", "%i")
    assert line == ["%d_[0-999]" % job]
    too_many = cluster.run("sbatch", "--array=0-1001", "--wrap", "true")
    assert too_many.code == 1 and "Invalid job array specification" in too_many.err, too_many


@pytest.mark.row(49)
def test_requeue_runs_the_job_again(cluster):
    path = cluster.file("again.sh", "#!/bin/bash\n#SBATCH --requeue\n#SBATCH -o again.out\n#SBATCH --open-mode=append\n"
                        "echo run ${SLURM_RESTART_COUNT:-0}\n[ -n \"$SLURM_RESTART_COUNT\" ] || sleep 60\n")
    job = cluster.sbatch(path)
    until("the first run", lambda: os.path.exists(cluster.work + "/again.out") and cluster.read("again.out"))
    cluster.ok("scontrol", "requeue", str(job))
    record = cluster.wait_job(job, "PENDING|RUNNING|COMPLETED|CONFIGURING|COMPLETING")
    # A requeued batch job waits two minutes in Slurm; its begin time can be brought forward.
    until("the requeue", lambda: cluster.job(job)["Restarts"] == "1")
    until("pending again", lambda: cluster.job(job)["JobState"] != "COMPLETING")
    if cluster.job(job)["JobState"] == "PENDING":
        cluster.run("scontrol", "update", "JobId=%d" % job, "StartTime=now")
    record = cluster.wait_job(job)
    assert record["Restarts"] == "1" and re.findall("run .", cluster.read("again.out")) == ["run 0", "run 1"]


def test_a_script_without_interpreter_line(cluster):
    result = cluster.run("sbatch", cluster.file("train.sh", "#SBATCH --job-name=train-model\necho x\n"))
    assert result.code == 1 and result.out == "", result
    assert result.err.startswith("sbatch: error: This does not look like a batch script.  The first"), result


def test_module_as_a_function_of_the_login_shell(cluster):
    out, _ = cluster.run_script("#!/bin/bash\nmodule load cuda/12.4\nmodule load nccl/2.21\n",
                                env={"BASH_FUNC_module%%": "() {  echo \"module $*\"\n}"})
    assert out == "module load cuda/12.4\nmodule load nccl/2.21\n"


def test_export_before_srun_reaches_the_tasks(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH -N2\nexport MASTER_ADDR=n1 MASTER_PORT=29500\n"
                                "srun bash -c 'echo $MASTER_ADDR:$MASTER_PORT'\n")
    assert out == "n1:29500\nn1:29500\n"


def test_a_script_that_is_not_there(cluster):
    result = cluster.run("sbatch", "missing.sh")
    assert result.code == 1 and "sbatch: error: Unable to open file missing.sh" in result.err, result


def test_an_unknown_option(cluster):
    result = cluster.run("sbatch", "--nodse=2", "--wrap", "true")
    assert result.code != 0 and "nodse" in result.err, result


@pytest.mark.parametrize("option", ["--nodes=x", "--time=abc", "--mem=12Q", "--array=5-1:x", "--gres=gpu:-1"])
def test_bad_values_are_refused_before_anything_happens(cluster, option):
    result = cluster.run("sbatch", option, "--wrap", "true")
    assert result.code != 0 and result.out == "" and "sbatch: error:" in result.err, result
    assert cluster.queue() == []
