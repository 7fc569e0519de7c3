#!/usr/bin/env python3
"""Odd configurations: plugins, sysfs trees, device files, limits, users, logs.

usage: config.py PROGRAMS OURS [PART]

Each scenario runs the program `devices` with the installed library and with the one in the folder
OURS. What it prints must be the same with both, but for scenarios that say otherwise; what the
library itself says on standard error is for people, and is checked for ours alone. To be run as
root in the virtual machine, where nothing that is written outlives it.
"""

import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile

CONFIGURATION = "/etc/libibverbs.d"
PLUGINS = "/usr/lib/x86_64-linux-gnu/libibverbs"
RXE = f"{PLUGINS}/librxe-rdmav65.so"
NOBODY = 65534

GOOD = ["2 devices", "rxe0: open, port active", "rxe1: open, port active"]
NONE = ["0 devices"]
NO_LIST = ["no list: ENOSYS, 0"]

PROGRAMS, OURS = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
PART = sys.argv[3] if len(sys.argv) > 3 else ""

SCENARIOS = []


class Scenario:
    """What one scenario changes before the program runs, and what is expected of it.

    A function makes the changes on it: `env`, `arguments`, `user`, `limits`; `stdout`, and
    `stderr`, a regular expression for each line; `log`, one that is found in the file with the
    log; `alone` if only our library is to be run.
    """

    def __init__(self, folder):
        self.folder = folder
        self.env = {}
        self.arguments = []
        self.program = "devices"
        self.user = None
        self.limits = {}
        self.stdout = GOOD
        self.stderr = []
        self.log = None
        self.alone = False

    def path(self, name):
        """A path in a folder that is empty at first and goes afterwards."""
        return os.path.join(self.folder, name)

    def plugin(self, name):
        """What the name of a plugin of ours has to be so that the library finds its file."""
        shutil.copy(f"{PROGRAMS}/{name}.so", self.path(f"{name}-rdmav65.so"))
        return self.path(name)

    def old_rxe(self, private_abi, place=PLUGINS):
        """Installs a plugin for rxe that takes devices for another private ABI, and says so."""
        os.makedirs(place, exist_ok=True)
        path = f"{place}/librxe-rdmav{private_abi}.so"
        shutil.copy(f"{PROGRAMS}/takes_{private_abi}.so", path)
        self.alone = True
        return path

    def taken(self, private_abi):
        """The devices belong to that plugin, which was loaded once."""
        self.stdout = ["2 devices", "rxe0: EPROTO", "rxe1: EPROTO"]
        self.stderr.append(f"private ABI {private_abi} loaded")


def scenario(function):
    """Adds a scenario, named after the function."""
    SCENARIOS.append((function.__name__.replace("_", " "), function))
    return function


