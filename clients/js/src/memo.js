/** Memo: what a device draws once, not as a table but as a function of its secret. */
import { four, frame, fromHex, hmac } from "./bytes.js";
import { messageOf } from "./message.js";
import { keyed } from "./words.js";

/** Keys for everything that a device draws about a task: HMAC-SHA256 under its secret. */
export function memoOf(task, secret, salt) {
  const start = [fromHex(salt), task.attribute, task.permanent];
  const hashed = hmac(fromHex(secret));
  const key = (...parts) => hashed(frame(...start, ...parts));
  const words = async (...parts) => keyed(await key(...parts));

  /** The message of a period; without noise of its own, it says the same in every one. */
  function message(part, answer, period, slot, stratum) {
    // by the whole digest: two documents with equal tags can be made on purpose
    const when = [task.digest, four(period), four(slot)];
    return messageOf(task, part, answer, period, stratum, (purpose, ...about) =>
      words(purpose, ...(purpose === "instant" ? when : []), ...about),
    );
  }

  return { key, words, message };
}

/** A message's id: the same for a retry, and in no relation to those of other periods. */
export async function idOf(secret, name, first, slot) {
  const whole = await hmac(fromHex(secret))(frame("message id", name, first, four(slot)));
  return whole.slice(0, 16);
}
