import itertools

from dither.ledger import replay, replay_key

SAME = {
    "plan": "count",
    "dataset": "visits",
    "version": "3",
    "scope": "ana",
    "catalogue": "1",
}


def test_the_same_question_has_the_same_key_and_any_other_has_another(monkeypatch):
    keys = [
        replay_key(**SAME),
        *(replay_key(**SAME | {name: "other"}) for name in SAME),
    ]
    monkeypatch.setattr(replay, "__version__", "99")
    keys.append(replay_key(**SAME))
    assert all(a != b for a, b in itertools.combinations(keys, 2))
    assert replay_key(**SAME) == keys[-1]


def test_parts_do_not_run_into_each_other():
    assert replay_key(**SAME | {"plan": "ab", "dataset": "c"}) != replay_key(
        **SAME | {"plan": "a", "dataset": "bc"}
    )
