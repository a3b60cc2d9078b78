/** Words: 32 random bits each, and what is drawn from them. */
import { concat, four, fromLittle, hmac, little, range } from "./bytes.js";
import { ceil, floor } from "./numbers.js";

/** Probabilities are whole numbers t / 2^32. */
export const ONE = 2 ** 32;
export const HALF = ONE / 2;

/** Draws from words that `next` gives one by one. */
export const drawing = (next) => {
  /** Heads with probability threshold / 2^32: a word that equals it is tails. */
  const coin = (threshold) => next() < threshold;

  /** A uniform number; a word of the last, incomplete run is drawn again. */
  function below(bound) {
    for (;;) {
      const word = next();
      if (word < ONE - (ONE % bound)) return word % bound;
    }
  }

  /** Bits that are one with probability threshold / 2^32: a byte decides, or, where it
   * equals the threshold's first byte, a word of its own for the other 24 bits. */
  function biased(threshold, bits) {
    const bytes = range(2 * ceil(bits / 8)).flatMap(() => little(next(), 4));
    const first = floor(threshold / 2 ** 24);
    const rest = (threshold % 2 ** 24) * 256;
    return bytes
      .map((byte) => +(byte === first ? next() < rest : byte < first))
      .slice(0, bits);
  }

  return { coin, below, biased };
};

const RUN_OUT = {};

/** What `work` draws from a source of words. When they run out, it begins anew with more:
 * the first ones stay as they are, and so does what it drew from them. */
export const drawn = async (source, work) => {
  for (let known = []; ; known = [...known, ...(await source(known.length || 8))]) {
    let taken = 0;
    const next = () => {
      if (taken === known.length) throw RUN_OUT;
      return known[taken++];
    };
    try {
      return work(drawing(next));
    } catch (problem) {
      if (problem !== RUN_OUT) throw problem;
    }
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
