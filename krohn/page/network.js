"use strict";
// The network of a file and the Program that it states, run on a word that somebody types.
// Numbers are doubles: the weights are those of the file, sums may round otherwise.

const net = JSON.parse(document.getElementById("data").textContent);
const channels = new Map(net.channels.map((channel) => [channel.name, channel]));
const bos = net.letters.length;

// The network, as network/meaning/forward.py says it.

function tensor({ shape, bytes }) {
  const raw = Uint8Array.from(atob(bytes), (sign) => sign.charCodeAt(0));
  const Numbers = net.bytes === 4 ? Float32Array : Float64Array;
  return { shape, values: Float64Array.from(new Numbers(raw.buffer)) };
}

const tensors = Object.fromEntries(
  Object.entries(net.tensors).map(([name, each]) => [name, tensor(each)]));

// Rows x (n, d) times part number `part` of a tensor (…, d, k), and a bias.
function times(x, n, weight, part = 0, bias = null) {
  const [d, k] = weight.shape.slice(-2);
  const from = part * d * k;
  const out = new Float64Array(n * k);
  for (let i = 0; i < n; i++) {
    if (bias) out.set(bias.values, i * k);
    for (let j = 0; j < d; j++) {
      const entry = x[i * d + j];
      if (entry === 0) continue;
      for (let c = 0; c < k; c++) out[i * k + c] += entry * weight.values[from + j * k + c];
    }
  }
  return out;
}

const units = { relu: (x) => Math.max(x, 0), sine: Math.sin };

function attend(at, head, x, n) {
  const [query, key, value, out] = ["query", "key", "value", "out"].map(
    (name) => tensors[`${at}.attention.${name}`]);
  const k = query.shape[2], v = value.shape[2];
  const [q, s, c] = [query, key, value].map((each) => times(x, n, each, head));
  const pattern = [], mixed = new Float64Array(n * v);
  for (let i = 0; i < n; i++) {
    const scores = [];
    for (let j = 0; j <= i; j++) {
      let score = 0;
      for (let a = 0; a < k; a++) score += q[i * k + a] * s[j * k + a];
      scores.push(score);
    }
    const most = Math.max(...scores);
    const weights = scores.map((score) => Math.exp(score - most));
    const total = weights.reduce((a, b) => a + b, 0);
    pattern.push(weights.map((weight) => weight / total));
    for (let j = 0; j <= i; j++)
      for (let a = 0; a < v; a++) mixed[i * v + a] += pattern[i][j] * c[j * v + a];
  }
  return [pattern, times(mixed, n, out, head)];
}

function mlp(b, block, x, n) {
  const at = `blocks.${b}.mlp`, mask = tensors[`${at}.residual`];
  const kept = mask ? x.map((entry, i) => entry * mask.values[i % net.width]) : x.slice();
  if (!block.units.length) return kept;
  let h = x;
  for (let j = 0; j <= block.units.length; j++) {
    h = times(h, n, tensors[`${at}.${j}.weight`], 0, tensors[`${at}.${j}.bias`]);
    if (j < block.units.length) {
      const runs = block.units[j].flatMap(([name, count]) => Array(count).fill(units[name]));
      h = h.map((entry, i) => runs[i % runs.length](entry));
    }
  }
  return kept.map((entry, i) => entry + h[i]);
}

// A variable is given a value where it is born: its code is written into its dimensions.
function write(stream, patch) {
  const { dims: [from, to], code } = channels.get(patch.name);
  const at = patch.position * net.width;
  for (let i = from; i < to; i++)
    stream[at + i] = code === "integer" ? patch.value : Number(i - from === patch.value);
}

function read(stream, channel, position) {
  const { dims: [from, to], code } = channel;
  const at = position * net.width, numbers = Array.from(stream.slice(at + from, at + to));
  const value = code === "integer" ? Math.round(numbers[0]) : numbers.indexOf(Math.max(...numbers));
  return { value, numbers };
}

function runNetwork(word, patch = null) {
  const tokens = [bos, ...word], n = tokens.length, d = net.width;
  const embed = tensors["embed.token"].values, where = tensors["embed.position"].values;
  let x = new Float64Array(n * d);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < d; j++) x[i * d + j] = embed[tokens[i] * d + j] + where[i * d + j];
  const streams = [], patterns = [];
  const keep = () => {
    if (patch && channels.get(patch.name).born === streams.length) write(x, patch);
    streams.push(x);
  };
  keep();
  net.blocks.forEach((block, b) => {
    const heads = [];
    let sum = x.slice();
    for (let head = 0; head < block.heads; head++) {
      const [pattern, added] = attend(`blocks.${b}`, head, x, n);
      heads.push(pattern);
      sum = sum.map((entry, i) => entry + added[i]);
    }
    patterns.push(heads);
    x = sum;
    keep();
    x = mlp(b, block, x, n);
    keep();
  });
  const said = times(x, n, tensors["unembed.weight"], 0, tensors["unembed.bias"]);
  const classes = net.classes.length;
  const logits = Array.from({ length: n - 1 }, (_, t) =>
    Array.from(said.slice((t + 1) * classes, (t + 2) * classes)));
  return { streams, patterns, logits };
}

