"""Pages that a report stands in: what those of notebooks say of elements, as far as a report has such elements."""

from __future__ import annotations

JUPYTERLAB = """
.jp-RenderedHTMLCommon { color: #000; font-family: serif; font-size: 14px; line-height: 1.6; padding-right: 20px; }
.jp-RenderedHTMLCommon a:link { text-decoration: none; color: #0288d1; }
.jp-RenderedHTMLCommon h3, .jp-RenderedHTMLCommon h4, .jp-RenderedHTMLCommon h5 {
  line-height: 1; font-weight: 500; margin: 1.2em 0 .8em 0; font-size: 1.44em; }
.jp-RenderedHTMLCommon h3:first-child, .jp-RenderedHTMLCommon h4:first-child { margin-top: calc(.5 * 1.2em); }
.jp-RenderedHTMLCommon ul:not(.list-inline), .jp-RenderedHTMLCommon ol:not(.list-inline) { padding-left: 2em; }
.jp-RenderedHTMLCommon ul { list-style: disc; }
.jp-RenderedHTMLCommon ul ul { list-style: square; }
.jp-RenderedHTMLCommon ol, .jp-RenderedHTMLCommon ul { margin-bottom: 1em; }
.jp-RenderedHTMLCommon pre, .jp-RenderedHTMLCommon code { border: 0; background-color: #fff; color: #000;
  font-family: serif; font-size: inherit; line-height: 1.3; padding: 0; white-space: pre-wrap; }
.jp-RenderedHTMLCommon :not(pre) > code { background-color: #eee; padding: 1px 5px; }
.jp-RenderedHTMLCommon table { border-collapse: collapse; border-spacing: 0; border: none; color: #000;
  font-size: 12px; table-layout: fixed; margin-left: auto; margin-bottom: 1em; margin-right: auto; }
.jp-RenderedHTMLCommon thead { border-bottom: 1px solid #bdbdbd; vertical-align: bottom; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr { vertical-align: middle;
  padding: .5em; line-height: normal; white-space: normal; max-width: none; border: none; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td, :not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon tr { text-align: right; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: #fff; }
.jp-RenderedHTMLCommon tbody tr:nth-child(even) { background: #f5f5f5; }
.jp-RenderedHTMLCommon p { text-align: left; margin: 0; margin-bottom: 1em; }
.jp-RenderedHTMLCommon img, .jp-RenderedHTMLCommon svg { max-width: 100%; height: auto; }
.jp-OutputArea-output pre { border: none; margin: 0; padding: 0; word-break: break-all; white-space: pre-wrap; }
.jp-OutputArea-output dl, .jp-OutputArea-output dt, .jp-OutputArea-output dd { display: block; }
.jp-OutputArea-output dl { width: 100%; overflow: hidden; padding: 0; margin: 0; }
.jp-OutputArea-output dt { font-weight: bold; float: left; width: 20%; padding: 0; margin: 0; }
.jp-OutputArea-output dd { float: left; width: 80%; padding: 0; margin: 0; }
"""
"""Of JupyterLab 4, and of what nbconvert makes with its template "lab"."""

CLASSIC = """
html { font-size: 10px; }
body { font: 13px/1.43 serif; color: #000; }
dl { margin-top: 0; margin-bottom: 18px; }
dt, dd { line-height: 1.43; }
dt { font-weight: bold; }
code { padding: 2px 4px; font-size: 90%; color: #c7254e; background-color: #f9f2f4; border-radius: 2px; }
pre { display: block; padding: 8.5px; margin: 0 0 9px; font-size: 12px; word-break: break-all; color: #333;
  background-color: #f5f5f5; border: 1px solid #ccc; }
.rendered_html h3, .rendered_html h4 { font-size: 128.6%; margin: 1.55em 0 0 0; font-weight: bold; line-height: 1; }
.rendered_html h5 { font-size: 100%; margin: 2em 0 0 0; font-style: italic; }
.rendered_html ul:not(.list-inline), .rendered_html ol:not(.list-inline) { padding-left: 2em; }
.rendered_html ul { list-style: disc; }
.rendered_html * + ul { margin-top: 1em; }
.rendered_html pre { margin: 1em 2em; padding: 0; background-color: #fff; }
.rendered_html p code { padding: 1px 5px; }
.rendered_html table { margin-left: auto; margin-right: auto; border: none; font-size: 12px; table-layout: fixed; }
.rendered_html thead { border-bottom: 1px solid black; vertical-align: bottom; }
.rendered_html tr, .rendered_html th, .rendered_html td { text-align: right; vertical-align: middle; padding: .5em;
  line-height: normal; white-space: normal; border: none; }
.rendered_html tbody tr:nth-child(odd) { background: #f5f5f5; }
.rendered_html * + table, .rendered_html * + p { margin-top: 1em; }
.rendered_html img { display: block; margin-left: auto; margin-right: auto; }
.rendered_html img, .rendered_html svg { max-width: 100%; height: auto; }
.rendered_html :link { text-decoration: underline; }
svg:not(:root) { overflow: hidden; }
"""
"""Of the notebooks that build on Bootstrap: Jupyter's classic ones, and nbconvert's template "classic"."""

COLAB = """
body { font: 14px Roboto, sans-serif; }
table { border: 0; border-collapse: collapse; border-spacing: 0; }
.output_html table, .output-html table { border: none; font-size: 12px; }
.output_html td, .output_html th { border: 1px solid #bdbdbd; text-align: right; padding: 8px; white-space: normal; }
.output_html tbody tr:nth-child(odd) { background: #f5f5f5; }
.output_html h3, .output_html h4, .output_html h5 { font-weight: 400; margin: 20px 0; }
.output_html code, .output_html pre { font-size: 14px; background: #f7f7f7; white-space: pre; }
.output_html p { margin: 8px 0; }
.output_html ul, .output_html ol { margin: 8px 0; padding-left: 40px; }
.output_html a { color: #1155cc; }
"""
"""Of the frame in which Colab shows an output, and of more that it could say there."""

STYLES = {"jupyterlab": JUPYTERLAB, "classic": CLASSIC, "colab": COLAB}

_AROUND = "jp-RenderedHTMLCommon jp-RenderedHTML jp-OutputArea-output rendered_html output_html output-html"


def around(fragment: str, style: str) -> str:
    """A page with a report in it, and with this style."""
    root = '<meta charset="utf-8"><style>body { margin: 0 } #output { width: 900px; padding: 0 !important }'
    return f'<!DOCTYPE html>{root}{style}</style><body><div id="output" class="{_AROUND}">{fragment}</div>'
