/** How the answer to a value becomes a message. */
import { concat, little, utf8 } from "./bytes.js";
import { need, whole } from "./errors.js";
import { recordOf } from "./oracles.js";
import { NONE } from "./values.js";

export const HEADER = 16; // bytes of a message in front of its record

export function checkBelow(code, value, end) {
  need(whole(value, 0, end - 1), code, `must be a whole number below ${end}`);
}

/** What stands in front of a record: which task, period and stratum. */
export function header({ version, tag, strata, periods }, period, stratum) {
  checkBelow("period", period, periods);
  const at = strata.length ? strata.indexOf(stratum) : -(stratum !== undefined);
  need(at >= 0, "stratum", `must be one of: ${strata}`);
  return [0xd1, 1, ...little(version, 2), ...tag, ...little(period, 2), at, 0];
}

/** The part of the question that a device answers, and what it draws once for it. */
export async function partOf({ oracle: { sampled, parts } }, words) {
  const number = sampled ? await (await words("part")).below(parts.length) : 0;
  const own = parts[number];
  return { number, own, seed: own.seed ? await own.seed(await words("seed")) : 0 };
}

/** The answer to a value, as [its canonical text, item]; [NONE] if it is not counted. No
 * value makes this fail: an error would tell something about it. Values that are rounded
 * alike are one answer. */
export function answerOf({ domain }, { number, own, seed }, value) {
  try {
    const found = domain.answer(value, number) || [NONE];
    const side = +(found[1] > seed);
    return own.rounds && found[0] !== NONE ? [`i:${side}`, side] : found;
  } catch {
    return [NONE]; // an object can do anything when it is looked at
  }
}

/** The answer as the oracle knows it. Where the domain has no "none", that is a random
 * item. */
export async function itemOf({ domain }, { number }, [text, item], words) {
  const [items, , none] = domain.asks[number];
  if (!items) return utf8(text);
  if (text !== NONE) return item;
  return none ? items - 1 : (await words("none")).below(items);
}

/** A message, drawn from the words that `words` gives for each purpose. */
export async function messageOf(task, part, answer, period, stratum, words) {
  const head = header(task, period, stratum);
  const { own, seed } = part;
  const [text] = answer;
  const item = await itemOf(task, part, answer, words);
  const noise = (purpose) => words(purpose, text);
  const kept = own.keep && (await own.keep(await noise("permanent"), item, seed, text !== NONE));
  const said = own.keep
    ? await own.send(await noise("instant"), kept, seed)
    : await own.draw(await noise("once"), item);
  return concat([head, recordOf(task.oracle, part, said)]);
}
