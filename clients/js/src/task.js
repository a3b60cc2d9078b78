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
import { big, floatUp, NANO, written } from "./exact.js";
import { answerOf, HEADER, messageOf, partOf } from "./message.js";
import { publicKey, verify } from "./signing.js";
import { fresh } from "./words.js";

/** A question to devices; `Task.fromJSON` reads one. */
export class Task {
  /** Read what Python's `task.to_json()` wrote, and check every line of it. With `trust`,
   * a public key, the signature is checked first; a client checks it when it joins, too. */
  static async fromJSON(text, { trust } = {}) {
    const read = tried("text", () => JSON.parse(text));
    const signed = typeof read?.task === "string" && wellFormed(read.task) && isHex(read.signature);
    need(signed, "text", "is not a signed task; pass what task.to_json() gave");
    const signature = fromHex(read.signature);
    if (trust !== undefined) await verify(read.task, signature, publicKey(trust));
    return Task.fromDocument(read.task, signature);
  }

  /** A task from the text that is signed. */
  static async fromDocument(document, signature = new Uint8Array()) {
    const read = tried("document", () => checked(document));
    const task = Object.assign(new Task(), read, { signature });
    task.digest = await sha256(utf8(document));
    task.tag = task.digest.slice(0, 8);
    task.permanent = await sha256(utf8(read.permanent));
    // a task that is answered once has a memo of its own: its message may be unique
    const own = task.every ? [] : [task.name, task.starts];
    task.memo = toHex(await sha256(frame(task.attribute, task.permanent, ...own)));
    return Object.freeze(task);
  }

  /** How many answers a device can have kept: distinct values, and "none". */
  get answers() {
    return this.every ? Math.min(this.distinct, this.domain.different) + 1 : 1;
  }

  /** The ε of a message, of all messages about one value, of all messages for ever, and
   * of each message against those whose answers change at other times. */
  get losses() {
    const { lost: message, forEver: value, instant: change } = this.oracle;
    const [over, under] = written(value);
    return { message, value, change, lifetime: floatUp(big(this.answers) * over, under) };
  }

  /** What a device reserves of its budget, in units of 1e-9 ε. */
  get cost() {
    const [over, under] = written(this.oracle.forEver);
    return Number((big(this.answers) * over * NANO + under - 1n) / under);
  }

  /** What a message says, in words. */
  inWords(message) {
    const { sampled, parts } = this.oracle;
    const number = sampled ? message[HEADER] : 0;
    const { head, bits, says } = parts[number];
    const start = HEADER + sampled;
    const end = start + sizeOf(head);
    const ones = range(bits).filter((at) => (message[end + (at >> 3)] >> (at & 7)) & 1);
    const said = says(fromLittle(message.slice(start, end)), ones, (item) =>
      this.domain.name(item, number),
    );
    return sampled ? `question ${number + 1} of ${parts.length}: ${said}` : said;
  }

  /** A message with fresh noise, as if from a device of its own: for tests, and pages that
   * show what noise does. A device answers with `client.answer`. */
  async rehearse(value, { period = 0, stratum } = {}) {
    const words = fresh();
    const part = await partOf(this, () => words);
    return messageOf(this, part, answerOf(this, part, value), period, stratum, () => words);
  }
}
