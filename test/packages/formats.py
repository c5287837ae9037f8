"""What is in a package, Debian's or rpm's, and how a build makes them."""
import glob
import os
import re
import subprocess

from root import ROLES


def tool(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def pack(build, folder, generator, *settings):
    """Has cpack make packages in the folder: role → file. Settings are NAME=VALUE of cpack's."""
    made = subprocess.run(["cpack", "-G", generator, "-B", str(folder), *("-D" + setting for setting in settings)], cwd=build,
                          capture_output=True, text=True)
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    return {re.match(r"muster-([a-z0-9]+)[_-]", os.path.basename(f))[1]: f for f in glob.glob(str(folder / ("*." + generator.lower())))}


def pack_all(build, folder, generator):
    found = pack(build, folder, generator)
    assert sorted(found) == sorted(ROLES)
    return found


def deb_modes(package):
    """Path → mode and owner, such as -rwxr-xr-x root/root; of what is no folder."""
    rows = [line.split() for line in tool("dpkg-deb", "-c", package).splitlines() if not line.startswith("d")]
    return {row[5][1:]: row[0] + " " + row[1] for row in rows}


def rpm_rows(package):
    """(path, mode and owner, flags) of everything, folders included; flags c: configuration, n: noreplace."""
    text = tool("rpm", "-qp", "--qf", r"[%{FILENAMES}\t%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME}\t%{FILEFLAGS:fflags}\n]", package)
    return [tuple(line.split("\t")) for line in text.splitlines()]


def rpm_modes(package):
    return {path: mode for path, mode, _ in rpm_rows(package) if not mode.startswith("d")}
