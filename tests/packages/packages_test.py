#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the packages of a build tree and uses them as others would: in a bare Debian, where nothing
was installed before, and for programs of somebody else.
  packages_test.py --build TREE [--static FILE] [--long] [unittest's options]
    --static  the file mrc-static, tried in a bare system too
    --long    outside programs are built in the bare system, with compilers installed there, instead
              of in a copy of this one"""

import argparse
import pathlib
import re
import subprocess
import sys
import time
import unittest

import system

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = "usr/lib/x86_64-linux-gnu"
SKIPPED = 77

# What the demo needs to be before the cable is cut, from the first command on.
PACKAGE_MAX_S = 60
STATIC_MAX_S = 30
EXPOSURE_MAX = 1.5  # of 10, as systemd-analyze has it

WHERE = {
    "openmrc-tools": ("usr/bin/mrc", "usr/share/man/man1/mrc-lab.1.gz",
                      "usr/share/man/man5/openmrc.toml.5.gz",
                      "usr/share/openmrc/scenarios/first-run.toml",
                      f"{LIBRARIES}/wireshark/plugins/mrc.lua"),
    "mrcd": ("usr/sbin/mrcd", "usr/share/man/man8/mrcd.8.gz", "etc/default/mrcd",
             "lib/systemd/system/mrcd.service", "lib/systemd/system/mrcd.socket",
             "usr/lib/sysusers.d/mrcd.conf"),
    "libmrc1": (f"{LIBRARIES}/libmrc.so.1",),
    "libmrc-ctl1": (f"{LIBRARIES}/libmrc-ctl.so.1",),
    "libopenmrc0": (f"{LIBRARIES}/libopenmrc.so.0",),
    "openmrc-verbs": (f"{LIBRARIES}/openmrc/libibverbs.so", f"{LIBRARIES}/openmrc/libibverbs.so.1",
                      f"{LIBRARIES}/openmrc/libibverbs-system.so.1",
                      f"{LIBRARIES}/openmrc/stub/libibverbs-system.so.1",
                      f"{LIBRARIES}/openmrc/libopenmrc-sysfs.so.0"),
    "python3-openmrc": ("usr/lib/python3/dist-packages/openmrc/sim/__init__.py",
                        "usr/lib/python3/dist-packages/openmrc/sim/_sim.cpython-311-x86_64-linux-gnu.so"),
    "libmrc-dev": ("usr/include/mrc.h", "usr/include/mrc_ctl.h", f"{LIBRARIES}/libmrc.so",
                   f"{LIBRARIES}/libnv_mrc.so", f"{LIBRARIES}/libmrc-ctl.so",
                   f"{LIBRARIES}/pkgconfig/libmrc.pc",
                   f"{LIBRARIES}/cmake/libmrc/libmrc-config.cmake"),
    "openmrc-dev": ("usr/include/openmrc/openmrc.h", f"{LIBRARIES}/libopenmrc_wire.a",
                    f"{LIBRARIES}/pkgconfig/openmrc.pc",
                    f"{LIBRARIES}/cmake/OpenMRC/OpenMRCConfig.cmake"),
}

CONFIG = """cat >/etc/openmrc/openmrc.toml <<'END'
name = "here"
[[port]]
interface = "lo"
address = "::1"
END
"""

# Nothing that is only recommended: what is needed is a dependency.
INSTALL = "apt-get -qy install --no-install-recommends"


class Made:
    """What all tests use: packages, a bare system, and the work folder."""

    work = None
    static = None
    long = False

    @classmethod
    def system(cls, name, below=None):
        return system.System(below or cls.work / "bare", cls.work / name, cls.work / "given")


def deb(*names):
    return " ".join(f"/given/{name}_*.deb" for name in names)


def seconds_to_cut(machine, install, mrc):
    """From the first command to the cut seen on screen; and all that was printed."""
    start = time.monotonic()
    cut = None
    machine.run(install, network=True)
    installed = time.monotonic() - start
    printed = []
    for line in machine.lines(f"{mrc} lab demo"):
        printed.append(line)
        if cut is None and "are pulled" in line:
            cut = time.monotonic() - start
    return installed, cut, "".join(printed)


class Bare(unittest.TestCase):
    def assert_demo(self, name, install, mrc, max_s):
        machine = Made.system(name)
        installed, cut, printed = seconds_to_cut(machine, install, mrc)
        self.assertIsNotNone(cut, printed)
        print(f"{name}: installed after {installed:.1f} s, cut seen after {cut:.1f} s", flush=True)
        self.assertIn("and none was lost or wrong", " ".join(printed.split()))
        self.assertLess(cut, max_s)
        return machine

    def test_tools_from_the_first_command_to_the_cut(self):
        machine = self.assert_demo(
            "tools", f"apt-get -q update && {INSTALL} {deb('openmrc-tools')}", "mrc",
            PACKAGE_MAX_S)
        self.assertRegex(machine.run("mrc --version"), r"^mrc \d+\.\d+\.\d+$")
        self.assertIn("first-run.toml", machine.run("mrc sim list"))

    def test_static_file_from_the_first_command_to_the_cut(self):
        if Made.static is None:
            self.skipTest("no --static")
        machine = self.assert_demo(
            "static", f"{INSTALL} iproute2 nftables procps && "
            "install /given/mrc-static /usr/local/bin/mrc", "mrc", STATIC_MAX_S)
        self.assertNotIn("libfmt", machine.run("ls /usr/lib/x86_64-linux-gnu"))
        # Names come from /etc/hosts and DNS, with no module of a C library loaded.
        said = machine.run("echo '::1 somebody' >>/etc/hosts; mkdir -p /etc/openmrc; " + CONFIG +
                           "mrc doctor somebody || true")
        self.assertNotIn("cannot resolve", said)

    def test_everything_is_where_it_belongs_and_goes_away(self):
        machine = Made.system("all")
        # What they depend on comes first, so that what is left at the end is theirs.
        machine.install("systemd", "libibverbs-dev", "iproute2", "nftables", "procps", "libfmt-dev",
                        "libisal-dev", "libssl-dev", "libtomlplusplus-dev", "nlohmann-json3-dev",
                        "libmicrohttpd12", "libprometheus-cpp-core1.0", "libxdp-dev", "libbpf-dev",
                        "python3")
        before = machine.files()
        machine.install(deb(*WHERE))
        for package, files in WHERE.items():
            listed = machine.run(f"dpkg -L {package}").splitlines()
            for file in files:
                self.assertIn("/" + file, listed, package)
                machine.run(f"test -e /{file}")
        self.assert_python_simulates(machine)
        self.assert_mrcd_is_hardened(machine)
        with machine.booted() as booted:
            self.assert_mrcd_works(booted)
            self.assert_upgrade_keeps(booted)
            booted.run(f"apt-get -qy purge {' '.join(WHERE)}")
            self.assertEqual(booted.run("systemctl is-active mrcd.service || true"), "inactive\n")
            left = booted.files() - before
        self.assertEqual(left, {"/etc/openmrc/openmrc.toml"})  # the administrator's

    def assert_python_simulates(self, machine):
        said = machine.run("""python3 -B - <<'END'
from openmrc import sim
run = sim.load("/usr/share/openmrc/scenarios/many-faults.toml").run(series="10 us", series_links=2)
print(run, run.series_csv.count("\\n"))
run.save("/tmp/run.json")
END
mrc sim run /tmp/run.json 2>&1; rm /tmp/run.json""")
        self.assertRegex(said, r"^<openmrc\.sim\.Result many-faults \(mrc\), seed 7, finished after [\d.]+ us> \d+\n")
        self.assertIn("the same result as in /tmp/run.json", said)

    def assert_mrcd_is_hardened(self, machine):
        machine.run("systemd-analyze verify --man=no mrcd.service mrcd.socket")
        said = machine.run("systemd-analyze security --offline=yes --no-pager mrcd.service")
        exposure = re.search(r"Overall exposure level for mrcd\.service: ([\d.]+)", said)
        self.assertIsNotNone(exposure, said)
        print(exposure[0], flush=True)
        self.assertLessEqual(float(exposure[1]), EXPOSURE_MAX)

    def assert_mrcd_works(self, booted):
        self.assertEqual(booted.run("systemctl is-active mrcd.service || true"), "inactive\n",
                         "there is no configuration yet")
        booted.run(CONFIG + "systemctl start mrcd.socket && mrc ctl set port 1 disabled")
        self.assertIn("disabled", booted.run("runuser -u nobody -- mrc ctl ports"))
        self.assertIn("only the administrator may change this",
                      booted.run("! runuser -u nobody -- mrc ctl set port 1 enabled"))
        status = booted.run("cat /proc/$(systemctl show -P MainPID mrcd)/status")
        self.assertRegex(status, r"\nCapBnd:\s+0+\n")
        self.assertNotRegex(status, r"\nUid:\s+0\b")

    def assert_upgrade_keeps(self, booted):
        booted.run("echo '# changed' >>/etc/default/mrcd")
        kept = "sha256sum /etc/default/mrcd /etc/openmrc/openmrc.toml /var/lib/openmrc/mrcd.json"
        before = booted.run(kept)
        booted.run(f"dpkg -i {deb(*WHERE)}")
        self.assertEqual(booted.run(kept), before)
        self.assertEqual(booted.run("systemctl is-active mrcd.service"), "active\n")
        self.assertIn("disabled", booted.run("mrc ctl ports"))


class Outside(unittest.TestCase):
    """Programs of somebody else, and Wireshark."""

    @classmethod
    def setUpClass(cls):
        cls.machine = Made.system("outside", below=None if Made.long else pathlib.Path("/"))
        if Made.long:
            cls.machine.install("g++", "clang", "cmake", "ninja-build", "pkg-config", "tshark")
            cls.compilers = ("g++", "clang++")
            cls.machine.install(deb(*WHERE))
        else:
            cls.compilers = ("g++", "clang++-19")
            cls.machine.run(f"dpkg -i {deb(*WHERE)}")

    def assert_device(self, program):
        said = self.machine.run(
            f"mkdir -p /etc/openmrc; {CONFIG}"
            f"LD_LIBRARY_PATH=/{LIBRARIES}/openmrc {program}")
        self.assertRegex(said, r"mrc\.h \d+, mrc_ctl\.h \d+\nopenmrc0: MRC\n$")

    def test_c_by_cmake(self):
        self.machine.run("cmake -S /given/outside -B /tmp/c -G Ninja && cmake --build /tmp/c")
        self.assert_device("/tmp/c/device-C")
        self.assert_device("/tmp/c/device-CXX")

    def test_c_by_hand_and_by_pkg_config(self):
        flags = "$(pkg-config --cflags --libs libmrc-ctl)"
        for cxx in self.compilers:
            cc = "gcc" if cxx == "g++" else cxx.replace("clang++", "clang")
            for compiler in (f"{cc} -std=c11", f"{cxx} -x c++"):
                for libraries in ("-lmrc-ctl -lmrc -libverbs", flags):
                    self.machine.run(
                        f"{compiler} -Wall -Werror /given/outside/device.c "
                        f"-o /tmp/device {libraries}")
                    self.assert_device("/tmp/device")

    def test_cpp_by_cmake(self):
        for project, program in (("consumer", "consumer"), ("cpp", "write")):
            self.machine.run(f"cmake -S /given/{project} -B /tmp/{program} -G Ninja && "
                             f"cmake --build /tmp/{program}")
        self.assertIn("SACK of ", self.machine.run("/tmp/consumer/consumer"))
        self.machine.run("/given/cpp/write_test.sh /tmp/write/write")

    def test_cpp_by_hand_and_by_pkg_config(self):
        by_hand = "-lopenmrc_wire -lopenmrc_base -lisal -lfmt"
        for compiler in self.compilers:
            for libraries in (by_hand, "$(pkg-config --cflags --libs openmrc-wire)"):
                self.machine.run(f"{compiler} -std=c++23 /given/consumer/main.cc -o /tmp/by-hand "
                                 f"{libraries}")
                self.assertIn("SACK of ", self.machine.run("/tmp/by-hand"))

    def test_wireshark_has_the_dissector(self):
        said = self.machine.run("tshark -r /given/tour.pcapng 2>/dev/null")
        self.assertRegex(said, r"MRC \d+ WRITE First")


class Judged(unittest.TestCase):
    def test_lintian_finds_no_error(self):
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", "--tag-display-limit", "0",
                               *map(str, (Made.work / "given").glob("*.changes"))],
                              capture_output=True, text=True, timeout=300, check=False)
        print(done.stdout, end="", flush=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def make(build, static):
    given = Made.work / "given"
    given.mkdir()
    subprocess.run([ROOT / "scripts/package", "--from", build, given], check=True, timeout=900,
                   stdout=subprocess.DEVNULL)
    copies = {"tests/packages/outside": "outside", "tests/house/consumer": "consumer",
              "examples/cpp": "cpp", "examples/captures/tour.pcapng": "tour.pcapng"}
    for source, name in copies.items():
        subprocess.run(["cp", "-r", ROOT / source, given / name], check=True)
    if static:
        subprocess.run(["cp", static, given / "mrc-static"], check=True)
    system.make_bare(Made.work / "bare")


def why_not(build):
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    if not re.search(r"^CMAKE_INSTALL_PREFIX:PATH=/usr$", cache, re.MULTILINE):
        return "the build tree is not for the prefix /usr (presets bench and package are)"
    if subprocess.run(["id", "-u"], capture_output=True, check=True).stdout != b"0\n":
        return "needs root"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--static", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    options, rest = parser.parse_known_args()
    if reason := why_not(options.build):
        print("skipped: " + reason)
        return SKIPPED
    system.enter_own_namespaces()
    Made.static, Made.long = options.static, options.long
    with system.work_folder() as work:
        Made.work = work
        make(options.build, options.static)
        program = unittest.main(argv=[sys.argv[0], *rest], exit=False, verbosity=2)
    return 0 if program.result.wasSuccessful() else 1


sys.exit(main())
