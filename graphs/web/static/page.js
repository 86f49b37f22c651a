// Everything a thread holds is put into the page as text, never as markup: a tool's result may be anybody's.

import { draw } from "/rungs/drawing.js";
import { json, nodes, plain } from "/rungs/text.js";

const API = "/rungs/api";
const CHOOSE = "Choose a thread on the left.";
const LIVE = new Set(["unfinished"]);
const state = { thread: named(), user: new URLSearchParams(location.search).get("user") || "" };
const problems = new Map();  // one for each thing that was tried: what succeeds beside it takes none away
let shown = "";
let timer = 0;

/** The thread that the address names; a hand may have typed a `%` that encodes nothing. */
function named() {
  const text = location.hash.slice(1);
  try { return decodeURIComponent(text); } catch { return text; }
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : plain(value));
  }
  const given = children.filter((child) => child !== null && child !== undefined);
  made.append(...given.flatMap((child) => child instanceof Node ? [child] : nodes(child)));
  return made;
}

function address(path, query = {}) {
  const asked = new URLSearchParams(state.user ? { ...query, user: state.user } : query).toString();
  return `${API}${path}${asked && `?${asked}`}`;
}

function threadPath(thread, more = "") {
  return `/threads/${encodeURIComponent(thread)}${more}`;
}

async function ask(path, { query, body } = {}) {
  const options = body === undefined ? {} : {
    method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", "x-rungs": "1" } };
  const reply = await fetch(address(path, query), options).catch(() => { throw new Error("the server can't be reached"); });
  const told = await reply.json().catch(() => ({ problem: `the server answered ${reply.status}` }));
  const why = told.problem || `the server answered ${reply.status}`;
  if (!reply.ok) throw Object.assign(new Error(why), { refused: reply.status < 500 });
  return told;
}

/** Try something; what went wrong with it stands above the page until the same thing succeeds, or another thread is opened. */
async function attempt(what, work, { refused } = {}) {
  const { thread, user } = state;
  const here = () => thread === state.thread && user === state.user;
  try {
    const result = await work();
    if (!here()) return undefined;
    problems.delete(what);
    return result;
  } catch (error) {
    if (here()) problems.set(what, error.message);
    else if (what === "answer") problems.set(`answer to ${thread}`, `the answer to ${thread}: ${error.message}`);
    if (here() && error.refused && refused) refused();
    return undefined;
  } finally {
    showProblems();
  }
}

function showProblems() {
  const line = document.getElementById("problem");
  const told = [...new Set(problems.values())];
  line.replaceChildren(...told.map((text) => element("span", {}, text)));
  line.hidden = !told.length;
}

function words(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function folded(summary, value) {
  return element("details", {}, element("summary", { class: "dim" }, summary), element("pre", {}, words(value)));
}

function when(text) {
  return new Date(text).toLocaleString();
}

// ---- threads ----

async function listThreads() {
  const found = await attempt("threads", () => ask("/threads"));
  if (!found) return;
  const rows = found.map((thread) => element("li", {}, element("button", {
    type: "button", "aria-current": String(thread.thread_id === state.thread), onclick: () => open(thread.thread_id) },
    element("span", { class: `status ${thread.status}` }, thread.status), " ",
    element("span", { class: "dim" }, `${thread.graph}, ${when(thread.updated)}`), element("br"),
    thread.question || thread.thread_id)));
  const none = element("li", { class: "empty" }, state.user ? `no threads of ${state.user}` : "no threads without a user: name one above");
  document.getElementById("threads").replaceChildren(...(rows.length ? rows : [none]));
}

async function open(thread) {
  state.thread = thread;
  problems.clear();
  showProblems();
  leave(thread ? "Opening the thread ..." : CHOOSE);  // no approval of the thread before may stand under this one's name
  const query = state.user && `?user=${encodeURIComponent(state.user)}`;
  history.replaceState(null, "", `${location.pathname}${query}${thread && `#${encodeURIComponent(thread)}`}`);
  await refresh();
}

function refresh() {
  return Promise.all([listThreads(), showThread()]);
}

function leave(said) {
  shown = "";
  document.getElementById("thread").replaceChildren(element("p", { class: "empty" }, said));
}

async function showThread() {
  clearTimeout(timer);
  if (!state.thread) return;
  const told = await attempt("thread", () => ask(threadPath(state.thread)), { refused: () => leave(CHOOSE) });
  if (!told) return;
  const text = JSON.stringify(told);
  if (text !== shown) {  // what is folded open, or typed, stays while nothing has happened
    shown = text;
    render(told);
  }
  if (LIVE.has(told.thread.status)) timer = setTimeout(showThread, 2000);
}

function render(told) {
  const { thread, outcome } = told;
  const settings = Object.entries(thread.settings).map(([name, value]) => `${name} ${value}`).join(", ");
  document.getElementById("thread").replaceChildren(
    element("h2", {}, thread.thread_id),
    element("p", { class: "dim" }, `${thread.graph}: ${thread.about} Begun ${when(thread.created)}.${settings ? ` With ${settings}.` : ""}`),
    ...[approval(told)].filter(Boolean),
    ...told.runs.map((run, place) => runOf(run, place === told.runs.length - 1 ? outcome : null, thread)));
}

// ---- a run ----

function runOf(run, outcome, thread) {
  const steps = element("ol", { class: "steps" }, ...run.steps.map(stepOf));
  const block = element("div", {}, steps, outcome ? outcomeOf(outcome, thread) : null);
  const drawing = run.drawing ? element("details", { open: true }, element("summary", { class: "dim" }, "path"), draw(run.drawing)) : null;
  return element("article", { class: "run" }, element("h3", {}, run.question ? run.question.text : "(no question)"), block, drawing);
}

function stepOf(step) {
  const cost = [];
  if (step.seconds !== undefined) cost.push(`${step.seconds.toFixed(3)} s`);
  if (step.kind === "model_call") cost.push(`tokens ${step.input_tokens ?? "unknown"} in, ${step.output_tokens ?? "unknown"} out`);
  if (step.cached) cost.push("from the cache");
  const failed = step.status === "error";
  const name = step.kind === "model_call" ? step.model || "model" : step.tool;
  const line = element("div", {}, element("strong", {}, name), " ",
    element("span", { class: `status ${failed ? "error" : ""}` }, failed ? "error" : ""), " ",
    element("span", { class: "dim" }, cost.join(", ")));
  const body = [line];
  if (step.kind === "tool_call") body.push(folded("arguments", step.arguments ?? {}));
  if (step.result) body.push(element("pre", {}, step.result));
  if (step.kind === "model_call") {
    for (const call of step.calls) body.push(folded(`calls ${call.name}`, call.args));
    body.push(promptOf(step.id));
  }
  return element("li", { class: `${step.kind}${failed ? " failed" : ""}` }, ...body);
}

function promptOf(reply) {
  const details = element("details", {}, element("summary", { class: "dim" }, "prompt"));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.children.length > 1) return;
    const sent = await attempt(`prompt ${reply}`, () => ask(`/prompts/${encodeURIComponent(state.thread)}`, { query: { reply } }));
    if (!sent) return;
    for (const message of sent) {
      const calls = (message.calls || []).map((call) => `${call.name}(${JSON.stringify(call.args)})`).join("\n");
      details.append(element("div", { class: "dim" }, message.tool ? `${message.role}: ${message.tool}` : message.role),
        element("pre", {}, [message.text, calls].filter(Boolean).join("\n")));
    }
  });
  return details;
}

