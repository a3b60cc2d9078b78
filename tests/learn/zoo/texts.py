"""Models of texts, and others that are built from attention or embeddings."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from tests.learn.zoo.made import Built, Model, ids, kept, reals

__all__ = ["TEXTS"]

text = kept("texts")
WIDE, LONG, WORDS, HEADS = 8, 6, 11, 2
words = letters = ids(LONG, size=WORDS)


def heads(x: Tensor, count: int = HEADS) -> Tensor:
    return x.view(*x.shape[:2], count, -1).transpose(1, 2)


def joined(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def attended(m: Any, x: Tensor, mask: Tensor | None = None) -> Any:
    query, key, value = (heads(one(x)) for one in (m.query, m.key, m.value))
    found = functional.scaled_dot_product_attention(
        query, key, value, mask, m.drop.p if m.training else 0.0
    )
    return m.out(joined(found))


def weighed(m: Any, x: Tensor, mask: Tensor) -> Any:
    """The same, written out."""
    query, key, value = (heads(one(x)) for one in (m.query, m.key, m.value))
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return m.out(joined(m.drop(torch.softmax(scores, -1)) @ value))


def attention(func: Any, drop: float = 0.1, bias: bool = True) -> nn.Module:
    sides = {
        name: nn.Linear(WIDE, WIDE, bias=bias) for name in ("query", "key", "value")
    }
    return Built(func, **sides, out=nn.Linear(WIDE, WIDE), drop=nn.Dropout(drop))


def wide(drop: float = 0.1) -> nn.Module:
    return nn.Sequential(
        nn.Linear(WIDE, 16), nn.GELU(), nn.Linear(16, WIDE), nn.Dropout(drop)
    )


def after(m: Any, x: Tensor, *mask: Any) -> Any:
    """Norms after attention, as in BERT."""
    x = m.norm1(x + m.att(x, *mask))
    return m.norm2(x + m.wide(x))


def before(m: Any, x: Tensor, *mask: Any) -> Any:
    """Norms before it, as in GPT-2."""
    x = x + m.att(m.norm1(x), *mask)
    return x + m.wide(m.norm2(x))


def block(
    func: Any, att: nn.Module, norm: Any = nn.LayerNorm, **more: Any
) -> nn.Module:
    parts = {"norm1": norm(WIDE), "norm2": norm(WIDE), "wide": wide(), "att": att}
    return Built(func, **parts | more)


def blocks(func: Any, attend: Any, count: int = 2, **more: Any) -> nn.ModuleList:
    return nn.ModuleList(block(func, attention(attend), **more) for _ in range(count))


def bert(m: Any, words: Tensor, mask: Tensor) -> Any:
    seen = m.words(words) + m.places.weight + m.kinds(torch.zeros_like(words))
    seen, shown = m.drop(m.norm(seen)), mask.bool()[:, None, None, :]
    for one in m.blocks:
        seen = one(seen, shown)
    return m.out(torch.tanh(m.pool(seen[:, 0])))


def bert_model() -> nn.Module:
    return Built(
        bert,
        words=nn.Embedding(WORDS, WIDE, padding_idx=0),
        places=nn.Embedding(LONG, WIDE),
        kinds=nn.Embedding(2, WIDE),
        norm=nn.LayerNorm(WIDE),
        drop=nn.Dropout(0.1),
        blocks=blocks(after, attended),
        pool=nn.Linear(WIDE, WIDE),
        out=nn.Linear(WIDE, 3),
    )


def masked_words(rows: int) -> dict[str, Tensor]:
    lengths = torch.randint(1, LONG + 1, (rows, 1))
    mask = (torch.arange(LONG) < lengths).long()
    return {"words": words(rows) * mask, "mask": mask}


def roberta(m: Any, x: Tensor) -> Any:
    """Places are counted over what is not padding; attention is written out."""
    there = x != 1
    places = (torch.cumsum(there, 1) * there).long() + 1
    seen = m.norm(m.words(x) + m.places(places))
    for one in m.blocks:
        seen = one(seen, there[:, None, None, :])
    return m.out(m.drop(seen[:, 0]))


def roberta_model() -> nn.Module:
    return Built(
        roberta,
        words=nn.Embedding(WORDS, WIDE, padding_idx=1),
        places=nn.Embedding(LONG + 2, WIDE, padding_idx=1),
        norm=nn.LayerNorm(WIDE),
        blocks=blocks(after, weighed),
        drop=nn.Dropout(0.1),
        out=nn.Linear(WIDE, 3),
    )


def distilled(m: Any, words: Tensor, mask: Tensor) -> Any:
    """The mean over what is not padding."""
    seen, there = m.norm(m.words(words) + m.places), mask.float().unsqueeze(-1)
    for one in m.blocks:
        seen = one(seen, mask.bool()[:, None, None, :])
    mean = (seen * there).sum(1) / there.sum(1).clamp(min=1e-9)
    return m.out(torch.relu(m.first(mean)))


def distilled_model() -> nn.Module:
    return Built(
        distilled,
        words=nn.Embedding(WORDS, WIDE, padding_idx=0),
        places=torch.randn(LONG, WIDE),
        norm=nn.LayerNorm(WIDE),
        blocks=blocks(after, weighed, 1),
        first=nn.Linear(WIDE, WIDE),
        out=nn.Linear(WIDE, 3),
    )


def gpt_attended(m: Any, x: Tensor) -> Any:
    """One matrix for query, key and value, as in GPT-2 (its Conv1D)."""
    sides = torch.addmm(m.bias, x.flatten(0, 1), m.weight).view(*x.shape[:2], -1)
    query, key, value = (heads(one) for one in sides.chunk(3, -1))
    found = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    return m.out(joined(found))


def gpt(m: Any, x: Tensor) -> Any:
    words = functional.embedding(x, m.out.weight)
    seen = m.drop(words + m.places(torch.arange(x.shape[1])))
    for one in m.blocks:
        seen = one(seen)
    return m.out(m.norm(seen)).transpose(1, 2)


def gpt_model() -> nn.Module:
    def one() -> nn.Module:
        return Built(
            gpt_attended,
            weight=nn.Parameter(torch.randn(WIDE, 3 * WIDE) / 3),
            bias=nn.Parameter(torch.zeros(3 * WIDE)),
            out=nn.Linear(WIDE, WIDE),
        )

    return Built(
        gpt,
        places=nn.Embedding(LONG, WIDE),
        drop=nn.Dropout(0.1),
        blocks=nn.ModuleList(block(before, one()) for _ in range(2)),
        norm=nn.LayerNorm(WIDE),
        out=nn.Linear(WIDE, WORDS, bias=False),
    )


def turned(x: Tensor) -> Tensor:
    """Rotary places."""
    half = x.shape[-1] // 2
    speeds = 10.0 ** -torch.arange(half)
    angles = torch.arange(x.shape[-2])[:, None] * speeds
    cos, sin = (torch.cat([one, one], -1) for one in (angles.cos(), angles.sin()))
    one, two = x.chunk(2, -1)
    return x * cos + torch.cat([-two, one], -1) * sin


def rotary(m: Any, x: Tensor) -> Any:
    """Query heads share keys and values; `norms` are those of Qwen 3."""
    query, key, value = heads(m.query(x)), heads(m.key(x), 1), heads(m.value(x), 1)
    query, key = turned(m.norms[0](query)), turned(m.norms[1](key))
    key, value = (one.repeat_interleave(HEADS, 1) for one in (key, value))
    found = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    return m.out(joined(found))


def gated(m: Any, x: Tensor) -> Any:
    return m.down(m.act(m.gate(x)) * m.up(x))


def offset(m: Any, x: Tensor) -> Any:
    """Gemma's norm: 1 + weight, in float32."""
    spread = x.float().pow(2).mean(-1, keepdim=True)
    return (x.float() * torch.rsqrt(spread + 1e-6) * (1.0 + m.weight)).type_as(x)


