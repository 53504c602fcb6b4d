/* The pieces every view is made of. Nodes are built, never parsed from text: an answer of a hostile
   target is only ever text here. */
function h(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || (value === false && !name.startsWith("aria-")))
      continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
  }
  node.append(
    ...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}
const mark = (k) => h("span", { class: "mk " + k, title: KINDS[k].word }, KINDS[k].mark);
const badge = (k, words) =>
  h("span", { class: "badge " + k }, h("i", {}, KINDS[k].mark), words || KINDS[k].word);
const tag = (words, kind) => h("span", { class: "tag " + (kind || "") }, words);
const oracleTag = (t) =>
  t.oracle
    ? [
        tag(live(t) ? "live" : "recorded", live(t) ? "live" : "recorded"),
        h("span", { class: "mono soft", title: t.oracle }, oracleName(t)),
      ]
    : h("span", { class: "faint" }, "no oracle");
const head = (...names) =>
  h(
    "thead",
    {},
    h(
      "tr",
      {},
      names.map((n) => (typeof n === "string" ? h("th", {}, n) : n)),
    ),
  );
const numeric = (name) => h("th", { class: "n" }, name);
const card = (...nodes) => h("div", { class: "card" }, nodes);
const title = (words, small) => h("h2", {}, words, small ? h("small", {}, small) : null);
const empty = (first, second) => h("div", { class: "card empty" }, h("b", {}, first), second);

function pathNode(path, step) {
  const cut = path.search(/[^.[\]]+(\[\d+\])?$/);
  const at = cut < 0 ? 0 : cut;
  return h(
    "span",
    { class: "path" },
    step ? h("span", { class: "soft" }, step + " › ") : null,
    path.slice(0, at),
    h("b", {}, path.slice(at) || "(whole answer)"),
  );
}

function bar(target) {
  const parts = COUNTS.map((name) => [CODE_OF[name], target[name], name]).concat([
    ["N", target.not_run || 0, "not run"],
  ]);
  return h(
    "div",
    {
      class: "bar",
      role: "img",
      "aria-label": parts
        .filter((p) => p[1])
        .map((p) => p[1] + " " + p[2])
        .join(", "),
    },
    parts
      .filter((p) => p[1])
      .map((p) => h("span", { class: p[0], style: "flex:" + p[1], title: num(p[1]) + " " + p[2] })),
  );
}

function statusBadge(target) {
  const s = STATUS[target.status];
  const words =
    target.status === "diverges"
      ? num(target.diverges) + " diverge" + (target.diverges === 1 ? "s" : "")
      : target.status === "broken"
        ? num(target.broken) + " broken"
        : s.word;
  return badge(s.code, words);
}

/* A cell of a matrix: the number of cases, or the mark and the count of the worst verdict. What a
   target proves not to support is no fault: such a cell keeps its calm colour, with its mark. */
function cell(n, onclick, full) {
  const k = n ? worst(n) : ".";
  if (k === ".") return h("td", { class: "cell none", title: "no case" }, "·");
  const all = total(n),
    fine = (n.C || 0) + (n.K || 0);
  const words = Object.keys(n)
    .sort()
    .map((x) => num(n[x]) + " " + KINDS[x].word)
    .join(", ");
  const show =
    k === "C"
      ? num(all)
      : !full || n[k] === all
        ? KINDS[k].mark + (full && k !== "U" ? " " + num(all) : "")
        : [KINDS[k].mark + " " + num(n[k]), h("small", {}, "/" + num(all))];
  return h(
    "td",
    {
      class: "cell " + (k === "U" && fine ? "C" : k),
      tabindex: onclick ? 0 : null,
      title: words,
      onclick,
      onkeydown: onclick ? (e) => e.key === "Enter" && onclick() : null,
    },
    k === "C" && !full ? "✓" : show,
  );
}

function columnHeads(names) {
  const tall = names.length > 8;
  const widths = h(
    "colgroup",
    {},
    h("col", {}),
    names.map(() => h("col", { class: tall ? "thin" : "wide" })),
  );
  return { tall, widths, cells: names.map((n) => h("th", { class: "col" }, h("span", {}, n))) };
}

const STATE = {
  kinds: new Set(["B", "D"]),
  target: -1,
  shown: 200,
  closed: new Set(),
  run: 0,
};

function paged(rows, draw, step = 200) {
  const box = h("div", {});
  const paint = () => {
    box.replaceChildren(draw(rows.slice(0, STATE.shown)));
    if (rows.length > STATE.shown)
      box.append(
        h(
          "button",
          {
            class: "more",
            onclick: () => {
              STATE.shown += step * 5;
              paint();
            },
          },
          "Show more of " + num(rows.length),
        ),
      );
  };
  paint();
  return box;
}

function targetPicker() {
  return h(
    "select",
    {
      "aria-label": "Target",
      onchange: (e) => {
        STATE.target = +e.target.value;
        draw();
      },
    },
    h("option", { value: -1 }, "all targets"),
    T.map((t, i) => h("option", { value: i, selected: STATE.target === i }, t.target)),
  );
}

const legend = () =>
  h(
    "div",
    { class: "chips" },
    "CKDIUB".split("").map((k) => badge(k)),
    h("span", { class: "faint" }, "· no case"),
  );

function trackNode(track) {
  return h(
    "span",
    { class: "track", title: "oldest run left, newest right: " + track },
    track
      .split("")
      .map((k) =>
        h(
          "span",
          { class: KINDS[k].mark ? k : "none", title: KINDS[k].word },
          KINDS[k].mark || (k === "-" ? "·" : " "),
        ),
      ),
  );
}

/* What a list does not show, in words; nothing where it shows all. */
const more = (n, noun) =>
  n > 0 ? " and " + num(n) + " more" + (noun ? " " + noun + (n === 1 ? "" : "s") : "") : null;
const note = (words) => (words ? h("p", { class: "soft" }, words) : null);
