/** Bytes, and the two hashes of WebCrypto. */
import { need } from "./errors.js";
import { floor } from "./numbers.js";
import { isText } from "./values.js";

export const utf8 = (text) => new TextEncoder().encode(text);
export const wellFormed = (text) => !/\p{Surrogate}/u.test(text);
export const range = (count) => Array.from({ length: count }, (_, at) => at);
export const toHex = (bytes) =>
  Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
export const isHex = (text) => /^([0-9a-f]{2})*$/i.test(text);
export const fromHex = (text) =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
export const concat = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

/** A whole number in so many bytes, the lowest first. */
export const little = (number, size) =>
  range(size).map((at) => floor(number / 256 ** at) % 256);
export const four = (number) => little(number, 4).reverse();
export const fromLittle = (bytes) => bytes.reduceRight((number, byte) => number * 256 + byte, 0);

/** How many bytes hold a number below `outcomes`; none, where it is always 0. */
export const sizeOf = (outcomes) => range(8).find((size) => 256 ** size >= outcomes);

/** Parts behind their lengths: no two lists of parts give the same bytes. */
export const frame = (...parts) => {
  const bytes = parts.map((part) => (isText(part) ? utf8(part) : part));
  return concat(bytes.flatMap((part) => [four(part.length), part]));
};

export const subtle = () => {
  const found = globalThis.crypto?.subtle;
  need(found, "device", "WebCrypto is missing; use https, or import node.js in Node 18");
  return found;
};

const SHA = "SHA-256";
const bytesOf = async (buffer) => new Uint8Array(await buffer);

export const sha256 = (bytes) => bytesOf(subtle().digest(SHA, bytes));

/** HMAC-SHA256 under a key, for one text after another. */
export const hmac = (secret) => {
  const name = "HMAC";
  const key = subtle().importKey("raw", secret, { name, hash: SHA }, false, ["sign"]);
  return async (bytes) => bytesOf(subtle().sign(name, await key, Uint8Array.from(bytes)));
};

export const newSecret = () => toHex(crypto.getRandomValues(new Uint8Array(32)));
