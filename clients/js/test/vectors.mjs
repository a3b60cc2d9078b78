/**
 * Replays the committed test vectors, in Node and in browsers alike: `replay` returns what
 * differs, which must be nothing.
 */
import { digest, linear, place } from "../src/hashes.js";
import { idOf, memoOf } from "../src/memo.js";
import { answerOf, itemOf, messageOf, partOf } from "../src/message.js";
import { Task } from "../src/task.js";
import { canonical } from "../src/values.js";
import { drawing, keyed } from "../src/words.js";

export const toHex = (bytes) =>
  Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
export const fromHex = (text) =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

export function packed(bits) {
  const bytes = Array(Math.ceil(bits.length / 8)).fill(0);
  bits.forEach((bit, at) => (bytes[at >> 3] |= bit << (at & 7)));
  return bytes;
}

/** Words of a list, and how many were taken. */
export function listed(words) {
  let taken = 0;
  return { ...drawing((count) => words.slice(taken, (taken += count))), taken: () => taken };
}

/** The words of each number, where several are drawn at once: those that are too large are
 * drawn again after all others. A device draws one number at a time. */
function eachInTurn({ words, bound, numbers }) {
  const each = numbers.map(() => []);
  const end = 2 ** 32 - (2 ** 32 % bound);
  const rest = [...words];
  for (let waiting = each; waiting.length; waiting = waiting.filter((own) => own.at(-1) >= end))
    for (const own of waiting) own.push(rest.shift());
  return each;
}

class Differences {
  found = [];
  checks = 0;
  same(about, got, wanted) {
    this.checks += 1;
    const [mine, theirs] = [got, wanted].map((one) => JSON.stringify(one));
    if (mine !== theirs) this.found.push(`${about}: ${mine} instead of ${theirs}`);
  }
}

export async function replay(vectors) {
  const differences = new Differences();
  await replayParts(vectors, differences);
  for (const line of vectors.messages) await replayMessage(line, differences);
  return { found: differences.found, checks: differences.checks };
}

async function replayParts(vectors, differences) {
  const check = (...about) => differences.same(...about);
  for (const one of vectors.keyed) {
    // WebCrypto takes no empty key; HMAC fills keys up with zeros, so this is the same one
    const source = keyed(fromHex(one.key || "00"));
    const words = [...(await source(8)), ...(await source(16))];
    check("keyed", words.slice(0, 20), one.words);
  }
  for (const one of vectors.coins) {
    const words = listed(one.words);
    const heads = [];
    for (const _ of one.words) heads.push(+words.coin(one.threshold));
    check("coins", heads, one.heads);
  }
  for (const one of vectors.below) {
    const each = eachInTurn(one).map(listed);
    const numbers = each.map((words) => words.below(one.bound));
    check("below", numbers, one.numbers);
    const taken = each.reduce((sum, words) => sum + words.taken(), 0);
    check("below: words", taken, one.taken);
  }
  for (const one of vectors.biased) {
    // rows fill whole bytes: several rows are drawn as one
    const words = listed(one.words);
    const width = Math.ceil(one.bits / 8);
    const bits = words.biased(one.threshold, one.rows * 8 * width);
    const behind = (at) => at % (8 * width) >= one.bits;
    check("biased", toHex(packed(bits.map((bit, at) => (behind(at) ? 0 : bit)))), one.packed);
    check("biased: words", words.taken(), one.taken);
  }
  for (const one of vectors.canonical) {
    const known = canonical(one.value);
    check("canonical", known && toHex(new TextEncoder().encode(known)), one.canonical);
  }
  for (const one of vectors.digests) check("digest", digest(fromHex(one.canonical)), one.digest);
  for (const one of vectors.places) check("place", place(one.digest, one.row, one.size), one.place);
  for (const one of vectors.linear) {
    check("linear", linear(one.prime, one.digits, one.function, one.item), one.value);
  }
}

async function replayMessage(line, differences) {
  const task = await Task.fromDocument(line.task);
  const same = (name, got) => differences.same(`${task.name}, ${name}`, got, line[name]);
  const memo = memoOf(task, line.secret, line.salt);
  const part = await partOf(task, memo.draw);
  const answer = answerOf(task, part, line.value);
  const item = await itemOf(task, part, answer, memo.draw);
  same("tag", toHex(task.tag));
  same("permanent_digest", toHex(task.permanent));
  same("memo", task.memo);
  same("answer", toHex(new TextEncoder().encode(answer[0])));
  same("mark", toHex(await memo.key("mark", answer[0])));
  same("item", part.own.items ? item : digest(item));
  if (task.oracle.sampled) {
    same("part", part.number);
    same("part_key", toHex(await memo.key("part")));
  }
  if (part.own.draw) same("once_key", toHex(await memo.key("once", answer[0])));
  else await replayKept(task, memo, part, answer, item, line, same);
  const when = [line.period, line.stratum, line.slot];
  same("message", toHex(await messageOf(task, part, answer, memo.draw, ...when)));
  const first = new Date((task.first + line.period * task.every) * 86_400_000)
    .toISOString()
    .slice(0, 10);
  same("id", toHex(await idOf(line.secret, task.name, first, line.slot)));
}

const four = (number) => Uint8Array.from([24, 16, 8, 0], (by) => number >>> by);

async function replayKept(task, memo, part, [text], item, line, same) {
  const keep = (words) => part.own.keep(words, item, part.seed, text !== "n:");
  const kept = await memo.draw(keep, "permanent", text);
  same("seed_key", toHex(await memo.key("seed")));
  same("seed", part.seed);
  same("permanent_key", toHex(await memo.key("permanent", text)));
  same("permanent", Array.isArray(kept) ? packed(kept) : kept);
  const when = [four(line.period), four(line.slot)];
  same("instant_key", toHex(await memo.key("instant", task.digest, ...when, text)));
}
