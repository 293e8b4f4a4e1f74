# SPDX-License-Identifier: BSD-3-Clause
"""Tables for people, and in documents between two markers."""
import statistics


def table(rows):
    """Aligned; the first row has the titles."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def replace_between_markers(path, name, text):
    """What stands between the lines <!-- name --> and <!-- end -->."""
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(f"<!-- {name} -->\n")
    after = rest.split("<!-- end -->\n", 1)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}<!-- {name} -->\n{text}<!-- end -->\n{after}")


def spread(values, form):
    """The median, and the least and the greatest where they differ from it."""
    texts = [form.format(value) for value in (statistics.median(values), min(values), max(values))]
    return texts[0] if len(set(texts)) == 1 else f"{texts[0]} ({texts[1]} to {texts[2]})"


def publish(rows, problems, name, document=None):
    """Prints the table and what is wrong, writes the table to the document; returns the exit status."""
    text = table(rows)
    print(text)
    if document:
        replace_between_markers(document, name, text)
    for problem in problems:
        print(problem)
    return 1 if problems else 0
