"""Models of several forms: outputs, types of numbers, axes of scores."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from dither.errors import ArgumentError
from dither.learn import Validation, federated, preview, train
from tests.learn.data import UNITS, owned, records
from tests.learn.federated import data as clients


class Two(nn.Module):
    """Scores, and numbers beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.line, self.other = nn.Linear(4, 3), nn.Linear(4, 2)

    def forward(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"scores": self.line(inputs), "beside": self.other(inputs)}


def two_losses(outputs: dict[str, Tensor], targets: Tensor) -> Tensor:
    beside = outputs["beside"].square().mean()
    return functional.cross_entropy(outputs["scores"], targets) + beside


def test_models_with_several_outputs_are_trained_and_measured() -> None:
    given = owned(loss=two_losses, epochs=1, public=records(20))
    checked = given | {"validation": Validation(records(40), noise=5.0)}
    assert preview(Two(), records(), **checked).route == "one backward pass"
    trained = train(Two(), records(), **checked)
    assert trained.history[-1].accuracy is not None
    assert trained.history[-1].validation_accuracy is not None


def test_models_in_float64_are_trained_and_measured() -> None:
    inputs, targets = records()
    model = nn.Linear(4, 3).double()
    checked = owned(
        epochs=1, public=records(20), validation=Validation(records(40), noise=5.0)
    )
    for given in (inputs, inputs.double()):
        trained = train(model, (given, targets), **checked)
        assert trained.value.weight.dtype == torch.float64
        assert trained.history[-1].accuracy is not None


def test_integers_for_a_model_of_floats_are_refused_with_a_way_out() -> None:
    inputs, targets = records()
    images = (inputs.abs() * 50).to(torch.uint8)
    with pytest.raises(ArgumentError, match=r"pass inputs\.float\(\)"):
        preview(nn.Linear(4, 3), (images, targets), **owned())
    preview(nn.Linear(4, 3), (images.float(), targets), **owned())


class Tokens(nn.Module):
    """Scores for each place of a text, in the last axis or in the second one."""

    def __init__(self, last: bool) -> None:
        super().__init__()
        self.words, self.out, self.last = nn.Embedding(20, 8), nn.Linear(8, 20), last

    def forward(self, ids: Tensor) -> Tensor:
        found: Tensor = self.out(self.words(ids))
        return found if self.last else found.movedim(-1, 1)


def flat(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs.reshape(-1, 20), targets.reshape(-1))


def turned(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs.transpose(1, 2), targets)


@pytest.mark.parametrize("loss", [flat, turned])
def test_scores_in_the_last_axis_are_refused(
    loss: Callable[[Tensor, Tensor], Tensor],
) -> None:
    """Their second axis, of places, was taken for the classes: texts with larger numbers
    were left out.
    """
    ids = torch.arange(UNITS * 6).view(UNITS, 6) % 20
    with pytest.raises(ArgumentError, match=r"outputs\.movedim\(-1, 1\)"):
        preview(Tokens(last=True), (ids, ids), **owned(loss=loss))
    preview(Tokens(last=False), (ids, ids), **owned())


def second(outputs: dict[str, Tensor], targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs["scores"], targets)


class Swapped(Two):
    def forward(self, inputs: Tensor) -> dict[str, Tensor]:
        found = super().forward(inputs)
        return {"beside": found["beside"], "scores": found["scores"]}


def test_scores_come_first_among_several_outputs() -> None:
    with pytest.raises(ArgumentError, match="return the scores first"):
        preview(Swapped(), records(), **owned(loss=second))
    with pytest.raises(ArgumentError, match="the model returns several"):
        preview(Two(), records(), **owned())


def test_booleans_stay_booleans() -> None:
    class Negated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.line = nn.Linear(4, 3)

        def forward(self, inputs: Tensor) -> Tensor:
            found: Tensor = self.line((~inputs).float())
            return found

    inputs, targets = records()
    trained = train(Negated(), (inputs > 0, targets), **owned(epochs=1))
    assert torch.isfinite(trained.value(inputs > 0)).all()


class Recurring(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.out = nn.LSTM(1, 4, batch_first=True), nn.Linear(4, 2)

    def forward(self, inputs: Tensor) -> Tensor:
        found: Tensor = self.out(self.layer(inputs[:, :, None])[0][:, -1])
        return found


def test_recurrent_models_train_in_federations() -> None:
    shown = federated.preview(Recurring(), clients.federation(), **clients.run())
    assert "one at a time" in str(shown)
    trained = federated.train(Recurring(), clients.federation(), **clients.run())
    assert trained.value is not None


def test_accuracy_that_cannot_be_measured_is_refused() -> None:
    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.line = nn.Linear(4, 3)

        def forward(self, inputs: Tensor) -> Tensor:
            found: Tensor = self.line(inputs)
            return found[:, :, None].expand(-1, -1, 1 if self.training else 2)

    inputs, targets = records()
    asked = Validation((inputs[:20], targets[:20, None]), noise=5.0)
    with pytest.raises(ArgumentError, match="cannot measure accuracy"):
        preview(Whole(), (inputs, targets[:, None]), **owned(validation=asked))
