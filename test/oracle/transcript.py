"""What a case is, what running it printed, and how both are written down.

    cases/SUBJECT.txt        name: command            one line, or a script on indented lines below `name:`; # comments
    expected/SUBJECT.txt     what Slurm 22.05 printed: [name], `exit N`, `out| …`, `err| …`; a last line without an end of line
                             has `out: …`
    expected-26/SUBJECT.txt  the same of Slurm 26.11, of the subjects that were recorded there: where it is there, it decides
    differences/SUBJECT.txt  the same for what Muster prints instead, after `reason NAME`
    reasons.txt              [NAME], `kind …`, `why …`: what justifies such differences, with a manual page's words
    open.txt                 cases where Muster is known to be wrong still

Outcomes are normalised, so that two runs on two machines print the same: see Normaliser.
"""
import datetime
import functools
import os
import re
import socket

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {
    "changed": "the 26.05 manual page says otherwise than 22.05 does",
    "message": "a better message; the exit status and standard output are Slurm's",
    "refusal": "22.05 takes in silence what cannot be meant or can never run; Muster refuses it and says why",
    "text": "the same fact in words of our own, where no script looks for them",
    "more": "what 22.05 shows is there; Muster shows more beside it",
    "accident": "an accident of 22.05 that no manual page promises",
    "absent": "needs a feature that Muster does not have yet, and says so",
}


class Case:
    def __init__(self, subject, name, script):
        self.subject, self.name, self.script = subject, name, script

    @property
    def id(self):
        return self.subject + "/" + self.name


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def lines(self):
        return (["exit %d" % self.code] if self.code else []) + marked("out", self.out) + marked("err", self.err)

    def __eq__(self, other):
        return self.lines() == other.lines()


class Difference:
    def __init__(self, reason, outcome):
        self.reason, self.outcome = reason, outcome


class Reason:
    def __init__(self, kind, why):
        self.kind, self.why = kind, why


def marked(mark, text):
    lines = text.split("\n")
    last = lines.pop()
    return ["%s| %s" % (mark, line) for line in lines] + (["%s: %s" % (mark, last)] if last else [])


def subjects():
    return sorted(name[:-4] for name in os.listdir(os.path.join(HERE, "cases")) if name.endswith(".txt"))


def read(name):
    path = os.path.join(HERE, name)
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return f.read().split("\n")


