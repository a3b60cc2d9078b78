"""Features put every output into one cell, and say in words which."""

import numpy as np
import pytest

from dither.audit.classifiers import tame
from dither.audit.features import Bins, Odd, Table, log_ratio
from dither.audit.outcomes import Encoder, Raised


def first_column(outcomes):
    return np.ascontiguousarray(outcomes.values[:, 0])


def encoded(*sides):
    encoder = Encoder()
    parts = [encoder.encode(side) for side in sides]
    encoder.settled = True
    return encoder, [encoder.again(part) for part in parts]


def test_a_table_knows_what_it_saw_twice():
    encoder, parts = encoded([1, 1, 7], [1, 2, 2])
    odd = Odd.fit(encoder, parts)
    table = Table.fit(first_column, "the output", odd, parts)
    assert table.known.tolist() == [1, 2]
    assert table.cells(parts[0]).tolist() == [1, 1, 0]
    assert table.words([0]) == "the output is one that was not seen before"


def test_zero_and_minus_zero_are_different_outputs():
    encoder, parts = encoded([0.0, 0.0], [-0.0, -0.0])
    table = Table.fit(first_column, "the output", Odd.fit(encoder, parts), parts)
    assert not set(table.cells(parts[0])) & set(table.cells(parts[1]))


def test_bins_cover_every_number_and_name_their_range():
    encoder, parts = encoded(list(range(50)), list(range(10, 60)))
    bins = Bins.fit(first_column, "the output", Odd.fit(encoder, parts), parts)
    cells = bins.place(np.array([-(10**9), 0, 59, 10**9]))
    assert (np.diff(cells) >= 0).all()
    assert bins.words(list(range(bins.named))) == "the output is any number"
    assert bins.words([0]) == "the output is at most -1"


def test_what_is_no_number_has_a_cell_of_its_own():
    encoder, parts = encoded([3, 3], [Raised("ValueError"), Raised("ValueError")])
    table = Table.fit(first_column, "the output", Odd.fit(encoder, parts), parts)
    (cell,) = set(table.cells(parts[1]).tolist())
    assert table.own <= cell < table.count
    assert "it raises ValueError" in table.words([cell])


def test_ratios_are_drawn_towards_even():
    assert log_ratio(np.array([0, 0]), np.array([0, 0])).tolist() == [0, 0]
    more, less = log_ratio(np.array([9, 1]), np.array([1, 9]))
    assert more == pytest.approx(-less)
    assert 0 < more < np.log(9)


def test_tame_numbers_can_be_multiplied():
    found = tame(np.array([np.nan, np.inf, -np.inf, 2.0]))
    assert found.tolist() == [0.0, 1e100, -1e100, 2.0]
