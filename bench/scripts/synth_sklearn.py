"""Train on a table of codes and test on rows that were held out: the area under the
curve, and the share of right answers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

numpy: Any = import_module("numpy")
ensemble: Any = import_module("sklearn.ensemble")
linear: Any = import_module("sklearn.linear_model")
metrics: Any = import_module("sklearn.metrics")
pipeline: Any = import_module("sklearn.pipeline")
preprocessing: Any = import_module("sklearn.preprocessing")


def model(kind: str, sizes: list[int]) -> Any:
    if kind == "gradient boosting":
        return ensemble.HistGradientBoostingClassifier(random_state=0)
    values = [list(range(size)) for size in sizes]
    return pipeline.make_pipeline(
        preprocessing.OneHotEncoder(categories=values),
        linear.LogisticRegression(max_iter=1000),
    )


def answer(
    train: str, test: str, target: int, kind: str, sizes: list[int]
) -> dict[str, float]:
    learnt, held = numpy.load(train), numpy.load(test)
    others = [place for place in range(learnt.shape[1]) if place != target]
    made = model(kind, [sizes[place] for place in others])
    made.fit(learnt[:, others], learnt[:, target])
    chances = made.predict_proba(held[:, others])[:, 1]
    truth = held[:, target]
    right = float(numpy.mean((chances > 0.5) == (truth == 1)))
    area = float(metrics.roc_auc_score(truth, chances))
    return {"AUC": area, "right answers": right}


serve(answer)
