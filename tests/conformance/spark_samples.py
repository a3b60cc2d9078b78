"""Where each question is asked of Spark, so that it is asked once: here or on a
cluster. The bench asks all on one.
"""

from __future__ import annotations

from itertools import groupby

from tests.conformance.asking import questions

__all__ = ["CLUSTER_STEP", "HERE_IN_FULL", "HERE_IN_QUICK"]

CLUSTER_STEP = 12
ON_CLUSTER = questions()[::CLUSTER_STEP]
OTHERS = [one for one in questions() if one not in ON_CLUSTER]
# One of each file
HERE_IN_QUICK = [
    one
    for _, alike in groupby(OTHERS, lambda one: one.file)
    for one in list(alike)[1:2]
]
# Every second one: what is asked of Spark takes a second or two
HERE_IN_FULL = [one for one in OTHERS if one not in HERE_IN_QUICK][::2]
