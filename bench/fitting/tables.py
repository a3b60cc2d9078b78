"""Twenty tables that ship in wheels, and what a careful person would declare for each.

Bounds are round numbers from the meaning of a column or its published description. A
column of words has declared keys: two keys make one column of 0 and 1, more make one
column each. `randhie`, `fair` and `anes96` are the tables on which the losses of the
classifiers were first seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.fitting.data import Data, scaled

__all__ = ["TABLES", "Table"]

Reals = NDArray[np.float64]
Value = float | str | None
Held = Mapping[str, Sequence[Value]]
BLANK = "–"


@dataclass(frozen=True)
class Table:
    """A table: its place in a wheel, its target, and the declared columns.

    `columns` are separated by spaces: `age:0:100` has bounds, `sex=female|male` has
    keys. The target is a column with declared keys, or `children>0`.
    """

    name: str
    package: str
    item: str
    target: str
    columns: str

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names of the columns, the target last."""
        return (*(_name(one) for one in self.columns.split()), _name(self.target))

    def data(self, held: Held) -> Data:
        """Rows from -1 to 1, without those that have no target."""
        classes = _classes(self.target, held[_name(self.target)])
        parts = [_column(one, held[_name(one)]) for one in self.columns.split()]
        there = classes >= 0
        return Data(self.name, np.hstack(parts)[there], classes[there])


def _name(column: str) -> str:
    for sign in ":=>":
        column = column.partition(sign)[0]
    return column


def _keys(column: str) -> list[str]:
    return [one.replace("_", " ") for one in column.partition("=")[2].split("|")]


def _classes(target: str, values: Sequence[Value]) -> NDArray[np.int64]:
    """The number of each row's class; -1 if it is missing."""
    if ">" in target:
        least = float(target.partition(">")[2])
        found: list[Any] = [
            -1 if one is None else int(float(one) > least) for one in values
        ]
    else:
        found = _places(target, values)
    return np.array(found, np.int64)


def _places(column: str, values: Sequence[Value]) -> list[int]:
    keys = _keys(column)
    return [
        keys.index(one) if (one := _word(value)) in keys else -1 for value in values
    ]


def _word(value: Value) -> str:
    if isinstance(value, str):
        return value.replace("_", " ")
    return BLANK if value is None else f"{value:g}"


def _column(column: str, values: Sequence[Value]) -> Reals:
    """One column from -1 to 1, or one for each key. A missing value is in the middle."""
    if "=" not in column:
        _, low, high = column.split(":")
        numbers = [np.nan if one is None else float(one) for one in values]
        bounds = float(low), float(high)
        found: Reals = np.nan_to_num(scaled(np.array(numbers), bounds))
        return found[:, None]
    places, count = np.array(_places(column, values)), len(_keys(column))
    if count == 2:
        return np.asarray(np.where(places < 0, 0.0, 2.0 * places - 1)[:, None])
    return np.asarray(2.0 * (places[:, None] == np.arange(count)) - 1)


