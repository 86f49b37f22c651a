// A graph as a column of its nodes, in the order they were added, with its edges beside it.
//
// An edge to the next node runs down the column; the others go around it, onward ones on the right, those back on the left.
// Each has a port of its own on a node's side and a place of its own beside it, so that no word lies on a line or another word.

import { plain } from "/rungs/text.js";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 58, WIDTH = 132, HEIGHT = 28, GAP = 12, LINE = 12;

function drawn(tag, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = plain(text);
  return made;
}

const pen = document.createElement("canvas").getContext("2d");

function wide(lines) {
  pen.font = "600 10px system-ui, sans-serif";
  return Math.ceil(Math.max(...lines.map((line) => pen.measureText(plain(line)).width))) + 4;
}

/** Return a text in two lines of about one length, or in one where it is short. */
function halved(text) {
  const spaces = [...text.matchAll(/ /g)].map((found) => found.index);
  if (text.length <= 8 || !spaces.length) return [text];
  const uneven = (place) => Math.abs(text.length - 2 * place);
  const cut = spaces.reduce((one, other) => (uneven(other) < uneven(one) ? other : one));
  return [text.slice(0, cut), text.slice(cut + 1)];
}

function written({ kind, x, y, anchor, lines }) {
  const text = drawn("text", { class: `words ${kind}`, "text-anchor": anchor });
  const top = y + 4 - (LINE * (lines.length - 1)) / 2;
  text.append(...lines.map((line, place) => drawn("tspan", { x, y: top + LINE * place }, place + 1 < lines.length ? `${line} ` : line)));
  return text;
}

/** Return the drawing; the nodes' column begins at 0, and what is left of it is below 0. */
export function draw({ nodes, edges }) {
  const row = new Map(nodes.map((name, place) => [name, 12 + place * STEP]));
  const jobs = edges.map(({ source, target, words, taken }) => ({
    from: row.get(source), to: row.get(target), kind: taken ? "taken" : "",
    text: `${words.join(", ")}${taken > 1 ? ` \u00d7${taken}` : ""}` }));
  const next = jobs.filter((edge) => edge.to - edge.from === STEP).map(straight);
  const onward = around(jobs.filter((edge) => edge.to - edge.from > STEP), next);
  const back = around(jobs.filter((edge) => edge.to <= edge.from), []).map(mirrored);
  const placed = [...next, ...onward, ...back];
  const right = Math.max(WIDTH, ...placed.map((edge) => edge.right)) + 4, left = Math.min(0, ...placed.map((edge) => edge.left)) - 4;
  const height = nodes.length * STEP;
  const svg = drawn("svg", { class: "drawing", width: right - left, height, viewBox: `${left} 0 ${right - left} ${height}`,
    role: "img", "aria-label": "the path through the graph" });
  const lit = [...placed].sort((one, other) => one.kind.length - other.kind.length);  // what was taken lies on top
  svg.append(...lit.map((edge) => drawn("path", { class: edge.kind, d: edge.d })));
  svg.append(...placed.filter((edge) => edge.text).map(written));
  for (const [name, y] of row) {
    const taken = edges.some((edge) => edge.taken && (edge.source === name || edge.target === name));
    svg.append(drawn("rect", { class: taken ? "taken" : "", x: 0, y, width: WIDTH, height: HEIGHT, rx: name.startsWith("__") ? 14 : 5 }),
      drawn("text", { x: WIDTH / 2, y: y + 18, "text-anchor": "middle" }, name.replaceAll("__", "")));
  }
  return svg;
}

function straight(edge) {
  const y = edge.from + (STEP + HEIGHT) / 2, x = WIDTH / 2 + 6;
  const lines = [edge.text], d = `M${WIDTH / 2} ${edge.from + HEIGHT} V${edge.to}`;
  return { ...edge, d, x, y, lines, anchor: "start", left: 0, right: x + wide(lines) };
}

