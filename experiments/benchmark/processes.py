"""The processes of the benchmark."""

import os
import subprocess
import tempfile


def mustlink(*arguments):
    """Runs the program and gives what it prints, and its processor seconds."""
    command = [os.environ.get("MUSTLINK", "mustlink"), *map(str, arguments), "--quiet"]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            raise RuntimeError(err.read().strip().splitlines()[-1] if err else "failed")
        return out.read(), used.ru_utime + used.ru_stime
