/* The evidence of one case: the sentence, where it comes from, and both answers side by side. */
const drawer = document.getElementById("drawer");

function show(...nodes) {
  drawer.replaceChildren(
    h("button", { class: "shut", "aria-label": "Close", onclick: shut }, "✕"),
    ...nodes.flat(3).filter(Boolean),
  );
  drawer.hidden = false;
  drawer.scrollTop = 0;
}
function shut() {
  drawer.hidden = true;
  if (location.hash.startsWith("#case/")) history.replaceState(null, "", "#" + TAB);
}

/* The part of two texts that differs, marked. Short ones (codes, numbers) differ as wholes. */
function marked(a, b) {
  if (a === null || b === null || a === b)
    return [a, b].map((s) => (s === null ? h("span", { class: "faint" }, "no such field") : s));
  let head = 0,
    tail = 0;
  const most = Math.min(a.length, b.length);
  if (Math.max(a.length, b.length) > 16) {
    while (head < most && a[head] === b[head]) head++;
    while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  }
  const part = (s) => [
    s.slice(0, head),
    h("mark", {}, s.slice(head, s.length - tail)),
    s.slice(s.length - tail),
  ];
  return [part(a), part(b)];
}

/* A number whose field has names (error codes) is shown with its name. */
const named = (path, value) => {
  const n = D.names[(path.match(/[a-z_]+$/) || [""])[0]];
  return n && n[value] ? h("span", { class: "soft" }, "  " + n[value]) : null;
};

function pretty(value) {
  if (value === null) return null;
  try {
    const v = JSON.parse(value);
    return typeof v === "object" && v !== null ? JSON.stringify(v, null, 2) : value;
  } catch {
    return value;
  }
}

function differenceNode([step, path, oracle, target], t) {
  const [left, right] = marked(pretty(oracle), pretty(target));
  const who = oracleOf(t);
  return h(
    "div",
    { class: "diff" },
    h("div", { class: "where" }, pathNode(path || "", step)),
    h(
      "div",
      { class: "sides" },
      h("div", {}, h("h4", {}, who), h("pre", {}, left, named(path || "", oracle))),
      h("div", {}, h("h4", {}, T[t].target), h("pre", {}, right, named(path || "", target))),
    ),
  );
}

/* Many small differences read as a table, few or large ones as cards. */
const small = (x) => x.slice(2).every((v) => v === null || v.length <= 40);

function differenceNodes(d, t) {
  const rows = d.differences.filter(small);
  const many = rows.length > 3;
  const nodes = many ? [differenceTable(rows, t)] : [];
  for (const x of d.differences) if (!many || !small(x)) nodes.push(differenceNode(x, t));
  if (d.unlisted)
    nodes.push(h("p", { class: "soft" }, `and ${num(d.unlisted)} more, in tables/differences`));
  return nodes;
}

function differenceTable(rows, t) {
  const value = (path, v) =>
    v === null
      ? h("span", { class: "faint" }, "no such field")
      : [h("span", { class: "val" }, v), named(path, v)];
  return h(
    "table",
    { class: "many" },
    head(plural(rows.length, "field"), oracleOf(t), T[t].target),
    h(
      "tbody",
      {},
      rows.map(([step, path, oracle, target]) =>
        h(
          "tr",
          {},
          h("td", {}, pathNode(path || "", step)),
          h("td", {}, value(path || "", oracle)),
          h("td", { class: "other" }, value(path || "", target)),
        ),
      ),
    ),
  );
}

const oracleOf = (t) =>
  T[t].oracle ? oracleName(T[t]) + (live(T[t]) ? ", live" : ", recorded") : "Kafka";

/* The first difference usually is the reason; it need not be said twice. */
function repeats(d) {
  return d.differences.some((x) => d.reason.startsWith(`${x[0]}: ${x[1]}: `));
}