// The largest logit, and how far it is above the next; -1 if two are the largest.
function choose(logits) {
  const most = Math.max(...logits), answer = logits.indexOf(most);
  const others = logits.filter((_, i) => i !== answer);
  const margin = others.length ? most - Math.max(...others) : Infinity;
  return { answer: margin > 0 ? answer : -1, margin };
}

// The Program, as program/interpreter.py and program/intervention.py say it.

function last(holds, n) {
  const at = [];
  for (let t = 0; t < n; t++) at.push(holds(t) ? t : t ? at[t - 1] : 0);
  return at;
}

const sums = (terms) => {
  let total = 0;
  return terms.map((term) => (total += term));
};

// For each operation that looks back, the position that it fetches from, for each t.
const positions = {
  "shift": (c, n) => (t) => Math.max(t - c.by, 0),
  "shift-by": (c, n, [by]) => (t) => Math.max(t - by[t], 0),
  "latest": (c, n, [where]) => { const at = last((t) => where[t] === 1, n); return (t) => at[t]; },
  "earliest": (c, n, [where]) => {
    const first = where.findIndex((flag, t) => flag === 1 && t > 0);
    return (t) => (first > 0 && first <= t ? first : 0);
  },
  "sibling-latest": (c, n, [where]) => {
    const at = last((t) => where[t] === 1, n);
    return (t) => {
      const block = t >> c.level, found = at[Math.max((block << c.level) - 1, 0)];
      return block % 2 === 1 && found >> c.level === block - 1 ? found : 0;
    };
  },
  "latest-match": (c, n, [keys, queries]) => (t) => {
    for (let j = t; j > 0; j--) if (keys[j] === queries[t]) return j;
    return 0;
  },
  "at": (c, n, digits) => (t) => {
    const x = digits.reduce((sum, digit, b) => sum + digit[t] * 2 ** b, 0);
    return x <= t ? x : 0;
  },
};

function evaluate(channel, reads, tokens, undefinedAt) {
  const n = tokens.length, all = tokens.map((_, t) => t), op = channel.op;
  if (op === "token") return tokens;
  if (op === "position") return all.map((t) => channel.values[t]);
  if (op === "table") {
    channel.rows ??= new Map(channel.table.map((row) => [row.slice(0, -1).join(), row.at(-1)]));
    return all.map((t) => {
      const row = reads.map((each) => each[t]).join();
      if (!channel.rows.has(row)) undefinedAt(t);
      return channel.rows.get(row) ?? channel.table[0].at(-1);
    });
  }
  if (op === "select") return all.map((t) => reads[1 + reads[0][t]][t]);
  if (op === "sum") return all.map((t) => reads.reduce((sum, each) => sum + each[t], 0));
  if (op === "prefix-sum") return sums(reads[0]);
  if (op === "marked-sum") return sums(reads[0].map((term, t) => term * reads[1][t]));
  if (op === "block-sum") {
    const total = sums(reads[0]);
    return all.map((t) => {
      const block = reads[1][t], end = Math.min(block * channel.size, t);
      return total[end] - total[Math.min(Math.max(block - 1, 0) * channel.size, t)];
    });
  }
  const at = positions[op](channel, n, reads.slice(1));
  return all.map((t) => reads[0][at(t)]);
}

