"""All models of the zoo."""

from __future__ import annotations

from tests.learn.zoo.images import IMAGES
from tests.learn.zoo.made import Model
from tests.learn.zoo.sequences import SEQUENCES
from tests.learn.zoo.tables import TABLES
from tests.learn.zoo.texts import TEXTS
from tests.learn.zoo.tricks import TRICKS

__all__ = ["ZOO"]

ZOO: tuple[Model, ...] = (*TABLES, *IMAGES, *SEQUENCES, *TEXTS, *TRICKS)
