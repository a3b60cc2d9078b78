/** Memo: what a device draws once, not as a table but as a function of its secret. */
import { four, frame, fromHex, hmac } from "./bytes.js";
import { drawn, keyed } from "./words.js";

/** Keys for everything that a device draws about a task, HMAC-SHA256 under its secret; and
 * what some work draws under such a key. */
export const memoOf = ({ attribute, permanent }, secret, salt) => {
  const hashed = hmac(fromHex(secret));
  const key = (...parts) => hashed(frame(fromHex(salt), attribute, permanent, ...parts));
  const draw = async (work, ...parts) => drawn(keyed(await key(...parts)), work);
  return { key, draw };
};

/** A message's id: the same for a retry, and in no relation to those of other periods. */
export const idOf = async (secret, name, first, slot) => {
  const whole = await hmac(fromHex(secret))(frame("message id", name, first, four(slot)));
  return whole.slice(0, 16);
};