function runProgram(word, patch = null) {
  const tokens = [bos, ...word], n = tokens.length;
  const values = {}, own = {}, touched = new Set();
  const defined = Array(n).fill(true), undefinedAt = (t) => (defined[t] = false);
  // Every channel has a value of its domain, or the prediction ends.
  const within = (channel, found) => found.map((value, t) => {
    if (t === 0 ? value === channel.bos : channel.domain.includes(value)) return value;
    undefinedAt(t);
    return t === 0 ? channel.bos : channel.domain[0];
  });
  const computed = (channel, snapshot) => within(channel, evaluate(
    channel, channel.reads.map((name) => readAt(name, snapshot)), tokens, undefinedAt));
  const readAt = (name, snapshot) => {
    const channel = channels.get(name);
    if (!touched.has(name)) return values[name];
    if (channel.born < 0) return computed(channel, snapshot); // whoever reads it computes it
    return channel.born < snapshot ? values[name] : own[name];
  };
  for (const channel of channels.values()) {
    const { name } = channel, patched = patch && patch.name === name;
    if (patched || channel.reads.some((each) => touched.has(each))) touched.add(name);
    own[name] = computed(channel, channel.born < 0 ? Infinity : channel.born);
    values[name] = own[name].slice();
    if (patched) values[name][patch.position] = patch.value;
  }
  for (const { letters, known } of net.channels) {
    if (!known || !patch || !letters.includes(patch.name)) continue;
    const rows = new Set(known.map((row) => row.join()));
    for (let t = 1; t < n; t++)
      if (!rows.has(letters.map((name) => values[name][t]).join())) undefinedAt(t);
  }
  const end = defined.indexOf(false), decode = new Map(net.decode.map(([row, q]) => [row.join(), q]));
  const answers = word.map((_, i) => {
    const row = net.outputs.map((name) => values[name][i + 1]).join();
    return end >= 0 && end <= i + 1 ? -1 : decode.get(row) ?? -1;
  });
  return { values, answers, end: end < 0 ? n : end };
}

// What is shown. Names come from a file: they are text, and never HTML.

const $ = (id) => document.getElementById(id);
const show = { word: [], patch: null, head: [0, 0], cell: null };

function element(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.onclick = value;
    else made.setAttribute(name, value);
  }
  return made;
}

const answerName = (answer) => (answer < 0 ? "–" : net.classes[answer]);
const nameOf = ({ name }, value) => `value ${value}` + (net.names[name][value] ? ` → ${net.names[name][value]}` : "");
const short = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(4))) : "∞");

function table(id, head, rows) {
  const made = element("table"), top = element("tr");
  head.forEach((cell) => top.append(element("th", cell)));
  made.append(top);
  for (const [name, cells, title] of rows) {
    const row = element("tr");
    row.append(element("th", name, { scope: "row", title: title ?? name }));
    row.append(...cells);
    made.append(row);
  }
  $(id).replaceChildren(made);
}

function drawAnswers(run, said, before) {
  const chosen = run.logits.map(choose);
  const cells = (texts, wrong) =>
    texts.map((text, i) => element("td", text, wrong?.[i] ? { class: "differs" } : {}));
  const differs = chosen.map(({ answer }, i) => said.answers[i] >= 0 && answer !== said.answers[i]);
  table("answers", ["letter", ...show.word.map((letter) => net.letters[letter])], [
    ["the network says", cells(chosen.map(({ answer }) => answerName(answer)), differs)],
    [show.patch ? "predicted" : "the Program says", cells(said.answers.map(answerName))],
    ...(before ? [["before the change", cells(before.logits.map((row) => answerName(choose(row).answer)))]] : []),
    ["margin", cells(chosen.map(({ margin }) => short(margin)))],
  ]);
}

function writer({ born }) {
  if (born === 0) return "the embedding";
  return `the ${born % 2 ? "heads" : "MLP"} of block ${Math.floor((born - 1) / 2)}`;
}

const span = ([from, to]) =>
  to === from + 1 ? `dimension ${from}` : `dimensions ${from} to ${to - 1}`;

function drawVariables(run, said) {
  const rows = net.channels.filter((channel) => channel.born >= 0).map((channel) => [
    channel.name,
    [...[0, ...show.word.map((_, i) => i + 1)].map((t) => {
      const { value, numbers } = read(run.streams[channel.born], channel, t);
      const wanted = t < said.end ? said.values[channel.name][t] : null;
      const patched = show.patch?.name === channel.name && show.patch.position === t;
      const cell = element("td", String(value), {
        title: `${net.named[channel.name]}: ${nameOf(channel, value)}\nin the stream: ${numbers.map(short).join(" ")}\nthe Program: ${wanted ?? "not defined"}`,
      });
      if (wanted !== null && value !== wanted) cell.className = "differs";
      if (patched) cell.className = "patched";
      if (t > 0) {
        cell.tabIndex = 0;
        cell.onclick = () => {
          show.cell = { channel, t, value };
          draw();
          $("patch").scrollIntoView({ block: "nearest" });
        };
        cell.onkeydown = (event) => { if (event.key === "Enter") cell.onclick(); };
      }
      return cell;
    }), element("td", channel.says, { class: "says" })],
    `written by ${writer(channel)}, in ${span(channel.dims)}`,
  ]);
  table("variables", ["variable", "BOS", ...show.word.map((letter) => net.letters[letter]), "what it holds"], rows);
}

