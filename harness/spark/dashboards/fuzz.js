/* What fuzz campaigns played, and the causes that they found: with oracle, API and the file. */
function fuzzNodes() {
  if (!D.summary.fuzz.length) return [];
  const causes = D.summary.fuzz_causes;
  return [
    title("Fuzz campaigns", "of all runs"),
    fuzzTable(),
    title("Causes of fuzz runs", plural(D.summary.fuzz_found, "cause")),
    causes.length
      ? [
          paged(causes, fuzzCauses),
          note(more(D.summary.fuzz_found - causes.length, "cause")) ||
            note("touchstone fuzz --target T --replay FILE plays a file again"),
        ]
      : empty("No cause", "Nothing that a campaign saw was a finding."),
  ];
}

/* A cause that did not repeat five times is unsteady. */
function fuzzTable() {
  return card(
    h(
      "table",
      {},
      head(
        "Target",
        "Campaign",
        numeric("executions"),
        numeric("per second"),
        numeric("signatures"),
        numeric("causes"),
        numeric("unsteady"),
      ),
      h(
        "tbody",
        {},
        D.summary.fuzz.map((x) =>
          h(
            "tr",
            {},
            h("td", { class: "mono" }, x.target),
            h("td", {}, x.campaign, x.died ? " (the target died)" : null),
            h("td", { class: "n" }, num(x.executions)),
            h("td", { class: "n" }, x.seconds ? num(Math.round(x.executions / x.seconds)) : "·"),
            h("td", { class: "n" }, num(x.signatures)),
            h("td", { class: "n" }, num(x.causes)),
            h("td", { class: "n" }, num(x.unsteady)),
          ),
        ),
      ),
    ),
  );
}

function fuzzCauses(part) {
  return card(
    h(
      "table",
      {},
      head("Target", "Campaign", "Oracle", "API", "What", numeric("met"), "Repeats", "File"),
      h(
        "tbody",
        {},
        part.map((x) =>
          h(
            "tr",
            {},
            h("td", { class: "mono" }, x.target),
            h("td", {}, x.campaign),
            h("td", { class: "mono" }, x.oracle),
            h("td", { class: "mono" }, x.api),
            h("td", {}, x.sentence),
            h("td", { class: "n" }, num(x.members)),
            h("td", {}, x.repeats === 5 ? "5 of 5" : tag(x.repeats + " of 5, unsteady")),
            h("td", { class: "mono" }, h("a", { href: address(x.file) }, x.file)),
          ),
        ),
      ),
    ),
  );
}
