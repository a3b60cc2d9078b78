"""What an audit looks at: types, low bits, one leak among many columns."""

import numpy as np

from dither import audit
from dither.noise import discrete_laplace
from dither.privacy import (
    PureDP,
)
from tests.chance import chance

CLAIM = PureDP(1.0)


def test_types_are_compared():
    found = audit.mechanism(lambda x: 1.0 if x else 1, 0, 1, claimed=CLAIM, draws=1000)
    assert found.refuted
    assert "the type of the output" in found.event


@chance(1e-9)
def test_a_leak_beside_correct_noise_is_found_in_wide_outputs():
    def f(x, size):
        return np.column_stack(
            [
                discrete_laplace(1.0, (size, 50)),
                np.full(size, x) + discrete_laplace(0.3, size),
            ]
        )

    assert audit.mechanism(f, 0, 1, claimed=CLAIM, draws=20_000).refuted
