/** A task: the one document that device and server share. */
import {
  frame,
  fromHex,
  fromLittle,
  isHex,
  range,
  sha256,
  sizeOf,
  toHex,
  utf8,
  wellFormed,
} from "./bytes.js";
import { checked } from "./document.js";
import { need, tried } from "./errors.js";
import { nanoUp, times } from "./exact.js";
import { answerOf, HEADER, messageOf, partOf } from "./message.js";
import { freeze, min, parse } from "./numbers.js";
import { publicKey, verify } from "./signing.js";
import { isText } from "./values.js";
import { drawn, fresh } from "./words.js";

/** A question to devices; `Task.fromJSON` reads one. */
export class Task {
  /** Read what Python's `task.to_json()` wrote, and check every line of it. With `trust`,
   * a public key, the signature is checked first; a client checks it when it joins, too. */
  static async fromJSON(text, { trust } = {}) {
    const { task, signature } = tried("text", () => ({ ...parse(text) }));
    const signed = isText(task) && wellFormed(task) && isHex(signature);
    need(signed, "text", "is not a signed task; pass what task.to_json() returned");
    const bytes = fromHex(signature);
    if (trust !== undefined) await verify(task, bytes, publicKey(trust));
    return Task.fromDocument(task, bytes);
  }

  /** A task from the text that is signed. */
  static async fromDocument(document, signature = new Uint8Array()) {
    const read = tried("document", () => checked(document));
    const { every, name, starts, attribute, distinct, domain, oracle } = read;
    const digest = await sha256(utf8(document));
    const permanent = await sha256(utf8(read.permanent));
    // a task that is answered once has a memo of its own: its message may be unique
    const own = every ? [] : [name, starts];
    const memo = toHex(await sha256(frame(attribute, permanent, ...own)));
    // how many answers a device can have kept: distinct values, and "none"
    const answers = every ? min(distinct, domain.different) + 1 : 1;
    // the ε of a message, of all about one value, of each message against those whose
    // answers change at other times, and of all messages for ever
    const { lost: message, ever: value, instant: change } = oracle;
    const losses = freeze({ message, value, change, lifetime: times(answers, value) });
    const cost = nanoUp(answers, value); // what a device reserves, in units of 1e-9 ε
    const known = { signature, digest, tag: digest.slice(0, 8), permanent, memo };
    return freeze(Object.assign(new Task(), { ...read, ...known, answers, losses, cost }));
  }

  /** What a message says, in words. */
  inWords(message) {
    const { sampled, parts } = this.oracle;
    const number = sampled ? message[HEADER] : 0;
    const { head, bits, says } = parts[number];
    const start = HEADER + sampled;
    const end = start + sizeOf(head);
    const ones = range(bits).filter((at) => (message[end + (at >> 3)] >> (at & 7)) & 1);
    const named = (item) => this.domain.name(item, number);
    const said = says(fromLittle(message.slice(start, end)), ones, named);
    return sampled ? `question ${number + 1} of ${parts.length}: ${said}` : said;
  }

  /** A message with fresh noise, as if from a device of its own: for tests, and pages that
   * show what noise does. A device answers with `client.answer`. */
  async rehearse(value, { period = 0, stratum } = {}) {
    const draw = (work) => drawn(fresh, work);
    const part = await partOf(this, draw);
    return messageOf(this, part, answerOf(this, part, value), draw, period, stratum);
  }
}
