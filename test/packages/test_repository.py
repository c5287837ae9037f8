"""packaging/repository: what apt makes of it. apt runs with folders of its own, and with the root's."""
import glob
import hashlib
import os
import re
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../../packaging/repository")
MAKE = os.path.join(FOLDER, "make-repository")
PAGE = open(os.path.join(HERE, "../../docs/install.md")).read()


def make(*options, **env):
    return subprocess.run([MAKE, *map(str, options)], capture_output=True, text=True, env={**os.environ, **env}, timeout=120)


def made(*options, **env):
    done = make(*options, **env)
    assert done.returncode == 0, done.stdout + done.stderr


def small(folder, name, version, content="", **fields):
    """A package with a text in it."""
    tree = folder / (name + version + hashlib.sha256(content.encode()).hexdigest()[:8])
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "usr/share/doc" / name).mkdir(parents=True)
    (tree / "usr/share/doc" / name / "text").write_text(content)
    lines = {"Package": name, "Version": version, "Architecture": "all", "Maintainer": "Nobody <nobody@localhost>", "Section": "admin",
             "Priority": "optional", "Description": "a package", **fields}
    (tree / "DEBIAN/control").write_text("".join("%s: %s\n" % row for row in lines.items()))
    subprocess.run(["dpkg-deb", "-b", str(tree)], check=True, capture_output=True)
    return str(tree) + ".deb"


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A home of gpg with one secret key, and the key's fingerprint."""
    home = tmp_path_factory.mktemp("gpg")
    home.chmod(0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet"]
    subprocess.run([*gpg, "--passphrase", "", "--quick-generate-key", "releases@localhost", "ed25519", "sign", "never"], check=True,
                   capture_output=True)
    listed = subprocess.run([*gpg, "--with-colons", "--list-secret-keys"], check=True, capture_output=True, text=True).stdout
    yield str(home), re.search(r"^fpr:+([0-9A-F]+):", listed, re.M)[1]
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=True)


