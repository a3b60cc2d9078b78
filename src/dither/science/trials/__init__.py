"""Clinical trials and other studies of people who have one record each: tests whose
p-values know of the noise, intervals about the population, and survival.

Sizes of arms are public and declared, so most tests are promises about a person who is
replaced: open the account as Unit("patient", "replace") from the start.
"""

from typing import TYPE_CHECKING, NoReturn

from dither.science.trials.asking import PERSON
from dither.science.trials.binomial import Proportion, binomtest
from dither.science.trials.blocks import Blocks, test_of_tests
from dither.science.trials.chi2 import ChiSquare, chi2_contingency, chisquare
from dither.science.trials.comparisons import Comparison
from dither.science.trials.curves import SurvivalRelease
from dither.science.trials.hints import hint
from dither.science.trials.holm import Corrected, holm
from dither.science.trials.kruskal_wallis import kruskal
from dither.science.trials.mannwhitney import MannWhitney, mannwhitneyu
from dither.science.trials.means import mean, mean_difference
from dither.science.trials.medians import median, median_difference
from dither.science.trials.odds import odds_ratio, risk_difference
from dither.science.trials.planning import power, sample_size
from dither.science.trials.regression import Regression, linregress
from dither.science.trials.result import ConfidenceInterval, TrialRelease
from dither.science.trials.shifts import location_shift
from dither.science.trials.signed_rank import Wilcoxon, wilcoxon
from dither.science.trials.survival import kaplan_meier

__all__ = [
    "PERSON",
    "Blocks",
    "ChiSquare",
    "Comparison",
    "ConfidenceInterval",
    "Corrected",
    "MannWhitney",
    "Proportion",
    "Regression",
    "SurvivalRelease",
    "TrialRelease",
    "Wilcoxon",
    "binomtest",
    "chi2_contingency",
    "chisquare",
    "holm",
    "kaplan_meier",
    "kruskal",
    "linregress",
    "location_shift",
    "mannwhitneyu",
    "mean",
    "mean_difference",
    "median",
    "median_difference",
    "odds_ratio",
    "power",
    "risk_difference",
    "sample_size",
    "test_of_tests",
    "wilcoxon",
]

if not TYPE_CHECKING:  # type checkers know what is not here

    def __getattr__(name: str) -> NoReturn:
        words = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(f"{words}{hint(name)}", name=name)
