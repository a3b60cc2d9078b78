"""`python -m dither.cli` is `dither`."""

from dither.cli import main

main(prog_name="dither")
