# SPDX-License-Identifier: MPL-2.0
"""The page around documents of streams that are not usual: several formats, odd times, very many NAL units."""
import json
import unittest

import streams
from pages import CHOSEN, PageCase, document, of_kind


def a_format(width, height, rate, frames=4, maximum=10_000_000):
    return {"width": width, "height": height, "codedWidth": width, "codedHeight": height, "profile": "main", "level": "3", "chromaFormat": 1,
            "bitDepth": 8, "frameRate": rate, "frameRateDivisor": 1, "maximumBitRate": maximum, "decodedPictureBuffer": frames, "reorder": 2}


def a_set(unit, kind, number, **more):
    return {"kind": "parameterSet", "accessUnit": unit, "offset": 0, "prefix": 4, "size": 4, "type": kind, "name": "SPS" if kind == 7 else "PPS",
            "id": number, "bytes": "67000000", "fields": [], **more}


def an_sps(unit, number, form):
    return a_set(unit, 7, number, format=form)


def a_pps(unit, number, sequence):
    return a_set(unit, 8, number, fields=[["pic_parameter_set_id", number, 8, 1], ["seq_parameter_set_id", sequence, 9, 1]])


def a_unit(index, size=1000, pps=0, **more):
    nal = {"offset": index * 1000, "prefix": 4, "size": size - 4, "type": 5 if index == 0 else 1, "name": "slice",
           "slice": {"type": "P", "first": 0, "qp": 30, "pps": pps}}
    return {"kind": "accessUnit", "index": index, "offset": index * 1000, "size": size, "type": "P", "reference": True, "sequence": 1, "poc": index * 2,
            "dpb": 1, "nalUnits": [nal], **more}


