"""`dither doctor`: which parts work here, and how to install the others. It does not
import the parts that it looks for.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib import metadata, util
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither._version import __version__
from dither.cli.completing import files
from dither.cli.output import json_option, print_json
from dither.errors import ArgumentError
from dither.progress import working

if TYPE_CHECKING:
    from dither.query.catalogue.model import Catalogue

__all__ = ["BASE", "EXTRAS", "command"]

JAVA_NEEDED = 17

BASE = {
    "numpy": "numpy",
    "cryptography": "cryptography",
    "duckdb": "duckdb",
    "sqlglot": "sqlglot",
    "rich": "rich",
    "click": "click",
}
"""Distribution to module: metadata knows the one, the import system the other."""

EXTRAS = {
    "accounting": {"scipy": "scipy", "dp-accounting": "dp_accounting"},
    "postgres": {"psycopg": "psycopg"},
    "spark": {"pyspark": "pyspark"},
    "ibis": {"ibis-framework": "ibis"},
    "learn": {"torch": "torch", "scikit-learn": "sklearn"},
    "science": {"scipy": "scipy", "pillow": "PIL"},
    "serve": {
        "starlette": "starlette",
        "uvicorn": "uvicorn",
        "httptools": "httptools",
        "uvloop": "uvloop",
    },
}

PURPOSE = {
    "accounting": "tight composition",
    "postgres": "engine, shared ledger",
    "spark": "engine",
    "ibis": "expressions",
    "learn": "models",
    "science": "graphs, maps, genomes",
    "serve": "collector of device messages",
}

FROM_CHECKOUT = (
    "Run the commands in the checkout of Dither. If you installed a wheel, write the path"
    " of the wheel instead of the dot."
)
AES = {
    True: "AES-256-CTR\nin hardware",
    False: "AES-256-CTR\nin software",
    None: "AES-256-CTR",
}


@dataclass(frozen=True)
class Part:
    """One optional part: what was found of it (None: absent) and what is still missing."""

    name: str
    purpose: str
    found: dict[str, str | None]
    missing: tuple[str, ...] = field(default=())
    install: str | None = None

    @property
    def works(self) -> bool:
        return not self.missing


def version_of(distribution: str, module: str) -> str | None:
    """The installed version, or None if the module cannot be found."""
    if util.find_spec(module) is None:
        return None
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown version"


def java_version() -> int | None:
    """The major version of the Java that Spark would start, or None."""
    home = environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None:
        return None
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_java(answer.stderr + answer.stdout)


def parse_java(text: str) -> int | None:
    """The major version in the output of `java -version`; up to Java 8 it read 1.8."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def optional_part(name: str) -> Part:
    found = {
        distribution: version_of(distribution, module)
        for distribution, module in EXTRAS[name].items()
    }
    missing = [
        distribution for distribution, version in found.items() if version is None
    ]
    install = f"pip install '.[{name}]'" if missing else None
    if name == "spark":
        java = java_version()
        found["java"] = None if java is None else str(java)
        if java is None or java < JAVA_NEEDED:
            missing.append(f"Java {JAVA_NEEDED}+")
    return Part(name, PURPOSE[name], found, tuple(missing), install)


