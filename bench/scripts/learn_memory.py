"""Peak memory of a few steps, plain or private, in a process of its own."""

from __future__ import annotations

from bench.scripts.learn_models import made, plain_step
from bench.scripts.loop import peak, serve


def answer(model: str, mode: str) -> float | None:
    net, inputs, targets = made(model)
    step = plain_step(net, inputs, targets)
    if mode == "private":
        from bench.scripts.learn_private import private_step

        step = private_step(net, inputs, targets)
    for _ in range(3):
        step()
    return peak()


if __name__ == "__main__":
    serve(answer)
