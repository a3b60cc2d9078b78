/** Who may ask: Ed25519 over the exact text of a document. */
import { fromHex, isHex, subtle, utf8 } from "./bytes.js";
import { DitherError, need, needTask } from "./errors.js";

/** A public key from its hexadecimal text. */
export const publicKey = (text) => {
  need(isHex(text) && text.length === 64, "trust", "must be key.public, 64 hexadecimal digits");
  return fromHex(text);
};

/** Refuses a document that this key did not sign. */
export const verify = async (document, signature, trusted) => {
  const name = "Ed25519";
  let right;
  try {
    const key = await subtle().importKey("raw", trusted, name, false, ["verify"]);
    right = await subtle().verify(name, key, signature, utf8(document));
  } catch {
    throw new DitherError("device", `${name} is missing; update the browser`);
  }
  needTask(right, "is not signed by the trusted key, or was changed afterwards");
};
