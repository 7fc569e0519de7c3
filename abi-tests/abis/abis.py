#!/usr/bin/env python3
"""Plugins of every private ABI: compiles them, runs a program that calls every verb through each,
and compares the transcript, line by line, with expected.txt.

usage: abis.py compile FOLDER
       abis.py fake FOLDER LIBRARY [--only RELEASE]... [--keep RESULTS]
       abis.py real FOLDER LIBRARY [--only RELEASE]... [--keep RESULTS]

FOLDER holds what was compiled. LIBRARY is a folder with the libibverbs.so.1 under test, or "" for
the installed one, which knows release 65 alone. With `fake` no kernel with RDMA is needed, but
root, and a root file system and a mount namespace that are thrown away: one kernel of the program
accepts everything, another one nothing, a third one is from before commands went through ioctl, and
a fourth one answers with each error number that manual pages list.
`real` is for the virtual machine.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGINS = "/usr/lib/x86_64-linux-gnu/libibverbs"
CONFIGURATION = "/etc/libibverbs.d"
FLAGS = ["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]

# What is exported and is no function.
OBJECTS = ("verbs_allow_disassociate_destroy",)

# A release of each layout: its private ABI, and a file that is installed with it.
RELEASES = {
    39: (34, "librdmacm.so.1.3.39.0"),
    44: (34, "libibverbs.so.1.14.44.0"),
    47: (34, "libmlx5.so.1.24.47.0"),
    50: (34, "librdmacm.so.1.3.50.0"),
    53: (34, "libibumad.so.3.2.53.0"),
    55: (34, "librdmacm.so.1.3.55.0"),
    57: (57, None),
    60: (59, "librdmacm.so.1.3.60.0"),
    63: (59, "libibverbs.so.1.16.63.0"),
    64: (64, None),
    65: (65, None),
}


def run(*command, **more):
    """Runs a command that has to succeed."""
    subprocess.run(command, check=True, **more)


def write(path, text):
    """Writes a file, its folders too."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def plugin_of(release):
    """The file name of a release's plugin."""
    return f"libabi{release}-rdmav{RELEASES[release][0]}.so"


def default_names_of(node):
    """The names that programs get from a version node when they are linked."""
    text = open(f"{HERE}/../exports.txt", encoding="ascii").read()
    return re.findall(rf"^(\w+)@@{node} ", text, re.MULTILINE)


def names_of(node):
    """The names in a version node."""
    text = open(f"{HERE}/../exports.txt", encoding="ascii").read()
    return re.findall(rf"^(\w+)@+{node} ", text, re.MULTILINE)


def compile_library(place, nodes):
    """Compiles a library of nothing but names, by version node, for the linker to look at."""
    names = [name for names in nodes.values() for name in names]
    write(f"{place}/names.map", "".join(
        f"{node} {{ global: {'; '.join(names)}; }};\n" for node, names in nodes.items()
    ))
    write(f"{place}/names.c", "".join(
        f"_Bool {name};\n" if name in OBJECTS else f"void {name}(void) {{}}\n" for name in names
    ))
    run("gcc", "-w", "-shared", "-fPIC", "-fno-builtin", "-nostdlib", "-Wl,-soname,libibverbs.so.1",
        f"-Wl,--version-script={place}/names.map", "-o", f"{place}/libibverbs.so",
        f"{place}/names.c")


def compile_plugin(folder, release):
    """Compiles the plugin of a release, against that release's names."""
    abi, _ = RELEASES[release]
    place = f"{folder}/{release}"
    compile_library(place, {f"IBVERBS_PRIVATE_{abi}": names_of(f"IBVERBS_PRIVATE_{abi}")})
    sources = [f"{HERE}/plugin/{name}" for name in sorted(os.listdir(f"{HERE}/plugin"))
               if name.endswith(".c")]
    run("gcc", *FLAGS, f"-DRELEASE={release}", "-shared", "-fPIC", "-fvisibility=hidden",
        "-o", f"{place}/{plugin_of(release)}", *sources, f"-L{place}", "-libverbs")


