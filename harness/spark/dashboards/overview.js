/* The first tab: how every target came out, and where they differ. */
function targetsTable() {
  const columns = COUNTS.concat(["not_run"]);
  const shown = columns.filter(
    (name) => ["conforms", "diverges", "not_run"].includes(name) || T.some((t) => t[name]),
  );
  return card(
    h(
      "table",
      {},
      head(
        "Verdict",
        "Target",
        "Judged by",
        "",
        numeric("cases"),
        ...shown.map((n) => numeric(n.replace("_", " "))),
        numeric("wall time"),
        "Build",
        "Run",
      ),
      h(
        "tbody",
        {},
        T.map((t, i) =>
          h(
            "tr",
            {
              class: "go",
              tabindex: 0,
              onclick: () => openRun(i),
              onkeydown: (e) => e.key === "Enter" && openRun(i),
            },
            h("td", {}, statusBadge(t)),
            h(
              "td",
              { class: "mono" },
              t.target,
              t.runs === 1 && RUNS.length > 1
                ? h("span", { title: "its first run in this report" }, " ", tag("new"))
                : null,
            ),
            h("td", {}, oracleTag(t)),
            h("td", {}, bar(t)),
            h("td", { class: "n" }, num(t.cases)),
            shown.map((n) =>
              h(
                "td",
                { class: "n " + (t[n] ? CODE_OF[n] || "I" : "zero") },
                t[n] ? num(t[n]) : "·",
              ),
            ),
            h("td", { class: "n soft" }, wall(t.seconds)),
            h("td", { class: "soft mono" }, t.build || "not known"),
            h("td", { class: "soft mono", title: when(t.started) }, t.run),
          ),
        ),
      ),
    ),
  );
}

function suiteMatrix() {
  const heads = columnHeads(T.map((t) => t.target));
  const cases = D.suites.map(() => []);
  D.cases.forEach((row, c) => cases[D.claims[row[0]][1]].push(c));
  const rows = D.suites.map((suite, s) => [suite, s]).filter(([, s]) => cases[s].length);
  rows.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return h(
    "div",
    { class: "card fit" },
    h(
      "table",
      { class: "matrix" + (heads.tall ? " tall" : "") },
      h("thead", {}, h("tr", {}, h("th", {}, "Suite"), heads.cells)),
      h(
        "tbody",
        {},
        rows.map(([suite, s]) =>
          h(
            "tr",
            {},
            h("th", { class: "row mono" }, suite),
            T.map((_, t) => cell(tally(t, cases[s]), () => go("claims", suite), true)),
          ),
        ),
      ),
    ),
  );
}

function hero() {
  const fine = T.filter((t) => t.status === "conforms").length;
  const sum = (name) => T.reduce((n, t) => n + (t[name] || 0), 0);
  const parts = [
    [sum("conforms"), "answer as Kafka does", "C"],
    [sum("diverges"), "diverge", "D"],
    [sum("known"), "differ as accepted", "K"],
    [sum("inconclusive"), "inconclusive", "I"],
    [sum("broken"), "broken in the harness", "B"],
    [sum("unsupported"), "unsupported, proved", "U"],
    [sum("not_run"), "planned and not run", "I"],
  ];
  const newest = RUNS[RUNS.length - 1];
  const commits = [...new Set(T.map((t) => t.commit).filter(Boolean))];
  const s = STATUS[D.summary.status];
  return h(
    "div",
    { class: "hero " + s.code },
    h(
      "div",
      {},
      h(
        "strong",
        {},
        fine === T.length
          ? T.length === 1
            ? "The target conforms"
            : "All " + T.length + " targets conform"
          : fine + " of " + plural(T.length, "target") + (fine === 1 ? " conforms" : " conform"),
      ),
      h(
        "p",
        {},
        parts
          .filter((p) => p[0])
          .map(([n, words, k]) =>
            h("span", { class: "fact" }, h("b", { class: k }, num(n)), " " + words),
          ),
      ),
    ),
    h(
      "dl",
      { class: "facts" },
      h("dt", {}, "newest run"),
      h("dd", { class: "mono" }, newest.run),
      h("dt", {}, "started"),
      h("dd", { class: "mono" }, when(newest.started)),
      h("dt", {}, "dates"),
      h("dd", { class: "mono" }, dates()),
      commits.length
        ? [
            h("dt", {}, "Touchstone"),
            h(
              "dd",
              { class: "mono" },
              commits.length === 1 ? commits[0].slice(0, 12) : plural(commits.length, "version"),
            ),
          ]
        : null,
    ),
  );
}

