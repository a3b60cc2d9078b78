/** A page that counts emoji, and shows what chance makes of an answer. */
import { Client, DitherError, Task } from "../dither.js";

const BUDGET = 8; // the ε of everything that this page may ever ask of this browser
const REHEARSALS = 12;

const $ = (id) => document.getElementById(id);
const setting = (name) => document.querySelector(`meta[name="dither-${name}"]`).content;
const collector = setting("collector") || location.origin;
const trust = setting("trust");

function say(words) {
  $("status").textContent = words;
}

/** How often someone who is torn between two answers guesses right, of a hundred times. */
function guessed(epsilon) {
  const right = 100 / (1 + Math.exp(-epsilon));
  return right > 99 ? "nearly always" : `at most ${Math.ceil(right)} times in 100`;
}

const often = (days) => (days === 0 ? "Once" : days === 1 ? "Once a day" : `Once in ${days} days`);

function promise(task) {
  const { message, lifetime } = task.losses;
  const all = task.every ? ` From all your messages together: ${guessed(lifetime)}.` : "";
  return (
    `${often(task.every)}, your browser mixes your answer with chance and sends the result. From one message, someone ` +
    `who is torn between two answers guesses yours right ${guessed(message)}; a coin is right 50 times.${all}`
  );
}

async function fetchTask() {
  const found = await fetch(`${collector}/v1/tasks/${encodeURIComponent(setting("task"))}`);
  if (!found.ok) throw new Error(`the collector has no question here (${found.status})`);
  return Task.fromJSON(await found.text(), { trust });
}

/** The values of the question, for people to choose from. */
const choicesOf = (task) => JSON.parse(task.document).domain.values;

function showChoices(task) {
  const labels = choicesOf(task).map((value) => {
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), {
      type: "radio",
      name: "favourite",
      value,
    });
    label.append(input, value);
    return label;
  });
  $("choices").replaceChildren(...labels);
}

const chosen = () => new FormData($("question")).get("favourite");

async function rehearse(task) {
  const value = chosen();
  $("before").textContent = `Your answer is ${value}. Chance could make of it, for example:`;
  $("send").disabled = false;
  const messages = await Promise.all(
    Array.from({ length: REHEARSALS }, () => task.rehearse(value)),
  );
  if (chosen() === value)
    $("after").textContent = messages.map((message) => task.inWords(message)).join(" · ");
}

async function post(parcel) {
  const headers = { "Content-Type": "application/octet-stream" };
  const done = await fetch(`${collector}/v1/messages`, { method: "POST", headers, body: parcel });
  if (!done.ok)
    throw new Error(
      `the collector did not take it (${done.status}); the same bytes can be sent again`,
    );
}

async function send(client, task) {
  const value = chosen();
  const before = (await client.sent()).length;
  const parcel = await client.parcel(task, value);
  await post(parcel);
  const said = task.inWords(parcel.subarray(18));
  const first = (await client.sent()).length > before;
  $("sentence").textContent = first
    ? `You chose ${value}. What left this browser says “${said}”: nobody can be sure from it what you chose.`
    : `Your answer for this period was made before, and the same bytes were sent again: “${said}”.`;
  say("Sent. Until the next period, your browser would only send the same bytes again.");
  await showSent(client, task);
}

async function showSent(client, task) {
  const sent = await client.sent();
  const lines = sent.map((one) =>
    Object.assign(document.createElement("li"), { textContent: `${one}` }),
  );
  $("sent").replaceChildren(...lines);
  const { message } = task.losses;
  $("meaning").textContent =
    `ε = ${message.toPrecision(3)} means: no answer makes any message more than ${Math.exp(message).toPrecision(3)} times ` +
    `as likely as another answer would. ${(await client.left()).toPrecision(3)} of ${client.budget} is left for other questions.`;
  $("result").hidden = sent.length === 0;
}

/** Runs what a person asked for, and says what went wrong. */
function when(id, event, work) {
  $(id).addEventListener(event, async (happened) => {
    happened.preventDefault();
    try {
      await work();
    } catch (problem) {
      say(
        problem instanceof DitherError
          ? `Not possible: ${problem.message}`
          : `That failed: ${problem.message}`,
      );
    }
  });
}

async function joined(client, task) {
  await client.join(task);
  $("consent").hidden = true;
  $("question").hidden = false;
  say("Thank you. Choose one.");
  await showSent(client, task);
}

async function begin() {
  const task = await fetchTask();
  const client = await Client.open({ budget: BUDGET, trust });
  showChoices(task);
  $("promise").textContent = promise(task);
  when("join", "click", async () => {
    await joined(client, task);
    $("choices").querySelector("input").focus(); // the button that had the focus is gone
  });
  when("decline", "click", () => say("That is fine. Nothing was sent, and nothing will be."));
  when("question", "change", () => rehearse(task));
  when("question", "submit", () => send(client, task));
  when("leave", "click", async () => {
    await client.leave(task);
    $("question").hidden = $("result").hidden = true;
    say("You have left. What was sent before stays sent.");
  });
  const before = (await client.sent()).some((one) => one.task === task.name);
  if (before) await joined(client, task);
  else {
    $("consent").hidden = false;
    say("");
  }
}

begin().catch((problem) => say(`This page cannot ask its question: ${problem.message}`));
