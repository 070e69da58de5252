"""Runs a command and writes what it cost: measure.py REPORT SECONDS COMMAND...

REPORT gets {status, message, wall_s, cpu_s, rss_bytes}. CPU and peak memory are those of the command
and of all that it started and waited for. After SECONDS all of them are ended, with the status
"timeout". `message` is the line of its stderr that names an error, if it failed.
"""
import json
import os
import resource
import signal
import subprocess
import sys
import time


def reason(stderr):
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines()]
    lines = [line for line in lines if line]
    named = [line for line in lines if "error" in line.lower()]
    return (named or lines or [""])[-1][:200]


report, limit, *command = sys.argv[1:]
start = time.monotonic()
child = subprocess.Popen(
    command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
)
try:
    stderr = child.communicate(timeout=float(limit))[1]
    status = "ok" if child.returncode == 0 else f"exit code {child.returncode}"
except subprocess.TimeoutExpired:
    os.killpg(child.pid, signal.SIGKILL)
    stderr = child.communicate()[1]
    status = "timeout"
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
# Linux counts KiB, macOS bytes.
unit = 1 if sys.platform == "darwin" else 1024
cost = {
    "status": status,
    "message": "" if status == "ok" else reason(stderr),
    "wall_s": round(time.monotonic() - start, 2),
    "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
    "rss_bytes": usage.ru_maxrss * unit,
}
with open(report, "w") as file:
    json.dump(cost, file)
