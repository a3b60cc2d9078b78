/** A task's document: every line of it, and its promise against the oracle's integers. */
import { domainOf } from "./domains.js";
import { keys, need, whole } from "./errors.js";
import { shown } from "./exact.js";
import { oracleOf } from "./oracles.js";
import { DAY, iso } from "./periods.js";
import { canonical } from "./values.js";

const FORMAT = "dither local task, 1";
const LINES =
  "attribute distinct domain epsilon every expires for_ever format messages minimum name " +
  "oracle starts stopped strata version";
const TRACKING = 256; // kept messages of more kinds would tell devices apart
const FRESH_AT = 0.01; // less noise in a message leaves what is kept to be seen

/** A number as Python writes it. */
function asReal(value) {
  const [digits, exponent] = value.toExponential().split("e");
  if (exponent < -4 || exponent > 15) {
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : `${value}`;
}

const isText = (text) =>
  typeof text === "string" && canonical(text) === `s:${text}` && [...text].length <= 100;

const LIMITS = {
  distinct: [1, 2 ** 20],
  every: [0, 366],
  messages: [1, 255],
  minimum: [2, 2 ** 40],
  version: [1, 65_535],
};

/** Every line of a document, and its promise against the oracle's integers. */
export function checked(document) {
  const read = readFrom(document);
  checkWords(read);
  checkNumbers(read);
  const dates = datesOf(read);
  const domain = domainOf(read.domain);
  const oracle = oracleOf(read.oracle);
  checkPromise(read, oracle);
  checkParts(read, domain, oracle);
  checkTracking(read, oracle);
  const lasting = { domain: read.domain, oracle: oracle.lasting };
  return { ...read, ...dates, domain, oracle, permanent: JSON.stringify(lasting), document };
}

/** JSON.parse rounds numbers, and takes 1.0 for 1: what it reads must be what is written. */
function readFrom(document) {
  const read = JSON.parse(document);
  const task = read.format === FORMAT && keys(read) === LINES;
  need(task, "document", `is not a task of format "${FORMAT}"`);
  const promises = /"(epsilon|for_ever)":[^,]*/g;
  const real = (_, line) => `"${line}":${asReal(read[line])}`;
  const again = JSON.stringify(read).replace(promises, real);
  need(again === document, "document", "is not written in the form that is signed");
  return read;
}

function checkWords({ name, attribute, strata }) {
  need(isText(name), "name");
  need(isText(attribute), "attribute");
  const known = strata.map((one) => (typeof one === "string" ? canonical(one) : null));
  const apart = new Set(known).size === known.length && known.length <= 256;
  need(apart && !known.includes(null), "strata");
}

function checkNumbers(read) {
  for (const [line, ends] of Object.entries(LIMITS)) need(whole(read[line], ...ends), line);
  const once = read.distinct * read.messages === 1;
  need(read.every || once, "every", "is needed for devices that answer more than once");
  need(typeof read.stopped === "boolean", "stopped");
}

function datesOf({ starts, expires, every }) {
  const [first, end] = [starts, expires].map((day) => Date.parse(day) / DAY);
  const days = iso(first) === starts && iso(end) === expires && starts > "0001";
  const periods = every ? Math.ceil((end - first) / every) : 1;
  need(days && first < end && periods <= 65_536, "expires");
  return { first, end, periods };
}

function checkPromise(read, { lost, forEver }) {
  for (const [line, really] of Object.entries({ epsilon: lost, for_ever: forEver })) {
    const promised = read[line];
    const why = `${promised} is promised, but the thresholds lose ${shown(really, 6)}`;
    need(really <= promised, line, why);
  }
}

/** Each part must be of a kind that answers what is asked. */
function checkParts({ every, distinct }, domain, { parts }) {
  const sizes = parts.map((part) => part.items);
  need(
    `${sizes}` === `${domain.sizes}`,
    "oracle",
    "is for another number of items than the domain",
  );
  const fit = parts.every((part, at) => part.mean === domain.means(at));
  need(fit, "oracle", "does not answer what is asked");
  const sides = every && parts.some((part) => part.rounds);
  need(!sides || distinct > 1, "distinct", "must be 2: a number has two sides");
  need(
    !every || !domain.once,
    "every",
    "must be 0: words that nobody has listed are asked for once",
  );
}

function checkTracking({ every }, { freshness, tracking, outcomes }) {
  const kinds = freshness >= FRESH_AT ? tracking : outcomes;
  const hidden = !every || kinds <= TRACKING;
  need(hidden, "oracle", "keeps one message for ever, which would tell devices apart");
}
