#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants mistakes in a tutorial and shows that tutorial_test.py finds them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
RIGHT = """# A tutorial

```console
$ cat > file <<'END'
$ not a command
3 lines
END
$ cat file | \\
    grep lines
3 lines
$ name=world; sleep 0.1 &
$ echo hello $name; seq 5
hello world
...
5
```

```sh
this is not run
```

<!-- measured -->
```console
$ echo "7.25 us at 0xff on h1"
1.50 us at 0x1a on h1
```
"""


class TutorialSelfTest(unittest.TestCase):
    def setUp(self):
        self.page = Path(self.enterContext(tempfile.TemporaryDirectory())) / "page.md"

    def follow(self, text, *options):
        self.page.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, HERE / "tutorial_test.py", "--mrc", "/bin/true", *options, self.page],
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_page_that_is_right(self):
        self.assertEqual(self.follow(RIGHT), (0, "page.md: 5 commands, as shown\n"))

    def test_mistakes_are_found(self):
        for old, new, said in (
            ("grep lines", "grep nothing", "grep nothing\nended with 1"),
            ("hello world\n", "hello moon\n", "and not\nhello moon"),
            ("5\n```", "6\n```", "and not\nhello world"),
            ("...\n5\n", "5\n", "and not\nhello world"),
            ("on h1\n```", "on h2\n```", "and not\n1.50 us"),
            ("<!-- measured -->\n", "", "and not\n1.50 us"),
            (RIGHT, "# Empty\n", "has no commands"),
        ):
            with self.subTest(new):
                code, shown = self.follow(RIGHT.replace(old, new))
                self.assertEqual(code, 1)
                self.assertIn(said, shown)

    def test_numbers_are_written(self):
        self.assertEqual(self.follow(RIGHT, "--write")[0], 0)
        written = RIGHT.replace("1.50 us at 0x1a on h1", "7.25 us at 0xff on h1")
        self.assertEqual(self.page.read_text(encoding="utf-8"), written)


if __name__ == "__main__":
    unittest.main()
