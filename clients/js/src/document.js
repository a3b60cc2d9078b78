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

const isText = (text) => typeof text === "string" && canonical(text) === `s:${text}` && [...text].length <= 100;

/** Every line of a document, and its promise against the oracle's integers. */
export function checked(document) {
  const read = JSON.parse(document);
  need(read.format === FORMAT && keys(read) === LINES, "document", `is not a task of format "${FORMAT}"`);
  const { name, attribute, strata, every, distinct, messages, stopped, starts, expires } = read;
  // JSON.parse rounds numbers, and takes 1.0 for 1: what it read must be what was written
  const again = JSON.stringify(read).replace(/"(epsilon|for_ever)":[^,]*/g, (_, line) => `"${line}":${asReal(read[line])}`);
  need(again === document, "document", "is not written in the form that is signed");
  need(isText(name), "name");
  need(isText(attribute), "attribute");
  const texts = new Set(strata.map((one) => typeof one === "string" && canonical(one)));
  need(texts.size === strata.length && texts.size <= 256 && !texts.has(false) && !texts.has(null), "strata");
  const limits = { distinct: [1, 2 ** 20], every: [0, 366], messages: [1, 255], minimum: [2, 2 ** 40], version: [1, 65_535] };
  for (const [line, ends] of Object.entries(limits)) need(whole(read[line], ...ends), line);
  need(every || distinct * messages === 1, "every", "is needed for devices that answer more than once");
  need(typeof stopped === "boolean", "stopped");
  const [first, end] = [starts, expires].map((day) => Date.parse(day) / DAY);
  need(iso(first) === starts && iso(end) === expires && starts > "0001" && first < end, "expires");
  const periods = every ? Math.ceil((end - first) / every) : 1;
  need(periods <= 65_536, "expires");
  const [domain, oracle] = [domainOf(read.domain), oracleOf(read.oracle)];
  for (const [line, really] of [["epsilon", oracle.lost], ["for_ever", oracle.forEver]]) {
    need(really <= read[line], line, `${read[line]} is promised, but the thresholds lose ${shown(really, 6)}`);
  }
  const sizes = oracle.parts.map((part) => part.items);
  need(`${sizes}` === `${domain.sizes}`, "oracle", "is for another number of items than the domain");
  need(oracle.parts.every((part, at) => part.mean === domain.means(at)), "oracle", "does not answer what is asked");
  need(!every || distinct > 1 || !oracle.parts.some((part) => part.rounds), "distinct", "must be 2: a number has two sides");
  need(!every || !domain.once, "every", "must be 0: words that nobody has listed are asked for once");
  const kinds = oracle.freshness >= FRESH_AT ? oracle.tracking : oracle.outcomes;
  need(!every || kinds <= TRACKING, "oracle", "keeps one message for ever, which would tell devices apart");
  const permanent = `{"domain":${JSON.stringify(read.domain)},"oracle":${JSON.stringify(oracle.lasting)}}`;
  return { ...read, first, end, periods, domain, oracle, permanent, document };
}