function drawPatch() {
  const at = $("patch");
  at.replaceChildren();
  if (show.patch) {
    const { name, position, value } = show.patch;
    at.append(element("span", `${name} = ${value} after letter ${position}. `),
      element("button", "undo", { onclick: () => { show.patch = null; draw(); } }));
  }
  if (!show.cell) return;
  const { channel, t } = show.cell;
  at.append(element("span", ` ${channel.name} after letter ${t}: give it another value (${net.named[channel.name]}) `));
  for (const value of channel.domain.slice(0, 40))
    at.append(element("button", nameOf(channel, value), {
      onclick: () => { show.patch = { name: channel.name, position: t, value }; show.cell = null; draw(); },
    }));
}

function drawHeads(run) {
  const pictures = [];
  const colour = getComputedStyle(document.documentElement).getPropertyValue("--lead").trim();
  run.patterns.forEach((heads, b) => heads.forEach((pattern, h) => {
    const n = pattern.length, canvas = element("canvas", "", { width: n, height: n, class: "pixels" });
    const pixels = canvas.getContext("2d");
    pixels.fillStyle = colour;
    pattern.forEach((weights, i) => weights.forEach((weight, j) => {
      pixels.globalAlpha = Math.sqrt(weight);
      pixels.fillRect(j, i, 1, 1);
    }));
    const carries = net.channels.filter((c) => c.born === 2 * b + 1 && c.head === h).map((c) => c.name);
    const label = `block ${b}, head ${h}: ${carries.join(", ") || "–"}`;
    const chosen = show.head[0] === b && show.head[1] === h;
    const button = element("button", "", {
      class: chosen ? "head chosen" : "head", "aria-label": label,
      onclick: () => { show.head = [b, h]; draw(); },
    });
    button.append(canvas, element("span", label));
    pictures.push(button);
  }));
  $("heads").replaceChildren(...pictures);
  const [b, h] = show.head, pattern = run.patterns[b]?.[h];
  if (!pattern) return;
  const names = ["BOS", ...show.word.map((letter) => net.letters[letter])];
  table("pattern", [`from ↓ to →`, ...names], pattern.map((weights, i) => [
    names[i],
    names.map((_, j) => {
      const weight = weights[j] ?? 0;
      return element("td", j > i ? "" : weight.toFixed(2), {
        style: `background: color-mix(in srgb, var(--lead) ${(60 * Math.sqrt(weight)).toFixed(1)}%, transparent)`,
      });
    }),
  ]));
}

function draw() {
  const run = runNetwork(show.word, show.patch), said = runProgram(show.word, show.patch);
  drawAnswers(run, said, show.patch && runNetwork(show.word));
  drawVariables(run, said);
  drawPatch();
  drawHeads(run);
}

// Letters by name with blanks between them, or one sign each; null if one is none.
function parseWord(text) {
  const parts = text.trim().split(/[\s,]+/).filter((part) => part);
  const find = (names) => names.map((name) => net.letters.indexOf(name));
  let found = parts.map((part) => net.written.indexOf(part));
  if (found.includes(-1)) found = find(parts);
  if (found.includes(-1)) found = find(Array.from(parts.join("")));
  return found.includes(-1) ? null : found;
}

function unknownLetter(text) {
  const parts = text.trim().split(/[\s,]+/);
  return parts.find((part) => !net.written.includes(part) && !net.letters.includes(part));
}

let pause = 0;

function writeWord() {
  $("word").value = show.word.map((letter) => net.written[letter]).join(" ");
}

// While somebody types, the text stays as it is.
function take(word, typing = false) {
  clearTimeout(pause);
  const problem = word === null
    ? `The machine does not have the letter ${unknownLetter($("word").value)}; below is the last word.`
    : word.length > net.length ? `The network is for words of up to ${net.length} letters; below is the last word.` : "";
  $("problem").textContent = problem;
  if (problem) return;
  Object.assign(show, { word, patch: null, cell: null });
  if (!typing) writeWord();
  draw();
}


net.letters.slice(0, 40).forEach((letter, i) =>
  $("letters").append(element("button", letter, { onclick: () => take([...show.word, i]) })));
$("letters").append(
  element("button", "⌫", { "aria-label": "remove the last letter", onclick: () => take(show.word.slice(0, -1)) }),
  element("button", "random", {
    onclick: () => take(Array.from({ length: Math.min(net.length, 12) },
      () => Math.floor(Math.random() * net.letters.length))),
  }));
// A pause ends a word. Who then leaves the text to choose a value finds the table as it was.
$("word").oninput = () => {
  clearTimeout(pause);
  pause = setTimeout(() => take(parseWord($("word").value), true), 200);
};
$("word").onchange = () => {
  const word = parseWord($("word").value);
  if (String(word) === String(show.word) && !$("problem").textContent) writeWord();
  else take(word);
};
take(net.first);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
