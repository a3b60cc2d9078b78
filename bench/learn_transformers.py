"""Models of the library Transformers: one backward pass, and its time beside plain
gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import Goal, Report, Row, at_least, at_most
from bench.peers import Worker

MINE, PLAIN = "dither", "plain gradients"
WORK, ROUTE = "gradient work, ms", "one backward pass"
MODELS = (
    *("BERT", "BERT with LoRA", "RoBERTa", "DistilBERT", "GPT-2", "Llama", "Mistral"),
    *("Qwen2", "Gemma", "Gemma2", "Phi3", "T5", "ViT", "Whisper's encoder"),
)
LIMIT = 2.0
VERSIONS = {"transformers": "5.23.0", "peft": "0.21.2", "torch": "2.13.0"}
NOTES = (
    "Models of three layers and width 128 with random weights, 16 rows of 64 words (or "
    "image patches, or sounds), texts of two lengths with padding and a mask; float32, "
    "one thread; CPU time, medians of interleaved calls in evaluation mode.",
)


def measured(name: str) -> Iterator[Row]:
    with Worker("transformers", "learn_transformers") as worker:
        found = worker.ask(name=name)
    yield Row(name, MINE, ROUTE, float(found["traced"]))
    yield Row(name, PLAIN, WORK, round(found["plain"], 2))
    yield Row(name, MINE, WORK, round(found["private"], 2))


def goals(rows: list[Row]) -> Iterator[Goal]:
    found = {(row.case, row.system, row.metric): row.value or 0.0 for row in rows}
    traced = sum(found[name, MINE, ROUTE] for name in MODELS)
    yield at_least("models that take one backward pass", float(len(MODELS)), traced)
    for name in MODELS:
        ratio = found[name, MINE, WORK] / found[name, PLAIN, WORK]
        yield at_most(f"{name}: gradient work beside plain", LIMIT, round(ratio, 2))


def run() -> Report:
    rows = [row for name in MODELS for row in measured(name)]
    return Report(tuple(rows), tuple(goals(rows)), NOTES, VERSIONS)
