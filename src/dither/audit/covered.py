"""Whether `dither audit --self` knows everything that this library releases.

Every public class and function of the rooms below is audited by a case that names it in
`covers`, or is listed here with the reason why it is not. `missing` names the others.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Iterator, Mapping

from dither.audit.library import listed, names

__all__ = ["NOT_AUDITED", "ROOMS", "missing", "public", "stale"]

ROOMS = (
    "mechanisms",
    "query",
    "local",
    "local.oracles",
    "learn",
    "learn.pate",
    "learn.federated",
    "learn.hospitals",
    "science.census",
    "science.genomes",
    "science.graphs",
    "science.maps",
    "science.synth",
    "science.trials",
)
"""Rooms that release something; those that are not there are passed over."""

NOT_AUDITED: Mapping[str, tuple[str, ...]] = {
    "it is a base of others and makes nothing itself": (
        "mechanisms.Additive",
        "local.oracles.Longitudinal",
        "local.oracles.Mean",
        "local.oracles.Oracle",
        "local.oracles.Randomizer",
    ),
    "one call of the mechanism of that name, which is audited": (
        "mechanisms.exponential",
        "mechanisms.gaussian",
        "mechanisms.geometric",
        "mechanisms.laplace",
        "mechanisms.randomized_response",
    ),
    "a running mechanism, audited with what opens it": (
        "mechanisms.CountStream",
        "mechanisms.ThresholdStream",
    ),
    "a public shape or setting": (
        "mechanisms.Tree",
        "local.Attributes",
        "local.Domain",
        "local.Numbers",
        "local.SigningKey",
        "local.Task",
        "local.Vocabulary",
        "science.census.Edges",
        "science.census.Geography",
        "science.census.edges",
        "science.census.geography",
        "science.census.unit",
        "science.synth.Domain",
        "science.synth.TableError",
        "science.synth.categories",
        "science.synth.dates",
        "science.synth.numbers",
        "science.synth.booleans",
    ),
    "a setting of learn.train": (
        "learn.Adaptive",
        "learn.Automatic",
        "learn.Cosine",
        "learn.Flat",
        "learn.Linear",
        "learn.PerLayer",
        "learn.Validation",
        "learn.Words",
    ),
    "a setting of learn.pate, and audited with label_votes": (
        "learn.pate.ConfidentGNMax",
        "learn.pate.Counts",
        "learn.pate.Display",
        "learn.pate.GNMax",
        "learn.pate.NoisyMax",
        "learn.pate.TorchClassifier",
    ),
    "a setting of learn.federated.train": (
        "learn.federated.Banded",
        "learn.federated.FedAdam",
        "learn.federated.FedAvg",
        "learn.federated.Independent",
        "learn.federated.Participation",
        "learn.federated.Tree",
        "learn.federated.Weighted",
    ),
    "a part of learn.hospitals.train": (
        "learn.hospitals.Hospital",
        "learn.hospitals.Member",
        "learn.hospitals.Participation",
        "learn.hospitals.Update",
    ),
    "its teachers take seconds a draw; label_votes is audited": ("learn.pate.label",),
    "it reads no private row": (
        "learn.Preview",
        "learn.federated.Preview",
        "learn.federated.preview",
        "learn.hospitals.JointPreview",
        "learn.hospitals.preview",
        "learn.pate.VotePreview",
        "learn.pate.preview",
        "learn.preview",
        "local.choose",
        "local.needed",
        "science.trials.power",
        "science.trials.sample_size",
    ),
    "it works on what was released or sent already": (
        "learn.hospitals.average",
        "learn.hospitals.joint",
        "local.Messages",
        "local.Sent",
        "local.Tally",
        "local.parcel",
        "local.shuffled",
        "science.trials.holm",
    ),
    "it compares two that are audited": ("local.compare",),
    "it refuses every call": (
        "science.graphs.average_clustering",
        "science.graphs.clustering",
    ),
    "a result": (
        "mechanisms.Estimate",
        "learn.ModelRelease",
        "learn.SearchRelease",
        "learn.hospitals.JointRelease",
        "learn.pate.VoteRelease",
        "local.Average",
        "local.Choice",
        "local.Comparison",
        "local.Distribution",
        "local.Frequencies",
        "local.Needed",
        "local.Variance",
        "science.census.Census",
        "science.census.Measurements",
        "science.census.Ranges",
        "science.genomes.Answer",
        "science.genomes.Beacon",
        "science.genomes.ChiSquares",
        "science.genomes.Chosen",
        "science.genomes.Frequencies",
        "science.graphs.CountRelease",
        "science.graphs.DegreesRelease",
        "science.graphs.DistributionRelease",
        "science.graphs.MixingRelease",
        "science.maps.Blurred",
        "science.maps.HeatMap",
        "science.synth.Report",
        "science.synth.Synthetic",
        "science.trials.Blocks",
        "science.trials.ChiSquare",
        "science.trials.Comparison",
        "science.trials.ConfidenceInterval",
        "science.trials.Corrected",
        "science.trials.MannWhitney",
        "science.trials.Proportion",
        "science.trials.Regression",
        "science.trials.SurvivalRelease",
        "science.trials.TrialRelease",
        "science.trials.Wilcoxon",
    ),
}


def public() -> Iterator[str]:
    """The public classes and functions of all rooms, by their full names."""
    for room in ROOMS:
        home = f"dither.{room}"
        if importlib.util.find_spec(home) is None:
            continue
        module = importlib.import_module(home)
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            if inspect.isclass(found) or inspect.isfunction(found):
                yield f"{room}.{name}"


def missing() -> list[str]:
    """Names that are neither audited nor listed with a reason."""
    known = _excused() | names(listed())
    return sorted(set(public()) - known)


def stale() -> list[str]:
    """Names that are listed with a reason although they are audited or do not exist."""
    there = set(public())
    return sorted(_excused() & names(listed()) | _excused() - there)


def _excused() -> set[str]:
    return {name for reason in NOT_AUDITED.values() for name in reason}
