/** A device: it agrees to tasks, answers them, and never promises more than its budget. */
import { concat, four, fromHex, newSecret, toHex } from "./bytes.js";
import { DitherError, need, tried } from "./errors.js";
import { NANO, shown, written } from "./exact.js";
import { idOf, memoOf } from "./memo.js";
import { answerOf, checkBelow, header, partOf } from "./message.js";
import { dayOf, iso, periodOf, today } from "./periods.js";
import { publicKey, verify } from "./signing.js";
import {
  allowed,
  answeredUntil,
  asksMore,
  checkSuccessor,
  forgetUnused,
  joinedAs,
  leftOf,
  memoRow,
  needed,
  note,
  openPeriod,
  stopFor,
  taskOf,
  without,
} from "./state.js";
import { IndexedDBStore } from "./store.js";
import { Task } from "./task.js";
import { ONE } from "./words.js";

const TRIES = 1000; // by then, others have changed the store a thousand times

/**
 * A device that answers tasks: consent, memo, budget, and what was sent, in one store.
 *
 * For each memo, all messages together lose at most what `join` reserved for it, against
 * every other history of answers that change and return at the same times; all
 * reservations together stay within `budget`. A message is in the store before it is
 * returned. A cleared store is a new device with a new budget; a copy answers alike.
 */
export class Client {
  #store;
  #trust;
  #limit;

  /** Open the device in `store` (IndexedDB, if none is passed), or make a new one there.
   * `budget` is the ε of everything it ever joins, `trust` the public key whose tasks it
   * accepts; both are fixed when the device is made. */
  static async open({ store, budget, trust }) {
    const usual = typeof budget === "number" && 1e-6 <= budget && budget <= 1e6;
    need(usual, "budget", "must be an ε between 1e-6 and 1e6");
    const client = new Client();
    const [over, under] = written(budget);
    client.#limit = Number((over * NANO) / under);
    client.#trust = toHex(publicKey(trust));
    client.#store = store ?? (globalThis.indexedDB && new IndexedDBStore());
    need(client.#store, "device", "needs a store that outlives the app; pass one");
    if (!(await client.#asked("load"))) await client.#create();
    await client.left();
    return client;
  }

  /** If another tab is faster, its device is the one. */
  #create() {
    const lists = { tasks: [], memos: [], marks: [], reservations: [], messages: [], moments: [] };
    const device = { format: 1, secret: newSecret(), trust: this.#trust, budget: this.#limit };
    return this.#asked("save", JSON.stringify({ ...device, ...lists }), 1);
  }

  async #asked(verb, ...what) {
    try {
      return await this.#store[verb](...what);
    } catch (problem) {
      throw new DitherError("device", `nothing was sent: the store failed (${problem})`);
    }
  }

  /** Read, work, and write only if nobody else has written in between; else begin anew.
   * So what `work` returns follows from what is stored, and is stored. */
  async #change(work) {
    for (let turn = 0; turn < TRIES; turn++) {
      const found = await this.#asked("load");
      need(found, "device", "nothing was sent: the store was cleared; open a new device");
      const state = this.#read(found.text);
      const result = await work(state);
      const text = JSON.stringify(state);
      if (text === found.text || (await this.#asked("save", text, found.version + 1)))
        return result;
    }
    throw new DitherError("device", "nothing was sent: others use the store all the time");
  }

  #read(text) {
    const state = tried("device", () => JSON.parse(text));
    const whole = state?.format === 1 && /^[0-9a-f]{64}$/.test(state.secret);
    need(whole, "device", "is damaged, or was written by another version; nothing was sent");
    need(state.trust === this.#trust, "trust", "is not the key that this device was made with");
    const fixed = `is ${state.budget / 1e9} for this device, and stays so`;
    need(state.budget === this.#limit, "budget", fixed);
    return state;
  }

  async #verify(task) {
    need(task instanceof Task, "task", "must be a task; read one with Task.fromJSON(text)");
    await verify(task.document, task.signature, fromHex(this.#trust));
  }

  /** The ε that all tasks of this device may reserve together. */
  get budget() {
    return this.#limit / 1e9;
  }

  /** What of the budget is not reserved. */
  left() {
    return this.#change((state) => leftOf(state) / 1e9);
  }

  #agree(state, task, known) {
    const { memo, extra } = needed(state, task);
    const [wanted, left] = [extra, leftOf(state)].map((nano) => shown(nano / 1e9, 9));
    const why = `${task.name} reserves ε = ${wanted} for its lifetime; ${left} of this device's ${this.budget} is left`;
    need(extra <= leftOf(state), "budget", why);
    if (extra) state.reservations.push({ day: iso(today()), task: task.name, cost: extra });
    state.memos = [...state.memos.filter((one) => one.id !== memo.id), memo];
    note(state, task, known, "joined");
  }

  /** Agree to a task, after its owner has: reserve what it may ever lose. */
  async join(task) {
    await this.#verify(task);
    const open = !task.stopped && today() < task.end;
    need(open, "task", "was stopped, or has ended; there is nothing to join");
    await this.#change((state) => {
      const known = taskOf(state, task);
      if (known) {
        checkSuccessor(known, task);
        if (known.state === "joined" && known.version === task.version) return;
        const last = iso(task.first + (task.periods - 1) * task.every);
        need(last >= answeredUntil(state, task, known), "task", "has no period left to answer");
      }
      this.#agree(state, task, known);
    });
  }

  /** Take over a newer version; a stopped one ends all answers for good. A version that
   * reserves, loses or says more needs consent again: it is refused, and can be joined. */
  async update(task) {
    await this.#verify(task);
    await this.#change(async (state) => {
      if (task.stopped) return stopFor(state, task);
      const known = joinedAs(state, task);
      if (known.version === task.version) return;
      const agreed = await Task.fromDocument(known.document);
      const more = needed(state, task).extra || asksMore(task, agreed);
      need(!more, "task", "asks for more than its owner agreed to; ask again, then join(task)");
      this.#agree(state, task, known);
    });
  }

