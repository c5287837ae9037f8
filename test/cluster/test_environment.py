"""The variables of the ENVIRONMENT sections of sbatch(1), srun(1) and salloc(1): each has a row here, and each row that says
"set" is looked at in a real job. The walk over the manual pages fails for a variable without a row.

The inputs (SBATCH_…, SLURM_…, SALLOC_…) are rows of src/options, whose manual_test walks the same pages.
"""
import os
import re

import pytest

from harness import ORACLE, REPO

REFERENCE = os.environ.get("MUSTER_REFERENCE", os.path.join(os.path.dirname(REPO), "shared", "reference"))
SET, ASKED = "always set", "set when its option is given"
WAITS = {"container": "OCI containers", "reservation": "reservations", "qos": "accounting"}

# variable: {command: what the man page's variable does here}
VARIABLES = {
    "SBATCH_MEM_BIND": {"sbatch": ASKED}, "SBATCH_MEM_BIND_LIST": {"sbatch": ASKED},
    "SBATCH_MEM_BIND_PREFER": {"sbatch": ASKED}, "SBATCH_MEM_BIND_TYPE": {"sbatch": ASKED},
    "SBATCH_MEM_BIND_VERBOSE": {"sbatch": ASKED},
    "SLURM_*_HET_GROUP_#": {"sbatch": "test_het_jobs.py", "srun": "test_het_jobs.py",
                             "salloc": "test_het_jobs.py"},
    "SLURM_ARRAY_JOB_ID": {"sbatch": "array"}, "SLURM_ARRAY_TASK_COUNT": {"sbatch": "array"},
    "SLURM_ARRAY_TASK_ID": {"sbatch": "array"}, "SLURM_ARRAY_TASK_MAX": {"sbatch": "array"},
    "SLURM_ARRAY_TASK_MIN": {"sbatch": "array"}, "SLURM_ARRAY_TASK_STEP": {"sbatch": "array"},
    "SLURM_CLUSTER_NAME": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_CONTAINER": {"sbatch": "waits: container", "srun": "waits: container", "salloc": "waits: container"},
    "SLURM_CONTAINER_ID": {"sbatch": "waits: container", "srun": "waits: container", "salloc": "waits: container"},
    "SLURM_CONTAINER_TYPE": {"sbatch": "waits: container", "srun": "waits: container", "salloc": "waits: container"},
    "SLURM_CPU_BIND_LIST": {"srun": ASKED}, "SLURM_CPU_BIND_TYPE": {"srun": ASKED}, "SLURM_CPU_BIND_VERBOSE": {"srun": ASKED},
    "SLURM_CPU_FREQ_REQ": {"srun": ASKED},
    "SLURM_CPUS_ON_NODE": {"sbatch": SET, "srun": SET},
    "SLURM_CPUS_PER_GPU": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_CPUS_PER_TASK": {"sbatch": ASKED, "srun": ASKED, "salloc": ASKED},
    "SLURM_DIST_PLANESIZE": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_DISTRIBUTION": {"sbatch": ASKED, "srun": ASKED, "salloc": ASKED},
    "SLURM_EXPORT_ENV": {"sbatch": ASKED},
    "SLURM_GPU_BIND": {"sbatch": ASKED, "salloc": ASKED}, "SLURM_GPU_FREQ": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_GPUS": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_GPUS_ON_NODE": {"sbatch": ASKED, "srun": ASKED},
    "SLURM_GPUS_PER_NODE": {"sbatch": ASKED, "salloc": ASKED}, "SLURM_GPUS_PER_SOCKET": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_GTIDS": {"sbatch": SET, "srun": SET},
    "SLURM_HET_SIZE": {"sbatch": "test_het_jobs.py", "srun": "test_het_jobs.py", "salloc": "test_het_jobs.py"},
    "SLURM_JOB_ACCOUNT": {"sbatch": ASKED, "srun": ASKED, "salloc": ASKED},
    "SLURM_JOB_CPUS_PER_NODE": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_JOB_DEPENDENCY": {"sbatch": ASKED, "srun": ASKED},
    "SLURM_JOB_END_TIME": {"sbatch": ASKED, "srun": ASKED, "salloc": ASKED},
    "SLURM_JOB_GPUS": {"sbatch": ASKED, "srun": "inherited from the batch script", "salloc": "set in the interactive step"},
    "SLURM_JOB_ID": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_JOB_LICENSES": {"sbatch": ASKED, "srun": ASKED, "salloc": ASKED},
    "SLURM_JOB_NAME": {"sbatch": SET, "srun": SET},
    "SLURM_JOB_NODELIST": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_JOB_NODES": {"srun": SET},
    "SLURM_JOB_NUM_NODES": {"sbatch": SET, "salloc": SET},
    "SLURM_JOB_PARTITION": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_JOB_QOS": {"sbatch": "waits: qos", "srun": "waits: qos", "salloc": "waits: qos"},
    "SLURM_JOB_RESERVATION": {"sbatch": "waits: reservation", "srun": "waits: reservation", "salloc": "waits: reservation"},
    "SLURM_JOB_SEGMENT_SIZE": {"sbatch": ASKED, "srun": ASKED, "salloc": ASKED},
    "SLURM_JOB_START_TIME": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_JOBID": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_LAUNCH_NODE_IPADDR": {"srun": SET},
    "SLURM_LOCALID": {"sbatch": SET, "srun": SET},
    "SLURM_MEM_BIND": {"salloc": ASKED}, "SLURM_MEM_BIND_LIST": {"srun": ASKED, "salloc": ASKED},
    "SLURM_MEM_BIND_PREFER": {"srun": ASKED, "salloc": ASKED}, "SLURM_MEM_BIND_TYPE": {"srun": ASKED, "salloc": ASKED},
    "SLURM_MEM_BIND_VERBOSE": {"srun": ASKED, "salloc": ASKED},
    "SLURM_MEM_PER_CPU": {"sbatch": ASKED, "salloc": ASKED}, "SLURM_MEM_PER_GPU": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_MEM_PER_NODE": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_NETWORK": {"sbatch": ASKED, "srun": ASKED, "salloc": ASKED},
    "SLURM_NNODES": {"sbatch": SET, "salloc": SET},
    "SLURM_NODEID": {"sbatch": SET, "srun": SET},
    "SLURM_NODELIST": {"sbatch": SET, "salloc": SET},
    "SLURM_NPROCS": {"sbatch": ASKED, "srun": SET, "salloc": ASKED},
    "SLURM_NTASKS": {"sbatch": ASKED, "srun": SET, "salloc": ASKED},
    "SLURM_NTASKS_PER_CORE": {"sbatch": ASKED, "salloc": ASKED}, "SLURM_NTASKS_PER_GPU": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_NTASKS_PER_NODE": {"sbatch": ASKED, "salloc": ASKED}, "SLURM_NTASKS_PER_SOCKET": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_OOMKILLSTEP": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_OVERCOMMIT": {"sbatch": ASKED, "srun": ASKED, "salloc": ASKED},
    "SLURM_PRIO_PROCESS": {"sbatch": SET, "srun": SET},
    "SLURM_PROCID": {"sbatch": SET, "srun": SET},
    "SLURM_PROFILE": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_RESTART_COUNT": {"sbatch": "after a requeue"},
    "SLURM_SHARDS_ON_NODE": {"sbatch": ASKED, "srun": ASKED, "salloc": "set in the interactive step"},
    "SLURM_SRUN_COMM_HOST": {"srun": SET}, "SLURM_SRUN_COMM_PORT": {"srun": "set when the step listens on TCP"},
    "SLURM_STEP_GPUS": {"srun": ASKED}, "SLURM_STEP_ID": {"srun": SET},
    "SLURM_STEP_LAUNCHER_PORT": {"srun": "set when the step listens on TCP"},
    "SLURM_STEP_NODELIST": {"srun": SET}, "SLURM_STEP_NUM_NODES": {"srun": SET}, "SLURM_STEP_NUM_TASKS": {"srun": SET},
    "SLURM_STEP_TASKS_PER_NODE": {"srun": SET}, "SLURM_STEPID": {"srun": SET},
    "SLURM_SUBMIT_DIR": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_SUBMIT_HOST": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_TASK_PID": {"sbatch": SET, "srun": SET},
    "SLURM_TASKS_PER_NODE": {"sbatch": SET, "srun": SET, "salloc": SET},
    "SLURM_THREADS_PER_CORE": {"sbatch": ASKED, "salloc": ASKED},
    "SLURM_TOPOLOGY_ADDR": {"sbatch": SET, "srun": SET}, "SLURM_TOPOLOGY_ADDR_PATTERN": {"sbatch": SET, "srun": SET},
    "SLURM_TRES_PER_TASK": {"sbatch": ASKED, "srun": ASKED, "salloc": ASKED},
    "SLURM_UMASK": {"srun": SET},
    "SLURMD_NODENAME": {"sbatch": SET, "srun": SET},
    "SRUN_DEBUG": {"srun": SET},
}


