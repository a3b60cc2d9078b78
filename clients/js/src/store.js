/** Stores: one text, with a version that grows by one. */

/** The device's text in IndexedDB, on the disk before `save` says so. */
export class IndexedDBStore {
  constructor(name = "dither") {
    this.name = name;
  }

  /** One connection for each transaction, so that tabs need no care for each other. */
  async #within(mode, work) {
    const asked = indexedDB.open(this.name, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("device");
    const file = await settled(asked, "onsuccess");
    try {
      const transaction = file.transaction("device", mode, { durability: "strict" });
      const found = work(transaction.objectStore("device"));
      await settled(transaction, "oncomplete");
      return found();
    } finally {
      file.close();
    }
  }

  load() {
    return this.#within("readonly", (rows) => {
      const request = rows.get("state");
      return () => request.result;
    });
  }

  save(text, version) {
    return this.#within("readwrite", (rows) => {
      const request = rows.get("state");
      const follows = () => (request.result?.version ?? 0) === version - 1;
      request.onsuccess = () => follows() && rows.put({ text, version }, "state");
      return follows;
    });
  }
}

/** What a request or a transaction ends with. */
function settled(target, event) {
  return new Promise((resolve, reject) => {
    target[event] = () => resolve(target.result);
    target.onerror = target.onabort = () => reject(target.error);
  });
}
