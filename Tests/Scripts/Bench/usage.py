# SPDX-License-Identifier: MPL-2.0
"""Runs a command and writes its CPU seconds, wall seconds and peak KiB to a file descriptor.

The kernel counts the memory of whoever starts a program as the program's, until it is replaced. bench.py is larger than
some of the pipelines it measures, so this starts them: run as python3 -I -S, it takes less than any of them.
"""

import posix
import sys
import time

descriptor = int(sys.argv[1])
started = time.monotonic()
process = posix.posix_spawn("/usr/bin/env", ["env"] + sys.argv[2:], posix.environ)
_, status, usage = posix.wait4(process, 0)
wall = time.monotonic() - started
posix.write(descriptor, f"{usage.ru_utime + usage.ru_stime} {wall} {usage.ru_maxrss}".encode())
sys.exit(posix.waitstatus_to_exitcode(status) != 0)