def compile_all(folder):
    """Compiles the program and the plugin of each release."""
    parts = [f"{HERE}/program/{name}" for name in sorted(os.listdir(f"{HERE}/program"))
             if name.endswith(".c")]
    parts += [f"{HERE}/transcript.c", f"{HERE}/fake_kernel.c"]
    os.makedirs(folder, exist_ok=True)
    run("gcc", *FLAGS, "-rdynamic", "-o", f"{folder}/verbs", *parts, "-libverbs", "-ldl")
    # The same with functions of the library in the place of those that the header has inline, but
    # for those that are macros as well.
    nodes = ["IBVERBS_RS_1.0", *(f"IBVERBS_1.{minor}" for minor in range(19))]
    compile_library(
        f"{folder}/plain", {node: names for node in nodes if (names := default_names_of(node))}
    )
    inline = [name for name in names_of("IBVERBS_RS_1.0") if name.startswith("ibv_")]
    write(f"{folder}/plain/infiniband/verbs.h", "".join([
        "#pragma once\n#define PLAIN_SYMBOLS 1\n",
        *(f"#define {name} inline_{name}\n" for name in inline),
        "#include_next <infiniband/verbs.h>\n",
        *(f"#undef {name}\n__typeof__(inline_{name}) {name};\n" for name in inline),
    ]))
    run("gcc", *FLAGS, "-rdynamic", f"-I{folder}/plain", "-o", f"{folder}/plain/verbs", *parts,
        f"-L{folder}/plain", "-libverbs", "-ldl")
    for release in RELEASES:
        compile_plugin(folder, release)


def expected(release, words):
    """The transcript of a release; what `words` do not name is not in it."""
    lines = []
    for line in open(f"{HERE}/expected.txt", encoding="utf-8").read().splitlines():
        if line.startswith("#"):
            continue
        match = re.match(r"\[([^]]*)\]", line)
        if match:
            line = line[match.end():]
            if not all(holds(condition, release, words) for condition in match[1].split(",")):
                continue
        lines.append(line)
    return lines


def holds(condition, release, words):
    """Whether a condition of expected.txt, which explains them, holds."""
    if condition.endswith("+"):
        return release >= int(condition[:-1])
    if condition.startswith("-"):
        return release <= int(condition[1:])
    return condition in words


def without_kernel(lines):
    """The lines of a transcript that do not depend on the kernel."""
    return [line for line in lines if not line.startswith("    ")]


def fake_device():
    """Device files for the devices in sysfs: /dev/null; the program's kernel does the rest."""
    run("mount", "-t", "tmpfs", "tmpfs", "/mnt")
    os.mkdir("/mnt/dev")
    run("mount", "--rbind", "/dev", "/mnt/dev")
    run("mount", "-t", "tmpfs", "tmpfs", "/dev")
    os.mkdir("/dev/infiniband")
    for name in ("null", *(f"infiniband/uverbs{release}" for release in RELEASES)):
        open(f"/dev/{name}", "w", encoding="ascii").close()
        run("mount", "--bind", "/mnt/dev/null", f"/dev/{name}")


def plug(release):
    """Puts the device of a release's plugin into sysfs."""
    uverbs = f"/mnt/sys/class/infiniband_verbs/uverbs{release}"
    device = f"/mnt/sys/class/infiniband/abi{release}"
    for path, text in {
        "/mnt/sys/class/infiniband_verbs/abi_version": "6",
        f"{uverbs}/ibdev": f"abi{release}", f"{uverbs}/abi_version": "3", f"{uverbs}/dev": "1:3",
        f"{device}/node_type": "1: CA", f"{device}/node_guid": "0011:2233:4455:6677",
        f"{device}/fw_ver": "1.2.3", f"{device}/device/modalias": "",
    }.items():
        write(path, text + "\n")


