/** Words: 32 random bits each, and what is drawn from them. */
import { ceil, floor } from "./numbers.js";
import { concat, four, fromLittle, hmac, little, range } from "./bytes.js";

/** Probabilities are whole numbers t / 2^32. */
export const ONE = 2 ** 32;
export const HALF = ONE / 2;

/** Draws from a source of words; `more(count)` gives at least so many. */
export function wordsFrom(more) {
  let left = [];

  async function take(count) {
    if (left.length < count) left = [...left, ...(await more(count - left.length))];
    return left.splice(0, count);
  }

  /** Heads with probability threshold / 2^32: a word that equals it is tails. */
  async function coin(threshold) {
    return (await take(1))[0] < threshold;
  }

  /** Uniform numbers; words of the last, incomplete run are drawn again. */
  async function numbers(bound, count) {
    const found = await take(count);
    const end = ONE - (ONE % bound);
    for (;;) {
      const again = range(count).filter((at) => found[at] >= end);
      if (!again.length) return found.map((word) => word % bound);
      const others = await take(again.length);
      again.forEach((at, turn) => (found[at] = others[turn]));
    }
  }

  const below = async (bound) => (await numbers(bound, 1))[0];

  /** Bits that are one with probability threshold / 2^32: a byte decides, or, where it
   * equals the threshold's first byte, a word of its own for the other 24 bits. */
  async function biased(threshold, bits) {
    const drawn = (await take(2 * ceil(bits / 8))).flatMap((word) => little(word, 4));
    const first = floor(threshold / 2 ** 24);
    const rest = (threshold % 2 ** 24) * 256;
    const others = await take(drawn.filter((byte) => byte === first).length);
    const ones = drawn.map((byte) => (byte === first ? others.shift() < rest : byte < first));
    return ones.slice(0, bits).map(Number);
  }

  return { take, coin, numbers, below, biased };
}

/** Words that follow from a key: HMAC-SHA256(key, 0), HMAC-SHA256(key, 1), … */
export function keyed(key) {
  const block = hmac(key);
  let next = 0;
  return wordsFrom(async (count) => {
    const blocks = range(ceil(count / 8)).map(() => block(four(next++)));
    const bytes = [...concat(await Promise.all(blocks))];
    return range(bytes.length / 4).map((at) => fromLittle(bytes.slice(4 * at, 4 * at + 4)));
  });
}

/** Words that nobody can draw again. */
export function fresh() {
  const most = 16_384; // getRandomValues gives 65,536 bytes at a time
  return wordsFrom((count) => {
    const words = new Uint32Array(count);
    for (let at = 0; at < count; at += most) {
      crypto.getRandomValues(words.subarray(at, at + most));
    }
    return words;
  });
}
