# SPDX-License-Identifier: MPL-2.0
"""Runs a command and writes its CPU seconds, wall seconds and peak KiB to a file descriptor.

The kernel counts the memory of whoever starts a program as the program's, until it is replaced. bench.py is larger than
some of the pipelines it measures, so this starts them: run as python3 -I -S, it takes less than any of them.

CPU time is that of the command and of every process that it leaves behind when it ends, such as a codec's.
"""

import ctypes
import posix
import sys
import time

PR_SET_CHILD_SUBREAPER = 36

descriptor = int(sys.argv[1])
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
started = time.monotonic()
process = posix.posix_spawn("/usr/bin/env", ["env"] + sys.argv[2:], posix.environ)
status, cpu, wall, peak = 0, 0.0, 0.0, 0
while True:
    try:
        ended, its_status, usage = posix.wait4(-1, 0)
    except ChildProcessError:
        break
    cpu += usage.ru_utime + usage.ru_stime
    if ended == process:
        status, wall, peak = its_status, time.monotonic() - started, usage.ru_maxrss
posix.write(descriptor, f"{cpu} {wall} {peak}".encode())
sys.exit(posix.waitstatus_to_exitcode(status) != 0)
