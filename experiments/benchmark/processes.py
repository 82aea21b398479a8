"""The processes of the benchmark: mustlink, and peers.py with the packages of others."""

import json
import os
import resource
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress

from design import HERE, LIMIT


class TooLong(RuntimeError):
    """A run took longer than the limit."""


class Broken(Exception):
    """Nothing can be measured, so there is no row."""


class Children:
    """The processes that run. After `stop` there are none."""

    def __init__(self):
        self.running, self.stopped, self.lock = set(), False, threading.Lock()

    def start(self, command, **options):
        with self.lock:
            if self.stopped:
                raise RuntimeError("stopped")
            # In a session of its own a process does not get the Ctrl-C that is meant for this one.
            child = subprocess.Popen([str(c) for c in command], start_new_session=True, **options)
            self.running.add(child.pid)
            return child

    def forget(self, child):
        with self.lock:
            self.running.discard(child.pid)

    def kill(self, pid):
        with self.lock:
            if pid in self.running:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def stop(self):
        with self.lock:
            self.stopped = True
            running = list(self.running)
        for pid in running:
            self.kill(pid)


CHILDREN = Children()


def limited(seconds):
    """Lets this process use so many seconds of processor time more; the system then ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    last = int(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (last, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def check_limit(status):
    if status == -signal.SIGXCPU:
        raise TooLong(f"ended after {LIMIT} s of processor time")


def last_line(file, status):
    file.seek(0)
    lines = file.read().strip().splitlines()
    return lines[-1] if lines else f"ended with status {status}"


def mustlink(*arguments):
    """Runs the program and gives what it prints, and its processor seconds."""
    command = [os.environ.get("MUSTLINK", "mustlink"), *arguments, "--quiet"]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = CHILDREN.start(command, stdout=out, stderr=err, preexec_fn=lambda: limited(LIMIT))
        _, status, used = os.wait4(child.pid, 0)
        CHILDREN.forget(child)
        child.returncode = os.waitstatus_to_exitcode(status)
        check_limit(child.returncode)
        if child.returncode != 0:
            raise RuntimeError(last_line(err, child.returncode))
        out.seek(0)
        return out.read(), used.ru_utime + used.ru_stime


class PeerProcess:
    """A process of peers.py, which loads the packages once. It is started again if it ended."""

    def __init__(self, python):
        self.python, self.child = python, None

    def start(self):
        self.errors = tempfile.TemporaryFile("w+")
        self.loaded = set()
        self.child = CHILDREN.start([self.python, HERE / "peers.py"], text=True, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=self.errors)

    def run(self, request):
        if self.child is None:
            self.start()
        if request["method"] not in self.loaded:
            self.exchange(json.dumps({"load": request["method"]}) + "\n")
            self.loaded.add(request["method"])
        line = self.exchange(json.dumps(request) + "\n")
        if not line:
            status = self.end()
            check_limit(status)
            # An error of a method is an answer. This one is of peers.py: a package is missing, for example.
            raise (Broken if status > 0 else RuntimeError)(last_line(self.errors, status))
        made = json.loads(line)
        if "error" in made:
            raise RuntimeError(made["error"])
        return made

    def exchange(self, request):
        """The line of the answer, or nothing if the process has ended."""
        try:
            self.child.stdin.write(request)
            self.child.stdin.flush()
        except BrokenPipeError:
            return ""
        return self.child.stdout.readline()

    def end(self):
        if self.child.poll() is None:
            # It closes its output before it ends.
            try:
                self.child.wait(timeout=1)
            except subprocess.TimeoutExpired:
                CHILDREN.kill(self.child.pid)
        status = self.child.wait()
        CHILDREN.forget(self.child)
        self.child = None
        return status
