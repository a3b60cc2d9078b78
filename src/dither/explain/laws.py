"""The closed forms behind every explained number. Losses are in nats; nothing
overflows, however large ε is.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from dither.privacy import gaussian_mu

__all__ = [
    "advantage",
    "chance_outside",
    "exp",
    "gaussian_advantage",
    "gaussian_beyond",
    "gaussian_error",
    "gaussian_power",
    "group",
    "guess",
    "laplace_error",
    "normal_width",
    "posterior",
    "power",
    "pure_kl",
    "response_error",
]

NORMAL = NormalDist()
_ROOT2 = math.sqrt(2.0)


def exp(loss: float) -> float:
    """e^loss; infinite beyond the floats."""
    return math.exp(loss) if loss < 709.0 else math.inf


def posterior(prior: float, loss: float) -> float:
    """The belief after odds were multiplied by e^loss; a negative loss divides them. A
    certain belief stays.
    """
    if prior in (0.0, 1.0):
        return prior
    if loss < 0.0:
        shrunk = prior * math.exp(loss)
        return shrunk / (shrunk + (1.0 - prior))
    return prior / (prior + (1.0 - prior) * math.exp(-loss))


def advantage(epsilon: float, delta: float = 0.0) -> float:
    """The largest (true minus false positives) of any test: (e^ε − 1 + 2δ)/(e^ε + 1).
    Also the total variation.
    """
    pure = math.tanh(epsilon / 2.0)
    return pure + delta * (1.0 - pure)


def power(false_positives: float, epsilon: float, delta: float = 0.0) -> float:
    """The most true positives of a test with so many false ones, under (ε, δ).

    Why: the event and its complement, in both orders of the neighbours (Wasserman &
    Zhou 2010; Kairouz, Oh, Viswanath 2015): min(1, e^ε·a + δ, 1 − e^(−ε)(1 − δ − a)).
    """
    steep = exp(epsilon) * false_positives + delta if false_positives else delta
    flat = 1.0 - math.exp(-epsilon) * max(1.0 - delta - false_positives, 0.0)
    return min(1.0, steep, flat)


def guess(prior: float, epsilon: float, delta: float = 0.0) -> float:
    """Probability that the best guess is right, starting from a prior: at one of the
    three corners of the ROC curve.
    """
    always_no = 1.0 - prior + prior * delta
    always_yes = prior + (1.0 - prior) * delta
    return max(always_no, always_yes, (1.0 + advantage(epsilon, delta)) / 2.0)


def pure_kl(epsilon: float) -> float:
    """The largest KL divergence between neighbours under pure ε, reached by randomized
    response: ε·tanh(ε/2).
    """
    return epsilon * math.tanh(epsilon / 2.0)


def chance_outside(epsilon: float, delta: float, margin: float) -> float:
    """The chance of an answer that moves odds by more than margin·e^ε, up or down,
    under (ε, δ).

    Why: on the set B where P > m·e^ε·Q, P(B) ≤ e^ε·Q(B) + δ ≤ P(B)/m + δ, so P(B) ≤
    δm/(m − 1) and Q(B) ≤ δe^(−ε)/(m − 1); the set where Q > m·e^ε·P mirrors it. In
    either world the two sum to the result.
    """
    return min(1.0, delta * (margin + math.exp(-epsilon)) / (margin - 1.0))


def group(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """(kε, δ·(e^(kε) − 1)/(e^ε − 1)): the promise for k people together, where δ is at
    most 1.
    """
    total = size * epsilon
    if delta == 0.0 or epsilon == 0.0:
        return total, min(1.0, size * delta)
    grown = math.log(delta) + (size - 1) * epsilon
    if grown >= 0.0:
        return total, 1.0
    return total, min(1.0, math.exp(grown) * math.expm1(-total) / math.expm1(-epsilon))


def gaussian_power(false_positives: float, mu: float) -> float:
    """The largest rate of true positives at this rate of false ones, for Gaussian
    noise: Φ(Φ⁻¹(a) + μ).
    """
    if not 0.0 < false_positives < 1.0:
        return 0.0 if false_positives <= 0.0 else 1.0
    return NORMAL.cdf(NORMAL.inv_cdf(false_positives) + mu)


def gaussian_advantage(mu: float) -> float:
    """2Φ(μ/2) − 1."""
    return math.erf(mu / (2.0 * _ROOT2))


def gaussian_beyond(mu: float, epsilon: float) -> float:
    """Probability that Gaussian noise moves odds by more than e^ε, up or down: the loss
    is N(μ²/2, μ²).
    """
    up, down = mu / 2.0 - epsilon / mu, -mu / 2.0 - epsilon / mu
    return (math.erfc(-up / _ROOT2) + math.erfc(-down / _ROOT2)) / 2.0


def normal_width(confidence: float) -> float:
    """The z with P(|Z| ≤ z) = confidence: 1.96 at 95 %."""
    return NORMAL.inv_cdf((1.0 + confidence) / 2.0)


def laplace_error(epsilon: float, confidence: float, sensitivity: float = 1.0) -> float:
    """The ± that Laplace noise stays within: Δ·ln(1/(1 − confidence))/ε. No noise is
    enough for ε = 0.
    """
    return sensitivity * -math.log(1.0 - confidence) / epsilon if epsilon else math.inf


def gaussian_error(
    epsilon: float, delta: float, confidence: float, sensitivity: float = 1.0
) -> float:
    """The ± that the least Gaussian noise for (ε, δ) stays within: z·Δ/μ."""
    return normal_width(confidence) * sensitivity / gaussian_mu(epsilon, delta)


def response_error(epsilon: float, n: int, confidence: float) -> float:
    """The ± of a count estimated from n randomized responses: z·√n / (2 sinh(ε/2)), for
    large n.
    """
    return (
        normal_width(confidence)
        * math.sqrt(n)
        * math.exp(-epsilon / 2.0)
        / -math.expm1(-epsilon)
    )
