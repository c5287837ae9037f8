"""What users see of placement: limits over a partition's jobs, sharing by partition, cores kept for GPUs, bound GPUs, blocks."""
import re

import pytest

from harness import until

pytestmark = pytest.mark.better_than_slurm      # Debian's release differs in most of it


def held(cluster, *options):
    """The line of one node that `scontrol show job -d` prints of a job that runs."""
    job = cluster.sbatch(*options, "--wrap", "sleep 300")
    cluster.wait_job(job, "RUNNING")
    out = cluster.ok("scontrol", "-d", "show", "job", str(job)).out
    return job, re.search(r"^ +Nodes=.*", out, re.M)[0].strip()


def reason(cluster, job):
    return cluster.ok("squeue", "-h", "-j", str(job), "-o", "%T %r").out.strip()


def waits_with(cluster, job, text):
    until("job %d to wait with %s" % (job, text), lambda: reason(cluster, job) == "PENDING " + text)


@pytest.fixture
def parts(make_cluster):
    return make_cluster(nodes=2, cpus=4, gpus=0, partitions=[
        "PartitionName=main Nodes=n[1-2] Default=YES", "PartitionName=q1 Nodes=n[1-2] MaxCPUsPerNode=1", "PartitionName=q2 Nodes=n[1-2]",
        "PartitionName=two Nodes=n2 OverSubscribe=FORCE:2", "PartitionName=three Nodes=n2 OverSubscribe=FORCE:3"])


def test_limits_and_counts_are_of_a_partitions_jobs(parts):
    c = parts
    jobs = [c.sbatch("-p", "q1", "-n1", "--wrap", "sleep 300") for _ in range(3)]
    for job in jobs[:2]:
        c.wait_job(job, "RUNNING")
    waits_with(c, jobs[2], "Resources")
    other = c.sbatch("-p", "q2", "-n3", "-w", "n1", "--wrap", "sleep 300")
    c.wait_job(other, "RUNNING")
    c.ok("scancel", str(jobs[0]))
    c.wait_job(jobs[2], "RUNNING")
    c.cancel_all()
    two = [c.sbatch("-p", "two", "-n4", "--wrap", "sleep 300") for _ in range(3)]
    three = [c.sbatch("-p", "three", "-n4", "--wrap", "sleep 300") for _ in range(4)]
    for job in two[:2] + three[:3]:
        c.wait_job(job, "RUNNING")
    assert [reason(c, j).split()[0] for j in (two[2], three[3])] == ["PENDING"] * 2
    # the counts are still right after a restart
    c.stop_ctld()
    c.start_ctld()
    c.wait_ctld()
    c.ok("scancel", str(two[0]))
    c.wait_job(two[2], "RUNNING")
    assert reason(c, three[3]).split()[0] == "PENDING"


@pytest.fixture
def gpus(make_cluster):
    c = make_cluster(start=False, nodes=2, cpus=8, gpus=2, node_line={
        "n1": "Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RestrictedCoresPerGPU=1",
        "n2": "Sockets=2 CoresPerSocket=4 ThreadsPerCore=1"}, gres_conf="")
    c.conf_lines = [line.replace("GresTypes=gpu", "GresTypes=gpu,shard,mps,nic,extra").replace("CR_CPU_Memory", "CR_Core_Memory") +
                    (" Gres=gpu:2,shard:20,nic:1" if line.startswith("NodeName=n1 ") else
                     " Gres=gpu:2,mps:200,nic:1,extra:2" if line.startswith("NodeName=n2 ") else "") for line in c.conf_lines]
    c.write_lines()
    with open(c.folder + "/etc/gres.conf", "w") as f:
        for i in range(2):
            open("%s/dev/nvidia%d" % (c.folder, i), "w").close()
            f.write("NodeName=n[1-2] Name=gpu File=%s/dev/nvidia%d Cores=%s\n" % (c.folder, i, ("0-3", "4-7")[i]))
            f.write("NodeName=n1 Name=shard Count=10 File=%s/dev/nvidia%d\n" % (c.folder, i))
        f.write("NodeName=n2 Name=mps Count=200\nName=extra Flags=explicit\n")
    return c.start()


