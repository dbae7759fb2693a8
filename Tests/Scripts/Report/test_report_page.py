# SPDX-License-Identifier: MPL-2.0
"""The report as users have it: in a browser, with mouse and keyboard."""
import json
import math
import re
import unittest

import streams
from pages import CHOSEN, PageCase, document, folder, of_kind, run

MARKED = "[...document.querySelectorAll('#detail pre .marked')].map((each) => each.textContent).join('')"


class ReportTests(PageCase):
    def test_overview_has_the_facts_of_info(self):
        for name in ("clip.mp4", "clip.h265"):
            page, path = self.report(name)
            items = document(path)
            summary, sps = items[-1], next(item for item in items if "format" in item)
            facts = self.facts(page)
            self.assertEqual(facts["Access units"], str(summary["accessUnits"]))
            self.assertEqual(facts["I / P / B"], f"{summary['i']} / {summary['p']} / {summary['b']}")
            self.assertEqual(facts["Keyframes"], str(summary["keyframes"]))
            self.assertTrue(facts["Size"].startswith(f"{sps['format']['width']} × {sps['format']['height']}"))
            self.assertIn(sps["format"]["level"], facts["Profile, level"])
            types = page.value("[...document.querySelectorAll('#overview tr')].slice(1).map((row) => [...row.children].map((each) => each.textContent))")
            self.assertEqual(types, [[f"{each['name']} ({each['type']})", f"{each['count']:,}", f"{each['bytes']:,}"]
                                     for each in summary["nalUnits"]])

    def test_findings_are_filtered_and_lead_to_their_access_unit(self):
        page, path = self.report(streams.damaged())
        items = document(path)
        found = of_kind(items, "finding")
        self.assertGreater(len({each["rule"] for each in found}), 1)
        self.assertEqual(len(page.texts("#findings li")), len(found))
        page.click("[data-severity=note]")
        if items[-1]["notes"]:
            self.assertEqual(page.texts("#findings li"), page.texts("#findings li.note"))
        else:
            self.assertEqual(page.text("#findings"), "Nothing found.")
        page.click("[data-severity=error]")
        self.assertEqual(len(page.texts("#findings li.error")), items[-1]["errors"])
        self.assertEqual(page.value("document.querySelector('#severities [aria-pressed=true]').dataset.severity"), "error")
        rule = found[0]["rule"]
        page.choose("#rule", rule)
        listed = page.texts("#findings li")
        self.assertEqual(len(listed), sum(each["rule"] == rule for each in found))
        self.assertIn(found[0]["found"], listed[0])
        # Clause and remedy come once, before the findings of a rule.
        self.assertEqual(len(page.texts("#findings details")), 1)
        self.assertIn(found[0]["clause"], page.text("#findings .hint"))
        self.assertIn(found[0]["remedy"], page.text("#findings .hint"))
        page.click("#findings li button")
        self.assertEqual(page.value(CHOSEN), found[0]["accessUnit"])
        self.assertIn(found[0]["found"], page.text("#detail"))

    def test_list_is_filtered_ordered_and_walked_by_keys(self):
        page, path = self.report("clip.mp4")
        units = of_kind(document(path), "accessUnit")
        for kind in "IPB":
            page.choose("#filter", kind)
            count = sum(unit["type"] == kind for unit in units)
            self.assertEqual(page.text("#shown"), f"{count} of {len(units)}")
            self.assertEqual({row[1] for row in self.rows(page)}, {kind})
        page.choose("#filter", "key")
        self.assertEqual([int(row[0]) for row in self.rows(page)], [unit["index"] for unit in units if "keyframe" in unit])
        page.choose("#filter", "")
        first = self.rows(page)[1]
        self.assertEqual(first[:2] + first[4:7], ["1", units[1]["type"], f"{units[1]['size']:,}", str(units[1]["qp"]), str(units[1]["poc"])])
        scale = document(path)[0]["timescale"]
        self.assertEqual([float(text) for text in first[7:]], [round(units[1][name] / scale, 4) for name in ("pts", "dts")])
        page.choose("#order", "presentation")
        shown = page.value("listed")
        self.assertEqual(shown, sorted(range(len(units)), key=lambda i: units[i]["pts"]))
        self.assertEqual([int(row[0]) for row in self.rows(page)][:5], shown[:5])
        page.choose("#order", "decoding")
        page.click(".row:nth-child(3)")
        self.assertEqual(page.value(CHOSEN), 2)
        for key, expected in (("ArrowDown", 3), ("ArrowUp", 2), ("End", 61), ("PageUp", 41), ("Home", 0), ("PageDown", 20)):
            page.value("document.querySelector('#list').focus()")
            page.key(key)
            self.assertEqual(page.value(CHOSEN), expected, key)
            self.assertEqual(page.text("#detail h3"), f"Access unit {expected}")
            self.assertEqual(page.value("document.querySelectorAll('.row.chosen').length"), 1, key)
        page.choose("#filter", "I")
        page.write("#goto", "33")
        self.assertEqual(page.value(CHOSEN), 33)
        self.assertTrue(page.value("(() => { const row = document.querySelector('.row.chosen').getBoundingClientRect(), list = document.querySelector('#list').getBoundingClientRect(); return row.top >= list.top && row.bottom <= list.bottom + 1; })()"))

    def test_charts_zoom_pan_and_choose(self):
        page, path = self.report("clip.mp4")
        units = of_kind(document(path), "accessUnit")
        names = page.value("charts.map((chart) => chart.name)")
        # The coded picture buffer is always full, so a line of text replaces the chart.
        self.assertEqual(names, ["rate", "size", "qp", "order", "dpb"])
        self.assertIn("Coded picture buffer before each removal: ", page.text("#flat"))
        # Without --deep, nothing is known about blocks.
        self.assertFalse(page.value("$('blocks').checkVisibility() || document.querySelector('[href=\"#h-blocks\"]').checkVisibility()"))
        whole = page.value("[view.from, view.to]")
        self.assertEqual(whole, [0, len(units)])
        # Something is drawn, in the colours of the types.
        drawn = page.value("""(() => { const canvas = document.querySelector("#chart-size"), pen = canvas.getContext("2d");
            const data = pen.getImageData(0, 0, canvas.width, canvas.height).data, seen = new Map();
            for (let i = 0; i < data.length; i += 4) { const key = data.slice(i, i + 4).join(); seen.set(key, (seen.get(key) ?? 0) + 1); }
            return [...seen].filter((each) => each[1] > 50).length; })()""")
        self.assertGreaterEqual(drawn, 4)
        # A click on the bar of access unit 10.
        page.click("#chart-size", (10.5) / len(units), 0.9)
        self.assertEqual(page.value(CHOSEN), 10)
        page.wait(f"document.querySelector('#chart-size').parentElement.textContent.includes('{units[10]['size']:,} bytes')")
        page.wheel("#chart-size", -100, 0.25)
        page.wait("view.to - view.from < 62")
        closer = page.value("[view.from, view.to]")
        # The place under the pointer stays there.
        self.assertAlmostEqual(closer[0] + 0.25 * (closer[1] - closer[0]), 0.25 * 62, delta=0.1)
        page.wheel("#chart-size", -100, 0.25)
        page.wait(f"view.to - view.from < {closer[1] - closer[0]}")
        before = page.value("[view.from, view.to]")
        page.drag("#chart-order", 0.5, 0.6)
        page.wait(f"view.from < {before[0]} - 0.5")
        after = page.value("[view.from, view.to]")
        self.assertAlmostEqual(after[1] - after[0], before[1] - before[0], places=6)
        self.assertAlmostEqual(before[0] - after[0], 0.1 * (before[1] - before[0]), delta=0.2)
        self.assertEqual(page.value(CHOSEN), 10)
        page.value("document.querySelector('#chart-dpb').focus()")
        page.key("0")
        self.assertEqual(page.value("[view.from, view.to]"), whole)
        page.key("+")
        self.assertAlmostEqual(page.value("view.to - view.from"), 31)
        page.key("-")
        self.assertEqual(page.value("view.to - view.from"), 62)
        page.key("ArrowRight")
        self.assertEqual(page.value(CHOSEN), 11)
        for button, width in (("#closer", 31), ("#closer", 15.5), ("#farther", 31), ("#whole", 62)):
            page.click(button)
            self.assertEqual(page.value("view.to - view.from"), width)
        page.wait("$('range').textContent.startsWith('0 to 61 of 62')")

    def test_no_text_lies_on_a_chart(self):
        for width in (360, 1400):
            for name in ("clip.mp4", "open-gop.h265", "intra-refresh.h264"):
                page, _ = self.report(name, width=width)
                texts = page.value("document.querySelectorAll('.scale span, #times span, #legend span, figcaption span, figcaption b').length")
                self.assertGreater(texts, 15)
                self.assertEqual(page.value("""(() => {
                    const boxes = (selector) => [...document.querySelectorAll(selector)].map((each) => [each.textContent, each.getBoundingClientRect()]);
                    const overlap = (a, b) => a.width && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
                    const texts = boxes(".scale span, #times span, #legend > span, figcaption span, figcaption b"), canvases = boxes("canvas");
                    return texts.filter(([, box], place) => canvases.some(([, other]) => overlap(box, other))
                        || texts.some(([, other], another) => another > place && overlap(box, other))).map(([text]) => text);
                })()"""), [], f"{name} {width}")

    def test_what_is_chosen_keeps_the_colour_of_its_type(self):
        for dark in (False, True):
            page, path = self.report("clip.mp4", dark=dark)
            units = of_kind(document(path), "accessUnit")
            for kind in "IPB":
                index = max((unit["index"] for unit in units if unit["type"] == kind), key=lambda i: units[i]["size"])
                page.value(f"choose({index}, false)")
                page.wait(f"document.querySelector('#chart-size').getAttribute('aria-valuenow') === '{index}'")
                # The bar is of its colour, and the ground above or beside it is another than that of the others.
                colors = page.value(f"""(() => {{ const canvas = document.querySelector("#chart-size"), pen = canvas.getContext("2d");
                    const x = Math.floor(({index} + 0.5) / {len(units)} * canvas.width), probe = document.createElement("canvas").getContext("2d");
                    probe.fillStyle = palette["--{kind.lower()}"];
                    probe.fillRect(0, 0, 1, 1);
                    return [[...pen.getImageData(x, canvas.height - 4, 1, 1).data], [...probe.getImageData(0, 0, 1, 1).data]]; }})()""")
                self.assertEqual(colors[0], colors[1], f"{kind}, dark: {dark}")
                # Its column is framed.
                edge = page.value(f"""(() => {{ const canvas = document.querySelector("#chart-size");
                    const x = Math.round({index} / {len(units)} * canvas.width) + Math.floor(canvas.width / {len(units)});
                    return Math.max(...[-1, 0, 1].map((more) => canvas.getContext("2d").getImageData(x + more, 1, 1, 1).data[3])); }})()""")
                self.assertEqual(edge, 255, f"{kind}, dark: {dark}")

    def test_mixed_columns_have_a_legend(self):
        page, _ = self.report("clip.mp4")
        self.assertFalse(page.value("$('mixed').checkVisibility()"))
        self.assertEqual(page.text("#types"), "IPB")
        page, _ = self.report(streams.clip() * 60)
        self.assertTrue(page.value("$('mixed').checkVisibility()"))
        self.assertIn("their mean", page.text("#mixed"))
        # Zoomed in, each has a column of its own again.
        page.value("setRange(0, 100)")
        page.wait("!$('mixed').checkVisibility()")

    def test_a_chart_of_equal_values_is_a_line(self):
        page, _ = self.report(streams.clip("clip.h264")[:streams.clip("clip.h264").index(b"\0\0\0\1\x09", 5)])
        self.assertEqual(page.value("document.querySelectorAll('canvas').length"), 0)
        self.assertIn("QP of the first slice: QP ", page.text("#flat"))
        for name in ("chart-tools", "chart-hint", "legend", "times"):
            self.assertFalse(page.value(f"$('{name}').checkVisibility()"), name)
        # Bars of a short stream are bars, not walls.
        page.value("showDocument(['stream', 'accessUnit', 'accessUnit', 'summary'].map((kind, i) => JSON.stringify({ kind, index: i - 1, size: 100 * i, sequence: 0, offset: 0, type: 'I', nalUnits: [], rules: [], accessUnits: 2 })).join('\\n'), 'short')")
        drawn = page.value("""(() => { const canvas = document.querySelector("#chart-size"), data = canvas.getContext("2d").getImageData(0, canvas.height - 4, canvas.width, 1).data;
            return data.filter((value, place) => place % 4 === 3 && value === 255).length; })()""")
        self.assertTrue(20 < drawn < 120, drawn)

    def test_findings_are_marked_in_the_charts(self):
        page, path = self.report(streams.damaged())
        found = of_kind(document(path), "finding")
        first = found[0]["accessUnit"]
        count = len(of_kind(document(path), "accessUnit"))
        page.click("#chart-findings", (first + 0.5) / count, 0.5)
        self.assertEqual(page.value(CHOSEN), first)
        page.wait(f"document.querySelector('#chart-findings').parentElement.textContent.includes({json.dumps(found[0]['rule'])})")
        self.assertEqual(page.text("#worst"), str(len(found)))
        self.assertEqual(page.value("$('worst').className"), "error")

    def test_chart_values_follow_from_the_document(self):
        page, path = self.report("clip.mp4")
        items = document(path)
        units, scale = of_kind(items, "accessUnit"), items[0]["timescale"]
        step = units[1]["dts"] - units[0]["dts"]
        rate = page.value("[...model.rates.picture]")
        self.assertAlmostEqual(rate[5], units[5]["size"] * 8 * scale / step, places=3)
        keys = [unit["index"] for unit in units if "keyframe" in unit]
        group = sum(unit["size"] for unit in units[keys[0]:keys[1]]) * 8 * scale / (step * (keys[1] - keys[0]))
        self.assertAlmostEqual(page.value("model.rates.group[3]"), group, places=3)
        near = [unit["size"] for unit in units if -scale <= (unit["dts"] - units[30]["dts"]) * 2 < scale]
        self.assertEqual(page.value("model.rates.second[30]"), sum(near) * 8)
        page.choose("#rate", "group")
        page.click("#chart-rate", 3.5 / 62, 0.9)
        page.wait(f"document.querySelector('#chart-rate').parentElement.textContent.includes(bitRate({group}))")
        limit = next(item["format"]["maximumBitRate"] for item in items if "format" in item)
        self.assertIn(f"level allows {page.value(f'bitRate({limit})')}", page.value("document.querySelector('#chart-rate').parentElement.textContent"))
        for i in (0, 7, 40):
            self.assertEqual(page.value(f"charts.find((each) => each.name === 'dpb').get({i})"), units[i]["dpb"])
        fill = [unit["cpb"] for unit in units]
        self.assertIn(f"{min(fill):,} to {max(fill):,} of {units[0]['cpbSize']:,} bits", page.text("#flat"))

    def test_deep_reports_chart_the_blocks(self):
        for name in ("clip.mp4", "clip.h265"):
            page, path = self.report(name, deep=True)
            items = [json.loads(line) for line in run("inspect", "--statistics", "--json", path).splitlines()]
            units, total = [unit["statistics"] for unit in of_kind(items, "accessUnit")], items[-1]["statistics"]
            names = page.value("charts.map((chart) => chart.name)")
            self.assertEqual(names[names.index("qp"):][:3], ["qp", "bits", "types"])
            for i in (0, 7, 40):
                parts = page.value(f"charts.slice({names.index('bits')}, {names.index('types') + 1}).map((chart) => chart.parts.map((part) => [part.name, part.get({i})]))")
                self.assertEqual(dict(parts[0]), units[i]["bits"])
                self.assertAlmostEqual(sum(share for _, share in parts[1]), 100)
                self.assertAlmostEqual(dict(parts[1])["skip"], units[i]["kinds"].get("skip", 0) / units[i]["area"] * 100)
            page.value("choose(7, true)")
            page.wait("document.querySelector('#chart-qp').getAttribute('aria-valuetext').startsWith('Access unit 7:')")
            spoken = [page.value(f"document.querySelector('#chart-{chart}').getAttribute('aria-valuetext')") for chart in ("qp", "bits", "types")]
            qp = units[7]["qp"]
            self.assertTrue(spoken[0].endswith(f", {qp['minimum']} to {qp['maximum']}"), spoken)
            self.assertIn(f"{sum(units[7]['bits'].values()):,} bits: ", spoken[1])
            self.assertIn(f"skip {units[7]['kinds']['skip'] / units[7]['area'] * 100:.1f} %", spoken[2])
            # The colours of the legend are drawn.
            for chart in ("bits", "types"):
                self.assertTrue(page.value(f"""(() => {{ const canvas = document.querySelector("#chart-{chart}"), probe = document.createElement("canvas").getContext("2d");
                    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, seen = new Set();
                    for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join());
                    return [...canvas.parentElement.querySelectorAll(".part i")].every((mark) => {{
                        probe.fillStyle = getComputedStyle(mark).backgroundColor;
                        return seen.has(probe.fillStyle.slice(1).match(/../g).map((pair) => parseInt(pair, 16)).join());
                    }}); }})()"""), chart)
            self.assertTrue(page.value("$('blocks').checkVisibility()"))
            tables = page.value("Object.fromEntries([...document.querySelectorAll('#totals > div')].map((panel) => [panel.querySelector('h3').textContent, "
                                "[...panel.querySelectorAll('tr')].slice(1).map((row) => [...row.children].map((each) => each.textContent))]))")
            self.assertEqual([[row[0], row[1]] for row in tables["Bits of slice data"]], [[kind, f"{count:,}"] for kind, count in total["bits"].items() if count])
            self.assertEqual([row[0].replace("−", "-").removeprefix("+") for row in tables["References by POC distance"]], [*total["distances"]])
            self.assertIn([f"{max(map(int, total['transforms']))} × {max(map(int, total['transforms']))}"], [row[:1] for row in tables["Transforms"]])

    def test_statistics_of_many_and_of_none(self):
        page, _ = self.report("clip.h264", deep=True)
        page.value("""(() => {
            const base = model.units.map((unit) => unit.statistics), lines = [{ kind: "stream", schema: 1, codec: "h264", container: "annexb" }];
            for (let i = 0; i < 20000; i++) lines.push({ kind: "accessUnit", index: i, offset: i * 1000, size: 500 + i % 250, type: "P", reference: true, sequence: 0,
                poc: 2 * i, statistics: i % 7 ? base[i % base.length] : undefined, nalUnits: [] });
            showDocument(lines.map((line) => JSON.stringify(line)).join("\\n"), "many");
        })()""")
        self.assertEqual(page.value("charts.filter((chart) => chart.parts).map((chart) => chart.text(7))"), ["not known", "not known"])
        self.assertTrue(page.value("$('mixed').checkVisibility()"))
        # Every column has the mean of its access units, and the block types fill it.
        filled = """(() => { const canvas = document.querySelector("#chart-types");
            return canvas.getContext("2d").getImageData(Math.floor(canvas.width / 2), 2, 1, 1).data[3]; })()"""
        page.wait(f"{filled} === 255")
        # Without totals, there is no table.
        self.assertFalse(page.value("$('blocks').checkVisibility()"))

    def open_nal_unit(self, page, name):
        place = page.value(f"[...document.querySelectorAll('#nal-units summary')].findIndex((each) => each.textContent.startsWith('{name} '))")
        self.assertGreaterEqual(place, 0, name)
        page.click(f"#nal-units details:nth-child({place + 1}) summary")
        page.wait(f"document.querySelectorAll('#nal-units details')[{place}].querySelector('pre')")
        return f"#nal-units details:nth-child({place + 1})"

    def test_elements_and_bytes_mark_each_other(self):
        page, _ = self.report("clip.h264")
        sps = self.open_nal_unit(page, "SPS")
        fields = page.value(f"[...document.querySelectorAll('{sps} .fields tr')].slice(1).map((row) => [...row.children].map((each) => each.textContent))")
        names = [field[1] for field in fields]
        place = names.index("profile_idc")
        page.click(f"{sps} .fields tr:nth-child({place + 2})")
        self.assertEqual(int(page.value(MARKED), 16), int(fields[place][2]))
        page.value(f"document.querySelector('{sps} .fields').focus()")
        level = names.index("level_idc")
        for _ in range(level - place):
            page.key("ArrowDown")
        self.assertEqual(int(page.value(MARKED), 16), int(fields[level][2]))
        # A byte leads to its element.
        page.click(f"{sps} pre span:nth-of-type(2)")
        self.assertIn("profile_idc", page.text(f"{sps} .fields .marked"))
        # Elements of 32 bits after emulation prevention bytes.
        place = names.index("time_scale")
        page.click(f"{sps} .fields tr:nth-child({place + 2})")
        marked = bytes.fromhex(page.value(MARKED)).replace(b"\0\0\3", b"\0\0")
        bits = "".join(f"{byte:08b}" for byte in marked)
        self.assertIn(f"{int(fields[place][2]):032b}", bits)

    def test_parameter_sets_that_change_show_what_differs(self):
        page, path = self.report(streams.two_formats())
        sets = [item for item in of_kind(document(path), "parameterSet") if item["name"] == "SPS"]
        self.assertEqual(len(sets), 2)
        titles = page.texts("#sets summary")
        place = next(i for i, title in enumerate(titles) if title.startswith("SPS") and "differ from before" in title)
        page.click(f"#sets details:nth-child({place + 1}) summary")
        page.wait(f"document.querySelectorAll('#sets details')[{place}].querySelector('tr.changed')")
        changed = page.texts(f"#sets details:nth-child({place + 1}) tr.changed")
        self.assertEqual(int(re.search(r"(\d+) elements differ", titles[place])[1]), len(changed))
        old, new = (dict((field[0], field[1]) for field in each["fields"]) for each in sets)
        name = "pic_width_in_mbs_minus1"
        self.assertNotEqual(old[name], new[name])
        self.assertTrue(any(f"{name}{new[name]} (was {old[name]})" in row for row in changed), changed)

    def test_keyframes_have_pictures(self):
        for name in ("clip.mp4", "clip.h264", "clip.h265", "clip-h265.mp4", "interlaced.h264", "ten-bit.h265"):
            page, path = self.report(name)
            keys = [unit["index"] for unit in of_kind(document(path), "accessUnit") if unit.get("keyframe")]
            self.assertEqual(page.value("[...model.thumbnails.keys()]"), keys, name)
            page.wait("[...document.querySelectorAll('#thumbnails img')].every((image) => { image.loading = 'eager'; return image.complete; })")
            sizes = page.value("[...document.querySelectorAll('#thumbnails img')].map((image) => [image.naturalWidth, image.naturalHeight])")
            self.assertTrue(all(width > height > 90 for width, height in sizes), f"{name}: {sizes}")
            page.click("#thumbnails button:last-child")
            self.assertEqual(page.value(CHOSEN), keys[-1])
            self.assertTrue(page.value("document.querySelector('#detail img').complete"))

    def test_times_of_keyframes_are_those_of_the_list(self):
        for name in ("clip.mp4", "clip.mkv", "clip.ts", "clip.h264", "open-gop.h265", "interlaced.h264"):
            page, path = self.report(name)
            heading = page.texts("#columns span")
            column = heading.index("PTS s" if "PTS s" in heading else "Shown s")
            page.choose("#filter", "key")
            times = {int(row[0]): row[column] for row in self.rows(page)}
            self.assertGreater(len(times), 1, name)
            for text in page.texts("#thumbnails span"):
                number, time = text.removeprefix("#").split(", ")
                self.assertEqual(time, f"{times[int(number)]} s", name)
            if heading[column] == "Shown s":
                # Shown times of a byte stream follow from the order of its POC.
                page.choose("#filter", "")
                page.choose("#order", "presentation")
                times = [float(row[column]) for row in self.rows(page)]
                self.assertEqual(times, sorted(times), name)
                self.assertEqual(times[0], 0, name)

    def test_values_of_high_dynamic_range(self):
        page, _ = self.report(streams.high_dynamic_range())
        self.assertEqual([self.facts(page)[name] for name in ("Mastering display", "Content light level")],
                         ["P3 D65, 0.005 to 1,000 cd/m²", "MaxCLL 987, MaxFALL 321 cd/m²"])

    def test_a_hundred_thousand_access_units(self):
        page, _ = self.report("clip.mp4")
        count = 100_000
        page.value(f"""(() => {{
            const lines = [{{ kind: "stream", schema: 1, codec: "h264", container: "mp4", timescale: 50 }}];
            for (let i = 0; i < {count}; i++) lines.push({{ kind: "accessUnit", index: i, offset: i * 1000, size: 500 + i % 250 * 4 + (i === 77777 ? 9999 : 0),
                pts: i + 1, dts: i, duration: 1, sync: i % 250 === 0, type: i % 250 ? "P" : "I", reference: true, sequence: 0, poc: 2 * i,
                keyframe: i % 250 ? undefined : "idr", dpb: 1, nalUnits: [{{ offset: i * 1000 + 4, prefix: 4, size: 996, type: 1, name: "slice" }}] }});
            lines.push({{ kind: "summary", accessUnits: {count}, bytes: 1, i: 400, p: 99600, b: 0, keyframes: 400, reorder: 0, nalUnits: [], errors: 0, warnings: 0, notes: 0, rules: [] }});
            showDocument(lines.map((line) => JSON.stringify(line)).join("\\n"), "many");
        }})()""")
        self.assertEqual(page.text("#shown"), "100,000 of 100,000")
        self.assertLess(len(self.rows(page)), 100)
        page.value("document.querySelector('#list').focus()")
        page.key("End")
        self.assertEqual(page.value(CHOSEN), count - 1)
        page.wait(f"document.querySelector('.row.chosen span').textContent === '{count - 1}'")
        page.value("document.querySelector('#list').scrollTop = 50000 * rowHeight")
        page.wait("[...document.querySelectorAll('.row span:first-child')].some((each) => each.textContent === '50000')")
        self.assertLess(len(self.rows(page)), 100)
        # The one that stands out is drawn, and found by a click on its column.
        page.key("0")
        # Its column is pale at half the height, which its neighbours' mean does not reach, and full at the bottom.
        alpha = f"""(() => {{ const canvas = document.querySelector("#chart-size"), x = Math.floor(77777.5 / {count} * canvas.width);
            return [0.45, 0.95].map((y) => canvas.getContext("2d").getImageData(x, Math.floor(canvas.height * y), 1, 1).data[3]); }})()"""
        page.wait(f"{alpha}[0] > 0")
        pale, full = page.value(alpha)
        self.assertLess(pale, 200)
        self.assertEqual(full, 255)
        self.assertTrue(page.value("$('mixed').checkVisibility()"))
        self.assertEqual(page.text("#column"), str(math.ceil(count / page.value("document.querySelector('#chart-size').width"))))
        page.click("#chart-size", 77777.5 / count, 0.5)
        self.assertEqual(page.value(CHOSEN), 77777)
        page.key("+")
        self.assertEqual(page.value("view.to - view.from"), count / 2)

    def test_a_long_stream_says_what_is_not_listed(self):
        page, path = self.report("clip.mp4")
        items = document(path)
        rate = self.facts(page)["Bit rate"]
        self.assertFalse(page.value("$('omission').checkVisibility()"))
        page.value("""showDocument($("data").textContent.split("\\n").filter((line) => {
            const item = line ? JSON.parse(line) : {};
            return item.kind !== "accessUnit" || item.index < 20;
        }).join("\\n"), "long")""")
        self.assertTrue(page.value("$('omission').checkVisibility()"))
        self.assertTrue(page.text("#omission").startswith("Only the first 20 of 62 access units are listed"), page.text("#omission"))
        self.assertEqual(page.text("#shown"), "20 of 20")
        facts = self.facts(page)
        self.assertEqual(facts["Access units"], str(items[-1]["accessUnits"]))
        for name in ("Duration", "Bit rate"):
            self.assertTrue(facts[name].endswith(" of the part that is listed"), facts[name])
        # Not that of all bytes in the time of a part.
        self.assertLess(float(facts["Bit rate"].split()[0].replace(",", "")), 2 * float(rate.split()[0].replace(",", "")))
        # Keyframes beyond the list are shown, and lead nowhere.
        last = "document.querySelector('#thumbnails button:last-child')"
        self.assertTrue(page.value(f"{last}.disabled"))
        self.assertFalse(page.value("document.querySelector('#thumbnails button').disabled"))

    def test_phone_dark_and_light(self):
        for dark in (False, True):
            for name in ("clip.mp4", "clip.h265"):
                page, _ = self.report(name, width=375, height=700, dark=dark)
                page.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
                self.assertLessEqual(page.value("document.documentElement.scrollWidth"), 375)
                # All texts of a row are visible except the times, to which the list scrolls.
                self.assertLessEqual(page.value("Math.max(...[...document.querySelectorAll('.row span:nth-child(-n+7)')].map((each) => each.getBoundingClientRect().right))"), page.value("document.querySelector('#list').getBoundingClientRect().right"))
                page.value("document.querySelector('#list').scrollLeft = 1000")
                self.assertLessEqual(page.value("document.querySelector('.row span:last-child').getBoundingClientRect().right"), page.value("document.querySelector('#list').getBoundingClientRect().right"))
                self.assertGreaterEqual(page.value("Math.min(...[...document.querySelectorAll('canvas')].map((each) => each.clientWidth))"), 300)
                # Nothing to press is smaller than a finger needs, or hidden.
                self.assertGreater(page.value("Math.min(...[...document.querySelectorAll('button, summary, select, .row')].map((each) => each.checkVisibility() ? each.getBoundingClientRect().height : 99))"), 20)
            colors = page.value("""(() => { const probe = document.createElement("canvas").getContext("2d"), styles = getComputedStyle(document.documentElement);
                return Object.fromEntries(["ground", "panel", "ink", "dim", "accent", "error", "warning", "note", "i", "p", "b", ...[1, 2, 3, 4, 5, 6].map((place) => `part${place}`)].map((name) => {
                    probe.fillStyle = styles.getPropertyValue(`--${name}`); return [name, probe.fillStyle]; })); })()""")
            for name in ("ink", "dim", "error", "warning", "note", "i", "p", "b"):
                for ground in ("ground", "panel"):
                    self.assertGreaterEqual(contrast(colors[name], colors[ground]), 4.5, f"{name} on {ground}, dark: {dark}")
            # Parts of a chart are no text.
            for place in range(1, 7):
                self.assertGreaterEqual(contrast(colors[f"part{place}"], colors["panel"]), 3, f"part {place}, dark: {dark}")
            self.assertEqual(colors["ground"] == "#ffffff", not dark)

    def test_nothing_of_a_stream_becomes_script(self):
        hostile = "</script><script>window.injected = 1</script><img src=x onerror='window.injected = 2'>"
        page, path = self.report(streams.with_user_data(hostile))
        page.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.wait("document.querySelectorAll('#nal-units pre').length")
        self.assertIn("</script>", page.text("#nal-units"))
        self.assertIsNone(page.value("window.injected ?? null"))
        self.assertEqual(page.value("model.units.length"), len(of_kind(document(path), "accessUnit")))
        # A name is a user's, and shown as it is.
        name = "\"><img src=x onerror='window.injected = 3'>&amp;.h264"
        path, page = folder / name, folder / "hostile.html"
        path.write_bytes(streams.clip())
        run("report", path, "-o", page)
        shown = self.open(page.as_uri())
        self.assertEqual(shown.text("#title"), name)
        self.assertIsNone(shown.value("window.injected ?? null"))


def contrast(a, b):
    """Of two colours, as WCAG has it."""
    def luminance(color):
        parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


if __name__ == "__main__":
    unittest.main()