def of_the_page(command):
    """Names in the OUTPUT ENVIRONMENT section; none where the page is not at hand."""
    names, inside = [], False
    page = os.path.join(REFERENCE, "man", command + ".1.txt")
    if not os.path.exists(page):
        return names
    with open(page, errors="replace") as f:
        for line in f:
            if re.match(r"[A-Z]", line):
                inside = line.startswith("OUTPUT ENVIRONMENT")
            found = re.match(r" {7}([A-Z][A-Z0-9_*#]+_[A-Z0-9_*#]+)", line)
            if inside and found:
                names.append(found[1])
    return names


def documented(command):
    """The same as it stands in test/documented, held against the page where that is at hand; MUSTER_UPDATE=1 writes it."""
    path = os.path.join(REPO, "test", "documented", command + ".output-variables.txt")
    names = of_the_page(command)
    if names and os.environ.get("MUSTER_UPDATE"):
        with open(path, "w") as f:
            f.writelines(name + "\n" for name in names)
    with open(path) as f:
        stored = f.read().split()
    assert not names or stored == names, "%s is not what the page says: MUSTER_UPDATE=1 writes it" % path
    return stored


@pytest.mark.parametrize("command", ["sbatch", "srun", "salloc"])
def test_every_documented_variable_has_a_row(command):
    names = documented(command)
    assert len(names) > 50      # a page that is read wrongly would pass with nothing found
    missing = [name for name in names if command not in VARIABLES.get(name, {})]
    assert not missing, missing
    extra = [name for name, row in VARIABLES.items() if command in row and name not in names]
    assert not extra, extra


