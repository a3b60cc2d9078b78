/** A device agrees, answers once a period, and stays within its budget. */
import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";

import { Client, DitherError } from "../dither.js";
import { MemoryStoreForTests } from "../memory.js";
import {
  device,
  DAY,
  documentOf,
  K_ARY,
  LOLOHA,
  make,
  MONDAY,
  setClock,
  signed,
  stateOf,
  TRUST,
  UNARY,
} from "./make.mjs";

const DAILY = {
  oracle: {
    items: 200,
    kept_one: 2 ** 31,
    kept_zero: 511_972_652,
    kind: "longitudinal unary",
    sent_one: 3_450_525_472,
    sent_zero: 844_441_824,
  },
  domain: { below: 200, from: 0, none: false },
};

const refused = (work, words) =>
  assert.rejects(work, (problem) => {
    assert.ok(problem instanceof DitherError, `${problem?.stack}`);
    assert.match(problem.message, words);
    return true;
  });

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const record = (message) => hex(message.subarray(16));

beforeEach(() => setClock(0));

// one message

test("a message belongs to its task and period", async () => {
  const [client, task] = [await device(), await make()];
  await client.join(task);
  setClock(3);
  const message = await client.answer(task, "🎉");
  assert.deepEqual([...message.subarray(0, 4)], [0xd1, 1, 1, 0]);
  assert.equal(hex(message.subarray(4, 12)), hex(task.tag));
  assert.deepEqual([...message.subarray(12, 16)], [3, 0, 0, 0]);
  assert.equal(message.length, 17);
});

test("all period the same bytes, whatever is asked", async () => {
  const [client, task] = [await device(), await make({ every: 7 })];
  await client.join(task);
  const message = await client.answer(task, "🎉");
  for (const [turn, value] of ["👍", null, 7, "🎉"].entries()) {
    setClock(2 * turn, 23);
    assert.deepEqual(await client.answer(task, value), message);
  }
  assert.equal((await client.sent()).length, 1);
});

test("a parcel is a message behind an id that retries share", async () => {
  const [client, task] = [await device(), await make()];
  await client.join(task);
  const first = await client.parcel(task, "🎉");
  assert.deepEqual([...first.subarray(0, 2)], [0xd4, 1]);
  assert.deepEqual(first.subarray(18), await client.answer(task, "👍"));
  assert.deepEqual(await client.parcel(task, null), first);
  assert.equal((await client.sent())[0].id, hex(first.subarray(2, 18)));
  setClock(1);
  const second = await client.parcel(task, "🎉");
  assert.notEqual(hex(second.subarray(2, 18)), hex(first.subarray(2, 18)));
});

test("periods have noise of their own, and a kept response none", async () => {
  const [client, task, kept] = [
    await device(),
    await make(DAILY),
    await make({ oracle: K_ARY, name: "kept", epsilon: 2.5 }),
  ];
  await client.join(task);
  await client.join(kept);
  const said = [new Set(), new Set()];
  for (let day = 0; day < 5; day++) {
    setClock(day);
    said[0].add(record(await client.answer(task, 3)));
    said[1].add(record(await client.answer(kept, "🎉")));
  }
  assert.deepEqual(
    said.map((one) => one.size),
    [5, 1],
  );
});

test("slots are messages of their own", async () => {
  const [client, task] = [await device(), await make({ ...DAILY, messages: 2 })];
  await client.join(task);
  const first = await client.answer(task, 3);
  const second = await client.answer(task, 3, { slot: 1 });
  assert.notDeepEqual(first, second);
  assert.deepEqual(await client.answer(task, 4, { slot: 1 }), second);
  for (const slot of [2, -1, true, "0", null, 0.5])
    await assert.rejects(async () => client.answer(task, 3, { slot }), /slot/);
});

test("declared strata are in the message, and in what was sent", async () => {
  const [client, task] = [await device(), await make({ strata: ["1.0", "2.0"] })];
  await client.join(task);
  await assert.rejects(async () => client.answer(task, "🎉"), /stratum/);
  await assert.rejects(async () => client.answer(task, "🎉", { stratum: "3.0" }), /stratum/);
  assert.equal((await client.answer(task, "🎉", { stratum: "2.0" }))[14], 1);
  assert.match((await client.sent())[0].said, /, stratum 2\.0$/);
});

