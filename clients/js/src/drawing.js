/** What several oracles draw and say alike. */
import { ONE } from "./words.js";

/** Keep a value with probability truth / 2^32, or draw one of the others. */
export async function respond(words, truth, outcomes, value) {
  const keep = await words.coin(truth);
  const other = await words.below(outcomes - 1);
  return keep ? value : other + (other >= value);
}

/** All bits as if they were zero, then the item's own. */
export async function encoded(words, one, zero, items, item) {
  const bits = await words.biased(zero, items);
  bits[item] = +(await words.coin(one));
  return bits;
}

/** A kept one is sent as one with probability `one` / 2^32, a kept zero with `zero`. */
export async function resent(words, one, zero, kept) {
  const ones = await words.biased(one, kept.length);
  const zeros = await words.biased(zero, kept.length);
  return kept.map((bit, at) => (bit ? ones[at] : zeros[at]));
}

/** Whether all are thresholds that leave something to chance. */
export const inside = (...thresholds) => thresholds.every((one) => 0 < one && one < ONE);

/** How often a number holds another, and what is left. */
export const split = (number, by) => [Math.floor(number / by), number % by];

/** The first few places by their names. */
export const some = (ones, named) => ones.slice(0, 8).map(named).join(", ");

export function sayOnes(_, ones, named) {
  const more = ones.length - 8;
  return some(ones, named) + (more > 0 ? ` and ${more} more` : "");
}

export function hashValue(number, values) {
  const [row, said] = split(number, values);
  return `hash value ${said} of ${values} under function ${row}`;
}
