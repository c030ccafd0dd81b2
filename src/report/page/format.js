/**
 * @fileoverview Small things that all views of the page use: numbers as texts, elements, colours.
 */

export function count(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** A share as per cent. */
export function percent(share) {
  if (share > 0 && share < 0.00001) return "< 0.001 %";
  return share === 0 ? "" : `${(100 * share).toFixed(share < 0.001 ? 3 : share < 0.1 ? 2 : 1)} %`;
}

export function baseName(path) {
  const at = path.lastIndexOf("/");
  return at < 0 || at === path.length - 1 ? path : path.slice(at + 1);
}

/** element("td", {class: "x"}, "text", child ...): texts are never read as HTML. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Make something drawn reachable by the keyboard: Enter and space do what a click does. */
export function makeButton(node, label, action) {
  node.setAttribute("tabindex", "0");
  node.setAttribute("role", "button");
  node.setAttribute("aria-label", label);
  node.addEventListener("click", action);
  node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      action(event);
    }
  });
}

/** A steady colour for a text. */
export function colorOfName(name) {
  let hash = 7;
  for (const character of name) hash = (hash * 31 + character.codePointAt(0)) % 360;
  return `hsl(${hash} var(--box-saturation) var(--box-lightness))`;
}

/** A steady colour for a name: where the function is defined decides the hue. */
export function colorOf(profile, node) {
  if (node < 0) return "var(--box-program)";
  if (profile.isCycle(node)) return "var(--box-cycle)";
  const key = profile.objects[node] === "???" ? profile.files[node] : profile.objects[node];
  let hash = 7;
  for (const character of key) hash = (hash * 31 + character.codePointAt(0)) % 360;
  let shade = 3;
  for (const character of profile.names[node]) shade = (shade * 31 + character.codePointAt(0)) % 12;
  return `hsl(${hash} var(--box-saturation) calc(var(--box-lightness) + ${shade - 6}%))`;
}

/** What a node is called in titles and labels. */
export function describe(profile, event, node, cost, calls) {
  const lines = [node < 0 ? "the whole program" : profile.names[node]];
  if (node >= 0 && !profile.isCycle(node)) lines.push(`${profile.files[node]}\n${profile.objects[node]}`);
  lines.push(`${count(cost)} ${profile.events[event]} (${percent(profile.share(cost, event)) || "0 %"})`);
  if (calls >= 0.5) lines.push(`${count(calls)} calls`);
  return lines.join("\n");
}
