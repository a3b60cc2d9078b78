"""Labels as a release: charged before anything is read, whatever the data holds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import dither
from dither import Budget
from dither.errors import ArgumentError, BudgetExceeded
from dither.learn import pate
from dither.learn.pate import labelling
from dither.privacy import Relation, Unit, ZeroConcentratedDP
from tests.learn.pate.data import BAD, INPUTS, LABELS, NAMED, QUERIES, Nearest

QUIET: dict[str, Any] = {"voting": pate.GNMax(sigma=0.2), "delta": 1e-6}
ALL: dict[str, Any] = {"classes": (0, 1, 2), "teachers": 5, "processes": 1}
OWNERS = np.arange(120) // 2
VOTES = [NAMED] * 8


def labelled(data: Any = (INPUTS, LABELS), **more: Any) -> pate.VoteRelease:
    given = {"owner": OWNERS, "model": Nearest(), **ALL, **QUIET, **more}
    return pate.label(data, given.pop("queries", QUERIES), **given)


def test_queries_are_labelled_and_a_student_learns() -> None:
    found = labelled()
    assert found.labels.tolist() == NAMED
    assert found.answered.all()
    assert found.places.tolist() == [0, 1, 2, 3, 4]
    student = found.student(KNeighborsClassifier(1))
    assert student.predict(np.eye(3)).tolist() == [0, 1, 2]
    assert "5 of 5 queries answered" in str(found)
    assert "not charged to any account" in str(found)
    assert found.rows() == [(0, 1, None, None), (1, 2, None, None), (2, 2, None, None)]


def test_teachers_begin_anew_whatever_the_model_has_learned() -> None:
    """Else all of them would know what it was tried on."""
    warm = RandomForestClassifier(5, warm_start=True).fit(INPUTS, (LABELS + 1) % 3)
    assert labelled(model=warm).labels.tolist() == NAMED


def test_a_single_query_is_labelled() -> None:
    found = labelled(model=LogisticRegression(), queries=QUERIES[:1])
    assert found.labels.tolist() == NAMED[:1]


def test_labels_may_be_texts_and_data_a_frame() -> None:
    words = np.array(["ant", "bee", "cat"])
    frame = pd.DataFrame(INPUTS, columns=["a", "b", "c"])
    frame["kind"], frame["who"] = words[LABELS], OWNERS
    found = labelled(
        frame,
        queries=pd.DataFrame(QUERIES, columns=["a", "b", "c"]),
        classes=words.tolist(),
        owner="who",
        inputs=["a", "b", "c"],
        target="kind",
        model=DecisionTreeClassifier(),
    )
    assert found.labels.tolist() == words[NAMED].tolist()


def test_queries_of_a_frame_are_read_by_name() -> None:
    names = ["a", "b", "c"]
    data = pd.DataFrame(INPUTS, columns=names), LABELS
    queries = pd.DataFrame(QUERIES, columns=names)
    found = labelled(
        data, queries=queries[["c", "a", "b"]], model=DecisionTreeClassifier()
    )
    assert found.labels.tolist() == NAMED
    with pytest.raises(ArgumentError, match="there is no column 'b'"):
        labelled(data, queries=queries[["a", "c"]], model=DecisionTreeClassifier())
    texts = queries.assign(b="some")
    with pytest.raises(ArgumentError, match="or strings, which are read as missing"):
        labelled(data, queries=texts, model=DecisionTreeClassifier())


@pytest.mark.full
def test_modules_teach_and_study() -> None:
    module = torch.nn.Linear(3, 3)
    before = module.weight.detach().clone()
    model = pate.TorchClassifier(module, epochs=60, batch=8, lr=0.1)
    found = labelled(model=model, teachers=2)
    assert found.labels.tolist() == NAMED
    student = found.student(pate.TorchClassifier(module, epochs=60, lr=0.1))
    assert student.predict(QUERIES).tolist() == NAMED
    assert torch.equal(module.weight, before)


def test_an_opened_dataset_brings_unit_classes_and_account() -> None:
    frame = pd.DataFrame(np.clip(INPUTS, 0, 1), columns=["a", "b", "c"])
    frame["kind"], frame["who"] = LABELS, OWNERS
    opened = dither.open(
        {"seen": frame},
        unit="who",
        bounds={"seen": dict.fromkeys("abc", (0, 1))},
        keys={"seen": {"kind": [0, 1, 2]}},
        rows={"seen": 2},
        budget=(3.0, 1e-6),
    )
    asked: dict[str, Any] = {
        "inputs": ["a", "b", "c"],
        "target": "kind",
        "model": Nearest(),
        "teachers": 5,
        "processes": 1,
    }
    shown = pate.preview(queries=5, classes=3, teachers=5, data=opened, share=0.5)
    found = pate.label(opened, QUERIES, share=0.5, **asked)
    assert len(found.labels) == 5
    assert found.guarantee.unit.name == "who"
    assert found.receipt is not None
    assert shown.share == pytest.approx(float(opened.account.spent), rel=1e-6)
    with pytest.raises(ArgumentError, match=r"^owner"):
        pate.label(opened, QUERIES, share=0.1, owner=OWNERS, **asked)


def test_odd_rows_do_not_count_and_the_answer_is_a_normal_one() -> None:
    inputs, labels = INPUTS.copy(), LABELS.astype(object)
    inputs[0, 0], inputs[1, 1], labels[2], labels[3] = math.nan, math.inf, None, "x"
    owners = [None, *OWNERS[1:].tolist()]
    assert labelled((inputs, labels), owner=owners).labels.tolist() == NAMED


def test_no_rows_at_all_give_a_normal_answer() -> None:
    found = labelled((INPUTS[:0], LABELS[:0]), owner=OWNERS[:0])
    assert len(found.labels) == 5


LONG = [pytest.param(how, marks=pytest.mark.full) for how in ("ends", "raises")]


@pytest.mark.parametrize("how", ["prints", *LONG])
def test_whether_a_teacher_failed_cannot_be_seen(
    how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The same words, shape, cost and output, up to the labels."""
    bad = INPUTS.copy()
    bad[:2] = BAD
    plain, odd = (labelled((one, LABELS), model=Nearest(how)) for one in (INPUTS, bad))
    assert str(plain) == str(odd)
    assert plain.guarantee == odd.guarantee
    assert odd.labels.tolist() == NAMED
    assert capfd.readouterr() == ("", "")


