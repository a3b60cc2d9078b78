"""All graphs on five vertices, and which of them are neighbours."""

import functools
import itertools

import numpy as np

from dither.science.graphs.kernels import Edges

SIZE = 5
PAIRS = list(itertools.combinations(range(SIZE), 2))
NUMBERS = range(1 << len(PAIRS))


@functools.cache
def edges(number):
    """The graph whose pairs are the bits of a number."""
    pairs = [pair for bit, pair in enumerate(PAIRS) if number >> bit & 1]
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return Edges.of(SIZE, ends[:, 0], ends[:, 1])


def edge_neighbours():
    """All pairs of graphs that differ in one edge."""
    for number in NUMBERS:
        for bit in range(len(PAIRS)):
            if not number >> bit & 1:
                yield number, number | 1 << bit


def node_neighbours():
    """All pairs of graphs where the second lacks all edges of one vertex, and that
    vertex.
    """
    for number in NUMBERS:
        for vertex in range(SIZE):
            without = number & ~sum(
                1 << bit for bit, pair in enumerate(PAIRS) if vertex in pair
            )
            if without != number:
                yield number, without, vertex
