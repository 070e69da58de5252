"""What the packages for generators in Python share; those for Node have the same cases in www/test/unit.

python3 www/integrations/shared-python/test_options.py
"""

import json
import os
import sys
import unittest
from html.parser import HTMLParser
from pathlib import Path

import siskin_integration
from siskin_integration import SiskinError

_CASES = Path(__file__).resolve().parents[3] / "tests/cases/box-options.json"


class _Element(HTMLParser):
    """The first element of a text, as browsers read it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.read = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.read = self.read or (tag, attributes)


class Options(unittest.TestCase):
    def test_options_become_attributes_or_are_refused(self) -> None:
        for case in json.loads(_CASES.read_text(encoding="utf-8")):
            with self.subTest(case["options"]):
                if "attributes" in case:
                    element = _Element(siskin_integration.box(case["options"])).read
                    self.assertEqual(element, ("siskin-search", case["attributes"]))
                else:
                    with self.assertRaises(SiskinError) as raised:
                        siskin_integration.box(case["options"])
                    self.assertTrue(str(raised.exception).startswith(case["error"]), raised.exception)

    def test_an_address_is_text_in_its_element(self) -> None:
        element = _Element(siskin_integration.script('/a?b="c"&d/siskin.js')).read
        self.assertEqual(element, ("script", {"type": "module", "src": '/a?b="c"&d/siskin.js'}))


class Command(unittest.TestCase):
    def failure(self, command: str) -> str:
        """What is said where SISKIN_BINARY is ``command``."""
        os.environ["SISKIN_BINARY"] = command
        self.addCleanup(os.environ.pop, "SISKIN_BINARY")
        with self.assertRaises(SiskinError) as raised:
            siskin_integration.index("public")
        return str(raised.exception)

    def test_a_command_that_is_not_there_is_named(self) -> None:
        self.assertTrue(self.failure("/nowhere/siskin").startswith("cannot run /nowhere/siskin: "))

    def test_a_command_that_fails_ends_the_build(self) -> None:
        # Python knows no program index, and says so.
        self.assertEqual(self.failure(sys.executable), "siskin index failed; its error stands above")


if __name__ == "__main__":
    # Node's tests print to standard output too.
    unittest.main(testRunner=unittest.TextTestRunner(stream=sys.stdout))
