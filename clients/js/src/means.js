/** Oracles for means: a number is rounded at random, so that its mean stays, and what comes
 * out is randomized. */
import { inside, respond, split } from "./drawing.js";
import { whole } from "./errors.js";
import { big, loss, not, responseLoss } from "./exact.js";
import { HALF, ONE } from "./words.js";

/** A place of a grid of `top` steps on one of `steps`: up or down at random, so that its
 * mean stays exactly. */
async function rounded(words, item, top, steps) {
  const [whole, rest] = split(item * steps, top);
  return whole + ((await words.below(top)) < rest);
}

/** A number rounded to one end of its range, and that end told truly at `truth`. */
async function bitOf(words, truth, item, top) {
  return respond(words, truth, 2, await rounded(words, item, top, 1));
}

const highOrLow = (number) => (number ? "high" : "low");
const isMean = (items, truth) => items > 1 && truth > HALF && truth < ONE;

/** Lines of the document, and what follows from their numbers. */
export const MEANS = {
  "binary mean": [
    "items kind truth",
    ({ items, truth }) => ({
      valid: isMean(items, truth),
      lost: responseLoss(truth, 2),
      head: 2,
      mean: true,
      randomize: async (words, item) => [await bitOf(words, truth, item, items - 1), []],
      says: highOrLow,
    }),
  ],

  "hybrid mean": [
    "binary inside items kind steps truth window",
    (o) => {
      const { items, truth, binary, inside: within, steps, window } = o;
      const windowLoss = loss(big(within) * big(steps), not(within) * big(window));
      const sizes = [steps, window].every((one) => whole(one, 1, 2 ** 16));
      return {
        valid:
          isMean(items, truth) &&
          inside(binary, within, windowLoss) &&
          sizes &&
          (items - 1) * steps <= 2 ** 52,
        lost: Math.max(responseLoss(truth, 2), windowLoss),
        head: 2 + steps + window,
        mean: true,
        randomize: async (words, item) => {
          if (await words.coin(binary)) return [await bitOf(words, truth, item, items - 1), []];
          const start = await rounded(words, item, items - 1, steps);
          const keep = await words.coin(within);
          const inner = start + (await words.below(window));
          const outer = await words.below(steps);
          return [2 + (keep ? inner : outer + (outer >= start ? window : 0)), []];
        },
        says: (number) =>
          number < 2 ? highOrLow(number) : `place ${number - 2} of ${steps + window}`,
      };
    },
  ],

  "one-bit mean": [
    "items kept kind sent",
    ({ items, kept, sent }) => {
      const truth = big(kept) * big(sent) + not(kept) * not(sent);
      return {
        valid: isMean(items, kept) && isMean(items, sent),
        lost: loss(truth, big(ONE) ** 2n - truth),
        forEver: responseLoss(kept, 2),
        instant: responseLoss(sent, 2),
        freshness: (ONE - sent) / ONE,
        head: 2,
        mean: true,
        rounds: true,
        seed: (words) => words.below(items - 1),
        // an answer is a side already; no answer is a place
        keep: (words, item, seed, answered) =>
          respond(words, kept, 2, answered ? item : +(item > seed)),
        send: async (words, held) => [await respond(words, sent, 2, held), []],
        says: highOrLow,
      };
    },
  ],
};
