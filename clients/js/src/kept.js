/** Oracles for answers that are given again and again: noise that is kept, and fresh noise
 * on top. */
import { range } from "./bytes.js";
import { encoded, hashValue, inside, resent, respond, sayOnes } from "./drawing.js";
import { need } from "./errors.js";
import { big, bitsLoss, loss, not, responseLoss, unaryLoss } from "./exact.js";
import { digest, isPower, isPrime, linear, place } from "./hashes.js";
import { HALF, ONE } from "./words.js";

/** Lines of the document, and what follows from their numbers. */
export const KEPT = {
  "longitudinal unary": [
    "items kept_one kept_zero kind sent_one sent_zero",
    (o) => {
      const { items, kept_one, kept_zero, sent_one, sent_zero } = o;
      const said = (kept) => big(kept) * big(sent_one) + not(kept) * big(sent_zero);
      return {
        valid:
          inside(kept_one, kept_zero, sent_one, sent_zero) &&
          kept_one > kept_zero &&
          sent_one > sent_zero,
        lost: unaryLoss(said(kept_one), said(kept_zero), big(ONE) ** 2n),
        forEver: unaryLoss(big(kept_one), big(kept_zero), big(ONE)),
        instant: bitsLoss(sent_one, sent_zero, items),
        freshness: Math.max(ONE - sent_one, sent_zero) / ONE,
        bits: items,
        seed: () => 0,
        keep: (words, item) => encoded(words, kept_one, kept_zero, items, item),
        send: async (words, kept) => [0, await resent(words, sent_one, sent_zero, kept)],
        says: sayOnes,
      };
    },
  ],

  loloha: [
    "functions items kept kind sent values",
    ({ items, values, functions, kept, sent }) => {
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
        valid:
          inside(kept, sent, functions, forEver, instant) &&
          functions <= 256 &&
          items > 1 &&
          values > 1 &&
          values <= 2 ** 20 &&
          (functions > 1 || values === items),
        lost: loss(truth * others, big(ONE) ** 2n * others - truth),
        forEver,
        instant,
        freshness: (ONE - sent) / ONE,
        tracking: functions,
        head: functions * values,
        seed: (words) => words.below(functions),
        keep: (words, item, seed) => respond(words, kept, values, hashed(item, seed)),
        send: async (words, held, seed) => [
          seed * values + (await respond(words, sent, values, held)),
          [],
        ],
        says: (number, _, named) => (functions === 1 ? named(number) : hashValue(number, values)),
      };
    },
  ],

  rappor: [
    "bits cohorts family flip hashes items kind sent_one sent_zero",
    (o) => {
      const { items, bits, cohorts, family, flip, hashes, sent_one, sent_zero } = o;
      need(
        !/^md5/.test(family),
        "oracle",
        "hashes with MD5, which no device here does; use murmur32",
      );
      const declared = bits === items || (bits === 1 && items === 2);
      const shape = items
        ? family === "identity" && items > 1 && declared && hashes * cohorts === 1
        : family === "murmur32" &&
          bits > 1 &&
          bits <= 2 ** 16 &&
          inside(hashes) &&
          hashes <= Math.min(16, bits);
      need(shape && isPower(cohorts) && cohorts <= 256, "oracle"); // before they are powers
      // how many bits each of two filters has that the other has not, at most
      const most = items ? 1 : Math.min(hashes, bits - 1);
      const ways = [most, items ? +(bits > 1) : Math.min(hashes, bits - most)];
      const moved = big(flip) * big(sent_one - sent_zero);
      const [whole, held, none] = [
        big(ONE) ** 2n,
        big(sent_one) * big(ONE) - moved,
        big(sent_zero) * big(ONE) + moved,
      ];
      const ratios = [
        [held, none],
        [whole - none, whole - held],
      ];
      if (held * (whole - held) < (whole - none) * none) ratios.reverse(); // the larger first
      const power = (side) =>
        ratios.reduce((product, ratio, at) => product * ratio[side] ** big(ways[at]), 1n);
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
    },
  ],
};
