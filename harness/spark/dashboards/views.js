/* One function per tab: it returns nodes for the current filter. Nodes are built, never parsed from
   text: an answer of a hostile target is only ever text here. */
function h(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || (value === false && !name.startsWith("aria-"))) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}
const mark = (k) => h("span", { class: "mk " + k, title: KINDS[k].word }, KINDS[k].mark);
const badge = (k, words) => h("span", { class: "badge " + k }, h("i", {}, KINDS[k].mark), words || KINDS[k].word);
const tag = (words, kind) => h("span", { class: "tag " + (kind || "") }, words);
const oracleTag = (t) => (t.oracle ? [tag(live(t) ? "live" : "recorded", live(t) ? "live" : "recorded"), h("span", { class: "mono soft", title: t.oracle }, oracleName(t))] : h("span", { class: "faint" }, "no oracle"));
const head = (...names) => h("thead", {}, h("tr", {}, names.map((n) => (typeof n === "string" ? h("th", {}, n) : n))));
const numeric = (name) => h("th", { class: "n" }, name);
const card = (...nodes) => h("div", { class: "card" }, nodes);
const title = (words, small) => h("h2", {}, words, small ? h("small", {}, small) : null);
const empty = (first, second) => h("div", { class: "card empty" }, h("b", {}, first), second);

function pathNode(path, step) {
  const cut = path.search(/[^.[\]]+(\[\d+\])?$/);
  const at = cut < 0 ? 0 : cut;
  return h("span", { class: "path" }, step ? h("span", { class: "soft" }, step + " › ") : null, path.slice(0, at), h("b", {}, path.slice(at) || "(whole answer)"));
}

function bar(target) {
  const parts = COUNTS.map((name) => [CODE_OF[name], target[name], name]).concat([["N", target.not_run || 0, "not run"]]);
  return h("div", { class: "bar", role: "img", "aria-label": parts.filter((p) => p[1]).map((p) => p[1] + " " + p[2]).join(", ") },
    parts.filter((p) => p[1]).map((p) => h("span", { class: p[0], style: "flex:" + p[1], title: num(p[1]) + " " + p[2] })));
}

function statusBadge(target) {
  const s = STATUS[target.status];
  const words = target.status === "diverges" ? num(target.diverges) + " diverge" + (target.diverges === 1 ? "s" : "") : target.status === "broken" ? num(target.broken) + " broken" : s.word;
  return badge(s.code, words);
}

function targetsTable() {
  const columns = COUNTS.concat(["not_run"]);
  const shown = columns.filter((name) => ["conforms", "diverges", "not_run"].includes(name) || T.some((t) => t[name]));
  return card(h("table", {},
    head("Verdict", "Target", "Judged by", "", numeric("cases"), ...shown.map((n) => numeric(n.replace("_", " "))), numeric("time"), "Run"),
    h("tbody", {}, T.map((t, i) => h("tr", { class: "go", tabindex: 0, onclick: () => openRun(i), onkeydown: (e) => e.key === "Enter" && openRun(i) },
      h("td", {}, statusBadge(t)),
      h("td", { class: "mono" }, t.target),
      h("td", {}, oracleTag(t)),
      h("td", {}, bar(t)),
      h("td", { class: "n" }, num(t.cases)),
      shown.map((n) => h("td", { class: "n " + (t[n] ? CODE_OF[n] || "I" : "zero") }, t[n] ? num(t[n]) : "·")),
      h("td", { class: "n soft" }, seconds(t.us)),
      h("td", { class: "soft mono" }, t.run))))));
}

/* A cell of a matrix: the number of cases, or the worst verdict's mark and count of how many. What a target proves not to support is
   no fault: such a cell keeps its calm colour and says so with its mark. */
