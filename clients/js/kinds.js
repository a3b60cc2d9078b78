/**
 * More kinds of questions: answers that are hashed or sent as sets, means, several
 * attributes, and words that nobody has listed. Importing this module adds them; a task
 * that needs one loads it by itself.
 */
import { parts } from "./dither.js";

const { DOMAINS, ONE, ORACLES, big, bitsLoss, canonical, domainOf, fromLittle, inside, keys } = parts;
const { loss, need, not, range, resent, respond, responseLoss, shown, some, split } = parts;
const { unaryLoss, wellFormed, whole } = parts;

const HALF = ONE / 2;

// Hashes that any language computes in 32-bit integers

function mixed(word) {
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}

/** MurmurHash3, x86, 32 bits. */
function murmur(bytes, state) {
  const turned = (word, by) => (word << by) | (word >>> (32 - by));
  for (let at = 0; at < bytes.length; at += 4) {
    const block = fromLittle(bytes.subarray(at, at + 4));
    state ^= Math.imul(turned(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
    if (at + 4 <= bytes.length) state = Math.imul(turned(state, 13), 5) + 0xe6546b64;
  }
  return mixed(state ^ bytes.length);
}

/** Two numbers for a text of an open vocabulary. */
export const digest = (bytes) => [0x9747b28c, 0x3c6ef372].map((seed) => murmur(bytes, seed));

/** Where a digest lies in a row of `size` places. */
export function place([first, second], row, size) {
  const inner = mixed(second + Math.imul(row + 1, 0x9e3779b9));
  return mixed(first + inner) % size;
}

/** Σ of the products of two numbers' digits in base `prime`, modulo the prime. */
export function linear(prime, digits, one, other) {
  const digit = (number, at) => Math.floor(number / prime ** at) % prime;
  const products = range(digits).map((at) => digit(one, at) * digit(other, at));
  return products.reduce((sum, product) => sum + product, 0) % prime;
}

const isPower = (number) => number > 0 && 2 ** Math.round(Math.log2(number)) === number;

function isPrime(number) {
  for (let at = 2; at * at <= number; at++) if (number % at === 0) return false;
  return number > 1;
}

function isOdd(bits) {
  for (let shift = 16; shift; shift >>= 1) bits ^= bits >>> shift;
  return (bits & 1) === 1;
}

// Oracles

function hashValue(number, values) {
  const [row, said] = split(number, values);
  return `hash value ${said} of ${values} under function ${row}`;
}

function isSketch(items, rows, columns) {
  return !items && rows > 1 && columns > 1 && isPower(columns) && rows * columns <= 2 ** 27;
}

/** A place of a grid of `top` steps on one of `steps`: up or down at random, so that its
 * mean stays exactly. */
async function rounded(words, item, top, steps) {
  const [whole, rest] = split(item * steps, top);
  return whole + ((await words.below(top)) < rest);
}

/** A number rounded to one end of its range, and that end told truly at `truth`. */
async function bitOf(words, truth, item, top) {
  return respond(words, truth, 2, await rounded(words, item, top, 1));
}

const highOrLow = (number) => (number ? "high" : "low");
const isMean = (items, truth) => items > 1 && truth > HALF && truth < ONE;

Object.assign(ORACLES, {
  "subset selection": ["items kind size truth", ({ items, size, truth }) => ({
    valid: inside(truth) && 0 < size && size < items && size <= 2 ** 16,
    lost: loss(big(truth) * big(items - size), not(truth) * big(size)),
    bits: items,
    // about, where there are many
    outcomes: range(Math.min(size, items - size, 99)).reduce((sets, at) => (sets * (items - at)) / (at + 1), 1),
    // a set of others (Floyd's algorithm); the true item may take the place of one
    randomize: async (words, item) => {
      const keep = await words.coin(truth);
      const others = new Set();
      for (let last = items - 1 - size; last < items - 1; last++) {
        const drawn = await words.below(last + 1);
        others.add(others.has(drawn) ? last : drawn);
      }
      const listed = [...others].map((one) => one + (one >= item));
      const at = await words.below(size);
      if (keep) listed[at] = item;
      const bits = Array(items).fill(0);
      for (const one of listed) bits[one] = 1;
      return [0, bits];
    },
    says: (_, ones, named) => `one of ${some(ones, named)}${size > 8 ? `, … (${size} in all)` : ""}`,
  })],

  "local hashing": ["digits items kind prime truth", ({ items, prime, digits, truth }) => {
    const pool = prime ** digits;
    return {
      valid: inside(truth, digits) && prime < 2 ** 20 && isPrime(prime) && items <= pool && pool < HALF,
      lost: responseLoss(truth, prime),
      head: pool * prime,
      randomize: async (words, item) => {
        const row = await words.below(pool);
        const said = await respond(words, truth, prime, linear(prime, digits, row, item));
        return [row * prime + said, []];
      },
      says: (number) => hashValue(number, prime),
    };
  }],

  "Hadamard response": ["blocks items kind side truth", ({ items, blocks, side, truth }) => ({
    valid: inside(truth) && isPower(blocks) && isPower(side) && blocks <= HALF && Math.ceil(items / blocks) < side,
    lost: loss(big(truth) * big(2 * blocks - 1), not(truth)),
    head: blocks * side,
    randomize: async (words, item) => {
      const own = await words.coin(truth);
      const [row, block] = split(item + blocks, blocks);
      // of 2 · blocks − 1 halves that are equally likely, one lies in the own block
      const [further] = split((await words.below(2 * blocks - 1)) + 1, 2);
      let column = await words.below(side);
      // in the own block: change the sign, if it is wrong, by the row's lowest bit
      const near = own || further === 0;
      if (near && isOdd(row & column) === own) column = (column ^ (row & -row)) >>> 0;
      return [(own ? block : (block + further) % blocks) * side + column, []];
    },
    says: (number) => `column ${number % side} of block ${split(number, side)[0]}`,
  })],

  "count-mean sketch": ["columns flip items kind rows", ({ items, rows, columns, flip }) => ({
    valid: isSketch(items, rows, columns) && inside(flip) && flip < HALF,
    lost: unaryLoss(not(flip), big(flip), big(ONE)),
    head: rows,
    bits: columns,
    randomize: async (words, item) => {
      const row = await words.below(rows);
      const bits = await words.biased(flip, columns);
      bits[place(digest(item), row, columns)] = +!(await words.coin(flip));
      return [row, bits];
    },
    says: (row, ones) => `row ${row}, and ${ones.length} of ${columns} places`,
  })],

  "Hadamard sketch": ["columns items kind rows truth", ({ items, rows, columns, truth }) => ({
    valid: isSketch(items, rows, columns) && inside(truth),
    lost: responseLoss(truth, 2),
    head: 2 * rows * columns,
    randomize: async (words, item) => {
      const row = await words.below(rows);
      const column = await words.below(columns);
      const minus = isOdd(column & place(digest(item), row, columns));
      const said = minus === (await words.coin(truth));
      return [(row * columns + column) * 2 + said, []];
    },
    says: (number) => {
      const [row, column] = split(split(number, 2)[0], columns);
      return `row ${row}, column ${column}, sign ${number % 2 ? "−" : "+"}`;
    },
  })],

  loloha: ["functions items kept kind sent values", ({ items, values, functions, kept, sent }) => {
    const others = big(values - 1);
    const truth = big(kept) * big(sent) * others + not(kept) * not(sent);
    const [forEver, instant] = [kept, sent].map((one) => responseLoss(one, values));
    // linear functions collide exactly as often as chance, where they are enough
    const digits = Math.round(Math.log(functions) / Math.log(values));
    const exact = values ** digits === functions && functions >= items;
    const hashed = (item, seed) => {
      if (functions === 1) return item;
      if (exact && isPrime(values)) return linear(values, digits, seed, item);
      return place([item, item], seed, values);
    };
    return {
      valid: inside(kept, sent, functions, forEver, instant) && functions <= 256 && items > 1 && values > 1 && values <= 2 ** 20 && (functions > 1 || values === items),
      lost: loss(truth * others, big(ONE) ** 2n * others - truth),
      forEver,
      instant,
      freshness: (ONE - sent) / ONE,
      tracking: functions,
      head: functions * values,
      seed: (words) => words.below(functions),
      keep: (words, item, seed) => respond(words, kept, values, hashed(item, seed)),
      send: async (words, held, seed) => [seed * values + (await respond(words, sent, values, held)), []],
      says: (number, _, named) => (functions === 1 ? named(number) : hashValue(number, values)),
    };
  }],

  rappor: ["bits cohorts family flip hashes items kind sent_one sent_zero", (o) => {
    const { items, bits, cohorts, family, flip, hashes, sent_one, sent_zero } = o;
    need(!/^md5/.test(family), "oracle", "hashes with MD5, which no device here does; use murmur32");
    const declared = bits === items || (bits === 1 && items === 2);
    const shape = items
      ? family === "identity" && items > 1 && declared && hashes * cohorts === 1
      : family === "murmur32" && bits > 1 && bits <= 2 ** 16 && inside(hashes) && hashes <= Math.min(16, bits);
    need(shape && isPower(cohorts) && cohorts <= 256, "oracle"); // before it is a power
    // how many bits each of two filters has that the other has not, at most
    const most = items ? 1 : Math.min(hashes, bits - 1);
    const ways = [most, items ? +(bits > 1) : Math.min(hashes, bits - most)];
    const moved = big(flip) * big(sent_one - sent_zero);
    const [whole, held, none] = [big(ONE) ** 2n, big(sent_one) * big(ONE) - moved, big(sent_zero) * big(ONE) + moved];
    const ratios = [[held, none], [whole - none, whole - held]];
    if (held * (whole - held) < (whole - none) * none) ratios.reverse(); // the larger first
    const power = (side) => ratios.reduce((product, ratio, at) => product * ratio[side] ** big(ways[at]), 1n);
    const kept = big(ways[0] + ways[1]);
    return {
      valid: flip < HALF && sent_one > sent_zero,
      lost: loss(power(0), power(1)),
      forEver: loss(not(flip) ** kept, big(flip) ** kept),
      instant: bitsLoss(sent_one, sent_zero, bits),
      freshness: Math.max(ONE - sent_one, sent_zero) / ONE,
      head: cohorts,
      tracking: cohorts,
      bits,
      seed: (words) => words.below(cohorts),
      keep: async (words, item, seed) => {
        const rows = range(hashes).map((at) => seed * hashes + at);
        const places = items ? [item] : rows.map((row) => place(digest(item), row, bits));
        const flipped = await words.biased(flip, bits);
        if (items && bits === 1) flipped[0] ^= item;
        else for (const at of new Set(places)) flipped[at] ^= 1;
        return flipped;
      },
      send: async (words, held, seed) => [seed, await resent(words, sent_one, sent_zero, held)],
      says: (cohort, ones, named) => {
        if (items) return bits > 1 ? ones.map(named).join(", ") || "nothing" : named(ones.length);
        return `cohort ${cohort}, bits ${ones.join(", ") || "none"} of ${bits}`;
      },
    };
  }],

  "binary mean": ["items kind truth", ({ items, truth }) => ({
    valid: isMean(items, truth),
    lost: responseLoss(truth, 2),
    head: 2,
    mean: true,
    randomize: async (words, item) => [await bitOf(words, truth, item, items - 1), []],
    says: highOrLow,
  })],

  "hybrid mean": ["binary inside items kind steps truth window", (o) => {
    const { items, truth, binary, inside: within, steps, window } = o;
    const windowLoss = loss(big(within) * big(steps), not(within) * big(window));
    const sizes = [steps, window].every((one) => whole(one, 1, 2 ** 16));
    return {
      valid: isMean(items, truth) && inside(binary, within, windowLoss) && sizes && (items - 1) * steps <= 2 ** 52,
      lost: Math.max(responseLoss(truth, 2), windowLoss),
      head: 2 + steps + window,
      mean: true,
      randomize: async (words, item) => {
        if (await words.coin(binary)) return [await bitOf(words, truth, item, items - 1), []];
        const start = await rounded(words, item, items - 1, steps);
        const keep = await words.coin(within);
        const inner = start + (await words.below(window));
        const outer = await words.below(steps);
        return [2 + (keep ? inner : outer + (outer >= start ? window : 0)), []];
      },
      says: (number) => (number < 2 ? highOrLow(number) : `place ${number - 2} of ${steps + window}`),
    };
  }],

  "one-bit mean": ["items kept kind sent", ({ items, kept, sent }) => {
    const truth = big(kept) * big(sent) + not(kept) * not(sent);
    return {
      valid: isMean(items, kept) && isMean(items, sent),
      lost: loss(truth, big(ONE) ** 2n - truth),
      forEver: responseLoss(kept, 2),
      instant: responseLoss(sent, 2),
      freshness: (ONE - sent) / ONE,
      head: 2,
      mean: true,
      rounds: true,
      seed: (words) => words.below(items - 1),
      // an answer is a side already; no answer is a place
      keep: (words, item, seed, answered) => respond(words, kept, 2, answered ? item : +(item > seed)),
      send: async (words, held) => [await respond(words, sent, 2, held), []],
      says: highOrLow,
    };
  }],
});

// Domains

/** Numbers on a grid between two public bounds; others are rounded, or cut to an end. */
function numbers({ ask, branching, high, low, none, step }) {
  const plain = (one) => Number.isFinite(one) && (one === 0 || (1e-4 <= Math.abs(one) && Math.abs(one) <= 1e15));
  const steps = (high - low) / step;
  const top = Math.round(steps);
  const grid = [low, high, step].every(plain) && step > 0 && low < high && Math.abs(steps - top) <= 1e-6;
  const most = { __proto__: null, mean: 2 ** 24, variance: 2 ** 15, distribution: 2 ** 20 }[ask];
  const tree = ask === "distribution";
  need(grid && top <= most && typeof none === "boolean" && (tree || !none), "domain");
  need(tree ? whole(branching, 2, 2 ** 20) : branching === 0, "domain");
  const widths = [1];
  while (tree && Math.ceil((top + 1) / (widths[0] * branching)) > 1) widths.unshift(widths[0] * branching);
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
      const seen = ask === "variance" && part ? (2 * at - top) ** 2 : Math.floor(at / (widths[part] ?? 1));
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
async function attributes({ attributes: fields, pairs }) {
  const names = fields.map(([name]) => name);
  const apart = names.every((name) => typeof name === "string" && canonical(name)) && new Set(names).size === names.length;
  need(apart && names.length > 1 && typeof pairs === "boolean" && fields.every((field) => field.length === 2), "domain");
  need(fields.every(([, one]) => FIELDS.includes(keys(one)) && (one.ask === undefined || (one.ask === "mean" && !pairs))), "domain");
  const domains = await Promise.all(fields.map(([, one]) => domainOf(one)));
  const all = range(names.length);
  const asked = pairs ? all.flatMap((one) => all.slice(one + 1).map((other) => [one, other])) : all.map((one) => [one]);
  const sizes = asked.map((part) => part.reduce((size, at) => size * domains[at].sizes[0], 1));
  need(asked.length <= 256 && (!pairs || Math.max(...sizes) <= 2 ** 24), "domain");
  const given = (value, at) => (Object.hasOwn(Object(value), names[at]) ? value[names[at]] : undefined);
  const itemIn = (value, at) => domains[at].answer(given(value, at), 0)?.[1] ?? domains[at].nothing(0);
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
      return asked[part].map((at, turn) => `${names[at]} ${domains[at].name(items[turn], 0)}`).join(", ");
    },
  };
}

const FIELDS = ["none values", "below from none", "ask branching high low none step"];

/** Words of an alphabet, of which each device sends a prefix of one length. */
function vocabulary({ alphabet, longest, step }) {
  const letters = new Set(alphabet);
  const apart = [...alphabet].length === letters.size && whole(letters.size, 2, 4096);
  const plain = alphabet.normalize("NFC") === alphabet && wellFormed(alphabet) && !letters.has("\0");
  need(apart && plain && whole(longest, 1, 64) && whole(step, 1, longest - 1), "domain");
  need((letters.size + 1) ** step <= 2 ** 18, "domain");
  const lengths = [...range(longest).filter((length) => length && length % step === 0), longest];
  return {
    sizes: lengths.map(() => 0),
    different: 1,
    once: true,
    answer: (value, part) => {
      if (typeof value !== "string" || value.length > 8 * longest || [...value].length > 4 * longest) return null;
      const word = [...value.normalize("NFC")];
      if (!whole(word.length, 1, longest) || !word.every((letter) => letters.has(letter))) return null;
      const end = word.length < lengths[part] ? "\0" : "";
      return [`p:${word.slice(0, lengths[part]).join("")}${end}`];
    },
  };
}

Object.assign(DOMAINS, {
  "ask branching high low none step": numbers,
  "attributes pairs": attributes,
  "alphabet longest step": vocabulary,
});
