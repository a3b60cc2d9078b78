/** Exact numbers: what probabilities lose, rounded up. */
import { ONE } from "./words.js";

export const NANO = 10n ** 9n; // budgets are counted in units of 1e-9 ε
export const big = BigInt;
export const not = (threshold) => big(ONE - threshold);

/** The smallest float that is at least a fraction of positive whole numbers. */
export function floatUp(over, under) {
  const bits = (number) => number.toString(2).length;
  for (let shift = 53 - bits(over) + bits(under); ; shift--) {
    const [top, bottom] = [over << big(Math.max(shift, 0)), under << big(Math.max(-shift, 0))];
    const quotient = (top + bottom - 1n) / bottom;
    if (quotient <= 2n ** 53n) return Number(quotient) * 2 ** -shift;
  }
}

/** Moved up past what rounding, and the platform's logarithm, can be off. */
function up(value) {
  const moved = value + value * 2 ** -40;
  return moved + moved * (2 ** -53 + 2 ** -105); // the next float
}

/** ln(over / under), rounded up; 0 where it would be negative. */
export function loss(over, under) {
  const excess = over - under;
  if (excess <= 0n) return 0;
  return excess >> 1000n >= under ? Infinity : up(Math.log1p(floatUp(excess, under)));
}

/** ε of keeping one of so many values with probability truth / 2^32. */
export const responseLoss = (truth, outcomes) => loss(big(truth) * big(outcomes - 1), not(truth));

/** ε of bits that are one with these probabilities (of `whole`) for the item, and for
 * every other item: two items differ in two bits. */
export const unaryLoss = (one, zero, whole) => loss(one * (whole - zero), zero * (whole - one));

/** ε of one message for those who know kept bits that all differ. */
export function bitsLoss(one, zero, bits) {
  const most = Math.max(loss(big(one), big(zero)), loss(not(zero), not(one)));
  return most < Infinity ? up(bits * most) : most;
}

/** A float as people write it, as a fraction: 0.1 is a tenth. */
export function written(value) {
  const [digits, exponent] = value.toExponential().split("e");
  const power = exponent - Math.max(digits.length - 2, 0);
  const whole = big(digits.replace(".", ""));
  return power < 0 ? [whole, 10n ** big(-power)] : [whole * 10n ** big(power), 1n];
}

export const shown = (value, digits) => `${+value.toPrecision(digits)}`;
