"""docs/sharing.md, "Two teams in five minutes": its commands as they stand there, on a cluster of `muster up`."""
import os
import re
import subprocess

import pytest

import harness
from harness import until

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "sharing.md")
pytestmark = pytest.mark.better_than_slurm      # muster up


def blocks():
    with open(PAGE) as page:
        return re.findall(r"(?ms)^```sh\n(.*?)^```", page.read())


@pytest.fixture
def shell(tmp_path):
    """A shell of somebody who has just typed `muster up`."""
    prefix, state = harness.prefix(), str(tmp_path / "m")
    env = {"PATH": ":".join((prefix + "/bin", prefix + "/sbin", os.environ["PATH"])), "HOME": str(tmp_path),
           "SLURM_CONF": state + "/slurm.conf", "USER": subprocess.check_output(["id", "-un"], text=True).strip()}

    def run(script, code=0):
        done = subprocess.run(["bash", "-c", script], env=env, cwd=tmp_path, text=True, capture_output=True, timeout=60)
        assert done.returncode == code, "%s\n%s%s" % (script, done.stdout, done.stderr)
        return done.stdout
    run("muster up --state=%s --nodes 4 --gpus-per-node 8 --gpu-type h100" % state)
    yield run
    run("muster down --state=%s" % state)


def gpus_held(shell, account):
    held = re.search(r"GrpTRES=\S*gres/gpu=\w+\((\d+)\)", shell("scontrol show assoc_mgr accounts=%s flags=assoc" % account))
    return int(held.group(1))


def test_two_teams_are_made_saturated_and_explained(shell):
    make, saturate, look, end = blocks()
    shell(make)         # the first command after muster up
    until("slurmctld to know both accounts", lambda: {"physics", "biology"} <= set(shell("sshare -n -P -o account").split()))
    shell(saturate)
    until("all GPUs to be in use", lambda: gpus_held(shell, "physics") == 24 and gpus_held(shell, "biology") == 8)
    reasons = shell("squeue -h -r -A biology -t PD -o %r").split()
    assert set(reasons) == {"AssocGrpGRES"} and len(reasons) == 18, reasons
    assert set(shell("squeue -h -r -A physics -t PD -o %r").split()) <= {"Resources", "Priority"}
    told = shell(look)
    assert "account biology" in told and "8" in told, told
    until("a priority that knows what was used", lambda: int(shell("sprio -h -A physics -o %F 2>/dev/null || sprio -h -o %F").split()[0]) >= 0)
    shell(end)
    until("no job to be left", lambda: shell("squeue -h") == "")
