/* The embedded data and questions about it. Nothing here touches the document. */
const D = JSON.parse(document.getElementById("data").textContent);
const T = D.summary.targets;
/* Every verdict has a word, a mark and a class: colour is never the only carrier. */
const KINDS = {
  C: { word: "conforms", mark: "✓" },
  K: { word: "known difference", mark: "≈" },
  D: { word: "diverges", mark: "✗" },
  I: { word: "inconclusive", mark: "?" },
  U: { word: "unsupported", mark: "○" },
  B: { word: "broken", mark: "!" },
  ".": { word: "no such case here", mark: "" },
  "-": { word: "absent", mark: "" },
  "/": { word: "not run", mark: "" },
};
const WORST = "BDIKUC";
const STATUS = {
  conforms: { code: "C", word: "conforms" },
  diverges: { code: "D", word: "diverges" },
  inconclusive: { code: "I", word: "inconclusive" },
  broken: { code: "B", word: "broken" },
  incomplete: { code: "I", word: "incomplete" },
};
const COUNTS = ["conforms", "known", "diverges", "inconclusive", "unsupported", "broken"];
const CODE_OF = {
  conforms: "C",
  known: "K",
  diverges: "D",
  inconclusive: "I",
  unsupported: "U",
  broken: "B",
};

const text = (n) => (n < 0 ? null : D.strings[n]);
const claimOf = (c) => D.claims[D.cases[c][0]];
const caseName = (c) => {
  const label = D.cases[c][1];
  const claim = claimOf(c)[0];
  return label.startsWith("[") || label.startsWith("@") || label.startsWith("-") || label === ""
    ? claim + label
    : label;
};
const apiOf = (c) => text(D.cases[c][2]);
const versionOf = (c) => D.cases[c][3];

/* claim number -> its case numbers; (target, case) -> evidence */
const CASES_OF = D.claims.map(() => []);
D.cases.forEach((row, c) => CASES_OF[row[0]].push(c));
const DETAIL = D.details.map((rows) => new Map(rows.map((r) => [r[0], r])));

function detail(t, c) {
  const r = DETAIL[t].get(c);
  if (!r) return null;
  return {
    connection: text(r[1]),
    reason: text(r[2]),
    known: text(r[3]),
    transcript: text(r[4]),
    differences: r[5].map((n) => D.differences[n].map(text)),
    findings: r[6].map((n) => D.findings[n].map(text)),
    unlisted: r[7],
    unfound: r[8],
  };
}

/* Counts by letter of some cases of one target; `.` is left out. */
function tally(t, cases) {
  const n = {};
  const codes = D.codes[t];
  for (const c of cases) {
    const k = codes[c];
    if (k !== ".") n[k] = (n[k] || 0) + 1;
  }
  return n;
}
const add = (a, b) => {
  for (const k in b) a[k] = (a[k] || 0) + b[k];
  return a;
};
const total = (n) => Object.values(n).reduce((a, b) => a + b, 0);
const worst = (n) => {
  for (const k of WORST) if (n[k]) return k;
  return ".";
};

/* What a filter looks at, made once per claim. Claims match as wholes: a claim is a sentence. */
const HAY = D.claims.map((row, k) => {
  const apis = new Set(CASES_OF[k].map((c) => apiOf(c)));
  return [row[0], row[2], row[3], D.suites[row[1]], ...row[4], ...apis].join(" ").toLowerCase();
});
let NEEDLES = [];
const claimMatches = (k) => NEEDLES.every((w) => HAY[k].includes(w));
function caseMatches(t, c) {
  if (!NEEDLES.length) return true;
  let hay =
    HAY[D.cases[c][0]] +
    " " +
    D.cases[c][1].toLowerCase() +
    " " +
    (t === null ? "" : T[t].target.toLowerCase());
  if (NEEDLES.every((w) => hay.includes(w))) return true;
  const d = t === null ? null : detail(t, c);
  if (!d) return false;
  hay += [d.reason, d.known, ...d.differences.flat(), ...d.findings.flat()].join(" ").toLowerCase();
  return NEEDLES.every((w) => hay.includes(w));
}

/* Every case of every target that needs a look: worst first, then by claim, case, target. */
const TO_SEE = [];
D.codes.forEach((codes, t) => {
  for (let c = 0; c < codes.length; c++)
    if ("BDKI".includes(codes[c])) TO_SEE.push([t, c, codes[c]]);
});
TO_SEE.sort((a, b) => WORST.indexOf(a[2]) - WORST.indexOf(b[2]) || a[1] - b[1] || a[0] - b[0]);

const oracleName = (t) => t.oracle.replace(/^(recorded|kafka|docker)@/, "Kafka ");
const live = (t) => t.oracle_kind !== "recorded";
const num = (n) => n.toLocaleString("en-US");
/* How long a run took by the clock on the wall; one that was cut states no end. */
const wall = (s) =>
  s === null ? "·" : s >= 3600 ? (s / 3600).toFixed(1) + " h" : seconds(s * 1e6);
const RUNS = D.summary.runs;
const DATES = D.summary.nights;
const when = (stamp) => (stamp || "").replace("T", " ").slice(0, 16);
const seconds = (us) =>
  us >= 60e6
    ? (us / 60e6).toFixed(1) + " min"
    : us >= 1e6
      ? (us / 1e6).toFixed(1) + " s"
      : (us / 1e3).toFixed(us < 1e4 ? 1 : 0) + " ms";
const plural = (n, word) => num(n) + " " + word + (n === 1 ? "" : "s");