FIVE = "1|2|3|4|5"
TABLES = (
    Table(
        "randhie",
        "statsmodels",
        "randhie",
        "mdvis>0",
        "lncoins:0:5 idp:0:1 lpi:0:8 fmde:0:9 physlm:0:1 disea:0:60 hlthg:0:1 "
        "hlthf:0:1 hlthp:0:1",
    ),
    Table(
        "fair",
        "statsmodels",
        "fair",
        "affairs>0",
        "rate_marriage:1:5 age:15:45 yrs_married:0:25 children:0:6 religious:1:4 "
        "educ:9:20 occupation:1:6 occupation_husb:1:6",
    ),
    Table(
        "anes96",
        "statsmodels",
        "anes96",
        "vote=0|1",
        "logpopul:-3:10 TVnews:0:7 selfLR:1:7 ClinLR:1:7 DoleLR:1:7 PID:0:6 age:18:100 "
        "educ:1:7 income:1:24",
    ),
    Table(
        "Affairs",
        "AER",
        "Affairs",
        "affairs>0",
        "gender=female|male age:15:60 yearsmarried:0:15 children=no|yes "
        "religiousness:1:5 education:9:20 occupation:1:7 rating:1:5",
    ),
    Table(
        "SwissLabor",
        "AER",
        "SwissLabor",
        "participation=no|yes",
        "income:6:14 age:1.5:7 education:0:20 youngkids:0:4 oldkids:0:6 foreign=no|yes",
    ),
    Table(
        "CreditCard",
        "AER",
        "CreditCard",
        "card=no|yes",
        "reports:0:15 age:0:100 income:0:15 owner=no|yes selfemp=no|yes "
        "dependents:0:6 months:0:600 majorcards:0:1 active:0:50",
    ),
    Table(
        "Pima.te",
        "MASS",
        "Pima.te",
        "type=No|Yes",
        "npreg:0:20 glu:50:200 bp:20:120 skin:0:100 bmi:15:70 ped:0:2.5 age:20:90",
    ),
    Table(
        "biopsy",
        "MASS",
        "biopsy",
        "class=benign|malignant",
        " ".join(f"V{place}:1:10" for place in range(1, 10)),
    ),
    Table(
        "birthwt",
        "MASS",
        "birthwt",
        "low=0|1",
        "age:10:50 lwt:80:250 race=1|2|3 smoke:0:1 ptl:0:4 ht:0:1 ui:0:1 ftv:0:6",
    ),
    Table(
        "Default",
        "ISLR",
        "Default",
        "default=No|Yes",
        "student=No|Yes balance:0:3000 income:0:100000",
    ),
    Table(
        "OJ",
        "ISLR",
        "OJ",
        "Purchase=CH|MM",
        f"WeekofPurchase:220:280 StoreID={FIVE}|7 PriceCH:1.5:2.5 PriceMM:1.5:2.5 "
        "DiscCH:0:1 DiscMM:0:1 SpecialCH:0:1 SpecialMM:0:1 LoyalCH:0:1 PriceDiff:-1:1",
    ),
    Table(
        "spam7",
        "DAAG",
        "spam7",
        "yesno=n|y",
        "crl.tot:0:1000 dollar:0:1 bang:0:2 money:0:1 n000:0:1 make:0:1",
    ),
    Table(
        "Arrests",
        "carData",
        "Arrests",
        "released=No|Yes",
        "colour=Black|White year:1997:2002 age:10:70 sex=Female|Male employed=No|Yes "
        "citizen=No|Yes checks:0:6",
    ),
    Table(
        "BEPS",
        "carData",
        "BEPS",
        "vote=Conservative|Labour|Liberal_Democrat",
        "age:18:100 economic.cond.national:1:5 economic.cond.household:1:5 Blair:1:5 "
        "Hague:1:5 Kennedy:1:5 Europe:1:11 political.knowledge:0:3 gender=female|male",
    ),
    Table(
        "Chile",
        "carData",
        "Chile",
        "vote=A|N|U|Y",
        "region=C|M|N|S|SA population:0:250000 sex=F|M age:18:70 education=P|PS|S "
        "income:0:200000 statusquo:-2:2.5",
    ),
    Table(
        "wa_churn",
        "modeldata",
        "wa_churn",
        "churn=No|Yes",
        "female:0:1 senior_citizen:0:1 partner:0:1 dependents:0:1 tenure:0:72 "
        "phone_service:0:1 internet_service=DSL|Fiber_optic|No "
        "contract=Month-to-month|One_year|Two_year paperless_billing:0:1 "
        "payment_method=Bank_transfer_(automatic)|Credit_card_(automatic)|"
        "Electronic_check|Mailed_check monthly_charges:0:120",
    ),
    Table(
        "k401ksubs",
        "wooldridge",
        "k401ksubs",
        "e401k=0|1",
        "inc:0:200 marr:0:1 male:0:1 age:25:65 fsize:1:10 nettfa:-50:500",
    ),
    Table(
        "recid",
        "wooldridge",
        "recid",
        "cens=0|1",
        "black:0:1 alcohol:0:1 drugs:0:1 super:0:1 married:0:1 felon:0:1 workprg:0:1 "
        "property:0:1 person:0:1 priors:0:20 educ:0:20 rules:0:20 age:200:900 "
        "tserved:0:200",
    ),
    Table(
        "penguins",
        "palmerpenguins",
        "penguins",
        "species=Adelie|Chinstrap|Gentoo",
        "bill_length_mm:30:60 bill_depth_mm:12:22 flipper_length_mm:170:240 "
        "body_mass_g:2500:6500",
    ),
    Table(
        "credit_data",
        "modeldata",
        "credit_data",
        "Status=bad|good",
        "Seniority:0:50 Home=other|owner|parents|priv|rent Time:6:72 Age:18:70 "
        "Marital=divorced|married|separated|single|widow Records=no|yes "
        "Job=fixed|freelance|others|partime Expenses:30:200 Income:0:1000 "
        "Assets:0:100000 Debt:0:30000 Amount:0:5000 Price:0:12000",
    ),
)
