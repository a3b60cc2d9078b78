"""Write the JavaScript client as one module: clients/js/dither.js, from clients/js/src.

    python tools/bundle_js.py

Every module is written once, after those that it imports. Names are unique over all of
them, so their imports and exports can simply go.
"""

from __future__ import annotations

import re
from pathlib import Path

CLIENT = Path(__file__).parent.parent / "clients" / "js"
SOURCE, FILE = CLIENT / "src", CLIENT / "dither.js"
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r'^export \{ (\w+) \} from "\./([^"]+)";$', re.MULTILINE)
DEFINED = re.compile(r"^(?:async function|function|const|class) (\w+)", re.MULTILINE)

HEAD = """\
/**
 * Answer questions on a device so that nobody, not even the server that asks, can know
 * what it holds. One module, no dependencies: WebCrypto and IndexedDB do the rest.
 *
 * It does, bit for bit, what Dither's Python client does; test vectors tie the two.
 * Made from src/ by tools/bundle_js.py: change it there.
 */
"""


def ordered(name: str, done: dict[str, str]) -> None:
    """Add a module to those that are done, after all that it imports."""
    if name in done:
        return
    done[name] = ""  # modules that import one another come in any order
    text = (SOURCE / name).read_text(encoding="utf-8")
    for other in IMPORT.findall(text):
        ordered(other, done)
    body = IMPORT.sub("", text)
    del done[name]  # behind what it imports
    done[name] = re.sub(r"^export ", "", body, flags=re.MULTILINE)


def bundle() -> str:
    """The one module."""
    index = (SOURCE / "index.js").read_text(encoding="utf-8")
    public = EXPORT.findall(index)
    done: dict[str, str] = {}
    for _, module in public:
        ordered(module, done)
    text = "\n".join(part.strip() + "\n" for part in done.values())
    names = DEFINED.findall(text)
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise SystemExit(f"these names are in two modules: {', '.join(sorted(twice))}")
    shown = ", ".join(name for name, _ in public)
    return f"{HEAD}\n{text}\nexport {{ {shown} }};\n"


if __name__ == "__main__":
    FILE.write_text(bundle(), encoding="utf-8")
