"""Steps as an attacker starts them: allocation, credential and launch one by one, each with what he likes in it."""
import re
import subprocess

from town import hostile_program


def allocation(town, user, nodes=1, node=None, tasks=None):
    where = ["-w", node] if node else []
    result = user.ok("salloc", "--no-shell", "-N%d" % nodes, "-n%d" % (tasks or nodes), *where)
    return int(re.search(r"job allocation (\d+)", result.err)[1])


def credential(user, job, **more):
    step = user.send("CreateStep", {"job": job, "request.num_tasks": 1, "request.min_nodes": 1, "request.max_nodes": 1, **more})
    assert step, step
    return step


def launch(user, step, io, program=("/bin/sleep", "600"), node="n1", relay=False, **more):
    """relay: by way of the slurmd of n1."""
    fields = {"node": node, "credential": step.fields["credential"], "request.work_dir": user.home, "request.num_tasks": 1}
    fields.update({"request.argv.%d" % i: word for i, word in enumerate(program)})
    if relay:
        return user.send("LaunchStep", {**fields, **io, **more}, relay=node)
    return user.send("LaunchStep", {**fields, **io, **more}, socket=user.town.node_agent(node))


def launch_in_background(user, step, io):
    words = ["node=n1", "credential=" + step.fields["credential"], "request.work_dir=" + user.home, "request.num_tasks=1",
             "request.argv.0=/bin/sleep", "request.argv.1=600"] + ["%s=%s" % pair for pair in io.items()]
    return user.popen(hostile_program(), "send", user.town.node_agent(), "LaunchStep", *words,
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