function caseNodes(t, c) {
  const k = D.codes[t][c];
  const d = detail(t, c);
  const nodes = [
    h("h3", {}, T[t].target + "  ·  " + (D.cases[c][1] || caseName(c))),
    h(
      "p",
      {},
      badge(k),
      " ",
      d && d.connection && d.connection !== "kept" ? tag("connection " + d.connection) : null,
      k === "."
        ? null
        : h("span", { class: "soft" }, " " + (D.times[t][c] / 10).toFixed(1) + " ms"),
    ),
  ];
  const parameters = Object.entries(D.cases[c][4] || {});
  if (parameters.length)
    nodes.push(
      h(
        "p",
        {},
        parameters.map(([name, value]) => tag(name + "=" + value)),
      ),
    );
  if (!d)
    return nodes.concat(
      commandNodes(t, c, null),
      k === "C"
        ? h("p", { class: "soft" }, "Answered as Kafka does.")
        : k === "."
          ? h("p", { class: "soft" }, "This target has no such case in its newest run.")
          : h(
              "p",
              { class: "soft" },
              "The evidence of this case did not fit the page; it stands in tables/differences.",
            ),
    );
  if (d.reason && !repeats(d)) nodes.push(h("p", {}, d.reason));
  if (d.known) nodes.push(h("p", {}, badge("K", "accepted as " + d.known)));
  nodes.push(differenceNodes(d, t));
  if (d.findings.length)
    nodes.push(
      h("h3", {}, "Findings of the passive checkers" + (more(d.unfound) || "")),
      d.findings.map(([checker, step, path, sentence]) =>
        h(
          "div",
          { class: "diff" },
          h(
            "div",
            { class: "where" },
            h("b", { class: "mono" }, checker),
            " ",
            path || step ? pathNode(path || "", step) : null,
          ),
          h("p", { style: "margin:8px 10px" }, sentence),
        ),
      ),
    );
  if (d.transcript)
    nodes.push(
      h("h3", {}, "Transcript"),
      h(
        "p",
        {},
        h(
          "a",
          {
            class: "mono",
            href: address(D.folders[t] + "/" + d.transcript),
          },
          d.transcript,
        ),
        h("div", { class: "soft" }, "the bytes in both directions, as they were"),
      ),
    );
  return nodes.concat(commandNodes(t, c, d.transcript));
}

function claimHead(k) {
  const [id, suite, sentence, level, evidence] = D.claims[k];
  return [
    h("h1", {}, id),
    h("p", { class: "sentence" }, sentence || ""),
    h(
      "p",
      {},
      level ? tag(level) : null,
      tag(D.suites[suite]),
      evidence.map((e) => tag(e)),
    ),
  ];
}

function openCase(t, c) {
  const k = D.cases[c][0];
  const cases = CASES_OF[k].length ? CASES_OF[k] : [c];
  history.replaceState(
    null,
    "",
    "#case/" + encodeURIComponent(T[t].target) + "/" + encodeURIComponent(caseName(c)),
  );
  const short = (x) => D.cases[x][1].replace(/^[[@-]|\]$/g, "") || "the case";
  show(
    claimHead(k),
    T.length > 1
      ? [
          h("h3", {}, "Target"),
          h(
            "div",
            { class: "picks" },
            T.map((target, i) => {
              const n = tally(i, cases),
                w = D.codes[i][c] === "." ? "." : worst(n);
              return h(
                "button",
                { class: "pick " + w, "aria-pressed": i === t, onclick: () => openCase(i, c) },
                KINDS[w].mark + " " + target.target,
              );
            }),
          ),
        ]
      : null,
    cases.length > 1
      ? [
          h("h3", {}, plural(cases.length, "case") + " of this claim"),
          h(
            "div",
            { class: "picks" },
            cases.map((x) =>
              h(
                "button",
                {
                  class: "pick " + D.codes[t][x],
                  "aria-pressed": x === c,
                  title: KINDS[D.codes[t][x]].word,
                  onclick: () => openCase(t, x),
                },
                KINDS[D.codes[t][x]].mark + " " + short(x),
              ),
            ),
          ),
        ]
      : null,
    caseNodes(t, c),
  );
  const pressed = drawer.querySelectorAll(".pick[aria-pressed=true]");
  pressed.forEach((p) => p.scrollIntoView({ block: "nearest" }));
  drawer.scrollTop = 0;
}

