"""Models of the library Transformers, small and with random weights: how Dither finds their
gradients, and how long a part of a batch takes beside plain gradients.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from operator import itemgetter
from statistics import median
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils._pytree import tree_map  # noqa: E402

from bench.scripts.loop import serve  # noqa: E402

library: Any = import_module("transformers")
ROWS, WORDS, LABELS, VOCABULARY, WIDTH = 16, 64, 3, 1000, 128
REPEATS = 7
ENCODER = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 2 * WIDTH,
    "vocab_size": VOCABULARY,
    "num_labels": LABELS,
}
DECODER = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 2 * WIDTH,
    "vocab_size": VOCABULARY,
    "pad_token_id": 0,
    "use_cache": False,
}


def built(kind: str, configuration: str, **settings: Any) -> nn.Module:
    found: nn.Module = getattr(library, kind)(
        getattr(library, configuration)(**settings)
    )
    return found


def lora() -> nn.Module:
    peft: Any = import_module("peft")
    asked = peft.LoraConfig(r=8, target_modules=["query", "value"], task_type="SEQ_CLS")
    bert = built("BertForSequenceClassification", "BertConfig", **ENCODER)
    found: nn.Module = peft.get_peft_model(bert, asked)
    return found


def causal(name: str) -> Callable[[], nn.Module]:
    return lambda: built(f"{name}ForCausalLM", f"{name}Config", **DECODER)


class Heard(nn.Module):
    """The encoder of Whisper, and a line for labels."""

    def __init__(self) -> None:
        super().__init__()
        asked = library.WhisperConfig(
            d_model=WIDTH,
            encoder_layers=3,
            encoder_attention_heads=4,
            encoder_ffn_dim=2 * WIDTH,
            num_mel_bins=16,
            max_source_positions=WORDS,
        )
        place = import_module("transformers.models.whisper.modeling_whisper")
        self.encoder = place.WhisperEncoder(asked)
        self.out = nn.Linear(WIDTH, LABELS)

    def forward(self, sounds: Tensor) -> Tensor:
        seen = self.encoder(sounds).last_hidden_state
        found: Tensor = self.out(seen.mean(1))
        return found


def words() -> dict[str, Tensor]:
    """Texts of two lengths, with padding."""
    numbers = torch.randint(3, VOCABULARY, (ROWS, WORDS))  # allowed: made-up data
    there = torch.ones_like(numbers)
    there[::3, WORDS // 2 :] = 0
    return {"attention_mask": there, "input_ids": numbers}


def both() -> dict[str, Tensor]:
    found = words()
    return found | {"decoder_input_ids": found["input_ids"]}


def pictures() -> Tensor:
    return torch.randn(ROWS, 3, 32, 32)  # allowed: made-up data


def sounds() -> Tensor:
    return torch.randn(ROWS, 16, 2 * WORDS)  # allowed: made-up data


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Any]]] = {
    "BERT": (
        lambda: built("BertForSequenceClassification", "BertConfig", **ENCODER),
        words,
    ),
    "BERT with LoRA": (lora, words),
    "RoBERTa": (
        lambda: built("RobertaForSequenceClassification", "RobertaConfig", **ENCODER),
        words,
    ),
    "DistilBERT": (
        lambda: built(
            "DistilBertForSequenceClassification",
            "DistilBertConfig",
            dim=WIDTH,
            n_layers=3,
            n_heads=4,
            hidden_dim=2 * WIDTH,
            vocab_size=VOCABULARY,
            num_labels=LABELS,
        ),
        words,
    ),
    "GPT-2": (
        lambda: built(
            "GPT2LMHeadModel",
            "GPT2Config",
            n_embd=WIDTH,
            n_layer=3,
            n_head=4,
            vocab_size=VOCABULARY,
            use_cache=False,
        ),
        words,
    ),
    **{
        name: (causal(name), words)
        for name in ("Llama", "Mistral", "Qwen2", "Gemma", "Gemma2", "Phi3")
    },
    "T5": (
        lambda: built(
            "T5ForConditionalGeneration",
            "T5Config",
            d_model=WIDTH,
            d_kv=32,
            d_ff=2 * WIDTH,
            num_layers=3,
            num_heads=4,
            vocab_size=VOCABULARY,
            decoder_start_token_id=0,
            use_cache=False,
        ),
        both,
    ),
    "ViT": (
        lambda: built(
            "ViTForImageClassification",
            "ViTConfig",
            hidden_size=WIDTH,
            num_hidden_layers=3,
            num_attention_heads=4,
            intermediate_size=2 * WIDTH,
            image_size=32,
            patch_size=4,
            num_labels=LABELS,
        ),
        pictures,
    ),
    "Whisper's encoder": (Heard, sounds),
}


class Scores(nn.Module):
    """The scores of a model that returns more."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *given: Tensor, **named: Tensor) -> Tensor:
        found: Any = self.model(*given, **named)
        scores: Tensor = found if isinstance(found, Tensor) else found.logits
        return scores.movedim(-1, 1)


def answer(name: str) -> dict[str, Any]:
    """The route of a model, and milliseconds of plain and of private gradients."""
    from dither.learn.gradients.clipping import Flat
    from dither.learn.gradients.oracle import Traced, called
    from dither.learn.preparing import differentiating
    from dither.learn.route import route_of
    from dither.learn.run.course import keep_memory

    torch.set_num_threads(1)
    torch.manual_seed(0)  # allowed: made-up data
    keep_memory()
    make, rows = MODELS[name]
    model, inputs = Scores(make()).eval(), rows()
    single = called(model, inputs).ndim == 2
    targets = torch.arange(ROWS) % LABELS if single else inputs["input_ids"]
    loss = functional.cross_entropy
    few = tree_map(itemgetter(slice(3)), (inputs, targets))
    learned = [one for one in model.parameters() if one.requires_grad]
    there = torch.ones(ROWS)
    with differentiating(model):
        oracle = route_of(model, loss, *few)

        def plain() -> None:
            outputs = called(model, inputs)
            torch.autograd.grad(loss(outputs, targets), learned, allow_unused=True)

        def private() -> None:
            oracle.sums(inputs, targets, there, Flat(1.0))

        times = _interleaved(plain, private)
    return {
        "traced": isinstance(oracle, Traced),
        "plain": times[0],
        "private": times[1],
    }


def _interleaved(*calls: Callable[[], None]) -> list[float]:
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(REPEATS + 1):
        for call, kept in zip(calls, found, strict=True):
            began = time.process_time()
            call()
            kept.append((time.process_time() - began) * 1e3)
    return [median(one[1:]) for one in found]


if __name__ == "__main__":
    serve(answer)
