"""The same integers from a cluster of two workers as from DuckDB, and the sums are really computed there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.conformance.asking import questions
from tests.conformance.spark_asking import session
from tests.query.engines.spark_cluster import cluster

SCRIPT = """
    import json, sys
    import numpy as np
    from dither.mechanisms.additive import Gaussian, Laplace
    from dither.query.engines.spark_local import start

    for mechanism in (Laplace, Gaussian):
        mechanism._draw = lambda _self, _scale, size: 0 if size is None else np.zeros(size, np.int64)
    spark = start(
        sys.argv[1], **{
            "spark.driver.memory": "700m", "spark.executor.memory": "500m", "spark.sql.shuffle.partitions": "3",
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        }
    )
    from tests.conformance import spark_asking
    from tests.conformance.asking import Worlds, questions
    from tests.conformance.test_exact import check

    spark_asking._started = lambda: spark
    worlds, right = Worlds("spark"), []
    for question in questions()[int(sys.argv[2]) :: int(sys.argv[3])]:
        noise = question.noise or ("Gaussian" if len(right) % 2 else "Laplace")
        check(question, worlds.ask(question.world, noise, question.sql, **question.stated))
        right.append(str(question))
    tracker = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    worlds.close()
    print(json.dumps({"right": right, "machines": len(tracker) - 1}))
    """


@pytest.mark.full
def test_questions_on_a_cluster(tmp_path):
    session()  # or a skipped test
    with cluster() as master:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT), master, "0", "4"],
            capture_output=True, text=True, timeout=1200, check=False, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SPARK_LOCAL_IP": "127.0.0.1"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["machines"] == 2
    assert len(found["right"]) == len(questions()[::4])
    assert not list(tmp_path.iterdir())