/* A cell of the claim matrix opens the worst case behind it. */
function openClaim(k, t) {
  const cases = CASES_OF[k]
    .slice()
    .sort((a, b) => rank(D.codes[t][a]) - rank(D.codes[t][b]) || a - b);
  openCase(t, cases[0]);
}
const rank = (k) => {
  const at = WORST.indexOf(k);
  return at < 0 ? 99 : at;
};

function openCases(name, cases, targets) {
  const rows = [];
  targets.forEach((t) =>
    cases.forEach((c) => D.codes[t][c] !== "." && rows.push([t, c, D.codes[t][c]])),
  );
  rows.sort((a, b) => rank(a[2]) - rank(b[2]) || a[1] - b[1] || a[0] - b[0]);
  const listed = rows.slice(0, 400);
  show(
    h("h1", {}, name),
    h(
      "p",
      { class: "soft" },
      plural(rows.length, "case") +
        " of " +
        plural(targets.length, "target") +
        (rows.length > listed.length ? "; the worst 400 are listed" : ""),
    ),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        listed.map(([t, c, k]) =>
          h(
            "tr",
            { class: "go", onclick: () => openCase(t, c) },
            h("td", {}, mark(k)),
            h("td", { class: "mono" }, caseName(c)),
            h("td", { class: "mono soft" }, T[t].target),
          ),
        ),
      ),
    ),
  );
}

function openRun(t) {
  const r = T[t];
  const facts = [
    ["run", r.run],
    ["started", r.started],
    ["finished", r.finished],
    ["kind of target", r.kind],
    ["release", r.release],
    [
      "oracle",
      r.oracle ? r.oracle + (live(r) ? " (live)" : " (recorded answers, no live Kafka)") : "none",
    ],
    ["wall time", r.seconds === null ? null : wall(r.seconds)],
    ["time of its cases", seconds(r.us)],
    ["build of the target", r.build || "not known (--build says it)"],
    ["commit of Touchstone", r.commit],
    ["seed", r.seed],
    ...Object.entries(r.host || {}).map(([k, v]) => ["host " + k, v]),
    ["planned", r.planned === null ? null : num(r.planned)],
    ["cases", num(r.cases)],
    ["not run", num(r.not_run)],
    ["runs in this report", num(r.runs)],
    ["incomplete", r.incomplete],
  ];
  const mine = D.summary.reasons.filter((x) => x.target === r.target);
  show(
    h("h1", {}, r.target),
    h("p", {}, statusBadge(r), " ", oracleTag(r)),
    bar(r),
    h(
      "p",
      {},
      COUNTS.filter((n) => r[n]).map((n) => [badge(CODE_OF[n], num(r[n]) + " " + n), " "]),
    ),
    h("h3", {}, "Run"),
    h(
      "dl",
      { class: "facts" },
      facts
        .filter((f) => f[1] !== null && f[1] !== undefined && f[1] !== "")
        .map(([k, v]) => [h("dt", {}, k), h("dd", { class: "mono" }, String(v))]),
    ),
    mine.length
      ? [
          h("h3", {}, "Reasons"),
          h(
            "table",
            {},
            h(
              "tbody",
              {},
              mine.map((x) =>
                h(
                  "tr",
                  {},
                  h("td", { class: "n" }, num(x.cases)),
                  h("td", {}, badge(CODE_OF[x.verdict.toLowerCase()])),
                  h("td", {}, x.reason),
                ),
              ),
            ),
          ),
        ]
      : null,
    h(
      "p",
      {},
      h(
        "button",
        {
          class: "more",
          onclick: () => {
            STATE.target = t;
            shut();
            go("differences");
          },
        },
        "Differences of this target",
      ),
    ),
  );
}
