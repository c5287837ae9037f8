"""What is not there for heterogeneous jobs is refused with its reason, and leaves nothing behind."""
import pytest

pytestmark = pytest.mark.better_than_slurm      # each has a sentence of its own


def test_test_only_of_srun_is_for_one_component(cluster):
    said = cluster.run("srun", "--test-only", "-n1", "true", ":", "-n2", "true")
    assert said.code == 1 and "srun --test-only is for one component; sbatch --test-only takes several" in said.err, said
    assert not cluster.queue()
    assert "to start at" in cluster.ok("sbatch", "--test-only", "-n1", ":", "-n2", "--wrap", "true").err


def test_parts_of_a_step_want_a_heterogeneous_job(cluster):
    said = cluster.run("salloc", "-Q", "-n2", "sh", "-c", "srun -n1 echo one : -n1 echo two; echo code $?; squeue -hs -j $SLURM_JOB_ID -o %i | grep -c '\\.[0-9]'; true")
    assert "heterogeneous steps in a job that is not heterogeneous are not available" in said.err, said
    assert "start each part with an srun of its own, or ask for the components when the job is submitted" in said.err, said
    assert "one" not in said.lines and "two" not in said.lines and said.lines == ["code 1", "0"], said
    said = cluster.run("salloc", "-Q", "-n2", "srun", "--het-group=1", "echo", "one")
    assert said.code != 0 and "one" not in said.lines and said.err, said
