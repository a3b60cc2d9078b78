/** A device: it agrees to tasks, answers them, and never promises more than its budget. */
import { concat, four, fromHex, toHex } from "./bytes.js";
import { need, needTask, tried } from "./errors.js";
import { nanoDown, shown } from "./exact.js";
import { idOf, memoOf } from "./memo.js";
import { answerOf, checkBelow, header, messageOf, partOf } from "./message.js";
import { floor, freeze, max, min, parse, stringify } from "./numbers.js";
import { dayOf, iso, periodOf } from "./periods.js";
import { publicKey, verify } from "./signing.js";
import {
  allowed,
  answeredUntil,
  asksMore,
  checkSuccessor,
  CONSENT,
  forgetUnused,
  joinedAs,
  knownTask,
  leftOf,
  memoRow,
  needed,
  newState,
  note,
  ofOthers,
  ofTask,
  openPeriod,
  present,
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
  #change; // reads and writes what is stored
  #trust;

  /** Open the device in `store` (IndexedDB, if none is passed), or make a new one there.
   * `budget` is the ε of everything it ever joins, `trust` the public key whose tasks it
   * accepts; both are fixed when the device is made. */
  static async open({ store = globalThis.indexedDB && new IndexedDBStore(), budget, trust }) {
    const usual = typeof budget === "number" && 1e-6 <= budget && budget <= 1e6;
    need(usual, "budget", "must be an ε between 1e-6 and 1e6");
    need(store, "device", "the device needs a store that lasts; pass one");
    const client = new Client();
    client.#trust = publicKey(trust);
    const device = newState(toHex(client.#trust), nanoDown(budget));
    client.#change = changing(store, device);
    client.budget = device.budget / 1e9;
    // if another tab is faster, its device is the one
    const save = async () => (await store.load()) || store.save(stringify(device), 1);
    await asked(save);
    await client.left();
    return freeze(client);
  }

  /** What of the budget is not reserved. */
  left() {
    return this.#change((state) => leftOf(state) / 1e9);
  }

  async #agree(task, work) {
    needTask(task instanceof Task, "must be a Task; read one with Task.fromJSON(text)");
    await verify(task.document, task.signature, this.#trust);
    await this.#change((state) => work(state, knownTask(state, task)));
  }

  /** Agree to a task, after its owner has: reserve what it may ever lose. */
  join(task) {
    return this.#agree(task, (state, known) => {
      const open = !task.stopped && dayOf(Date.now()) < task.end;
      needTask(open, "was stopped or has ended, and cannot be joined");
      if (known) {
        checkSuccessor(known, task);
        if (known.state === "joined" && known.version === task.version) return;
        const last = iso(task.first + (task.periods - 1) * task.every);
        const answered = last < answeredUntil(state, task, known);
        needTask(!answered, "has no unanswered period left");
      }
      reserve(state, task, known);
    });
  }

  /** Take over a newer version; a stopped one ends all answers for good, also one that was
   * never joined. A version that reserves, loses or says more needs consent again: it is
   * refused, and can be joined. */
  update(task) {
    return this.#agree(task, async (state, known) => {
      if (task.stopped) {
        if (known?.state === "stopped") return;
        if (known) checkSuccessor(known, task);
        return note(state, task, known, "stopped");
      }
      joinedAs(state, task);
      if (known.version === task.version) return;
      const agreed = await Task.fromDocument(known.document);
      const more = needed(state, task).extra || asksMore(task, agreed);
      needTask(!more, `requires more than the owner agreed to; ${CONSENT}`);
      reserve(state, task, known);
    });
  }

  /** Delete the messages of a task, and its memo if no other task shares it. What was
   * reserved stays reserved: what was sent cannot be taken back. */
  leave(task) {
    return this.#change((state) => {
      const known = present(state, task);
      known.until = answeredUntil(state, task, known);
      if (known.state === "joined") known.state = "left";
      state.messages = ofOthers(state.messages, task);
      state.moments = ofOthers(state.moments, task);
      forgetUnused(state);
    });
  }

  /** The message for this period: the same bytes whatever is asked again. Ask in every
   * period, also when there is nothing to say (null): silence would tell. */
  async answer(task, value, options) {
    return (await this.parcel(task, value, options)).slice(18);
  }

  /** The message behind its id, ready to be sent: POST it to /v1/messages. */
  async parcel(task, value, { slot = 0, stratum } = {}) {
    checkBelow("slot", slot, task.messages);
    header(task, 0, stratum);
    const { message, id } = await this.#change((state) => {
      joinedAs(state, task);
      const now = Date.now(); // looked at once: it may go on, or back
      const day = iso(dayOf(now));
      const around = (one) => one.slot === slot && one.first <= day && day < one.until;
      const made = ofTask(state.messages, task).find(around);
      return made ?? newMessage(state, task, value, now, slot, stratum);
    });
    return concat([[0xd4, 1], fromHex(id), fromHex(message)]);
  }

  /** When to send the message of this period: a moment that is drawn once, from what was
   * left of the period when it was first asked for. */
  async when(task, { slot = 0 } = {}) {
    checkBelow("slot", slot, task.messages);
    const { at } = await this.#change((state) => {
      joinedAs(state, task);
      const now = Date.now();
      const { first } = periodOf(task, dayOf(now));
      const same = (one) => one.slot === slot && one.first === first;
      return ofTask(state.moments, task).find(same) ?? newMoment(state, task, now, slot);
    });
    return new Date(at);
  }

  /** What left this device, oldest first, for its owner to read. It says nothing for sure:
   * `epsilon` bounds how much. */
  sent() {
    const byTime = (one, other) => (one.at > other.at) - (one.at < other.at);
    return this.#change(({ messages }) =>
      messages.map((one) => ({ ...one, toString: inLine })).sort(byTime),
    );
  }
}

