/** How the answer to a value becomes a message. */
import { concat, four, little, utf8 } from "./bytes.js";
import { need, whole } from "./errors.js";
import { recordOf } from "./oracles.js";
import { NONE } from "./values.js";

export const HEADER = 16; // bytes of a message in front of its record

export const checkBelow = (code, value, end) => {
  need(whole(value, 0, end - 1), code, `must be a whole number below ${end}`);
};

/** What stands in front of a record: which task, period and stratum. */
export const header = ({ version, tag, strata, periods }, period, stratum) => {
  checkBelow("period", period, periods);
  const at = strata.length ? strata.indexOf(stratum) : -(stratum !== undefined);
  const known = strata.length ? `one of: ${strata}` : "left out: the task declares no strata";
  need(at >= 0, "stratum", `must be ${known}`);
  return [0xd1, 1, ...little(version, 2), ...tag, ...little(period, 2), at, 0];
};

/** The part of the question that a device answers, and what it draws once for it. For each
 * purpose, `draw` gives what some work draws. */
export const partOf = async ({ oracle: { sampled, parts } }, draw) => {
  const number = sampled ? await draw((words) => words.below(parts.length), "part") : 0;
  const own = parts[number];
  return { number, own, seed: own.seed ? await draw(own.seed, "seed") : 0 };
};

/** The answer to a value, as [its canonical text, item]; [NONE] if it is not counted. No
 * value makes this fail: an error would tell something about it. Values that are rounded
 * alike are one answer. */
export const answerOf = ({ domain }, { number, own, seed }, value) => {
  try {
    const found = domain.answer(value, number) || [NONE];
    const side = +(found[1] > seed);
    return own.rounds && found[0] !== NONE ? [`i:${side}`, side] : found;
  } catch {
    return [NONE]; // an object can do anything when it is looked at
  }
};

/** The answer as the oracle knows it. Where the domain has no "none", that is a random
 * item. */
export const itemOf = ({ domain }, { number }, [text, item], draw) => {
  const [items, , none] = domain.asks[number];
  if (!items) return utf8(text);
  if (text !== NONE) return item;
  return none ? items - 1 : draw((words) => words.below(items), "none");
};

/** A message. Without noise of its own, it says the same in every period. */
export const messageOf = async (task, part, answer, draw, period, stratum, slot = 0) => {
  const head = header(task, period, stratum);
  const { own, seed } = part;
  const [text] = answer;
  const item = await itemOf(task, part, answer, draw);
  const keep = (words) => own.keep(words, item, seed, text !== NONE);
  const once = (words) => own.draw(words, item);
  const kept = own.keep && (await draw(keep, "permanent", text));
  const send = (words) => own.send(words, kept, seed);
  // by the whole digest: two documents with equal tags can be made on purpose
  const when = ["instant", task.digest, four(period), four(slot), text];
  const said = await (own.keep ? draw(send, ...when) : draw(once, "once", text));
  return concat([head, recordOf(task.oracle, part, said)]);
};
