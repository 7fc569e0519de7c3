"""Runs upstream's tests by their own run_tests.py, and writes each test's outcome to a file.

usage: suite.py OUTCOMES ARGUMENTS... in the folder of the tests

A line is TEST, a tab, the outcome (ok, skipped, FAIL, ERROR), a tab and a skip's reason. A test is
also written down as "started", so that a crash shows in which one it was. OUTCOMES.mapped says
which shared objects the process has in memory.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import unittest

OUTCOMES = sys.argv.pop(1)


def write(test, outcome, reason=""):
    with open(OUTCOMES, "a", encoding="utf-8") as file:
        file.write("\t".join((test.id(), outcome, " ".join(reason.split()))) + "\n")


def write_mapped():
    """Writes down the shared objects in memory, one a line."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        mapped = {line.split()[-1] for line in maps if ".so" in line}
    with open(OUTCOMES + ".mapped", "w", encoding="utf-8") as file:
        file.write("".join(path + "\n" for path in sorted(mapped)))


class Result(unittest.TextTestResult):
    """unittest's own result, that writes down what it is told."""

    def startTest(self, test):
        super().startTest(test)
        write(test, "started")

    def addSuccess(self, test):
        super().addSuccess(test)
        write(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        write(test, "skipped", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        write(test, "FAIL")

    def addError(self, test, err):
        super().addError(test, err)
        write(test, "ERROR")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            write(test, "FAIL" if issubclass(err[0], test.failureException) else "ERROR")

    def startTestRun(self):
        super().startTestRun()
        write_mapped()

    def stopTestRun(self):
        super().stopTestRun()
        write_mapped()


def remember_answers():
    """Lets the tests start each program that tells about the network once instead of four times
    before each test: that takes most of their time here, and the answers stay the same."""
    ask = subprocess.check_output
    answers = {}

    def check_output(command, **options):
        if options or command[0] not in ("ip", "ls", "rdma"):
            return ask(command, **options)
        if tuple(command) not in answers:
            answers[tuple(command)] = ask(command)
        return answers[tuple(command)]

    subprocess.check_output = check_output


# The tests that start processes hand them their device; the default since Python 3.14 cannot.
multiprocessing.set_start_method("fork")
remember_answers()
unittest.TextTestRunner.resultclass = Result
sys.path.insert(0, os.getcwd())
runpy.run_path(os.path.abspath("run_tests.py"), run_name="__main__")
