"""Text files line by line: each line is read by itself, whatever the others hold (rule
R1).

A line of CSV is a record if it is whole: as many fields as the header, and quotation
marks only around a field (doubled inside). Any other line is left out. So text in
quotation marks ends with its line: a mark that is never closed costs its own line and
none of those after it. A field that is not UTF-8 is empty, which stands for NULL.

A text with a line break in it cannot be told from a stray mark by looking at one line,
so its record is left out too. The lines it is made of are hardly ever whole, but if one
is, it is treated as a record of its own.

DuckDB gets to see only lines that it cannot misread: a file that is not plain is copied
without its odd lines. (Its reader joins lines between quotation marks. If its buffer
ends, it may lose a last line without an end, or take one half of "\\r\\n" for text.
Lines of JSON it keeps apart, but it stops at one that is very long.)
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dither.query.engines.duckdb.connection import PrivateFolder

__all__ = [
    "LONGEST",
    "CsvLines",
    "JsonLines",
    "PlainFile",
    "blocks",
    "body",
    "header_of",
    "opened",
]

BLOCK = 1 << 19
LONGEST = 2_000_000
LONGEST_JSON = 16_000_000
"""Lines of more bytes are left out."""
PIECE, LONGEST_HEADER = 1 << 14, 1 << 20
HEADER = re.compile(rb'(?:[^"\r\n]++|"[^"]*+")*+')
QUOTE, END = ord('"'), ord("\n")
MARK = b"\xef\xbb\xbf"
File = gzip.GzipFile | io.BufferedReader


def opened(path: Path) -> File:
    return gzip.GzipFile(path) if path.suffix.lower() == ".gz" else path.open("rb")


class JsonLines:
    """How lines of JSON are read. Inside of one, "\\r" is a blank."""

    ends = (b"\n",)

    @property
    def longest(self) -> int:
        return LONGEST_JSON

    def plain(self, block: bytes) -> bool:
        return not _long(block, self.longest)

    def tidied(self, block: bytes) -> bytes:
        """The lines of a block that are kept."""
        return b"".join(
            line + b"\n" for line in block.split(b"\n") if len(line) <= self.longest
        )


class CsvLines:
    """How lines of CSV with one separator are read."""

    ends = (b"\n", b"\r")

    def __init__(self, separator: str) -> None:
        sign = separator.encode()
        field = rb'"[^"]*+(?:""[^"]*+)*+"|[^"%b]*+' % re.escape(sign)
        self._field = re.compile(rb"(?:\A|(?<=%b))(?:%b)" % (re.escape(sign), field))
        self._whole = re.compile(
            rb"(?:%b)(?:%b(?:%b))*+" % (field, re.escape(sign), field)
        )
        self._beside = np.zeros(256, bool)
        self._beside[[QUOTE, END, ord(separator)]] = True

    @property
    def longest(self) -> int:
        return LONGEST

    def fields(self, line: bytes) -> list[bytes] | None:
        """The fields of a line without their quotation marks; None if it is not whole."""
        if not self._whole.fullmatch(line):
            return None
        return [_unquoted(field) for field in self._field.findall(line)]

    def plain(self, block: bytes) -> bool:
        """Whether all lines are what DuckDB reads by itself: whole, in UTF-8, not
        empty, and with a plain end.
        """
        if (
            not block.endswith(b"\n")
            or b"\r" in block
            or b"\n\n" in block
            or block.startswith(b"\n")
        ):
            return False
        return (
            _decodes(block) and not _long(block, self.longest) and self._closed(block)
        )

    def _closed(self, block: bytes) -> bool:
        """Whether quotation marks open after a separator and close before one, on the
        same line.

        Of those in a block, every second one opens: if one line had an odd number, its
        end would lie between two.
        """
        if b'"' not in block:
            return True
        signs = np.frombuffer(block, np.uint8)
        marks = np.flatnonzero((signs == QUOTE) | (signs == END))
        quotes = signs[marks] == QUOTE
        ends = np.flatnonzero(~quotes)
        if ((ends - np.arange(len(ends))) & 1).any():
            return False
        places = marks[quotes]
        # Nothing stands before the first sign but the end of the line before.
        if places[0] == 0:
            signs = np.concatenate(([np.uint8(END)], signs))
            places = places + 1
        before, after = signs[places[0::2] - 1], signs[places[1::2] + 1]
        return bool(self._beside[before].all() and self._beside[after].all())

    def kept(self, line: bytes) -> bytes | None:
        """A line as DuckDB may see it; None for one that is left out."""
        if (
            not line
            or len(line) > self.longest
            or (b'"' in line and not self._whole.fullmatch(line))
        ):
            return None
        return line if _decodes(line) else self._field.sub(_readable, line)

    def tidied(self, block: bytes) -> bytes:
        """The lines of a block that are kept, each with a plain end."""
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if self.plain(block):
            return block
        kept = [line for line in map(self.kept, block.split(b"\n")) if line is not None]
        return b"".join(line + b"\n" for line in kept)


def _unquoted(field: bytes) -> bytes:
    return field[1:-1].replace(b'""', b'"') if field.startswith(b'"') else field


def _decodes(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _readable(field: re.Match[bytes]) -> bytes:
    return field[0] if _decodes(field[0]) else b'""'


def _long(block: bytes, longest: int) -> bool:
    """Whether there is a line of more bytes."""
    start = 0
    while len(block) - start > longest:
        end = block.rfind(b"\n", start, start + longest + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def header_of(path: Path) -> bytes:
    """The first record of a file, without a byte order mark. It is public, and its
    names may hold line breaks.
    """
    with opened(path) as file:
        return _parted(file)[0].removeprefix(MARK)


def _parted(file: File) -> tuple[bytes, bytes]:
    """The header, and what was read behind it: the end of its line and more."""
    start, end = b"", 0
    while len(start) < LONGEST_HEADER and (more := file.read(PIECE)):
        start += more
        found = HEADER.match(start)
        end = found.end() if found else 0
        if start[end : end + 1] in (b"\n", b"\r"):
            return start[:end], start[end:]
    if end < len(start):  # at a mark that is never closed
        end = len(start.splitlines()[0])
    return start[:end], start[end:]


def blocks(
    file: File, lines: CsvLines | JsonLines, rest: bytes = b""
) -> Iterator[bytes]:
    """A file in pieces of whole lines. Of a line that is too long there is enough to
    see that it is.
    """
    while data := file.read(BLOCK):
        data = rest + data
        cut = max(map(data.rfind, lines.ends)) + 1
        if cut:
            yield data[:cut]
        rest = data[cut : cut + lines.longest + 1]
    if rest:
        yield rest


def body(file: File, lines: CsvLines | JsonLines) -> Iterator[bytes]:
    """The rows of a file, in pieces of whole lines; what is behind the header in CSV."""
    return blocks(file, lines, _parted(file)[1] if isinstance(lines, CsvLines) else b"")


class PlainFile:
    """A file that DuckDB reads line by line: the one at `path`, or a copy that is
    deleted with this object.
    """

    def __init__(self, source: Path, lines: CsvLines | JsonLines) -> None:
        self.path = source
        if not _is_plain(source, lines):
            self._folder = PrivateFolder()
            self.path = self._folder.path / "plain"
            _copy(source, self.path, lines)


def _is_plain(source: Path, lines: CsvLines | JsonLines) -> bool:
    with opened(source) as file:
        if isinstance(file, gzip.GzipFile):  # to unpack it once is enough
            return False
        rest = b""
        if isinstance(lines, CsvLines):
            header, rest = _parted(file)
            if not rest.startswith(b"\n") or b"\n" in header or b"\r" in header:
                return False
        return all(map(lines.plain, blocks(file, lines, rest[1:])))


def _copy(source: Path, target: Path, lines: CsvLines | JsonLines) -> None:
    with opened(source) as file, target.open("wb") as copy:
        if isinstance(lines, CsvLines):
            copy.write(b"header\n")
        for block in body(file, lines):
            copy.write(lines.tidied(block))