function cell(n, onclick, full) {
  const k = n ? worst(n) : ".";
  if (k === ".") return h("td", { class: "cell none", title: "not run" }, "·");
  const all = total(n), fine = (n.C || 0) + (n.K || 0);
  const words = Object.keys(n).sort().map((x) => num(n[x]) + " " + KINDS[x].word).join(", ");
  const show = k === "C" ? num(all) : !full || n[k] === all ? KINDS[k].mark + (full && k !== "U" ? " " + num(all) : "") : [KINDS[k].mark + " " + num(n[k]), h("small", {}, "/" + num(all))];
  return h("td", { class: "cell " + (k === "U" && fine ? "C" : k), tabindex: onclick ? 0 : null, title: words, onclick, onkeydown: onclick ? (e) => e.key === "Enter" && onclick() : null }, k === "C" && !full ? "✓" : show);
}

function columnHeads(names) {
  const tall = names.length > 8;
  const widths = h("colgroup", {}, h("col", {}), names.map(() => h("col", { class: tall ? "thin" : "wide" })));
  return { tall, widths, cells: names.map((n) => h("th", { class: "col" }, h("span", {}, n))) };
}

function suiteMatrix() {
  const heads = columnHeads(T.map((t) => t.target));
  const cases = D.suites.map(() => []);
  D.cases.forEach((row, c) => cases[D.claims[row[0]][1]].push(c));
  const rows = D.suites.map((suite, s) => [suite, s]).filter(([, s]) => cases[s].length);
  rows.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return h("div", { class: "card fit" }, h("table", { class: "matrix" + (heads.tall ? " tall" : "") },
    h("thead", {}, h("tr", {}, h("th", {}, "Suite"), heads.cells)),
    h("tbody", {}, rows.map(([suite, s]) => h("tr", {}, h("th", { class: "row mono" }, suite),
      T.map((_, t) => cell(tally(t, cases[s]), () => go("claims", suite), true)))))));
}

function hero() {
  const fine = T.filter((t) => t.status === "conforms").length;
  const sum = (name) => T.reduce((n, t) => n + (t[name] || 0), 0);
  const parts = [[sum("conforms"), "answer as Kafka does", "C"], [sum("diverges"), "diverge", "D"], [sum("known"), "known differences", "K"], [sum("inconclusive"), "inconclusive", "I"], [sum("broken"), "broken in the harness", "B"], [sum("unsupported"), "unsupported, proved", "U"], [sum("not_run"), "planned and not run", "I"]];
  const newest = D.summary.nights[D.summary.nights.length - 1];
  const commits = [...new Set(T.map((t) => t.commit).filter(Boolean))];
  const s = STATUS[D.summary.status];
  return h("div", { class: "hero " + s.code }, h("div", {}, h("strong", {}, fine === T.length ? (T.length === 1 ? "The target conforms" : "All " + T.length + " targets conform") : fine + " of " + plural(T.length, "target") + (fine === 1 ? " conforms" : " conform")),
    h("p", {}, parts.filter((p) => p[0]).map(([n, words, k]) => h("span", { class: "fact" }, h("b", { class: k }, num(n)), " " + words)))),
    h("dl", { class: "facts" }, h("dt", {}, "newest run"), h("dd", { class: "mono" }, newest.run), h("dt", {}, "started"), h("dd", { class: "mono" }, newest.started), commits.length ? [h("dt", {}, "commit"), h("dd", { class: "mono" }, commits.length === 1 ? commits[0].slice(0, 12) : plural(commits.length, "commit"))] : null));
}

function overview() {
  const nodes = [hero()];
  const broken = T.filter((t) => t.incomplete || t.not_run);
  if (broken.length) nodes.push(h("div", { class: "alarm" }, h("b", {}, "Incomplete. "), broken.map((t) => t.target + ": " + (t.incomplete || num(t.not_run) + " of " + num(t.planned) + " planned cases were not run")).join(" · ")));
  nodes.push(title("Targets", "newest run of each; a row opens its run"), targetsTable());
  nodes.push(title("Suites", "cases; a mark stands before the count of its kind"), suiteMatrix());
  const top = topClaims();
  nodes.push(title("Where targets differ", top.length ? null : ""), top.length ? differencesTable(top.slice(0, 12), true) : empty("No differences", "Every judged case answered as Kafka did."));
  if (TO_SEE.length > 12) nodes.push(h("button", { class: "more", onclick: () => go("differences") }, "All " + num(TO_SEE.length) + " cases"));
  if (D.summary.reasons.length) nodes.push(title("Not judged, and why"), reasonsTable());
  return nodes;
}

