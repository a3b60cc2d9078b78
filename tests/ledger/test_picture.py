"""The burn-down of an account, as a picture."""

import re

import dither
from dither.ledger.picture import HEIGHT, WIDTH, burn_down
from dither.privacy import PureDP


def test_the_line_falls_with_every_charge():
    budget = dither.Budget(epsilon=1)
    for _ in range(3):
        budget.charge(PureDP(0.25))
    (points,) = re.findall(r'points="([^"]*)"', burn_down(budget))
    places = [tuple(map(float, point.split(","))) for point in points.split()]
    assert places == sorted(places)
    assert places[0] == (0.0, 5.0)
    assert places[-1] == (float(WIDTH), HEIGHT * 0.75 + 5)


def test_a_picture_says_what_it_shows():
    picture = burn_down(dither.Budget(epsilon=1))
    assert "<title>remaining share of the budget after each charge</title>" in picture
    assert "remaining: 100 %" in picture
