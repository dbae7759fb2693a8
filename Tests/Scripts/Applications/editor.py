#!/usr/bin/python3
# SPDX-License-Identifier: MPL-2.0
"""A timeline of GStreamer Editing Services whose cuts lie inside groups of pictures: editor.py FILE. Prints the pictures
of the whole, and those that seeks lead to."""
import hashlib
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GES", "1.0")
from gi.repository import GES, Gst  # noqa: E402

Gst.init(None)
GES.init()
uri = Gst.filename_to_uri(sys.argv[1])
timeline = GES.Timeline.new()
track = GES.VideoTrack.new()
track.set_restriction_caps(Gst.Caps.from_string("video/x-raw,format=I420,width=320,height=180,framerate=25/1"))
timeline.add_track(track)
layer = timeline.append_layer()
asset = GES.UriClipAsset.request_sync(uri)
start = 0
# Start and length of clips, in pictures: inside a group, over two groups, back again, the end.
for inpoint, length in ((13, 15), (56, 30), (7, 4), (90, 10), (24, 2)):
    layer.add_asset(asset, start * Gst.SECOND // 25, inpoint * Gst.SECOND // 25, length * Gst.SECOND // 25,
                    GES.TrackType.VIDEO)
    start += length
timeline.commit()

pipeline = GES.Pipeline.new()
pipeline.set_timeline(timeline)
pipeline.set_mode(GES.PipelineFlags.VIDEO_PREVIEW)
sink = Gst.ElementFactory.make("fakesink")
sink.set_property("signal-handoffs", True)
sink.set_property("sync", False)
pictures = []


def handoff(_, buffer, __):
    found, info = buffer.map(Gst.MapFlags.READ)
    pictures.append(f"{buffer.pts} {buffer.duration} {hashlib.md5(info.data).hexdigest()}")
    buffer.unmap(info)


sink.connect("handoff", handoff)
sink.connect("preroll-handoff", handoff)
pipeline.preview_set_video_sink(sink)
bus = pipeline.get_bus()


def wait(*types):
    """A message of these types, or the end of the program: no step takes anything like a minute."""
    message = bus.timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.ERROR | types[0])
    if not message or message.type == Gst.MessageType.ERROR:
        sys.exit(str(message.parse_error()) if message else "no message")


pipeline.set_state(Gst.State.PAUSED)
wait(Gst.MessageType.ASYNC_DONE)
for number in (0, 14, 15, 44, 20, 50, 48, 5, 59):
    pictures.clear()
    pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE, number * Gst.SECOND // 25)
    wait(Gst.MessageType.ASYNC_DONE)
    print("at", number, *pictures[-1:])
pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE, 0)
wait(Gst.MessageType.ASYNC_DONE)
pictures.clear()
pipeline.set_state(Gst.State.PLAYING)
wait(Gst.MessageType.EOS)
pipeline.set_state(Gst.State.NULL)
print(*pictures, sep="\n")
