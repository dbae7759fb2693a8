# SPDX-License-Identifier: MPL-2.0
"""Runs an application with stock elements and with the plugin's, each in its own environment."""
import concurrent.futures
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent
# So that a failure ends: nothing takes a tenth of it.
LIMIT = 120
# The line of docs/embedding.md, by which decodebin and playbin prefer the plugin's elements.
RANKS = re.search(r"`GST_PLUGIN_FEATURE_RANK=([^`]+)`", (HERE / "../../../docs/embedding.md").read_text())[1]


class Applications:
    """A temporary folder with media, and what runs applications there."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="h26x-applications-")
        plugin = os.path.abspath(os.environ.get("PLUGIN_FOLDER", HERE / "../../../.build/plugin"))
        self.environments = {"stock": self._environment("stock"), "ours": self._environment("ours")}
        self.environments["ours"].update(GST_PLUGIN_PATH=plugin, GST_PLUGIN_FEATURE_RANK=RANKS)
        self.display = None
        # An interrupted run leaves nothing, either.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._interrupted)

    def _environment(self, name):
        home = os.path.join(self.folder, name)
        os.makedirs(home + "/run", mode=0o700)
        return {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": home, "XDG_RUNTIME_DIR": home + "/run", "XDG_CACHE_HOME": home + "/cache", "TMPDIR": home + "/run",
            "DBUS_SESSION_BUS_ADDRESS": "disabled:", "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1", "GTK_A11Y": "none",
            "GST_REGISTRY": home + "/registry.bin", "GST_DEBUG": "GST_ELEMENT_FACTORY:4", "GST_DEBUG_NO_COLOR": "1",
            # Its sink without OpenGL, so that a page can draw pictures immediately.
            "WEBKIT_GST_DISABLE_GL_SINK": "1",
        }

    def use_display(self):
        """A display for applications that need one."""
        if self.display is None:
            readable, writable = os.pipe()
            self.display = subprocess.Popen(
                ["Xvfb", "-displayfd", str(writable), "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
                pass_fds=[writable], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            os.close(writable)
            with os.fdopen(readable) as numbers:
                number = numbers.readline().strip()
            for environment in self.environments.values():
                environment["DISPLAY"] = ":" + number

    def run(self, name, command):
        """The application with the elements of `name`: its output and the H.264 and H.265 elements that it made.

        Raises AssertionError where it fails, crashes, does not end, or GStreamer reports a critical error.
        """
        process = subprocess.Popen(
            command, env=self.environments[name], cwd=self.environments[name]["HOME"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        try:
            output, log = process.communicate(timeout=LIMIT)
            ending = f"ended with status {process.returncode}" if process.returncode else None
        except subprocess.TimeoutExpired:
            end_group(process)
            output, log = process.communicate()
            ending = f"did not end in {LIMIT} s"
        end_group(process)
        made = set(re.findall(r'creating element "((?:avdec_|swift)?h26[45]\w*)"', log))
        said = [line for line in log.splitlines() if "GST_ELEMENT_FACTORY" not in line and "ALSA" not in line]
        if not ending and (critical := [line for line in said if "GStreamer-CRITICAL" in line or "GLib-GObject-CRITICAL" in line]):
            ending = critical[0]
        if ending:
            raise AssertionError(f"{name}: {' '.join(command)}: {ending}\n" + "\n".join([*said[-8:], *output.splitlines()[-8:]]))
        return output, made

    def run_both(self, command):
        """The outputs with stock's elements and with ours, and the elements that were ours.

        An application may also make stock's parsers, by their names; decoders must be ours.
        """
        with concurrent.futures.ThreadPoolExecutor() as pool:
            stock, ours = (pool.submit(self.run, name, command) for name in ("stock", "ours"))
            (expected, stocks), (output, made) = stock.result(), ours.result()
        if foreign := {each for each in stocks if each.startswith("swift")}:
            raise AssertionError(f"stock's application uses {foreign}")
        if foreign := {each for each in made if each.startswith("avdec_")}:
            raise AssertionError(f"the application uses {foreign} in place of ours")
        return expected, output, {each for each in made if each.startswith("swift")}

    def _interrupted(self, number, _):
        self.close(0)
        os._exit(128 + number)

    def close(self, seconds=30):
        """Ends remaining processes; returns the commands of those that outlive their applications by so many seconds."""
        if self.display:
            self.display.terminate()
            self.display.wait()
        limit = time.monotonic() + seconds
        while (left := self._processes()) and time.monotonic() < limit:
            time.sleep(0.1)
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)
        return list(left.values())

    def _processes(self):
        """Processes that an application began: their environment names the folder."""
        found = {}
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.folder.encode() in (entry / "environ").read_bytes() and int(entry.name) != os.getpid():
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
        return found


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def missing(*, programs=(), modules=(), typelibs=(), files=()):
    """Whether a program, a Python module, introspection data or a file, given by a pattern, is missing."""
    if not all(glob.glob(pattern) for pattern in files):
        return True
    if any(shutil.which(program, path="/usr/bin:/bin:/usr/sbin") is None for program in programs):
        return True
    code = "".join(f"import {module}\n" for module in modules)
    code += "".join(f"import gi; gi.require_version({name!r}, {version!r})\n" for name, version in typelibs)
    return bool(code) and subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True).returncode != 0
