/** What a device keeps: lists of tasks, memos, marks, reservations, messages and moments. */
import { newSecret } from "./bytes.js";
import { needTask } from "./errors.js";
import { max, stringify } from "./numbers.js";
import { periodOf } from "./periods.js";
import { NONE } from "./values.js";

export const newState = (trust, budget) => ({
  ...{ format: 1, secret: newSecret(), trust, budget },
  ...{ tasks: [], memos: [], marks: [], reservations: [], messages: [], moments: [] },
});

/** The rows of a task, and all others. */
export const ofTask = (rows, task) => rows.filter((one) => one.task === task.name);
export const ofOthers = (rows, task) => rows.filter((one) => one.task !== task.name);

export const knownTask = ({ tasks }, { name }) => tasks.find((one) => one.name === name);
export const memoRow = ({ memos }, { memo }) => memos.find((one) => one.id === memo);

/** What of the budget is not reserved. */
export const leftOf = ({ reservations, budget }) =>
  reservations.reduce((left, one) => left - one.cost, budget);

/** Until which day a task has been answered, in messages that `counts`. */
export const answeredUntil = (state, task, known, counts = () => true) => {
  const rows = ofTask(state.messages, task).filter(counts);
  return [known, ...rows].map((one) => one.until).sort().pop();
};

/** Notes what is known of a task now. */
export const note = (state, { name, version, document, memo }, known, now) => {
  state.tasks = state.tasks.filter((one) => one !== known);
  state.tasks.push({ name, version, document, memo, until: known?.until ?? "", state: now });
  forgetUnused(state);
};

/** Deletes the salts, and with them the noise, that no joined task needs. */
export const forgetUnused = (state) => {
  const used = (memo) => state.tasks.some((one) => one.state === "joined" && one.memo === memo);
  state.memos = state.memos.filter((one) => used(one.id));
  state.marks = state.marks.filter((one) => used(one.memo));
};

/** The memo that a task uses, and what has to be reserved for it in addition: tasks that
 * share a memo share its reservation, the largest of theirs. */
export const needed = (state, task) => {
  const { salt = newSecret(), values = 0, cost = 0 } = memoRow(state, task) ?? {};
  const most = max(task.cost, cost);
  const memo = { id: task.memo, salt, values: max(task.distinct, values), cost: most };
  return { memo, extra: most - cost };
};

/** Whether messages lose more, say more, come more often or for longer than agreed, or are
 * about something else: that another task has paid for a memo is no consent. */
export const asksMore = (task, agreed) => {
  const often = ({ every, messages }, other) => every && messages * (other.every || Infinity);
  const much = ({ losses, end }) => [losses.lifetime, losses.message, losses.change, end];
  const limits = [...much(agreed), often(agreed, task)];
  const more = [...much(task), often(task, agreed)].some((one, at) => one > limits[at]);
  const strata = (one) => stringify(one.strata); // sent as they are
  return more || task.memo !== agreed.memo || strata(task) !== strata(agreed);
};

/** One name is one line of versions, and each version one document. */
export const checkSuccessor = (known, { version, document }) => {
  needTask(known.state !== "stopped", "was stopped permanently");
  const newest = `version ${known.version}, which this device knows`;
  needTask(version >= known.version, `is older than ${newest}`);
  const same = version > known.version || document === known.document;
  needTask(same, `is another document than ${newest}`);
};

export const CONSENT = "ask the owner of the device, then call client.join(task)";

/** What is known of a task that was joined, and not left. */
export const present = (state, task) => {
  const known = knownTask(state, task);
  needTask(known && known.state !== "left", `has not been joined, or was left; ${CONSENT}`);
  return known;
};

/** What is known of a task; an error if it may not be answered as it is. */
export const joinedAs = (state, task) => {
  const known = present(state, task);
  checkSuccessor(known, task);
  return known;
};

/** The period of a day, if it may still be answered. Where a later one has been, the clock
 * has gone back, or a new version counts in another way: to answer it now would be one
 * more message than time allows. */
export const openPeriod = (state, task, day) => {
  const known = joinedAs(state, task);
  const same = task.version === known.version;
  needTask(same, "is newer than the joined version; call client.update(task) first");
  const period = periodOf(task, day);
  const others = (one) => one.first !== period.first || one.until !== period.until;
  const answered = answeredUntil(state, task, known, others);
  const later = `was answered until before ${answered}; answer it later`;
  needTask(period.first >= answered, later);
  return period;
};

/** The answer, or "none" where the device has used up its distinct values. A task keeps to
 * its own number; all tasks of a memo together keep to what was reserved. */
export const allowed = (state, task, answer, mark) => {
  if (answer[0] === NONE) return answer;
  const { memo, name, distinct } = task;
  const marks = state.marks.filter((one) => one.memo === memo);
  const own = ofTask(marks, task).map((one) => one.mark);
  if (own.slice(0, distinct).includes(mark)) return answer;
  const everyone = new Set(marks.map((one) => one.mark)).add(mark);
  const fits = own.length < distinct && everyone.size <= memoRow(state, task).values;
  if (!fits) return [NONE];
  state.marks.push({ memo, task: name, mark });
  return answer;
};
