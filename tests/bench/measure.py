"""Runs a command and writes what it cost: measure.py REPORT SECONDS COMMAND...

REPORT gets {status, wall_s, cpu_s, rss_bytes}. CPU and peak memory are those of the command and of
all that it started and waited for. After SECONDS the command is ended; its status is then "timeout".
"""
import json
import resource
import subprocess
import sys
import time

report, limit, *command = sys.argv[1:]
start = time.monotonic()
try:
    code = subprocess.run(command, timeout=float(limit)).returncode
    status = "ok" if code == 0 else f"exit code {code}"
except subprocess.TimeoutExpired:
    status = "timeout"
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
# Linux counts KiB, macOS bytes.
unit = 1 if sys.platform == "darwin" else 1024
cost = {
    "status": status,
    "wall_s": round(time.monotonic() - start, 2),
    "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
    "rss_bytes": usage.ru_maxrss * unit,
}
with open(report, "w") as file:
    json.dump(cost, file)
