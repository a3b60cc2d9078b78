/** Days and periods. Days are counted from 1970, and begin at midnight UTC. */
import { needTask } from "./errors.js";
import { floor, min } from "./numbers.js";

export const DAY = 86_400_000;
export const iso = (day) => new Date(day * DAY).toISOString().slice(0, 10);
export const dayOf = (moment) => floor(moment / DAY);

/** The period of a day. */
export const periodOf = ({ first, end, starts, expires, every }, day) => {
  needTask(day >= first && day < end, `is answered from ${starts} until before ${expires}`);
  const number = every && floor((day - first) / every);
  const begin = first + number * every;
  return { number, first: iso(begin), until: iso(every ? min(begin + every, end) : end) };
};