def test_nothing_is_read_before_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: Any) -> Any:
        raise AssertionError("read")

    monkeypatch.setattr(labelling, "_taught", read)
    budget = Budget(0.01, 1e-6)
    with pytest.raises(BudgetExceeded):
        labelled(voting=None, delta=None, epsilon=1.0, budget=budget, owner="row")
    assert budget.spent == 0


BAD_QUESTIONS: list[tuple[dict[str, Any], str]] = [
    ({"queries": QUERIES[:, :2]}, "queries"),
    ({"queries": QUERIES[:0]}, "queries"),
    ({"queries": np.full((2, 3), np.nan)}, "queries"),
    ({"classes": [1]}, "classes"),
    ({"classes": None}, "classes"),
    ({"teachers": 0}, "teachers"),
    ({"teachers": 1}, "teachers"),
    ({"teachers": 2.5}, "teachers"),
    ({"owner": None}, "owner"),
    ({"owner": OWNERS[:5]}, "owner"),
    ({"model": 5}, "model"),
    ({"model": lambda: 5}, "model"),
    ({"seconds": 0}, "seconds"),
    ({"seconds": 10**12}, "seconds"),
    ({"teachers": 10**6, "queries": np.zeros((1001, 3))}, "queries"),
    ({"display": pate.Display(), "teachers": 60_000}, "display"),
    ({"processes": 0}, "processes"),
    ({"voting": "gnmax"}, "voting"),
    ({"voting": pate.ConfidentGNMax(threshold=6, answers=1)}, "threshold"),
    ({"epsilon": 1.0}, "epsilon"),
    ({"voting": None}, "epsilon"),
    ({"voting": pate.GNMax(), "delta": None, "epsilon": 1.0}, "delta"),
    ({"voting": None, "share": 0.5}, "share"),
    ({"table": "seen"}, "table"),
    ({"inputs": ["a"]}, "inputs"),
    ({"telescope": 1}, "label"),
]


