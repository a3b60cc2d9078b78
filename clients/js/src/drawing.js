/** What several oracles draw and say alike. */
import { floor } from "./numbers.js";

/** Keep a value with probability truth / 2^32, or draw one of the others. */
export const respond = (words, truth, outcomes, value) => {
  const keep = words.coin(truth);
  const other = words.below(outcomes - 1);
  return keep ? value : other + (other >= value);
};

/** All bits as if they were zero, then the item's own. */
export const encoded = (words, one, zero, items, item) => {
  const bits = words.biased(zero, items);
  bits[item] = +words.coin(one);
  return bits;
};

/** How often a number holds another, and what is left. */
export const split = (number, by) => [floor(number / by), number % by];

/** The first few places by their names. */
export const some = (ones, named) => ones.slice(0, 8).map(named).join(", ");

export const sayOnes = (_, ones, named) => {
  const more = ones.length - 8;
  return some(ones, named) + (more > 0 ? ` and ${more} more` : "");
};

export const sayItem = (number, _, named) => named(number);

export const sayHashed = (values) => (number) => {
  const [row, said] = split(number, values);
  return `hash value ${said} of ${values} under function ${row}`;
};
