/* What moved: between runs, between releases, over the nights; and the runs themselves. */
function stepRows(list, from) {
  const kinds = ["regressed", "fixed", "changed", "new", "vanished"];
  const rows = list.filter((r) => caseMatches(null, r[from]));
  rows.sort((a, b) => kinds.indexOf(a[from + 3]) - kinds.indexOf(b[from + 3]));
  return rows;
}

function changes() {
  const counts = (list, key) => {
    const n = {};
    list.forEach((r) => {
      const k = key(r);
      (n[k] = n[k] || {})[r.kind] = r.cases;
    });
    return n;
  };
  const kinds = ["regressed", "fixed", "changed", "new", "vanished"];
  const summary = (n, first) =>
    h(
      "div",
      { class: "card fit" },
      h(
        "table",
        {},
        head(first, ...kinds.map(numeric)),
        h(
          "tbody",
          {},
          Object.entries(n).map(([k, v]) =>
            h(
              "tr",
              {},
              h("td", { class: "mono" }, k),
              kinds.map((x) =>
                h(
                  "td",
                  {
                    class:
                      "n " + (v[x] ? (x === "regressed" ? "D" : x === "fixed" ? "C" : "") : "zero"),
                  },
                  v[x] ? num(v[x]) : "·",
                ),
              ),
            ),
          ),
        ),
      ),
    );
  const list = (rows, from, where) =>
    paged(
      rows,
      (part) =>
        card(
          h(
            "table",
            {},
            head("", "Case", where, "Verdict"),
            h(
              "tbody",
              {},
              part.map((r) => {
                const c = r[from],
                  t = from === 2 ? r[1] : r[0];
                return h(
                  "tr",
                  { class: "go", onclick: () => openCase(t, c) },
                  h(
                    "td",
                    {
                      class:
                        r[from + 3] === "regressed" ? "D" : r[from + 3] === "fixed" ? "C" : "soft",
                    },
                    r[from + 3],
                  ),
                  h("td", { class: "mono" }, caseName(c)),
                  h(
                    "td",
                    { class: "mono soft" },
                    from === 2 ? T[r[0]].target + " → " + T[r[1]].target : T[t].target,
                  ),
                  h(
                    "td",
                    {},
                    mark(r[from + 1]),
                    " → ",
                    mark(r[from + 2]),
                    " ",
                    h("span", { class: "soft" }, KINDS[r[from + 2]].word),
                  ),
                );
              }),
            ),
          ),
        ),
      100,
    );
  const steps = stepRows(D.steps, 1),
    between = stepRows(D.between, 2);
  return [
    title("Since the run before", "the newest run of each target against its predecessor"),
    steps.length
      ? [
          summary(
            counts(D.summary.changes, (r) => r.target),
            "Target",
          ),
          h("p"),
          list(steps, 1, "Target"),
        ]
      : empty(
          D.summary.nights.length > 1 ? "No change" : "One run only",
          D.summary.nights.length > 1
            ? "Every case came out as in the run before."
            : "With two runs or more this shows what changed.",
        ),
    title("Between neighbouring releases", "the same case on the release before, newest runs"),
    between.length
      ? [
          summary(
            counts(D.summary.releases, (r) => r.older + " → " + r.newer),
            "Releases",
          ),
          h("p"),
          list(between, 2, "Releases"),
        ]
      : empty("No change", "Neighbouring releases came out alike, or the input has one release."),
  ];
}

