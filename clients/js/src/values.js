/** The text that a value is known by in every language. */
import { wellFormed } from "./bytes.js";

export const NONE = "n:"; // the answer of a device that has none
export const LONGEST = 1024; // bytes of the longest text that an open vocabulary counts
const LONGEST_LISTED = 2 ** 20; // and of any text that is looked at

/** The text a value is known by in every language; null if it has none. A number beyond
 * 2^53 has lost digits: pass such whole numbers as BigInt. */
export const canonical = (value) => {
  if (isFlag(value)) return `b:${+value}`;
  const short = typeof value === "bigint" && value * value < 2n ** 2048n;
  if (short || Number.isSafeInteger(value)) return `i:${BigInt(value)}`;
  if (!isText(value) || value.length > LONGEST_LISTED) return null;
  const text = value.normalize("NFC");
  return text && wellFormed(text) ? `s:${text}` : null;
};

export const isFlag = (value) => typeof value === "boolean";
export const differ = (values) => new Set(values).size === values.length;
export const isText = (value) => typeof value === "string";
