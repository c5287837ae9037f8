"""A site's files made fit for this machine: paths, ports, users and the way daemons trust each other are rewritten in place, so
that every line keeps its number; what the site does not say is added at the end. All else is as the site has it."""
import os
import re
import shutil

SITES = os.path.dirname(os.path.abspath(__file__))


def names():
    return sorted(n for n in os.listdir(SITES) if os.path.isdir(os.path.join(SITES, n)) and not n.startswith("_"))


def rewrite(text, values, added=""):
    """Replaces the values of keys (None: only where the site has the key), adds those that are missing."""
    said = set()
    for key, value in values.items():
        pattern = re.compile(r'^([ \t]*%s[ \t]*=[ \t]*)("[^"\r\n]*"|[^\s#]+)' % key, re.I | re.M)
        if pattern.search(text):
            said.add(key)
            text = pattern.sub(lambda m: m[1] + value, text, count=1 if key == "SlurmctldHost" else 0)
    return text, said


def copy(site, folder, values, optional, dbd):
    """Lays the site out in folder/etc. `optional` values are written only where the site has the key."""
    etc = os.path.join(folder, "etc")
    shutil.copytree(os.path.join(SITES, site), etc, dirs_exist_ok=True, ignore=shutil.ignore_patterns("expected"))
    said = set()
    for where, _, files in os.walk(os.path.join(SITES, site)):
        for name in (n for n in files if n != "expected"):
            path = os.path.join(etc, os.path.relpath(where, os.path.join(SITES, site)), name)
            with open(path, newline="", encoding="utf-8") as f:
                text = f.read().replace("/etc/slurm/", etc + "/")
            if name == "slurmdbd.conf":
                text, has = rewrite(text, dbd)
                text += "".join("%s=%s\n" % kv for kv in dbd.items() if kv[0] not in has)
            elif name.endswith(".conf"):
                text, has = rewrite(text, {**values, **optional})
                said |= has
            with open(path, "w", newline="", encoding="utf-8") as f:
                f.write(text)
    if "ControlMachine" in said:
        said.add("SlurmctldHost")
    with open(os.path.join(etc, "slurm.conf"), "a", encoding="utf-8") as f:
        f.write("\n" + "".join("%s=%s\n" % kv for kv in values.items() if kv[0] not in said))
    return etc
