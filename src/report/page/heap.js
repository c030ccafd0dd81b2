/**
 * @fileoverview The page of a heap: records of a dump, or the heap over time, with a list of allocation sites and the views.
 *
 * What differs between the two kinds of files is in the two models below; views ask the model alone. The address's part behind #
 * says what is shown (#view/measure/snapshot/chosen).
 */
import { Frame, addressParts, drawChoice, drawTitle } from "./frame.js";
import { BlocksView } from "./blocks.js";
import { HeapFlameView } from "./heap_flame.js";
import { TimelineView } from "./timeline.js";
import { numbers } from "./profile.js";
import { colorOfName, count, element, percent } from "./format.js";

/** Records of a dump, or of the difference of two: what shrank has negative values. */
class DumpModel {
  constructor(data) {
    this.data = data;
    this.measures = [["usable", "Bytes with slop"], ["requested", "Requested bytes"], ["slop", "Slop"], ["blocks", "Blocks"]];
    this.values = this.measures.map(([name]) => numbers(data.records[name]));
    this.stacks = data.records.stacks.map((text) => [...numbers(text)].map((name) => data.names[name]));
    this.snapshots = [];
    this.views = ["flame", "stack", ...(data.graph ? ["blocks"] : [])];
    if (data.graph) for (const node of data.graph.nodes) node.frames = node.stack ? [...numbers(node.stack)].map((name) => data.names[name]) : [];
    this.first = data.graph ? "blocks" : "flame";
  }

  total(state) {
    return this.values[state.measure].reduce((sum, value) => sum + value, 0);
  }

  /** [{stack, value}], stacks innermost first. */
  stacksOf(state) {
    return this.stacks.map((stack, record) => ({ stack, value: this.values[state.measure][record] }));
  }

  /** The list on the left: [{key, name, title, value}]. */
  sites(state) {
    return this.stacks.map((stack, record) => ({ key: String(record), name: stack[0] ?? "(no frames)", title: stack.join("\n"), value: this.values[state.measure][record] }))
      .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  }

  describe(state) {
    const stack = this.stacks[Number(state.chosen)];
    return state.chosen === "" || !stack ? "all records" : stack[0] ?? "(no frames)";
  }

  accepts(chosen) {
    return /^\d+$/.test(chosen) && Number(chosen) < this.stacks.length;
  }
}

const SMALL = /^in \d+ places?, (all )?below/;

/** Massif's snapshots. What is chosen is a way of names: an allocation site, who called it, and so on. */
class TimeModel {
  constructor(data) {
    this.data = data;
    this.measures = [["heap", `Bytes over time (${data.time_unit})`]];
    this.times = numbers(data.snapshots.time);
    this.heap = numbers(data.snapshots.heap);
    this.extra = numbers(data.snapshots.extra);
    this.stackBytes = numbers(data.snapshots.stacks);
    this.peak = data.peak;
    this.joinSmall();
    this.trees = new Map(data.trees.map((tree) => [tree.snapshot, this.grow(tree)]));
    this.snapshots = [...this.trees.keys()];
    this.views = ["timeline", "flame"];
    this.first = "timeline";
  }

  /** "in 7 places, all below massif's threshold (1.00%)": one name, however many. */
  joinSmall() {
    const { names } = this.data, first = names.findIndex((name) => SMALL.test(name));
    this.joined = names.map((name, number) => (SMALL.test(name) ? first : number));
    if (first >= 0) names[first] = "places below the threshold";
  }

  /** A tree of {name, value, children: Map}; lines with the same name below the same are one. */
  grow(tree) {
    const depths = numbers(tree.depths), bytes = numbers(tree.bytes), names = numbers(tree.names), way = [];
    depths.forEach((depth, line) => {
      const above = way[depth - 1], name = this.joined[names[line]];
      const node = above?.children.get(name) ?? { name, value: 0, children: new Map() };
      node.value += bytes[line];
      above?.children.set(name, node);
      way[depth] = node;
      way.length = depth + 1;
    });
    return way[0] ?? { name: -1, value: 0, children: new Map() };
  }

  wayOf(state) {
    return state.chosen === "" ? [] : state.chosen.split(".").map(Number);
  }

  /** What stands at the end of a way in a snapshot's tree; nothing where it does not go so far. */
  nodeAt(snapshot, way) {
    return way.reduce((node, name) => node?.children.get(name), this.trees.get(snapshot));
  }

  total(state) {
    return this.nodeAt(state.snapshot, this.wayOf(state))?.value ?? 0;
  }

  stacksOf(state) {
    const found = [], names = this.data.names;
    const visit = (node, stack) => {
      let rest = node.value;
      for (const child of node.children.values()) {
        rest -= child.value;
        visit(child, [...stack, names[child.name]]);
      }
      if (rest > 0) found.push({ stack, value: rest });
    };
    const way = this.wayOf(state), start = this.nodeAt(state.snapshot, way);
    if (start) visit(start, way.map((name) => names[name]));
    return found;
  }

  sites(state) {
    const node = this.nodeAt(state.snapshot, this.wayOf(state));
    return [...(node?.children.values() ?? [])].sort((a, b) => b.value - a.value)
      .map(({ name, value }) => ({ key: [...this.wayOf(state), name].join("."), name: this.data.names[name], title: this.data.names[name], value }));
  }

