// Asks a built site what its search box would be asked: node search.cjs SITE, with the
// questions as a JSON list on stdin. Prints, for each, the pages in the order shown.
// It runs the theme's own search worker, so ranking is the one readers see.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const SETUP = 0, QUERY = 2;
const site = process.argv[2];
const home = fs.readFileSync(path.join(site, "index.html"), "utf8");
const settings = JSON.parse(home.match(/id="?__config"?[^>]*>(.*?)<\/script>/s)[1]);
const index = JSON.parse(
  fs.readFileSync(path.join(site, "search", "search_index.json"), "utf8"),
);

let listener, settled;
const worker = {
  console,
  addEventListener: (_, found) => { listener = found; },
  postMessage: (message) => settled(message),
};
worker.self = worker;
vm.runInNewContext(fs.readFileSync(path.join(site, settings.search), "utf8"), worker);

function ask(type, data) {
  return new Promise((resolve) => {
    settled = resolve;
    listener({ data: { type, data } });
  });
}

async function main() {
  await ask(SETUP, { ...index, options: { suggest: false } });
  const answers = [];
  for (const question of JSON.parse(fs.readFileSync(0, "utf8"))) {
    const { data } = await ask(QUERY, question);
    const pages = data.items.map((group) => group[0].location.split("#")[0]);
    answers.push(pages.slice(0, 10));
  }
  console.log(JSON.stringify(answers));
}

main();
