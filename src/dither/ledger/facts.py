"""What a log says: accounts, analysts, charges without an answer yet, steps of runs,
stored releases.

Whole numbers and strings only, so that anyone who trusts nothing else of Dither can
read these modules (this one, `transitions` and `claims`) and follow an exported book
with them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import Any, Self

from dither.ledger.state import State

__all__ = ["AccountFacts", "AnalystFacts", "Facts", "Pending", "RunFacts"]

FAILURES, FAILURES_IN_ALL = 3, 12
"""Number of failures that stop one asker, and number that stop the account, of all
askers together.
"""


@dataclass(frozen=True)
class AccountFacts:
    """One account. Its policy is JSON text; `own` counts the failures of questions that
    were asked without a name.
    """

    dataset: str
    unit: str
    relation: str
    accounting: str
    epsilon: str
    delta: str
    order: int
    policy: str
    state: State
    failures: int = 0
    own: int = 0
    period: int = 1
    began: int = 0
    began_at: str = ""
    charges: int = 0
    frozen: str = ""
    written_off: int = 0

    def rule(self, name: str, default: Any = None) -> Any:
        """A rule of the policy; books of earlier versions may lack it."""
        found = json.loads(self.policy).get(name)
        return default if found is None else found


@dataclass(frozen=True)
class AnalystFacts:
    """The amount that one analyst has spent of an account in this period. `part` is
    empty if no share limits the analyst.
    """

    part: str = ""
    state: State = field(default_factory=lambda: State(0, 0, 0))
    charges: int = 0
    failures: int = 0
    frozen: str = ""


@dataclass(frozen=True)
class Pending:
    """A charge whose answer is not settled yet."""

    account: str
    analyst: str | None
    deadline: str
    id: str


@dataclass(frozen=True)
class RunFacts:
    """The steps that a charge paid for. The first `claimed` of them are taken
    permanently; `attempt` is the line of the process that may take the next ones: the
    charge, or the line by which the run was resumed.
    """

    account: str
    analyst: str | None
    steps: int
    plan: str
    claimed: int
    attempt: int
    ended: bool = False
    """Whether it was closed before its last step."""

    @property
    def closed(self) -> RunFacts:
        """The state with nothing left to take."""
        ended = self.ended or self.claimed < self.steps
        return replace(self, claimed=self.steps, ended=ended)


@dataclass
class Facts:
    """The content of a log. `schema` is the version of the rules that its lines were
    written under.
    """

    schema: int = 0
    mark: str | None = None
    accounts: dict[str, AccountFacts] = field(default_factory=dict)
    analysts: dict[tuple[str, str], AnalystFacts] = field(default_factory=dict)
    pending: dict[int, Pending] = field(default_factory=dict)
    releases: dict[tuple[str, str], tuple[int, int, str]] = field(default_factory=dict)
    """For each account and key: the charge's line, the line that stores the release,
    its hash.
    """
    recovered: set[str] = field(default_factory=set)
    runs: dict[int, RunFacts] = field(default_factory=dict)

    def of(self, account: str) -> dict[str, AnalystFacts]:
        """The analysts of an account."""
        return {
            name: facts
            for (whose, name), facts in self.analysts.items()
            if whose == account
        }

    def copy(self) -> Facts:
        return replace(
            self,
            accounts=dict(self.accounts),
            analysts=dict(self.analysts),
            pending=dict(self.pending),
            releases=dict(self.releases),
            recovered=set(self.recovered),
            runs=dict(self.runs),
        )

    def to_json(self) -> dict[str, Any]:
        """All content but the releases, to continue from later."""
        return {
            "schema": self.schema,
            "mark": self.mark,
            "accounts": {name: asdict(facts) for name, facts in self.accounts.items()},
            "analysts": [[*key, asdict(facts)] for key, facts in self.analysts.items()],
            "pending": [[seq, *astuple(one)] for seq, one in self.pending.items()],
            "recovered": sorted(self.recovered),
            "runs": [[seq, *astuple(one)] for seq, one in self.runs.items()],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            data["schema"],
            data["mark"],
            {
                name: AccountFacts(**_with_state(facts))
                for name, facts in data["accounts"].items()
            },
            {
                (one, two): AnalystFacts(**_with_state(facts))
                for one, two, facts in data["analysts"]
            },
            {seq: Pending(*rest) for seq, *rest in data["pending"]},
            recovered=set(data["recovered"]),
            # Books that were verified before there were runs have none
            runs={seq: RunFacts(*rest) for seq, *rest in data.get("runs", ())},
        )


def _with_state(data: Mapping[str, Any]) -> dict[str, Any]:
    return {**data, "state": State(**data["state"])}
