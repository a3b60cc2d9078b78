"""`python -m bench.race Tumult`: measures some systems again and keeps the rest."""

import sys

from bench.race.run import main

main(sys.argv[1:])