# ---- the values, in real jobs
def variables(text):
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"S?[A-Z]+[A-Z_]*=", line))


def check(seen, wanted, absent=()):
    wrong = {name: (seen.get(name), value) for name, value in wanted.items()
             if not re.fullmatch(value, seen.get(name, "(not set)"))}
    assert not wrong, "seen, wanted: %s" % wrong
    there = [name for name in absent if name in seen]
    assert not there, "set without being asked for: %s" % there


def always(command):
    return {name for name, row in VARIABLES.items() if row.get(command) == SET}


def only_when_asked(command):
    return [name for name, row in VARIABLES.items() if row.get(command) == ASKED]


ASK = ["--gpus-per-node=2", "--cpus-per-task=2", "--ntasks-per-node=2", "--mem-per-cpu=20", "--time=5", "--account=lab", "--comment=x",
       "--distribution=plane=2", "--network=any", "--threads-per-core=1", "--mem-bind=verbose,map_mem:0,1",
       "--gpu-bind=closest"]
ASKED_VALUES = {"SLURM_GPUS_PER_NODE": "2", "SLURM_CPUS_PER_TASK": "2", "SLURM_NTASKS_PER_NODE": "2", "SLURM_MEM_PER_CPU": "20",
                "SLURM_JOB_ACCOUNT": "lab", "SLURM_DISTRIBUTION": "plane", "SLURM_DIST_PLANESIZE": "2", "SLURM_NETWORK": "any",
                "SLURM_THREADS_PER_CORE": "1", "SLURM_GPU_BIND": "closest",
                "SLURM_NTASKS": "4", "SLURM_NPROCS": "4"}
