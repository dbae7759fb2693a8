#!/usr/bin/python3
# SPDX-License-Identifier: MPL-2.0
"""GStreamer's RTSP server, which chooses parsers and payloaders by itself, and ffmpeg as its client: rtsp.py FILE. Prints
what ffmpeg received and decoded: of each picture the milliseconds since the first, and a checksum."""
import re
import subprocess
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service("0")
factory = GstRtspServer.RTSPMediaFactoryURI()
factory.set_uri(Gst.filename_to_uri(sys.argv[1]))
server.get_mount_points().add_factory("/clip", factory)
server.attach(None)
loop = GLib.MainLoop()
threading.Thread(target=loop.run, daemon=True).start()
run = subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-rtsp_transport", "tcp", "-i",
                      f"rtsp://127.0.0.1:{server.get_bound_port()}/clip", "-fps_mode", "passthrough", "-copyts", "-f", "framemd5",
                      "-"], capture_output=True, text=True)
loop.quit()
print(run.stderr, end="", file=sys.stderr)
unit = int(re.search(r"#tb 0: 1/(\d+)", run.stdout)[1]) if run.stdout else 1
first = None
for line in run.stdout.splitlines():
    if line.startswith("#"):
        continue
    _, _, time, _, _, checksum = (each.strip() for each in line.split(","))
    first = int(time) if first is None else first
    print(round((int(time) - first) * 1000 / unit), checksum)
sys.exit(run.returncode)
