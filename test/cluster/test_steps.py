"""Checklist rows 6-9, 11 and 55-64: srun in and outside of jobs, terminals, the variables that jobs rely on."""
import os
import re
import select
import socket
import subprocess

import pytest

from harness import ORACLE, free_ports, until

devices = pytest.mark.better_than_slurm     # see test_submit.py


def test_srun_in_a_script_starts_one_task_a_node(cluster):
    cluster.script("torchrun", "#!/bin/bash\necho \"$SLURMD_NODENAME $*\"\n")
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=1\n"
                                "srun torchrun --nnodes=$SLURM_JOB_NUM_NODES train.py --fsdp | sort\n")
    assert out == "".join("n%d --nnodes=4 train.py --fsdp\n" % i for i in (1, 2, 3, 4))


def test_srun_with_eight_tasks_a_node(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n"
                                "srun bash -c 'echo $SLURM_PROCID $SLURM_NODEID $SLURM_LOCALID $SLURM_NTASKS' | sort -n\n")
    assert out == "".join("%d %d %d 16\n" % (i, i // 8, i % 8) for i in range(16))


def test_srun_makes_its_own_allocation(cluster):
    result = cluster.ok("srun", "-N2", "-n4", "bash", "-c", "echo $SLURM_PROCID $SLURMD_NODENAME")
    # Every node gets one task; the rest fill the first.
    assert sorted(result.lines) == ["0 n1", "1 n1", "2 n1", "3 n2"]
    cluster.wait_nodes("idle")      # a node takes no job while one is completing on it
    assert sorted(cluster.ok("srun", "-N2", "--ntasks-per-node=2", "bash", "-c", "echo $SLURM_PROCID $SLURMD_NODENAME").lines) \
        == ["0 n1", "1 n1", "2 n2", "3 n2"]


def test_srun_of_a_user_who_may_write_nowhere(cluster):
    result = cluster.run("srun", "-n2", "-l", "cat", stdin="words\n", env={"TMPDIR": "/proc/none"})
    assert (sorted(result.lines), result.code) == (["0: words", "1: words"], 0), result


def test_srun_label_and_exit_status(cluster):
    result = cluster.run("srun", "-n3", "-l", "bash", "-c", "echo hi; exit $SLURM_PROCID")
    assert sorted(result.lines) == ["0: hi", "1: hi", "2: hi"]
    assert result.code == 2 and re.search(r"srun: error: n1: task 2: Exited with exit code 2", result.err), result


# What MPI programs write when they are killed ends in the middle of a line, too (a test of MPI_Abort found it).
def test_lines_of_several_tasks_stay_whole(cluster):
    result = cluster.run("srun", "-n2", "sh", "-c", """if [ $SLURM_PROCID = 0 ]; then
          printf 'a begins ' >&2; while [ ! -e b-wrote ]; do sleep 0.01; done; echo 'and ends' >&2; printf unfinished >&2; exit 3
        else while [ ! -e a-began ]; do touch a-began; done; echo b >&2; sleep 0.2; touch b-wrote; fi""")
    assert sorted(result.err.splitlines()) == ["a begins and ends", "b", "srun: error: n1: task 0: Exited with exit code 3",
                                               "unfinished"], result


def test_messages_of_srun_begin_a_line(cluster):
    result = cluster.run("srun", "-n1", "sh", "-c", "printf begun >&2; exit 3")
    assert result.err == "begun\nsrun: error: n1: task 0: Exited with exit code 3\n", result
    result = cluster.run("srun", "-n1", "printf", "a prompt: ")
    assert (result.out, result.err) == ("a prompt: ", ""), result


def seen_before_the_end(cluster, says, *options):
    """What arrives of a task that waits for us before it goes on."""
    go = cluster.work + "/go"
    process = subprocess.Popen(["srun", "-n1", *options, "python3", "-c", """if 1:
          import os, sys, time
          %s
          while not os.path.exists("go"): time.sleep(0.01)
          print(os.isatty(0), os.isatty(1), os.isatty(2))""" % says],
                               env=cluster.env, cwd=cluster.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    ready, _, _ = select.select([process.stdout], [], [], 20)
    first = os.read(process.stdout.fileno(), 100) if ready else b"nothing"
    open(go, "w").close()
    rest = process.communicate(timeout=20)[0]
    os.remove(go)
    return first.decode(), rest.decode()


def test_a_prompt_is_seen_at_once(cluster):
    assert seen_before_the_end(cluster, 'sys.stdout.write("prompt: "); sys.stdout.flush()') == ("prompt: ", "False False False\n")


def test_unbuffered_gives_each_task_a_terminal_to_write_to(cluster):
    assert seen_before_the_end(cluster, 'print("line")', "-u") == ("line\n", "False True False\n")
    says = "import os; print(os.isatty(1))"
    assert cluster.ok("srun", "-n2", "-u", "python3", "-c", says).out == "True\nTrue\n"
    assert sorted(cluster.ok("srun", "-n2", "-l", "python3", "-c", says, env={"SLURM_UNBUFFEREDIO": "1"}).lines) == ["0: True", "1: True"]
    cluster.ok("srun", "-n2", "-u", "-o", "own-%t", "python3", "-c", says)
    assert (cluster.read("own-0"), cluster.read("own-1")) == ("True\n", "True\n")


def test_labels_are_in_files_of_the_nodes_too(cluster):
    cluster.ok("srun", "-N2", "-n11", "-O", "-l", "-o", "of-%N", "-e", "of-%t", "sh", "-c", "echo out; printf err >&2")
    assert sorted((cluster.read("of-n1") + cluster.read("of-n2")).splitlines()) == ["%2d: out" % i for i in range(11)]
    assert [cluster.read("of-%d" % i) for i in (0, 10)] == [" 0: err\n", "10: err\n"]


def far_conf(cluster, *more):
    """A slurm.conf whose reader takes no slurmd for one of its own host, so that srun listens on a port."""
    with open(cluster.conf_path) as f:
        lines = [line for line in f if not line.startswith("SlurmdPidFile=")]
    path = cluster.folder + "/etc/far.conf"
    with open(path, "w") as f:
        f.writelines(lines + ["SlurmdPidFile=%s/elsewhere/slurmd-%%n.pid\n" % cluster.folder] + ["%s\n" % line for line in more])
    return {"SLURM_CONF": path}


def test_srun_listens_on_ports_of_its_range(cluster):
    [port] = free_ports(1)
    env = far_conf(cluster, "SrunPortRange=%d" % port)
    listening = "python3 -c 'print([int(l.split()[1].split(\":\")[1], 16) for f in (\"tcp\", \"tcp6\") " \
                "for l in open(\"/proc/net/\" + f) if l.split()[3] == \"0A\"])'"
    assert port in eval(cluster.ok("srun", "-n1", "sh", "-c", listening, env=env).out)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("0.0.0.0", port))
        taken.listen()
        refused = cluster.run("srun", "-n1", "true", env=env)
    assert refused.code == 1 and "no port of SrunPortRange=%d-%d is free" % (port, port) in refused.err, refused


def test_srun_looks_for_the_program_when_the_site_wants_it(cluster):
    refused = cluster.run("srun", "no-such-program", env=far_conf(cluster, "LaunchParameters=test_exec"))
    assert refused.code == 1 and "no-such-program: command not found" in refused.err, refused


def test_srun_passes_standard_input_and_keeps_streams_apart(cluster):
    result = cluster.run("srun", "-n1", "bash", "-c", "cat; echo err >&2", stdin="one\ntwo\n")
    assert (result.code, result.out, result.err) == (0, "one\ntwo\n", "err\n")


def test_srun_of_a_program_that_is_not_there(cluster):
    result = cluster.run("srun", "-n1", "no-such-program")
    assert result.code == 2, result
    assert "No such file or directory" in result.err, result


def test_srun_test_only(cluster):
    result = cluster.run("srun", "--nodes=4", "--gres=gpu:8", "--test-only", "/bin/true")
    assert result.code == 0, result
    assert re.search(r"srun: Job \d+ to start at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d using \d+ processors on nodes n\[1-4\] "
                     r"in partition main", result.err), result
    assert cluster.queue() == []


def test_srun_test_only_of_what_can_never_run(cluster):
    result = cluster.run("srun", "--nodes=5", "--test-only", "/bin/true")
    assert result.code == 1 and "allocation failure" in result.err.lower(), result


@pytest.mark.row(8)
@devices
def test_srun_overlap_looks_into_a_running_job(cluster):
    cluster.script("nvidia-smi", "#!/bin/bash\necho \"GPUs $CUDA_VISIBLE_DEVICES of job $SLURM_JOB_ID\"\n")
    job = cluster.sbatch("--gres=gpu:8", "--wrap", "srun sleep 60")
    cluster.wait_job(job, "RUNNING")
    assert cluster.ok("srun", "--jobid=%d" % job, "--overlap", "nvidia-smi").out == \
        "GPUs 0,1,2,3,4,5,6,7 of job %d\n" % job


def test_srun_overlap_of_a_job_that_is_not_there(cluster):
    result = cluster.run("srun", "--jobid=999999", "--overlap", "true")
    assert result.code == 1 and "Invalid job id specified" in result.err, result


@pytest.mark.row(9)
def test_srun_on_a_terminal(cluster):
    out, code = cluster.terminal("srun", "--partition=gpu", "--gres=gpu:1", "--pty", "bash", "--norc", rows=37,
                                 columns=91, keys=[(rb"[$#] ?$", b"tty; stty size; echo job=$SLURM_JOB_ID\n"),
                                                   (rb"job=\d+", b"exit 7\n")])
    assert re.search(r"/dev/pts/\d+", out) and "37 91" in out, out
    assert re.search(r"job=\d+", out) and code == 7, (out, code)


@devices
def test_srun_on_a_terminal_with_bound_gpus(cluster):
    out, code = cluster.terminal("srun", "--partition=gpu", "--gres=gpu:2", "--gpu-bind=closest", "--pty", "bash",
                                 "--norc", keys=[(rb"[$#] ?$", b"echo gpus=$CUDA_VISIBLE_DEVICES.\n"),
                                                 (rb"gpus=[0-9,]+\.", b"exit\n")])
    assert "gpus=0,1." in out and code == 0, (out, code)


@pytest.mark.row(9)
def test_interrupt_ends_what_runs_on_the_terminal(cluster):
    # The program itself says "go": it has the terminal then. A ^C while bash is still starting something meets bash's own
    # handling, and half of the time it reads end-of-file afterwards, on any terminal.
    out, code = cluster.terminal("srun", "--pty", "bash", "--norc",
                                 keys=[(rb"[$#] ?$", b"sh -c 'echo go; exec sleep 60'; echo after=$?\n"),
                                       (rb"go\r\n", b"\x03"), (rb"\^C[\s\S]*[$#] ?$", b"exit 3\n")], seconds=15)
    assert code == 3, (out, code)


def test_nodes_and_tasks_from_variables(cluster):
    cluster.script("ray", "#!/bin/bash\necho \"$SLURM_PROCID $*\"\n")
    out, _ = cluster.run_script(
        "#!/bin/bash\n#SBATCH --nodes=3\n#SBATCH --gpus-per-node=8\n"
        "srun --nodes=\"$SLURM_NNODES\" --ntasks=\"$SLURM_NNODES\" ray symmetric-run --min-nodes \"$SLURM_NNODES\" "
        "--num-gpus=\"$SLURM_GPUS_PER_NODE\" -- python train_rl.py | sort\n")
    assert out == "".join("%d symmetric-run --min-nodes 3 --num-gpus=8 -- python train_rl.py\n" % i for i in range(3))


VARIABLES = """#!/bin/bash
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=2
for name in SLURM_JOB_NODELIST SLURM_JOB_NUM_NODES SLURM_NNODES SLURM_NTASKS SLURM_JOB_PARTITION SLURM_CLUSTER_NAME \
    SLURM_SUBMIT_DIR SLURM_JOB_USER SLURM_NODEID SLURM_PROCID SLURM_LOCALID SLURM_TASKS_PER_NODE SLURMD_NODENAME \
    SLURM_JOB_CPUS_PER_NODE SLURM_GPUS_PER_NODE; do
  echo "$name=${!name-unset}"
done
"""


def test_variables_of_a_batch_job(cluster):
    out, record = cluster.run_script(VARIABLES)
    have = dict(line.split("=", 1) for line in out.splitlines())
    assert have == {
        "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_NUM_NODES": "3", "SLURM_NNODES": "3", "SLURM_NTASKS": "6",
        "SLURM_JOB_PARTITION": "main", "SLURM_CLUSTER_NAME": "test", "SLURM_SUBMIT_DIR": cluster.work,
        "SLURM_JOB_USER": cluster.user, "SLURM_NODEID": "0", "SLURM_PROCID": "0", "SLURM_LOCALID": "0",
        "SLURM_TASKS_PER_NODE": "2(x3)", "SLURMD_NODENAME": "n1", "SLURM_JOB_CPUS_PER_NODE": "2(x3)",
        "SLURM_GPUS_PER_NODE": "unset"}


def test_gpus_per_node_variable_only_where_asked_for(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --gpus-per-node=8\necho $SLURM_GPUS_PER_NODE\n")
    assert out == "8\n"
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --gres=gpu:8\necho ${SLURM_GPUS_PER_NODE-unset}\n")
    assert out == "unset\n"


@pytest.mark.row(59)
def test_array_variables(cluster):
    job = cluster.sbatch("--array=3,7", "-o", "a%a", "--wrap",
                         "echo $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX "
                         "$SLURM_ARRAY_JOB_ID")
    until("the array", lambda: not cluster.queue("-j", str(job)))
    assert cluster.read("a3") == "3 2 3 7 %d\n" % job and cluster.read("a7") == "7 2 3 7 %d\n" % job


@devices
def test_jobs_on_one_node_see_different_gpus(cluster):
    seen = []
    for _ in range(4):
        job = cluster.sbatch("-w", "n1", "--gres=gpu:2", "-o", "g%j", "--wrap", "echo $CUDA_VISIBLE_DEVICES; sleep 60")
        cluster.wait_job(job, "RUNNING")
        until("its output", lambda job=job: cluster.sh("cat g%d" % job).out)
        seen += cluster.read("g%d" % job).strip().split(",")
    assert sorted(seen) == list("01234567")


NCCL = {"NCCL_IB_HCA": "mlx5", "NCCL_IB_GID_INDEX": "3", "NCCL_NET_GDR_READ": "1", "NCCL_NET_GDR_LEVEL": "SYS",
        "NCCL_SOCKET_IFNAME": "eth0", "NCCL_IB_DISABLE": "0", "NCCL_DEBUG": "INFO"}


def test_nccl_variables_reach_every_task(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH -N2\nsrun env | grep ^NCCL_ | sort\n", env=NCCL)
    assert out == "".join("%s=%s\n" % pair * 2 for pair in sorted(NCCL.items()))


@pytest.mark.row(54)
def test_export_none_keeps_the_environment_out(cluster):
    out, _ = cluster.run_script("#!/bin/bash\necho ${NCCL_DEBUG-unset} ${SLURM_JOB_NAME-unset}\n", "--export=NONE",
                                "-J", "clean", env=NCCL)
    assert out == "unset clean\n"


def test_master_address_of_the_checklist(cluster):
    out, _ = cluster.run_script(
        "#!/bin/bash\n#SBATCH -N4\n"
        "export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nexport MASTER_PORT=29500\n"
        "srun bash -c 'echo $MASTER_ADDR $MASTER_PORT $SLURM_PROCID' | sort\n")
    assert out == "".join("n1 29500 %d\n" % i for i in range(4))


@pytest.mark.skipif(ORACLE, reason="22.05 does not hand it on: one of its pitfalls")
def test_srun_inherits_cpus_per_task(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --cpus-per-task=4\nsrun bash -c 'echo $SLURM_CPUS_PER_TASK'\n")
    assert out == "4\n"


@pytest.mark.row(27)
def test_salloc_gives_a_shell_its_nodes(cluster):
    result = cluster.run("salloc", "-N2", "bash", "-c", "echo $SLURM_JOB_NODELIST; srun -l echo hi; exit 5")
    assert result.code == 5 and result.lines[0] == "n[1-2]" and sorted(result.lines[1:]) == ["0: hi", "1: hi"], result
    assert re.search(r"salloc: Granted job allocation \d+\nsalloc: Relinquishing job allocation \d+", result.err) or \
        re.search(r"salloc: Granted job allocation \d+", result.err), result


def test_steps_wait_for_their_turn(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH -n2\nfor i in 1 2 3 4; do srun --exact -n1 bash -c 'echo x' & done\nwait\n")
    assert [line for line in out.splitlines() if line == "x"] == ["x"] * 4


@pytest.mark.parametrize("manager", [[], ["--stepmgr"]], ids=["slurmctld", "slurmd"])
def test_a_node_has_no_more_tasks_of_a_step_than_max_tasks_per_node(make_cluster, manager):
    cluster = make_cluster(nodes=2, gpus=0, conf="MaxTasksPerNode=3")
    too_many = "srun: error: Unable to create step for job %d: Task count specification invalid"
    refused = cluster.run("salloc", "-Q", "-N1", "-n6", *manager, "srun", "true")      # the job itself may have as many
    assert refused.code == 1 and re.search(too_many.replace("%d", r"\d+"), refused.err), refused
    refused = cluster.run("salloc", "-Q", "-N2", "-n2", *manager, "srun", "-O", "-n7", "true")
    assert refused.code == 1 and re.search(too_many.replace("%d", r"\d+"), refused.err), refused
    nodes = cluster.ok("salloc", "-Q", "-N2", "-n5", "--ntasks-per-node=3", *manager, "srun", "-n5", "printenv", "SLURMD_NODENAME").lines
    assert len(nodes) == 5 and max(map(nodes.count, nodes)) <= 3
