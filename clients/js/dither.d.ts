/** What may be answered. What a task does not count is answered as "none". */
export type Value = unknown;

/** Where a device is kept: one text, with a version that grows by one. */
export interface Store {
  /** What is stored, or nothing (undefined or null) where there is no device yet. */
  load(): Promise<{ text: string; version: number } | null | undefined>;
  /**
   * Store `text` as this version, if the one before it is what is stored (for version 1:
   * if nothing is). True once it is on the disk; false if another was faster. Both the
   * comparison and the writing must be one step that nobody else can come between.
   */
  save(text: string, version: number): Promise<boolean>;
}

/** What is refused, or fails, on purpose; nothing was sent. */
export class DitherError extends Error {
  constructor(code: string, message: string);
  /**
   * "budget" where the budget is too small, "device" where the store or the browser cannot
   * be used; else the name of the argument, or of the task's line, that is wrong.
   */
  readonly code: string;
}

/** What is promised, as ε. */
export interface Losses {
  /** One message. */
  readonly message: number;
  /** All messages about one value, however many. */
  readonly value: number;
  /** All messages of a device for ever, if its answers change when others' do. */
  readonly lifetime: number;
  /** Each message, against those whose answers change at other times; may be Infinity. */
  readonly change: number;
}

/** A question to devices. Every line of its document has been checked. */
export class Task {
  private constructor();
  /** Read what Python's `task.to_json()` wrote. */
  static fromJSON(text: string, options?: { trust?: string }): Promise<Task>;
  /** Read the text that is signed. */
  static fromDocument(document: string, signature?: Uint8Array): Promise<Task>;
  readonly name: string;
  readonly version: number;
  readonly attribute: string;
  /** Days of a period; 0 where a device answers once. */
  readonly every: number;
  /** How many values of a device are told apart. */
  readonly distinct: number;
  /** Messages of a device in a period. */
  readonly messages: number;
  readonly minimum: number;
  /** The first day, and the day after the last one, as 2027-01-31. */
  readonly starts: string;
  readonly expires: string;
  readonly strata: readonly string[];
  readonly stopped: boolean;
  readonly document: string;
  readonly signature: Uint8Array;
  readonly losses: Losses;
  /**
   * A message with fresh noise, as if from a device of its own: for tests, and pages that
   * show what noise does. A device answers with `client.answer`.
   */
  rehearse(value: Value, options?: { period?: number; stratum?: string }): Promise<Uint8Array>;
  /** What a message says, in words. */
  inWords(message: Uint8Array): string;
}

/** A message that was handed to the app. It says nothing for sure: `epsilon` bounds how
 * much. */
export interface Sent {
  /** When it was made, in UTC. */
  readonly at: string;
  readonly task: string;
  readonly version: number;
  /** The first day of its period, and the day after the last one. */
  readonly first: string;
  readonly until: string;
  readonly slot: number;
  /** What it says, in words. */
  readonly said: string;
  readonly epsilon: number;
  /** Its id and its bytes, as hexadecimal text. */
  readonly id: string;
  readonly message: string;
  /** All that on one line. */
  toString(): string;
}

export interface AnswerOptions {
  /** Which message of the period, from 0. */
  slot?: number;
  /** One of the task's strata, where it declares some. It is sent as it is. */
  stratum?: string;
}

/** A device that answers tasks: consent, memo, budget, and what was sent, in one store. */
export class Client {
  private constructor();
  /**
   * Open the device in `store` (IndexedDB, if none is passed), or make a new one there.
   * `budget` is the ε of everything it ever joins, `trust` the public key whose tasks it
   * accepts; both are fixed when the device is made.
   */
  static open(options: { store?: Store; budget: number; trust: string }): Promise<Client>;
  readonly budget: number;
  /** What of the budget is not reserved. */
  left(): Promise<number>;
  /** Agree to a task, after its owner has: reserve what it may ever lose. */
  join(task: Task): Promise<void>;
  /** Take over a newer version; a stopped one ends all answers for good. */
  update(task: Task): Promise<void>;
  /** Delete the messages and the noise of a task. What was reserved stays reserved. */
  leave(task: Task): Promise<void>;
  /** The message for this period: the same bytes whatever is asked again. */
  answer(task: Task, value: Value, options?: AnswerOptions): Promise<Uint8Array>;
  /** The message behind its id, ready to be sent: POST it to /v1/messages. */
  parcel(task: Task, value: Value, options?: AnswerOptions): Promise<Uint8Array>;
  /** When to send the message of this period. */
  when(task: Task, options?: { slot?: number }): Promise<Date>;
  /** What left this device, oldest first, for its owner to read. */
  sent(): Promise<Sent[]>;
}

/** The device's text in IndexedDB, on the disk before `save` says so. */
export class IndexedDBStore implements Store {
  constructor(name?: string);
  load(): Promise<{ text: string; version: number } | undefined>;
  save(text: string, version: number): Promise<boolean>;
}
