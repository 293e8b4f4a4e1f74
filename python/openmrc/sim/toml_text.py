# SPDX-License-Identifier: BSD-3-Clause
"""Values of Python as TOML, as far as scenarios need it."""
import json


def value(thing):
    """One value: a table is written in one line."""
    if isinstance(thing, bool):
        return "true" if thing else "false"
    if isinstance(thing, str):
        return text(thing)
    if isinstance(thing, int | float):
        return repr(thing)
    if isinstance(thing, dict):
        return "{" + ", ".join(f"{key(name)} = {value(of)}" for name, of in thing.items()) + "}"
    if isinstance(thing, list | tuple):
        return "[" + ", ".join(map(value, thing)) + "]"
    raise TypeError(f"a scenario has text, numbers, true and false, lists and dicts; {thing!r} is none of them")


def text(thing):
    """TOML's basic strings are JSON's, but for one character."""
    return json.dumps(thing, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name):
    """A key: bare if it can be."""
    if not isinstance(name, str):
        raise TypeError(f"the keys of a scenario are text, and {name!r} is not")
    bare = name and all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name)
    return name if bare else text(name)


def document(table):
    """A dict as the text of a file."""
    return "".join(f"{key(name)} = {value(of)}\n" for name, of in table.items())