def hardware_aes() -> bool | None:
    """Whether the processor encrypts in hardware; None if the system does not say."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return None
    flags = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    return None if flags is None else "aes" in flags.group(1).split()


@dataclass(frozen=True)
class Checkup:
    """Everything the command shows."""

    base: dict[str, str | None]
    hardware_aes: bool | None
    parts: tuple[Part, ...]

    @property
    def healthy(self) -> bool:
        return None not in self.base.values()


def look() -> Checkup:
    base = {
        distribution: version_of(distribution, module)
        for distribution, module in BASE.items()
    }
    return Checkup(base, hardware_aes(), tuple(map(optional_part, EXTRAS)))


def as_data(checkup: Checkup) -> dict[str, object]:
    return {
        "dither": __version__,
        "python": platform.python_version(),
        "base": checkup.base,
        "random_bytes": {
            "source": "AES-256-CTR, keyed by the operating system",
            "cryptography": checkup.base["cryptography"],
            "hardware_aes": checkup.hardware_aes,
        },
        "parts": [asdict(part) | {"works": part.works} for part in checkup.parts],
    }


def advice(part: Part) -> str:
    steps = [part.install] if part.install else []
    steps += [f"install {need}" for need in part.missing if need.startswith("Java")]
    return "\n".join(steps)


def versions(found: dict[str, str | None]) -> str:
    return "\n".join(
        f"{name} {version}" for name, version in found.items() if version is not None
    )


def show(checkup: Checkup) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=f"Dither {__version__} on Python {platform.python_version()}",
        title_justify="left",
    )
    for heading in ("part", "works", "found"):
        table.add_column(heading)
    table.add_column("to install it", no_wrap=True)
    if any(part.install for part in checkup.parts):
        table.caption = FROM_CHECKOUT
        table.caption_justify = "left"
    table.add_row(
        "base",
        mark(checkup.healthy),
        versions(checkup.base),
        "" if checkup.healthy else "install Dither again",
    )
    table.add_row(
        "random bytes",
        mark(checkup.base["cryptography"] is not None),
        AES[checkup.hardware_aes],
        "",
    )
    for part in checkup.parts:
        name = f"{part.name}\n[dim]{part.purpose}[/dim]"
        table.add_row(
            name, mark(part.works), versions(part.found), escape(advice(part))
        )
    Console().print(table)


def mark(works: bool) -> str:
    return "[green]yes[/green]" if works else "[yellow]no[/yellow]"


def facts(source: str) -> Iterator[str]:
    """Facts for the curator about the data of a catalogue or another source;
    private, and not charged.
    """
    from dither.query.load import load_catalogue

    if Path(source).suffix == ".toml":
        yield from looked(load_catalogue(source))
        return
    from dither.query.draft.draft import drafted
    from dither.query.draft.text import otherwise, text
    from dither.query.load import parse_catalogue

    for one in drafted([source]).one_by_one():
        name = one.sheets[0].name
        try:
            # As it was typed: a drafted catalogue holds no password.
            typed = {name: (source, one.sheets[0].stored)} if "://" in source else None
            yield from looked(parse_catalogue(text(one), "draft"), typed)
            yield from otherwise(one)
        except ArgumentError as problem:
            yield f"{name}: {problem}"


def looked(catalogue: Catalogue, sources: dict[str, Any] | None = None) -> list[str]:
    """Problems in the tables of one catalogue, after the exact facts that are published."""
    from dither.query.catalogue.tables import given_lines
    from dither.query.engines.check import check
    from dither.query.engines.choice import OWN, engine_for, maker

    name = engine_for(catalogue)
    if name not in OWN:
        raise ArgumentError(
            "data",
            f"the engine {name!r} belongs to another package, so `dither doctor` cannot "
            "read its data; check the data with the tools of that engine",
        )
    engine = maker(name)(catalogue, sources)
    try:
        return [*given_lines(catalogue), *check(engine, catalogue)]
    finally:
        engine.close()


@click.command(
    "doctor", short_help="Show which parts work here, and how to install the others."
)
@click.option(
    "--data",
    "source",
    metavar="SOURCE",
    shell_complete=files,
    help="Catalogue, file, folder or database whose data to check; for the curator.",
)
@json_option
def command(source: str | None, as_json: bool) -> None:
    """Show which parts of Dither work here, and how to install the others.

    With --data, check the data of a catalogue instead, or of any source that `dither
    init` takes: encoding, quotation marks, numbers with a comma, unusual dates, copies
    of rows, duplicate keys, values of each column that do not fit its type and are read
    as NULL, or are out of bounds. The output contains exact facts about private rows,
    for the curator only: do not publish it.

    \b
    Examples:
      dither doctor
      dither doctor --json
      dither doctor --data clinic.toml
    """
    if source is not None:
        with working("checking the data"):
            found = list(facts(source))
        if as_json:
            print_json({"facts": found})
            return
        for line in found:
            click.echo(line)
        return
    checkup = look()
    if as_json:
        print_json(as_data(checkup))
    else:
        show(checkup)
    if not checkup.healthy:
        raise SystemExit(1)
