# SPDX-License-Identifier: MPL-2.0
"""The example of H26x in a browser, as a user has it: a file is chosen, and listed."""
import subprocess

import streams
from pages import PageCase, folder, root

page_file = root / "Examples/.build/browser/access-units.html"


class BrowserExampleTests(PageCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([root / "Examples/Browser/build.sh"], check=True)

    def lines(self, path):
        page = self.open(page_file.as_uri())
        page.files("#file", path)
        page.wait("document.getElementById('lines').textContent")
        return page.text("#lines").splitlines()

    def test_lists_the_access_units_of_both_codecs(self):
        for name, first in (("clip.h264", "H.264 high, level 1.2, 320 × 180, 8 bits"), ("clip.h265", "H.265 main, level 2, 320 × 180, 8 bits")):
            lines = self.lines(streams.media / name)
            self.assertEqual(lines[0], first)
            self.assertEqual(len(lines), 1 + 62)
            self.assertRegex(lines[1], r"^0: \d+ bytes, \d+ NAL units, keyframe$")
            self.assertEqual(len([line for line in lines if line.endswith("keyframe")]), 3)

    def test_names_what_is_no_stream(self):
        path = folder / "nothing.h264"
        path.write_bytes(bytes(range(256)) * 40)
        self.assertEqual(self.lines(path), ["There is no access unit of H.264 in this file."])
