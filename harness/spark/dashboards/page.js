/* Tabs, filter, theme, links. What stands after # in the address can be sent to somebody. */
const TABS = {
  overview: ["Overview", overview, () => ""],
  differences: ["Differences", differences, () => TO_SEE.filter((r) => "BD".includes(r[2])).length],
  claims: ["Claims", claims, () => D.claims.length],
  apis: ["APIs", apis, () => ""],
  changes: [
    "Changes",
    changes,
    () =>
      D.summary.changes.filter((r) => r.kind === "regressed").reduce((n, r) => n + r.cases, 0) ||
      "",
  ],
  stability: ["Stability", stability, () => courses("flaky") + courses("alternates") || ""],
  runs: ["Runs", runs, () => ""],
};
let TAB = "overview";
const view = document.getElementById("view");
const filter = document.getElementById("filter");

function draw() {
  const tabs = Object.entries(TABS).map(([id, [name, , count]]) => {
    const n = count();
    return h(
      "a",
      { href: "#" + id, role: "tab", "aria-selected": String(id === TAB) },
      name,
      n !== ""
        ? h("em", { class: ["differences", "changes"].includes(id) && n ? "hot" : "" }, num(n))
        : null,
    );
  });
  document.getElementById("tabs").replaceChildren(...tabs);
  view.replaceChildren(...TABS[TAB][1]().flat(3).filter(Boolean));
}

function go(tab, words) {
  if (words !== undefined) {
    filter.value = words;
    setFilter();
  }
  TAB = tab;
  STATE.shown = 200;
  history.pushState(null, "", "#" + tab);
  draw();
  window.scrollTo(0, 0);
}

function setFilter() {
  NEEDLES = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  STATE.shown = 200;
}

function route() {
  const [what, target, name] = location.hash.slice(1).split("/").map(decodeURIComponent);
  if (what === "case") {
    const t = T.findIndex((x) => x.target === target);
    const c = D.cases.findIndex((_, i) => caseName(i) === name);
    draw();
    if (t >= 0 && c >= 0) openCase(t, c);
    return;
  }
  TAB = TABS[what] ? what : "overview";
  STATE.shown = 200;
  drawer.hidden = true;
  draw();
}

const theme = document.getElementById("theme");
const stored = (() => {
  try {
    return localStorage.getItem("touchstone-theme");
  } catch {
    return null;
  }
})();
const setTheme = (name) => document.documentElement.setAttribute("data-theme", name);
setTheme(stored || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
theme.addEventListener("click", () => {
  const name = document.documentElement.getAttribute("data-theme") === "dark" ? "light" : "dark";
  setTheme(name);
  try {
    localStorage.setItem("touchstone-theme", name);
  } catch {
    /* a file: page may have no storage */
  }
});

let waiting = 0;
filter.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    setFilter();
    draw();
  }, 120);
});
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && document.activeElement !== filter) {
    e.preventDefault();
    filter.focus();
  }
  if (e.key === "Escape") {
    if (!drawer.hidden) shut();
    else if (filter.value) {
      filter.value = "";
      setFilter();
      draw();
    }
  }
});
addEventListener("hashchange", route);
addEventListener("popstate", route);

const cases = T.reduce((n, t) => n + t.cases, 0);
document.getElementById("scope").textContent =
  plural(T.length, "target") +
  " · " +
  plural(cases, "case") +
  (RUNS.length ? " · " + plural(RUNS.length, "run") + " on " : "") +
  (DATES.length > 1 ? plural(DATES.length, "date") : DATES.join(""));
route();
