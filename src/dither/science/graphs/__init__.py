"""Private numbers about graphs whose vertices are public and whose edges are not.

A graph is a networkx or igraph graph, a scipy.sparse matrix, pairs of ids, an array of
two columns, a frame, or a dataset whose unit is a row (`ends` names the columns of
both ends). `vertices` are the public ids of all vertices, or n for the ids 0 to n − 1;
`provenance` says where they come from. Loops, ends that are not declared or missing,
weights, directions and repeats do not count.

The cost is stated as `epsilon` (pure), `rho` (zero-concentrated) or `share` of the
budget, and charged to `budget` before the edges are read. How long an answer takes
depends on the edges, and is not protected.
"""

from dither.science.graphs.functions import (
    average_clustering,
    clustering,
    degrees,
    edges,
    mixing,
    stars,
    transitivity,
    triangles,
)
from dither.science.graphs.releases import (
    CountRelease,
    DegreesRelease,
    DistributionRelease,
    MixingRelease,
)

__all__ = [
    "CountRelease",
    "DegreesRelease",
    "DistributionRelease",
    "MixingRelease",
    "average_clustering",
    "clustering",
    "degrees",
    "edges",
    "mixing",
    "stars",
    "transitivity",
    "triangles",
]
