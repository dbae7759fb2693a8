# SPDX-License-Identifier: MPL-2.0
"""Plays the playlists of `h26x repack` in headless Chromium, from a server of this machine."""
import functools
import http.server
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

from browser import Browser

root = pathlib.Path(__file__).resolve().parents[3]
program = os.environ.get("H26X", str(root / ".build/tool/h26x"))
clip = root / "Tests/Media/clip.mp4"

PAGE = """<!doctype html><meta charset="utf-8"><video id="video" muted></video>
<script>
async function play(url) {
  const video = document.getElementById("video");
  const ended = new Promise((resolve, reject) => {
    video.addEventListener("ended", resolve);
    video.addEventListener("error", () => reject(new Error(video.error.message)));
  });
  video.src = url;
  await video.play();
  await ended;
  return { pictures: video.getVideoPlaybackQuality().totalVideoFrames, sound: video.webkitAudioDecodedByteCount,
           width: video.videoWidth, height: video.videoHeight, duration: video.duration };
}
</script>
"""


class Server(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".html": "text/html", ".m3u8": "application/vnd.apple.mpegurl", ".mp4": "video/mp4", ".m4s": "video/mp4"}

    def log_message(self, *_):
        pass


class SegmentTests(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=self.folder))
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        self.address = f"http://127.0.0.1:{server.server_port}"

    def run_program(self, *command):
        subprocess.run([str(part) for part in command], check=True, capture_output=True, timeout=300)

    def played(self, source):
        self.run_program(program, "repack", source, "-o", self.folder / "film.m3u8")
        (self.folder / "page.html").write_text(PAGE)
        browser = Browser()
        self.addCleanup(browser.close)
        page = browser.page(f"{self.address}/page.html")
        if not page.value("document.getElementById('video').canPlayType('application/vnd.apple.mpegurl')"):
            self.skipTest("this Chromium plays no HLS")
        return page.value("play('film.m3u8')")

    def test_plays_all_pictures(self):
        played = self.played(clip)
        self.assertEqual((played["pictures"], played["width"], played["height"]), (62, 320, 180))

    @unittest.skipUnless(shutil.which("ffmpeg"), "no FFmpeg")
    def test_plays_renditions_of_sound(self):
        source = self.folder / "sound.mp4"
        self.run_program("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=2.48", "-i", clip, "-map", "1:v",
                         "-map", "0:a", "-c:v", "copy", "-c:a", "aac", source)
        played = self.played(source)
        self.assertEqual(played["pictures"], 62)
        self.assertGreater(played["sound"], 10_000)
        self.assertAlmostEqual(played["duration"], 2.48, delta=0.05)


if __name__ == "__main__":
    unittest.main()
