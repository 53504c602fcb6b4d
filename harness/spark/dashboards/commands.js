/* Commands for one case, as one types them in a shell. */
const address = (path) => path.split("/").map(encodeURIComponent).join("/");

/* As Python's shlex.quote: nothing in a name is read by a shell. */
const quoted = (word) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\"'\"'") + "'";

/* The word behind --target, which for a target file is no name. */
function targetWord(t) {
  const words = T[t].arguments || [];
  const at = words.indexOf("--target");
  return at < 0 ? T[t].target : words[at + 1];
}

/* Where a file beside the result file is: from the disk as a whole path, so that the command runs
   in any folder; from a web server as seen from the page. */
function placeOf(path) {
  if (location.protocol !== "file:") return path;
  return decodeURIComponent(new URL(address(path), location.href).pathname);
}

function commandsOf(t, c, transcript) {
  const node = claimOf(c)[5];
  const found = [];
  if (node.length) {
    const words = D.cases[c][1].replace(/^[[\]]+|[[\]]+$/g, "");
    const name = [T[t].target, words].filter(Boolean).join("-");
    const last = node[node.length - 1] + "[" + name + "]";
    const said = T[t].arguments || [];
    const options = said.length ? said : ["--target", T[t].target];
    const where = node.length > 1 ? "" : ", in the repository";
    const argv = ["pytest", ...node.slice(0, -1), last, ...options];
    found.push(["ask again" + where, argv]);
  }
  if (transcript) {
    const file = placeOf(D.folders[t] + "/" + transcript);
    const to = ["--target", targetWord(t)];
    found.push(["send the same bytes again", ["touchstone", "replay", file, ...to]]);
    found.push(["both answers, field by field", ["touchstone", "diff", file]]);
  }
  return found.map(([what, argv]) => [what, argv.map(quoted).join(" ")]);
}

function commandNodes(t, c, transcript) {
  const commands = D.codes[t][c] === "." ? [] : commandsOf(t, c, transcript);
  if (!commands.length) return [];
  return [
    h("h3", {}, "Commands"),
    commands.map(([what, line]) =>
      h("div", { class: "command" }, h("span", { class: "soft" }, what), h("pre", {}, line)),
    ),
  ];
}
