"""Chromium without a window: what a page looks like there, and how wide it is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_PROBE = """
<!DOCTYPE html><meta charset="utf-8"><style>body { margin: 0; background: #888 }
iframe { border: 0; display: block; width: WIDTHpx; height: 400px }</style>
<iframe id="shown"></iframe><pre id="seen" hidden></pre>
<script>
const frame = document.getElementById("shown");
function numbers(colour) { return colour.match(/[\\d.]+/g).map(Number); }
function luminance(rgb) {
  const [r, g, b] = rgb.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function ground(element) {
  for (let one = element; one; one = one.parentElement) {
    const found = numbers(frame.contentWindow.getComputedStyle(one).backgroundColor);
    if (found.length === 3 || found[3] > 0) return found;
  }
  return [255, 255, 255];
}
frame.onload = () => {
  const page = frame.contentDocument, root = page.documentElement, style = frame.contentWindow.getComputedStyle;
  page.querySelectorAll("details").forEach(one => one.open = OPEN);
  frame.style.height = root.scrollHeight + "px";
  const words = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT), low = [];
  let read = 0;
  for (let node = words.nextNode(); node; node = words.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest("svg, style")) continue;
    read += 1;
    const pair = [luminance(numbers(style(element).color)), luminance(ground(element))].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < 4.5) low.push([contrast.toFixed(2), node.data.trim().slice(0, 40)]);
  }
  const cut = [...page.querySelectorAll("svg.tlp-picture text")].filter(one => {
    const box = one.getBoundingClientRect(), around = one.ownerSVGElement.getBoundingClientRect();
    return one.getClientRects().length && (box.left < around.left - 6 || box.right > around.right + 6);
  }).map(one => one.textContent);
  const looks = ["color", "backgroundColor", "fontFamily", "fontSize", "fontWeight", "fontStyle", "lineHeight", "float",
    "listStyleType", "textAlign", "textDecorationLine", "verticalAlign", "whiteSpace", "borderTop", "display"];
  const boxes = [...page.querySelectorAll("div.tlp *:not(svg *):not(style)")].map(one => {
    const box = one.getBoundingClientRect(), around = one.closest("div.tlp").getBoundingClientRect(), has = style(one);
    const place = [box.left - around.left, box.top - around.top, box.width, box.height].map(Math.round).join(" ");
    return `${one.tagName} ${one.getAttribute("class")} ${place} ${looks.map(name => has[name]).join("; ")}`;
  });
  const sideways = [...page.querySelectorAll(".tlp-sideways")].map(one => {
    const below = one.parentElement.nextElementSibling;
    return [one.getBoundingClientRect().width > 0, below.scrollWidth > below.clientWidth];
  });
  const seen = {
    sideways: sideways,
    boxes: boxes,
    width: root.scrollWidth, room: root.clientWidth, height: root.scrollHeight, read: read, low: low, cut: cut,
    ground: style(page.body).backgroundColor, requests: performance.getEntriesByType("resource").length
      + frame.contentWindow.performance.getEntriesByType("resource").length,
  };
  document.getElementById("seen").textContent = JSON.stringify(seen);
};
frame.srcdoc = PAGE;
</script>
"""


def look(page: str, folder: Path, *, width: int, dark: bool, opened: bool = True) -> dict[str, Any]:
    """What there is to measure of a page in a frame of so many pixels; all that folds is opened if `opened`.

    `low`: texts whose contrast is too low, `cut`: words of pictures that are outside of them, `boxes`: where each
    element of a report in another page is, and what it looks like, `sideways`: for each picture whether it is said that
    it scrolls, and whether it does.
    """
    host = _host(page, folder, width, opened)
    dumped = _run("--dump-dom", "--virtual-time-budget=4000", host, dark=dark).stdout
    found = re.search(r'<pre id="seen" hidden="">(.+?)</pre>', dumped, re.DOTALL)
    assert found is not None, dumped[-400:]
    seen: dict[str, Any] = json.loads(unescape(found[1]))
    return seen


def screenshot(page: str, folder: Path, *, width: int, height: int, dark: bool, opened: bool = False) -> Path:
    """A picture of the page in a frame of so many pixels, as a PNG file."""
    file = folder / "shown.png"
    host = _host(page, folder, width, opened)
    size = f"--window-size={max(width, 500)},{height}"
    _run(f"--screenshot={file}", size, "--hide-scrollbars", "--virtual-time-budget=4000", host, dark=dark)
    return file


def _host(page: str, folder: Path, width: int, opened: bool) -> str:
    """A window of Chromium is 500 pixels wide at least; a frame in it can have the width of a phone."""
    text = json.dumps(page).replace("<", "\\u003c")
    host = folder / "host.html"
    filled = _PROBE.replace("WIDTH", str(width)).replace("OPEN", "true" if opened else "one.open")
    host.write_text(filled.replace("PAGE", text), encoding="utf-8")
    return host.as_uri()


def _run(*arguments: str, dark: bool) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    # The pages are the tests' own, so that the sandbox, which needs more rights than a container gives, is not missed.
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", *scheme, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
