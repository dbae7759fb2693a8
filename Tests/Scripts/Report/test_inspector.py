# SPDX-License-Identifier: MPL-2.0
"""The inspector as users have it: files that are chosen and dropped, read in the browser."""
import gzip
import hashlib
import json
import os
import re
import unittest

import streams
from pages import PageCase, document, folder, of_kind, root, run, vectors

page_file = root / ".build/inspector/inspector.html"
raw_or_mp4 = {".264", ".h264", ".avc", ".jsv", ".jvt", ".26l", ".h265", ".hevc", ".bit", ".bits", ".mp4", ".mov"}


class InspectorTests(PageCase):
    def inspector(self, **how):
        return self.open(page_file.as_uri(), **how)

    def read(self, page, path):
        page.files("#file", path)
        page.wait(f"!$('report').hidden && model.name === {json.dumps(path.name)}")

    def test_size(self):
        self.assertLessEqual(page_file.stat().st_size, 700_000)
        text = page_file.read_text()
        for mark in ("/*style*/", "/*script*/", "<!--data-->", "<!--start-->", "<!--version-->", " src=", "http://", "https://"):
            self.assertFalse(mark in text, mark)
        # Links lead to places of the page.
        self.assertEqual([link for link in re.findall(r' href="([^"]*)"', text) if not link.startswith("#")], [])

    def test_the_start_page_describes_use_and_privacy(self):
        for width, dark in ((375, False), (1400, True)):
            page = self.inspector(width=width, dark=dark)
            for said in ("Findings: where a stream breaks the standard", "is sent nowhere", "MP4 and MOV", "h26x report FILE"):
                self.assertIn(said, page.value("document.body.innerText"))
            self.assertFalse(page.value("$('nav').checkVisibility() || $('busy').checkVisibility() || $('save').checkVisibility()"))
            self.assertLessEqual(page.value("document.documentElement.scrollWidth"), width)
            # The policy of the page keeps its promise.
            policy = page.value("document.querySelector('meta[http-equiv]').content")
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("connect-src", policy)
            # A window that changes its size has nothing to draw yet.
            page.call("Emulation.setDeviceMetricsOverride", width=width + 50, height=700, deviceScaleFactor=1, mobile=False)
            page.wait("new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(() => end(true))))")
        self.read(page, streams.media / "clip.mp4")
        self.assertFalse(page.value("$('about').checkVisibility()"))
        self.assertTrue(page.value("$('nav').checkVisibility()"))

    def test_progress_is_a_bar_and_can_be_stopped(self):
        page = self.inspector()
        path = folder / "longest.h264"
        path.write_bytes(streams.clip() * 300)
        page.value("""(() => { window.parts = []; new MutationObserver(() => { if ($("busy").checkVisibility()) window.parts.push($("bar").value); })
            .observe($("progress"), { childList: true, characterData: true, subtree: true }); })()""")
        page.files("#file", path)
        page.wait("!$('report').hidden")
        parts = page.value("window.parts")
        self.assertEqual(parts, sorted(parts))
        self.assertEqual(parts[0], 0)
        self.assertGreater(len(set(parts)), 3)
        self.assertLessEqual(parts[-1], 1)
        self.assertFalse(page.value("$('busy').checkVisibility()"))
        # Stopped: nothing of the file is left, and it can be chosen again.
        self.read(page, streams.media / "clip.h264")
        page.value("window.parts = []; window.stopped = new Promise((end) => new MutationObserver((_, observer) => { if ($('bar').value > 0) { observer.disconnect(); $('stop').click(); end(true); } })"
                   ".observe($('progress'), { childList: true, characterData: true, subtree: true })), true")
        page.files("#file", path)
        page.wait("window.stopped")
        page.wait("$('progress').textContent === 'Stopped.'")
        self.assertEqual([page.text("#title"), page.value("model.units.length"), page.value("$('report').hidden")], ["Stream inspector", 0, True])
        self.assertTrue(page.value("$('about').checkVisibility() && !$('busy').checkVisibility()"))
        self.read(page, path)
        page.click("#file")
        self.assertEqual(page.value("$('file').files.length"), 0)

    def test_values_of_high_dynamic_range(self):
        page = self.inspector()
        path = folder / "high.h265"
        path.write_bytes(streams.high_dynamic_range())
        self.read(page, path)
        page.wait("[...document.querySelectorAll('#overview dd')].some((each) => each.textContent === 'MaxCLL 987, MaxFALL 321 cd/m²')")
        self.assertEqual(self.facts(page)["Mastering display"], "P3 D65, 0.005 to 1,000 cd/m²")

    def test_files_that_are_chosen(self):
        page = self.inspector()
        for name in ("clip.h264", "clip.mp4", "clip.h265", "clip-h265.mp4"):
            path = streams.media / name
            self.read(page, path)
            items = document(path)
            self.assertEqual(page.value("model.summary"), items[-1])
            self.assertEqual(page.value("model.units"), of_kind(items, "accessUnit"))
            self.assertEqual(page.text("#title"), name)

    def test_a_file_that_is_dropped(self):
        page = self.inspector()
        path = streams.media / "clip.mp4"
        page.drop("#drop", path)
        page.wait("!$('report').hidden")
        self.assertEqual(page.value("model.summary"), document(path)[-1])
        # The bytes of an access unit are read when it is chosen, with its syntax elements.
        page.write("#goto", "7")
        page.wait("document.querySelector('#detail h3').textContent === 'Access unit 7'")
        page.wait("!$('nal-units').hasAttribute('aria-busy')")
        page.click("#nal-units details:last-child summary")
        page.wait("document.querySelector('#nal-units details:last-child .fields')")
        fields = json.loads(run("inspect", "--json", "--fields", "--range", "7", path).splitlines()[1])["nalUnits"][-1]["fields"]
        shown = page.value("[...document.querySelectorAll('#nal-units details:last-child .fields tr')].slice(1).map((row) => [...row.children].map((each) => each.textContent))")
        self.assertEqual(shown, [[str(field[2]), field[0], str(field[1])] for field in fields])

    def test_document_is_the_programs_byte_for_byte(self):
        page = self.inspector()
        files = sorted(path for path in streams.media.iterdir() if path.suffix in (".h264", ".h265", ".mp4"))
        found = sorted(path for path in vectors.glob("h26[45]/*") if path.suffix.lower() in raw_or_mp4)
        files += found if "ALL_VECTORS" in os.environ else found[::10]
        for path in files:
            for fields in (False, True):
                page.files("#file", path)
                digest = page.value(f"""documentOf($("file").files[0], {json.dumps(fields)})
                    .then((parts) => new Blob(parts).arrayBuffer()).then((bytes) => crypto.subtle.digest("SHA-256", bytes))
                    .then((digest) => [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join(""))""")
                expected = run("inspect", "--json", *(["--fields"] if fields else []), path)
                self.assertEqual(digest, hashlib.sha256(expected).hexdigest(), f"{path.name}, fields: {fields}")
        print(f"{len(files)} documents alike", end=" ", flush=True)

    def test_the_document_can_be_saved(self):
        page = self.inspector()
        path = streams.media / "clip.h265"
        self.read(page, path)
        page.value("""(() => { const make = URL.createObjectURL; window.saved = null;
            URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return make(blob); }; })()""")
        page.click("#save")
        self.assertEqual(page.wait("window.saved"), run("inspect", "--json", path).decode())

    def test_files_without_a_stream_are_refused(self):
        page = self.inspector()
        for name, data, said in (
            ("empty.h264", b"", "empty; expected H.264 or H.265"),
            ("text.txt", b"hello, world", "no H.264 or H.265 found; expected a byte stream, MP4 or MOV"),
            ("cut.mp4", streams.clip("clip.mp4")[:40], "MP4 without its table of contents (box moov): cut off, or never finished"),
            ("other.mp4", streams.clip("clip.mp4").replace(b"avc1", b"vp09"), "MP4 without H.264 or H.265 video"),
            ("torn.mp4", streams.clip("clip.mp4")[:-200], "MP4 that is cut off or damaged in its box moov at byte"),
            # Start codes may stand in such a file by chance.
            ("clip.h264.gz", gzip.compress(b"") + streams.clip(), "compressed with gzip; decompress it first"),
            ("two words.mkv", streams.clip("clip.mkv"), "Matroska or WebM, which this page does not read; h26x report 'two words.mkv' -o report.html does"),
            ("clip.ts", streams.clip("clip.ts"), "MPEG-TS, which this page does not read; h26x report clip.ts -o report.html does"),
            ("clip.flv", streams.clip("clip.flv"), "FLV, which this page does not read; h26x report clip.flv -o report.html does"),
        ):
            # Nothing of the file before stands beside the name of this one.
            self.read(page, streams.media / "clip.mp4")
            path = folder / name
            path.write_bytes(data)
            page.files("#file", path)
            page.wait(f"$('progress').textContent.startsWith({json.dumps(f'{name}: {said}')})")
            self.assertTrue(page.value("$('report').hidden && $('save').hidden"))
            self.assertEqual([page.text("#title"), page.text("#facts"), page.value("document.title")], [name, "", f"{name} – Stream inspector"])
        # And another file goes.
        self.read(page, streams.media / "clip.h264")
        self.assertEqual(page.text("#progress"), "")

    def test_folders_and_several_files(self):
        page = self.inspector()
        page.drop("#drop", streams.media)
        page.wait("$('progress').textContent.includes('a folder')")
        page.drop("#drop", streams.media / "clip.mp4", streams.media / "clip.h265")
        page.wait("!$('report').hidden")
        self.assertEqual(page.text("#progress"), "Only the first of 2 files is shown.")

    def test_a_file_that_changes(self):
        page = self.inspector()
        path = folder / "changes.h264"
        path.write_bytes(streams.clip())
        self.read(page, path)
        with open(path, "ab") as changed:
            changed.write(streams.clip())
        page.value("choose(7, true)")
        page.wait("$('detail').textContent.includes('The file has changed')")
        page.click("#save")
        page.wait("$('progress').textContent.includes('The file has changed')")
        # Another file is read as ever.
        self.read(page, streams.media / "clip.mp4")
        page.value("choose(7, true)")
        page.wait("!$('nal-units').hasAttribute('aria-busy')")
        page.click("#nal-units details:last-child summary")
        page.wait("document.querySelector('#nal-units details:last-child .fields')")

    def test_another_file_while_access_units_are_read(self):
        page = self.inspector()
        for name in ("clip.h264", "clip.mp4", "clip.h265"):
            self.read(page, streams.media / name)
            page.value("$('list').focus()")
            for _ in range(10):
                page.key("ArrowDown")
        page.wait("!$('nal-units').hasAttribute('aria-busy')")
        page.click("#nal-units details:last-child summary")
        page.wait("document.querySelector('#nal-units details:last-child .fields')")

    def test_details_are_those_of_the_program(self):
        # A buffering period that precedes its SPS cannot be read.
        early = b"\0\0\0\1\x06\x00\x01\x80\x80" + streams.clip("interlaced.h264")
        path = folder / "early.h264"
        path.write_bytes(early)
        page = self.inspector()
        for each in (path, streams.media / "clip-h265.mp4"):
            self.read(page, each)
            units = [json.loads(line) for line in run("inspect", "--json", "--fields", each).splitlines()]
            units = of_kind(units, "accessUnit")
            if each == path:
                self.assertIn("error", units[0]["nalUnits"][0])
            for index in (0, 1, len(units) - 1):
                found = page.value(f"(choose({index}, false), lookUp({index}))")["nalUnits"]
                for unit in found:
                    del unit["bytes"]
                    # A start code in place of the length or start code of the file.
                    unit["prefix"] = 0
                self.assertEqual(found, [unit | {"prefix": 0} for unit in units[index]["nalUnits"]], f"{each.name} {index}")

    def test_an_access_unit_that_is_too_large(self):
        page = self.inspector()
        self.read(page, streams.media / "clip.h264")
        page.value("model.units[3].size = 2 ** 27")
        page.value("choose(3, true)")
        page.wait("$('detail').textContent.includes('larger than 67,108,864 bytes')")

    def test_what_is_saved_is_whole_or_nothing(self):
        page = self.inspector()
        path = folder / "saved.h264"
        path.write_bytes(streams.clip() * 400)
        self.read(page, path)
        page.value("(() => { const make = URL.createObjectURL; window.saved = 0; URL.createObjectURL = (blob) => { window.saved++; return make(blob); }; })()")
        # In one task of the page: on a busy machine it could have been saved before it is asked.
        self.assertTrue(page.value("($('save').click(), $('save').disabled && $('save').textContent.startsWith('Saving'))"))
        self.read(page, streams.media / "clip.mp4")
        self.assertEqual(page.value("window.saved"), 0)
        self.assertEqual([page.text("#save"), page.value("$('save').disabled")], ["Save as JSON", False])
        page.click("#save")
        page.wait("window.saved === 1")

    def test_progress_where_the_table_is_at_the_end(self):
        page = self.inspector()
        clip = streams.clip("clip.mp4")
        place, free = clip.index(b"moov") - 4, 40 << 20
        path = folder / "late.mp4"
        path.write_bytes(clip[:place] + free.to_bytes(4, "big") + b"free" + bytes(free - 8) + clip[place:])
        page.value("(() => { window.said = []; new MutationObserver(() => window.said.push($('progress').textContent)).observe($('progress'), { childList: true, characterData: true, subtree: true }); })()")
        self.read(page, path)
        self.assertEqual([text for text in page.value("window.said") if text.startswith("100 %")], [])
        self.assertEqual(page.value("model.units.length"), 62)

    def test_the_page_lives_while_a_file_is_read(self):
        page = self.inspector()
        path = folder / "long.h264"
        path.write_bytes(streams.clip() * 600)
        page.files("#file", path)
        frames, units = page.value("""new Promise((end) => { let frames = 0;
            const count = () => { frames++; if ($("report").hidden) requestAnimationFrame(count); else end([frames, model.units.length]); };
            requestAnimationFrame(count); })""")
        self.assertEqual(units, 62 * 600)
        self.assertGreater(frames, 3)

    def test_another_file_takes_the_place_of_one_that_is_read(self):
        page = self.inspector()
        path = folder / "longer.h264"
        path.write_bytes(streams.clip() * 1000)
        page.files("#file", path)
        page.files("#file", streams.media / "clip.mp4")
        page.wait("!$('report').hidden")
        self.assertEqual(page.text("#title"), "clip.mp4")
        self.assertEqual(page.value("model.units.length"), 62)

    def test_phone(self):
        page = self.inspector(width=375, height=700, dark=True)
        self.read(page, streams.media / "clip.mp4")
        self.assertLessEqual(page.value("document.documentElement.scrollWidth"), 375)

    def test_nothing_of_a_stream_becomes_script(self):
        page = self.inspector()
        hostile = "</script><script>window.injected = 1</script>"
        for name, data in (("user-data.h264", streams.with_user_data(hostile)), ("<img src=x onerror='window.injected=2'>.mp4", streams.clip("clip.mp4"))):
            path = folder / name
            path.write_bytes(data)
            self.read(page, path)
            page.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            self.assertEqual(page.text("#title"), name)
            self.assertIsNone(page.value("window.injected ?? null"))


if __name__ == "__main__":
    unittest.main()
