/**
 * @fileoverview The flame graph of what the chosen function calls, by d3-flame-graph.
 */
import flamegraph from "d3-flame-graph";
import { select } from "d3-selection";
import { PROGRAM, growFileTree, growTree } from "./profile.js";
import { colorOf, count, describe, element, percent } from "./format.js";

const MOST_FRAMES = 6000, LEVELS = 300;

export class FlameView {
  constructor(place, state, choose) {
    this.place = place;
    this.state = state;
    this.choose = choose;
  }

  tree() {
    const { profile, event, node } = this.state;
    if (!profile.hasCalls) return growFileTree(profile, event);
    const root = node === PROGRAM ? { node, cost: profile.totals[event] } : { node, cost: profile.inclusive(node, event) };
    return growTree(profile, event, root, root.cost / 2000, MOST_FRAMES, LEVELS);
  }

  draw() {
    const { profile, event } = this.state;
    const { top, isCut } = this.tree();
    const details = element("span", { class: "note" }, " ");
    const open = element("button", { type: "button", disabled: true }, "Choose this function");
    this.picture = element("div", { class: "picture flames", id: "flame" });
    this.place.replaceChildren(element("div", { class: "tools" },
      element("button", { type: "button", onclick: () => chart.resetZoom() }, "Whole width"), open, details), this.picture);
    const label = ({ data }) => (data.file ? data.file : describe(profile, event, data.node, data.value, data.calls ?? 0));
    const chart = flamegraph().width(Math.max(100, this.picture.clientWidth - 2)).cellHeight(18).inverted(true).sort(true)
      .minFrameSize(1).transitionDuration(0).selfValue(false)
      .color(({ data }) => (data.file ? "var(--box-program)" : colorOf(profile, data.node)))
      .label(label).onClick((frame) => {
        details.textContent = ` ${frame.data.name}: ${count(frame.data.value)} (${percent(profile.share(frame.data.value, event))})`;
        open.disabled = frame.data.node < 0;
        open.onclick = () => this.choose(frame.data.node);
        this.makeReachable();
      });
    select(this.picture).datum(top).call(chart);
    details.textContent = isCut ? " The smallest frames are left out." : "";
    this.makeReachable();
  }

  /** Frames are groups of the library's: give them what buttons have. */
  makeReachable() {
    const { profile, event } = this.state;
    select(this.picture).selectAll("g.frame").attr("tabindex", 0).attr("role", "button")
      .attr("data-node", ({ data }) => data.node)
      .attr("aria-label", ({ data }) => `${data.name}, ${percent(profile.share(data.value, event))}`)
      .on("keydown", function (key) {
        if (key.key === "Enter" || key.key === " ") {
          key.preventDefault();
          this.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        }
      });
  }
}