def test_devices_and_their_cores(gpus):
    c = gpus
    assert "RestrictedCoresPerGPU=1(0,4)" in c.ok("scontrol", "show", "node", "n1").out
    job, line = held(c, "-w", "n1", "-n6")
    assert "CPU_IDs=1-3,5-7" in line
    c.ok("scancel", str(job))
    refused = c.run("sbatch", "-w", "n1", "-N1", "-n8", "--gres=gpu:1", "--wrap", "true")
    assert refused.code == 1 and "Requested node configuration is not available" in refused.err, refused
    job, line = held(c, "-w", "n1", "-n1", "--gres=shard:6")
    assert "GRES=shard:6(6/10,0/10)" in line
    _, line = held(c, "-w", "n1", "-n1", "--gres=nic:1")
    assert "GRES=nic(CNT:1)" in line
    c.cancel_all()
    _, line = held(c, "-w", "n2", "-n1", "--gpus=2", "--gres-flags=enforce-binding")
    assert "CPU_IDs=0,4" in line and "gpu:2(IDX:0-1)" in line
    c.cancel_all()
    out = c.ok("srun", "-w", "n2", "--gres=mps:50", "printenv", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_VISIBLE_DEVICES")
    assert out.lines == ["50", "0"]
    for options in (["--gres=mps:1,gpu:1"], ["--gres=mps:1", "--gpu-freq=high"]):
        refused = c.run("sbatch", *options, "--wrap", "true")
        assert refused.code == 1 and "Invalid generic resource (gres) specification" in refused.err, refused
    _, line = held(c, "-w", "n2", "--exclusive")
    assert "extra" not in line
    node = c.ok("scontrol", "-d", "show", "node", "n2").out
    assert re.search(r"GresUsed=gpu:2\(IDX:0-1\),mps:0\(0/100,0/100\),nic:1,extra:0\n", node), node
    c.cancel_all()
    tasks = c.ok("srun", "-w", "n2", "-n2", "--exclusive", "--sockets-per-node=1", "--gpus-per-socket=1", "printenv", "CUDA_VISIBLE_DEVICES")
    assert tasks.lines == ["0,1", "0,1"]


def test_a_jobs_sharing_in_its_environment(parts):
    c = parts

    def seen(*options):
        out, _ = c.run_script("#!/bin/bash\necho $SLURM_JOB_EXCLUSIVE $SLURM_JOB_OVERSUBSCRIBE\nsrun -n1 sh -c 'echo $SLURM_JOB_EXCLUSIVE'\n", *options)
        return out.split()
    assert seen("-p", "q2") == ["NO", "NO", "NO"]
    assert seen("-p", "q2", "--exclusive") == ["NODE", "NO", "NODE"]
    assert seen("-p", "q2", "--exclusive=user") == ["USER", "NO", "USER"]
    assert seen("-p", "q2", "--exclusive=topo") == ["TOPO", "NO", "TOPO"]
    assert seen("-p", "q2", "--oversubscribe") == ["NO", "YES", "NO"]
    out = c.ok("salloc", "-p", "q2", "--exclusive", "-Q", "sh", "-c", "echo $SLURM_JOB_EXCLUSIVE").out
    assert out == "NODE\n"
    out = c.ok("srun", "-p", "q2", "-w", "n2", "sh", "-c", "echo $SLURM_TOPOLOGY_ADDR $SLURM_TOPOLOGY_ADDR_PATTERN $SLURM_JOB_OVERSUBSCRIBE").out
    assert out == "n2 node NO\n"
    out = c.ok("salloc", "-p", "q2", "-Q", "-n1", "--tres-per-task=cpu:2", "printenv", "SLURM_TRES_PER_TASK").out
    assert out == "cpu:2\n"


def test_blocks(make_cluster):
    c = make_cluster(start=False, nodes=8, cpus=2, gpus=0, conf="TopologyPlugin=topology/block")
    with open(c.folder + "/etc/topology.conf", "w") as f:
        f.write("BlockName=odd Nodes=n[1,3,5,7]\nBlockName=even Nodes=n[2,4,6,8]\nBlockSizes=4\n")
    c.start()
    names = c.ok("srun", "-N8", "-m", "block", "-l", "printenv", "SLURMD_NODENAME").lines
    order = [line.split()[1] for line in sorted(names)]
    assert order == ["n1", "n3", "n5", "n7", "n2", "n4", "n6", "n8"]
    out, _ = c.run_script("#!/bin/bash\nsrun -N3 sh -c 'echo a $SLURMD_NODENAME; until [ -e over ]; do sleep 0.1; done' &\n"
                          "until scontrol show step $SLURM_JOB_ID.0 >/dev/null 2>&1; do :; done\n"
                          "srun -N3 sh -c 'echo b $SLURMD_NODENAME'\ntouch over\nwait\n", "-N8")
    def nodes(step):
        return {int(n) % 2 for n in re.findall(r"%s n(\d)" % step, out)}
    assert len(nodes("a")) == 1 and len(nodes("b")) == 1 and nodes("a") != nodes("b"), out
    for hosts in ("n[1,3]", "n2"):
        held(c, "-N%d" % (2 if "[" in hosts else 1), "-w", hosts, "--exclusive")
    first = c.sbatch("-N4", "--exclusive", "--wrap", "true")
    waits_with(c, first, "No_suitable_topology_unit_found")
    named = c.sbatch("-N4", "-w", "n[4,5,6,7]", "--segment=2", "--exclusive", "--wrap", "sleep 300")
    c.ok("scancel", str(first))
    c.wait_job(named, "RUNNING")


def test_core_spec_zero_gives_all_cores(make_cluster):
    c = make_cluster(nodes=1, cpus=6, gpus=0, node_line="CoreSpecCount=1", conf="AllowSpecResourcesUsage=yes")
    out = c.ok("srun", "-w", "n1", "-n6", "--core-spec=0", "printenv", "SLURM_PROCID")
    assert sorted(out.lines) == list("012345")


def test_requeue_with_too_few_licences_left_holds_the_job(make_cluster):
    c = make_cluster(nodes=1, cpus=2, gpus=0, conf="Licenses=app:3")
    job = c.sbatch("-L", "app:3", "--requeue", "--wrap", "sleep 300")
    c.wait_job(job, "RUNNING")
    c.conf_lines = [line.replace("app:3", "app:2") for line in c.conf_lines]
    c.write_lines()
    c.ok("scontrol", "reconfigure")
    c.ok("scontrol", "requeue", str(job))
    waits_with(c, job, "BadConstraints")
    assert "Priority=0 " in c.ok("scontrol", "show", "job", str(job)).out


def test_a_refusal_for_want_of_memory_says_what_is_short(make_cluster):
    c = make_cluster(nodes=1, cpus=8, gpus=0, memory=1000, conf="DefMemPerCPU=1024")
    c.conf_lines = [line for line in c.conf_lines if line != "DefMemPerCPU=10"]
    c.write_lines()
    c.ok("scontrol", "reconfigure")
    refused = c.run("sbatch", "--wrap", "true")
    assert refused.code == 1
    assert "1 have too little memory for one task" in refused.err and "one task asks for 1 CPU, 1024M (by DefMemPerCPU)" in refused.err, refused