function outcomeOf(outcome, thread) {
  const usage = outcome.usage;
  const cost = usage ? `${usage.model}: ${usage.model_calls} model calls, ${usage.tool_calls} tool calls, ` +
    `${usage.input_tokens ?? "unknown"} + ${usage.output_tokens ?? "unknown"} tokens, ${usage.seconds} s` : "";
  const status = thread.status === "waiting" ? "waiting" : outcome.status || thread.status;
  const more = ["record", "rejection", "notes", "summary"].filter((name) => outcome[name]).map((name) => folded(name, outcome[name]));
  return element("div", {}, element("p", {}, element("span", { class: `status ${status}` }, status), " ",
    element("span", { class: "dim" }, [outcome.stop_reason, cost].filter(Boolean).join("; "))), ...more);
}

// ---- approvals ----

function approval(told) {
  if (!told.waiting.length) return null;
  const rows = told.waiting.map((call) => {
    const choice = element("select", { "aria-label": `Decision on ${call.tool}` },
      ...["approve", "reject", "edit", "respond"].map((kind) => element("option", { value: kind }, kind)));
    const text = element("textarea", { hidden: true, "aria-label": `Text for ${call.tool}` });
    choice.addEventListener("change", () => {
      text.hidden = choice.value === "approve";
      text.value = choice.value === "edit" ? json(call.arguments) : "";
      text.rows = Math.min(20, text.value.split("\n").length + 1);
    });
    return { call, choice, text, block: element("fieldset", {}, element("strong", {}, call.tool), " ",
      element("span", { class: "dim" }, call.description), element("pre", {}, words(call.arguments)), choice, text) };
  });
  const send = element("button", { type: "submit", class: "primary" }, "Answer");
  const form = element("form", { class: "approval", onsubmit: async (event) => {
    event.preventDefault();
    const done = await attempt("answer", async () => {
      const decisions = rows.map(decisionOf);
      send.disabled = true;
      return ask(threadPath(told.thread.thread_id, "/answer"), { body: { decisions } });
    });
    send.disabled = false;
    if (done) { shown = ""; await refresh(); }
  } }, element("strong", {}, told.waiting.length === 1 ? "This call waits for a yes" : "These calls wait for a yes"),
  told.problem ? element("p", { class: "error" }, told.problem) : null, ...rows.map((row) => row.block), element("p", {}, send));
  return form;
}

function decisionOf({ call, choice, text }) {
  const decision = { type: choice.value, call_id: call.call_id };
  if (choice.value === "edit") {
    let args;
    try { args = JSON.parse(text.value); } catch { throw new Error(`the arguments of ${call.tool} are no JSON`); }
    return { ...decision, edited_action: { name: call.tool, args } };
  }
  return text.value && choice.value !== "approve" ? { ...decision, message: text.value } : decision;
}

// ---- the page ----

const user = document.getElementById("user");
user.value = state.user;
user.addEventListener("change", () => {
  state.user = user.value.trim();
  open(state.thread);
});
document.getElementById("refresh").addEventListener("click", refresh);
addEventListener("hashchange", () => open(named()));
refresh();