@pytest.mark.parametrize(("wrong", "argument"), BAD_QUESTIONS)
def test_a_bad_question_is_refused(wrong: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError, match=argument) as caught:
        labelled(**wrong)
    assert caught.value.argument == argument


def test_a_replaced_row_keeps_its_teacher_and_a_replaced_unit_has_two() -> None:
    rows, people = (
        Budget(3.0, 1e-6, unit=Unit(name, Relation.REPLACE)) for name in ("row", "who")
    )
    plain = Budget(3.0, 1e-6)
    shares = [
        labelled(voting=pate.GNMax(sigma=40.0), delta=None, budget=budget, owner=owner)
        for budget, owner in ((plain, "row"), (rows, "row"), (people, OWNERS))
    ]
    assert [one.guarantee.unit.relation for one in shares[1:]] == [Relation.REPLACE] * 2
    once, same, twice = (float(one.spent) for one in (plain, rows, people))
    assert same == pytest.approx(once)
    assert twice == pytest.approx(4 * once, rel=0.01)


def test_votes_from_elsewhere_are_doubled_where_rows_are_replaced() -> None:
    rows = Budget(3.0, 1e-6, unit=Unit("row", Relation.REPLACE))
    asked: dict[str, Any] = {"voting": pate.GNMax(sigma=40.0), "budget": rows}
    drawn = pate.preview(queries=5, teachers=8, owner="row", **asked)
    other = pate.preview(queries=5, teachers=8, **asked)
    assert drawn.share is not None
    assert other.share == pytest.approx(4 * drawn.share, rel=0.01)
    voted(VOTES, delta=None, **asked)
    assert float(rows.spent) == pytest.approx(other.share, rel=1e-6)


def test_a_release_is_written_down() -> None:
    found = voted(VOTES)
    assert found.to_pandas().shape[0] == 3
    assert '"guarantee"' in found.to_json()
    assert "queries answered" in found._repr_html_()
    assert "VoteRelease" in repr(found)
    with pytest.raises(ArgumentError):
        found.interval()
    with pytest.raises(ArgumentError):
        found[0]


# Votes that were passed


def voted(votes: Any, **more: Any) -> pate.VoteRelease:
    given = {"classes": (0, 1, 2), "teachers": 8, **QUIET, **more}
    return pate.label_votes(votes, **given)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_votes_of_any_form_are_read_alike() -> None:
    forms = [
        VOTES,
        np.array(VOTES),
        np.array(VOTES, float),
        np.asmatrix(VOTES),
        pd.DataFrame(VOTES),
        torch.tensor(VOTES),
        [[str(one) for one in line] for line in VOTES],
        pate.Counts(np.eye(3)[NAMED] * 8),
        pate.Counts((np.eye(3)[NAMED] * 8).tolist()),
    ]
    assert [voted(one).labels.tolist() for one in forms] == [NAMED] * len(forms)


@pytest.mark.parametrize(
    "odd", [math.nan, math.inf, -1, 7, 0.5, None, "x", object(), 1e300]
)
def test_an_odd_vote_is_none(odd: Any) -> None:
    held = [list(line) for line in VOTES]
    for line in held[:5]:
        line[0] = odd
    assert voted(held).labels.tolist() == NAMED
    every = [[odd] * 5] * 8
    assert len(voted(every).labels) == 5


@pytest.mark.parametrize("odd", [math.nan, -5, None, "x", -math.inf])
def test_an_odd_count_is_zero(odd: Any) -> None:
    counts = (np.eye(3)[NAMED] * 8).tolist()
    counts[0][1] = odd
    assert voted(pate.Counts(counts)).labels.tolist() == NAMED


@pytest.mark.parametrize("large", [9, 1e9, math.inf, 10**30])
def test_a_count_is_at_most_the_number_of_teachers(large: Any) -> None:
    counts = (np.eye(3)[NAMED] * 8).tolist()
    counts[0] = [large, large, 0]
    first, *others = voted(pate.Counts(counts)).labels.tolist()
    assert first in {0, 1}  # a tie, which noise decides
    assert others == NAMED[1:]