const awkward = new Proxy(() => {}, {
  get() {
    throw new Error("looked at");
  },
  getPrototypeOf() {
    throw new Error("looked at");
  },
});
const ODD = [
  undefined,
  null,
  "",
  "\ud800",
  "x".repeat(100_000),
  "x".repeat(2 ** 21),
  NaN,
  3.5,
  2n ** 5000n,
  -Infinity,
  [],
  {},
  Symbol("s"),
  awkward,
  new Date(),
  new String("🎉"),
  new Uint8Array(2),
];

for (const none of [true, false]) {
  for (const kind of ["listed", "range", "open"]) {
    test(`no error depends on the value: ${kind}, ${none ? "with" : "without"} none`, async () => {
      const domains = {
        listed: { none, values: ["🎉", "👍"] },
        range: { below: 3, from: 1, none },
        open: null,
      };
      const items = kind === "open" ? 0 : 2 + none;
      const oracle = items
        ? { items, kind: "k-ary response", truth: 2_786_513_124 }
        : { columns: 1024, items, kind: "Hadamard sketch", rows: 1024, truth: 3 * 2 ** 30 };
      const often = items ? {} : { every: 0, distinct: 1 };
      const task = await make({
        domain: domains[kind],
        oracle,
        epsilon: 9.5,
        for_ever: 9.5,
        ...often,
      });
      const client = await device({ budget: 100 });
      await client.join(task);
      const kept = new Set();
      for (const [turn, value] of ODD.entries()) {
        if (items) setClock(turn);
        kept.add(record(await client.answer(task, value)));
      }
      assert.equal(kept.size, 1);
      assert.deepEqual((await stateOf(storeOf(client))).marks, []);
    });
  }
}

const stores = new WeakMap();
const storeOf = (client) => stores.get(client);
const open = Client.open;
Client.open = async (options) => {
  const client = await open.call(Client, options);
  stores.set(client, options.store);
  return client;
};

test("beyond its distinct values a device answers none", async () => {
  const [client, task] = [await device(), await make({ oracle: K_ARY, epsilon: 2.5, distinct: 2 })];
  await client.join(task);
  const said = {};
  for (const [day, value] of ["🎉", "👍", "❤️", null, "😂", "🎉"].entries()) {
    setClock(day);
    said[`${day} ${value}`] = record(await client.answer(task, value));
  }
  assert.equal(said["2 ❤️"], said["3 null"]);
  assert.equal(said["4 😂"], said["3 null"]);
  assert.equal(said["5 🎉"], said["0 🎉"]);
  assert.equal((await stateOf(storeOf(client))).marks.length, 2);
});

test("tasks that share a memo share its values", async () => {
  const client = await device();
  const [one, two] = [
    await make({ distinct: 1 }),
    await make({ name: "two", distinct: 2, epsilon: 1.0 }),
  ];
  assert.equal(one.memo, two.memo);
  await client.join(one);
  await client.join(two);
  assert.equal(await client.left(), 14);
  await client.answer(one, "🎉");
  await client.answer(two, "👍");
  setClock(1);
  await client.answer(one, "👍"); // its own number is used up
  await client.answer(two, "❤️"); // and all of them together
  const { marks } = await stateOf(storeOf(client));
  assert.deepEqual(
    marks.map((mark) => mark.task),
    ["emoji", "two"],
  );
});

// consent and budget

test("joining reserves once, and the budget has an end", async () => {
  const client = await device({ budget: 9 });
  const task = await make();
  await client.join(task);
  await client.join(task);
  assert.equal(await client.left(), 3);
  await refused(
    client.join(await make({ name: "other", attribute: "other" })),
    /^the task 'other' reserves ε = 6, but only 3 of the budget remains/,
  );
  assert.equal(await client.left(), 3);
  await refused(
    client.answer(await make({ name: "other", attribute: "other" }), "🎉"),
    /has not been joined/,
  );
});

test("a task of another key, unsigned, ended or stopped is not joined", async () => {
  const client = await device({ trust: "11".repeat(32) });
  const task = await make();
  await refused(client.join(task), /signed/);
  const own = await device();
  const { Task } = await import("../dither.js");
  await refused(own.join(await Task.fromDocument(documentOf())), /signed/);
  await refused(own.join(await make({ stopped: true })), /cannot be joined/);
  setClock(400);
  await refused(own.join(task), /cannot be joined/);
});

