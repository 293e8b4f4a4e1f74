# SPDX-License-Identifier: BSD-3-Clause
"""Screens of a terminal as SVG. Text stays text, and every run of characters has the width of its columns."""

from xml.sax.saxutils import escape, quoteattr

CELL_WIDTH, CELL_HEIGHT, MARGIN, FONT_SIZE, BASELINE = 8.4, 18, 14, 14, 13
LAST_SECONDS = 5  # the last screen stays for so long
COLOURS = {"default": "#d8dee4", "red": "#ff7b72", "green": "#56d364", "brown": "#e3b341", "blue": "#79c0ff",
           "magenta": "#d2a8ff", "cyan": "#76e3ea", "white": "#ffffff", "black": "#8b949e"}
BACKGROUND = "#161b22"


def row_svg(runs):
    """The runs of a row; blanks are left out, they only move what follows."""
    parts = []
    for run in runs:
        text = run.text.strip(" ")
        if not text:
            continue
        column = run.column + len(run.text) - len(run.text.lstrip(" "))
        look = f' fill="{COLOURS.get(run.colour, COLOURS["default"])}"' if run.colour != "default" else ""
        look += ' font-weight="bold"' if run.bold else ""
        parts.append(f'<text x="{column * CELL_WIDTH:.1f}" textLength="{len(text) * CELL_WIDTH:.1f}"{look}>'
                     f"{escape(text)}</text>")
    return "".join(parts)


def screen_svg(frame):
    return "".join(f'<g transform="translate(0 {number * CELL_HEIGHT + BASELINE})">{row_svg(runs)}</g>\n'
                   for number, runs in enumerate(frame.rows) if row_svg(runs))


def window(columns, rows, title, style, body):
    width, height = columns * CELL_WIDTH, rows * CELL_HEIGHT
    whole_width, whole_height = width + 2 * MARGIN, height + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole_width:g} {whole_height:g}" '
        f'width="{whole_width:g}" height="{whole_height:g}" role="img" aria-label={quoteattr(title)}>\n'
        "<!-- SPDX-License-Identifier: BSD-3-Clause; written by scripts/record-terminal -->\n"
        f"<style>text {{ white-space: pre; font: {FONT_SIZE}px monospace }}{style}</style>\n"
        f'<rect width="{whole_width:g}" height="{whole_height:g}" rx="8" fill="{BACKGROUND}"/>\n'
        f'<svg x="{MARGIN}" y="{MARGIN}" width="{width:g}" height="{height:g}" fill="{COLOURS["default"]}">\n'
        f"{body}</svg>\n</svg>\n")


def still(frame, columns, rows, title):
    return window(columns, rows, title, "", screen_svg(frame))


def animated(frames, columns, rows, title):
    """All screens below each other, moved past a window. Who wants no motion sees the last one."""
    height = rows * CELL_HEIGHT
    total = frames[-1].seconds + LAST_SECONDS
    steps = "".join(f" {frame.seconds / total:.3%} {{ transform: translateY(-{number * height}px) }}"
                    for number, frame in enumerate(frames))
    last = f"translateY(-{(len(frames) - 1) * height}px)"
    style = (f"\n@keyframes film {{{steps} to {{ transform: {last} }} }}"
             f"\n#film {{ animation: film {total:.1f}s step-end infinite }}"
             f"\n@media (prefers-reduced-motion) {{ #film {{ animation: none; transform: {last} }} }}\n")
    strip = "".join(f'<svg y="{number * height}" overflow="visible">\n{screen_svg(frame)}</svg>\n'
                    for number, frame in enumerate(frames))
    return window(columns, rows, title, style, f'<g id="film">\n{strip}</g>\n')