/* What did not conform, run by run: a wall of green would hide the one case that matters. */
function trendChart(t) {
  const rows = D.summary.trend.filter((r) => r.target === T[t].target);
  const kinds = ["diverges", "broken", "inconclusive", "known"];
  const sum = (r) => kinds.reduce((n, name) => n + r[name], 0);
  const width = 280,
    height = 56,
    w = Math.min(24, width / rows.length),
    most = Math.max(1, ...rows.map(sum));
  const ns = "http://www.w3.org/2000/svg";
  const rect = (x, y, wide, high, extra) => {
    const box = document.createElementNS(ns, "rect");
    for (const [k, v] of Object.entries({ x, y, width: wide, height: high, ...extra }))
      box.setAttribute(k, v);
    return box;
  };
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height + 4}`);
  svg.setAttribute("preserveAspectRatio", "xMinYMax");
  svg.setAttribute("role", "img");
  rows.forEach((r, i) => {
    let y = height;
    svg.append(
      rect(i * w, height + 1, Math.max(1, w - 1), 3, {
        class: r.incomplete ? "I" : sum(r) ? "U" : "C",
      }),
    );
    kinds.forEach((name) => {
      if (r[name]) {
        const size = Math.max((height * r[name]) / most, 2);
        y -= size;
        svg.append(rect(i * w, y, Math.max(1, w - 1), size, { class: CODE_OF[name] }));
      }
    });
    const hit = rect(i * w, 0, w, height + 4, { "fill-opacity": 0 });
    const about = document.createElementNS(ns, "title");
    about.textContent =
      D.summary.nights[r.night].run +
      ": " +
      COUNTS.filter((n) => r[n])
        .map((n) => num(r[n]) + " " + n)
        .join(", ") +
      (r.incomplete ? " (incomplete)" : "");
    hit.append(about);
    svg.append(hit);
  });
  const last = rows[rows.length - 1];
  return h(
    "div",
    { class: "card mini" },
    h("span", { class: "mono" }, T[t].target),
    h(
      "span",
      { class: "soft" },
      "  " +
        (sum(last)
          ? num(sum(last)) + " now, " + num(most) + " at most"
          : most > 1 || rows.some(sum)
            ? "none now, " + num(most) + " at most"
            : "none in " + plural(rows.length, "run")),
    ),
    svg,
  );
}

function stability() {
  const flaky = D.tracks.filter((r) => r[3] && caseMatches(null, r[1]));
  const slow = D.slowest.filter((r) => caseMatches(null, r[1]));
  return [
    title("Trend", "cases that do not conform, oldest run left; what is unsupported is left out"),
    h(
      "div",
      { class: "grid" },
      T.map((_, t) => trendChart(t)),
    ),
    title("Flaky cases", "a verdict that moved at one commit, in one run, or to and fro"),
    flaky.length
      ? paged(flaky, (part) =>
          card(
            h(
              "table",
              {},
              head("Case", "Target", "Runs", numeric("changes"), numeric("unexplained")),
              h(
                "tbody",
                {},
                part.map(([t, c, track, , moved, bare]) =>
                  h(
                    "tr",
                    { class: "go", onclick: () => openCase(t, c) },
                    h("td", { class: "mono" }, caseName(c)),
                    h("td", { class: "mono soft" }, T[t].target),
                    h("td", {}, trackNode(track)),
                    h("td", { class: "n" }, moved),
                    h("td", { class: "n " + (bare ? "D" : "zero") }, bare || "·"),
                  ),
                ),
              ),
            ),
          ),
        )
      : empty(
          "None",
          D.summary.nights.length > 1
            ? "No case changed its verdict without a reason."
            : "One run cannot show a flake.",
        ),
    title("Slowest cases", "by median over all runs"),
    paged(slow, (part) =>
      card(
        h(
          "table",
          {},
          head("Case", "Target", numeric("median"), numeric("slowest"), numeric("newest")),
          h(
            "tbody",
            {},
            part.map(([t, c, ...times]) =>
              h(
                "tr",
                { class: "go", onclick: () => openCase(t, c) },
                h("td", { class: "mono" }, caseName(c)),
                h("td", { class: "mono soft" }, T[t].target),
                times.map((us) => h("td", { class: "n" }, seconds(us))),
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}

function runs() {
  const rows = D.summary.trend.slice().reverse();
  return [
    title("Runs", num(D.summary.files) + " files, " + num(D.summary.rows) + " rows"),
    paged(rows, (part) =>
      card(
        h(
          "table",
          {},
          head("Run", "Started", "Target", "Commit", ...COUNTS.map(numeric), numeric("time"), ""),
          h(
            "tbody",
            {},
            part.map((r) =>
              h(
                "tr",
                {},
                h("td", { class: "mono" }, D.summary.nights[r.night].run),
                h("td", { class: "soft" }, D.summary.nights[r.night].started),
                h("td", { class: "mono" }, r.target),
                h("td", { class: "mono soft" }, (r.commit || "").slice(0, 10)),
                COUNTS.map((n) =>
                  h("td", { class: "n " + (r[n] ? CODE_OF[n] : "zero") }, r[n] ? num(r[n]) : "·"),
                ),
                h("td", { class: "n soft" }, seconds(r.us)),
                h("td", {}, r.incomplete ? badge("I", "incomplete: " + r.incomplete) : ""),
              ),
            ),
          ),
        ),
        200,
      ),
    ),
  ];
}
