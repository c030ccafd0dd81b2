/**
 * @fileoverview Callers and callees of the chosen function, as two tables.
 */
import { baseName, count, element, percent } from "./format.js";

export class CallsView {
  constructor(place, state, choose) {
    this.place = place;
    this.state = state;
    this.choose = choose;
  }

  /** Arcs of one function, internal ones marked. */
  rowsOf(node, isCallers) {
    const { profile, event } = this.state, costs = profile.arcCosts.of(event), rows = [];
    if (profile.isCycle(node)) return profile.neighbours(node, event, isCallers);
    for (const arc of isCallers ? profile.arcsTo(node) : profile.arcsFrom(node)) {
      const other = isCallers ? profile.callers[arc] : profile.callees[arc];
      const note = other === node ? "itself" : profile.isInternal(arc) ? "in the cycle" : "";
      rows.push({ node: other, cost: costs[arc], calls: profile.arcCalls[arc], note });
    }
    return rows.sort((a, b) => b.cost - a.cost);
  }

  table(title, rows) {
    const { profile, event } = this.state;
    return element("section", { class: "calls", "data-title": title }, element("h3", {}, title), element("table", {},
      element("thead", {}, element("tr", {}, ...[profile.events[event], "", "Calls", "Function", "File"].map((name) =>
        element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...rows.map((row) => element("tr", { "data-node": row.node },
        element("td", { class: "number" }, count(row.cost)), element("td", { class: "number" }, percent(profile.share(row.cost, event))),
        element("td", { class: "number" }, row.calls ? count(row.calls) : ""),
        element("td", { class: "name" }, element("button", { type: "button", onclick: () => this.choose(row.node) }, profile.names[row.node]),
                row.note ? ` (${row.note})` : ""),
        element("td", {}, profile.isCycle(row.node) ? "" : baseName(profile.files[row.node])))))),
      rows.length === 0 ? element("p", { class: "note" }, "none") : null);
  }

  draw() {
    const { profile, event, node } = this.state;
    const numbers = [["Self", profile.self(node, event)], ["Inclusive", profile.inclusive(node, event)]].map(([title, cost]) =>
      element("div", {}, element("dt", {}, title), element("dd", {}, `${count(cost)} (${percent(profile.share(cost, event)) || "0 %"})`)));
    numbers.push(element("div", {}, element("dt", {}, "Calls"), element("dd", {}, count(profile.called[node]) +
      (profile.recursions[node] > 0 ? `, and ${count(profile.recursions[node])} recursive` : ""))));
    const cycle = profile.cycleOf[node];
    if (cycle !== undefined && cycle !== node) {
      numbers.push(element("div", {}, element("dt", {}, "In"), element("dd", { class: "name" },
        element("button", { type: "button", onclick: () => this.choose(cycle) }, profile.names[cycle]))));
    }
    const members = profile.isCycle(node) ? [this.table("Members", profile.below(node, event))] : [];
    this.place.replaceChildren(element("div", { class: "scroll" }, element("dl", { class: "numbers" }, ...numbers), ...members,
      this.table("Callers", this.rowsOf(node, true)), this.table("Callees", this.rowsOf(node, false))));
  }
}
