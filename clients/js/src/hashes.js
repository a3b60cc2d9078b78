/** Hashes that any language computes in 32-bit integers. */
import { fromLittle, range } from "./bytes.js";

function mixed(word) {
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}

/** MurmurHash3, x86, 32 bits. */
function murmur(bytes, state) {
  const turned = (word, by) => (word << by) | (word >>> (32 - by));
  for (let at = 0; at < bytes.length; at += 4) {
    const block = fromLittle(bytes.subarray(at, at + 4));
    state ^= Math.imul(turned(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
    if (at + 4 <= bytes.length) state = Math.imul(turned(state, 13), 5) + 0xe6546b64;
  }
  return mixed(state ^ bytes.length);
}

/** Two numbers for a text of an open vocabulary. */
export const digest = (bytes) => [0x9747b28c, 0x3c6ef372].map((seed) => murmur(bytes, seed));

/** Where a digest lies in a row of `size` places. */
export function place([first, second], row, size) {
  const inner = mixed(second + Math.imul(row + 1, 0x9e3779b9));
  return mixed(first + inner) % size;
}

/** Σ of the products of two numbers' digits in base `prime`, modulo the prime. */
export function linear(prime, digits, one, other) {
  const digit = (number, at) => Math.floor(number / prime ** at) % prime;
  const products = range(digits).map((at) => digit(one, at) * digit(other, at));
  return products.reduce((sum, product) => sum + product, 0) % prime;
}

export const isPower = (number) => number > 0 && 2 ** Math.round(Math.log2(number)) === number;

export function isPrime(number) {
  for (let at = 2; at * at <= number; at++) if (number % at === 0) return false;
  return number > 1;
}

export function isOdd(bits) {
  for (let shift = 16; shift; shift >>= 1) bits ^= bits >>> shift;
  return (bits & 1) === 1;
}
