/**
 * @fileoverview The list of functions: search, sorting, choosing one. Only so many rows are drawn at a time.
 */
import { baseName, count, element, percent } from "./format.js";

const ROWS = 200;

/** What the list can be sorted by. */
const COLUMNS = {
  inclusive: { title: "Inclusive", value: (profile, node, event) => profile.inclusive(node, event), isNumber: true },
  self: { title: "Self", value: (profile, node, event) => profile.self(node, event), isNumber: true },
  calls: { title: "Calls", value: (profile, node) => profile.calls(node), isNumber: true },
  name: { title: "Function", value: (profile, node) => profile.names[node] },
  file: { title: "File", value: (profile, node) => (profile.isCycle(node) ? "" : baseName(profile.files[node])) },
};

export class FunctionTable {
  /** `state` has profile, event, node; choose(node) is called with what the reader picks. */
  constructor(place, state, choose) {
    this.state = state;
    this.choose = choose;
    this.column = state.profile.hasCalls ? "inclusive" : "self";
    this.isDescending = true;
    this.limit = ROWS;
    this.search = place.querySelector("#search");
    this.search.addEventListener("input", () => {
      this.limit = ROWS;
      this.draw();
    });
    this.columns = Object.keys(COLUMNS).filter((name) => state.profile.hasCalls || (name !== "inclusive" && name !== "calls"));
    this.head = place.querySelector("thead");
    this.body = place.querySelector("tbody");
    this.foot = place.querySelector("#more");
  }

  sortBy(column) {
    this.isDescending = column === this.column ? !this.isDescending : Boolean(COLUMNS[column].isNumber);
    this.column = column;
    this.draw();
  }

  /** Every word must be in the name, the file or the object. */
  found() {
    const { profile, event } = this.state;
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const nodes = [];
    for (let node = 0; node < profile.nodeCount; node++) {
      const text = profile.isCycle(node) ? profile.names[node]
                                         : `${profile.names[node]}\n${profile.files[node]}\n${profile.objects[node]}`;
      const lower = words.length > 0 ? text.toLowerCase() : "";
      if (words.every((word) => lower.includes(word))) nodes.push(node);
    }
    const value = COLUMNS[this.column].value, sign = this.isDescending ? -1 : 1;
    const values = new Map(nodes.map((node) => [node, value(profile, node, event)]));
    return nodes.sort((a, b) => {
      const left = values.get(a), right = values.get(b);
      return left === right ? a - b : left < right ? -sign : sign;
    });
  }

  drawHead() {
    this.head.replaceChildren(element("tr", {}, ...this.columns.map((name) => {
      const order = name === this.column ? (this.isDescending ? "descending" : "ascending") : "none";
      return element("th", { "aria-sort": order, scope: "col" },
                     element("button", { type: "button", "data-sort": name, onclick: () => this.sortBy(name) },
                             `${COLUMNS[name].title}${order === "none" ? "" : this.isDescending ? " ▾" : " ▴"}`));
    })));
  }

  cell(name, node) {
    const { profile, event } = this.state;
    const value = COLUMNS[name].value(profile, node, event);
    if (name === "name") {
      const title = profile.isCycle(node) ? value : `${value}\n${profile.files[node]}\n${profile.objects[node]}`;
      return element("td", { class: name }, element("button", { type: "button", title, onclick: () => this.choose(node) }, value));
    }
    if (name === "file" || name === "calls") {
      return element("td", { class: name }, name === "calls" ? count(value) : value);
    }
    const share = profile.share(value, event);
    return element("td", { class: name, style: `--share: ${Math.min(100, 100 * share)}%` },
                   element("span", { class: "share" }, share < 0.0001 ? "" : percent(share)), element("span", { class: "number" }, count(value)));
  }

  draw() {
    const nodes = this.found();
    this.drawHead();
    this.body.replaceChildren(...nodes.slice(0, this.limit).map((node) =>
      element("tr", { "data-node": node, "aria-selected": node === this.state.node ? "true" : "false" },
              ...this.columns.map((name) => this.cell(name, node)))));
    const left = nodes.length - this.limit;
    this.foot.replaceChildren(left > 0
      ? element("button", { type: "button", onclick: () => { this.limit += 5 * ROWS; this.draw(); } },
                `${count(nodes.length)} functions; show more`)
      : `${count(nodes.length)} functions`);
  }

  /** The choice alone has changed. */
  mark() {
    for (const row of this.body.rows) {
      row.setAttribute("aria-selected", Number(row.dataset.node) === this.state.node ? "true" : "false");
    }
  }
}
