"""What to ask for instead of a test that people look for by another name."""

from __future__ import annotations

__all__ = ["hint", "unavailable"]

NO_T = (
    "a t statistic divides by a standard deviation that one person can bring close to 0, "
    "so no amount of noise is enough; use mannwhitneyu (no bounds needed, most power), "
    'mean_difference (declared bounds), or test_of_tests("ttest_ind", …)'
)
LOGRANK = "call kaplan_meier(…).logrank(), which costs nothing more than the curves"
INSTEAD = dict.fromkeys(
    ("ttest", "ttest_1samp", "ttest_ind", "ttest_rel", "welch"), NO_T
) | {
    "anova": "use kruskal",
    "f_oneway": 'use kruskal, or test_of_tests("f_oneway", …)',
    "fisher_exact": "use odds_ratio",
    "barnard_exact": "use odds_ratio or risk_difference",
    "logrank": LOGRANK,
    "logrank_test": LOGRANK,
    "cox": LOGRANK,
    "CoxPHFitter": "call kaplan_meier(…).hazard_ratio(time)",
    "KaplanMeierFitter": "use kaplan_meier",
    "ols": "use linregress",
    "proportion_confint": "use binomtest(…).confidence_interval()",
}


def hint(name: object) -> str:
    """The way out for a name that is not there, if one is known."""
    words = INSTEAD.get(name) if isinstance(name, str) else None
    return "" if words is None else f": {words}"


def unavailable(test: object) -> str:
    """The message about a test with a known way out; empty for other names."""
    known = isinstance(test, str) and test in INSTEAD
    return f"{test!r} is not available: {INSTEAD[str(test)]}" if known else ""