test("one name is one line of versions", async () => {
  const [client, task] = [await device(), await make({ version: 2 })];
  await client.join(task);
  await refused(client.join(await make({ version: 1 })), /older than version 2/);
  await refused(client.update(await make({ version: 1 })), /older/);
  await refused(client.join(await make({ version: 2, minimum: 101 })), /another document/);
  await refused(client.answer(await make({ version: 3 }), "🎉"), /newer than the joined version/);
  await client.update(await make({ version: 3 }));
  await client.answer(await make({ version: 3 }), "🎉");
  await refused(client.answer(task, "🎉"), /older/);
});

test("an update keeps the memo, the message and the reservation", async () => {
  const [client, task] = [await device(), await make()];
  await client.join(task);
  const message = await client.answer(task, "🎉");
  const next = await make({ version: 2, minimum: 500 });
  await client.update(next);
  assert.deepEqual(await client.answer(next, "👍"), message);
  assert.equal(await client.left(), 14);
});

test("an update that asks for more is refused, and can be joined", async () => {
  const more = [
    { distinct: 3 },
    { messages: 2 },
    { expires: "2029-03-01" },
    { strata: ["a"] },
    { oracle: { ...LOLOHA, sent: LOLOHA.sent + 1000 } },
  ];
  for (const changes of more) {
    const [client, task] = [await device(), await make()];
    await client.join(task);
    const next = await make({ version: 2, ...changes });
    await refused(client.update(next), /requires more than the owner agreed to/);
    await client.join(next);
  }
  const client = await device();
  await client.join(await make({ every: 7 }));
  await refused(client.update(await make({ version: 2 })), /requires more than the owner agreed to/);
  const unknown = await device();
  await refused(unknown.update(await make()), /has not been joined/);
});

test("that another task has paid for a memo is no consent", async () => {
  const weekly = await make({ name: "weekly", attribute: "pay", every: 7 });
  const client = await device();
  await client.join(weekly);
  await client.join(await make());
  const left = await client.left();
  const turned = await make({ version: 2, attribute: "pay" });
  assert.equal(turned.memo, weekly.memo); // so nothing has to be reserved
  await refused(client.update(turned), /requires more than the owner agreed to/);
  await client.join(turned);
  assert.equal(await client.left(), left);
});

test("a version tells no more values apart because another task does", async () => {
  const client = await device();
  await client.join(await make({ name: "many", distinct: 3 }));
  await client.join(await make({ distinct: 1 }));
  const left = await client.left();
  const more = await make({ version: 2, distinct: 2 });
  await refused(client.update(more), /requires more than the owner agreed to/);
  await client.join(more);
  assert.equal(await client.left(), left);
});

test("a stopped version ends all answers for good", async () => {
  const [client, task] = [await device(), await make()];
  await client.join(task);
  await client.answer(task, "🎉");
  await client.update(await make({ version: 2, stopped: true }));
  await refused(client.answer(task, "🎉"), /stopped permanently/);
  await refused(client.join(await make({ version: 3 })), /stopped permanently/);
  await refused(client.update(await make({ version: 3 })), /stopped permanently/);
  assert.equal((await client.sent()).length, 1);
  assert.deepEqual((await stateOf(storeOf(client))).memos, []);
  const never = await device();
  await never.update(await make({ version: 2, stopped: true }));
  await refused(never.join(task), /stopped permanently/);
});

test("leaving forgets the noise and keeps the reservation", async () => {
  const [client, task] = [await device(), await make()];
  await client.join(task);
  await client.answer(task, "🎉");
  await client.leave(task);
  assert.deepEqual(await client.sent(), []);
  const { memos, marks } = await stateOf(storeOf(client));
  assert.deepEqual([memos, marks], [[], []]);
  assert.equal(await client.left(), 14);
  await refused(client.answer(task, "🎉"), /has not been joined/);
  await refused(client.leave(task), /has not been joined, or was left/);
  await client.join(task);
  assert.equal(await client.left(), 8);
  await refused(client.answer(task, "🎉"), /answered until before 2027-03-02/);
  setClock(1);
  await client.answer(task, "🎉");
});

test("what is asked once, and was answered, is not joined again", async () => {
  const [client, task] = [await device(), await make({ oracle: UNARY, every: 0, distinct: 1 })];
  await client.join(task);
  await client.answer(task, "🎉");
  await client.leave(task);
  await refused(client.join(task), /no unanswered period left/);
});

// time

