/** Hashes that any language computes in 32-bit integers. */
import { fromLittle, range } from "./bytes.js";
import { floor } from "./numbers.js";

const multiplied = Math.imul;

const mixed = (word) => {
  word = multiplied(word ^ (word >>> 16), 0x85ebca6b);
  word = multiplied(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
};

/** MurmurHash3, x86, 32 bits. */
const murmur = (bytes, state) => {
  const { length } = bytes;
  const turned = (word, by) => (word << by) | (word >>> (32 - by));
  for (let at = 0; at < length; at += 4) {
    const block = fromLittle(bytes.slice(at, at + 4));
    state ^= multiplied(turned(multiplied(block, 0xcc9e2d51), 15), 0x1b873593);
    if (at + 4 <= length) state = multiplied(turned(state, 13), 5) + 0xe6546b64;
  }
  return mixed(state ^ length);
};

/** Two numbers for a text of an open vocabulary. */
export const digest = (bytes) => [0x9747b28c, 0x3c6ef372].map((seed) => murmur(bytes, seed));

/** Where a digest lies in a row of `size` places. */
export const place = ([first, second], row, size) =>
  mixed(first + mixed(second + multiplied(row + 1, 0x9e3779b9))) % size;

/** Σ of the products of two numbers' digits in base `prime`, modulo the prime. */
export const linear = (prime, digits, one, other) => {
  const digit = (number, at) => floor(number / prime ** at) % prime;
  return range(digits).reduce((sum, at) => sum + digit(one, at) * digit(other, at), 0) % prime;
};

/** Whether a number up to 2^32 is a power of two. */
export const isPower = (number) => number > 0 && !(number & (number - 1));

export const isPrime = (number) => {
  for (let at = 2; at * at <= number; at++) if (number % at === 0) return false;
  return number > 1;
};

export const isOdd = (bits) => {
  for (let shift = 16; shift; shift >>= 1) bits ^= bits >>> shift;
  return (bits & 1) > 0;
};
