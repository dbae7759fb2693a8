#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
# Puts page, styles, scripts and the WebAssembly module into one HTML file.
import base64
import gzip
import pathlib
import re
import sys

page = pathlib.Path("Sources/Tool/Page")
inspector = pathlib.Path("Sources/Inspector")


def text(path):
    return path.read_text(encoding="utf-8")


packed = gzip.compress(pathlib.Path(sys.argv[1]).read_bytes(), mtime=0)
module = base64.b64encode(packed).decode("ascii")
worker = text(inspector / "worker.js")
scripts = [text(page / name) for name in ("model.js", "charts.js", "draw.js", "list.js", "syntax.js", "page.js")]
scripts.append(text(inspector / "inspector.js"))
html = text(page / "page.html")
html = html.replace("<title>Stream report</title>", "<title>Stream inspector</title>")
html = html.replace('<h1 id="title">Stream report</h1>', '<h1 id="title">Stream inspector</h1>')
version = re.search(r'"([0-9.]+)"', text(pathlib.Path("Sources/H26x/ReleaseVersion.swift")))[1]
html = html.replace("<!--start-->", text(inspector / "start.html"))
html = html.replace("<!--version-->", f"h26x {version}")
html = html.replace("/*style*/", text(page / "page.css"))
html = html.replace("/*script*/", "\n".join(scripts))
html = html.replace("<!--data-->", "")
html = html.replace(
    '<script type="text/plain" id="data">',
    f'<script type="text/plain" id="worker">{worker}</script>\n<script type="text/plain" id="module">{module}</script>\n'
    '<script type="text/plain" id="data">')
pathlib.Path(sys.argv[2]).write_text(html, encoding="utf-8")
