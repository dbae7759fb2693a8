# SPDX-License-Identifier: MPL-2.0
"""Third-party applications on the plugin and on stock elements, with their output compared."""
import difflib
import json
import os
import subprocess
import unittest

from applications import HERE, Applications, missing
from media import Media
from scenarios import Scenarios

PYTHON = ["/usr/bin/python3", "-B"]
CODECS = ("h264", "h265")
TYPES = {"h264": "avc1.42E01E", "h265": "hvc1.1.6.L60.90"}
PLAYER_FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]

applications = None
media = None


def setUpModule():
    global applications, media
    if missing(programs=["ffmpeg", "ffprobe"], typelibs=[("Gst", "1.0"), ("GstApp", "1.0")]):
        raise unittest.SkipTest("ffmpeg, python3-gi or gir1.2-gst-plugins-base-1.0 is not installed")
    applications = Applications()
    os.mkdir(applications.folder + "/media")
    media = Media(applications.folder + "/media")


def tearDownModule():
    left = applications.close()
    assert not left, f"processes outlive their applications: {left}"


def needs(package, **what):
    """Skips a test if an application is not installed."""
    return unittest.skipIf(missing(**what), f"{package} is not installed; plugin/dependencies.sh --applications installs it")


class ApplicationTests(unittest.TestCase):
    def script(self, name, *arguments):
        return [*PYTHON, str(HERE / name), *arguments]

    def both(self, command, *elements):
        """The application's output with stock elements and with ours; ours must be the plugin's."""
        expected, output, made = applications.run_both(command)
        self.assertEqual(made, set(elements))
        self.assertTrue(expected.strip(), "stock's application shows nothing")
        return expected.splitlines(), output.splitlines()

    def assertSameLines(self, output, expected):
        difference = list(difflib.unified_diff(expected, output, "stock", "ours", n=1, lineterm=""))
        if difference:
            self.fail("\n".join(["ours differs from stock:", *difference[:30], f"({len(difference)} lines)"]))

    def assertSame(self, command, *elements):
        expected, output = self.both(command, *elements)
        self.assertSameLines(output, expected)

    # Players, with and without functions before those of their pads

    @classmethod
    def setUpClass(cls):
        cls.player = applications.folder + "/player"
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gstreamer-1.0", "gstreamer-video-1.0"], check=True,
                               capture_output=True, text=True).stdout.split()
        subprocess.run(["clang", *PLAYER_FLAGS, str(HERE / "player.c"), "-o", cls.player, *flags], check=True)

    def play(self, player, *options):
        for codec in CODECS:
            for name in ("mp4", "open.mp4", "mkv", "ts", codec):
                with self.subTest(player=player, codec=codec, file=name):
                    expected, output = self.both([self.player, "file://" + media.path(codec, name), player, *options],
                                                 f"swift{codec}parse", f"swift{codec}dec")
                    self.compare_scenarios(Scenarios(expected), Scenarios(output), name)

    def compare_scenarios(self, expected, output, name):
        if name == "ts":
            # tsdemux's, of some segments.
            output.issues.pop("segment without its seek's number", None)
        for kind, (count, place) in output.issues.items():
            self.assertLessEqual(count, expected.issues.get(kind, (0, None))[0], f"{kind} at {place}")
        self.assertEqual(output.caps, expected.caps)
        self.assertEqual(output.intervals, expected.intervals)
        if name == "ts" or name in CODECS:
            # Stock's seeks in byte streams are guesses, and tsdemux's seeks and their times differ from run to run.
            for line in output.lines:
                self.assertTrue(output.is_known(line), line)
                self.assertTrue(name == "ts" or output.is_in_place(line), line)
        else:
            self.assertSameLines(output.lines, expected.lines)

    def test_playbin_with_wrapped_pads(self):
        self.play("playbin", "wrap")

    def test_playbin3_with_wrapped_pads(self):
        self.play("playbin3", "wrap")

    def test_uridecodebin(self):
        self.play("uridecodebin")

    def test_uridecodebin3(self):
        self.play("uridecodebin3")

    # Samples as a browser's media sources send them

    def test_caps_that_gain_parsed(self):
        for codec in CODECS:
            for element in ("decodebin", "decodebin3", "parsebin"):
                with self.subTest(codec=codec, element=element):
                    elements = [f"swift{codec}parse", f"swift{codec}dec"][:1 if element == "parsebin" else 2]
                    self.assertSame(self.script("mediasource.py", "parsed", element, media.path(codec, "mp4")), *elements)

    def test_samples_with_decode_only(self):
        for codec in CODECS:
            for element in ("decodebin", "decodebin3"):
                with self.subTest(codec=codec, element=element):
                    self.assertSame(self.script("mediasource.py", "decode-only", element, media.path(codec, "mp4")),
                                    f"swift{codec}parse", f"swift{codec}dec")

    # Applications

    @needs("gir1.2-ges-1.0", typelibs=[("GES", "1.0")])
    def test_editing_services(self):
        for codec in CODECS:
            for name in ("mp4", "open.mp4", "mkv"):
                with self.subTest(codec=codec, file=name):
                    self.assertSame(self.script("editor.py", media.path(codec, name)), f"swift{codec}parse", f"swift{codec}dec")

    @needs("python3-opencv", modules=["cv2"])
    def test_opencv(self):
        for codec in CODECS:
            for name in ("mp4", "mkv", "ts", codec):
                with self.subTest(codec=codec, file=name):
                    self.assertSame(self.script("capture.py", media.path(codec, name)), f"swift{codec}parse", f"swift{codec}dec")

    @needs("gir1.2-gst-rtsp-server-1.0", typelibs=[("GstRtspServer", "1.0")])
    def test_rtsp_server(self):
        for codec in CODECS:
            with self.subTest(codec=codec):
                self.assertSame(self.script("rtsp.py", media.path(codec, "mp4")), f"swift{codec}parse")

    @needs("totem or bubblewrap", programs=["totem-video-thumbnailer", "bwrap"])
    def test_thumbnailer_in_bubblewrap(self):
        for codec in CODECS:
            for name in ("mp4", "sound.mp4", "mkv", "ts"):
                with self.subTest(codec=codec, file=name):
                    self.assertSame(self.script("thumbnailer.py", media.path(codec, name)),
                                    f"swift{codec}parse", f"swift{codec}dec")

    def play_in_qt(self, version):
        for codec in CODECS:
            with self.subTest(codec=codec):
                expected, output = self.both(self.script("qtplayer.py", version, media.path(codec, "mp4")),
                                             f"swift{codec}parse", f"swift{codec}dec")
                # Which pictures are shown while it plays depends on how busy the machine is.
                seeks, known = ([line for line in lines if line.startswith("at ")] for lines in (output, expected))
                self.assertSameLines(seeks, known)
                known = {line.split()[0]: line for line in expected}
                for line in output[len(seeks):]:
                    self.assertEqual(known.get(line.split()[0], line), line)

    @needs("python3-pyqt5.qtmultimedia or libqt5multimedia5-plugins", modules=["PyQt5.QtMultimedia"],
           files=["/usr/lib/*/qt5/plugins/mediaservice/libgstmediaplayer.so"])
    def test_qt5(self):
        self.play_in_qt("5")

    @needs("python3-pyqt6.qtmultimedia", modules=["PyQt6.QtMultimedia"],
           files=["/usr/lib/*/qt6/plugins/multimedia/libgstreamermediaplugin.so"])
    def test_qt6(self):
        self.play_in_qt("6")

    # Browsers

    def browse(self, version, case, codec, *elements, **query):
        applications.use_display()
        query = "&".join(f"{name}={value}" for name, value in {"case": case, "codec": codec, "type": TYPES[codec], **query}.items())
        expected, output = self.both(self.script("browser.py", version, media.folder, query), *elements)
        expected, output = json.loads(expected[-1]), json.loads(output[-1])
        if "unsupported" in expected:
            self.skipTest(f"this version of WebKit does not have {expected['unsupported']}")
        for result in (expected, output):
            self.assertIn("pictures", result)
        self.assertSameLines(*(list(map(str, result["pictures"])) for result in (output, expected)))
        known = {(each["width"], each["number"]): each["checksum"] for each in expected["pictures"] + expected.get("played", [])}
        shown = [each["number"] for each in output.get("played", [])]
        self.assertEqual(shown, sorted(shown))
        for each in output.get("played", []):
            like = [other for other in expected["pictures"] + expected["played"] if other["number"] == each["number"]]
            self.assertEqual(each["checksum"], known.get((each["width"], each["number"]), each["checksum"]),
                             f"{each}, by stock elements {like}")

    def browse_all(self, version):
        for codec in CODECS:
            elements = f"swift{codec}parse", f"swift{codec}dec"
            with self.subTest(codec=codec, case="video"):
                self.browse(version, "plain", codec, *elements)
            with self.subTest(codec=codec, case="media source"):
                self.browse(version, "source", codec, *elements)
            for packaging in ("samples", "byte-stream"):
                with self.subTest(codec=codec, case="WebCodecs", packaging=packaging):
                    self.browse(version, "codecs", codec, f"swift{codec}dec", packaging=packaging)

    @needs("gir1.2-webkit2-4.1", typelibs=[("WebKit2", "4.1"), ("Gtk", "3.0")], programs=["Xvfb", "bwrap", "xdg-dbus-proxy"])
    def test_webkit_of_gtk3(self):
        self.browse_all("4.1")

    @needs("gir1.2-webkit-6.0", typelibs=[("WebKit", "6.0"), ("Gtk", "4.0")], programs=["Xvfb", "bwrap", "xdg-dbus-proxy"])
    def test_webkit_of_gtk4(self):
        self.browse_all("6.0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