/* One line per claim: its worst case. */
function topClaims() {
  const seen = new Set();
  return TO_SEE.filter(([t, c]) => caseMatches(t, c) && !seen.has(D.cases[c][0]) && seen.add(D.cases[c][0]));
}

function reasonsTable() {
  return card(h("table", {}, head(numeric("cases"), "Target", "Verdict", "Reason"), h("tbody", {},
    D.summary.reasons.map((r) => h("tr", {}, h("td", { class: "n" }, num(r.cases)), h("td", { class: "mono" }, r.target),
      h("td", {}, badge(CODE_OF[r.verdict.toLowerCase()])), h("td", {}, r.reason))))));
}

function said(t, c) {
  const d = detail(t, c);
  if (!d) return h("span", { class: "faint" }, "evidence left out of the page; see tables/differences");
  if (d.differences.length) {
    const [step, path, oracle, target] = d.differences[0];
    return [pathNode(path || "", step), " ", h("span", { class: "val o clip" }, oracle ?? "absent"), h("span", { class: "faint" }, " → "), h("span", { class: "val t clip" }, target ?? "absent"),
      d.differences.length > 1 ? h("span", { class: "faint" }, " +" + (d.differences.length - 1)) : null];
  }
  if (d.findings.length) return [h("span", { class: "mono soft" }, d.findings[0][0] + " "), d.findings[0][3]];
  return d.reason || "";
}

function differencesTable(rows, byClaim) {
  const others = {};
  if (byClaim) TO_SEE.forEach(([, c]) => { const k = D.cases[c][0]; others[k] = (others[k] || 0) + 1; });
  return card(h("table", {}, head("", byClaim ? "Claim" : "Case", "Target", "Kafka → target"), h("tbody", {}, rows.map(([t, c, k]) =>
    h("tr", { class: "go", tabindex: 0, onclick: () => openCase(t, c), onkeydown: (e) => e.key === "Enter" && openCase(t, c) },
      h("td", {}, mark(k)),
      h("td", {}, h("span", { class: "mono" }, byClaim ? claimOf(c)[0] : caseName(c)), byClaim && others[D.cases[c][0]] > 1 ? h("span", { class: "faint" }, " ×" + num(others[D.cases[c][0]])) : null, byClaim && claimOf(c)[2] ? h("div", { class: "soft" }, claimOf(c)[2]) : null),
      h("td", { class: "mono soft" }, T[t].target),
      h("td", {}, said(t, c)))))));
}

const STATE = { kinds: new Set(["B", "D", "I"]), target: -1, shown: 200, closed: new Set(), run: 0 };

function paged(rows, draw, step = 200) {
  const box = h("div", {});
  const paint = () => {
    box.replaceChildren(draw(rows.slice(0, STATE.shown)));
    if (rows.length > STATE.shown) box.append(h("button", { class: "more", onclick: () => { STATE.shown += step * 5; paint(); } }, "Show more of " + num(rows.length)));
  };
  paint();
  return box;
}

function targetPicker() {
  return h("select", { "aria-label": "Target", onchange: (e) => { STATE.target = +e.target.value; draw(); } },
    h("option", { value: -1 }, "all targets"), T.map((t, i) => h("option", { value: i, selected: STATE.target === i }, t.target)));
}

