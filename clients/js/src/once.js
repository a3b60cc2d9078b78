/** Oracles for answers that are given once, about declared values. */
import { range } from "./bytes.js";
import { encoded, respond, sayHashed, sayItem, sayOnes, some, split } from "./drawing.js";
import { whole } from "./errors.js";
import { loss, responseLoss, unaryLoss } from "./exact.js";
import { isOdd, isPower, isPrime, linear } from "./hashes.js";
import { ceil, min } from "./numbers.js";
import { HALF, ONE } from "./words.js";

/** Lines of the document, and what follows from their numbers, in that order. */
export const ONCE = {
  "k-ary response": [
    "items kind truth",
    (items, _, truth) => ({
      lost: responseLoss(truth, items),
      head: items,
      draw: (words, item) => respond(words, truth, items, item),
      says: sayItem,
    }),
  ],

  unary: [
    "items kind one zero",
    (items, _, one, zero) => ({
      lost: items && unaryLoss(one, zero),
      bits: items,
      draw: (words, item) => [0, encoded(words, one, zero, items, item)],
      says: sayOnes,
    }),
  ],

  "subset selection": [
    "items kind size truth",
    (items, _, size, truth) => ({
      lost:
        whole(size, 1, min(items - 1, 2 ** 16)) &&
        loss([truth, items - size], [ONE - truth, size]),
      bits: items,
      // the number of sets; about, where there are many
      outcomes: range(min(size, items - size, 99)).reduce(
        (sets, at) => (sets * (items - at)) / (at + 1),
        1,
      ),
      // a set of others (Floyd's algorithm); the true item may take the place of one
      draw: (words, item) => {
        const keep = words.coin(truth);
        const others = new Set();
        for (let last = items - 1 - size; last < items - 1; last++) {
          const drawn = words.below(last + 1);
          others.add(others.has(drawn) ? last : drawn);
        }
        const listed = [...others].map((one) => one + (one >= item));
        const at = words.below(size);
        if (keep) listed[at] = item;
        const bits = Array(items).fill(0);
        for (const one of listed) bits[one] = 1;
        return [0, bits];
      },
      says: (_, ones, named) =>
        `one of ${some(ones, named)}${size > 8 ? `, … (${size} in total)` : ""}`,
    }),
  ],

  "local hashing": [
    "digits items kind prime truth",
    (digits, items, _, prime, truth) => {
      const pool = prime ** digits;
      return {
        lost:
          items &&
          digits &&
          prime < 2 ** 20 &&
          isPrime(prime) &&
          items <= pool &&
          pool < HALF &&
          responseLoss(truth, prime),
        head: pool * prime,
        draw: (words, item) => {
          const row = words.below(pool);
          return row * prime + respond(words, truth, prime, linear(prime, digits, row, item));
        },
        says: sayHashed(prime),
      };
    },
  ],

  "Hadamard response": [
    "blocks items kind side truth",
    (blocks, items, _, side, truth) => ({
      lost:
        items &&
        isPower(blocks) &&
        isPower(side) &&
        ceil(items / blocks) < side &&
        blocks * side <= ONE &&
        responseLoss(truth, 2 * blocks),
      head: blocks * side,
      draw: (words, item) => {
        const own = words.coin(truth);
        const [row, block] = split(item + blocks, blocks);
        // of 2 · blocks − 1 halves that are equally likely, one lies in the own block
        const [further] = split(words.below(2 * blocks - 1) + 1, 2);
        let column = words.below(side);
        // in the own block: change the sign, if it is wrong, by the row's lowest bit
        const near = own || !further;
        if (near && isOdd(row & column) === own) column = (column ^ (row & -row)) >>> 0;
        return (own ? block : (block + further) % blocks) * side + column;
      },
      says: (number) => `column ${number % side} of block ${split(number, side)[0]}`,
    }),
  ],
};
