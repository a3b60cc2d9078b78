"""Questions of the conformance suite on a cluster of two workers: the same integers as
from DuckDB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.query.engines.spark.cluster import cluster

__all__ = ["ask"]

SCRIPT = """
import json, sys
import numpy as np
from dither.mechanisms.additive import Gaussian, Laplace
from dither.query.engines.spark.sessions import start

for mechanism in (Laplace, Gaussian):
    mechanism._draw = lambda _self, _scale, size: 0 if size is None else np.zeros(size, np.int64)
spark = start(
    sys.argv[1], **{
        "spark.driver.memory": "700m", "spark.executor.memory": "500m", "spark.sql.shuffle.partitions": "3",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    }
)
from tests.conformance import spark_asking
from tests.conformance.asking import Worlds, questions
from tests.conformance.test_exact import check

spark_asking._started = lambda: spark
worlds, right = Worlds("spark"), []
for number, question in enumerate(questions()[:: int(sys.argv[2])]):
    noise = question.noise or ("Gaussian" if number % 2 else "Laplace")
    check(question, worlds.ask(question.world, noise, question.sql, **question.stated))
    right.append(str(question))
tracker = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
worlds.close()
print(json.dumps({"right": right, "machines": len(tracker) - 1}))
"""


def ask(step: int) -> dict[str, Any]:
    """One of so many questions, with noise switched off and each answer checked: their
    names, and how many machines took part. Nothing may be left in the working
    directory."""
    with (
        tempfile.TemporaryDirectory(prefix="dither-asked-") as folder,
        cluster() as master,
    ):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SCRIPT, master, str(step)],
            capture_output=True, text=True, check=False, cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SPARK_LOCAL_IP": "127.0.0.1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        assert not list(Path(folder).iterdir())
    found: dict[str, Any] = json.loads(done.stdout)
    return found