def install(folder, *releases):
    """Puts the plugins of these releases where plugins are, and no other."""
    for place in (PLUGINS, CONFIGURATION):
        shutil.rmtree(place)
        os.mkdir(place)
    for release in releases:
        shutil.copy(f"{folder}/{release}/{plugin_of(release)}", PLUGINS)
        write(f"{CONFIGURATION}/abi{release}.driver", f"driver abi{release}\n")


def transcript(program, library, kernel, releases, more):
    """Runs the program; its lines."""
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "EXPORTS": f"{HERE}/../exports.txt",
           "RDMAV_ALLOW_DISASSOC_DESTROY": "1", "VERBS_LOG_LEVEL": "3",
           "VERBS_LOG_FILE": "/tmp/abis.log", **more}
    if kernel != "real":
        shutil.rmtree("/mnt/sys", ignore_errors=True)
        for release in releases:
            plug(release)
        env["SYSFS_PATH"] = "/mnt/sys"
    if kernel == "failing":
        # It makes that the destruction of what the kernel has lost succeeds.
        del env["RDMAV_ALLOW_DISASSOC_DESTROY"]
    if library:
        env["LD_LIBRARY_PATH"] = library
    if os.path.exists("/tmp/abis.log"):
        os.unlink("/tmp/abis.log")
    try:
        done = subprocess.run(
            [program, kernel, *map(str, releases)], env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False,
        )
        lines, how = done.stdout.decode(errors="replace").splitlines(), done.returncode
    except subprocess.TimeoutExpired as error:
        lines = (error.stdout or b"").decode(errors="replace").splitlines()
        how = "no end after 60 s"
    lines.append(f"exit status {how}")
    return lines


def problems(args, release, kernel, told, plain=False):
    """What is wrong with a release's run, its name, and how long its transcript is.

    What tells the library the release is a "file" beside the plugin, the number `told`, or nothing
    but the functions that the plugin "imports". A "linked" plugin is there before the library looks
    for any, and a file beside it tells. A `plain` program has no inline functions.
    """
    install(args.folder, release)
    more = {}
    if isinstance(told, int):
        more["IBVERBS_RS_PLUGIN_RELEASE"] = str(told)
    elif told != "imports":
        write(f"{PLUGINS}/{RELEASES[release][1]}", "")
    if told == "linked":
        os.unlink(f"{CONFIGURATION}/abi{release}.driver")
        more["LD_PRELOAD"] = f"{PLUGINS}/{plugin_of(release)}"
    program = f"{args.folder}/{'plain/' if plain else ''}verbs"
    lines = transcript(program, args.library, kernel, [release], more)
    label = f"{release}-{kernel}-{told}{'-plain' if plain else ''}"
    if args.keep:
        write(f"{args.keep}/{label}.txt", "".join(line + "\n" for line in lines))
    words = {
        "ours" if args.library else "original", "plain" if plain else "inline",
        "old" if kernel == "old" else "ioctl", "real" if kernel == "real" else "fake", "alone",
    }
    wanted = expected(release, words) + ["exit status 0"]
    if kernel != "fake":
        wanted, lines = without_kernel(wanted), without_kernel(lines)
    found = difference(wanted, lines)
    log = ""
    if os.path.exists("/tmp/abis.log"):
        log = open("/tmp/abis.log", encoding="utf-8", errors="replace").read()
    if args.keep:
        write(f"{args.keep}/{label}.log", log)
    if f"a line of release {release}\n" not in log or "never to be seen" in log:
        found.append("the log has not what the plugin wrote into it")
    return label, found, len(lines)


def refused(args, plain=False):
    """What is wrong with the errors of verbs whose commands the kernel refuses."""
    install(args.folder, 65)
    program = f"{args.folder}/{'plain/' if plain else ''}verbs"
    lines = transcript(program, args.library, "failing", [65], {})
    label = f"65-failing{'-plain' if plain else ''}"
    reached = [line for line in lines if line.startswith("reached ")]
    if args.keep:
        write(f"{args.keep}/{label}.txt", "".join(line + "\n" for line in reached))
    found = [line for line in lines if re.match("CHECK|GUARD", line)]
    if lines[-1] != "exit status 0":
        found += lines[-20:]
    return label, found, len(reached)


