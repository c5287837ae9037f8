"""Do the commands agree? One look at a cluster with scontrol, sinfo and squeue, and the sums that must hold in it.

Each command is an answer of its own. A look counts only if no job's record changed between its first and its last command: a
job that starts, ends, is requeued or suspended leaves a trace in its record (ended jobs stay listed), so that equal records
before and after mean one state of the cluster. But for a job that completes on several nodes: each gives its part back by
itself, and what the nodes hold shows it, so that is compared as well.
"""
import collections
import re

HOLDS = ("RUNNING", "SUSPENDED", "COMPLETING")


def numbers(text):
    """"0-2,5" → {0, 1, 2, 5}"""
    out = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        out |= set(range(int(first), int(last or first) + 1))
    return out


def hosts(text):
    """"n[1-2,4],m3" → [n1, n2, n4, m3]"""
    out = []
    for prefix, inside, plain in re.findall(r"([^,\[]+)\[([^\]]*)\]|([^,\[\]]+)", text):
        out += [prefix + str(i) for i in sorted(numbers(inside))] if inside else [plain]
    return out


def tres(text):
    return dict(part.split("=") for part in text.split(",")) if "=" in text else {}


def megabytes(text):
    unit = {"M": 1, "G": 1024, "T": 1024 * 1024}
    return round(float(text[:-1]) * unit[text[-1]]) if text[-1] in unit else int(text)


def gres(text):
    """"gpu:h100:2(IDX:0-1),nic:1" → {(gpu, h100): (2, {0, 1}), (nic, ""): (1, set())}"""
    out = {}
    text = re.sub(r"\(CNT:(\d+)\)", r":\1", text)    # of what has no devices: "nic(CNT:1)"
    for name, kind, count, index in re.findall(r"(\w+)(?::([\w.]+))?:(\d+)(?:\(IDX:([\d,-]+|N/A)\))?(?:,|$)", text):
        if int(count):
            out[name, kind] = (int(count), numbers(index) if index not in ("", "N/A") else set())
    return out


def pairs(text):
    return dict(re.findall(r"([\w/:]+)=(\S*)", text))