bindings = pytest.mark.better_than_slurm     # Debian's release has no SLURM_TRES_PER_TASK and asks for task/affinity


def test_plain_batch_job(cluster):
    out, job = cluster.run_script("#!/bin/bash\nenv\n", "-N2", "-J", "plain")
    seen = variables(out)
    names = cluster.ok("scontrol", "show", "hostnames", job["NodeList"]).lines
    check(seen, {
        "SLURM_CLUSTER_NAME": "test", "SLURM_CPUS_ON_NODE": "1", "SLURM_GTIDS": "0", "SLURM_JOB_CPUS_PER_NODE": r"1\(x2\)",
        "SLURM_JOB_ID": job["JobId"], "SLURM_JOBID": job["JobId"], "SLURM_JOB_NAME": "plain",
        "SLURM_JOB_NODELIST": re.escape(job["NodeList"]), "SLURM_NODELIST": re.escape(job["NodeList"]),
        "SLURM_JOB_NUM_NODES": "2", "SLURM_NNODES": "2", "SLURM_JOB_PARTITION": "main", "SLURM_LOCALID": "0", "SLURM_NODEID": "0",
        "SLURM_PROCID": "0", "SLURM_PRIO_PROCESS": r"-?\d+", "SLURM_SUBMIT_DIR": re.escape(cluster.work), "SLURM_SUBMIT_HOST": r"\S+",
        "SLURM_TASK_PID": r"\d+", "SLURM_TASKS_PER_NODE": r"1\(x2\)", "SLURMD_NODENAME": names[0]})
    if not ORACLE:
        assert not always("sbatch") - set(seen)
        check(seen, {"SLURM_JOB_START_TIME": r"\d{10}"}, set(only_when_asked("sbatch")) - {"SLURM_MEM_PER_CPU"})    # DefMemPerCPU


@bindings
def test_batch_job_that_asks_for_much(cluster):
    out, job = cluster.run_script("#!/bin/bash\nenv\n", "-N2", *ASK)
    seen = variables(out)
    check(seen, dict(ASKED_VALUES, SLURM_TASKS_PER_NODE=r"2\(x2\)", SLURM_JOB_CPUS_PER_NODE=r"\d+\(x2\)", SLURM_GPUS_ON_NODE="2",
                     SLURM_JOB_GPUS="0,1", CUDA_VISIBLE_DEVICES="0,1", SLURM_TRES_PER_TASK="cpu=2",
                     SBATCH_MEM_BIND="verbose,map_mem:0,1", SBATCH_MEM_BIND_TYPE="map_mem:", SBATCH_MEM_BIND_LIST="0,1",
                     SBATCH_MEM_BIND_VERBOSE="verbose", SBATCH_MEM_BIND_PREFER=""))
    assert int(seen["SLURM_JOB_END_TIME"]) - int(seen["SLURM_JOB_START_TIME"]) == 300