class DocumentTests(PageCase):
    def show(self, items, container="annexb", timescale=None, **how):
        page, _ = self.report("clip.h264", **how)
        units = of_kind(items, "accessUnit")
        stream = {"kind": "stream", "schema": 1, "codec": "h264", "container": container, **({"timescale": timescale} if timescale else {})}
        summary = {"kind": "summary", "accessUnits": len(units), "bytes": sum(unit["size"] for unit in units), "i": 0, "p": len(units), "b": 0, "keyframes": 1,
                   "reorder": 1, "nalUnits": [{"type": 1, "name": "slice", "count": len(units) - 1, "bytes": 1}, {"type": 5, "name": "IDR slice", "count": 1, "bytes": 1}],
                   "errors": 0, "warnings": 0, "notes": 0, "rules": []}
        text = "\n".join(json.dumps(item) for item in [stream, *items, summary])
        page.value(f"showDocument({json.dumps(text)}, 'made')")
        return page

    def fact(self, page, name):
        return self.facts(page)[name]

    def test_the_format_is_that_of_the_sps_in_use(self):
        small, large = a_format(320, 240, 25, frames=4), a_format(640, 480, 50, frames=2)
        # The larger SPS is sent, but no slice refers to it.
        page = self.show([an_sps(0, 0, small), an_sps(0, 1, large), a_pps(0, 0, 0), *map(a_unit, range(50))])
        self.assertEqual([self.fact(page, name) for name in ("Size", "Frame rate", "Duration")], ["320 × 240", "25 fps", "2.00 s"])
        # Another PPS refers to it from access unit 25 on.
        page = self.show([an_sps(0, 0, small), an_sps(0, 1, large), a_pps(0, 0, 0), a_pps(0, 1, 1), *(a_unit(i, pps=i // 25) for i in range(50))])
        self.assertEqual(self.fact(page, "Size"), "320 × 240 (25 access units), 640 × 480 (25 access units)")
        self.assertEqual(self.fact(page, "Duration"), "1.50 s")
        limits = page.value("(() => { const chart = charts.find((each) => each.name === 'dpb'); return [0, 24, 25, 49].map(chart.limit); })()")
        self.assertEqual(limits, [4, 4, 2, 2])

    def test_an_sps_that_is_replaced(self):
        page, path = self.report(streams.two_formats())
        sizes = [f"{item['format']['width']} × {item['format']['height']}" for item in of_kind(document(path), "parameterSet") if "format" in item]
        self.assertEqual(len(set(sizes)), 2)
        for size in sizes:
            self.assertIn(size, self.fact(page, "Size"))
        self.assertEqual(page.value("[formatAt(0).width, formatAt(model.units.length - 1).width]"), [int(size.split()[0]) for size in sizes])

    def test_without_dts_times_are_the_sorted_pts(self):
        # Two seconds at 10 frames a second, then two at 5; the SPS announces 50.
        shown = [i * 100 for i in range(20)] + [2000 + i * 200 for i in range(10)]
        coded = [place + (1 if place % 2 else -1) if 0 < place < len(shown) - 1 else place for place in range(len(shown))]
        units = [a_unit(i, pts=shown[place], duration=100 if place < 20 else 200, sync=i == 0, poc=place * 2) for i, place in enumerate(coded)]
        page = self.show([an_sps(0, 0, a_format(320, 240, 50)), a_pps(0, 0, 0), *units], "matroska", 1000)
        self.assertEqual(page.value("[...model.time]"), [time / 1000 for time in shown])
        self.assertEqual([self.fact(page, name) for name in ("Duration", "Bit rate")], ["4.00 s", "60 kbit/s"])

    def test_the_rate_of_a_constant_stream_is_constant(self):
        units = [a_unit(i, pts=i, dts=i, duration=1, sync=True) for i in range(100)]
        page = self.show([an_sps(0, 0, a_format(320, 240, 25)), a_pps(0, 0, 0), *units], "mp4", 25)
        self.assertEqual(set(page.value("[...model.rates.second]")), {200_000})
        self.assertEqual({round(rate) for rate in page.value("[...model.rates.picture]")}, {200_000})

    def test_times_that_begin_anew(self):
        units = [a_unit(i, pts=i % 50, dts=i % 50, duration=1, sync=True) for i in range(100)]
        page = self.show([an_sps(0, 0, a_format(320, 240, 25)), a_pps(0, 0, 0), *units], "mp4", 25)
        self.assertEqual(self.fact(page, "Duration"), "4.00 s; times start over 1 time")
        for kind in ("second", "picture", "group"):
            rates = page.value(f"[...model.rates.{kind}]")
            self.assertGreater(min(rates), 199_000, kind)
            self.assertLess(max(rates), 201_000, kind)

    def test_access_units_without_times_lie_between_those_with(self):
        units = [a_unit(i, **({"pts": i, "dts": i, "duration": 0} if i % 2 else {})) for i in range(50)]
        page = self.show([an_sps(0, 0, a_format(320, 240, 25)), a_pps(0, 0, 0), *units], "mpegts", 25)
        times = page.value("[...model.time]")
        self.assertEqual([round(time * 25, 3) for time in times], list(range(50)))
        self.assertIn("offsets count bytes of the video stream", page.text("#facts"))

    def test_long_times_do_not_overlap(self):
        start = 1_700_000_000_000_000_000
        units = [a_unit(i, pts=start + i * 40_000_000, dts=start + i * 40_000_000, duration=40_000_000, sync=True) for i in range(30)]
        for width in (360, 1280):
            page = self.show([an_sps(0, 0, a_format(320, 240, 25)), a_pps(0, 0, 0), *units], "matroska", 1_000_000_000, width=width)
            self.assertEqual(self.rows(page)[1][7], "1700000000.0400")
            # No text is wider than its column.
            self.assertEqual(page.value("[...document.querySelectorAll('.row span, #columns span')].filter((each) => each.scrollWidth > each.clientWidth + 1).length"), 0)
            # The ticks stand in the detail, beside the seconds.
            page.click(".row:nth-child(2)")
            self.assertIn("1700000000.0400 s)", page.text("#detail table"))

    def test_rows_can_be_read_at_every_width(self):
        for width in (360, 768, 820, 1024, 1280):
            page, path = self.report(streams.damaged(), width=width)
            found = of_kind(document(path), "finding")[0]["accessUnit"]
            page.choose("#filter", "found")
            row = "document.querySelector('.row')"
            self.assertEqual(page.value(f"{row}.children[2].textContent"), "⚠")
            inside = page.value(f"""(() => {{ const list = document.querySelector("#list").getBoundingClientRect();
                return [...{row}.children].slice(0, 7).every((each) => each.getBoundingClientRect().right <= list.right); }})()""")
            self.assertTrue(inside, width)
            self.assertEqual(page.value(f"Number({row}.children[0].textContent)"), found)

    def test_an_access_unit_with_very_many_nal_units(self):
        nal = {"offset": 4, "prefix": 4, "size": 1, "type": 12, "name": "filler"}
        units = [a_unit(0), a_unit(1, nalUnits=[nal] * 150_000)]
        page = self.show([an_sps(0, 0, a_format(320, 240, 25)), a_pps(0, 0, 0), *units])
        page.value("choose(1, false)")
        self.assertEqual(page.text("#detail h3"), "Access unit 1")
        self.assertEqual(page.value("document.querySelectorAll('#nal-units details').length"), 500)
        page.click("#nal-units > button")
        self.assertEqual(page.value("document.querySelectorAll('#nal-units details').length"), 1000)
        self.assertIn("of 150,000", page.text("#nal-units > button"))

    def test_a_filter_never_hides_what_is_chosen(self):
        page, path = self.report("clip.mp4")
        units = of_kind(document(path), "accessUnit")
        chosen = "document.querySelectorAll('.row.chosen').length"
        # Keys walk the filtered list from its place, although the filter hides the chosen one.
        page.value("choose(10, true)")
        page.choose("#filter", "I")
        intra = [unit["index"] for unit in units if unit["type"] == "I"]
        page.value("$('list').focus()")
        page.key("ArrowDown")
        self.assertEqual(page.value(CHOSEN), min(index for index in intra if index > 10))
        page.key("ArrowUp")
        self.assertEqual(page.value(CHOSEN), max(index for index in intra if index < 11))
        # To choose one that is hidden shows all.
        page.value("choose(10, true)")
        self.assertEqual((page.value(CHOSEN), page.value(chosen), page.value("$('filter').value")), (10, 1, ""))
        page.write("#goto", "99999")
        self.assertEqual(page.text("#gone"), f"There is no access unit 99999: the last is {len(units) - 1}.")
        self.assertEqual(page.value(CHOSEN), 10)
        page.write("#goto", "12")
        self.assertEqual((page.value(CHOSEN), page.text("#gone")), (12, ""))

    def test_access_units_are_found_by_nal_unit(self):
        page, path = self.report("clip.h264")
        wanted = [unit["index"] for unit in of_kind(document(path), "accessUnit") if any(nal["name"] == "SPS" for nal in unit["nalUnits"])]
        page.choose("#nal", "7")
        self.assertEqual(page.value("listed"), wanted)

    def test_the_wheel_scrolls_the_page_and_fingers_zoom(self):
        page, _ = self.report("clip.mp4", height=700)
        whole = page.value("[view.from, view.to]")
        page.place("#chart-size")
        for delta in (120, -120):
            before = page.value("scrollY")
            page.wheel("#chart-size", delta, control=False)
            page.wait(f"(scrollY - {before}) * {delta} > 0")
        self.assertEqual(page.value("[view.from, view.to]"), whole)
        page.pinch("#chart-size", 0.2, 0.6)
        page.wait("view.to - view.from < 40")
        # The place between the fingers stays there.
        self.assertAlmostEqual(page.value("(view.from + view.to) / 2"), whole[1] / 2, delta=3)

    def test_omitted_bytes_are_counted(self):
        page, path = self.report(streams.with_user_data("x" * 600))
        page.value("document.querySelectorAll('#nal-units details').forEach((each) => { each.open = true; })")
        page.wait("document.querySelectorAll('#nal-units pre').length")
        units = of_kind(document(path), "accessUnit")[0]["nalUnits"]
        size = next(unit["size"] for unit in units if unit["name"] == "SEI" and 5 in unit["messages"])
        self.assertIn(f"The first 64 of {size} bytes", page.text("#nal-units"))
        # User data is one element with its text.
        rows = page.value("[...document.querySelectorAll('#nal-units .fields tr')].map((row) => [...row.children].map((each) => each.textContent))")
        data = [row for row in rows if row[1].startswith("user_data_payload_byte")]
        self.assertEqual([row[1:] for row in data if row[2].startswith("xxx")], [["user_data_payload_byte (600)", "x" * 600]])

    def test_what_the_stream_signals_about_pictures(self):
        form = a_format(720, 576, 25)
        fields = [["aspect_ratio_idc", 255, 0, 8], ["sar_width", 64, 0, 16], ["sar_height", 45, 0, 16], ["video_full_range_flag", 0, 0, 1],
                  ["colour_primaries", 9, 0, 8, "BT.2020"], ["transfer_characteristics", 16, 0, 8, "PQ"],
                  ["matrix_coefficients", 200, 0, 8], ["frame_mbs_only_flag", 0, 0, 1]]
        page = self.show([an_sps(0, 0, form) | {"fields": fields}, a_pps(0, 0, 0), *map(a_unit, range(3))])
        self.assertEqual([self.fact(page, name) for name in ("Sample aspect ratio", "Colour", "Scanning")],
                         ["64:45", "BT.2020 / PQ / code 200, limited range", "frames that may be interlaced"])

    def test_what_is_heard(self):
        page, path = self.report("clip.mp4")
        units = of_kind(document(path), "accessUnit")
        page.value("choose(7, true)")
        page.wait("document.querySelector('#chart-size').getAttribute('aria-valuetext').startsWith('Access unit 7:')")
        self.assertIn(f"{units[7]['size']:,} bytes", page.value("document.querySelector('#chart-size').getAttribute('aria-valuetext')"))
        row = page.value("(() => { const row = document.querySelector('.row.chosen'); return ['aria-posinset', 'aria-setsize', 'aria-label'].map((name) => row.getAttribute(name)); })()")
        self.assertEqual(row[:2], ["8", str(len(units))])
        self.assertIn(f"Access unit 7, {units[7]['type']} picture", row[2])
        # Findings of a rule are one stop of the tab key, and arrow keys walk through them.
        page, _ = self.report(streams.damaged())
        self.assertEqual(page.value("[...document.querySelectorAll('#findings ol')].filter((each) => each.querySelectorAll('[tabindex=\"0\"]').length !== 1).length"), 0)

    def test_paper_is_light_and_whole(self):
        page, _ = self.report(streams.damaged(), dark=True)
        dark = page.value("palette['--panel']")
        page.value("window.dispatchEvent(new Event('beforeprint'))")
        self.assertNotEqual(page.value("palette['--panel']"), dark)
        features = [{"name": "prefers-color-scheme", "value": "dark"}]
        page.call("Emulation.setEmulatedMedia", media="print", features=features)
        self.assertEqual(page.value("getComputedStyle($('findings')).maxHeight"), "none")
        self.assertEqual(page.value("getComputedStyle($('list')).display"), "none")
        self.assertTrue(page.value("[...document.querySelectorAll('#findings li')].every((each) => each.checkVisibility())"))
        page.call("Emulation.setEmulatedMedia", media="", features=features)
        page.value("window.dispatchEvent(new Event('afterprint'))")
        self.assertEqual(page.value("palette['--panel']"), dark)

    def test_pictures_are_those_of_their_keyframes(self):
        """Keyframes of an open group of pictures are no IDR pictures. Their POC are far apart here, as in long groups."""
        path = streams.media / "open-gop.h264"
        items, data = document(path), path.read_bytes()
        keys = [unit for unit in of_kind(items, "accessUnit") if unit.get("keyframe")][::2]
        self.assertEqual([unit["keyframe"] for unit in keys], ["idr"] + ["recovery"] * 4)
        alone = [data[unit["offset"]:unit["offset"] + unit["size"]] for unit in keys]
        page, _ = self.report(b"".join(alone))
        self.assertEqual(page.value("[...model.thumbnails.keys()]"), list(range(5)))
        sets = b"".join(streams.start_code + bytes.fromhex(item["bytes"]) for item in of_kind(items, "parameterSet"))
        pictures = [page.value(f"model.thumbnails.get({index})") for index in range(5)]
        for index, unit in enumerate(alone):
            # The keyframe by itself looks like its picture, and no other does as much.
            other, _ = self.report(unit if index == 0 else sets + unit)
            image = json.dumps(other.value("model.thumbnails.get(0)"))
            unlike = page.value(f"""(async () => {{
                const pixels = async (source) => {{
                    const image = new Image();
                    image.src = source;
                    await image.decode();
                    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight), pen = canvas.getContext("2d");
                    pen.drawImage(image, 0, 0);
                    return pen.getImageData(0, 0, canvas.width, canvas.height).data;
                }};
                const wanted = await pixels({image}), sums = [];
                for (const source of {json.dumps(pictures)}) {{
                    const found = await pixels(source);
                    sums.push(found.reduce((sum, value, place) => sum + Math.abs(value - wanted[place]), 0) / found.length);
                }}
                return sums;
            }})()""")
            self.assertEqual(unlike.index(min(unlike)), index, unlike)
            self.assertLess(unlike[index], 1, unlike)


if __name__ == "__main__":
    unittest.main()
