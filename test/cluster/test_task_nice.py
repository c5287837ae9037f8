"""slurm.conf(5) PropagatePrioProcess: the nice value of tasks."""


def nice_of(cluster, *command, env=None):
    out = cluster.ok(*command, env=env).out
    return int(out.split()[0])


def test_tasks_are_as_nice_as_their_submitter(make_cluster):
    cluster = make_cluster(nodes=1, conf="PropagatePrioProcess=1")
    assert nice_of(cluster, "nice", "-n", "7", "srun", "nice") == 7
    cluster.ok("nice", "-n", "5", "sbatch", "--wait", "-o", "batch.out", "--wrap", "nice; srun nice")
    assert cluster.read("batch.out").split() == ["5", "5"]


def test_tasks_are_nicer_than_slurmd(make_cluster):
    cluster = make_cluster(nodes=1, conf="PropagatePrioProcess=2")
    assert nice_of(cluster, "srun", "nice") == 1