function differences() {
  const of = { B: 0, D: 0, K: 0, I: 0 };
  const here = TO_SEE.filter(([t, c]) => (STATE.target < 0 || t === STATE.target) && caseMatches(t, c));
  here.forEach((r) => of[r[2]]++);
  const chips = Object.keys(of).map((k) => h("button", { class: "chip", "aria-pressed": STATE.kinds.has(k), onclick: () => { STATE.kinds.has(k) ? STATE.kinds.delete(k) : STATE.kinds.add(k); draw(); } }, mark(k), " " + KINDS[k].word + " " + num(of[k])));
  const rows = here.filter((r) => STATE.kinds.has(r[2]));
  return [h("div", { class: "chips" }, chips, targetPicker(), D.left_out ? h("span", { class: "soft" }, "the evidence of " + plural(D.left_out, "case") + " is only in tables/differences and tables/verdicts") : null),
    rows.length ? paged(rows, (part) => differencesTable(part, false)) : empty("Nothing here", "No case of these kinds matches the filter.")];
}

function claims() {
  const heads = columnHeads(T.map((t) => t.target));
  const groups = D.suites.map((suite, s) => [suite, D.claims.map((row, k) => k).filter((k) => D.claims[k][1] === s && CASES_OF[k].length && claimMatches(k))]).filter((g) => g[1].length);
  groups.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  if (!groups.length) return [empty("No claim matches", "The filter looks at ids, sentences, levels, evidence and APIs.")];
  const bodies = groups.map(([suite, list]) => {
    const closed = STATE.closed.has(suite);
    const sums = T.map((_, t) => list.reduce((n, k) => add(n, tally(t, CASES_OF[k])), {}));
    const top = h("tr", { class: "group", onclick: () => { closed ? STATE.closed.delete(suite) : STATE.closed.add(suite); draw(); } },
      h("th", { class: "row" }, (closed ? "▸ " : "▾ ") + suite, h("span", { class: "soft" }, "  " + plural(list.length, "claim"))),
      sums.map((n) => { const bad = (n.D || 0) + (n.B || 0); return h("td", { class: "cell" + (bad ? " bad" : "") }, total(n) ? (bad ? "✗ " + num(bad) : num(total(n))) : "·"); }));
    return h("tbody", {}, top, closed ? null : list.map((k) => h("tr", {},
      h("th", { class: "row", title: D.claims[k][2] }, h("div", { class: "line" }, h("span", { class: "mono" }, D.claims[k][0].replace(suite + ".", "")), h("span", { class: "say" }, D.claims[k][2] || ""))),
      T.map((_, t) => cell(tally(t, CASES_OF[k]), () => openClaim(k, t), !heads.tall)))));
  });
  return [legend(), h("div", { class: "card stay" }, h("table", { class: "matrix wide" + (heads.tall ? " tall" : "") }, heads.widths,
    h("thead", {}, h("tr", {}, h("th", { class: "row" }, "Claim"), heads.cells)), bodies))];
}

const legend = () => h("div", { class: "chips" }, "CKDIUB".split("").map((k) => badge(k)), h("span", { class: "faint" }, "· not run"));

function apis() {
  const cells = new Map();
  let highest = 0;
  const chosen = STATE.target < 0 ? T.map((_, i) => i) : [STATE.target];
  D.cases.forEach((row, c) => {
    const api = apiOf(c), v = row[3];
    if (api === null || v === null || !caseMatches(null, c)) return;
    if (!cells.has(api)) cells.set(api, new Map());
    const n = cells.get(api);
    if (!n.has(v)) n.set(v, [{}, []]);
    chosen.forEach((t) => { const k = D.codes[t][c]; if (k !== ".") n.get(v)[0][k] = (n.get(v)[0][k] || 0) + 1; });
    n.get(v)[1].push(c);
    highest = Math.max(highest, v);
  });
  const versions = Array.from({ length: highest + 1 }, (_, v) => v);
  const rows = [...cells.keys()].sort();
  return [h("div", { class: "chips" }, targetPicker(), legend().childNodes.length ? [..."CKDIUB"].map((k) => badge(k)) : null),
    rows.length ? h("div", { class: "card fit" }, h("table", { class: "matrix" }, h("thead", {}, h("tr", {}, h("th", { class: "row" }, "API"), versions.map((v) => h("th", { class: "col" }, "v" + v)))),
      h("tbody", {}, rows.map((api) => h("tr", {}, h("th", { class: "row mono" }, api),
        versions.map((v) => { const n = cells.get(api).get(v); return n ? cell(n[0], () => openCases(api + " v" + v, n[1], chosen), true) : h("td", { class: "cell none" }, ""); })))))) : empty("No API matches", "")];
}