const needStore = (condition, why) =>
  need(condition, "device", `nothing was sent: the store ${why}`);

const asked = async (work) => {
  try {
    return await work();
  } catch (problem) {
    needStore(false, `failed (${problem}); try again`);
  }
};

/** Read, work, and write only if nobody else has written in between; else begin anew.
 * So what `work` returns follows from what is stored, and is stored. */
const changing = (store, device) => async (work) => {
  for (let turn = 0; turn < TRIES; turn++) {
    const found = await asked(() => store.load());
    needStore(found, "was cleared; open the client again");
    const state = tried("device", () => stateFrom(found.text, device), DAMAGED);
    const result = await work(state);
    const text = stringify(state);
    if (text === found.text || (await asked(() => store.save(text, found.version + 1))))
      return result;
  }
  needStore(false, "is busy; try again");
};

const DAMAGED = "the store is damaged; clear it to begin as a new device";

const stateFrom = (text, { trust, budget }) => {
  const state = parse(text);
  const right = state.format === 1 && /^[0-9a-f]{64}$/.test(state.secret);
  need(right, "device", DAMAGED);
  need(state.trust === trust, "trust", "must be the key that this device was made with");
  need(state.budget === budget, "budget", `must be ${state.budget / 1e9} for this device`);
  return state;
};

const reserve = (state, task, known) => {
  const { memo, extra } = needed(state, task);
  const { name } = task;
  const left = leftOf(state);
  const short = `reserves ε = ${extra / 1e9}, but only ${left / 1e9} of the budget remains`;
  need(extra <= left, "budget", `the task '${name}' ${short}`);
  if (extra) state.reservations.push({ day: iso(dayOf(Date.now())), task: name, cost: extra });
  state.memos = [...state.memos.filter((one) => one.id !== memo.id), memo];
  note(state, task, known, "joined");
};

/** A sent message on one line, without the control characters a value may have. */
function inLine() {
  const { at, task, version, first, slot, said, epsilon, message } = this;
  const when = `${at.slice(0, 16).replace("T", " ")} UTC  ${task} (version ${version})`;
  const which = `period from ${first}${slot ? `, message ${slot + 1}` : ""}`;
  const what = `your answer was turned into “${said}”, ε = ${shown(epsilon, 4)}`;
  const text = `${when}, ${which}: ${what}, ${message.length / 2} bytes`;
  return text.replace(/(?! )[\p{C}\p{Z}]/gu, (sign) => `\\u{${sign.codePointAt().toString(16)}}`);
}

const memoFor = (state, task) => memoOf(task, state.secret, memoRow(state, task).salt);

/** A new message, noted in the state. */
const newMessage = async (state, task, value, now, slot, stratum) => {
  const { number, first, until } = openPeriod(state, task, dayOf(now));
  const { secret, messages } = state;
  const { name, version, oracle } = task;
  const { key, draw } = memoFor(state, task);
  const part = await partOf(task, draw);
  const wanted = answerOf(task, part, value);
  const answer = allowed(state, task, wanted, toHex(await key("mark", wanted[0])));
  const message = await messageOf(task, part, answer, draw, number, stratum, slot);
  const id = toHex(await idOf(secret, name, first, slot));
  const said = task.inWords(message) + (stratum === undefined ? "" : `, stratum ${stratum}`);
  const row = {
    ...{ at: new Date(now).toISOString(), task: name, version, first, until, slot },
    ...{ said, epsilon: oracle.lost, id, message: toHex(message) },
  };
  messages.push(row);
  return row;
};

/** A new moment, noted in the state. */
const newMoment = async (state, task, now, slot) => {
  const { number, first, until } = openPeriod(state, task, dayOf(now));
  const seconds = floor((Date.parse(until) - now) / 1000);
  const below = (words) => words.below(min(max(seconds, 1), ONE));
  const { draw } = memoFor(state, task);
  const later = await draw(below, "when", task.tag, four(number), four(slot));
  const row = { task: task.name, slot, first, at: (floor(now / 1000) + later) * 1000 };
  state.moments.push(row);
  return row;
};