@pytest.mark.parametrize(
    "wrong",
    [
        VOTES[:7],
        [1, 2, 3],
        [[1, 2], [1]],
        "votes",
        5,
        None,
        np.zeros((8, 0)),
        np.zeros((8, 5, 3)),
        pate.Counts(np.zeros((5, 4))),
        pate.Counts([1, 2, 3]),
        pa.table({str(one): [0] * 8 for one in range(8)}),
        pate.Counts(pa.table({str(one): [0] * 3 for one in range(3)})),
        sparse.csr_array(np.array(VOTES)),
    ],
)
def test_votes_of_a_wrong_shape_are_refused_and_nothing_is_charged(wrong: Any) -> None:
    budget = Budget(3.0, 1e-6)
    with pytest.raises(ArgumentError, match=r"^votes"):
        voted(wrong, delta=None, budget=budget)
    assert budget.spent == 0


def test_an_answer_is_charged_whether_or_not_any_query_is_answered() -> None:
    spent = []
    for votes in (VOTES, [[one % 3] * 5 for one in range(8)]):
        budget = Budget(3.0, 1e-6)
        voting = pate.ConfidentGNMax(
            threshold=7, answers=2, sigma_threshold=0.1, sigma=0.1
        )
        budget = Budget(9000.0, 1e-6)
        found = voted(votes, voting=voting, delta=None, budget=budget)
        spent.append((budget.spent, len(found.labels)))
    assert spent[0][0] == spent[1][0] > 0
    assert [answered for _, answered in spent] == [2, 0]
    with pytest.raises(ArgumentError, match="no query was answered"):
        found.student(KNeighborsClassifier(1), QUERIES)


def test_the_student_needs_the_queries() -> None:
    with pytest.raises(ArgumentError, match=r"^inputs"):
        voted(VOTES).student(KNeighborsClassifier(1))
    found = voted(VOTES, queries=QUERIES).student(KNeighborsClassifier(1))
    assert found.predict(QUERIES).tolist() == NAMED
    with pytest.raises(ArgumentError, match=r"^queries"):
        voted(VOTES, queries=QUERIES[:2])


def test_a_release_holds_no_votes() -> None:
    found = voted(VOTES, queries=QUERIES)
    held = [one for one in vars(found).values() if isinstance(one, np.ndarray)]
    assert all(one.shape in {(5,), QUERIES.shape} for one in held)
    assert "private" in repr(pate.Counts(np.eye(3)))


# Costs


@pytest.mark.parametrize("accounting", ["renyi", "gdp"])
@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
def test_a_stated_cost_is_what_the_account_counts(accounting: str, noise: str) -> None:
    """Not that of a promise which this accounting cannot count."""
    budget = Budget(2.0, 1e-6, accounting=accounting)
    asked: dict[str, Any] = {"queries": 100, "teachers": 50, "budget": budget}
    voting = pate.NoisyMax(noise=noise)
    found = pate.preview(voting=voting, epsilon=1.0, **asked)
    assert 0.9 < found.epsilon <= 1.0
    found = pate.preview(voting=voting, rho=0.02, **asked)
    assert found.epsilon <= ZeroConcentratedDP(0.02).epsilon_at(1e-6)


@pytest.mark.parametrize("accounting", ["renyi", "gdp"])
@pytest.mark.parametrize(
    "voting",
    [
        pate.GNMax(),
        pate.ConfidentGNMax(threshold=30, answers=40),
        pate.NoisyMax(),
        pate.NoisyMax(noise="gumbel"),
    ],
)
def test_a_share_of_an_account_is_what_is_taken(accounting: str, voting: Any) -> None:
    budget = Budget(3.0, 1e-6, accounting=accounting)
    found = pate.preview(
        queries=100, teachers=50, voting=voting, share=0.4, budget=budget
    )
    assert found.share is not None
    assert 0.38 < found.share <= 0.4
    assert found.affordable


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
@pytest.mark.parametrize(
    "voting", [pate.GNMax(), pate.ConfidentGNMax(threshold=30, answers=40)]
)
def test_noise_for_an_epsilon_costs_that_epsilon(epsilon: float, voting: Any) -> None:
    asked: dict[str, Any] = {"queries": 100, "teachers": 50, "voting": voting}
    alone = pate.preview(**asked, epsilon=epsilon, delta=1e-6)
    assert alone.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert alone.epsilon <= epsilon * (1 + 1e-12)
    again = pate.preview(**{**asked, "voting": alone.voting}, delta=1e-6)
    assert again.epsilon == pytest.approx(epsilon, rel=1e-9)


