/** Exact numbers: what probabilities lose, rounded up. */
import { ceil, max } from "./numbers.js";
import { ONE } from "./words.js";

/** Products of whole numbers, which may be too long for floats. */
export const product = (...factors) =>
  factors.reduce((all, factor) => all * BigInt(factor), 1n);

const ceiling = (over, under) => (over + under - 1n) / under;

/** The smallest float that is at least a fraction of positive whole numbers. */
const floatUp = (over, under) => {
  const scaled = over << 4096n; // so that the quotient has all digits that count
  const shift = (scaled / under).toString(2).length - 53;
  return Number(ceiling(scaled, under << BigInt(shift))) * 2 ** (shift - 4096);
};

/** Moved up past what rounding, and the platform's logarithm, can be off. */
const up = (value) => {
  const moved = value + value * 2 ** -40;
  return moved + moved * (2 ** -53 + 2 ** -105); // the next float
};

/** ln of a ratio of two products, rounded up; 0 where it would be negative. */
export const loss = (over, under) => {
  const least = product(...under);
  const excess = product(...over) - least;
  if (excess <= 0n) return 0;
  return excess >> 1000n >= least ? Infinity : up(Math.log1p(floatUp(excess, least)));
};

/** ε of keeping one of so many values with probability truth / whole. */
export const responseLoss = (truth, outcomes, whole = ONE) =>
  loss([truth, outcomes - 1], [whole - truth]);

/** ε of bits that are one with these probabilities (of `whole`) for the item, and for
 * every other item: two items differ in two bits. */
export const unaryLoss = (one, zero, whole = ONE) =>
  loss([one, whole - zero], [zero, whole - one]);

/** ε of one message for those who know kept bits that all differ. */
export const bitsLoss = (one, zero, bits) => {
  const most = max(loss([one], [zero]), loss([ONE - zero], [ONE - one]));
  return most < Infinity ? up(bits * most) : most;
};

const UNIT = 10n ** 400n;
const NANO = 10n ** 9n; // budgets are counted in units of 1e-9 ε

/** A float as people write it, times UNIT: 0.1 is a tenth. */
const written = (value) => {
  const [digits, exponent] = value.toExponential().split("e");
  const [first, rest = ""] = digits.split(".");
  return BigInt(first + rest) * 10n ** BigInt(400 + +exponent - rest.length);
};

/** So many times an ε, rounded up. */
export const times = (count, value) => floatUp(BigInt(count) * written(value), UNIT);

/** What is reserved for that, in units of 1e-9: never less than the float itself. */
export const nanoUp = (count, value) => {
  const reserved = (one, unit) => Number(ceiling(BigInt(count) * one * NANO, unit));
  const exact = BigInt(ceil(value * 2 ** 500));
  return max(reserved(written(value), UNIT), reserved(exact, 2n ** 500n));
};

export const nanoDown = (value) => Number((written(value) * NANO) / UNIT);

export const shown = (value, digits) => `${+value.toPrecision(digits)}`;
