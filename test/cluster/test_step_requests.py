"""What a step or a script asks for beside its resources: ports, a node by features, messages of its daemon; and where it shows."""
import json
import os
import re

import pytest

from harness import until

ours = pytest.mark.better_than_slurm      # Slurm has it for some kinds of MPI, daemons or builds only


@pytest.fixture(scope="module")
def shared():
    import conftest
    import harness
    folder = conftest.new_folder()
    cluster = harness.Cluster(folder, conf="MpiParams=ports=12000-12003\n")
    try:
        yield cluster.start()
    finally:
        cluster.stop()
        harness.remove(folder)



@ours
def test_ports_of_a_step(cluster):
    seen = cluster.ok("srun", "-n2", "-N2", "--resv-ports=3", "bash", "-c", "echo $SLURM_STEP_RESV_PORTS")
    assert seen.lines == ["12000-12002"] * 2
    # As many as a node has tasks; a job's option holds for each of its steps.
    assert cluster.ok("srun", "-n4", "-N1", "--resv-ports", "bash", "-c", "echo $SLURM_STEP_RESV_PORTS").lines == ["12000-12003"] * 4
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --resv-ports=2\nsrun bash -c 'echo $SLURM_STEP_RESV_PORTS'\n")
    assert out == "12000-12001\n"
    assert cluster.ok("srun", "-n1", "bash", "-c", "echo \"[$SLURM_STEP_RESV_PORTS]\"").out == "[]\n"


@ours
def test_more_ports_than_there_are(cluster):
    result = cluster.run("srun", "-n1", "--resv-ports=5", "true")
    assert result.code == 1 and "Requires more ports than can be reserved" in result.err and "MpiParams has 4 ports" in result.err


@ours
def test_what_a_step_asked_for_is_shown(cluster):
    job = cluster.sbatch("-N1", "-n1", "--wrap", "srun --resv-ports=2 --network=fast --output=step.%t --tres-bind=gres/gpu:closest sleep 100")
    until("the step", lambda: cluster.ok("squeue", "-s", "-h", "-o", "%i").out.find("%d.0" % job) >= 0)
    line = [l for l in cluster.ok("squeue", "--steps", "-h", "-O", "StepID:|,ResvPort:|,Network:|,STDOUT:|,tres-bind:|,STDERR:|").lines
            if l.startswith("%d.0|" % job)]
    assert line == ["%d.0|12000-12001|fast|step.%%t|gres/gpu:closest|(null)|" % job]
    text = cluster.ok("scontrol", "show", "step", "%d.0" % job).out
    assert "ResvPorts=12000-12001" in text and "Network=fast" in text
    steps = json.loads(cluster.ok("scontrol", "show", "step", "%d.0" % job, "--json").out)["steps"]
    assert [s["step"]["id"] for s in steps] == ["%d.0" % job] and steps[0]["step"]["stdout"] == "step.%t"
    cluster.ok("scancel", str(job))


def test_the_scheduler_looked_at_it(cluster):
    job = cluster.sbatch("--wrap", "true")
    cluster.wait_job(job)
    shown = cluster.job(job)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d", shown["LastSchedEval"])


@ours
def test_what_the_steps_daemon_tells(cluster):
    assert cluster.ok("srun", "-n1", "true").err == ""
    info = cluster.ok("srun", "-n1", "--slurmd-debug=info", "true").err
    assert re.fullmatch(r"slurmstepd: task 0 is process \d+\nslurmstepd: task 0 ended with exit code 0\n", info), info
    all_of_it = cluster.ok("srun", "-n1", "--slurmd-debug=debug2", "true").err
    for piece in ("for ", "debug:  task 0 may use CPUs", "debug2: task 0 runs"):
        assert piece in all_of_it, all_of_it
    assert "debug" not in cluster.ok("srun", "-n1", "true", env={"SLURMD_DEBUG": "verbose"}).err


def test_the_scripts_node_by_features(cluster):
    for node, features in (("n1", "slow"), ("n2", "slow,fast"), ("n3", "slow"), ("n4", "slow")):
        cluster.ok("scontrol", "update", "nodename=" + node, "availablefeatures=" + features, "activefeatures=" + features)
    out, job = cluster.run_script("#!/bin/bash\n#SBATCH -N4 --constraint=slow|fast --batch=fast\necho $SLURMD_NODENAME $SLURM_JOB_NODELIST\n")
    assert out == "n2 n[1-4]\n"
    refused = cluster.run("sbatch", "--constraint=slow", "--batch=fast", "--wrap", "true")
    assert refused.code == 1 and "Job --batch option is invalid or not a subset of --constraints" in refused.err


@ours
def test_packed_files(cluster):
    source, to = os.path.join(cluster.work, "plain"), os.path.join(cluster.work, "packed")
    os.makedirs(to)
    os.chmod(to, 0o777)
    with open(source, "w") as f:
        f.write("".join("%d lines are alike\n" % (i % 7) for i in range(40000)))
    for i, option in enumerate(("--compress", "--compress=lz4", "--compress=none")):
        result = cluster.run("salloc", "-Q", "-N3", "sbcast", "--force", option, "--size=100k", source, "%s/copy%d" % (to, i))
        assert (result.code, result.err) == (0, ""), result
        assert open("%s/copy%d" % (to, i)).read() == open(source).read()
    script = cluster.script("hello", "#!/bin/bash\n# %s\necho hello\n" % ("filler " * 5000))
    assert cluster.ok("srun", "-n1", "--bcast=%s/prog" % to, "--compress", "--treewidth=2", script).out == "hello\n"


@ours
def test_sdiag_as_data(cluster):
    cluster.wait_job(cluster.sbatch("--wrap", "true"))
    data = json.loads(cluster.ok("sdiag", "--json").out)
    text = cluster.ok("sdiag").out
    assert "Jobs submitted: %d" % data["statistics"]["jobs_submitted"] in text and data["meta"]["slurm"]["cluster"]
    assert [t for t in data["statistics"]["rpcs_by_message_type"] if t["message_type"] == "REQUEST_SUBMIT_BATCH_JOB"]
    assert "jobs_submitted: %d" % data["statistics"]["jobs_submitted"] in cluster.ok("sdiag", "--yaml").out
    assert cluster.run("sdiag", "--json=v0.0.1").code == 1


@ours
def test_cores_taken_back_from_the_system(make_cluster):
    """Guide core_spec: with a smaller --core-spec the steps have the system's cores that become free; the job is charged as before."""
    c = make_cluster(nodes=1, cpus=16, gpus=0, conf="AllowSpecResourcesUsage=yes", node_line="CoresPerSocket=16 CpuSpecList=0-1")
    out, _ = c.run_script("#!/bin/bash\n#SBATCH --core-spec=1\necho $SLURM_JOB_CPUS_PER_NODE $SLURM_CPUS_ON_NODE\n"
                            "srun -n1 bash -c 'echo $SLURM_CPUS_ON_NODE; scontrol show job -d $SLURM_JOB_ID; scontrol show node n1; "
                            "scontrol show step $SLURM_JOB_ID.0'\n")
    assert out.splitlines()[:2] == ["14 15", "15"], out
    assert re.search(r"NumCPUs=14 ", out) and re.search(r"CPU_IDs=2-15 ", out), out
    assert re.search(r"CPUAlloc=14 CPUEfctv=14 CPUTot=16", out), out
    assert re.search(r"CPUs=15 ", out), out