def gemma_norm(size: int) -> nn.Module:
    return Built(offset, weight=nn.Parameter(torch.zeros(size)))


def llama(m: Any, x: Tensor) -> Any:
    seen = m.words(x) * m.scale
    for one in m.blocks:
        seen = one(seen)
    scores = m.out(m.norm(seen))
    if m.cap:
        scores = m.cap * torch.tanh(scores / m.cap)
    return scores.transpose(1, 2)


def llama_model(
    norm: Any = nn.RMSNorm,
    act: Any = nn.SiLU,
    bias: bool = False,
    inner: Any = nn.Identity,
    scale: float = 1.0,
    cap: float = 0.0,
) -> nn.Module:
    def attend() -> nn.Module:
        return Built(
            rotary,
            query=nn.Linear(WIDE, WIDE, bias=bias),
            key=nn.Linear(WIDE, WIDE // HEADS, bias=bias),
            value=nn.Linear(WIDE, WIDE // HEADS, bias=bias),
            norms=nn.ModuleList(inner(WIDE // HEADS) for _ in range(2)),
            out=nn.Linear(WIDE, WIDE, bias=False),
        )

    def inside() -> nn.Module:
        parts = {name: nn.Linear(WIDE, 12, bias=False) for name in ("gate", "up")}
        return Built(gated, **parts, down=nn.Linear(12, WIDE, bias=False), act=act())

    return Built(
        llama,
        words=nn.Embedding(WORDS, WIDE),
        blocks=nn.ModuleList(
            block(before, attend(), norm, wide=inside()) for _ in range(2)
        ),
        norm=norm(WIDE),
        out=nn.Linear(WIDE, WORDS, bias=False),
        scale=scale,
        cap=cap,
    )


def buckets() -> Tensor:
    """Distances, the far ones together."""
    apart = torch.arange(LONG) - torch.arange(LONG)[:, None]
    return apart.clamp(-3, 3) + 3


def biased(m: Any, x: Tensor, other: Tensor, bias: Tensor | float) -> Any:
    """Attention without a scale, with a bias for each distance, as in T5."""
    query, key, value = heads(m.query(x)), heads(m.key(other)), heads(m.value(other))
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) + bias
    return m.out(joined(torch.softmax(scores, -1) @ value))


def t5(m: Any, source: Tensor, target: Tensor) -> Any:
    near = m.near(m.apart).permute(2, 0, 1).unsqueeze(0)
    later = torch.full((LONG, LONG), torch.finfo(torch.float32).min).triu(1)
    seen = m.words(source)
    seen = seen + m.attend[0](m.norms[0](seen), m.norms[0](seen), near)
    seen = seen + m.wide[0](m.norms[1](seen))
    out = m.words(target)
    out = out + m.attend[1](m.norms[2](out), m.norms[2](out), near + later)
    out = out + m.attend[2](m.norms[3](out), seen, 0.0)
    out = m.norms[4](out + m.wide[1](out))
    return functional.linear(out * WIDE**-0.5, m.words.weight).transpose(1, 2)


def t5_model() -> nn.Module:
    return Built(
        t5,
        words=nn.Embedding(WORDS, WIDE),
        near=nn.Embedding(7, HEADS),
        apart=buckets(),
        attend=nn.ModuleList(attention(biased, 0.0, bias=False) for _ in range(3)),
        norms=nn.ModuleList(nn.RMSNorm(WIDE) for _ in range(5)),
        wide=nn.ModuleList(wide() for _ in range(2)),
    )


def vit(m: Any, x: Tensor) -> Any:
    seen = m.patches(x).flatten(2).transpose(1, 2)
    seen = torch.cat([m.first.expand(len(x), -1, -1), seen], 1) + m.places
    return m.out(m.norm(m.body(seen)[:, 0]))


def vit_model() -> nn.Module:
    layer = nn.TransformerEncoderLayer(
        WIDE, HEADS, 16, 0.1, "gelu", batch_first=True, norm_first=True
    )
    return Built(
        vit,
        patches=nn.Conv2d(2, WIDE, 4, stride=4),
        first=nn.Parameter(torch.randn(1, 1, WIDE)),
        places=nn.Parameter(torch.randn(1, 5, WIDE)),
        body=nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
        norm=nn.LayerNorm(WIDE),
        out=nn.Linear(WIDE, 3),
    )


def whisper(m: Any, x: Tensor) -> Any:
    """Spectra, two convolutions, waves as places, an encoder."""
    seen = functional.gelu(m.two(functional.gelu(m.one(x)))).transpose(1, 2)
    seen = seen + m.places
    for one in m.blocks:
        seen = one(seen)
    return m.out(m.norm(seen).mean(1))


def whisper_model() -> nn.Module:
    speeds = torch.arange(1.0, 7.0)[:, None] / 10.0 ** torch.arange(WIDE // 2)
    return Built(
        whisper,
        one=nn.Conv1d(4, WIDE, 3, padding=1),
        two=nn.Conv1d(WIDE, WIDE, 3, stride=2, padding=1),
        places=torch.cat([speeds.sin(), speeds.cos()], 1),
        blocks=blocks(before, attended),
        norm=nn.LayerNorm(WIDE),
        out=nn.Linear(WIDE, 3),
    )


def translated(m: Any, source: Tensor, target: Tensor) -> Any:
    later = nn.Transformer.generate_square_subsequent_mask(LONG)
    found = m.body(m.words(source), m.words(target), tgt_mask=later, tgt_is_causal=True)
    return m.out(found).transpose(1, 2)


def translation_model() -> nn.Module:
    body = nn.Transformer(WIDE, HEADS, 1, 1, 16, 0.1, batch_first=True)
    return Built(
        translated,
        words=nn.Embedding(WORDS, WIDE),
        body=body,
        out=nn.Linear(WIDE, WORDS),
    )


def padded(m: Any, x: Tensor) -> Any:
    seen = m.body(m.words(x), src_key_padding_mask=x == 0)
    return m.out(seen.mean(1))


def padded_model() -> nn.Module:
    layer = nn.TransformerEncoderLayer(WIDE, HEADS, 16, 0.1, batch_first=True)
    return Built(
        padded,
        words=nn.Embedding(WORDS, WIDE, padding_idx=0),
        body=nn.TransformerEncoder(layer, 2),
        out=nn.Linear(WIDE, 3),
    )


def hashed(m: Any, x: Tensor) -> Any:
    """Words, and pairs of words by a hash, as in fastText."""
    pairs = (x[:, 1:] * 7919 + x[:, :-1] * 104729) % 16
    return m.out((m.words(x).sum(1) + m.pairs(pairs).sum(1)) / (2 * LONG - 1))


def recommended(m: Any, users: Tensor, items: Tensor) -> Any:
    """Neural collaborative filtering."""
    both = torch.cat([m.users(users), m.items(items)], -1)
    close = m.wide_users(users) * m.wide_items(items)
    return m.out(torch.cat([m.deep(both), close], -1))


def recommended_model() -> nn.Module:
    return Built(
        recommended,
        users=nn.Embedding(9, 4),
        items=nn.Embedding(7, 4),
        wide_users=nn.Embedding(9, 3),
        wide_items=nn.Embedding(7, 3),
        deep=nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Dropout(0.2)),
        out=nn.Linear(9, 1),
    )


def factors(m: Any, users: Tensor, items: Tensor) -> Any:
    close = (m.users(users) * m.items(items)).sum(-1, keepdim=True)
    return close + m.user(users) + m.item(items) + m.mean


def factor_model() -> nn.Module:
    return Built(
        factors,
        users=nn.Embedding(9, 4),
        items=nn.Embedding(7, 4),
        user=nn.Embedding(9, 1),
        item=nn.Embedding(7, 1),
        mean=nn.Parameter(torch.zeros(1)),
    )


def user_and_item(rows: int) -> tuple[Tensor, Tensor]:
    return ids(size=9)(rows), ids(size=7)(rows)


def pooled(m: Any, x: Tensor) -> Any:
    seen = m.words(x)
    scores = m.score(torch.tanh(m.inner(seen))).squeeze(-1)
    weights = torch.softmax(scores.masked_fill(x == 0, -1e9), -1)
    return m.out(torch.einsum("bt,btd->bd", weights, seen))


def pooled_model() -> nn.Module:
    return Built(
        pooled,
        words=nn.Embedding(WORDS, WIDE),
        inner=nn.Linear(WIDE, WIDE),
        score=nn.Linear(WIDE, 1, bias=False),
        out=nn.Linear(WIDE, 3),
    )


def lean(m: Any, x: Tensor) -> Any:
    """Activations are computed again on the way back, to save memory."""
    seen = m.words(x) + m.places
    for one in m.blocks:
        seen = checkpoint(one, seen, use_reentrant=m.reentrant)
    return m.out(seen.mean(1))


def lean_model(reentrant: bool) -> nn.Module:
    return Built(
        lean,
        words=nn.Embedding(WORDS, WIDE),
        places=nn.Parameter(torch.randn(LONG, WIDE)),
        blocks=blocks(before, attended),
        out=nn.Linear(WIDE, 3),
        reentrant=reentrant,
    )


def compiled_model() -> nn.Module:
    model: Any = torch.compile(pooled_model(), backend="eager")
    return model  # type: ignore[no-any-return]


TEXTS: tuple[Model, ...] = (
    text("Whisper's encoder", make=whisper_model, inputs=reals(4, 12), draws=True),
    text("BERT with a padding mask", make=bert_model, inputs=masked_words, draws=True),
    text("RoBERTa", make=roberta_model, inputs=words, draws=True),
    text("DistilBERT", make=distilled_model, inputs=masked_words, draws=True),
    text(
        "GPT-2 with tied embeddings",
        make=gpt_model,
        inputs=words,
        targets=letters,
        draws=True,
    ),
    text("Llama", make=llama_model, inputs=words, targets=letters),
    text(
        "Gemma",
        make=lambda: llama_model(gemma_norm, nn.GELU, scale=WIDE**0.5, cap=30.0),
        inputs=words,
        targets=letters,
    ),
    text(
        "Qwen",
        make=lambda: llama_model(bias=True, inner=nn.RMSNorm),
        inputs=words,
        targets=letters,
    ),
    text(
        "T5, encoder and decoder",
        make=t5_model,
        inputs=lambda rows: (words(rows), words(rows)),
        targets=letters,
        draws=True,
    ),
    text("Vision transformer", make=vit_model, inputs=reals(2, 8, 8), draws=True),
    text(
        "nn.Transformer",
        make=translation_model,
        inputs=lambda rows: (words(rows), words(rows)),
        targets=letters,
        draws=True,
    ),
    text(
        "nn.TransformerEncoder with src_key_padding_mask",
        make=padded_model,
        inputs=words,
        draws=True,
    ),
    text("Attention pooling", make=pooled_model, inputs=words),
    text(
        "Bag of words (EmbeddingBag)",
        make=lambda: nn.Sequential(nn.EmbeddingBag(WORDS, WIDE), nn.Linear(WIDE, 3)),
        inputs=words,
    ),
    text(
        "fastText",
        make=lambda: Built(
            hashed,
            words=nn.Embedding(WORDS, WIDE),
            pairs=nn.Embedding(16, WIDE),
            out=nn.Linear(WIDE, 3),
        ),
        inputs=words,
    ),
    text(
        "Recommender of users and items",
        make=recommended_model,
        inputs=user_and_item,
        targets=reals(1),
        loss=functional.mse_loss,
        draws=True,
    ),
    text(
        "Matrix factorization",
        make=factor_model,
        inputs=user_and_item,
        targets=reals(1),
        loss=functional.mse_loss,
    ),
    text(
        "Checkpointed activations",
        make=lambda: lean_model(reentrant=False),
        inputs=words,
        draws=True,
    ),
    text(
        "Checkpointed activations, reentrant",
        make=lambda: lean_model(reentrant=True),
        inputs=words,
        draws=True,
    ),
    text("torch.compile(model)", make=compiled_model, inputs=words),
)
