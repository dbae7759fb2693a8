# SPDX-License-Identifier: MPL-2.0
"""The pictures of the report and of the inspector in README and docs/program.md: `make pictures`."""
import pathlib
import subprocess
import sys
import tempfile

from browser import Browser

root = pathlib.Path(__file__).resolve().parents[3]
out = root / "Sources/Inspector/Pictures"
program = sys.argv[1] if len(sys.argv) > 1 else root / ".build/tool/h26x"


def save(page, name):
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        page.picture(file.name)
        (out / name).write_bytes(pathlib.Path(file.name).read_bytes())
    print(f"{out / name}: {(out / name).stat().st_size} bytes")


def show(page, selector):
    page.value(f"document.querySelector('{selector}').scrollIntoView({{ block: 'start' }})")


def main():
    out.mkdir(exist_ok=True)
    browser = Browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.html"
            subprocess.run([program, "report", "--deep", root / "Tests/Media/clip.mp4", "-o", report], check=True)
            page = browser.page(report.as_uri(), width=1100, height=1262)
            page.wait("[...document.querySelectorAll('#thumbnails img')].every((image) => image.complete && image.naturalWidth)")
            page.choose("#rate", "picture")
            page.write("#goto", "24")
            show(page, "#h-keyframes")
            page.wait("new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(() => end(true))))")
            save(page, "report.png")
        page = browser.page((root / ".build/inspector/inspector.html").as_uri(), width=1100, height=620, dark=True)
        page.files("#file", root / "Tests/Media/open-gop.h265")
        page.wait("!$('report').hidden && !$('nal-units').hasAttribute('aria-busy')")
        page.wait("(() => { const unit = [...document.querySelectorAll('#nal-units details')].find((each) => each.textContent.startsWith('SPS')); unit.open = true; return unit.querySelector('.fields'); })()")
        rows = page.value("[...document.querySelectorAll('#nal-units details[open] .fields td:nth-child(2)')].map((each) => each.textContent)")
        page.value(f"document.querySelectorAll('#nal-units details[open] .fields tr')[{rows.index('pic_width_in_luma_samples')} + 1].click()")
        page.value("document.querySelector('#nal-units details[open]').scrollIntoView()")
        page.value("document.querySelector('#nal-units details[open] .fields .marked').scrollIntoView({ block: 'center' })")
        show(page, "#h-units")
        page.wait("new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(() => end(true))))")
        save(page, "inspector.png")
    finally:
        browser.close()


main()