  /** Delete the messages of a task, and its memo if no other task shares it. What was
   * reserved stays reserved: what was sent cannot be taken back. */
  async leave(task) {
    await this.#change((state) => {
      const known = taskOf(state, task);
      need(known && known.state !== "left", "task", "has not been joined, or was left already");
      known.until = answeredUntil(state, task, known);
      if (known.state === "joined") known.state = "left";
      state.messages = without(state.messages, task.name);
      state.moments = without(state.moments, task.name);
      forgetUnused(state);
    });
  }

  /** The message for this period: the same bytes whatever is asked again. Ask in every
   * period, also when there is nothing to say (null): silence would tell. */
  async answer(task, value, options) {
    return fromHex((await this.#answered(task, value, options)).message);
  }

  /** The message behind its id, ready to be sent: POST it to /v1/messages. */
  async parcel(task, value, options) {
    const { message, id } = await this.#answered(task, value, options);
    return concat([[0xd4, 1], fromHex(id), fromHex(message)]);
  }

  #answered(task, value, { slot = 0, stratum } = {}) {
    checkBelow("slot", slot, task.messages);
    header(task, 0, stratum);
    return this.#change(async (state) => {
      joinedAs(state, task);
      const now = Date.now(); // looked at once: it may go on, or back
      const day = iso(dayOf(now));
      const around = (one) =>
        one.task === task.name && one.slot === slot && one.first <= day && day < one.until;
      return state.messages.find(around) ?? made(state, task, value, now, slot, stratum);
    });
  }

  /** When to send the message of this period: a moment that is drawn once, from what was
   * left of the period when it was first asked for. */
  async when(task, { slot = 0 } = {}) {
    checkBelow("slot", slot, task.messages);
    return this.#change(async (state) => {
      joinedAs(state, task);
      const now = Date.now();
      const { first } = periodOf(task, dayOf(now));
      const kept = state.moments.find(
        (one) => one.task === task.name && one.slot === slot && one.first === first,
      );
      if (kept) return new Date(kept.at);
      const { number, until } = openPeriod(state, task, dayOf(now));
      const seconds = Math.floor((Date.parse(until) - now) / 1000);
      const memo = memoOf(task, state.secret, memoRow(state, task).salt);
      const words = await memo.words("when", task.tag, four(number), four(slot));
      const later = await words.below(Math.min(Math.max(seconds, 1), ONE));
      const at = (Math.floor(now / 1000) + later) * 1000;
      state.moments.push({ task: task.name, slot, first, at });
      return new Date(at);
    });
  }

  /** What left this device, oldest first, for its owner to read. It says nothing for sure:
   * `epsilon` bounds how much. */
  sent() {
    const byTime = (one, other) => (one.at > other.at) - (one.at < other.at);
    return this.#change((state) =>
      state.messages.map((one) => ({ ...one, toString: inLine })).sort(byTime),
    );
  }
}

/** A sent message on one line, without the control characters a value may have. */
function inLine() {
  const { at, task, version, first, slot, said, epsilon, message } = this;
  const when = `${at.slice(0, 16).replace("T", " ")} UTC  ${task} (version ${version})`;
  const which = `period from ${first}${slot ? `, message ${slot + 1}` : ""}`;
  const what = `your answer was turned into “${said}”, ε = ${shown(epsilon, 4)}`;
  const text = `${when}, ${which}: ${what}, ${message.length / 2} bytes`;
  return text.replace(/(?! )[\p{C}\p{Z}]/gu, (sign) => `\\u{${sign.codePointAt().toString(16)}}`);
}

/** A new message, noted in the state. */
async function made(state, task, value, now, slot, stratum) {
  const { number, first, until } = openPeriod(state, task, dayOf(now));
  const memo = memoOf(task, state.secret, memoRow(state, task).salt);
  const part = await partOf(task, memo.words);
  const wanted = answerOf(task, part, value);
  const answer = allowed(state, task, wanted, toHex(await memo.key("mark", wanted[0])));
  const message = await memo.message(part, answer, number, slot, stratum);
  const id = await idOf(state.secret, task.name, first, slot);
  const more = stratum === undefined ? "" : `, stratum ${stratum}`;
  const row = {
    at: new Date(now).toISOString(),
    ...{ task: task.name, version: task.version, first, until, slot },
    ...{ said: task.inWords(message) + more, epsilon: task.oracle.lost },
    ...{ id: toHex(id), message: toHex(message) },
  };
  state.messages.push(row);
  return row;
}
