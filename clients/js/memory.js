/**
 * A store that forgets everything when the page or process ends: for tests, and never for
 * people. Every start would be a new device, with new noise and a new budget.
 */
export class MemoryStoreForTests {
  #kept;

  async load() {
    return this.#kept;
  }

  async save(text, version) {
    if ((this.#kept?.version ?? 0) !== version - 1) return false;
    this.#kept = { text, version };
    return true;
  }
}