const dates = () =>
  DATES.length === 1
    ? DATES[0]
    : DATES.length + ", " + DATES[0] + " to " + DATES[DATES.length - 1];

function overview() {
  const nodes = T.length ? [hero()] : [];
  const broken = T.filter((t) => t.incomplete || t.not_run);
  if (broken.length)
    nodes.push(
      h(
        "div",
        { class: "alarm" },
        h("b", {}, "Incomplete. "),
        broken
          .map(
            (t) =>
              t.target +
              ": " +
              (t.incomplete ||
                num(t.not_run) + " of " + num(t.planned) + " planned cases were not run"),
          )
          .join(" · "),
      ),
    );
  if (!T.length) return fuzzNodes();
  nodes.push(title("Targets", "newest run of each; a row opens its run"), targetsTable());
  nodes.push(title("Suites", "cases; a mark stands before the count of its kind"), suiteMatrix());
  const told = D.summary.causes;
  if (told.length)
    nodes.push(
      title("Causes", "of each target; equal differences of many cases stand there once"),
      causesTable(told),
    );
  const top = topClaims();
  nodes.push(
    title("Where targets differ", top.length ? null : ""),
    top.length
      ? differencesTable(top.slice(0, 12), true)
      : empty("No differences", "Every judged case answered as Kafka did."),
  );
  const differing = TO_SEE.filter((r) => r[2] !== "I").length;
  if (differing > Math.min(12, top.length))
    nodes.push(
      h(
        "button",
        { class: "more", onclick: () => go("differences") },
        "All " + plural(differing, "case"),
      ),
    );
  const { planted, caught } = D.summary.detection;
  if (planted)
    nodes.push(
      title("Planted defects", `${num(caught)} of ${num(planted)} caught by the suites`),
      detectionTable(),
    );
  nodes.push(fuzzNodes());
  if (D.summary.reasons.length) nodes.push(title("Not judged, and why"), reasonsTable());
  return nodes;
}

/* What targets do differently, target by target: one with many causes must not hide another's. */
const FEW = 10;
function causesTable(told) {
  const of = new Map();
  told.forEach((c) => of.set(c.target, (of.get(c.target) || []).concat(c)));
  const unexplained = new Map(D.summary.unexplained.map((r) => [r.target, r.cases]));
  return [...of].map(([target, causes]) => {
    const few = T.length > 1 ? FEW : 30;
    const box = h("div", { class: "causes" });
    const paint = (all) => {
      const shown = all ? causes : causes.slice(0, few);
      box.replaceChildren(
        causeRows(target, counted(causes), shown),
        causes.length > shown.length
          ? h(
              "button",
              { class: "more", onclick: () => paint(true) },
              more(causes.length - shown.length, "cause").trim() + " of " + target,
            )
          : "",
        note(
          unexplained.has(target)
            ? "causes of " + plural(unexplained.get(target), "case") + " more were not looked for"
            : "",
        ) || "",
      );
    };
    paint(false);
    return box;
  });
}

/* Those of which no client can tell stand last and are counted apart. */
function counted(causes) {
  const light = causes.filter((c) => c.light).length;
  const grave = plural(causes.length - light, "cause");
  return light ? grave + ", " + num(light) + " of what no client can tell" : grave;
}

function causeRows(target, count, shown) {
  return card(
    h(
      "table",
      {},
      head(numeric("cases"), target + ": " + count, "What"),
      h(
        "tbody",
        {},
        shown.map((c) =>
          h(
            "tr",
            { class: "go", tabindex: 0, onclick: () => go("differences", c.example) },
            h("td", { class: "n" }, num(c.cases)),
            h(
              "td",
              {},
              h("span", { class: "mono" }, c.where),
              h("div", { class: "soft" }, c.effect + "; hits " + c.hits),
            ),
            h("td", {}, c.what),
          ),
        ),
      ),
    ),
  );
}

