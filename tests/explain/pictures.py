"""What every picture has to be: well-formed, described, without anything from outside,
and the same every time.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as Xml

from dither.explain import Explanation
from dither.explain.picture import ACCENT

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {"title", "desc", "text", "path", "rect", "circle"}


def check(explanation: Explanation) -> Xml.Element:
    """The parsed picture, once it was found to be in order."""
    text = explanation.svg()
    assert text == explanation.svg() == explanation._repr_svg_()
    root = Xml.fromstring(text)
    assert root.get("role") == "img"
    title, description = list(root)[:2]
    assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
    assert title.text == explanation.title
    assert description.text == " ".join(explanation.sentences)
    assert {
        each.tag.removeprefix(SVG) for each in root.iter() if each is not root
    } <= SHAPES
    check_colours(root)
    check_places(root)
    return root


def check_colours(root: Xml.Element) -> None:
    used = {each.get(name) for each in root.iter() for name in ("fill", "stroke")}
    assert used <= {None, "none", "currentColor", ACCENT}
    assert all(each.get("fill") == "currentColor" for each in root.iter(f"{SVG}text"))
    assert root.get("font-family") == "sans-serif"


def check_places(root: Xml.Element) -> None:
    """Everything lies inside the picture, and is a number."""
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    for path in root.iter(f"{SVG}path"):
        corners = re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path.get("d", ""))
        assert corners
        assert all(
            0 <= float(x) <= width and 0 <= float(y) <= height for x, y in corners
        )
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x", "")) <= width
        assert 0 <= float(text.get("y", "")) <= height
        assert not re.search(r"\b(nan|inf)\b", text.text or "")


def words(root: Xml.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]
