#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Runs a command, and fails if it leaves a process, or a file outside .build and the temporary folder.

usage: leftovers.py COMMAND [ARGUMENT ...]

SwiftPM's lock file, and the caches of SwiftPM and the compiler, do not count.
"""
import os
import subprocess
import sys
import time
import uuid

# The environment variable by which descendants are recognized.
VARIABLE = "LEFTOVERS_RUN"
# Folders, relative to the home folder, that `swift build` fills.
CACHES = {".cache/clang", ".cache/org.swift.swiftpm", ".cache/org.swift.foundation.URLCache", ".swiftpm"}
# How long a process may take to end after the command.
PATIENCE_SECONDS = 10


def processes(mark):
    """The descendants of the run that still exist, as lines of number and command."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                if mark not in file.read().split(b"\0"):
                    continue
            with open(f"/proc/{number}/cmdline", "rb") as file:
                found.append(number + " " + file.read().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # It has ended, or belongs to somebody else.
    return found


def state(root, exceptions):
    """Files below a folder with the time of their last change."""
    files = {}
    for folder, folders, names in os.walk(root):
        relative = os.path.relpath(folder, root)
        folders[:] = [name for name in folders if os.path.normpath(os.path.join(relative, name)) not in exceptions]
        for name in names:
            path = os.path.join(folder, name)
            try:
                files[path] = os.lstat(path).st_mtime_ns
            except OSError:
                pass
    return files


def watched():
    repository = os.getcwd()
    home = os.path.expanduser("~")
    inside = os.path.relpath(repository, home)
    files = state(repository, {".build", ".git"})
    files.pop(os.path.join(repository, "Package.resolved"), None)
    # A temporary folder may be in the home folder.
    temporary = os.path.relpath(os.environ.get("TMPDIR", "/tmp"), home)
    files.update(state(home, CACHES | {inside, temporary}))
    for folder in ("/dev/shm", "/var/tmp"):
        files.update(state(folder, set()))
    return files


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    mark = f"{VARIABLE}={uuid.uuid4()}"
    name, value = mark.split("=")
    before = watched()
    status = subprocess.run(sys.argv[1:], env={**os.environ, name: value}).returncode
    deadline = time.monotonic() + PATIENCE_SECONDS
    left = processes(mark.encode())
    while left and time.monotonic() < deadline:
        time.sleep(0.2)
        left = processes(mark.encode())
    after = watched()
    for process in left:
        print(f"leftovers.py: left running: {process}", file=sys.stderr)
    files = sorted(path for path in after if after[path] != before.get(path))
    for path in files[:20]:
        print(f"leftovers.py: written: {path}", file=sys.stderr)
    if len(files) > 20:
        print(f"leftovers.py: {len(files) - 20} more", file=sys.stderr)
    sys.exit(status or (1 if left or files else 0))


if __name__ == "__main__":
    main()
