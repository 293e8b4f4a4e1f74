# SPDX-License-Identifier: BSD-3-Clause
"""Tables that programs write into a page: `<!-- NAME:begin ... -->`, the table, `<!-- NAME:end -->`."""
import re
import sys


def table(head, rows, numbers_from=1):
    """Markdown; columns from `numbers_from` on are right-aligned."""
    line = ["---"] * numbers_from + ["---:"] * (len(head) - numbers_from)
    return "".join("| " + " | ".join(row) + " |\n" for row in [head, line, *rows])


def write(page, name, text):
    with open(page, encoding="utf-8") as file:
        document = file.read()
    block = re.compile(rf"(<!-- {name}:begin [^\n]*-->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    if not block.search(document):
        sys.exit(f"{page} has no place for {name}")
    with open(page, "w", encoding="utf-8") as file:
        file.write(block.sub(lambda found: found[1] + text + found[2], document))
