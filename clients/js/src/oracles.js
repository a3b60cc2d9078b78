/**
 * Oracles: how an item becomes a message that says little about it.
 *
 * A message is a number below `head`, and a list of `bits` where there are some. Words are
 * drawn in the order that the page of the test vectors states. An oracle for answers that
 * are given again draws a `seed` once, what it will `keep` once for each answer, and what it
 * will `send` for each message; another one draws all with `draw`. What loses nothing is
 * refused: where numbers do not fit together, `lost` is 0 or false.
 */
import { little, sizeOf } from "./bytes.js";
import { MOST_ITEMS } from "./domains.js";
import { keys, need, whole } from "./errors.js";
import { KEPT } from "./kept.js";
import { MEANS } from "./means.js";
import { ceil, entries, max, min, valuesOf } from "./numbers.js";
import { ONCE } from "./once.js";
import { SKETCHES } from "./sketches.js";
import { ONE } from "./words.js";

const ORACLES = { __proto__: null, ...ONCE, ...SKETCHES, ...KEPT, ...MEANS };
const CHANCES = /^(truth|one|zero|flip|kept.*|sent|binary|inside)$/; // neither 0 nor 1
const MOST_BITS = 2 ** 20; // more would keep a small device busy

/** One oracle from a document; its numbers are checked before they are used. */
export const single = (read) => {
  const [lines, made] = ORACLES[read.kind] ?? [];
  const { items } = read;
  const small = ([line, value]) => {
    const inner = CHANCES.test(line);
    return /kind|family/.test(line) || whole(value, +inner, ONE - inner);
  };
  const fits = keys(read) === lines && entries(read).every(small);
  need(fits && items <= MOST_ITEMS + 1);
  const usual = { head: 1, bits: 0, instant: Infinity, stale: ONE, mean: false };
  const oracle = { ...usual, ...made(...valuesOf(read)) };
  const { lost, head, bits, keep } = oracle;
  need(0 < lost && lost < Infinity && bits <= MOST_BITS && head <= 2 ** 53);
  const outcomes = head * 2 ** min(bits, 64);
  const size = sizeOf(head) + ceil(bits / 8);
  return { ever: lost, outcomes, tracking: keep ? 1 : outcomes, ...oracle, items, size };
};

/** An oracle, or several of which a device draws one, once and for all. */
export const oracleOf = (read) => {
  const sampled = read.kind === "sampled";
  const parts = (sampled ? read.parts : [read]).map(single);
  const all = (line) => parts.map((part) => part[line]);
  const most = (line) => max(...all(line));
  const alike = new Set(parts.map((part) => !part.keep)).size === 1;
  const several = alike && whole(parts.length, 2, 256) && read.items === parts.length;
  need(!sampled || (keys(read) === "items kind parts" && several));
  // less fresh noise leaves what is kept to be seen
  const seen = all(most("stale") > 0.99 * ONE ? "outcomes" : "tracking");
  return {
    ...{ sampled, parts, size: sampled + most("size") },
    ...{ lost: most("lost"), ever: most("ever"), instant: most("instant") },
    kinds: seen.reduce((sum, one) => sum + one),
  };
};

/** A record: the part's number, where there are several; the number that is said, in as
 * few bytes as hold the largest; bits, the lowest first. All parts have the same size. */
export const recordOf = ({ sampled, size }, { number, own }, drawn) => {
  const [said, bits = []] = [drawn].flat();
  const record = Array(size).fill(0);
  const start = [...(sampled ? [number] : []), ...little(said, sizeOf(own.head))];
  record.splice(0, start.length, ...start);
  bits.forEach((bit, at) => (record[start.length + (at >> 3)] |= bit << (at & 7)));
  return record;
};
