#!/usr/bin/python3
# SPDX-License-Identifier: MPL-2.0
"""WebKitGTK, in its sandbox, with page.html and a query: browser.py 4.1|6.0 FOLDER QUERY. Prints what the page posts."""
import http.server
import os
import sys
import threading

import gi

version, folder, query = sys.argv[1:4]
gi.require_version("Gtk", "3.0" if version == "4.1" else "4.0")
gi.require_version("WebKit2" if version == "4.1" else "WebKit", version)
from gi.repository import GLib, Gtk  # noqa: E402

if version == "4.1":
    from gi.repository import WebKit2 as WebKit
else:
    from gi.repository import WebKit

loop = GLib.MainLoop()


def end(status, text):
    """Prints the result and ends, from any thread."""
    print(text, flush=True)
    global result
    result = status
    GLib.idle_add(loop.quit)


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the page and the media, with ranges, and takes the result."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path.split("?")[0].lstrip("/")
        place = os.path.dirname(os.path.abspath(__file__)) if name == "page.html" else folder
        try:
            with open(os.path.join(place, os.path.basename(name)), "rb") as file:
                data = file.read()
        except OSError:
            self.send_error(404)
            return
        first, last = 0, len(data) - 1
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes="):
            start, _, stop = asked[len("bytes="):].partition("-")
            first, last = int(start or 0), min(int(stop or last), last)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type", self.guess_type(name))
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        try:
            self.wfile.write(data[first:last + 1])
        except OSError:
            pass  # A browser that seeks closes the connection.

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        end(0, text)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()

if version == "4.1":
    Gtk.init(None)
    context = WebKit.WebContext.get_default()
    context.set_sandbox_enabled(True)
    view = WebKit.WebView.new_with_context(context)
    window = Gtk.Window()
    window.add(view)
    window.show_all()
else:
    Gtk.init()
    view = WebKit.WebView()
    window = Gtk.Window()
    window.set_child(view)
    window.present()
settings = view.get_settings()
settings.set_enable_write_console_messages_to_stdout(True)
settings.set_media_playback_requires_user_gesture(False)
view.connect("web-process-terminated", lambda _, reason: end(1, '{"failed": "the web process ended: %s"}' % reason.value_nick))
view.load_uri(f"http://127.0.0.1:{server.server_address[1]}/page.html?{query}")
result = 1
loop.run()
server.shutdown()
sys.exit(result)