@pytest.mark.parametrize("options,wanted", [
    (["--mem=300"], {"SLURM_MEM_PER_NODE": "300"}),
    (["--gpus=2", "--mem-per-gpu=50", "--cpus-per-gpu=2"],
     {"SLURM_GPUS": "2", "SLURM_MEM_PER_GPU": "50", "SLURM_CPUS_PER_GPU": "2"}),
    (["-n2", "--gpus-per-task=1"], {"SLURM_TRES_PER_TASK": "gres/gpu=1", "SLURM_NTASKS": "2"}),
    (["--export=ALL,A=b"], {"SLURM_EXPORT_ENV": "ALL,A=b", "A": "b"}),
    (["--ntasks-per-core=1", "-n2"], {"SLURM_NTASKS_PER_CORE": "1"}),
    (["--ntasks-per-socket=1", "-n2"], {"SLURM_NTASKS_PER_SOCKET": "1"}),
    (["--ntasks-per-gpu=2", "--gpus=1"], {"SLURM_NTASKS_PER_GPU": "2", "SLURM_NTASKS": "2"}),
    (["--overcommit", "-n4"], {"SLURM_OVERCOMMIT": "1"}),
    (["--oom-kill-step=1"], {"SLURM_OOMKILLSTEP": "1"}),
    (["--profile=task"], {"SLURM_PROFILE": "task"}),
], ids=lambda x: x[0] if isinstance(x, list) else "")
@bindings
def test_variables_of_one_option(cluster, options, wanted):
    out, _ = cluster.run_script("#!/bin/bash\nenv\n", *options)
    check(variables(out), wanted)


def test_array_task(cluster):
    job = cluster.sbatch("--array=3-11:4", "--wrap", "env")
    for task in (3, 7, 11):
        cluster.wait_job("%d_%d" % (job, task))
        check(variables(cluster.read("slurm-%d_%d.out" % (job, task))), {
            "SLURM_ARRAY_JOB_ID": str(job), "SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": "3",
            "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_MAX": "11", "SLURM_ARRAY_TASK_STEP": "4"})


@bindings      # Slurm lets a requeued job wait for two minutes
def test_restart_count(cluster):
    out, _ = cluster.run_script("#!/bin/bash\nenv\n[ -n \"$SLURM_RESTART_COUNT\" ] || { scontrol requeue $SLURM_JOB_ID; sleep 60; }\n",
                                "--requeue", "--open-mode=append", seconds=60)
    check(variables(out), {"SLURM_RESTART_COUNT": "1"})


def step_variables(cluster, rank, *options):
    """What one task of a step sees; the step is told to print nothing else."""
    return variables(cluster.ok("srun", *options, "bash", "-c", '[ $SLURM_PROCID != %d ] || env' % rank).out)


def test_step_in_an_allocation_of_its_own(cluster):
    seen = step_variables(cluster, 2, "-N2", "-n3", "-J", "own", "-t5")
    check(seen, {
        "SLURM_JOB_NAME": "own", "SLURM_NTASKS": "3", "SLURM_NPROCS": "3", "SLURM_STEP_NUM_TASKS": "3", "SLURM_STEP_NUM_NODES": "2",
        "SLURM_STEP_TASKS_PER_NODE": "2,1", "SLURM_TASKS_PER_NODE": "2,1", "SLURM_STEP_ID": "0", "SLURM_STEPID": "0",
        "SLURM_PROCID": "2", "SLURM_LOCALID": "0", "SLURM_NODEID": "1", "SLURM_GTIDS": "2", "SLURM_CPUS_ON_NODE": "1",
        "SLURM_JOB_CPUS_PER_NODE": "2,1", "SLURM_LAUNCH_NODE_IPADDR": r"127\.0\.0\.1", "SLURM_SRUN_COMM_HOST": r"127\.0\.0\.1",
        "SLURM_STEP_NODELIST": r"n\[\d-\d\]", "SLURM_UMASK": r"0\d{3}", "SRUN_DEBUG": "3", "SLURM_TASK_PID": r"\d+"})
    if not ORACLE:
        assert not always("srun") - set(seen), always("srun") - set(seen)
        assert int(seen["SLURM_JOB_END_TIME"]) - int(seen["SLURM_JOB_START_TIME"]) == 300


