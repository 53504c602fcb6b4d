/* What moved: between runs, between releases, over all runs; and the runs themselves. */
const MOVES = [
  "regressed", "flaky", "alternates", "unjudged", "fixed", "changed", "new", "vanished",
];
const tone = (kind) => ({ regressed: "D", flaky: "B", alternates: "K", fixed: "C" })[kind] || "";
const MEANT = {
  regressed: "conformed and diverges",
  flaky: "one build, or one run, gave several verdicts",
  alternates: "to and fro, and the builds are not known",
  unjudged: "was judged and is no longer",
  fixed: "diverged and conforms",
  changed: "any other change of the verdict",
  new: "was not there",
  vanished: "is not there any more",
};
/* How many cases took a course over all runs. */
const courses = (kind) =>
  D.summary.courses.filter((r) => r.course === kind).reduce((n, r) => n + r.cases, 0);

function stepRows(list, from) {
  const kinds = MOVES;
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
  const told = [...D.summary.changes, ...D.summary.releases, ...overAll()].map((r) => r.kind);
  const kinds = MOVES.filter((k) => told.includes(k));
  const summary = (n, first) =>
    h(
      "div",
      { class: "card fit" },
      h(
        "table",
        {},
        head(first, ...kinds.map((k) => h("th", { class: "n", title: MEANT[k] }, k))),
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
                    class: "n " + (v[x] ? tone(x) : "zero"),
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
                    { class: tone(r[from + 3]) || "soft", title: MEANT[r[from + 3]] },
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
          unlisted(D.summary.changes, D.steps),
        ]
      : empty(
          RUNS.length > 1 ? "No change" : "One run only",
          RUNS.length > 1
            ? "Every case came out as in the run before."
            : "With two runs or more this shows what changed.",
        ),
    overAll().length
      ? [
          title("Over all runs", "what a case is now, and the run with which that began"),
          summary(
            counts(overAll(), (r) => r.target),
            "Target",
          ),
          h("p"),
          courseTable(D.tracks.filter((r) => caseMatches(null, r[1]))),
          unlisted(overAll(), D.tracks),
        ]
      : null,
    title("Between neighbouring releases", "the same case on the release before, newest runs"),
    between.length
      ? [
          summary(
            counts(D.summary.releases, (r) => r.older + " → " + r.newer),
            "Releases",
          ),
          h("p"),
          list(between, 2, "Releases"),
          unlisted(D.summary.releases, D.between),
        ]
      : empty("No change", "Neighbouring releases came out alike, or the input has one release."),
  ];
}

const overAll = () =>
  D.summary.courses
    .filter((r) => r.course !== "steady")
    .map((r) => ({ target: r.target, kind: r.course, cases: r.cases }));

/* How many rows were left out of a list whose counts are complete. */
const unlisted = (counted, listed) => {
  const left = counted.reduce((n, r) => n + r.cases, 0) - listed.length;
  return note(left > 0 ? (more(left, "case") + ", in the tables beside this page").trim() : "");
};

/* The cases that are not steady: what each is, since when, and why it is called that. */
function courseTable(rows) {
  return paged(rows, (part) =>
    card(
      h(
        "table",
        {},
        head("", "Case", "Target", "Runs", "Since", "Build then", ""),
        h(
          "tbody",
          {},
          part.map(([t, c, course, track, since, build, why]) =>
            h(
              "tr",
              { class: "go", onclick: () => openCase(t, c) },
              h("td", { class: tone(course) || "soft", title: MEANT[course] }, course),
              h("td", { class: "mono" }, caseName(c)),
              h("td", { class: "mono soft" }, T[t].target),
              h("td", {}, trackNode(track)),
              h("td", { class: "mono whole" }, since),
              h("td", { class: "mono soft" }, since && (build || "not known")),
              h("td", { class: "soft" }, why),
            ),
          ),
        ),
      ),
    ),
  );
}

/* What did not conform, run by run: a wall of green would hide the one case that matters. */
const AXIS = 20,
  LABEL = 34; // of the axis: its height, and what a date needs
const svgNode = (tag, attributes, words) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (words) node.textContent = words;
  return node;
};

