"""What an analyst can make the machine do, limited by public facts before anything is charged (rule R31)."""

from __future__ import annotations

KEY_LENGTH = 1_000
"""A longer text is no private key, as NULL is none."""
PRUNED = 20
"""Keys are left out below a twentieth of the threshold at most, by which the threshold then rises."""
MOST_GROUPS = 1_000_000
"""Rows of one answer, before HAVING and LIMIT."""
MOST_NUMBERS = 5_000_000
"""Noisy numbers of one answer: groups times what is measured for each."""
