"""What to ask for instead of a test that people look for by another name."""

from __future__ import annotations

__all__ = ["hint"]

NO_T = (
    "a t statistic divides by a spread that one person can bring near 0, so no noise is "
    "enough for it; use mannwhitneyu (no bounds needed, most power), mean_difference "
    '(declared bounds), or test_of_tests("ttest_ind", …)'
)
LOGRANK = "ask for kaplan_meier(…).logrank(), which is free with the curves"
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
    "CoxPHFitter": "ask for kaplan_meier(…).hazard_ratio(time)",
    "KaplanMeierFitter": "use kaplan_meier",
    "ols": "use linregress",
    "proportion_confint": "use binomtest(…).confidence_interval()",
}


def hint(name: object) -> str:
    """The way out for a name that is not there, if one is known."""
    words = INSTEAD.get(name) if isinstance(name, str) else None
    return "" if words is None else f": {words}"
