/** Oracles for answers that are given again and again: noise that is kept, and fresh noise
 * on top. */
import { range } from "./bytes.js";
import { encoded, respond, sayHashed, sayItem, sayOnes } from "./drawing.js";
import { need, whole } from "./errors.js";
import { bitsLoss, loss, product, responseLoss, unaryLoss } from "./exact.js";
import { digest, isPower, isPrime, linear, place } from "./hashes.js";
import { min, round } from "./numbers.js";
import { HALF, ONE } from "./words.js";

const SQUARE = product(ONE, ONE);

/** Two layers of response: a kept one, and one for each message, which names the device's
 * function where there are several. `stale` is how likely a symbol stays, of 2^32. */
export const responses = (kept, sent, values, functions) => {
  const [ever, instant] = [kept, sent].map((one) => responseLoss(one, values));
  const others = product(values - 1);
  const truth = product(kept, sent, others) + product(ONE - kept, ONE - sent);
  return {
    lost: ever && instant && loss([truth, others], [SQUARE * others - truth]),
    ...{ ever, instant, stale: sent },
    head: functions * values,
    tracking: functions,
    send: (words, held, seed) =>
      (functions > 1 && seed * values) + respond(words, sent, values, held),
  };
};

/** Fresh noise on kept bits: a one is sent as one with probability `one` / 2^32, a zero
 * with `zero`. */
const resent = (one, zero, bits) => ({
  instant: bitsLoss(one, zero, bits),
  stale: min(one, ONE - zero),
  bits,
  send: (words, kept, seed) => {
    const ones = words.biased(one, bits);
    const zeros = words.biased(zero, bits);
    return [seed, kept.map((bit, at) => (bit ? ones : zeros)[at])];
  },
});

/** Lines of the document, and what follows from their numbers, in that order. */
export const KEPT = {
  "longitudinal unary": [
    "items kept_one kept_zero kind sent_one sent_zero",
    (items, one, zero, _, sentOne, sentZero) => {
      const said = (kept) => product(kept, sentOne) + product(ONE - kept, sentZero);
      return {
        lost:
          items &&
          one > zero &&
          sentOne > sentZero &&
          sentZero &&
          sentOne < ONE &&
          unaryLoss(said(one), said(zero), SQUARE),
        ever: unaryLoss(one, zero),
        ...resent(sentOne, sentZero, items),
        keep: (words, item) => encoded(words, one, zero, items, item),
        says: sayOnes,
      };
    },
  ],

  loloha: [
    "functions items kept kind sent values",
    (functions, items, kept, _, sent, values) => {
      const layers = responses(kept, sent, values, functions);
      // linear functions collide exactly as often as chance, where they are enough
      const digits = round(Math.log(functions) / Math.log(values));
      const exact = values ** digits === functions && functions >= items;
      const hashed = (item, seed) =>
        exact && isPrime(values)
          ? linear(values, digits, seed, item)
          : place([item, item], seed, values);
      const plain = functions === 1;
      return {
        ...layers,
        lost:
          whole(functions, 1, 256) &&
          items > 1 &&
          whole(values, 2, 2 ** 20) &&
          (!plain || values === items) &&
          layers.lost,
        seed: (words) => words.below(functions),
        keep: (words, item, seed) =>
          respond(words, kept, values, plain ? item : hashed(item, seed)),
        says: plain ? sayItem : sayHashed(values),
      };
    },
  ],

  rappor: [
    "bits cohorts family flip hashes items kind sent_one sent_zero",
    (bits, cohorts, family, flip, hashes, items, _, sentOne, sentZero) => {
      const known = family === (items ? "identity" : "murmur32");
      need(known, "oracle", "cannot use MD5 here; use the family murmur32");
      const shape = items
        ? items > 1 && (bits === items || bits * items === 2) && hashes * cohorts === 1
        : whole(bits, 2, 2 ** 16) && whole(hashes, 1, min(16, bits));
      need(shape && isPower(cohorts) && cohorts <= 256); // before they are powers
      // how many bits each of two filters has that the other has not, at most
      const most = min(hashes, bits - 1) || 1;
      const ways = [most, min(hashes, bits - most)];
      const moved = product(flip, sentOne - sentZero);
      const [held, none] = [product(sentOne, ONE) - moved, product(sentZero, ONE) + moved];
      const ratios = [
        [held, none],
        [SQUARE - none, SQUARE - held],
      ];
      if (held * (SQUARE - held) < (SQUARE - none) * none) ratios.reverse(); // the larger first
      const factors = (...pairs) =>
        [0, 1].map((side) => pairs.flatMap((pair, at) => Array(ways[at]).fill(pair[side])));
      const kept = [ONE - flip, flip];
      return {
        lost: sentOne > sentZero && flip < HALF && loss(...factors(...ratios)),
        ever: loss(...factors(kept, kept)),
        ...resent(sentOne, sentZero, bits),
        head: cohorts,
        tracking: cohorts,
        seed: (words) => words.below(cohorts),
        keep: (words, item, seed) => {
          const rows = range(hashes).map((at) => place(digest(item), seed * hashes + at, bits));
          const declared = bits > 1 ? [item] : range(item); // one bit is the item itself
          const flipped = words.biased(flip, bits);
          for (const at of new Set(items ? declared : rows)) flipped[at] ^= 1;
          return flipped;
        },
        says: (cohort, ones, named) => {
          if (items) return bits > 1 ? ones.map(named).join(", ") || "nothing" : named(ones.length);
          return `cohort ${cohort}, bits ${ones.join(", ") || "none"} of ${bits}`;
        },
      };
    },
  ],
};
