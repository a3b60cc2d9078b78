"""The fields that the public registry of deployments asks for in its third tier of
transparency (registry.opendp.org), as far as a release knows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dither.details import Details
from dither.explain.report.section import Section
from dither.explain.words import plain, tiny
from dither.privacy import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    Unit,
    ZeroConcentratedDP,
)

__all__ = [
    "ACCOUNT",
    "BOTH",
    "CURATOR",
    "FLEETING_ACCOUNT",
    "MODEL",
    "STATISTICS",
    "registry",
]

CURATOR = "for the curator to fill in"
FLAVOURS: tuple[tuple[type[Guarantee], str], ...] = (
    (PureDP, "Pure DP"),
    (ApproxDP, "Approximate DP"),
    (ZeroConcentratedDP, "Zero-concentrated DP"),
    (GaussianDP, "Gaussian DP"),
    (RenyiDP, "Rényi DP"),
)
EXACT = "noise is drawn exactly, on a public grid"
FLOATS = "training uses float arithmetic"
STATISTICS = "Summary statistics"
MODEL = "Machine-learning model"
BOTH = "Summary statistics and machine-learning models"
ACCOUNT = "one account; each charge is durable before data is read"
FLEETING_ACCOUNT = "an account that ends with its process"


def registry(
    what: str,
    guarantee: Guarantee,
    pair: tuple[float, float] | None,
    details: Details,
    *,
    composition: str = ACCOUNT,
    afterwards: str = CURATOR,
    product: str = STATISTICS,
    local: bool = False,
    many: bool = False,
) -> Section:
    """Each field of the third tier with what is known; the rest is the curator's."""
    unit = guarantee.unit
    fields = {
        "product": {
            "name": what,
            "data_curators": CURATOR,
            "intended_use": CURATOR,
            "data_product_type": product,
            "data_product_region": CURATOR,
            "description": what,
            "publication_date": CURATOR,
            "data_product_sector": CURATOR,
        },
        "dp_flavor": {
            "name": _flavour(guarantee),
            "data_domain": _joined(details.declared),
            "unprotected_quantities": ", ".join(unit.given) or "none",
        },
        "privacy_loss": {
            "privacy_unit": unit.name,
            "privacy_unit_description": _neighbours(unit),
            "privacy_parameters": _parameters(pair),
            "privacy_parameters_description": str(guarantee),
        },
        "model": {
            "model_name": "Local" if local else "Central",
            "actors": "devices randomize; the collector is not trusted"
            if local
            else "a trusted curator; analysts are not trusted",
            "release_type": "Many releases" if many else "One release",
            "data_source_type": CURATOR,
            "access_type": "Interactive",
        },
        "accounting": {
            "post_processing": afterwards,
            "composition": composition,
        },
        "implementation": {
            "pre_processing_eda_hyperparameter_tuning": CURATOR,
            "mechanisms": _mechanisms(details, product, many),
            "justification": CURATOR,
        },
    }
    return Section(
        "registry",
        "Fields of the deployments registry, tier 3",
        ("As registry.opendp.org asks for them; this report registers nothing.",),
        _shown(fields),
        data={"deployment": fields},
    )


def _shown(fields: Mapping[str, Mapping[str, str]]) -> tuple[tuple[str, str], ...]:
    """Known fields one by one, then the names of those that the curator knows."""
    known, open_ = [], []
    for group, listed in fields.items():
        for name, text in listed.items():
            if text == CURATOR:
                open_.append(f"{group}.{name}")
            else:
                known.append((f"{group}.{name}", text))
    return (*known, (CURATOR, ", ".join(open_)))


def _flavour(guarantee: Guarantee) -> str:
    found = (name for kind, name in FLAVOURS if isinstance(guarantee, kind))
    return next(found, type(guarantee).__name__)


def _neighbours(unit: Unit) -> str:
    return f"neighbours differ in one {unit.name} with all its rows, by {unit.relation}"


def _parameters(pair: tuple[float, float] | None) -> str:
    if pair is None:
        return CURATOR
    epsilon, delta = pair
    return f"epsilon {plain(epsilon)}" + (f", delta {tiny(delta)}" if delta else "")


def _mechanisms(details: Details, product: str, many: bool) -> str:
    known = details.mechanism
    if not known:
        return CURATOR
    exact = [] if many and product == MODEL else [EXACT]
    floats = [FLOATS] if product in (MODEL, BOTH) else []
    return _joined((*known, *exact, *floats))


def _joined(lines: Sequence[str]) -> str:
    return "; ".join(lines) or CURATOR