def test_rho_is_what_gaussian_votes_cost() -> None:
    found = pate.preview(queries=100, teachers=50, rho=0.1)
    assert isinstance(found.voting, pate.GNMax)
    assert found.voting.sigma == pytest.approx(math.sqrt(100 / 0.1))
    gumbel = pate.NoisyMax(noise="gumbel")
    found = pate.preview(queries=100, teachers=50, rho=0.1, voting=gumbel)
    assert isinstance(found.voting, pate.NoisyMax)
    assert found.voting.epsilon == pytest.approx(math.sqrt(8 * 0.1 / 100), rel=1e-5)


def test_pure_accounts_get_pure_votes() -> None:
    found = pate.preview(queries=10, teachers=50, share=0.5, budget=Budget(2.0))
    assert isinstance(found.voting, pate.NoisyMax)
    assert found.voting.epsilon == pytest.approx(0.1)
    assert found.delta == 0
    with pytest.raises(ArgumentError):
        pate.preview(
            queries=10, teachers=5, voting=pate.GNMax(), share=0.5, budget=Budget(2.0)
        )


def test_preview_says_what_is_too_dear_and_how_many_can_be_answered() -> None:
    voting = pate.ConfidentGNMax(
        threshold=40, answers=30, sigma_threshold=1.0, sigma=1.0
    )
    found = pate.preview(
        queries=100, teachers=50, voting=voting, budget=Budget(1.0, 1e-6)
    )
    assert not found.affordable
    assert "refused: this does not fit" in str(found)
    assert "at most 30 answered" in str(found)
    assert found.answers == 30


@pytest.mark.parametrize("wrong", [{"queries": 0}, {"classes": 1}, {"teachers": 1}])
def test_a_bad_preview_is_refused(wrong: dict[str, Any]) -> None:
    given = {"queries": 5, "teachers": 5, "classes": 3, **wrong}
    with pytest.raises(ArgumentError):
        pate.preview(**given, epsilon=1.0, delta=1e-6)


@pytest.mark.full
def test_rows_of_any_shape_reach_teachers() -> None:
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3, 3))
    found = labelled(
        (torch.tensor(INPUTS.reshape(-1, 1, 3)), torch.tensor(LABELS)),
        queries=torch.tensor(QUERIES.reshape(-1, 1, 3)),
        model=pate.TorchClassifier(module, epochs=60, batch=8, lr=0.1),
        teachers=2,
    )
    assert found.labels.tolist() == NAMED


def test_a_preview_compares_the_lead_with_the_teachers() -> None:
    asked: dict[str, Any] = {"queries": 5, "classes": 3, "teachers": 40}
    noisy, quiet = (
        str(pate.preview(voting=pate.GNMax(sigma=sigma), delta=1e-6, **asked))
        for sigma in (60, 2)
    )
    assert "more than there are teachers" in noisy
    assert "more than there are teachers" not in quiet


def test_a_display_costs_more_than_the_labels() -> None:
    asked: dict[str, Any] = {"queries": 5, "classes": 3, "teachers": 40}
    asked |= {"epsilon": 1.0, "delta": 1e-6}
    alone = pate.preview(voting=pate.GNMax(), **asked)
    both = pate.preview(voting=pate.GNMax(), display=pate.Display(), **asked)
    assert alone.epsilon <= 1.0 < both.epsilon
    assert "display: " in str(both)
    assert "its cost is added to that of the labels" in str(both)
    assert "display" not in str(alone)
