/** What a device keeps: lists of tasks, memos, marks, reservations, messages and moments. */
import { newSecret } from "./bytes.js";
import { need } from "./errors.js";
import { periodOf } from "./periods.js";
import { NONE } from "./values.js";

export const taskOf = (state, { name }) => state.tasks.find((one) => one.name === name);
export const memoRow = (state, { memo }) => state.memos.find((one) => one.id === memo);
/** Without the rows of a task. */
export const without = (rows, name) => rows.filter((one) => one.task !== name);

/** What of the budget is not reserved. */
export const leftOf = (state) =>
  state.reservations.reduce((left, one) => left - one.cost, state.budget);

/** Until which day a task has been answered, in messages that `counts`. */
export function answeredUntil(state, { name }, known, counts = () => true) {
  const rows = state.messages.filter((one) => one.task === name && counts(one));
  return [known.until, ...rows.map((one) => one.until)].sort().pop();
}

/** Notes what is known of a task now. */
export function note(state, { name, version, document, memo }, known, now) {
  state.tasks = state.tasks.filter((one) => one.name !== name);
  state.tasks.push({ name, version, document, memo, until: known?.until ?? "", state: now });
  forgetUnused(state);
}

/** Deletes the salts, and with them the noise, that no joined task needs. */
export function forgetUnused(state) {
  const used = state.tasks.filter((one) => one.state === "joined").map((one) => one.memo);
  state.memos = state.memos.filter((one) => used.includes(one.id));
  state.marks = state.marks.filter((one) => used.includes(one.memo));
}

/** The memo that a task uses, and what has to be reserved for it in addition: tasks that
 * share a memo share its reservation, the largest of theirs. */
export function needed(state, task) {
  const { salt = newSecret(), values = 0, cost = 0 } = memoRow(state, task) ?? {};
  const most = Math.max(task.cost, cost);
  const memo = { id: task.memo, salt, values: Math.max(task.distinct, values), cost: most };
  return { memo, extra: most - cost };
}

/** Whether messages lose more, say more, come more often or for longer than agreed, or are
 * about something else: that another task has paid for a memo is no consent. */
export function asksMore(task, agreed) {
  const often = ({ every, messages }, other) => (every ? messages * (other.every || Infinity) : 0);
  return (
    task.memo !== agreed.memo ||
    task.losses.lifetime > agreed.losses.lifetime ||
    task.oracle.lost > agreed.oracle.lost ||
    task.oracle.instant > agreed.oracle.instant ||
    often(task, agreed) > often(agreed, task) ||
    task.end > agreed.end ||
    JSON.stringify(task.strata) !== JSON.stringify(agreed.strata) // sent as they are
  );
}

/** One name is one line of versions, and each version one document. */
export function checkSuccessor(known, { version, document }) {
  need(known.state !== "stopped", "task", "was stopped for good; use a task of another name");
  need(
    version >= known.version,
    "task",
    `is older than version ${known.version}, which is known here`,
  );
  const same = version > known.version || document === known.document;
  need(same, "task", "is another document than the one of its version that is known here");
}

/** What is known of a task; an error if it may not be answered as it is. */
export function joinedAs(state, task) {
  const known = taskOf(state, task);
  need(
    known && known.state !== "left",
    "task",
    "has not been joined; ask its owner, then join(task)",
  );
  checkSuccessor(known, task);
  return known;
}

/** The period of a day, if it may still be answered. Where a later one has been, the clock
 * has gone back, or a new version counts in another way: to answer it now would be one
 * more message than time allows. */
export function openPeriod(state, task, day) {
  const known = joinedAs(state, task);
  need(task.version === known.version, "task", "is newer than what was joined; update(task) first");
  const period = periodOf(task, day);
  const others = (one) => one.first !== period.first || one.until !== period.until;
  const answered = answeredUntil(state, task, known, others);
  need(period.first >= answered, "task", `has been answered until before ${answered}`);
  return period;
}

/** The answer, or "none" where the device has used up its distinct values. A task keeps to
 * its own number; all tasks of a memo together keep to what was reserved. */
export function allowed(state, task, answer, mark) {
  if (answer[0] === NONE) return answer;
  const marks = state.marks.filter((one) => one.memo === task.memo);
  const own = marks.filter((one) => one.task === task.name).map((one) => one.mark);
  if (own.slice(0, task.distinct).includes(mark)) return answer;
  const everyone = new Set(marks.map((one) => one.mark));
  const fits = everyone.has(mark) || everyone.size < memoRow(state, task).values;
  if (own.includes(mark) || own.length >= task.distinct || !fits) return [NONE];
  state.marks.push({ memo: task.memo, task: task.name, mark });
  return answer;
}

/** Also for a task that was never joined, so that an old version cannot be. */
export function stopFor(state, task) {
  const known = taskOf(state, task);
  if (known?.state === "stopped") return;
  if (known) checkSuccessor(known, task);
  note(state, task, known, "stopped");
}