function trendChart(t) {
  const rows = D.summary.trend.filter((r) => r.target === T[t].target);
  const kinds = ["diverges", "broken", "inconclusive", "known"];
  const sum = (r) => kinds.reduce((n, name) => n + r[name], 0);
  const width = 280,
    height = 56,
    w = Math.min(40, width / rows.length),
    most = Math.max(1, ...rows.map(sum));
  const svg = svgNode("svg", {
    viewBox: `0 0 ${width} ${height + AXIS}`,
    preserveAspectRatio: "xMinYMax",
    role: "img",
  });
  let labelled = -Infinity;
  rows.forEach((r, i) => {
    let y = height;
    svg.append(
      svgNode("rect", {
        x: i * w,
        y: height + 1,
        width: Math.max(1, w - 1),
        height: 3,
        class: r.incomplete ? "I" : sum(r) ? "U" : "C",
      }),
    );
    kinds.forEach((name) => {
      if (r[name]) {
        const size = Math.max((height * r[name]) / most, 2);
        y -= size;
        svg.append(
          svgNode("rect", {
            x: i * w,
            y,
            width: Math.max(1, w - 1),
            height: size,
            class: CODE_OF[name],
          }),
        );
      }
    });
    if (i === 0 || r.date !== rows[i - 1].date) {
      svg.append(
        svgNode("line", { x1: i * w, x2: i * w, y1: height + 5, y2: height + 8, class: "tick" }),
      );
      if (i * w - labelled >= LABEL) {
        labelled = i * w;
        svg.append(svgNode("text", { x: i * w, y: height + AXIS - 2 }, r.date.slice(5)));
      }
    }
    const hit = svgNode("rect", {
      x: i * w,
      y: 0,
      width: w,
      height: height + 4,
      "fill-opacity": 0,
    });
    hit.append(
      svgNode(
        "title",
        {},
        `${r.run}, ${when(r.started)}: ` +
          COUNTS.filter((n) => r[n])
            .map((n) => num(r[n]) + " " + n)
            .join(", ") +
          (r.build ? ", build " + r.build : "") +
          (r.incomplete ? " (incomplete)" : ""),
      ),
    );
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
            : "none") +
        "; " +
        plural(rows.length, "run") +
        ", " +
        plural(new Set(rows.map((r) => r.date)).size, "date"),
    ),
    svg,
  );
}

function stability() {
  const flaky = D.tracks.filter(
    (r) => ["flaky", "alternates"].includes(r[2]) && caseMatches(null, r[1]),
  );
  const all = courses("flaky") + courses("alternates");
  const slow = D.slowest.filter((r) => caseMatches(null, r[1]));
  return [
    title("Trend", "cases that do not conform, by run; what is unsupported is left out"),
    h(
      "div",
      { class: "grid" },
      T.map((_, t) => trendChart(t)),
    ),
    title(
      "Flaky cases",
      "one build, or one run, gave several verdicts; where builds are not known: three changes",
    ),
    flaky.length
      ? [courseTable(flaky), NEEDLES.length ? null : note(more(all - flaky.length, "case"))]
      : empty(
          "None",
          RUNS.length > 1
            ? "No build of a target gave several verdicts on one case."
            : "One run cannot show a flake.",
        ),
    title("Slowest cases", "the " + D.slowest.length + " slowest, by median over all runs"),
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
    title(
      "Runs",
      `${plural(RUNS.length, "run")} on ${plural(DATES.length, "date")}, ` +
        `${plural(D.summary.files, "file")}, ${plural(D.summary.rows, "row")}`,
    ),
    paged(rows, (part) =>
      card(
        h(
          "table",
          {},
          head(
            "Run",
            "Started",
            "Target",
            "Build",
            "Judged by",
            ...COUNTS.map(numeric),
            numeric("wall time"),
            "",
          ),
          h(
            "tbody",
            {},
            part.map((r) =>
              h(
                "tr",
                {},
                h("td", { class: "mono whole" }, r.run),
                h("td", { class: "soft whole" }, when(r.started)),
                h("td", { class: "mono" }, r.target),
                h("td", { class: "mono whole" }, r.build || "not known"),
                h("td", { class: "mono soft" }, (r.commit || "").slice(0, 12)),
                COUNTS.map((n) =>
                  h("td", { class: "n " + (r[n] ? CODE_OF[n] : "zero") }, r[n] ? num(r[n]) : "·"),
                ),
                h("td", { class: "n soft" }, wall(r.seconds)),
                h("td", {}, r.incomplete ? badge("I", r.incomplete) : ""),
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}
