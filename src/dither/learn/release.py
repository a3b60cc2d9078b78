"""A trained model as a release: new weights, what they promise, and what they cost."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Self

import torch
from torch import nn

from dither.errors import ArgumentError
from dither.learn.gradients.oracle import Inputs
from dither.learn.history import NAMES, Epoch, History
from dither.learn.reading import Reading
from dither.ledger import Receipt
from dither.ledger.wire import from_json, to_json
from dither.picture import Picture
from dither.privacy import Guarantee
from dither.release import Ends, Release, Source
from dither.wording import in_html, promised

__all__ = ["ModelRelease", "digest_of"]

FORMAT = "dither.model/1"


def digest_of(model: nn.Module) -> str:
    """The hash of all weights and buffers, with their names and shapes."""
    found = hashlib.sha256()
    for name, one in model.state_dict().items():
        held = one.detach().cpu().contiguous()
        found.update(f"{name} {tuple(held.shape)} {held.dtype};".encode())
        found.update(held.view(-1).view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


@dataclass(frozen=True, eq=False)
class ModelRelease(Release):
    """A trained model: `value` is a new module, and the one that was passed is as it was.

    Its weights are safe to publish, once: the same run gives other weights the next
    time, and costs again. `history` has public numbers, one line for each epoch.
    `digest` is the hash of the weights, which the book has noted.
    """

    history: History = field(default_factory=lambda: History((), lambda _: 0.0))
    delta: float = 0.0
    digest: str = ""
    reading: Reading | None = field(default=None, repr=False)

    def read(self, rows: Any) -> Inputs:
        """New rows as the tensors that the model takes, by the bounds, keys and words of
        the run: a tensor, or a tuple of them where there are `Words`.

        `rows` is a frame, columns by their names, or a list of dicts; the target may be
        missing. As in the run, a number outside of its bounds counts as the nearest one,
        and a value that is none of the keys has 0 for each. A number that is missing, or
        infinite without bounds, is NaN: such rows did not count.
        """
        return self._reading.tensors(rows)

    def predict(self, rows: Any) -> list[Any]:
        """What the model says of new rows: for each one of the declared classes, or a
        number on the scale of the target; None where a number is missing. Nothing is
        charged, because the weights are released; what is said about a row is as private
        as that row.
        """
        return self._reading.answers(self.value, rows)

    @property
    def _reading(self) -> Reading:
        if self.reading is None:
            _refuse(
                "rows",
                "cannot be read, because this model was trained on tensors or a "
                "Dataset, without named columns; call .value on tensors that are made "
                "in the same way",
            )
        return self.reading

    def interval(self, confidence: float = 0.95, *, of: str = "truth") -> Ends:  # noqa: ARG002
        _refuse(
            "interval", "the weights of a model do not have intervals; read .history"
        )

    def __getitem__(self, key: Any) -> Release:
        _refuse(
            "key",
            "a released model cannot be indexed; read .value, .history or .guarantee",
        )

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return sum(one.numel() for one in self.value.parameters())

    def rows(self, confidence: float = 0.95) -> list[tuple[Any, Any, Any, Any]]:  # noqa: ARG002
        """The epochs: (number, what was measured, and its ends where it is noisy)."""
        found = self.history.shown
        return [_row(one, found) for one in self.history]

    def curve(self) -> list[tuple[float, float, float, float]]:
        """What was measured against ε: (ε, value, low, high) for each epoch that has
        it. The ε is that of a run which had stopped there; public figures are exact.
        """
        return self.history.curve()

    def plot(self, confidence: float = 0.95) -> Picture:  # type: ignore[override]  # noqa: ARG002
        """Accuracy or loss against ε, on public or on held-out records."""
        return self.history.plot()

    def save(self, path: str | Path) -> None:
        """Write weights, guarantee, receipt, history, and how columns are read to a file,
        for `load`. Keys that are neither texts nor numbers come back as texts.
        """
        held = {
            "format": FORMAT,
            "weights": self.value.state_dict(),
            "guarantee": json.dumps(to_json(self.guarantee)),
            "receipt": _receipt_text(self.receipt),
            "history": [vars(one) for one in self.history],
            "epsilons": list(self.history.epsilons),
            "delta": self.delta,
            "notes": list(self.notes),
            "digest": self.digest,
            "reading": None if self.reading is None else self.reading.saved(),
        }
        torch.save(held, Path(path))

    @classmethod
    def load(cls, path: str | Path, model: nn.Module) -> Self:
        """A saved release; `model` has the layers, and stays as it is."""
        held = _loaded(path)
        value = copy.deepcopy(model)
        try:
            value.load_state_dict(held["weights"])
        except RuntimeError:
            _refuse(
                "model",
                "has other layers than the saved model; pass one with the same layers",
            )
        if digest_of(value) != held["digest"]:
            _refuse(
                "path",
                "the file holds other weights than were released; use an intact copy",
            )
        epochs = tuple(Epoch(**one) for one in held["history"])
        guarantee, receipt = _promise(held)
        return cls(
            what="model",
            value=value,
            sources=(Source(guarantee, receipt),),
            notes=tuple(held["notes"]),
            history=History.told(epochs, held["epsilons"]),
            delta=held["delta"],
            digest=held["digest"],
            reading=_reading(held),
        )

    def _lines(self) -> list[str]:
        kind, count = type(self.value).__name__, len(self)
        return [f"model: {kind} with {count:,} parameters", *self._last()]

    def _promise(self) -> str:
        if not len(self.history):
            return ""
        return promised(self.guarantee, self.delta)

    def _last(self) -> list[str]:
        name = self.history.shown
        if name is None:
            return []
        _, value, low, high = _row(self.history[-1], name)
        if value is None:
            return []
        ends = "" if low is None else f" (95 % interval {low:.4g} to {high:.4g})"
        return [f"{NAMES[name]}: {value:.4g}{ends}"]

    def __repr__(self) -> str:
        return f"<ModelRelease: {type(self.value).__name__}>"

    def _repr_html_(self) -> str:
        return in_html(str(self).splitlines())


def _row(epoch: Epoch, name: str | None) -> tuple[Any, Any, Any, Any]:
    if name is None:
        return epoch.epoch, None, None, None
    noisy = name.startswith("validation")
    ends = (epoch.low, epoch.high) if noisy else (None, None)
    return epoch.epoch, getattr(epoch, name), *ends


def _refuse(argument: str, words: str) -> NoReturn:
    raise ArgumentError(argument, words)


def _receipt_text(receipt: Receipt | None) -> str | None:
    if receipt is None:
        return None
    left_out = ("disjoint", "taken")
    kept = {name: one for name, one in vars(receipt).items() if name not in left_out}
    return json.dumps({**kept, "guarantee": to_json(receipt.guarantee)})


def _promise(held: dict[str, Any]) -> tuple[Guarantee, Receipt | None]:
    guarantee = from_json(json.loads(held["guarantee"]))
    if held["receipt"] is None:
        return guarantee, None
    data = json.loads(held["receipt"])
    data.pop("guarantee")
    return guarantee, Receipt(guarantee=guarantee, **data)


def _reading(held: dict[str, Any]) -> Reading | None:
    found = held.get("reading")
    return None if found is None else Reading.loaded(found)


def _loaded(path: str | Path) -> dict[str, Any]:
    try:
        held = torch.load(Path(path), weights_only=True, map_location="cpu")
    except Exception:
        _refuse("path", "the file cannot be read as a model; pass one that .save wrote")
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        _refuse(
            "path", "the file does not hold a released model; pass one that .save wrote"
        )
    return held
