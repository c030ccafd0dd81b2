/**
 * @fileoverview The flame graph of a heap, by d3-flame-graph: from the program's start inwards, the allocations at the tips.
 */
import flamegraph from "d3-flame-graph";
import { select } from "d3-selection";
import { colorOfName, count, element, percent } from "./format.js";

const MOST_FRAMES = 6000;

/** Stacks, innermost first, as a tree from the outside: {name, value, children}. What shrank is left out. */
export function growFlames(stacks) {
  const top = { name: "all", value: 0, children: [], below: new Map() };
  let isCut = false, frames = 0, shrunk = 0;
  for (const { stack, value } of [...stacks].sort((a, b) => b.value - a.value)) {
    if (value <= 0) {
      shrunk += value < 0;
      continue;
    }
    top.value += value;
    let node = top;
    for (let place = stack.length - 1; place >= 0; place--) {
      let next = node.below.get(stack[place]);
      if (!next) {
        if (frames++ > MOST_FRAMES) {
          isCut = true;
          break;
        }
        next = { name: stack[place], value: 0, children: [], below: new Map() };
        node.below.set(stack[place], next);
        node.children.push(next);
      }
      next.value += value;
      node = next;
    }
  }
  return { top, isCut, shrunk };
}

export class HeapFlameView {
  constructor(place, state, go) {
    this.place = place;
    this.state = state;
    this.go = go;
  }

  /** The choice of a snapshot, where there are several. */
  snapshotChoice() {
    const { model, snapshot } = this.state;
    if (model.snapshots.length === 0) return null;
    return element("label", {}, "Snapshot ", element("select", { id: "snapshot", onchange: (event) => this.go({ snapshot: Number(event.target.value) }) },
      ...model.snapshots.map((number) => element("option", { value: number, selected: number === snapshot },
        `${number}: ${count(model.heap[number])} bytes${number === model.peak ? ", peak" : ""}`))));
  }

  draw() {
    const { model, state } = { model: this.state.model, state: this.state };
    const { top, isCut, shrunk } = growFlames(model.stacksOf(state));
    const details = element("span", { class: "note", id: "flame-details" }, " ");
    this.picture = element("div", { class: "picture flames", id: "flame" });
    this.place.replaceChildren(element("div", { class: "tools" }, element("button", { type: "button", onclick: () => chart.resetZoom() }, "Whole width"),
      this.snapshotChoice(), details), this.picture);
    const describe = ({ data }) => `${data.name}: ${count(data.value)} (${percent(top.value ? data.value / top.value : 0) || "0 %"})`;
    const chart = flamegraph().width(Math.max(100, this.picture.clientWidth - 2)).cellHeight(18).inverted(true).sort(true)
      .minFrameSize(1).transitionDuration(0).selfValue(false)
      .color(({ data }) => (data === top ? "var(--box-program)" : colorOfName(data.name)))
      .label(describe).onClick((frame) => {
        details.textContent = ` ${describe(frame)}`;
        this.makeReachable(describe);
      });
    select(this.picture).datum(top).call(chart);
    details.textContent = [isCut ? " The smallest frames are left out." : "", shrunk ? ` ${count(shrunk)} records that shrank are left out.` : ""].join("");
    this.makeReachable(describe);
  }

  /** Frames are groups of the library's: give them what buttons have. */
  makeReachable(describe) {
    select(this.picture).selectAll("g.frame").attr("tabindex", 0).attr("role", "button").attr("data-name", ({ data }) => data.name)
      .attr("aria-label", describe).on("keydown", function (key) {
        if (key.key === "Enter" || key.key === " ") {
          key.preventDefault();
          this.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        }
      });
  }
}