test("a clock that was set back gets the old message, or none", async () => {
  const [client, task] = [await device(), await make()];
  await client.join(task);
  setClock(5);
  const message = await client.answer(task, "🎉");
  setClock(7);
  await client.answer(task, "🎉");
  setClock(5, 23);
  assert.deepEqual(await client.answer(task, "👍"), message);
  setClock(6);
  await refused(client.answer(task, "🎉"), /answered until before 2027-03-09/);
  setClock(-1);
  await refused(client.answer(task, "🎉"), /is answered from 2027-03-01 until before 2028-03-01/);
  setClock(366);
  await refused(client.answer(task, "🎉"), /until before 2028-03-01/);
});

test("midnight in the middle of an answer makes no second message", async () => {
  const [client, task] = [await device(), await make()];
  await client.join(task);
  setClock(1);
  const second = await client.answer(task, "🎉");
  const moments = [MONDAY + DAY - 1, MONDAY + DAY];
  Date.now = () => (moments.length > 1 ? moments.shift() : moments[0]);
  await client.answer(task, "👍").catch(() => null); // the first day is over, or it is not
  setClock(1);
  assert.deepEqual(await client.answer(task, "👍"), second);
  const days = (await client.sent()).map((one) => one.first);
  assert.equal(new Set(days).size, days.length);
});

test("a moment is drawn once, within what is left of the period", async () => {
  const task = await make({ every: 7, messages: 2 });
  const moments = new Set();
  for (let turn = 0; turn < 20; turn++) {
    setClock(2);
    const client = await device();
    await client.join(task);
    const at = await client.when(task);
    assert.ok(at.getTime() >= Date.now() && at.getTime() < Date.UTC(2027, 2, 8));
    setClock(6);
    assert.deepEqual(await client.when(task), at);
    assert.notDeepEqual(await client.when(task, { slot: 1 }), at);
    moments.add(at.getTime());
  }
  assert.ok(moments.size > 17);
});

// what was sent

test("what was sent is what the server reads, on one line", async () => {
  const odd = {
    domain: { none: true, values: ["a\u202eb", "\u0007"] },
    oracle: { items: 3, kind: "k-ary response", truth: 4_294_000_000 },
  };
  const client = await device();
  const task = await make({ ...odd, epsilon: 99.5, for_ever: 99.5, distinct: 1, every: 0 });
  await client.join(task);
  const message = await client.answer(task, "a\u202eb");
  const [sent] = await client.sent();
  assert.equal(sent.message, hex(message));
  assert.equal(sent.said, ["a\u202eb", "\u0007", "none"][message[16]]);
  assert.match(
    String(sent),
    /^2027-03-01 12:00 UTC {2}emoji \(version 1\), period from 2027-03-01: your answer was turned into “.*”, ε = [\d.]+, 17 bytes$/,
  );
  assert.doesNotMatch(String(sent), /[\u202e\u0007]/);
});

// stores

test("without a store that lasts there is no device", async () => {
  await refused(
    open.call(Client, { budget: 9, trust: TRUST }),
    /needs a store that lasts/,
  );
});

test("budget and trust are fixed when the device is made", async () => {
  const store = new MemoryStoreForTests();
  await device({ store });
  await refused(device({ store, budget: 21 }), /must be 20 for this device/);
  await refused(
    device({ store, trust: "11".repeat(32) }),
    /must be the key that this device was made with/,
  );
  for (const budget of [0, -1, NaN, Infinity, 1e7, null, undefined, "x"])
    await refused(device({ budget }), /budget/);
});

test("a store that fails, or was cleared, sends nothing", async () => {
  const inner = new MemoryStoreForTests();
  let broken = "";
  const store = {
    async load() {
      return broken === "cleared" ? undefined : inner.load();
    },
    async save(...what) {
      if (broken === "full") throw new Error("QuotaExceededError");
      return inner.save(...what);
    },
  };
  const [client, task] = [await device({ store }), await make()];
  await client.join(task);
  broken = "full";
  await refused(client.answer(task, "🎉"), /nothing was sent: the store failed/);
  broken = "cleared";
  await refused(client.answer(task, "🎉"), /nothing was sent: the store was cleared/);
  broken = "";
  assert.deepEqual(await client.sent(), []);
});

test("a damaged store is not read", async () => {
  for (const text of ["", "{", "null", "[]", "{}", '{"format":2}', '{"format":1,"secret":"00"}']) {
    const store = new MemoryStoreForTests();
    await store.save(text, 1);
    await refused(device({ store }), /^the store is damaged/);
  }
});

