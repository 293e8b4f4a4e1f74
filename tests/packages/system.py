# SPDX-License-Identifier: BSD-3-Clause
"""Debian systems in folders, for packages to be installed in. Needs root."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

RELEASE = "bookworm"
SOURCES = "/etc/apt/sources.list.d/debian.sources"
INSIDE = "OPENMRC_IN_OWN_NAMESPACES"
COMMAND_MAX_S = 300
BOOT_MAX_S = 60

# The first argument is the folder below, the second holds the changes, the rest is the command.
ENTER = r"""
set -e
below=$1 changes=$2; shift 2
mkdir -p "$changes/upper" "$changes/work" "$changes/root"
mount -t overlay overlay -o "lowerdir=$below,upperdir=$changes/upper,workdir=$changes/work" \
  "$changes/root"
cd "$changes/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
cp --remove-destination -L /etc/resolv.conf /etc/hosts etc/
mkdir -p given
mount --bind "$GIVEN" given
ip link set lo up
exec chroot . "$@"
"""

# Process 1 of a system, which lives in the control group that is the first argument.
BOOT = r"""
echo $$ >"$1/cgroup.procs"
shift
exec "$@"
"""
SYSTEMD = """mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec env -i container=lxc PATH="$PATH" /lib/systemd/systemd --show-status=no"""

# All that packages may have put there, without the records of dpkg, apt and systemd.
FILES = r"""find /etc /usr /opt /srv /var ! -type d ! -path '/var/lib/dpkg/*' ! -path '/var/cache/*' \
  ! -path '/var/log/*' ! -path '/var/lib/apt/*' ! -path '/var/lib/systemd/*' ! -path '/etc/passwd*' \
  ! -path '/etc/group*' ! -path '/etc/*shadow*' ! -path '/etc/ld.so.cache' ! -path /etc/machine-id"""


class Shell:
    """Runs commands in a system; `prefix` is the command that enters it."""

    def __init__(self, given):
        self.environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
            "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "GIVEN": str(given)}

    def prefix(self, network):
        raise NotImplementedError

    def run(self, script, network=False):
        """What it prints; an AssertionError with everything it said if it fails."""
        done = subprocess.run([*self.prefix(network), "bash", "-ec", script], env=self.environment,
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=COMMAND_MAX_S, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{script}\nexit status {done.returncode}\n{done.stdout}")
        return done.stdout

    def files(self):
        return set(self.run(FILES).splitlines())


class System(Shell):
    """What is in the folder `below`, and what commands have changed since; `given` is seen as
    /given. Each command has namespaces of its own, so nothing stays mounted or running."""

    def __init__(self, below, changes, given):
        super().__init__(given)
        self.below = below
        self.changes = pathlib.Path(changes)

    def prefix(self, network):
        return self.enter([] if network else ["--net"])

    def enter(self, namespaces):
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", *namespaces, "bash", "-c",
                ENTER, "enter", str(self.below), str(self.changes)]

    def lines(self, script):
        """One by one, while it runs; for whoever takes the time."""
        with subprocess.Popen([*self.prefix(False), "bash", "-ec", script], env=self.environment,
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            try:
                yield from process.stdout
            finally:
                process.kill()

    def install(self, *packages):
        """With what they depend on, from the mirrors of this machine."""
        return self.run(f"apt-get -qy install --no-install-recommends {' '.join(packages)}",
                        network=True)

    @contextlib.contextmanager
    def booted(self):
        """With its own systemd, which has to be installed."""
        with control_group() as group:
            command = ["bash", "-c", BOOT, "boot", str(group),
                       *self.enter(["--net", "--cgroup", "--uts", "--ipc"]), "bash", "-ec", SYSTEMD]
            with subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                try:
                    yield Booted(process.pid, self.environment["GIVEN"])
                finally:
                    process.kill()


class Booted(Shell):
    def __init__(self, parent, given):
        super().__init__(given)
        self.parent = parent
        deadline = time.monotonic() + BOOT_MAX_S
        while not self.is_running():
            if time.monotonic() > deadline:
                raise AssertionError("systemd does not start")
            time.sleep(0.2)

    def first(self):
        return subprocess.run(["pgrep", "-P", str(self.parent)], capture_output=True, text=True,
                              check=False).stdout.strip()

    def is_running(self):
        first = self.first()
        if not first:
            return False
        done = subprocess.run([*self.prefix(False), "systemctl", "is-system-running"],
                              capture_output=True, text=True, check=False)
        return done.stdout.strip() in ("running", "degraded")

    def prefix(self, network):
        assert not network
        return ["nsenter", "--target", self.first(), "--all", "--root", "--wd"]


@contextlib.contextmanager
def control_group():
    mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    top = pathlib.Path(next(words[1] for words in mounts if words[2] == "cgroup2"))
    group = top / f"openmrc-packages-{time.monotonic_ns()}"
    group.mkdir()
    try:
        yield group
    finally:
        time.sleep(0.5)  # the processes in it have been killed
        subprocess.run(["find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"],
                       check=False, stderr=subprocess.DEVNULL)


def make_bare(folder):
    """The smallest Debian with apt in it."""
    source = [SOURCES] if os.path.exists(SOURCES) else []
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "--skip=cleanup/apt/lists",
                    RELEASE, str(folder), *source], check=True, timeout=COMMAND_MAX_S)


def enter_own_namespaces():
    """Nothing that is mounted or started from here on survives this process, however it ends."""
    if os.environ.get(INSIDE) is None:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", "--kill-child",
                              "--mount-proc", sys.executable, *sys.argv])


@contextlib.contextmanager
def work_folder():
    """In memory: an overlay file system over the machine's own cannot have its changes there."""
    with tempfile.TemporaryDirectory(prefix="openmrc-packages-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6g,mode=0755", "tmpfs", folder],
                       check=True)
        try:
            yield pathlib.Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
