"""Outputs of any kind become arrays, and no two that differ become the same."""

import numpy as np
import pytest

from dither.audit.outcomes import FAMILY, Encoder, Raised, joined


def test_whole_numbers_stay_exact():
    found = Encoder().encode([2**62 + 1, -(2**63), True])
    assert found.values.dtype == np.int64
    assert found.values[:, 0].tolist() == [2**62 + 1, -(2**63), 1]
    assert found.numbers.all()


@pytest.mark.parametrize(
    "outputs",
    [np.zeros((3, 2, 2)), np.zeros(3), np.zeros(3, np.float32), np.zeros(3, complex)],
)
def test_arrays_become_rows(outputs):
    found = Encoder().encode(outputs)
    assert found.values.shape == (
        3,
        max(1, outputs.size // 3 * (2 if outputs.dtype == complex else 1)),
    )
    assert found.values.dtype == np.float64


def test_kinds_differ():
    encoder = Encoder()
    odd = [
        1,
        1.5,
        float("nan"),
        "a",
        "b",
        None,
        (1, 2),
        [1, 2, 3],
        {"x": 1},
        Raised("ValueError"),
        Raised("KeyError"),
    ]
    found = encoder.encode(odd)
    assert found.numbers.tolist() == [True] * 3 + [False] * 8
    assert len(set(found.kinds[3:].tolist())) == 8
    assert found.kinds[0] != found.kinds[1]
    assert "it raises KeyError" in encoder.names.values()
    assert encoder.encode(odd).kinds.tolist() == found.kinds.tolist()


def test_rows_of_one_width_are_numbers_whatever_holds_them():
    found = Encoder().encode([(1, 2), [3, 4], np.array([5, 6]), (np.int64(7), 8)])
    assert found.numbers.all()
    assert found.values.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_huge_numbers_and_empty_outputs_are_outcomes_too():
    found = Encoder().encode([10**400, -(10**30), -(10**30) + 1])
    assert found.numbers.all()
    assert found.values[1, 0] == -1e30
    assert found.values[2, 1] == found.values[1, 1] + 1
    assert not Encoder().encode([(), [], None]).numbers.any()


def test_what_was_met_before_the_width_or_reals_is_held_alike():
    encoder = Encoder()
    first, second = encoder.encode([Raised("ValueError")]), encoder.encode([3])
    third = encoder.encode([2.5])
    whole = joined([encoder.again(one) for one in (first, second, third)])
    assert whole.values[:, 0].tolist() == [0, 3, 2.5]
    assert whole.numbers.tolist() == [False, True, True]


def test_reals_that_come_late_are_no_numbers():
    encoder = Encoder()
    encoder.encode([1, 2])
    encoder.settled = True
    late = encoder.encode(np.array([0.5]))
    assert not late.numbers.any()
    assert late.values.dtype == np.int64


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (1, 1.0),
        (2**70, 2**70 + 1),
        (np.uint64(2**64 - 1), np.uint64(2**64 - 2)),
        (
            np.full(1, np.longdouble(1)),
            np.full(1, np.longdouble(1) + np.finfo(np.longdouble).eps),
        ),
        ([1, 2, 3], [1, 2, 4]),
        ((), None),
        (Raised("ValueError", "row 7"), Raised("ValueError", "row 8")),
        ("a", b"a"),
    ],
)
def test_what_differs_stays_different(one, other):
    """Beside numbers of width 1, which are met first."""
    if (
        np.finfo(np.longdouble).eps == np.finfo(np.float64).eps
        and getattr(one, "dtype", None) == np.longdouble
    ):
        pytest.skip("there is nothing longer than a double here")
    encoder = Encoder()
    encoder.encode([0.5])
    found = encoder.encode([one, other])
    assert (
        len(
            {
                (int(kind), *row)
                for kind, row in zip(found.kinds, found.values.tolist(), strict=True)
            }
        )
        == 2
    )


def test_arrays_keep_what_their_numbers_hold():
    for array in (
        np.array([True, False]),
        np.array([2**64 - 1, 2**64 - 2], np.uint64),
        np.ones(2, np.longdouble),
    ):
        whole, single = Encoder().encode(array), Encoder().encode(list(array))
        assert whole.kinds.tolist() == single.kinds.tolist()
        assert whole.values.tolist() == single.values.tolist()


def test_where_an_object_lies_is_no_outcome():
    things = [object() for _ in range(50)]
    assert len(set(Encoder().encode(things).kinds.tolist())) == 1


def test_what_cannot_be_shown_is_an_outcome():
    class Shy(Exception):
        def __repr__(self):
            raise ValueError

        __str__ = __repr__

    encoder = Encoder()
    found = encoder.encode([Shy(), Raised.by(Shy())])
    assert found.kinds[0] != found.kinds[1]
    assert not found.numbers.any()


def test_after_it_is_settled_nothing_new_is_decided():
    """Draws that judge come then: what is looked at must not depend on them."""
    encoder = Encoder()
    first = encoder.encode(["a", Raised("ValueError", "x")])
    encoder.settled = True
    late = encoder.encode(
        [3, (1.5, 2.5), "b", Raised("ValueError", "y"), Raised("KeyError"), "a"]
    )
    assert (encoder.width, encoder.real) == (None, False)
    assert not late.numbers.any()
    assert late.kinds[0] == late.kinds[1] == late.kinds[4] > first.kinds.max()
    assert late.kinds[2] == first.kinds[0] // FAMILY * FAMILY
    assert late.kinds[3] == first.kinds[1] // FAMILY * FAMILY
    assert late.kinds[5] == first.kinds[0]
    assert encoder.encode(np.ones((2, 3))).kinds.tolist() == [late.kinds[0]] * 2


def test_a_list_that_holds_itself_is_an_outcome():
    endless = []
    endless.append(endless)
    encoder = Encoder()
    found = encoder.encode([endless, 1, endless])
    assert found.numbers.tolist() == [False, True, False]
    assert found.kinds[0] == found.kinds[2]