def cases(subject):
    found = []
    for number, line in enumerate(read("cases/%s.txt" % subject), 1):
        if line.startswith("#") or not line.strip():
            continue
        head = re.fullmatch(r"([a-z0-9][a-z0-9-]*):(?: +(.*))?", line)
        if head:
            found.append(Case(subject, head[1], head[2] or ""))
        elif line.startswith("  ") and found:
            found[-1].script = (found[-1].script + "\n" + line[2:]).lstrip("\n")
        else:
            raise SyntaxError("cases/%s.txt:%d: want 'name: command' or an indented line: %s" % (subject, number, line))
    names = [case.name for case in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SyntaxError("cases/%s.txt: twice: %s" % (subject, twice))
    return found


def records(name):
    """A file's records: name → (head, Outcome); head: the lines `key text` before the outcome."""
    found, lines = {}, None
    for number, line in enumerate(read(name), 1):
        head = re.fullmatch(r"\[([a-z0-9-]+)\]", line)
        if head:
            if head[1] in found:
                raise SyntaxError("%s:%d: twice: %s" % (name, number, line))
            lines = found.setdefault(head[1], [])
        elif lines is not None:
            lines.append((number, line))
        elif line and not line.startswith("#"):
            raise SyntaxError("%s:%d: want [name]: %s" % (name, number, line))
    return {key: parse(name, lines) for key, lines in found.items()}


def parse(name, lines):
    head, code, text = {}, 0, {"out": "", "err": ""}
    for number, line in lines:
        printed = re.match(r"(out|err)([|:]) ?", line)
        if printed:
            text[printed[1]] += line[5:] + ("\n" if printed[2] == "|" else "")
        elif re.fullmatch(r"exit \d+", line):
            code = int(line[5:])
        elif re.match(r"[a-z]+ ", line):
            head[line.split(" ", 1)[0]] = line.split(" ", 1)[1]
        elif line.strip():
            raise SyntaxError("%s:%d: neither exit, out, err nor a key: %s" % (name, number, line))
    return head, Outcome(code, text["out"], text["err"])


@functools.cache
def expected(subject, folder="expected"):
    return {name: outcome for name, (_, outcome) in records("%s/%s.txt" % (folder, subject)).items()}


def newest(subject):
    """What decides: the newer Slurm's outcome of a case where that was recorded, else the older one's."""
    return {**expected(subject), **expected(subject, "expected-26")}


@functools.cache
def differences(subject):
    return {name: Difference(head.get("reason", ""), outcome)
            for name, (head, outcome) in records("differences/%s.txt" % subject).items()}


@functools.cache
def reasons():
    return {name: Reason(head.get("kind", ""), head.get("why", "")) for name, (head, _) in records("reasons.txt").items()}


@functools.cache
def still_wrong():
    """Ids of cases."""
    return [line.split()[0] for line in read("open.txt") if line.strip() and not line.startswith("#")]


def write_expected(subject, outcomes):
    """outcomes: name → Outcome, in the order of the cases."""
    with open(os.path.join(HERE, "expected", subject + ".txt"), "w") as f:
        f.write("# What slurm-wlm 22.05 prints, normalised. Written by test/oracle/record; not by hand.\n")
        for name, outcome in outcomes.items():
            f.write("\n[%s]\n%s" % (name, "".join(line + "\n" for line in outcome.lines())))


class Normaliser:
    """Replaces what differs from run to run. One for a cluster."""

    def __init__(self, cluster, first_job, last_prepared, own_user=True):
        """own_user: names of the user that runs this are replaced (where several users are, none is)."""
        self.last = last_prepared
        host = socket.gethostname().split(".")[0]
        user, uid, gid = re.escape(cluster.user), os.getuid(), os.getgid()
        names = [
            (r"\bGroupId=\S+\(%d\)" % gid, "GroupId=<group>(<gid>)"),
            (r"\b%s\(%d\)" % (user, uid), "<user>(<uid>)"),
            (r" *\b%s\b *" % user, " <user> "),
        ]
        self.words = [
            (re.escape(cluster.folder), "<dir>"), *(names if own_user else ()),
            (r"AllocNode:Sid=\S+", "AllocNode:Sid=<host>:<sid>"),
            (r"(?<![A-Za-z-])(%s|localhost)\b *" % re.escape(host), "<host>"),
            (r"\bslurm(-wlm)? \d+\.\d+\.\d+\b", "slurm <version>"),     # Debian's name has the suffix
            (r"\b2\d\.\d\d\.\d+\b", "<version>"),
            (r"\bs[0-9A-HJKMNP-TV-Z]{13}\b", "<sluid>"),
            (r"\b(R|RUNNING) +\d+:\d\d\b", r"\1 <elapsed>"),
            (r"\bRunTime=(?!00:00:00)\d\d:\d\d:\d\d", "RunTime=<elapsed>"),
            (r"\b(CPULoad|FreeMem|OS)=\S+( #\d[^\n=]*)?", r"\1=<\1>"),
            (r"(?m)^sacctmgr: Done adding cluster in usec=\d+\n", ""),     # how long it took
            # priority/basic counts down from 4294901760, or nearly 1 in %p
            (r"\b0\.00000\d\d\b", "0.00000NN"),      # sprio's age
            (r"\b(0\.000(?!0{11})\d{9})\d\d\b", r"\1NN"),     # and what it adds to the whole, of which the greatest priority is 1
            (r"(?<=\d\.\d{6})([ |]+)(16|24|32|40|48)\b", r"\1NN"),      # sshare's RawUsage: some seconds of eight CPUs
            # scontrol show assoc_mgr
            (r"\b(ID|Lft)=\d+", r"\1=<\1>"), (r"\b(ParentAccount=\S+)\(\d+\)", r"\1(<ID>)"), 
            (r"\bUsageRaw(\S*)=[1-9]\d*\.\d\d", r"UsageRaw\1=NN.NN"),      # Slurm counts whole seconds of that job, Muster all of it
            (r"\bGrpWall=(\w+)\(0\.0[1-9]\)", r"GrpWall=\1(0.0N)"),
            (r"\b(42948\d{5}|429490\d{4}|0\.9999\d{10})\b", "<priority>"),
        ]
        self.job = re.compile(r"(?<![\d.])%s\d\d\d(?!\d)" % str(first_job)[:-3])
        self.time = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\b")

    def __call__(self, text):
        for pattern, put in self.words:
            text = re.sub(pattern, put, text)
        return self.time.sub(self.time_name, text)

    def time_name(self, found):
        """Times near now by their distance to it; others are part of the case."""
        minutes = (datetime.datetime.fromisoformat(found[0]) - datetime.datetime.utcnow()).total_seconds() / 60
        if abs(minutes) > 400 * 24 * 60:
            return found[0]
        return "<past>" if minutes < 0.2 else "<now+%dm>" % round(minutes)

    def outcome(self, result):
        """New jobs by their order of appearance in stdout, then stderr: <job>, <job+1> …"""
        first = min((int(x) for x in self.job.findall(result.out + result.err) if int(x) > self.last), default=0)

        def job_name(found):
            number = int(found[0]) - first
            return found[0] if int(found[0]) <= self.last else "<job+%d>" % number if number else "<job>"
        return Outcome(result.code, *(self.job.sub(job_name, self(text)) for text in (result.out, result.err)))
