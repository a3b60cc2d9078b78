/** Who may ask: Ed25519 over the exact text of a document. */
import { fromHex, isHex, subtle, utf8 } from "./bytes.js";
import { DitherError, need } from "./errors.js";

/** A public key from its hexadecimal text. */
export function publicKey(text) {
  need(
    isHex(text) && text.length === 64,
    "trust",
    "must be a public key: the 64 hexadecimal digits of key.public",
  );
  return fromHex(text);
}

/** Refuses a document that this key did not sign. */
export async function verify(document, signature, trusted) {
  let right;
  try {
    const key = await subtle().importKey("raw", trusted, "Ed25519", false, ["verify"]);
    right = await subtle().verify("Ed25519", key, signature, utf8(document));
  } catch {
    throw new DitherError("device", "cannot check signatures: Ed25519 is missing here");
  }
  need(right, "task", "is not signed by the trusted key, or was changed after that");
}
