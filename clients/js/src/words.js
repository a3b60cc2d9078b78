/** Words: 32 random bits each, and what is drawn from them. */
import { concat, four, fromLittle, hmac, little, range } from "./bytes.js";
import { split } from "./drawing.js";
import { ceil, max } from "./numbers.js";

/** Probabilities are whole numbers t / 2^32. */
export const ONE = 2 ** 32;
export const HALF = ONE / 2;

/** Draws from words that `take` gives, so many at a time. */
export const drawing = (take) => {
  /** Heads with probability threshold / 2^32: a word that equals it is tails. */
  const coin = (threshold) => take(1)[0] < threshold;

  /** A uniform number; a word of the last, incomplete run is drawn again. */
  const below = (bound) => {
    const [word] = take(1);
    return word < ONE - (ONE % bound) ? word % bound : below(bound);
  };

  /** Bits that are one with probability threshold / 2^32: a byte decides, or, where it
   * equals the threshold's first byte, a word of its own for the other 24 bits. */
  const biased = (threshold, bits) => {
    const bytes = take(2 * ceil(bits / 8)).flatMap((word) => little(word, 4));
    const [first, rest] = split(threshold, 2 ** 24);
    const one = (byte) => +(byte === first ? coin(rest * 256) : byte < first);
    return bytes.map(one).slice(0, bits);
  };

  return { coin, below, biased };
};

const RUN_OUT = {};

/** What `work` draws from a source of words. When they run out, it begins anew with twice as
 * many, or more: the first ones stay as they are, and so does what it drew from them. */
export const drawn = async (source, work) => {
  let known = [];
  for (;;) {
    let taken = 0;
    const take = (count) => {
      taken += count;
      if (taken > known.length) throw RUN_OUT;
      return known.slice(taken - count, taken);
    };
    try {
      return work(drawing(take));
    } catch (problem) {
      if (problem !== RUN_OUT) throw problem;
    }
    const wanted = max(taken - known.length, known.length);
    known = [...known, ...(await source(8 * ceil(wanted / 8)))];
  }
};

/** Words that follow from a key: HMAC-SHA256(key, 0), HMAC-SHA256(key, 1), … They come in
 * eights. */
export const keyed = (key) => {
  const block = hmac(key);
  let next = 0;
  return async (count) => {
    const blocks = range(count / 8).map(() => block(four(next++)));
    const bytes = [...concat(await Promise.all(blocks))];
    return range(count).map((at) => fromLittle(bytes.slice(4 * at, 4 * at + 4)));
  };
};

/** Words that nobody can draw again. */
export const fresh = (count) => {
  const most = 16_384; // getRandomValues gives 65,536 bytes at a time
  const words = new Uint32Array(count);
  for (let at = 0; at < count; at += most) crypto.getRandomValues(words.subarray(at, at + most));
  return words;
};
