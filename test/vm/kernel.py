"""A Linux kernel for the machine, and the modules that its first steps need.

The kernel of this host is taken where it has one with 9p; else Debian's package is fetched and unpacked below the build
folder. Nothing is installed: /boot and /lib/modules of the host stay as they are.
"""
import glob
import lzma
import os
import re
import subprocess

PACKAGE = "linux-image-amd64"
# The bus, the shared folders, the layered root, and a disk to swap on.
WANTED = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_blk")
SUFFIXES = (".ko", ".ko.xz")


class NoKernel(Exception):
    pass


def name_of(path):
    """Modules are named with either - or _."""
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


def module_bytes(path):
    with open(path, "rb") as f:
        return lzma.decompress(f.read()) if path.endswith(".xz") else f.read()


def modules_in(folder):
    """{name: path} of the modules below; what is compiled into the kernel is not there."""
    return {name_of(name): os.path.join(parent, name) for parent, _, names in os.walk(folder)
            for name in names if name.endswith(SUFFIXES)}


def load_order(folder):
    """[(name, bytes)], each after what it needs."""
    have, out, done = modules_in(folder), [], set()

    def add(name):
        if name in done or name not in have:
            return
        done.add(name)
        image = module_bytes(have[name])
        needs = re.search(rb"\0depends=([^\0]*)\0", image)
        for other in filter(None, needs[1].decode().split(",") if needs else []):
            add(other.replace("-", "_"))
        out.append((name, image))
    for name in WANTED:
        add(name)
    return out


def usable(image, modules):
    return os.access(image, os.R_OK) and {"9p", "overlay"} <= set(modules_in(modules))


def of_this_host():
    for image in sorted(glob.glob("/boot/vmlinuz-*"), key=os.path.getmtime, reverse=True):
        modules = "/lib/modules/" + image.partition("-")[2]
        if usable(image, modules):
            return image, modules
    return None


def unpacked(folder):
    for image in sorted(glob.glob(folder + "/boot/vmlinuz-*"), reverse=True):
        modules = folder + "/lib/modules/" + os.path.basename(image).partition("-")[2]
        if usable(image, modules):
            return image, modules
    return None


def apt(*command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise NoKernel("%s: %s" % (" ".join(command), done.stderr.strip()))
    return done.stdout


def fetch(folder):
    """The package's kernel and the few modules of it, unpacked in folder."""
    os.makedirs(folder, exist_ok=True)
    depends = re.search(r"Depends: (linux-image-\S+)", apt("apt-cache", "depends", PACKAGE, folder=folder))
    if not depends:
        raise NoKernel("apt-cache knows no %s (apt-get update?)" % PACKAGE)
    apt("apt-get", "-q", "download", depends[1], folder=folder)
    package = glob.glob("%s/%s_*.deb" % (folder, depends[1]))[0]
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as tar:
        parts = ["./boot/vmlinuz-*"] + ["*/kernel/" + part for part in (
            "net/9p/*", "fs/9p/*", "fs/netfs/*", "fs/fscache/*", "fs/overlayfs/*", "drivers/virtio/*", "drivers/block/virtio_blk*")]
        subprocess.run(["tar", "-x", "--wildcards", "-C", folder, *parts], stdin=tar.stdout, stderr=subprocess.DEVNULL)
    os.unlink(package)


def find(folder, may_fetch):
    """(image, folder of modules)"""
    found = of_this_host() or unpacked(folder)
    if not found and may_fetch:
        fetch(folder)
        found = unpacked(folder)
    if not found:
        raise NoKernel("no kernel with 9p and overlay in /boot or %s%s" % (
            folder, "" if may_fetch else ", and none may be fetched (--no-fetch)"))
    return found
