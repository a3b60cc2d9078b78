/** A task's document: every line of it, and its promise against the oracle's integers. */
import { domainOf } from "./domains.js";
import { keys, need, tried, whole } from "./errors.js";
import { shown } from "./exact.js";
import { ceil, entries, parse, stringify } from "./numbers.js";
import { oracleOf } from "./oracles.js";
import { DAY, iso } from "./periods.js";
import { canonical, differ, isFlag, isText } from "./values.js";

const TRACKING = 256; // kept messages of more kinds would tell devices apart

const between = (low, high) => (value) => whole(value, low, high);
const isName = (text) =>
  isText(text) && canonical(text) === `s:${text}` && [...text].length <= 100;
const isDay = (day) => iso(Date.parse(day) / DAY) === day && day > "0001";
const isPromise = (value) => value > 0;

const areStrata = (strata) => {
  const known = strata.map((one) => isText(one) && canonical(one));
  return differ(known) && known.length <= 256 && known.every(Boolean);
};

/** What each line must be; of two of them, something is made. */
const LINES = {
  attribute: isName,
  distinct: between(1, 2 ** 20),
  domain: domainOf,
  epsilon: isPromise,
  every: between(0, 366),
  expires: isDay,
  for_ever: isPromise,
  format: (format) => format === "dither local task, 1",
  messages: between(1, 255),
  minimum: between(2, 2 ** 40),
  name: isName,
  oracle: oracleOf,
  starts: isDay,
  stopped: isFlag,
  strata: areStrata,
  version: between(1, 65_535),
};

/** A number as Python writes it. */
const asReal = (value) => {
  const [digits, exponent] = value.toExponential().split("e");
  if (exponent < -4 || exponent > 15) {
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : value;
};

/** JSON.parse rounds numbers, and takes 1.0 for 1: what it reads must be what is written. */
const readFrom = (document) => {
  const read = parse(document);
  need(keys(read) === keys(LINES), "document");
  const promises = /"(epsilon|for_ever)":[^,]*/g;
  const real = (_, line) => `"${line}":${asReal(read[line])}`;
  const again = stringify(read).replace(promises, real);
  need(again === document, "document", "is not in the exact form that is signed");
  return read;
};

/** Every line of a document, and its promise against the oracle's integers. */
export const checked = (document) => {
  const read = readFrom(document);
  const made = {};
  for (const [line, fits] of entries(LINES)) {
    made[line] = tried(line, () => fits(read[line]));
    need(made[line], line);
  }
  const { domain, oracle } = made;
  checkPromises(read, domain, oracle);
  const dates = datesOf(read);
  // what no kept answer depends on is left out
  const lasting = (line, value) => (/^sent/.test(line) ? undefined : value);
  const permanent = stringify({ domain: read.domain, oracle: read.oracle }, lasting);
  return { ...read, ...dates, domain, oracle, permanent, document };
};

const datesOf = ({ starts, expires, every }) => {
  const [first, end] = [starts, expires].map((day) => Date.parse(day) / DAY);
  const periods = every ? ceil((end - first) / every) : 1;
  need(first < end && periods <= 65_536, "expires");
  return { first, end, periods };
};

const checkPromises = (read, { asks, once }, { parts, kinds, lost, ever }) => {
  const { every, distinct, messages } = read;
  for (const [line, really] of entries({ epsilon: lost, for_ever: ever }))
    need(really <= read[line], line, `must cover the privacy loss: ${shown(really, 6)}`);
  // each part must be of a kind that answers what is asked
  const fit = ([items, mean], at) => parts[at].items === items && parts[at].mean === mean;
  const all = parts.length === asks.length && asks.every(fit);
  need(all, "oracle", "must fit the domain");
  const single = distinct * messages === 1;
  if (!every) return need(single, "every", "is required if distinct or messages is above 1");
  const sides = parts.some((part) => part.rounds);
  need(!sides || distinct > 1, "distinct", "must be at least 2 for a mean");
  need(!once, "every", "must be 0 for words, which are asked for once");
  need(kinds <= TRACKING, "oracle", "cannot be used: kept messages would identify devices");
};