class Apt:
    """apt-get with a configuration, lists and caches of its own."""
    def __init__(self, folder, source):
        for name in ("etc/preferences.d", "state/lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "status").write_text("")
        (folder / "etc/sources.d").mkdir()
        (folder / "etc/sources.d/muster.sources").write_text(source)
        settings = {"Dir::Etc": folder / "etc", "Dir::Etc::sourceparts": "sources.d", "Dir::State": folder / "state", "Dir::Cache": folder / "cache",
                    "Dir::State::status": folder / "status", "APT::Sandbox::User": "root"}
        (folder / "apt.conf").write_text("".join('%s "%s";\n' % row for row in settings.items()))
        self.env = {**os.environ, "APT_CONFIG": str(folder / "apt.conf"), "LC_ALL": "C"}

    def run(self, *command):
        return subprocess.run(command, capture_output=True, text=True, env=self.env, timeout=60)

    def update(self):
        return self.run("apt-get", "update", "-o", "APT::Update::Error-Mode=any")

    def versions(self):
        """Package → the version that would be installed."""
        rows = self.run("apt-cache", "dumpavail").stdout
        return dict(re.findall(r"^Package: (\S+)$(?:.*\n)*?Version: (\S+)$", rows, re.M))


def source(repository, signed_by=None, suite="bookworm"):
    return "Types: deb\nURIs: file:%s\nSuites: %s\nComponents: main\n%s\n" % (
        repository, suite, "Signed-By: %s" % signed_by if signed_by else "Trusted: yes")


@pytest.fixture(scope="module")
def signed(tmp_path_factory, packages, key):
    """A signed repository of all packages."""
    folder = tmp_path_factory.mktemp("repository")
    made(*packages.values(), "--out", folder, "--key", key[1], GNUPGHOME=key[0])
    return folder


@pytest.mark.row(111)
def test_apt_takes_a_signed_repository_and_sees_every_package(signed, tmp_path, packages):
    apt = Apt(tmp_path, source(signed, signed / "muster.asc"))
    done = apt.update()
    assert done.returncode == 0, done.stderr
    assert set(apt.versions()) == {"muster-" + role for role in packages}
    needs = apt.run("apt-cache", "depends", "muster-slurmctld").stdout
    assert "Depends: muster-common" in needs and "Depends: <libc6>" in needs
    for name in ("InRelease", "Release", "Release.gpg", "main/binary-amd64/Packages.gz"):
        assert (signed / "dists/bookworm" / name).exists(), name


def test_apt_refuses_one_that_is_not_signed_or_signed_by_somebody_else_or_altered(signed, tmp_path, key):
    (tmp_path / "mine").mkdir()
    package = small(tmp_path, "muster-x", "1")
    made(package, "--out", tmp_path / "plain")
    done = Apt(tmp_path / "mine", source(tmp_path / "plain", signed / "muster.asc")).update()
    assert done.returncode != 0 and "is not signed" in done.stderr

    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", str(signed), str(copy)], check=True)
    for name in ("InRelease", "Release"):
        text = (copy / "dists/bookworm" / name).read_text()
        (copy / "dists/bookworm" / name).write_text(text.replace("Label: Muster", "Label: Mustex"))
    (tmp_path / "other").mkdir()
    done = Apt(tmp_path / "other", source(copy, signed / "muster.asc")).update()
    assert done.returncode != 0 and "BADSIG" in done.stderr


def test_a_package_that_was_altered_after_signing_is_not_installed(tmp_path, key):
    made(small(tmp_path, "muster-x", "1", "good"), "--out", tmp_path / "r", "--key", key[1], GNUPGHOME=key[0])
    (tmp_path / "apt").mkdir()
    apt = Apt(tmp_path / "apt", source(tmp_path / "r", tmp_path / "r/muster.asc"))
    assert apt.update().returncode == 0
    [there] = glob.glob(str(tmp_path / "r/pool/**/*.deb"), recursive=True)
    with open(there, "r+b") as f:
        f.seek(-20, os.SEEK_END)
        f.write(b"evil")
    done = subprocess.run(["apt-get", "download", "muster-x"], cwd=tmp_path, env=apt.env, capture_output=True, text=True)
    assert done.returncode != 0 and "Hash Sum mismatch" in done.stderr


def test_a_newer_version_takes_the_place_and_an_older_one_is_refused(tmp_path):
    first, second = small(tmp_path, "muster-x", "1.9"), small(tmp_path, "muster-x", "1.10")
    made(first, small(tmp_path, "muster-y", "1.9"), "--out", tmp_path / "r")
    (tmp_path / "apt").mkdir()
    apt = Apt(tmp_path / "apt", source(tmp_path / "r"))
    apt.update()
    assert apt.versions() == {"muster-x": "1.9", "muster-y": "1.9"}
    made(second, "--out", tmp_path / "r")
    apt.update()
    assert apt.versions() == {"muster-x": "1.10", "muster-y": "1.9"}
    made(second, "--out", tmp_path / "r")
    done = make(first, "--out", tmp_path / "r")
    assert done.returncode == 1 and "muster-x 1.10 is in" in done.stderr and "1.9 is older" in done.stderr
    done = make(small(tmp_path, "muster-x", "1.10", "another text"), "--out", tmp_path / "r")
    assert done.returncode == 1 and "never replaced by another of the same number" in done.stderr


def test_what_is_wrong_is_said_and_nothing_is_made(tmp_path, key):
    package = small(tmp_path, "muster-x", "1")
    text = tmp_path / "text.deb"
    text.write_text("no package")
    out = tmp_path / "r"
    for options, said in [
            ([package], "--out is missing"),
            (["--out", out], "no packages are given"),
            ([package, "--out"], "--out needs a value"),
            ([package, "--out", out, "--suite", "a b"], "--suite a b: a name has"),
            ([package, "--out", out, "--suite", "../x"], "--suite ../x: a name has"),
            ([package, "--out", out, "--key", "me\nTracking: all"], "a key is named by"),
            ([package, "--out", out, "--key", "0123456789ABCDEF"], "gpg has no such secret key"),
            ([package, "--out", out, "--sign"], "--sign: no such option"),
            ([tmp_path / "none.deb", "--out", out], "none.deb: no such file"),
            ([text, "--out", out], "text.deb: this is not a Debian package"),
            ([package, small(tmp_path, "muster-x", "2"), "--out", out], "is the same package")]:
        done = make(*options, GNUPGHOME=key[0])
        assert done.returncode != 0 and said in done.stderr, (options, done.stderr)
        assert not out.exists(), options


def test_a_signed_repository_does_not_become_an_unsigned_one(tmp_path, key):
    made(small(tmp_path, "muster-x", "1"), "--out", tmp_path / "r", "--key", key[1], GNUPGHOME=key[0])
    done = make(small(tmp_path, "muster-x", "2"), "--out", tmp_path / "r")
    assert done.returncode == 1 and "is signed with %s: give --key" % key[1] in done.stderr
    assert (tmp_path / "r/dists/bookworm/InRelease").exists()


def page_files():
    """The files that the page's section has an administrator write: path → text."""
    section = PAGE.split("## From a repository")[1].split("\n## ")[0]
    return section, dict(re.findall(r"`(/etc/apt/[^`]+)`:\n\n```\n(.*?)```", section, re.S))


def distribution(root):
    """What a distribution has by the same names, as real packages."""
    root.ok("""mkdir -p /srv/distribution && cd /srv/distribution && for p in slurm-wlm slurmctld slurmd slurm-client slurmdbd; do
        mkdir -p $p/DEBIAN && printf 'Package: %s\\nVersion: 22.05.8\\nArchitecture: all\\nMaintainer: a <a@b>\\nDescription: x\\n' $p > $p/DEBIAN/control
        dpkg-deb -b $p . ; done; dpkg-scanpackages . > Packages
        printf 'Origin: Debian\\nSuite: stable\\nSHA256:\\n %s %s Packages\\n' $(sha256sum Packages | cut -c-64) $(stat -c %s Packages) > Release""")


@pytest.mark.row(111, 127)
def test_the_names_that_people_type_install_muster_from_a_repository(root, signed):
    section, written = page_files()
    root.ok("rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /etc/apt/apt.conf.d/*proxy* /var/lib/apt/lists/*")
    root.copy(str(signed), "/srv/muster")
    root.ok("chmod 755 /srv/muster")
    distribution(root)
    root.write("/etc/apt/sources.list", "deb [trusted=yes] file:/srv/distribution ./\n")
    for command in re.search(r"```sh\n(.*?)```", section, re.S)[1].splitlines():
        fetched, here = re.subn(r"^wget -qO (\S+) https://repository.example/muster(\S+)$", r"mkdir -p /etc/apt/keyrings && cp /srv/muster\2 \1", command)
        assert here, command
        root.ok(fetched)
    assert set(written) == {"/etc/apt/sources.list.d/muster.sources"}
    for path, text in written.items():
        root.write(path, text.replace("https://repository.example/muster", "file:/srv/muster"))
    root.ok("apt-get update -o APT::Update::Error-Mode=any")
    said = root.ok("apt-get install -y --no-install-recommends slurm-wlm slurmdbd", 300)
    there = set(root.ok("dpkg-query -W -f '${Package} ${db:Status-Status}\\n' 'muster-*' | sed -n 's/ installed$//p'").split())
    assert there == {"muster-" + role for role in ("wlm", "slurmctld", "slurmd", "client", "common", "slurmdbd")}, said
    root.ok("test -x /usr/sbin/slurmctld && sinfo --version")
    root.ok("apt-get purge -y 'muster-*'", 300)
    assert root.run("ls /usr/sbin/slurmctld").returncode != 0