function stepRows(list, from) {
  const kinds = ["regressed", "fixed", "changed", "new", "vanished"];
  const rows = list.filter((r) => caseMatches(null, r[from]));
  rows.sort((a, b) => kinds.indexOf(a[from + 3]) - kinds.indexOf(b[from + 3]));
  return rows;
}

function changes() {
  const counts = (list, key) => { const n = {}; list.forEach((r) => { const k = key(r); (n[k] = n[k] || {})[r.kind] = r.cases; }); return n; };
  const kinds = ["regressed", "fixed", "changed", "new", "vanished"];
  const summary = (n, first) => h("div", { class: "card fit" }, h("table", {}, head(first, ...kinds.map(numeric)), h("tbody", {}, Object.entries(n).map(([k, v]) => h("tr", {}, h("td", { class: "mono" }, k), kinds.map((x) => h("td", { class: "n " + (v[x] ? (x === "regressed" ? "D" : x === "fixed" ? "C" : "") : "zero") }, v[x] ? num(v[x]) : "·")))))));
  const list = (rows, from, where) => paged(rows, (part) => card(h("table", {}, head("", "Case", where, "Verdict"), h("tbody", {}, part.map((r) => {
    const c = r[from], t = from === 2 ? r[1] : r[0];
    return h("tr", { class: "go", onclick: () => openCase(t, c) }, h("td", { class: r[from + 3] === "regressed" ? "D" : r[from + 3] === "fixed" ? "C" : "soft" }, r[from + 3]), h("td", { class: "mono" }, caseName(c)),
      h("td", { class: "mono soft" }, from === 2 ? T[r[0]].target + " → " + T[r[1]].target : T[t].target), h("td", {}, mark(r[from + 1]), " → ", mark(r[from + 2]), " ", h("span", { class: "soft" }, KINDS[r[from + 2]].word)));
  })))), 100);
  const steps = stepRows(D.steps, 1), between = stepRows(D.between, 2);
  return [title("Since the run before", "the newest run of each target against its predecessor"),
    steps.length ? [summary(counts(D.summary.changes, (r) => r.target), "Target"), h("p"), list(steps, 1, "Target")] : empty(D.summary.nights.length > 1 ? "No change" : "One run only", D.summary.nights.length > 1 ? "Every case came out as in the run before." : "With two runs or more this shows what changed."),
    title("Between neighbouring releases", "the same case on the release before, newest runs"),
    between.length ? [summary(counts(D.summary.releases, (r) => r.older + " → " + r.newer), "Releases"), h("p"), list(between, 2, "Releases")] : empty("No change", "Neighbouring releases came out alike, or the input has one release.")];
}

function trackNode(track) {
  return h("span", { class: "track", title: "oldest run left, newest right" }, track.split("").map((k) => h("span", { class: k === "-" ? "none" : k }, k === "-" ? "·" : KINDS[k].mark)));
}