/* The testers tested: every defect planted in our broker, survivors first. */
function detectionTable() {
  return card(
    h(
      "table",
      {},
      head("", "Planted defect", "Caught by", "Planted in"),
      h(
        "tbody",
        {},
        D.summary.detection.switches.map((x) =>
          h(
            "tr",
            {},
            h("td", {}, x.by.length ? badge("C", "caught") : badge("D", "survived")),
            h("td", { class: "mono" }, x.switch),
            h("td", { class: "mono soft" }, x.by.slice(0, 3).join(", "), more(x.by.length - 3)),
            h("td", { class: "mono soft" }, x.targets.map((t) => t.split("+")[0]).join(", ")),
          ),
        ),
      ),
    ),
  );
}
/* One line per claim: its worst case. */
function topClaims() {
  const seen = new Set();
  return TO_SEE.filter(
    ([t, c, k]) =>
      k !== "I" && caseMatches(t, c) && !seen.has(D.cases[c][0]) && seen.add(D.cases[c][0]),
  );
}

function reasonsTable() {
  const rows = D.summary.reasons;
  const table = (part) =>
    card(
      h(
        "table",
        {},
        head(numeric("cases"), "Target", "Verdict", "Reason"),
        h(
          "tbody",
          {},
          part.map((r) =>
            h(
              "tr",
              {},
              h("td", { class: "n" }, num(r.cases)),
              h("td", { class: "mono" }, r.target),
              h("td", {}, badge(CODE_OF[r.verdict.toLowerCase()])),
              h("td", {}, r.reason),
            ),
          ),
        ),
      ),
    );
  return [paged(rows, table), note(more(D.summary.reasons_found - rows.length, "reason"))];
}

function said(t, c) {
  const d = detail(t, c);
  if (!d)
    return h("span", { class: "faint" }, "evidence left out of the page; see tables/differences");
  if (d.differences.length) {
    const [step, path, oracle, target] = d.differences[0];
    return [
      pathNode(path || "", step),
      " ",
      h("span", { class: "val o clip" }, oracle ?? "absent"),
      h("span", { class: "faint" }, " → "),
      h("span", { class: "val t clip" }, target ?? "absent"),
      d.differences.length > 1
        ? h("span", { class: "faint" }, " +" + (d.differences.length - 1))
        : null,
    ];
  }
  if (d.findings.length)
    return [h("span", { class: "mono soft" }, d.findings[0][0] + " "), d.findings[0][3]];
  return d.reason || "";
}

function differencesTable(rows, byClaim) {
  const others = {};
  if (byClaim)
    TO_SEE.forEach(([, c]) => {
      const k = D.cases[c][0];
      others[k] = (others[k] || 0) + 1;
    });
  return card(
    h(
      "table",
      {},
      head("", byClaim ? "Claim" : "Case", "Target", "Kafka → target"),
      h(
        "tbody",
        {},
        rows.map(([t, c, k]) =>
          h(
            "tr",
            {
              class: "go",
              tabindex: 0,
              onclick: () => openCase(t, c),
              onkeydown: (e) => e.key === "Enter" && openCase(t, c),
            },
            h("td", {}, mark(k)),
            h(
              "td",
              {},
              h("span", { class: "mono" }, byClaim ? claimOf(c)[0] : caseName(c)),
              byClaim && others[D.cases[c][0]] > 1
                ? h("span", { class: "faint" }, " ×" + num(others[D.cases[c][0]]))
                : null,
              byClaim && claimOf(c)[2] ? h("div", { class: "soft" }, claimOf(c)[2]) : null,
            ),
            h("td", { class: "mono soft" }, T[t].target),
            h("td", {}, said(t, c)),
          ),
        ),
      ),
    ),
  );
}

function differences() {
  const of = { B: 0, D: 0, K: 0, I: 0 };
  const here = TO_SEE.filter(
    ([t, c]) => (STATE.target < 0 || t === STATE.target) && caseMatches(t, c),
  );
  here.forEach((r) => of[r[2]]++);
  const chips = Object.keys(of).map((k) =>
    h(
      "button",
      {
        class: "chip",
        "aria-pressed": STATE.kinds.has(k),
        onclick: () => {
          STATE.kinds.has(k) ? STATE.kinds.delete(k) : STATE.kinds.add(k);
          draw();
        },
      },
      mark(k),
      " " + KINDS[k].word + " " + num(of[k]),
    ),
  );
  const rows = here.filter((r) => STATE.kinds.has(r[2]));
  return [
    h(
      "div",
      { class: "chips" },
      chips,
      targetPicker(),
      D.left_out
        ? h(
            "span",
            { class: "soft" },
            "the evidence of " +
              plural(D.left_out, "case") +
              " is only in tables/differences and tables/verdicts",
          )
        : null,
    ),
    rows.length
      ? paged(rows, (part) => differencesTable(part, false))
      : empty("Nothing here", "No case of these kinds matches the filter."),
  ];
}