test("only tasks are joined, and only of known kinds", async () => {
  const client = await device();
  for (const task of [undefined, null, {}, { ...(await make()) }, documentOf()]) {
    await refused(client.join(task), /^task must be a Task/);
    await refused(client.update(task), /^task must be a Task/);
  }
});

test("a device answers one part of a question, for ever", async () => {
  const part = (items) => ({
    ...{ items, kept_one: 2 ** 31, kept_zero: 511_972_652, kind: "longitudinal unary" },
    ...{ sent_one: 3_450_525_472, sent_zero: 844_441_824 },
  });
  const domain = {
    attributes: [
      ["os", { none: true, values: ["a", "b"] }],
      ["app", { below: 5, from: 0, none: false }],
    ],
    pairs: false,
  };
  const oracle = { items: 2, kind: "sampled", parts: [part(3), part(5)] };
  const task = await make({ domain, oracle, epsilon: 2.5, for_ever: 2.5 });
  const parts = new Set();
  for (let turn = 0; turn < 30; turn++) {
    const client = await device();
    await client.join(task);
    const own = new Set();
    for (let day = 0; day < 3; day++) {
      setClock(day);
      own.add((await client.answer(task, { os: "a", app: 3 }))[16]);
    }
    assert.equal(own.size, 1);
    assert.match((await client.sent())[0].said, /^question [12] of 2: /);
    parts.add([...own][0]);
  }
  assert.deepEqual([...parts].sort(), [0, 1]); // one false alarm in 5e8
});

test("a number is told apart by its side only", async () => {
  const oracle = { items: 101, kept: 3_200_000_000, kind: "one-bit mean", sent: 3_000_000_000 };
  const domain = { ask: "mean", branching: 0, high: 100, low: 0, none: false, step: 1 };
  const [client, task] = [await device(), await make({ domain, oracle })];
  await client.join(task);
  for (let day = 0; day < 9; day++) {
    setClock(day);
    await client.answer(task, [0, 100, 50.5, NaN, "7", 99, 1e300, -5, 3n][day]);
  }
  assert.ok((await stateOf(storeOf(client))).marks.length <= 2);
  await assert.rejects(make({ domain, oracle, distinct: 1 }), /at least 2 for a mean/);
});

test("a copy of the store answers alike", async () => {
  const store = new MemoryStoreForTests();
  const [client, task] = [await device({ store }), await make(DAILY)];
  await client.join(task);
  const copied = new MemoryStoreForTests();
  await copied.save((await store.load()).text, 1);
  const copy = await device({ store: copied });
  for (let day = 0; day < 3; day++) {
    setClock(day);
    assert.deepEqual(await copy.parcel(task, 7), await client.parcel(task, 7));
  }
});

test("many tabs at once: one message a period, and no budget is spent twice", async () => {
  const store = new MemoryStoreForTests();
  const tabs = await Promise.all(Array.from({ length: 8 }, () => device({ store, budget: 13 })));
  const secrets = new Set([(await stateOf(store)).secret]);
  assert.equal(secrets.size, 1);
  const tasks = await Promise.all(
    Array.from({ length: 4 }, (_, at) => make({ name: `t${at}`, attribute: `a${at}` })),
  );
  const joins = tabs.flatMap((tab) =>
    tasks.map((task) =>
      tab.join(task).then(
        () => task.name,
        () => null,
      ),
    ),
  );
  const joined = new Set((await Promise.all(joins)).filter(Boolean));
  assert.equal(joined.size, 2);
  assert.equal(await tabs[0].left(), 1);
  const task = tasks.find((one) => joined.has(one.name));
  const values = ["🎉", "👍", "❤️", "😂", null];
  const said = await Promise.all(tabs.map((tab, at) => tab.parcel(task, values[at % 5])));
  assert.equal(new Set(said.map(hex)).size, 1);
  assert.equal((await tabs[3].sent()).length, 1);
});

test("a task named like a part of every object is a task", async () => {
  const client = await device({ budget: 30 });
  for (const name of ["__proto__", "constructor", "toString"]) {
    const task = await make({ name, attribute: name });
    await client.join(task);
    await client.answer(task, "🎉");
  }
  assert.equal(await client.left(), 12);
  assert.equal((await client.sent()).length, 3);
  assert.ok(await signed(documentOf()));
});