def write(path, content=""):
    """Writes a file, its folders too."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    mode = "wb" if isinstance(content, bytes) else "w"
    with open(path, mode) as file:
        file.write(content)


def empty_configuration():
    """Leaves an empty folder of configuration files."""
    shutil.rmtree(CONFIGURATION)
    os.mkdir(CONFIGURATION)


@scenario
def as_it_is(_):
    pass


@scenario
def no_configuration_file(it):
    empty_configuration()
    it.stdout = NONE


@scenario
def no_configuration_file_and_warnings(it):
    empty_configuration()
    it.env["IBV_SHOW_WARNINGS"] = "1"
    it.stdout = NONE
    it.stderr = [r".*device rxe0 has no provider.* rxe", r".*device rxe1 has no provider.* rxe"]


@scenario
def no_configuration_folder(it):
    shutil.rmtree(CONFIGURATION)
    it.stdout = NONE
    it.stderr = [
        rf"libibverbs: Warning: device rxe{n} needs plugin rxe, but there is no "
        rf"{CONFIGURATION} .*ibverbs-providers.*"
        for n in (0, 1)
    ]


@scenario
def a_file_with_another_name(it):
    empty_configuration()
    write(f"{CONFIGURATION}/zzz", "\n# x\n\t  driver   rxe\n")


@scenario
def a_file_without_a_last_newline(it):
    empty_configuration()
    write(f"{CONFIGURATION}/rxe.driver", "driver rxe")


@scenario
def odd_configuration_files(it):
    empty_configuration()
    write(f"{CONFIGURATION}/a", "")
    write(f"{CONFIGURATION}/b", bytes(range(256)) * 40)
    write(f"{CONFIGURATION}/c", "drivers rxe\ndriver\nDRIVER rxe\nplugin rxe\n")
    write(f"{CONFIGURATION}/d", b"\0" * 100000)
    write(f"{CONFIGURATION}/e", "driver " + "x" * 100000 + "\n")
    write(f"{CONFIGURATION}/f", "driver " + "../" * 50 + "etc/passwd\n")
    os.mkdir(f"{CONFIGURATION}/g")
    os.mkfifo(f"{CONFIGURATION}/h")
    os.symlink("nowhere", f"{CONFIGURATION}/i")
    os.symlink("j", f"{CONFIGURATION}/j")
    write(f"{CONFIGURATION}/k", "driver rxe\n" * 1000)
    it.stderr = [r"libibverbs: Warning: configuration file .*"] * 6
    # The original waits for ever at a pipe.
    it.alone = True


@scenario
def a_huge_configuration_file(it):
    empty_configuration()
    write(f"{CONFIGURATION}/rxe.driver", "driver rxe\n" + "# " + "x" * (1 << 26) + "\n")
    it.stderr = [r"libibverbs: Warning: configuration file .* is read up to \d+ bytes only"]


@scenario
def a_configured_plugin_that_nobody_wants_is_missing(it):
    write(f"{CONFIGURATION}/nosuch.driver", "driver nosuch\n")
    # The original mentions it.


@scenario
def the_plugin_is_missing(it):
    os.unlink(RXE)
    it.stdout = NONE
    it.stderr = [
        rf"libibverbs: Warning: device rxe{n} needs plugin rxe, which is missing: .*"
        rf"librxe-rdmavNN.so .*34.* in .*{PLUGINS}.*ibverbs-providers.*"
        for n in (0, 1)
    ]


@scenario
def the_plugin_is_empty(it):
    os.unlink(RXE)
    write(RXE)
    it.stdout = NONE
    it.stderr = [
        rf"libibverbs: Warning: device rxe{n} needs plugin rxe, which cannot be loaded: "
        rf".*{RXE}.*"
        for n in (0, 1)
    ]


@scenario
def the_plugin_is_text(it):
    os.unlink(RXE)
    write(RXE, "#!/bin/sh\n" * 1000)
    it.stdout = NONE
    it.stderr = [rf".*rxe{n} needs .*cannot be loaded: .*{RXE}.*" for n in (0, 1)]


@scenario
def the_plugin_is_cut_off(it):
    content = open(RXE, "rb").read()
    os.unlink(RXE)
    write(RXE, content[: len(content) // 3])
    it.stdout = NONE
    it.stderr = [rf".*rxe{n} needs .*cannot be loaded: .*{RXE}.*" for n in (0, 1)]
    # The original may die of it.
    it.alone = True


@scenario
def the_plugin_is_of_another_release(it):
    os.unlink(RXE)
    shutil.copy(f"{PROGRAMS}/other_abi.so", RXE)
    it.stdout = NONE
    it.stderr = [
        rf".*rxe{n} needs .*cannot be loaded: .*{RXE}.*verbs_register_driver_99.*" for n in (0, 1)
    ]


@scenario
def only_the_plugin_of_an_unknown_release_is_there(it):
    os.rename(RXE, RXE.replace("rdmav65", "rdmav33"))
    it.stdout = NONE
    it.stderr = [rf".*rxe{n} needs .*rdmav33.so is older than this library.*" for n in (0, 1)]


@scenario
def only_the_plugin_of_a_later_release_is_there(it):
    os.rename(RXE, RXE.replace("rdmav65", "rdmav66"))
    it.stdout = NONE
    it.stderr = [rf".*rxe{n} needs .*rdmav66.so is newer than this library.*" for n in (0, 1)]


@scenario
def plugins_of_several_releases(it):
    for private_abi in (34, 57, 59):
        it.old_rxe(private_abi)


@scenario
def plugins_of_several_releases_in_several_folders(it):
    for private_abi in (34, 59):
        it.old_rxe(private_abi, it.path("first"))
    it.old_rxe(57, it.path("second"))
    it.env["IBVERBS_RS_PLUGIN_PATH"] = f"{it.path('first')}:/nowhere:{it.path('second')}"


@scenario
def the_newest_of_older_releases(it):
    os.unlink(RXE)
    it.old_rxe(57)
    it.old_rxe(59, it.path("first"))
    it.env["IBVERBS_RS_PLUGIN_PATH"] = it.path("first")
    it.taken(59)


@scenario
def the_newest_plugin_is_broken(it):
    os.unlink(RXE)
    write(RXE, "#!/bin/sh\n" * 1000)
    write(RXE.replace("rdmav65", "rdmav59"))
    it.old_rxe(57)
    it.taken(57)


@scenario
def all_plugins_are_broken(it):
    os.unlink(RXE)
    write(RXE, "#!/bin/sh\n" * 1000)
    write(RXE.replace("rdmav65", "rdmav34"))
    it.stdout = NONE
    it.stderr = [
        rf".*rxe{n} needs .*cannot be loaded: .*{RXE}.*; .*rdmav34.so.*" for n in (0, 1)
    ]


@scenario
def the_newest_plugin_is_for_another_kernel(it):
    os.unlink(RXE)
    shutil.copy(f"{PROGRAMS}/version.so", RXE)
    it.old_rxe(57)
    it.taken(57)


@scenario
def an_older_plugin_by_its_path(it):
    it.env["RDMAV_DRIVERS"] = it.old_rxe(57, it.folder).removesuffix("-rdmav57.so")
    it.taken(57)


@scenario
def an_older_plugin_on_the_library_path(it):
    os.unlink(RXE)
    it.old_rxe(57, it.folder)
    it.env["LD_LIBRARY_PATH"] = it.folder
    it.taken(57)


@scenario
def a_plugin_that_the_program_brings(it):
    it.env["LD_PRELOAD"] = it.old_rxe(57, it.folder)
    it.taken(57)


@scenario
def a_release_that_cannot_be_told(it):
    os.unlink(RXE)
    it.old_rxe(34)
    it.taken(34)
    it.stderr.append(
        r"libibverbs: Warning: cannot tell of which rdma-core release provider takes "
        r"\(.*librxe-rdmav34.so\) is.*IBVERBS_RS_PLUGIN_RELEASE=takes=.*"
    )


@scenario
def a_release_that_the_user_tells(it):
    os.unlink(RXE)
    it.old_rxe(34)
    it.env["IBVERBS_RS_PLUGIN_RELEASE"] = "mlx5=60,rxe=44.0"
    it.taken(34)


@scenario
def a_release_that_the_user_tells_wrongly(it):
    os.unlink(RXE)
    it.old_rxe(34, f"{PLUGINS}/one")
    write(f"{PLUGINS}/librdmacm.so.1.3.44.0")
    it.env.update(IBVERBS_RS_PLUGIN_PATH=f"{PLUGINS}/one", IBVERBS_RS_PLUGIN_RELEASE="65")
    it.taken(34)
    it.stderr.append(r"libibverbs: Warning: IBVERBS_RS_PLUGIN_RELEASE says '65' of provider takes.*")


@scenario
def a_release_by_the_files_beside(it):
    os.unlink(RXE)
    it.old_rxe(34)
    os.symlink("../libmlx5.so.1.24.44.0", f"{PLUGINS}/libmlx5-rdmav34.so")
    it.env.update(VERBS_LOG_LEVEL="3", VERBS_LOG_FILE=it.path("log"))
    it.taken(34)
    it.log = r"private ABI 34 as in rdma-core 44 to 44, by .*libmlx5-rdmav34.so -> "


@scenario
def a_release_by_the_functions_of_the_plugin(it):
    os.unlink(RXE)
    it.old_rxe(59)
    it.env.update(VERBS_LOG_LEVEL="3", VERBS_LOG_FILE=it.path("log"))
    it.taken(59)
    it.log = r"private ABI 59 as in rdma-core 62 to 63, by .*ibv_cmd_query_port_speed"


@scenario
def a_release_that_is_too_old(it):
    os.unlink(RXE)
    it.old_rxe(34)
    os.symlink("../libmlx5.so.1.19.35.0", f"{PLUGINS}/libmlx5-rdmav34.so")
    it.stdout = NONE
    it.stderr = ["private ABI 34 loaded"] + [
        r"libibverbs: Warning: .*provider takes .*is of rdma-core 35, which is too old.*"
    ] * 2


@scenario
def the_plugin_registers_nothing(it):
    os.unlink(RXE)
    shutil.copy(f"{PROGRAMS}/nothing.so", RXE)
    it.stdout = NONE
    it.stderr = ["nothing loaded"]


@scenario
def a_plugin_that_cannot_allocate(it):
    it.env["RDMAV_DRIVERS"] = it.plugin("null")
    it.arguments = ["3"]
    it.stdout = GOOD * 3
    it.stderr = [
        rf"libibverbs: Fatal: .*null.*/sys/class/infiniband/rxe{n}" for n in (1, 0)
    ]


@scenario
def a_plugin_that_registers_twice_and_nonsense(it):
    it.env["RDMAV_DRIVERS"] = it.plugin("twice")
    it.stderr = [r"libibverbs: Fatal: .*"] * 4
    # The original calls a function that is not there.
    it.alone = True


@scenario
def a_plugin_for_another_version(it):
    it.env["RDMAV_DRIVERS"] = it.plugin("version")


@scenario
def only_a_plugin_for_another_version(it):
    os.unlink(RXE)
    it.env["RDMAV_DRIVERS"] = it.plugin("version")
    it.stdout = NONE
    it.stderr = [r"libibverbs: Warning: .*version supports versions 90 to 91.*older.*"] * 2


@scenario
def a_plugin_that_refuses(it):
    it.env["RDMAV_DRIVERS"] = it.plugin("refuse")
    it.stderr = ["refused", "refused"]


@scenario
def drivers_in_the_environment(it):
    it.env["RDMAV_DRIVERS"] = f"::;{it.plugin('nothing')};:"
    it.stderr = ["nothing loaded"]


@scenario
def the_other_variable(it):
    it.env["IBV_DRIVERS"] = it.plugin("nothing")
    it.stderr = ["nothing loaded"]


@scenario
def the_first_variable_wins(it):
    it.env["IBV_DRIVERS"] = it.plugin("nothing")
    it.env["RDMAV_DRIVERS"] = "rxe"


@scenario
def drivers_with_slashes_and_nonsense(it):
    it.env["RDMAV_DRIVERS"] = ":".join(
        ["/", "//", "a/b", "../x", "../../../../etc/passwd", "/dev/zero", "/proc/self/mem",
         "%s%n", "x" * 5000, "\x01\x7f", " rxe"]
    )


@scenario
def sysfs_elsewhere(it):
    it.env["SYSFS_PATH"] = it.path("nothing")


@scenario
def sysfs_elsewhere_and_no_netlink(it):
    it.env["SYSFS_PATH"] = it.path("nothing")
    it.arguments = ["1", "nonetlink"]
    it.stdout = NO_LIST


@scenario
def sysfs_with_slashes(it):
    it.env["SYSFS_PATH"] = "/sys////"
    it.arguments = ["1", "nonetlink"]


@scenario
def sysfs_that_is_too_long(it):
    it.env["SYSFS_PATH"] = "/" * 200 + "x" * 4000
    it.arguments = ["1", "nonetlink"]
    it.stdout = NO_LIST
    # The original says ENOMEM.
    it.alone = True


@scenario
def sysfs_of_the_kernel_without_netlink(it):
    it.arguments = ["2", "nonetlink"]
    it.stdout = GOOD * 2


def tree(it, **files):
    """A sysfs tree with one device that is as it should be but for `files`."""
    real = next(
        name
        for name in os.listdir("/sys/class/infiniband_verbs")
        if name.startswith("uverbs")
        and open(f"/sys/class/infiniband_verbs/{name}/ibdev").read().strip() == "rxe0"
    )
    verbs, ib = "class/infiniband_verbs", "class/infiniband/rxe0"
    content = {
        f"{verbs}/abi_version": "6\n",
        f"{verbs}/{real}/ibdev": "rxe0\n",
        f"{verbs}/{real}/abi_version": "1\n",
        f"{verbs}/{real}/dev": open(f"/sys/{verbs}/{real}/dev").read(),
        f"{ib}/node_type": "1: CA\n",
        f"{ib}/node_guid": "0011:2233:4455:6677\n",
        f"{ib}/device/modalias": "\n",
    }
    short = {path.rsplit("/", 1)[1]: path for path in content}
    short["class_abi"] = f"{verbs}/abi_version"
    short["abi_version"] = f"{verbs}/{real}/abi_version"
    for name, text in files.items():
        if text is None:
            del content[short[name]]
        else:
            content[short[name]] = text
    for path, text in content.items():
        write(it.path(f"sys/{path}"), text)
    it.env["SYSFS_PATH"] = it.path("sys")
    it.arguments = ["1", "nonetlink"]
    it.stdout = ["1 devices", "rxe0: open, port active"]


@scenario
def a_sysfs_tree(it):
    tree(it)


@scenario
def a_tree_without_ibdev(it):
    tree(it, ibdev=None)
    it.stdout = NONE


@scenario
def a_tree_with_an_empty_ibdev(it):
    tree(it, ibdev="")
    it.stdout = NONE


@scenario
def a_tree_with_an_overlong_ibdev(it):
    tree(it, ibdev="r" * 500)
    it.stdout = NONE


@scenario
def a_tree_with_a_path_as_ibdev(it):
    tree(it, ibdev="../../../../dev\n")
    it.alone = True
    it.stdout = NONE


@scenario
def a_tree_with_a_binary_ibdev(it):
    tree(it, ibdev=b"\0\xff\xfe\x01%n\n")
    it.alone = True
    it.stdout = NONE


@scenario
def a_tree_without_dev(it):
    tree(it, dev=None)
    it.stdout = NONE


@scenario
def a_tree_with_a_garbage_dev(it):
    tree(it, dev="x:y\n")
    it.stdout = NONE


@scenario
def a_tree_with_another_dev(it):
    tree(it, dev="1:3\n")
    it.stdout = ["1 devices", "rxe0: ENODEV"]
    # The original leaves errno alone.
    it.alone = True


@scenario
def a_tree_without_abi_version(it):
    tree(it, abi_version=None)
    it.stdout = NONE
    it.stderr = [r"libibverbs: Warning: provider rxe supports versions 1 to 2 .* has 0: .*"]


@scenario
def a_tree_with_a_garbage_abi_version(it):
    tree(it, abi_version="12345678901234567890\n")
    it.alone = True
    it.stdout = NONE
    it.stderr = [r"libibverbs: Warning: provider rxe supports versions 1 to 2 .* has 0: .*"]


@scenario
def a_tree_without_class_abi(it):
    tree(it, class_abi=None)
    it.stdout = NO_LIST


@scenario
def a_tree_of_the_future(it):
    tree(it, class_abi="7\n")
    it.stdout = NO_LIST
    it.stderr = [r"libibverbs: Fatal: .*version 7.*"]


@scenario
def a_tree_with_a_garbage_class_abi(it):
    tree(it, class_abi="\xff\xff\xff\xff")
    it.stdout = NO_LIST
    it.stderr = [r"libibverbs: Fatal: .*"]


@scenario
def a_tree_without_node_type(it):
    tree(it, node_type=None)


@scenario
def a_tree_with_a_garbage_node_type(it):
    tree(it, node_type="99999999999999999999 x" * 100)


@scenario
def a_tree_without_node_guid(it):
    tree(it, node_guid=None)


@scenario
def a_tree_without_modalias(it):
    tree(it, modalias=None)


def nodes():
    """The device files, and which device each belongs to."""
    for name in sorted(os.listdir("/sys/class/infiniband_verbs")):
        if name.startswith("uverbs"):
            yield open(f"/sys/class/infiniband_verbs/{name}/ibdev").read().strip(), name


def replace_node(device, make):
    """Replaces a device file by what make(path, old stat) makes."""
    path = f"/dev/infiniband/{dict(nodes())[device]}"
    old = os.stat(path)
    os.rename(path, path + ".kept")
    make(path, old)


@scenario
def a_device_file_is_missing(it):
    replace_node("rxe1", lambda path, old: None)
    it.stdout = GOOD[:2]
    it.stdout = ["1 devices", GOOD[1]]


@scenario
def a_device_file_is_a_plain_file(it):
    replace_node("rxe1", lambda path, old: write(path, "x"))
    it.env.update(VERBS_LOG_LEVEL="1")
    it.stdout = GOOD[:2] + ["rxe1: ENODEV"]
    it.alone = True
    it.stderr = [r"libibverbs: device rxe1: cannot open /dev/infiniband/uverbs\d as user 0: .*"]


@scenario
def a_device_file_is_another_device(it):
    replace_node(
        "rxe1", lambda path, old: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    )
    it.stdout = GOOD[:2] + ["rxe1: ENODEV"]
    it.alone = True


@scenario
def a_device_file_may_not_be_opened(it):
    for _, name in nodes():
        os.chmod(f"/dev/infiniband/{name}", 0o600)
    it.user = NOBODY
    it.env.update(VERBS_LOG_LEVEL="1")
    it.stdout = ["2 devices", "rxe0: EACCES", "rxe1: EACCES"]
    it.stderr = [
        rf"libibverbs: device rxe{n}: cannot open /dev/infiniband/uverbs\d as user {NOBODY}: .*"
        for n in (0, 1)
    ]


@scenario
def another_user(it):
    it.user = NOBODY


@scenario
def another_user_with_little_locked_memory(it):
    it.user = NOBODY
    it.limits[resource.RLIMIT_MEMLOCK] = 16384
    it.stderr = [r"libibverbs: Warning: RLIMIT_MEMLOCK is 16384 bytes.*"]


def descriptors(count, stdout):
    """A scenario with so few file descriptors, standard input, output and error included."""

    def limited(it):
        it.limits[resource.RLIMIT_NOFILE] = count
        it.stdout = stdout
        it.alone = True

    limited.__name__ = f"{count}_file_descriptors"
    return scenario(limited)


descriptors(16, GOOD)
descriptors(6, GOOD)


@scenario
def a_setuid_program_ignores_its_environment(it):
    program = it.path("devices")
    shutil.copy(f"{PROGRAMS}/devices", program)
    os.chown(program, 0, 0)
    os.chmod(program, 0o4755)
    it.program = program
    it.user = NOBODY
    it.env.update(
        RDMAV_DRIVERS=it.plugin("nothing"), IBV_DRIVERS=it.plugin("nothing"),
        SYSFS_PATH="/nowhere", VERBS_LOG_LEVEL="4", VERBS_LOG_FILE=it.path("log"),
        IBVERBS_RS_PLUGIN_PATH=it.folder, IBVERBS_RS_PLUGIN_RELEASE="35",
    )
    it.alone = True


@scenario
def the_log_in_a_file(it):
    it.env.update(VERBS_LOG_LEVEL="4", VERBS_LOG_FILE=it.path("log"))


@scenario
def the_log_on_standard_error(it):
    it.env.update(VERBS_LOG_LEVEL="0x3")
    it.stderr = [r"libibverbs: .*"] * -1
    it.alone = True


@scenario
def the_log_where_it_cannot_be(it):
    it.env.update(VERBS_LOG_LEVEL="1", VERBS_LOG_FILE="/nowhere/at/all")
    it.stderr = [r"libibverbs: Warning: cannot open VERBS_LOG_FILE /nowhere/at/all.*"]


@scenario
def garbage_as_log_level(it):
    it.env.update(VERBS_LOG_LEVEL="very much", VERBS_LOG_FILE=it.path("log"))


@scenario
def a_destroy_that_waits_says_so(it):
    it.program = "waits"
    it.arguments = ["rxe0", "8"]
    it.env.update(VERBS_LOG_LEVEL="2")
    it.stdout = ["end, 0 failed checks"]
    it.stderr = [r"libibverbs: .*CQ.*waiting for 1 .*"]
    it.alone = True


def run(it, ours):
    """Runs the program of a scenario; hands back its lines and how it ended."""
    env = {"PATH": os.environ["PATH"], "HOME": "/tmp", **it.env}
    if ours:
        env["LD_LIBRARY_PATH"] = f"{OURS}:{env.get('LD_LIBRARY_PATH', '')}".rstrip(":")
    program = it.program if it.program.startswith("/") else f"{PROGRAMS}/{it.program}"

    def limit():
        for what, value in it.limits.items():
            resource.setrlimit(what, (value, value))

    try:
        done = subprocess.run(
            [program, *it.arguments], env=env, user=it.user, group=it.user, cwd="/tmp",
            extra_groups=[] if it.user else None, preexec_fn=limit, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False,
        )
    except subprocess.TimeoutExpired:
        return [], [], "no end after 60 s"
    text = [done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")]
    return *(part.splitlines() for part in text), f"exit status {done.returncode}"


def problems(it):
    """What is wrong with a scenario that was set up."""
    stdout, stderr, how = run(it, True)
    found = []
    if how != "exit status 0":
        found.append(how)
    if stdout != it.stdout:
        found.append(f"prints {stdout}, expected {it.stdout}")
    if it.env.get("VERBS_LOG_LEVEL") == "0x3":
        if not stderr or not all(line.startswith("libibverbs: ") for line in stderr):
            found.append(f"says {stderr}")
    elif len(stderr) != len(it.stderr) or not all(
        map(re.fullmatch, sorted(it.stderr), sorted(stderr))
    ):
        found.append("says\n        " + "\n        ".join(line[:300] for line in stderr))
    if not it.alone:
        theirs, _, how = run(it, False)
        if theirs != stdout:
            found.append(f"the original prints {theirs} ({how})")
    log = it.env.get("VERBS_LOG_FILE", "")
    if log.startswith(it.folder):
        text = open(log, encoding="utf-8").read() if os.path.exists(log) else ""
        is_wanted = it.env["VERBS_LOG_LEVEL"] in "34" and it.user is None
        if bool(text) != is_wanted:
            found.append(f"log file written: {bool(text)}")
        if it.log and not re.search(it.log, text):
            found.append(f"the log has no '{it.log}':\n        " + text.replace("\n", "\n        "))
    return found


def main():
    """Runs all scenarios, or those whose name contains PART."""
    kept = tempfile.mkdtemp()
    for place in (CONFIGURATION, PLUGINS):
        shutil.copytree(place, kept + place, symlinks=True)
    failed = passed = 0
    for name, prepare in SCENARIOS:
        if PART not in name:
            continue
        folder = tempfile.mkdtemp(prefix="c", dir="/tmp")
        os.chmod(folder, 0o777)
        it = Scenario(folder)
        prepare(it)
        found = problems(it)
        print(f"{'FAIL' if found else 'ok':5} {name}", flush=True)
        for line in found:
            print(f"      {line}", flush=True)
        failed, passed = failed + bool(found), passed + (not found)
        for place in (CONFIGURATION, PLUGINS):
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(kept + place, place, symlinks=True)
        for _, node in nodes():
            path = f"/dev/infiniband/{node}"
            if os.path.exists(path + ".kept"):
                os.rename(path + ".kept", path)
            os.chmod(path, 0o666)
        shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())