@bindings
def test_step_in_a_batch_job(cluster):
    out, job = cluster.run_script(
        "#!/bin/bash\nsrun -N1 -n1 --gpus=1 -c2 --overcommit --cpu-bind=verbose,map_cpu:0 --mem-bind=local "
        "--cpu-freq=low env\n", "-N2", "--ntasks-per-node=2", "--cpus-per-task=2", "--gpus-per-node=2")
    check(variables(out), {
        "SLURM_JOB_ID": job["JobId"], "SLURM_STEP_NUM_NODES": "1", "SLURM_NNODES": "1", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NODES": "2",
        "SLURM_CPUS_PER_TASK": "2", "SLURM_STEP_GPUS": r"\d", "SLURM_GPUS_ON_NODE": "1", "SLURM_OVERCOMMIT": "1",
        "SLURM_CPU_BIND_TYPE": "map_cpu:", "SLURM_CPU_BIND_LIST": "0", "SLURM_CPU_BIND_VERBOSE": "verbose",
        "SLURM_MEM_BIND_TYPE": "local", "SLURM_MEM_BIND_VERBOSE": "quiet", "SLURM_MEM_BIND_LIST": "", "SLURM_MEM_BIND_PREFER": "",
        "SLURM_CPU_FREQ_REQ": ".+", "SLURM_TRES_PER_TASK": "cpu=2"})


@bindings
def test_preserve_env_keeps_the_counts(cluster):
    out, _ = cluster.run_script("#!/bin/bash\nexport SLURM_NTASKS=77\nsrun -n1 --preserve-env env\n", "-n2")
    check(variables(out), {"SLURM_NTASKS": "77"})


@bindings
def test_a_step_from_outside_knows_its_job(cluster):
    job = cluster.sbatch("-N2", "-t7", "-J", "outer", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    seen = variables(cluster.ok("srun", "--jobid=%d" % job, "--overlap", "-N1", "-n1", "env").out)
    check(seen, {"SLURM_JOB_ID": str(job), "SLURM_JOB_NAME": "outer", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_PARTITION": "main"})
    assert int(seen["SLURM_JOB_END_TIME"]) - int(seen["SLURM_JOB_START_TIME"]) == 420


def test_salloc(cluster):
    seen = variables(cluster.ok("salloc", "-N2", "-J", "talk", "env").out)
    check(seen, {"SLURM_JOB_NUM_NODES": "2", "SLURM_NNODES": "2", "SLURM_JOB_CPUS_PER_NODE": r"1\(x2\)", "SLURM_TASKS_PER_NODE": r"1\(x2\)",
                 "SLURM_JOB_PARTITION": "main", "SLURM_CLUSTER_NAME": "test", "SLURM_SUBMIT_DIR": re.escape(cluster.work)})
    if not ORACLE:
        assert not always("salloc") - set(seen), always("salloc") - set(seen)
        check(seen, {}, only_when_asked("salloc"))


@bindings
def test_salloc_that_asks_for_much(cluster):
    seen = variables(cluster.ok("salloc", "-N2", *ASK, "env").out)
    check(seen, dict(ASKED_VALUES, SLURM_MEM_BIND_TYPE="map_mem:", SLURM_MEM_BIND_LIST="0,1", SLURM_TRES_PER_TASK="cpu=2"))


@bindings
def test_topology_address(make_cluster):
    cluster = make_cluster(start=False, nodes=4)
    with open(os.path.join(cluster.folder, "etc", "topology.conf"), "w") as f:
        f.write("SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\nSwitchName=root Switches=leaf[1-2]\n")
    cluster.conf_lines.append("TopologyPlugin=topology/tree")
    cluster.write_lines()
    cluster.start()
    out, _ = cluster.run_script("#!/bin/bash\necho $SLURM_TOPOLOGY_ADDR $SLURM_TOPOLOGY_ADDR_PATTERN\n", "-w", "n3")
    assert out == "root.leaf2.n3 switch.switch.node\n"
