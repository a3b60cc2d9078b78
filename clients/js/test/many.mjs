/**
 * Many devices, each with a store of its own, that fetch a task from a collector at another
 * address and send it their messages.
 */
import { Client, IndexedDBStore, Task } from "../dither.js";
import { MemoryStoreForTests } from "../memory.js";

const plan = await (await fetch("/plan.json")).json();
const { collector, trust, stratum, values, durable, twice } = plan;
const TOGETHER = 6; // connections that a browser opens to one address
const HEADERS = { "Content-Type": "application/octet-stream" };

async function post(body) {
  const answer = await fetch(`${collector}/v1/messages`, { method: "POST", headers: HEADERS, body });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.code);
  return said.status;
}

/** One device, from consent to what the collector says; some send twice, as after a time-out. */
async function device(task, value, number) {
  const store = number < durable ? new IndexedDBStore(`device ${number}`) : new MemoryStoreForTests();
  const client = await Client.open({ store, budget: 8, trust });
  await client.join(task);
  const parcel = await client.parcel(task, value, { stratum });
  const said = [await post(parcel)];
  if (number % twice === 0) said.push(await post(await client.parcel(task, values[0], { stratum })));
  return said;
}

async function all() {
  const found = await fetch(`${collector}/v1/tasks/${encodeURIComponent(plan.task)}`);
  const task = await Task.fromJSON(await found.text(), { trust });
  const counts = {};
  let next = 0;
  const work = async () => {
    while (next < values.length) {
      const number = next++;
      for (const said of await device(task, values[number], number)) counts[said] = (counts[said] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  return counts;
}

const report = (found) => fetch("/result/many", { method: "POST", body: JSON.stringify(found) });
await report(await all().catch((problem) => ({ failed: `${problem.stack}` })));
