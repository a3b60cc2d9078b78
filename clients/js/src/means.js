/** Oracles for means: a number is rounded at random, so that its mean stays, and what comes
 * out is randomized. */
import { respond, split } from "./drawing.js";
import { whole } from "./errors.js";
import { loss, responseLoss } from "./exact.js";
import { responses } from "./kept.js";
import { max } from "./numbers.js";
import { ONE } from "./words.js";

/** A place of a grid of `top` steps on one of `steps`: up or down at random, so that its
 * mean stays exactly. */
const rounded = (words, item, top, steps) => {
  const [whole, rest] = split(item * steps, top);
  return whole + (words.below(top) < rest);
};

const sayEnd = (number) => (number ? "high" : "low");

/** A number rounded to one end of its range, and that end told truly at `truth`. */
const binary = (items, _, truth) => ({
  lost: items > 1 && responseLoss(truth, 2),
  head: 2,
  mean: true,
  draw: (words, item) =>
    respond(words, truth, 2, rounded(words, item, items - 1, 1)),
  says: sayEnd,
});

/** Lines of the document, and what follows from their numbers, in that order. */
export const MEANS = {
  "binary mean": ["items kind truth", binary],

  "hybrid mean": [
    "binary inside items kind steps truth window",
    (share, inside, items, kind, steps, truth, window) => {
      const ends = binary(items, kind, truth);
      const near = loss([inside, steps], [ONE - inside, window]);
      return {
        ...ends,
        lost:
          ends.lost &&
          near &&
          [steps, window].every((one) => whole(one, 1, 2 ** 16)) &&
          (items - 1) * steps <= 2 ** 52 &&
          max(ends.lost, near),
        head: 2 + steps + window,
        draw: (words, item) => {
          if (words.coin(share)) return ends.draw(words, item);
          const start = rounded(words, item, items - 1, steps);
          const keep = words.coin(inside);
          const inner = start + words.below(window);
          const outer = words.below(steps);
          return 2 + (keep ? inner : outer + (outer >= start && window));
        },
        says: (number) =>
          number < 2 ? sayEnd(number) : `place ${number - 2} of ${steps + window}`,
      };
    },
  ],

  "one-bit mean": [
    "items kept kind sent",
    (items, kept, _, sent) => {
      const layers = responses(kept, sent, 2, 1);
      return {
        ...layers,
        lost: items > 1 && layers.lost,
        mean: true,
        rounds: true,
        seed: (words) => words.below(items - 1),
        // an answer is a side already; no answer is a place
        keep: (words, item, seed, answered) =>
          respond(words, kept, 2, answered ? item : +(item > seed)),
        says: sayEnd,
      };
    },
  ],
};
