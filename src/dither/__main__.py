"""`python -m dither` is `dither`."""

from dither.cli import main

main(prog_name="dither")
