/**
 * Oracles: how an item becomes a message that says little about it.
 *
 * A message is a number below `head` and a list of `bits`. Words are drawn in the order that
 * the page of the test vectors states. An oracle for answers that are given again draws a
 * `seed` once, what it will `keep` once for each answer, and what it will `send` for each
 * message; another one draws all with `randomize`.
 */
import { little, sizeOf } from "./bytes.js";
import { MOST_ITEMS } from "./domains.js";
import { keys, need, whole } from "./errors.js";
import { KEPT } from "./kept.js";
import { MEANS } from "./means.js";
import { ONCE } from "./once.js";
import { SKETCHES } from "./sketches.js";
import { ONE } from "./words.js";

const ORACLES = { __proto__: null, ...ONCE, ...SKETCHES, ...KEPT, ...MEANS };
const INSTANT = ["sent", "sent_one", "sent_zero"]; // what no kept answer depends on
const MOST_BITS = 2 ** 20; // more would keep a small device busy

/** One oracle from a document; its numbers are checked before they are used. */
export function single(read) {
  const [lines, made] = ORACLES[read.kind] ?? [];
  const { kind, family, ...numbers } = read;
  const small = Object.values(numbers).every((one) => whole(one, 0, ONE));
  need(keys(read) === lines && small && read.items <= MOST_ITEMS + 1, "oracle");
  const oracle = { head: 1, bits: 0, instant: Infinity, freshness: 0, mean: false, ...made(read) };
  const { valid, lost, head, bits, keep } = oracle;
  need(valid && 0 < lost && lost < Infinity && bits <= MOST_BITS && head <= 2 ** 53, "oracle");
  const lasting = Object.fromEntries(
    Object.entries(read).filter(([name]) => !INSTANT.includes(name)),
  );
  const outcomes = head * 2 ** Math.min(bits, 64);
  const usual = { forEver: lost, outcomes, tracking: keep ? 1 : outcomes };
  return {
    ...usual,
    ...oracle,
    items: read.items,
    lasting,
    size: sizeOf(head) + Math.ceil(bits / 8),
  };
}

/** An oracle, or several of which a device draws one, once and for all. */
export function oracleOf(read) {
  const sampled = read.kind === "sampled";
  const parts = (sampled ? read.parts : [read]).map(single);
  const most = (line) => Math.max(...parts.map((part) => part[line]));
  const sum = (line) => parts.reduce((total, part) => total + part[line], 0);
  const alike = parts.every((part) => !part.keep === !parts[0].keep);
  const several = whole(parts.length, 2, 256) && read.items === parts.length && alike;
  need(!sampled || (keys(read) === "items kind parts" && several), "oracle");
  const lasting = parts.map((part) => part.lasting);
  return {
    ...{ sampled, parts, size: sampled + most("size") },
    ...{ lost: most("lost"), forEver: most("forEver"), instant: most("instant") },
    freshness: Math.min(...parts.map((part) => part.freshness)),
    ...{ tracking: sum("tracking"), outcomes: sum("outcomes") },
    lasting: sampled ? { ...read, parts: lasting } : lasting[0],
  };
}

/** A record: the part's number, where there are several; the number that is said, in as
 * few bytes as hold the largest; bits, the lowest first. All parts have the same size. */
export function recordOf({ sampled, size }, { number, own }, [said, bits]) {
  const record = new Uint8Array(size);
  const start = [...(sampled ? [number] : []), ...little(said, sizeOf(own.head))];
  record.set(start);
  bits.forEach((bit, at) => (record[start.length + (at >> 3)] |= bit << (at & 7)));
  return record;
}