/** Place edges that go around, as if on the right: short ones innermost, each beside the lines and words within it. */
function around(edges, within) {
  const sorted = ports([...edges].sort((one, other) => length(one) - length(other)));
  const words = within.filter((edge) => edge.text).map(({ y, right }) => ({ top: y - LINE / 2, bottom: y + LINE / 2, right }));
  return sorted.map((edge, place) => {
    const outer = sorted.slice(place + 1), inner = sorted.slice(0, place);
    let lane = WIDTH + GAP;
    for (const other of inner) if (meet(edge, other, 3)) lane = Math.max(lane, other.lane + GAP);
    for (const word of words) if (meet(edge, word, 3)) lane = Math.max(lane, word.right + 4);
    const lines = halved(edge.text), half = (LINE * lines.length) / 2;
    const y = quiet(edge, half, outer, words, lane + 4), right = lane + 4 + (edge.text ? wide(lines) : 0);
    if (edge.text) words.push({ top: y - half, bottom: y + half, right });
    const turn = Math.min(6, (edge.bottom - edge.top) / 2), way = edge.y2 < edge.y1 ? -turn : turn;
    edge.lane = lane;
    const d = `M${WIDTH} ${edge.y1} H${lane - turn} Q${lane} ${edge.y1} ${lane} ${edge.y1 + way} ` +
      `V${edge.y2 - way} Q${lane} ${edge.y2} ${lane - turn} ${edge.y2} H${WIDTH}`;
    return { ...edge, d, x: lane + 4, y, lines, anchor: "start", left: 0, right };
  });
}

function meet(one, other, room) {
  return one.top < other.bottom + room && other.top < one.bottom + room;
}

function length(edge) {
  return Math.abs(edge.to - edge.from);
}

/** Give each end of each edge a height of its own on its node, in an order in which lines cross least. */
function ports(edges) {
  const ends = new Map();
  edges.forEach((edge, place) => {
    for (const [end, at, other] of [["y1", edge.from, edge.to], ["y2", edge.to, edge.from]]) {
      const up = other < at || (other === at && end === "y2");
      if (!ends.has(at)) ends.set(at, []);
      ends.get(at).push({ edge, end, order: up ? place - edges.length : edges.length - place });
    }
  });
  for (const [at, here] of ends) {
    here.sort((one, other) => one.order - other.order);
    here.forEach(({ edge, end }, place) => { edge[end] = at + (HEIGHT * (place + 1)) / (here.length + 1); });
  }
  for (const edge of edges) Object.assign(edge, { top: Math.min(edge.y1, edge.y2), bottom: Math.max(edge.y1, edge.y2) });
  return edges;
}

/** Return the height for an edge's word that lies on nothing, and beside which the fewest longer edges pass. */
function quiet(edge, half, outer, words, x) {
  const middle = (edge.top + edge.bottom) / 2;
  const loop = length(edge) === 0 ? 14 : -half;  // a node's edge to itself is shorter than its word is high
  let best = middle, least = Infinity;
  for (let y = edge.top - loop; y <= edge.bottom + loop; y += 1) {
    const box = { top: y - half, bottom: y + half };
    let cost = Math.abs(y - middle) / 1000;
    for (const other of outer) {
      if (meet(box, other, 4)) cost += 1;
      for (const port of [other.y1, other.y2]) if (meet(box, { top: port, bottom: port }, 2)) cost += 100;
    }
    for (const word of words) if (meet(box, word, 1) && word.right > x) cost += 100;
    if (cost < least) [best, least] = [y, cost];
  }
  return best;
}

function mirrored(edge) {
  const d = edge.d.replace(/([MHQ])([^A-Z]+)/g, (_, command, numbers) => command + numbers.trim().split(" ").map(Number)
    .map((number, place) => (place % 2 ? number : WIDTH - number)).join(" ") + " ");
  return { ...edge, d, x: WIDTH - edge.x, anchor: "end", left: WIDTH - edge.right, right: WIDTH };
}
