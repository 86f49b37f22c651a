"use strict";
// Everything a thread holds is put into the page as text, never as markup: a tool's result may be anybody's.

const SVG = "http://www.w3.org/2000/svg";
const API = "/rungs/api/threads";
const LIVE = new Set(["unfinished"]);
const state = { thread: decodeURIComponent(location.hash.slice(1)), user: new URLSearchParams(location.search).get("user") || "" };
let shown = "";
let timer = 0;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(tag, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return made;
}

function address(path) {
  return `${API}${path}${state.user ? `?user=${encodeURIComponent(state.user)}` : ""}`;
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", "x-rungs": "1" } };
  const reply = await fetch(address(path), options);
  const told = await reply.json().catch(() => ({ problem: `the server answered ${reply.status}` }));
  if (!reply.ok) throw new Error(told.problem || `the server answered ${reply.status}`);
  return told;
}

async function attempt(work) {
  const line = document.getElementById("problem");
  try {
    const result = await work();
    line.hidden = true;
    return result;
  } catch (error) {
    line.textContent = error instanceof TypeError ? "the server can't be reached" : error.message;
    line.hidden = false;
    return undefined;
  }
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
  const found = await attempt(() => ask(""));
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
  shown = "";
  history.replaceState(null, "", `#${encodeURIComponent(thread)}`);
  await Promise.all([listThreads(), showThread()]);
}

async function showThread() {
  clearTimeout(timer);
  if (!state.thread) return;
  const told = await attempt(() => ask(`/${encodeURIComponent(state.thread)}`));
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
    const sent = await attempt(() => ask(`/${encodeURIComponent(state.thread)}/prompts/${encodeURIComponent(reply)}`));
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
      text.value = choice.value === "edit" ? JSON.stringify(call.arguments, null, 2) : "";
    });
    return { call, choice, text, block: element("fieldset", {}, element("strong", {}, call.tool), " ",
      element("span", { class: "dim" }, call.description), element("pre", {}, JSON.stringify(call.arguments, null, 2)), choice, text) };
  });
  const send = element("button", { type: "submit", class: "primary" }, "Answer");
  const form = element("form", { class: "approval", onsubmit: async (event) => {
    event.preventDefault();
    const done = await attempt(async () => {
      const decisions = rows.map(decisionOf);
      send.disabled = true;
      return ask(`/${encodeURIComponent(state.thread)}/answer`, { decisions });
    });
    send.disabled = false;
    if (done) { shown = ""; await Promise.all([listThreads(), showThread()]); }
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

// ---- the drawing: nodes in a column in the order they were added, edges beside it ----

function draw({ nodes, edges }) {
  const step = 58, width = 132, height = 28, left = 190;
  const place = new Map(nodes.map((name, row) => [name, 12 + row * step]));
  const box = drawn("svg", { class: "drawing", width: 560, height: nodes.length * step, role: "img", "aria-label": "the path through the graph" });
  const span = ({ source, target }) => place.get(target) - place.get(source);
  const label = ({ words: said, taken }) => `${said.join(", ")}${taken > 1 ? ` \u00d7${taken}` : ""}`;
  for (const edge of edges.filter((edge) => span(edge) === step)) {
    const x = left + width / 2, y = place.get(edge.source) + height, kind = edge.taken ? "taken" : "";
    box.append(drawn("path", { class: kind, d: `M${x} ${y} V${y + step - height}` }),
      drawn("text", { class: `words ${kind}`, x: x + 6, y: y + (step - height) / 2 + 4 }, label(edge)));
  }
  // Edges that jump go around: onward ones on the right, those back on the left, long ones outermost.
  for (const side of [1, -1]) {
    const jumps = edges.filter((edge) => span(edge) !== step && (span(edge) > 0 ? 1 : -1) === side);
    jumps.sort((one, other) => Math.abs(span(one)) - Math.abs(span(other)));
    jumps.forEach((edge, rank) => {
      const x = side > 0 ? left + width : left, reach = x + side * (24 + 17 * rank), kind = edge.taken ? "taken" : "";
      const y1 = place.get(edge.source) + height / 2 + 4 * side, y2 = place.get(edge.target) + height / 2 - 4 * side;
      const middle = (y1 + y2) / 2 + ((rank % 3) - 1) * 17;
      box.append(drawn("path", { class: kind, d: `M${x} ${y1} C${reach + side * 9} ${y1} ${reach + side * 9} ${y2} ${x} ${y2}` }),
        drawn("text", { class: `words ${kind}`, x: reach + side * 4, y: middle + 3, "text-anchor": side > 0 ? "start" : "end" }, label(edge)));
    });
  }
  for (const [name, y] of place) {
    const taken = edges.some((edge) => edge.taken && (edge.source === name || edge.target === name));
    box.append(drawn("rect", { class: taken ? "taken" : "", x: left, y, width, height, rx: name.startsWith("__") ? 14 : 5 }),
      drawn("text", { x: left + width / 2, y: y + 18, "text-anchor": "middle" }, name.replaceAll("__", "")));
  }
  return box;
}

document.addEventListener("DOMContentLoaded", () => {
  const user = document.getElementById("user");
  user.value = state.user;
  user.addEventListener("change", () => {
    state.user = user.value.trim();
    history.replaceState(null, "", `${state.user ? `?user=${encodeURIComponent(state.user)}` : location.pathname}${location.hash}`);
    listThreads();
    showThread();
  });
  document.getElementById("refresh").addEventListener("click", () => { listThreads(); showThread(); });
  addEventListener("hashchange", () => open(decodeURIComponent(location.hash.slice(1))));
  listThreads();
  showThread();
});