def difference(wanted, lines):
    """What makes a transcript another one than the wanted."""
    return list(difflib.unified_diff(wanted, lines, "expected", "got", lineterm="", n=3))[2:]


def together(args):
    """What is wrong when one process has the plugins of all releases, each with a device."""
    install(args.folder, *RELEASES)
    numbers = ",".join(f"abi{release}={release}" for release in RELEASES)
    more = {"IBVERBS_RS_PLUGIN_RELEASE": numbers}
    lines = transcript(f"{args.folder}/verbs", args.library, "fake", RELEASES, more)
    if args.keep:
        write(f"{args.keep}/together.txt", "".join(line + "\n" for line in lines))
    found = [line for line in lines if not re.match(r"\d\d: ", line) and line != "exit status 0"]
    for release in RELEASES:
        own = [line[4:] for line in lines if line.startswith(f"{release}: ")]
        wanted = expected(release, {"ours", "inline", "ioctl", "fake"})
        found += [f"{release}: {line}" for line in difference(wanted, own)]
    return "together", found, len(lines)


# Releases that are known by functions that only their plugins import, without a file beside them.
IMPORTS_TELL = (63,)

# Plugins that are taken for those of another release: the library does what that one wants, and
# the test has to notice. The first two have a shorter queue pair, the third a shorter port, the
# fourth a shorter context; the last one gives no eighth argument.
WRONG = {39: 44, 44: 47, 47: 50, 60: 63, 53: 55}


def cases(args):
    """Runs everything; yields the name of each run, what is wrong with it, and its length."""
    for release, (_, evidence) in RELEASES.items():
        if args.only and release not in args.only or not args.library and release != 65:
            continue
        runs = [(args.what, "file" if evidence else "imports")]
        if evidence:
            runs.append((args.what, release))
        if args.what == "fake":
            runs += [(kernel, runs[0][1]) for kernel in ("refusing", "old")]
            if evidence:
                runs.append(("fake", "linked"))
            if release in IMPORTS_TELL:
                runs.append(("fake", "imports"))
        for kernel, told in runs:
            yield problems(args, release, kernel, told)
        if args.library:
            yield problems(args, release, *runs[0], plain=True)
        if args.what == "fake" and release in WRONG:
            label, found, count = problems(args, release, "fake", WRONG[release])
            yield label, [] if found else ["nothing notices that it is another layout"], count
    if args.what == "fake" and not args.only:
        yield refused(args)
        if args.library:
            yield refused(args, plain=True)
            yield together(args)


def main():
    """Does what the arguments say."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("what", choices=("compile", "fake", "real"))
    parser.add_argument("folder")
    parser.add_argument("library", nargs="?", default="")
    parser.add_argument("--only", action="append", type=int, default=[])
    parser.add_argument("--keep")
    args = parser.parse_args()
    if args.what == "compile":
        compile_all(args.folder)
        return 0
    if args.what == "real":
        # One device is enough, and tells less.
        subprocess.run(["rdma", "link", "delete", "rxe1"], check=False)
    else:
        fake_device()
    kept = tempfile.mkdtemp()
    for place in (CONFIGURATION, PLUGINS):
        shutil.copytree(place, kept + place, symlinks=True)
    failed = passed = 0
    for label, found, count in cases(args):
        print(f"{'FAIL' if found else 'ok':5} {label:20} {count} lines", flush=True)
        for line in found[:60]:
            print(f"      {line}", flush=True)
        failed, passed = failed + bool(found), passed + (not found)
    for place in (CONFIGURATION, PLUGINS):
        shutil.rmtree(place)
        shutil.copytree(kept + place, place, symlinks=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())
