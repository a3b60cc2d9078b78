/** Domains: what a value is counted as. */
import { range, utf8, wellFormed } from "./bytes.js";
import { split } from "./drawing.js";
import { keys, need, whole } from "./errors.js";
import { shown } from "./exact.js";
import { canonical, LONGEST } from "./values.js";

export const MOST_ITEMS = 2 ** 30;

/** For the names of its lines, what a domain is: how many items each part of the question
 * has (`sizes`), how many answers are `different`, the answer to a value as
 * [its canonical text, item], the item of no answer if it has one, and items' names. */
const DOMAINS = {
  __proto__: null,

  "none values": ({ values, none }) => {
    const places = new Map(values.map((value, at) => [canonical(value), at]));
    need(places.size === values.length && !places.has(null), "domain");
    return counted(
      values.length,
      none,
      (known) => places.get(known),
      (at) => values[at],
    );
  },

  "below from none": ({ from, below, none }) => {
    need([from, below].every(Number.isSafeInteger), "domain");
    const place = (known) => (known?.startsWith("i:") ? known.slice(2) - from : -1);
    return counted(below - from, none, place, (at) => from + at);
  },

  "ask branching high low none step": numbers,
  "attributes pairs": attributes,
  "alphabet longest step": vocabulary,
};

/** Values that are counted one by one, and "none", which may have an item of its own. */
function counted(count, none, place, name) {
  need(whole(count, 1, MOST_ITEMS) && typeof none === "boolean", "domain");
  return {
    sizes: [count + none],
    different: count,
    answer: (value) => {
      const text = canonical(value);
      const at = place(text);
      return whole(at, 0, count - 1) ? [text, at] : null;
    },
    nothing: () => (none ? count : undefined),
    name: (at) => (at < count ? `${name(at)}` : "none"),
  };
}

/** Any text, known by its bytes. */
const OPEN = {
  sizes: [0],
  different: Infinity,
  answer: (value) => {
    const text = canonical(value);
    return text && utf8(text).length <= LONGEST ? [text] : null;
  },
};

/** A domain from a document; null is any text. */
export function domainOf(read) {
  const made = read === null ? () => OPEN : DOMAINS[keys(read)];
  need(made, "domain");
  return { means: () => false, once: false, ...made(read) };
}

/** Numbers on a grid between two public bounds; others are rounded, or cut to an end. */
function numbers({ ask, branching, high, low, none, step }) {
  const plain = (one) =>
    Number.isFinite(one) && (one === 0 || (1e-4 <= Math.abs(one) && Math.abs(one) <= 1e15));
  const steps = (high - low) / step;
  const top = Math.round(steps);
  const grid =
    [low, high, step].every(plain) && step > 0 && low < high && Math.abs(steps - top) <= 1e-6;
  const most = { __proto__: null, mean: 2 ** 24, variance: 2 ** 15, distribution: 2 ** 20 }[ask];
  const tree = ask === "distribution";
  need(grid && top <= most && typeof none === "boolean" && (tree || !none), "domain");
  need(tree ? whole(branching, 2, 2 ** 20) : branching === 0, "domain");
  const widths = [1];
  while (tree && Math.ceil((top + 1) / (widths[0] * branching)) > 1)
    widths.unshift(widths[0] * branching);
  const nodes = widths.map((width) => Math.ceil((top + 1) / width) + none);
  const sizes = ask === "variance" ? [top + 1, top ** 2 + 1] : nodes;
  const named = (at) => shown(low + at * step, 6);
  return {
    sizes,
    different: Math.max(...sizes) - none,
    means: () => !tree,
    answer: (value, part) => {
      const at = placeOf(value, low, high, step, top);
      if (at < 0) return null;
      const seen =
        ask === "variance" && part ? (2 * at - top) ** 2 : Math.floor(at / (widths[part] ?? 1));
      return [`i:${seen}`, seen];
    },
    nothing: (part) => (none ? sizes[part] - 1 : undefined),
    name: (item, part) => {
      if (none && item === sizes[part] - 1) return "none";
      const [start, end] = [item * widths[part], Math.min((item + 1) * widths[part] - 1, top)];
      return start === end ? named(start) : `${named(start)} to ${named(end)}`;
    },
  };
}

