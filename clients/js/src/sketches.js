/** Oracles for texts that only the server has a list of. */
import { inside, split } from "./drawing.js";
import { big, not, responseLoss, unaryLoss } from "./exact.js";
import { digest, isOdd, isPower, place } from "./hashes.js";
import { HALF, ONE } from "./words.js";

function isSketch(items, rows, columns) {
  return !items && rows > 1 && columns > 1 && isPower(columns) && rows * columns <= 2 ** 27;
}

/** Lines of the document, and what follows from their numbers. */
export const SKETCHES = {
  "count-mean sketch": [
    "columns flip items kind rows",
    ({ items, rows, columns, flip }) => ({
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
    }),
  ],

  "Hadamard sketch": [
    "columns items kind rows truth",
    ({ items, rows, columns, truth }) => ({
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
    }),
  ],
};