  describe(state) {
    return state.chosen === "" ? "all allocation sites" : this.wayOf(state).map((name) => this.data.names[name]).join(" ‹ ");
  }

  accepts(chosen) {
    return /^\d+(\.\d+)*$/.test(chosen) && chosen.split(".").every((name) => Number(name) < this.data.names.length);
  }
}

/** All frames of one record. */
class StackView {
  constructor(place, state) {
    this.place = place;
    this.state = state;
  }

  draw() {
    const { model, chosen } = this.state, record = chosen === "" ? 0 : Number(chosen), stack = model.stacks[record];
    if (!stack) {
      this.place.replaceChildren(element("p", { class: "note" }, "There are no records."));
      return;
    }
    const values = model.measures.map(([, title], measure) => element("div", {}, element("dt", {}, title), element("dd", {}, count(model.values[measure][record]))));
    this.place.replaceChildren(element("div", { class: "scroll" }, element("dl", { class: "numbers" }, ...values), element("h3", {}, "Allocated at"),
      element("ol", { class: "stack" }, ...stack.map((frame) => element("li", {}, frame)))));
  }
}

const VIEWS = {
  timeline: { title: "Over time", View: TimelineView },
  flame: { title: "Flame graph", View: HeapFlameView },
  stack: { title: "Stack", View: StackView },
  blocks: { title: "Blocks around it", View: BlocksView },
};

const MOST_ROWS = 500;

export class HeapPage {
  constructor(data) {
    const model = data.kind === "massif" ? new TimeModel(data) : new DumpModel(data);
    this.model = model;
    this.state = { model, view: model.first, measure: 0, snapshot: this.firstSnapshot(), chosen: "" };
    this.frame = new Frame(Object.fromEntries(model.views.map((name) => [name, VIEWS[name].title])), (view) => this.go({ view }), () => this.follow());
    this.place = this.frame.place;
    this.views = Object.fromEntries(model.views.map((name) => [name, new VIEWS[name].View(this.place, this.state, (change) => this.go(change))]));
    this.drawHead();
    document.getElementById("search").addEventListener("input", () => this.drawSites());
    this.frame.onResize(() => this.views[this.state.view].draw());
  }

  /** The peak, if its tree is known, else the last one that is. */
  firstSnapshot() {
    const { snapshots, peak } = this.model;
    return snapshots.includes(peak) ? peak : snapshots.at(-1) ?? 0;
  }

  drawHead() {
    const { data, measures } = this.model;
    drawTitle({ title: data.files.join(" → "), command: data.command ?? `mode ${data.mode}`, descriptions: data.descriptions,
                leftOut: data.left_out });
    drawChoice(measures.map(([, name]) => [name]), (measure) => this.go({ measure }));
    document.getElementById("event-label").textContent = "Measure";
    document.getElementById("functions").setAttribute("aria-label", "Allocation sites");
    document.getElementById("functions").classList.add("sites");
    document.getElementById("search").placeholder = "Search frames";
    document.getElementById("whole").textContent = "All";
    document.getElementById("whole").addEventListener("click", () => this.go({ chosen: "" }));
  }

  /** Every word of the search must be in some frame. */
  drawSites() {
    const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const total = this.model.total(this.state);
    const rows = this.model.sites(this.state).filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)));
    document.querySelector("#functions thead").replaceChildren(element("tr", {}, ...[this.model.measures[this.state.measure][1], "Share", "Allocated at"].map((name) =>
      element("th", { scope: "col" }, name))));
    document.querySelector("#functions tbody").replaceChildren(...rows.slice(0, MOST_ROWS).map((row) => {
      const share = total ? row.value / total : 0;
      return element("tr", { "data-key": row.key, "aria-selected": row.key === this.state.chosen ? "true" : "false" },
        element("td", { class: "self", style: `--share: ${Math.max(0, Math.min(100, 100 * share))}%` }, count(row.value)),
        element("td", { class: "number share" }, percent(share)),
        element("td", { class: "name", title: row.title }, element("span", { class: "swatch", style: `background: ${colorOfName(row.name)}` }),
          element("button", { type: "button", onclick: () => this.choose(row.key) }, row.name)));
    }));
    document.getElementById("more").textContent = rows.length > MOST_ROWS ? `${count(rows.length - MOST_ROWS)} more: search for them` : `${count(rows.length)} sites`;
  }

  choose(key) {
    this.go({ chosen: key, ...(this.state.view === "flame" && this.views.stack ? { view: "stack" } : {}) });
  }

  go(change) {
    const next = { ...this.state, ...change };
    this.frame.go([next.view, next.measure, next.snapshot, next.chosen]);
  }

  /** Show what the address says; what it says wrong is as if it were not there. */
  follow() {
    const [view, measure, snapshot, chosen] = addressParts();
    const { model, state } = this;
    state.view = model.views.includes(view) ? view : model.first;
    state.measure = measure && model.measures[Number(measure)] !== undefined ? Number(measure) : 0;
    state.snapshot = snapshot && model.snapshots.includes(Number(snapshot)) ? Number(snapshot) : this.firstSnapshot();
    state.chosen = chosen && model.accepts(chosen) ? chosen : "";
    document.getElementById("event").value = String(state.measure);
    document.getElementById("chosen").textContent = model.describe(state);
    this.frame.markTab(state.view);
    this.drawSites();
    this.views[state.view].draw();
  }

  start() {
    this.follow();
    this.frame.ready();
  }
}
