/* Claim by target, API by version: every cell opens what is behind it. */
function claims() {
  const heads = columnHeads(T.map((t) => t.target));
  const groups = D.suites
    .map((suite, s) => [
      suite,
      D.claims
        .map((row, k) => k)
        .filter((k) => D.claims[k][1] === s && CASES_OF[k].length && claimMatches(k)),
    ])
    .filter((g) => g[1].length);
  groups.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  if (!groups.length)
    return [
      empty("No claim matches", "The filter looks at ids, sentences, levels, evidence and APIs."),
    ];
  const bodies = groups.map(([suite, list]) => {
    const closed = STATE.closed.has(suite);
    const sums = T.map((_, t) => list.reduce((n, k) => add(n, tally(t, CASES_OF[k])), {}));
    const top = h(
      "tr",
      {
        class: "group",
        onclick: () => {
          closed ? STATE.closed.delete(suite) : STATE.closed.add(suite);
          draw();
        },
      },
      h(
        "th",
        { class: "row" },
        (closed ? "▸ " : "▾ ") + suite,
        h("span", { class: "soft" }, "  " + plural(list.length, "claim")),
      ),
      sums.map((n) => {
        const bad = (n.D || 0) + (n.B || 0);
        return h(
          "td",
          { class: "cell" + (bad ? " bad" : "") },
          total(n) ? (bad ? "✗ " + num(bad) : num(total(n))) : "·",
        );
      }),
    );
    return h(
      "tbody",
      {},
      top,
      closed
        ? null
        : list.map((k) =>
            h(
              "tr",
              {},
              h(
                "th",
                { class: "row", title: D.claims[k][2] },
                h(
                  "div",
                  { class: "line" },
                  h("span", { class: "mono" }, D.claims[k][0].replace(suite + ".", "")),
                  h("span", { class: "say" }, D.claims[k][2] || ""),
                ),
              ),
              T.map((_, t) => cell(tally(t, CASES_OF[k]), () => openClaim(k, t), !heads.tall)),
            ),
          ),
    );
  });
  return [
    legend(),
    h(
      "div",
      { class: "card stay" },
      h(
        "table",
        { class: "matrix wide" + (heads.tall ? " tall" : "") },
        heads.widths,
        h("thead", {}, h("tr", {}, h("th", { class: "row" }, "Claim"), heads.cells)),
        bodies,
      ),
    ),
  ];
}

function apis() {
  const cells = new Map();
  let highest = 0;
  const chosen = STATE.target < 0 ? T.map((_, i) => i) : [STATE.target];
  D.cases.forEach((row, c) => {
    const api = apiOf(c),
      v = row[3];
    if (api === null || v === null || !caseMatches(null, c)) return;
    if (!cells.has(api)) cells.set(api, new Map());
    const n = cells.get(api);
    if (!n.has(v)) n.set(v, [{}, []]);
    chosen.forEach((t) => {
      const k = D.codes[t][c];
      if (k !== ".") n.get(v)[0][k] = (n.get(v)[0][k] || 0) + 1;
    });
    n.get(v)[1].push(c);
    highest = Math.max(highest, v);
  });
  const versions = Array.from({ length: highest + 1 }, (_, v) => v);
  const rows = [...cells.keys()].sort();
  return [
    h(
      "div",
      { class: "chips" },
      targetPicker(),
      legend().childNodes.length ? [..."CKDIUB"].map((k) => badge(k)) : null,
    ),
    rows.length
      ? h(
          "div",
          { class: "card fit" },
          h(
            "table",
            { class: "matrix" },
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                h("th", { class: "row" }, "API"),
                versions.map((v) => h("th", { class: "col" }, "v" + v)),
              ),
            ),
            h(
              "tbody",
              {},
              rows.map((api) =>
                h(
                  "tr",
                  {},
                  h("th", { class: "row mono" }, api),
                  versions.map((v) => {
                    const n = cells.get(api).get(v);
                    return n
                      ? cell(n[0], () => openCases(api + " v" + v, n[1], chosen), true)
                      : h("td", { class: "cell none" }, "");
                  }),
                ),
              ),
            ),
          ),
        )
      : empty("No API matches", ""),
  ];
}
