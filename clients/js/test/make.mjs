/** Tasks, a device and a clock for tests, in Node and in browsers alike. */
import { Client, Task } from "../dither.js";
import { MemoryStoreForTests } from "../memory.js";

const toHex = (bytes) => Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");

export const EMOJI = ["🎉", "👍", "❤️", "😂"];
export const MONDAY = Date.UTC(2027, 2, 1);
export const DAY = 86_400_000;

/** A developer's key; made anew for each run. */
const pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
export const TRUST = toHex(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));

/** What the device believes the time to be; null is the real one. */
const realNow = Date.now;
export function setClock(day, hour = 12) {
  const moment = MONDAY + day * DAY + hour * 3_600_000;
  Date.now = day === null ? realNow : () => moment;
}

/** ε = 1 for a message and 2 for ever, by k-ary response in two layers. */
export const LOLOHA = {
  functions: 1,
  items: 5,
  kept: 2_786_513_124,
  kind: "loloha",
  sent: 2_425_517_477,
  values: 5,
};
export const K_ARY = { items: 5, kind: "k-ary response", truth: 2_786_513_124 };
export const UNARY = { items: 5, kind: "unary", one: 2 ** 31, zero: 1_155_094_610 };

export const LINES = {
  attribute: "emoji",
  distinct: 2,
  domain: { none: true, values: EMOJI },
  epsilon: 1.25,
  every: 1,
  expires: "2028-03-01",
  for_ever: 2.5,
  format: "dither local task, 1",
  messages: 1,
  minimum: 100,
  name: "emoji",
  oracle: LOLOHA,
  starts: "2027-03-01",
  stopped: false,
  strata: [],
  version: 1,
};

/** A document as Python writes it, with other lines. */
export function documentOf(changes = {}) {
  const lines = { ...LINES, ...changes };
  const text = JSON.stringify(sorted(lines));
  return text.replace(/"(epsilon|for_ever)":(\d+)(?=[,}])/g, '"$1":$2.0');
}

function sorted(value) {
  if (Array.isArray(value) || value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

export async function signed(document) {
  const signature = await crypto.subtle.sign(
    "Ed25519",
    pair.privateKey,
    new TextEncoder().encode(document),
  );
  return JSON.stringify({ task: document, signature: toHex(new Uint8Array(signature)) });
}

export async function make(changes = {}) {
  return Task.fromJSON(await signed(documentOf(changes)), { trust: TRUST });
}

export async function device(options = {}) {
  const store = options.store ?? new MemoryStoreForTests();
  return Client.open({ store, budget: 20, trust: TRUST, ...options });
}

export const stateOf = async (store) => JSON.parse((await store.load()).text);