/* What did not conform, run by run: a wall of green would hide the one case that matters. */
function trendChart(t) {
  const rows = D.summary.trend.filter((r) => r.target === T[t].target);
  const kinds = ["diverges", "broken", "inconclusive", "known"];
  const sum = (r) => kinds.reduce((n, name) => n + r[name], 0);
  const width = 280, height = 56, w = Math.min(24, width / rows.length), most = Math.max(1, ...rows.map(sum));
  const ns = "http://www.w3.org/2000/svg";
  const rect = (x, y, wide, high, extra) => { const box = document.createElementNS(ns, "rect"); for (const [k, v] of Object.entries({ x, y, width: wide, height: high, ...extra })) box.setAttribute(k, v); return box; };
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height + 4}`); svg.setAttribute("preserveAspectRatio", "xMinYMax"); svg.setAttribute("role", "img");
  rows.forEach((r, i) => {
    let y = height;
    svg.append(rect(i * w, height + 1, Math.max(1, w - 1), 3, { class: r.incomplete ? "I" : sum(r) ? "U" : "C" }));
    kinds.forEach((name) => { if (r[name]) { const size = Math.max((height * r[name]) / most, 2); y -= size; svg.append(rect(i * w, y, Math.max(1, w - 1), size, { class: CODE_OF[name] })); } });
    const hit = rect(i * w, 0, w, height + 4, { "fill-opacity": 0 });
    const about = document.createElementNS(ns, "title");
    about.textContent = D.summary.nights[r.night].run + ": " + COUNTS.filter((n) => r[n]).map((n) => num(r[n]) + " " + n).join(", ") + (r.incomplete ? " (incomplete)" : "");
    hit.append(about); svg.append(hit);
  });
  const last = rows[rows.length - 1];
  return h("div", { class: "card mini" }, h("span", { class: "mono" }, T[t].target), h("span", { class: "soft" }, "  " + (sum(last) ? num(sum(last)) + " now, " + num(most) + " at most" : most > 1 || rows.some(sum) ? "none now, " + num(most) + " at most" : "none in " + plural(rows.length, "run"))), svg);
}

function stability() {
  const flaky = D.tracks.filter((r) => r[3] && caseMatches(null, r[1]));
  const slow = D.slowest.filter((r) => caseMatches(null, r[1]));
  return [title("Trend", "cases that do not conform, oldest run left; what is unsupported is left out"), h("div", { class: "grid" }, T.map((_, t) => trendChart(t))),
    title("Flaky cases", "a verdict that moved at an unchanged commit, or to and fro"),
    flaky.length ? paged(flaky, (part) => card(h("table", {}, head("Case", "Target", "Runs", numeric("changes"), numeric("unexplained")), h("tbody", {}, part.map(([t, c, track, , moved, bare]) =>
      h("tr", { class: "go", onclick: () => openCase(t, c) }, h("td", { class: "mono" }, caseName(c)), h("td", { class: "mono soft" }, T[t].target), h("td", {}, trackNode(track)), h("td", { class: "n" }, moved), h("td", { class: "n " + (bare ? "D" : "zero") }, bare || "·"))))))) : empty("None", D.summary.nights.length > 1 ? "No case changed its verdict without a reason." : "One run cannot show a flake."),
    title("Slowest cases", "by median over all runs"),
    paged(slow, (part) => card(h("table", {}, head("Case", "Target", numeric("median"), numeric("slowest"), numeric("newest")), h("tbody", {}, part.map(([t, c, ...times]) =>
      h("tr", { class: "go", onclick: () => openCase(t, c) }, h("td", { class: "mono" }, caseName(c)), h("td", { class: "mono soft" }, T[t].target), times.map((us) => h("td", { class: "n" }, seconds(us)))))))))];
}

function runs() {
  const rows = D.summary.trend.slice().reverse();
  return [title("Runs", num(D.summary.files) + " files, " + num(D.summary.rows) + " rows"), paged(rows, (part) => card(h("table", {}, head("Run", "Started", "Target", "Commit", ...COUNTS.map(numeric), numeric("time"), ""), h("tbody", {}, part.map((r) =>
    h("tr", {}, h("td", { class: "mono" }, D.summary.nights[r.night].run), h("td", { class: "soft" }, D.summary.nights[r.night].started), h("td", { class: "mono" }, r.target), h("td", { class: "mono soft" }, (r.commit || "").slice(0, 10)),
      COUNTS.map((n) => h("td", { class: "n " + (r[n] ? CODE_OF[n] : "zero") }, r[n] ? num(r[n]) : "·")), h("td", { class: "n soft" }, seconds(r.us)), h("td", {}, r.incomplete ? badge("I", "incomplete: " + r.incomplete) : ""))))), 200))];
}
