#!/usr/bin/python3
# SPDX-License-Identifier: MPL-2.0
"""Samples as WebKit's media sources send them: mediasource.py parsed|decode-only BIN FILE. Prints the pictures.

parsed: in mid-stream, the caps gain parsed=true. decode-only: samples inside the segment carry DECODE_ONLY, which an
earlier seek left there. BIN is decodebin, decodebin3 or parsebin; behind parsebin the bytes of access units are printed.
"""
import hashlib
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402, F401

Gst.init(None)
case, element, path = sys.argv[1:4]
source = Gst.parse_launch(f'filesrc location="{path}" ! qtdemux ! appsink name=sink sync=false')
source.set_state(Gst.State.PLAYING)
samples = []
while sample := source.get_by_name("sink").try_pull_sample(60 * Gst.SECOND):
    samples.append(sample)
source.set_state(Gst.State.NULL)

player = Gst.parse_launch(f"appsrc name=source format=time ! {element} ! fakesink name=sink sync=false signal-handoffs=true")


def handoff(_, buffer, __):
    found, info = buffer.map(Gst.MapFlags.READ)
    checksum = hashlib.md5(info.data).hexdigest()
    buffer.unmap(info)
    # A parser may put anything before an access unit.
    print(buffer.pts, checksum if element != "parsebin" else "")


player.get_by_name("sink").connect("handoff", handoff)
entry = player.get_by_name("source")
entry.set_caps(samples[0].get_caps())
player.set_state(Gst.State.PLAYING)
for number, sample in enumerate(samples):
    if case == "parsed" and number == len(samples) // 4:
        caps = sample.get_caps().copy()
        caps.set_value("parsed", True)
        entry.set_caps(caps)
    buffer = sample.get_buffer().copy()
    if case == "decode-only" and len(samples) // 4 <= number < len(samples) // 2:
        buffer.set_flags(Gst.BufferFlags.DECODE_ONLY)
    entry.push_buffer(buffer)
entry.end_of_stream()
message = player.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
player.set_state(Gst.State.NULL)
if not message or message.type == Gst.MessageType.ERROR:
    sys.exit(str(message.parse_error()) if message else "the stream did not end")
