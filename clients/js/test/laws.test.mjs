/**
 * The exact law of every oracle: all ways its coins can fall, with their probabilities as
 * fractions of whole numbers. No message is more likely under one item than e^ε times as
 * likely as under another.
 */
import assert from "node:assert/strict";
import test from "node:test";

import { single } from "../src/oracles.js";

const ONE = 2 ** 32;

/** A walk over all choices, depth first. */
class Paths {
  script = [];
  sizes = [];

  choose(weights, under) {
    if (this.at === this.script.length) {
      this.script.push(0);
      this.sizes.push(weights.length);
    }
    const chosen = this.script[this.at++];
    this.over *= weights[chosen];
    this.under *= under;
    return chosen;
  }

  words() {
    const coin = (threshold) =>
      this.choose([BigInt(threshold), BigInt(ONE - threshold)], BigInt(ONE)) === 0;
    const below = (bound) => this.choose(Array(bound).fill(1n), BigInt(bound));
    const biased = (threshold, bits) => Array.from({ length: bits }, () => +coin(threshold));
    return { coin, below, biased };
  }

  /** The weight of every outcome, as [over, under]. */
  async law(run) {
    const law = new Map();
    for (;;) {
      [this.at, this.over, this.under] = [0, 1n, 1n];
      const outcome = JSON.stringify(await run(this.words()));
      const [over, under] = law.get(outcome) ?? [0n, 1n];
      if (this.over) law.set(outcome, [over * this.under + this.over * under, under * this.under]);
      while (this.script.length && this.script.at(-1) + 1 === this.sizes.at(-1)) {
        this.script.pop();
        this.sizes.pop();
      }
      if (!this.script.length) return law;
      this.script[this.script.length - 1] += 1;
    }
  }
}

const ratio = ([a, b], [c, d]) => Number((a * d * 10n ** 15n) / (b * c)) / 1e15;

function largestRatio(laws) {
  let most = 1;
  for (const one of laws) {
    for (const other of laws) {
      for (const [outcome, weight] of one) most = Math.max(most, ratio(weight, other.get(outcome)));
    }
  }
  return most;
}

async function whole(oracle, item, words) {
  if (oracle.draw) return oracle.draw(words, item);
  const seed = (await oracle.seed?.(words)) ?? 0;
  return oracle.send(words, await oracle.keep(words, item, seed), seed);
}

const utf8 = (text) => new TextEncoder().encode(text);
const texts = ["s:a", "s:b", "s:c", "n:"].map(utf8);
const numbers = (count) => Array.from({ length: count }, (_, at) => at);

const CASES = [
  [{ items: 4, kind: "k-ary response", truth: 2_400_000_000 }, numbers(4)],
  [{ items: 3, kind: "unary", one: 2 ** 31, zero: 1_155_094_610 }, numbers(3)],
  [
    {
      items: 2,
      kept_one: 2 ** 31,
      kept_zero: 511_972_652,
      kind: "longitudinal unary",
      sent_one: 3_450_525_472,
      sent_zero: 844_441_824,
    },
    numbers(2),
  ],
  [{ items: 4, kind: "subset selection", size: 2, truth: 3_221_225_472 }, numbers(4)],
  [{ digits: 2, items: 4, kind: "local hashing", prime: 3, truth: 2_474_403_178 }, numbers(4)],
  [{ blocks: 2, items: 5, kind: "Hadamard response", side: 4, truth: 2_458_754_568 }, numbers(5)],
  [{ columns: 4, flip: 1_155_094_610, items: 0, kind: "count-mean sketch", rows: 2 }, texts],
  [{ columns: 4, items: 0, kind: "Hadamard sketch", rows: 2, truth: 3_139_872_686 }, texts],
  [
    { functions: 1, items: 3, kept: 2_786_513_124, kind: "loloha", sent: 2_425_517_477, values: 3 },
    numbers(3),
  ],
  [
    { functions: 9, items: 4, kept: 3_221_225_472, kind: "loloha", sent: 3_221_225_472, values: 3 },
    numbers(4),
  ],
  [
    {
      bits: 2,
      cohorts: 2,
      family: "murmur32",
      flip: 1_155_094_610,
      hashes: 1,
      items: 0,
      kind: "rappor",
      sent_one: 2_725_031_037,
      sent_zero: 577_547_305,
    },
    texts,
  ],
  [
    {
      bits: 1,
      cohorts: 1,
      family: "identity",
      flip: 511_972_652,
      hashes: 1,
      items: 2,
      kind: "rappor",
      sent_one: 3_450_525_472,
      sent_zero: 844_441_824,
    },
    numbers(2),
  ],
  [{ items: 4, kind: "binary mean", truth: 3_000_000_000 }, numbers(4)],
  [
    {
      binary: 2 ** 30,
      inside: 3_000_000_000,
      items: 4,
      kind: "hybrid mean",
      steps: 5,
      truth: 2_800_000_000,
      window: 2,
    },
    numbers(4),
  ],
  [{ items: 4, kept: 3_221_225_472, kind: "one-bit mean", sent: 3_000_000_000 }, numbers(4)],
];

for (const [parameters, items] of CASES) {
  test(`${parameters.kind}: no message loses more than its ε`, async () => {
    const oracle = single(parameters);
    const laws = [];
    for (const item of items)
      laws.push(await new Paths().law((words) => whole(oracle, item, words)));
    for (const law of laws) {
      const [over, under] = [...law.values()].reduce(([a, b], [c, d]) => [a * d + b * c, b * d]);
      assert.equal(over, under); // probabilities add up to 1
      assert.equal(law.size, laws[0].size); // what one item can send, all can
    }
    const lost = Math.log(largestRatio(laws));
    assert.ok(lost <= oracle.lost, `${lost} is more than ${oracle.lost}`);
    // texts may share places, and never differ in all that they could
    if (parameters.items)
      assert.ok(lost > oracle.lost - 1e-9, `${lost} is less than ${oracle.lost}`);
  });
}

for (const [parameters, items] of CASES.filter(([{ kind }]) =>
  /loloha|longitudinal|rappor|one-bit/.test(kind),
)) {
  test(`${parameters.kind}: what is kept loses no more than its ε for ever`, async () => {
    const oracle = single(parameters);
    const laws = [];
    for (const item of items) {
      laws.push(
        await new Paths().law(async (words) => {
          const seed = (await oracle.seed?.(words)) ?? 0;
          return [seed, await oracle.keep(words, item, seed)];
        }),
      );
    }
    assert.ok(Math.log(largestRatio(laws)) <= oracle.ever);
  });
}