/** The nearest place of the grid, in the order of steps that every language keeps; −1 for
 * what is no number. */
function placeOf(value, low, high, step, top) {
  if (typeof value === "bigint") value = Number(value);
  if (typeof value !== "number" || Number.isNaN(value)) return -1;
  if (value <= low) return 0;
  if (value >= high) return top;
  return Math.min(Math.floor((value - low) / step + 0.5), top);
}

/** Several attributes of a device, of which it answers one, or one pair. */
function attributes({ attributes: fields, pairs }) {
  const names = fields.map(([name]) => name);
  const apart =
    names.every((name) => typeof name === "string" && canonical(name)) &&
    new Set(names).size === names.length;
  need(
    apart &&
      names.length > 1 &&
      typeof pairs === "boolean" &&
      fields.every((field) => field.length === 2),
    "domain",
  );
  need(
    fields.every(
      ([, one]) =>
        FIELDS.includes(keys(one)) && (one.ask === undefined || (one.ask === "mean" && !pairs)),
    ),
    "domain",
  );
  const domains = fields.map(([, one]) => domainOf(one));
  const all = range(names.length);
  const asked = pairs
    ? all.flatMap((one) => all.slice(one + 1).map((other) => [one, other]))
    : all.map((one) => [one]);
  const sizes = asked.map((part) => part.reduce((size, at) => size * domains[at].sizes[0], 1));
  need(asked.length <= 256 && (!pairs || Math.max(...sizes) <= 2 ** 24), "domain");
  const given = (value, at) =>
    Object.hasOwn(Object(value), names[at]) ? value[names[at]] : undefined;
  const itemIn = (value, at) =>
    domains[at].answer(given(value, at), 0)?.[1] ?? domains[at].nothing(0);
  return {
    sizes,
    different: Math.max(...sizes),
    means: (part) => !pairs && domains[part].means(0),
    answer: (value, part) => {
      if (!pairs) return domains[part].answer(given(value, part), 0);
      const [one, other] = asked[part].map((at) => itemIn(value, at));
      const item = one * domains[asked[part][1]].sizes[0] + other;
      return Number.isNaN(item) ? null : [`i:${item}`, item];
    },
    nothing: (part) => (pairs ? undefined : domains[part].nothing(0)),
    name: (item, part) => {
      const last = domains[asked[part].at(-1)].sizes[0];
      const items = pairs ? split(item, last) : [item];
      return asked[part]
        .map((at, turn) => `${names[at]} ${domains[at].name(items[turn], 0)}`)
        .join(", ");
    },
  };
}

/** What an attribute may be: values, or numbers. */
const FIELDS = ["none values", "below from none", "ask branching high low none step"];

/** Words of an alphabet, of which each device sends a prefix of one length. */
function vocabulary({ alphabet, longest, step }) {
  const letters = new Set(alphabet);
  const apart = [...alphabet].length === letters.size && whole(letters.size, 2, 4096);
  const plain =
    alphabet.normalize("NFC") === alphabet && wellFormed(alphabet) && !letters.has("\0");
  need(apart && plain && whole(longest, 1, 64) && whole(step, 1, longest - 1), "domain");
  need((letters.size + 1) ** step <= 2 ** 18, "domain");
  const lengths = [...range(longest).filter((length) => length && length % step === 0), longest];
  return {
    sizes: lengths.map(() => 0),
    different: 1,
    once: true,
    answer: (value, part) => {
      if (
        typeof value !== "string" ||
        value.length > 8 * longest ||
        [...value].length > 4 * longest
      )
        return null;
      const word = [...value.normalize("NFC")];
      if (!whole(word.length, 1, longest) || !word.every((letter) => letters.has(letter)))
        return null;
      const end = word.length < lengths[part] ? "\0" : "";
      return [`p:${word.slice(0, lengths[part]).join("")}${end}`];
    },
  };
}
