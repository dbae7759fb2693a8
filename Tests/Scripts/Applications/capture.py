#!/usr/bin/python3
# SPDX-License-Identifier: MPL-2.0
"""OpenCV, which reads a file through GStreamer: capture.py FILE. Prints the pictures, and those that seeks lead to."""
import hashlib
import sys

import cv2


def read(capture):
    """Prints the next picture, without its time: OpenCV's is the pipeline's position, which runs ahead."""
    found, picture = capture.read()
    if found:
        print(picture.shape, hashlib.md5(picture.tobytes()).hexdigest())
    return found


for time in (None, 1480):
    capture = cv2.VideoCapture(sys.argv[1], cv2.CAP_GSTREAMER)
    if not capture.isOpened():
        sys.exit("not opened")
    print("from", time, *(capture.get(each) for each in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT,
                                                         cv2.CAP_PROP_FPS, cv2.CAP_PROP_FRAME_COUNT)))
    read(capture)
    if time is not None:
        print(capture.set(cv2.CAP_PROP_POS_MSEC, time))
    while read(capture):
        pass
