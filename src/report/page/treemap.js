/**
 * @fileoverview The tree-map: what a function calls, as areas; a click drills down into one of them.
 *
 * Without calls it shows files and their functions. `path` are the nodes from the chosen one down to what is shown.
 */
import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import { PROGRAM, growFileTree, growTree } from "./profile.js";
import { colorOf, describe, element, makeButton, percent } from "./format.js";

const LEVELS = 10, MOST_AREAS = 1500;

/** What of a node is no child's is an area of its own: what it costs itself, with what was too small to be in the tree. */
function withOwnPart(profile, event, place) {
  const children = place.children;
  const own = place.value - children.reduce((sum, child) => sum + child.value, 0);
  if (children.length === 0 || own <= 0) return children;
  const isFunction = place.node >= 0 && profile.inclusive(place.node, event) > 0;
  const self = isFunction ? profile.self(place.node, event) * place.value / profile.inclusive(place.node, event) : 0;
  return [...children, { node: place.node, name: own < 1.02 * self ? "(self)" : "(rest)", value: own, children: [], isOwn: true }];
}

export class TreeMapView {
  constructor(place, state, choose) {
    this.place = place;
    this.state = state;
    this.choose = choose;
    this.path = [];
  }

  /** Where drilling begins: the chosen function, or all of the program, down to where its cost first parts. */
  start() {
    const { profile, event, node } = this.state;
    const step = (place, cost) => ({ node: place, name: profile.names[place], cost });
    if (profile.hasCalls && node !== PROGRAM) return [step(node, profile.inclusive(node, event))];
    const way = profile.hasCalls ? profile.wayIn(event).map((place) => step(place.node, place.cost)) : [];
    return [{ node: PROGRAM, name: "all", cost: profile.totals[event] }, ...way];
  }

  show() {
    const start = this.start();
    if (this.path.length === 0 || this.path[0].node !== start[0].node || this.event !== this.state.event) {
      this.path = start;
      this.event = this.state.event;
    }
    this.draw();
  }

  tree() {
    const { profile, event } = this.state, root = this.path[this.path.length - 1];
    if (profile.hasCalls) return growTree(profile, event, root, root.cost / 2000, MOST_AREAS, LEVELS).top;
    const top = growFileTree(profile, event).top;
    return root.file === undefined ? top : top.children.find((child) => child.file === root.file) ?? top;
  }

  draw() {
    const crumbs = element("nav", { class: "tools crumbs", "aria-label": "Drilled down to" }, ...this.path.map((step, at) =>
      element("button", { type: "button", "aria-current": at === this.path.length - 1 ? "true" : null, title: step.name,
                          onclick: () => { this.path.length = at + 1; this.draw(); } }, step.name)));
    this.picture = element("div", { class: "picture", id: "treemap" });
    this.place.replaceChildren(crumbs, this.picture);
    const { width, height } = this.picture.getBoundingClientRect();
    const root = hierarchy(this.tree(), (place) => withOwnPart(this.state.profile, this.state.event, place)).sum((place) => (place.children.length === 0 ? place.value : 0));
    treemap().tile(treemapSquarify).size([Math.max(50, width), Math.max(50, height)]).paddingTop(18).paddingInner(1)
      .paddingLeft(2).paddingRight(2).paddingBottom(2).round(true)(root);
    for (const area of root.descendants()) {
      if (area.x1 - area.x0 >= 3 && area.y1 - area.y0 >= 3) this.drawArea(area);
    }
  }

  drawArea(area) {
    const { profile, event } = this.state, place = area.data;
    const label = place.file ?? describe(profile, event, place.node, place.value, place.calls ?? 0);
    const box = element("div", { class: `area${area.depth === 0 ? " top" : ""}`, title: label, "data-node": place.node,
      "data-depth": area.depth, "data-name": place.name,
      style: `left:${area.x0}px;top:${area.y0}px;width:${area.x1 - area.x0}px;height:${area.y1 - area.y0}px;` +
             `background:${place.file === undefined ? colorOf(profile, place.node) : "var(--box-program)"}` },
      element("span", {}, `${place.name} ${percent(profile.share(place.value, event))}`));
    if (area.depth > 0 && !place.isOwn) makeButton(box, label, (click) => { click.stopPropagation(); this.drill(area); });
    this.picture.append(box);
  }

  /** Down along the way from what is shown to the area. A function without anything below is chosen instead. */
  drill(area) {
    const steps = area.ancestors().reverse().slice(1).map(({ data }) =>
      ({ node: data.node, name: data.name, cost: data.value, file: data.file }));
    if (!this.state.profile.hasCalls && area.data.file === undefined) {
      this.choose(area.data.node);
      return;
    }
    this.path.push(...steps);
    this.draw();
  }
}
