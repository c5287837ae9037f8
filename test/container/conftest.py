"""The packages, and for each engine that is asked for the image and a cluster of it."""
import glob
import os
import re
import subprocess

import pytest

from engines import BASE, ENGINES, CannotRun, Place, base

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../../packaging/container")
PAGE = open(os.path.join(HERE, "../../docs/install.md")).read().split("## In containers")[1]


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The folder of the packages: those that are given, else those of the build."""
    folder = os.environ.get("MUSTER_PACKAGES")
    if not folder:
        folder = str(tmp_path_factory.mktemp("packages"))
        made = subprocess.run(["cpack", "-G", "DEB", "-B", folder], cwd=os.environ["MUSTER_PREFIX"], capture_output=True, text=True)
        assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    assert glob.glob(folder + "/muster-slurmctld_*.deb"), folder + ": no packages of Muster"
    return folder


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    try:
        there = Place(str(tmp_path_factory.mktemp("place")))
    except CannotRun as why:
        pytest.skip(str(why))
    yield there
    there.end()


@pytest.fixture(scope="session")
def archive(place):
    try:
        return base(place, os.path.abspath(os.path.join(HERE, "../../build/check/container/base.tar")))
    except CannotRun as why:
        pytest.skip(str(why))


@pytest.fixture(scope="session", params=os.environ.get("MUSTER_ENGINES", "podman").split())
def engine(request, place):
    try:
        made = ENGINES[request.param](place)
    except CannotRun as why:
        pytest.skip(str(why))
    yield made
    made.end()


@pytest.fixture(scope="session")
def context(engine, archive, packages, place):
    """packaging/container, as an administrator fills it by docs/install.md; the images are built."""
    folder = place.path + "/" + type(engine).__name__ + "/container"
    place.ok("mkdir", "-p", os.path.dirname(folder))
    place.ok("cp", "-r", FOLDER, folder)
    place.ok("rm", "-rf", folder + "/packages", folder + "/database-password")
    for command in re.search(r"```sh\n(.*?)```", PAGE, re.S)[1].splitlines():
        if not re.match("cd |docker compose", command):
            place.ok("sh", "-c", command.replace("../../build/release", packages), folder=folder)
    engine.ok("import", archive, BASE)
    engine.build(folder, "muster")
    place.ok("cp", "-r", os.path.join(HERE, "database"), folder + "/../database")
    engine.build(folder + "/../database", "mariadb:11")
    engine.ready()
    return folder