class Look:
    """The answers, as text by command."""

    def __init__(self, cluster):
        ask = lambda *args: cluster.ok(*args).out
        self.jobs_before = ask("scontrol", "-o", "-d", "show", "job")
        self.nodes = ask("scontrol", "-o", "-d", "show", "node")
        self.sinfo = ask("sinfo", "-h", "-N", "-p", "main", "-O", "NodeList:|,Gres:|,GresUsed:|,CPUsState:|,AllocMem:|,StateComplete:")
        self.sum = ask("sinfo", "-h", "-p", "main", "-o", "%C")
        self.squeue = ask("squeue", "-h", "-r", "-t", "all", "-O", "JobID:|,State:|,tres-alloc:|,tres-per-node:|,NumCPUs:|,NumNodes:")
        self.jobs = ask("scontrol", "-o", "-d", "show", "job")
        self.nodes_after = ask("scontrol", "-o", "-d", "show", "node")

    def still(self):
        changing = re.compile(r" (RunTime|LastSchedEval|Priority)=\S*")
        held = lambda text: re.findall(r" (?:NodeName|CPUAlloc|AllocMem|GresUsed|State)=\S*", " " + text.replace("\n", " "))
        return changing.sub("", self.jobs_before) == changing.sub("", self.jobs) and held(self.nodes) == held(self.nodes_after)

    def disagreements(self, suspended=()):
        """What contradicts what, in words; empty: all agree. suspended: jobs that ever were. Their CPUs were free meanwhile, so that two may have one now."""
        wrong = []
        self.suspended = set(suspended)
        self.say = wrong.append
        held = self.read_jobs()
        self.check_squeue()
        self.check_nodes(held)
        return wrong

    def read_jobs(self):
        """{node: [(job, ending, CPU numbers, memory, gres)]}; each job's parts against its sums."""
        held = collections.defaultdict(list)
        self.records = {}
        for line in filter(None, self.jobs.splitlines()):
            if line.startswith("No jobs"):
                continue
            job = pairs(line)
            self.records[job["JobId"]] = job
            parts = re.findall(r" Nodes=(\S+) CPU_IDs=(\S+) Mem=(\d+) GRES=(\S*)", line)
            cpus, memory, devices = 0, 0, collections.Counter()
            for names, cpu_ids, mem, has in parts:
                for node in hosts(names):
                    cpus, memory = cpus + len(numbers(cpu_ids)), memory + int(mem)
                    for key, (count, index) in gres(has).items():
                        devices[key] += count
                        if index and len(index) != count:
                            self.say("job %s on %s: %d devices, but %s" % (job["JobId"], node, count, sorted(index)))
                    if job["JobState"] in HOLDS:
                        held[node].append((job["JobId"], job["JobState"] == "COMPLETING", numbers(cpu_ids), int(mem), gres(has)))
            if job["JobState"] in HOLDS:
                self.check_job(job, cpus, memory, devices)
        return held

    def check_job(self, job, cpus, memory, devices):
        name, sums = "job " + job["JobId"], tres(job["AllocTRES"])
        same = lambda what, a, b: a == b or self.say("%s: %s are %s and %s" % (name, what, a, b))
        same("CPUs by node and in all", cpus, int(job["NumCPUs"]))
        same("CPUs and AllocTRES", cpus, int(sums["cpu"]))
        same("memory by node and AllocTRES", memory, megabytes(sums.get("mem", "0M")))
        same("nodes", len(hosts(job["NodeList"])), int(sums["node"]))
        same("JOB_GRES", {key: count for key, (count, _) in gres(job["JOB_GRES"]).items()}, dict(devices))
        for (kind, type_), count in devices.items():
            same("gres/%s:%s" % (kind, type_), count, int(sums["gres/" + kind + (":" + type_ if type_ else "")]))

    def check_squeue(self):
        rows = {}
        for line in self.squeue.splitlines():
            job, *rest = (part.strip() for part in line.split("|"))
            rows[job] = rest
        for name, job in self.records.items():
            if name not in rows:
                if "JobState" in job and job["JobState"] in HOLDS:
                    self.say("job %s is not in squeue" % name)
                continue
            state, alloc, per_node, cpus, nodes = rows[name]
            want = [job["JobState"], job.get("TresPerNode", "N/A"), job["NumCPUs"].split("-")[0]]
            if [state, per_node, cpus] != want:
                self.say("job %s: squeue says %s, scontrol %s" % (name, [state, per_node, cpus], want))
            if job["JobState"] in HOLDS and alloc != job["AllocTRES"]:
                self.say("job %s: tres-alloc %s, AllocTRES %s" % (name, alloc, job["AllocTRES"]))

    def check_nodes(self, held):
        shown = {}
        for line in self.sinfo.splitlines():
            node, *rest = (part.strip() for part in line.split("|"))
            shown[node] = rest
        total = collections.Counter()
        for line in self.nodes.splitlines():
            node = pairs(line)
            name = node["NodeName"]
            self.check_node(name, node, held[name])
            configured, used, cpus, memory, _ = shown[name]
            for what, a, b in (("Gres", configured, node["Gres"]), ("GresUsed", used, node["GresUsed"]),
                               ("AllocMem", memory, node["AllocMem"]), ("CPUAlloc", cpus.split("/")[0], node["CPUAlloc"])):
                if a != b:
                    self.say("node %s: %s is %s in sinfo, %s in scontrol" % (name, what, a, b))
            total.update(alloc=int(node["CPUAlloc"]), all=int(node["CPUTot"]))
        alloc, _, _, every = self.sum.strip().split("/")
        if (int(alloc), int(every)) != (total["alloc"], total["all"]):
            self.say("sinfo %%C says %s, the nodes %s" % (self.sum.strip(), dict(total)))

    def check_node(self, name, node, shares):
        """What jobs hold there is what the node says. A job that is being cleaned up may have let go of the node already."""
        say = lambda text: self.say("node %s: %s; jobs %s" % (name, text, [share[0] for share in shares]))
        firm = [share for share in shares if not share[1]]
        between = lambda what, value, part: sum(map(part, firm)) <= value <= sum(map(part, shares)) or say(
            "%s %d, its jobs hold %d" % (what, value, sum(map(part, firm))))
        if not self.suspended & {share[0] for share in shares}:
            between("CPUAlloc", int(node["CPUAlloc"]), lambda share: len(share[2]))
        between("AllocMem", int(node["AllocMem"]), lambda share: share[3])
        for i, one in enumerate(firm):
            for other in firm[:i]:
                if one[2] & other[2] and not self.suspended & {one[0], other[0]}:
                    say("CPUs %s are two jobs'" % sorted(one[2] & other[2]))
        used, sums = gres(node["GresUsed"]), tres(node["AllocTRES"])
        kinds = set(used).union(*[share[4] for share in shares])
        taken = {}
        for kind in kinds:
            count, index = used.get(kind, (0, set()))
            between("%s:%s" % kind, count, lambda share, kind=kind: share[4].get(kind, (0,))[0])
            for share in firm:
                mine = share[4].get(kind, (0, set()))[1]
                if not mine <= index:
                    say("devices %s of job %s are not in GresUsed %s" % (sorted(mine), share[0], node["GresUsed"]))
                for number in mine:
                    if taken.setdefault((kind[0], number), share[0]) != share[0]:
                        say("%s %d is given to jobs %s and %s" % (kind[0], number, taken[kind[0], number], share[0]))
            word = "gres/" + kind[0] + (":" + kind[1] if kind[1] else "")
            if int(sums.get(word, 0)) != count:
                say("AllocTRES %s, GresUsed %s" % (node["AllocTRES"], node["GresUsed"]))
        if int(sums.get("cpu", 0)) != int(node["CPUAlloc"]) or megabytes(sums.get("mem", "0M")) != int(node["AllocMem"]):
            say("AllocTRES %s, CPUAlloc %s, AllocMem %s" % (node["AllocTRES"], node["CPUAlloc"], node["AllocMem"]))
        base = node["State"].split("+")[0].rstrip("*")
        want = "IDLE" if node["CPUAlloc"] == "0" else "ALLOCATED" if node["CPUAlloc"] == node["CPUTot"] else "MIXED"
        if base in ("IDLE", "MIXED", "ALLOCATED") and base != want and not any(share[1] for share in shares):
            say("state %s with %s of %s CPUs in use" % (node["State"], node["CPUAlloc"], node["CPUTot"]))
