#!/usr/bin/python3
# SPDX-License-Identifier: MPL-2.0
"""A media player of Qt 5 or 6, whose backend is GStreamer: qtplayer.py 5|6 FILE. Prints a picture for each of some seeks
in a paused player, and the checksums of the pictures that are shown from there to the end."""
import hashlib
import os
import sys

version, path = sys.argv[1], os.path.abspath(sys.argv[2])
if version == "5":
    from PyQt5.QtCore import QCoreApplication, QTimer, QUrl
    from PyQt5.QtGui import QGuiApplication
    from PyQt5.QtMultimedia import (QAbstractVideoBuffer, QAbstractVideoSurface, QMediaContent, QMediaPlayer, QVideoFrame)
else:
    from PyQt6.QtCore import QCoreApplication, QTimer, QUrl
    from PyQt6.QtGui import QGuiApplication
    from PyQt6.QtMultimedia import QMediaPlayer, QVideoFrame, QVideoSink

os.environ.update(QT_QPA_PLATFORM="offscreen", QT_MEDIA_BACKEND="gstreamer")
application = QGuiApplication([])
# Milliseconds: no two in a picture.
seeks = [3500, 1020, 2980, 500, 3940, 20, 2500]
shown = None  # The last picture's checksum.
played = []
# What to do with the next picture: it is the result of a seek, or one of those played.
waits_for = None


def checksum(frame):
    if version == "5":
        frame = QVideoFrame(frame)
        if not frame.map(QAbstractVideoBuffer.ReadOnly):
            sys.exit("not mappable")
        bits = frame.bits().asstring(frame.mappedBytes())
        text = f"{frame.width()}x{frame.height()} {frame.pixelFormat()} {hashlib.md5(bits).hexdigest()}"
        frame.unmap()
        return text
    image = frame.toImage()
    bits = image.constBits().asstring(image.sizeInBytes())
    return f"{image.width()}x{image.height()} {image.format().name} {hashlib.md5(bits).hexdigest()}"


def present(frame):
    global shown
    if not frame.isValid():
        return
    text = f"{frame.startTime()} {frame.endTime()} {checksum(frame)}"
    if waits_for is None:
        played.append(text)
    else:
        shown = text
        QTimer.singleShot(0, next_seek)


def next_seek():
    """Prints the picture of a seek, and starts the next seek. The first needs a player that has loaded."""
    global waits_for, shown
    if shown is None or not player.isSeekable():
        return
    print("at", waits_for, player.position() if waits_for else 0, shown)
    shown = None
    if seeks:
        waits_for = seeks.pop(0)
        player.setPosition(waits_for)
    else:
        waits_for = None
        player.play()


def status_changed(status):
    if status == QMediaPlayer.MediaStatus.EndOfMedia:
        print(*played, sep="\n")
        sys.stdout.flush()
        player.stop()
        QCoreApplication.exit(0)


player = QMediaPlayer()
if version == "5":

    class Surface(QAbstractVideoSurface):
        """Takes pictures as they are decoded."""

        def supportedPixelFormats(self, _):
            return [QVideoFrame.Format_YUV420P]

        def present(self, frame):
            present(frame)
            return True

    surface = Surface()
    player.setVideoOutput(surface)
    player.setMedia(QMediaContent(QUrl.fromLocalFile(path)))
    player.error.connect(lambda _: sys.exit(player.errorString()))
else:
    sink = QVideoSink()
    sink.videoFrameChanged.connect(present)
    player.setVideoSink(sink)
    player.setSource(QUrl.fromLocalFile(path))
    player.errorOccurred.connect(lambda _, text: sys.exit(text))
waits_for = 0
player.mediaStatusChanged.connect(status_changed)
player.seekableChanged.connect(lambda _: QTimer.singleShot(0, next_seek))
player.pause()
sys.exit(application.exec())
