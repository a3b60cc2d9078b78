import numpy as np

from dither.noise import discrete_laplace
from tests.chance import chance
from tests.neighbours.audit import epsilon_lower_bound


@chance(5e-8)
def test_it_finds_half_the_noise_and_accepts_the_whole():
    honest = discrete_laplace(1.0, 200_000)
    too_small = discrete_laplace(0.5, 200_000)
    assert (
        0.9
        < epsilon_lower_bound(list(honest), list(discrete_laplace(1.0, 200_000) + 1))
        <= 1
    )
    assert (
        epsilon_lower_bound(list(too_small), list(discrete_laplace(0.5, 200_000) + 1))
        > 1.8
    )


def test_it_sees_disjoint_outputs():
    assert epsilon_lower_bound([0] * 10_000, [1] * 10_000) > 5
    assert epsilon_lower_bound(list(np.zeros(10_000)), list(np.zeros(10_000))) < 0.1
