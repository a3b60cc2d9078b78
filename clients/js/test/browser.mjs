/**
 * What the client does in a real browser. The server that serves this page says what to do,
 * and gets the results.
 */
import { Client, IndexedDBStore, Task } from "../dither.js";
import { MemoryStoreForTests } from "../memory.js";
import { replay } from "./vectors.mjs";

const toHex = (bytes) => Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
const plan = await (await fetch("/plan.json")).json();
const { trust } = plan;

const report = (name, found) =>
  fetch(`/result/${name}`, { method: "POST", body: JSON.stringify(found) });
const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

async function vectors() {
  return replay(await (await fetch("/vectors.json")).json());
}

/** Frames and a worker of one origin, as tabs are. */
async function race() {
  const { tasks, budget, frames } = plan.race;
  const channel = new BroadcastChannel("race");
  const done = [];
  let ready = 0;
  channel.onmessage = ({ data }) => {
    if (data.ready) ready += 1;
    if (data.done) done.push(data.done);
  };
  for (let at = 0; at < frames; at++) {
    document.body.append(Object.assign(document.createElement("iframe"), { src: "tab.html" }));
  }
  new Worker("tab.mjs", { type: "module" });
  while (ready < frames + 1) await sleep(0.01);
  channel.postMessage({ go: { trust, tasks, budget } });
  while (done.length < frames + 1) await sleep(0.01);
  const client = await Client.open({ store: new IndexedDBStore("race"), budget, trust });
  return { done, left: await client.left(), sent: (await client.sent()).length };
}

/** Storage that is cleared under an open client, and what comes after it. */
async function cleared() {
  const task = await Task.fromJSON(plan.task, { trust });
  const open = () => Client.open({ store: new IndexedDBStore("cleared"), budget: 9, trust });
  const client = await open();
  await client.join(task);
  await client.answer(task, "v0");
  const before = await client.left();
  await new Promise((done, failed) => {
    const request = indexedDB.deleteDatabase("cleared");
    request.onsuccess = done;
    request.onerror = request.onblocked = failed;
  });
  const refused = await client.answer(task, "v0").then(
    () => "sent",
    (problem) => problem.code,
  );
  const fresh = await open();
  return { before, refused, after: await fresh.left(), sent: (await fresh.sent()).length };
}

/** The same in both lives of a browser: what the app got first, it gets for ever. */
async function life() {
  const task = await Task.fromJSON(plan.task, { trust });
  const client = await Client.open({ store: new IndexedDBStore("life"), budget: 9, trust });
  await client.join(task);
  const message = toHex(await client.parcel(task, plan.value));
  return { message, when: (await client.when(task)).toISOString(), left: await client.left() };
}

/** One answer after the other, each reported as soon as the app has it. */
async function steps() {
  const client = await Client.open({ store: new IndexedDBStore("steps"), budget: 99, trust });
  for (const text of plan.steps) {
    const task = await Task.fromJSON(text, { trust });
    await client.join(task);
    const parcel = toHex(await client.parcel(task, plan.value));
    const left = await client.left();
    await report("step", { round: plan.round, task: task.name, parcel, left });
  }
  return {};
}

/** Many devices, each with a store of its own, that post to a collector; some twice. */
async function devices() {
  const { collector, tasks, values } = plan.devices;
  const read = await Promise.all(tasks.map((text) => Task.fromJSON(text, { trust })));
  const posted = [];
  for (const value of values) {
    const client = await Client.open({ store: new MemoryStoreForTests(), budget: 20, trust });
    for (const task of read) {
      await client.join(task);
      posted.push(await client.parcel(task, value));
    }
  }
  const outcomes = {};
  for (let at = 0; at < posted.length; at += 250) {
    const body = new Blob(posted.slice(Math.max(at - 10, 0), at + 250)); // ten are sent again
    const headers = { "Content-Type": "application/octet-stream" };
    const answer = await fetch(`${collector}/v1/messages`, { method: "POST", headers, body });
    for (const { status } of (await answer.json()).outcomes) {
      outcomes[status] = (outcomes[status] ?? 0) + 1;
    }
  }
  return outcomes;
}

/** A person who uses the page with the emoji. */
async function demo() {
  const frame = Object.assign(document.createElement("iframe"), { src: "../demo/index.html" });
  document.body.append(frame);
  await new Promise((done) => (frame.onload = done));
  const page = frame.contentDocument;
  const seen = async (id, shown) => {
    while (!shown(page.getElementById(id))) await sleep(0.01);
    return page.getElementById(id).textContent.trim();
  };
  const promise = await seen(
    "promise",
    (one) => one.textContent && !page.getElementById("consent").hidden,
  );
  page.getElementById("join").click();
  await seen("question", (one) => !one.hidden);
  const inputs = [...page.querySelectorAll("#choices input")];
  const unlabelled = [...page.querySelectorAll("input, button")].filter(
    (one) => !(one.labels?.length || one.textContent),
  );
  inputs[1].click();
  const after = await seen("after", (one) => one.textContent);
  page.getElementById("send").click();
  const sent = await seen("sent", (one) => one.textContent);
  const sentence = await seen("sentence", (one) => one.textContent);
  return {
    promise,
    choices: inputs.map((one) => one.value),
    after,
    sent,
    sentence,
    unlabelled: unlabelled.length,
  };
}

const scenes = { vectors, race, cleared, life, steps, devices, demo };
for (const name of plan.scenes) {
  try {
    await report(name, await scenes[name]());
  } catch (problem) {
    await report(name, { failed: `${problem?.stack ?? problem}` });
  }
}
