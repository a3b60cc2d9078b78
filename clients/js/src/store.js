/** Stores: one text, with a version that grows by one. */

/** The device's text in IndexedDB, on the disk before `save` says so. */
export class IndexedDBStore {
  constructor(name = "dither") {
    this.name = name;
  }

  load() {
    return within(this.name, "readonly");
  }

  async save(text, version) {
    const follows = (found) => (found?.version ?? 0) === version - 1;
    const put = (found, rows) => follows(found) && rows.put({ text, version }, "state");
    return follows(await within(this.name, "readwrite", put));
  }
}

/** What is stored, and then some work in the same transaction. One connection for each, so
 * that tabs need no care for each other. */
const within = async (name, mode, work = () => {}) => {
  const table = "device";
  const asked = indexedDB.open(name, 1);
  asked.onupgradeneeded = () => asked.result.createObjectStore(table);
  const file = await settled(asked, "onsuccess");
  try {
    const transaction = file.transaction(table, mode, { durability: "strict" });
    const rows = transaction.objectStore(table);
    const request = rows.get("state");
    request.onsuccess = () => work(request.result, rows);
    await settled(transaction, "oncomplete");
    return request.result;
  } finally {
    file.close();
  }
};

/** What a request or a transaction ends with. */
const settled = (target, event) =>
  new Promise((resolve, reject) => {
    target[event] = () => resolve(target.result);
    target.onerror = target.onabort = () => reject(target.error);
  });
