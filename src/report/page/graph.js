/**
 * @fileoverview The call graph around the chosen function: boxes as large as what they cost, laid out by dagre.
 *
 * Upwards the chosen cost is traced back to the callers that caused it, downwards to the callees that are part of it; both in
 * proportion where there are several. Cycles are boxes of their own, so what is drawn has no loops.
 */
import dagre from "@dagrejs/dagre";
import { select } from "d3-selection";
import { curveBasis, line } from "d3-shape";
import { zoom, zoomIdentity } from "d3-zoom";
import { colorOf, count, describe, element, makeButton, percent } from "./format.js";

const MOST_BOXES = 80, ENOUGH_BOXES = 8;
/** Shares of the chosen cost from which on a box is shown; by itself the largest that shows enough. */
const THRESHOLDS = [0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001], AUTOMATIC = 0;

/** How much of the chosen node's cost reaches each node, by distance from it; and over which edges. */
function flow(profile, event, center, isCallers) {
  const costs = new Map([[center, profile.inclusive(center, event)]]), edges = [];
  for (const node of orderFrom(profile, event, center, isCallers)) {
    const cost = costs.get(node) ?? 0, whole = profile.inclusive(node, event);
    for (const row of profile.neighbours(node, event, isCallers)) {
      const part = whole > 0 ? row.cost * Math.min(1, cost / whole) : 0;
      costs.set(row.node, (costs.get(row.node) ?? 0) + part);
      edges.push({ from: isCallers ? row.node : node, to: isCallers ? node : row.node, cost: part, calls: row.calls });
    }
  }
  return { costs, edges };
}

/** What is reached from a node, each before those that it leads to: there are no loops between nodes. */
function orderFrom(profile, event, start, isCallers) {
  const order = [], seen = new Set([start]);
  const stack = [{ node: start, rows: profile.neighbours(start, event, isCallers), next: 0 }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1];
    if (top.next === top.rows.length) {
      order.push(top.node);
      stack.pop();
      continue;
    }
    const { node } = top.rows[top.next++];
    if (!seen.has(node)) {
      seen.add(node);
      stack.push({ node, rows: profile.neighbours(node, event, isCallers), next: 0 });
    }
  }
  return order.reverse();
}

/** Boxes of nodes that get at least the threshold's share of the chosen cost; AUTOMATIC: the largest that shows enough. */
function chooseBoxes(profile, event, center, threshold) {
  const whole = profile.inclusive(center, event);
  const parts = [flow(profile, event, center, true), flow(profile, event, center, false)];
  const [callers, callees] = parts.map(({ costs }) => [...costs].filter(([node, cost]) => node !== center && cost > 0));
  const candidates = [...callers, ...callees].sort((a, b) => b[1] - a[1]);
  const told = callees.length > 0 ? callees : callers; /* what starts a program is a long row of callers */
  const counts = THRESHOLDS.map((share) => told.filter(([, cost]) => cost >= whole * share).length);
  const enough = counts.findIndex((found) => found >= ENOUGH_BOXES);
  const least = whole * (threshold === AUTOMATIC ? THRESHOLDS[enough < 0 ? THRESHOLDS.length - 1 : enough] : threshold);
  const large = candidates.filter(([, cost]) => cost >= least);
  const boxes = new Map([[center, whole], ...large.slice(0, MOST_BOXES)]);
  const edges = parts.flatMap((part) =>
    part.edges.filter((edge) => boxes.has(edge.from) && boxes.has(edge.to) && edge.cost >= least / 2));
  return { boxes, edges, left: Math.max(0, large.length - MOST_BOXES), share: whole > 0 ? least / whole : 0 };
}

/** Labels are cut to their boxes: about so many pixels a character. */
const CHARACTER = 7;

function cut(text, width) {
  const most = Math.floor((width - 12) / CHARACTER);
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}

function layOut(profile, event, center, chosen) {
  const whole = profile.inclusive(center, event);
  const graph = new dagre.graphlib.Graph().setGraph({ rankdir: "TB", nodesep: 14, ranksep: 46 }).setDefaultEdgeLabel(() => ({}));
  for (const [node, cost] of chosen.boxes) {
    const scale = Math.sqrt(whole > 0 ? Math.min(1, cost / whole) : 0);
    graph.setNode(String(node), { node, cost, width: 110 + 130 * scale, height: 38 + 36 * scale });
  }
  for (const edge of chosen.edges) graph.setEdge(String(edge.from), String(edge.to), edge);
  dagre.layout(graph);
  return graph;
}

export class GraphView {
  constructor(place, state, choose) {
    this.place = place;
    this.state = state;
    this.choose = choose;
    this.threshold = AUTOMATIC;
    this.tools = element("div", { class: "tools" }, element("label", {}, "Show from ",
      element("select", { id: "graph-threshold", onchange: (event) => {
        this.threshold = Number(event.target.value);
        this.draw();
      } }, 
        element("option", { value: AUTOMATIC }, "what fits"),
        ...THRESHOLDS.map((value) => element("option", { value }, `${100 * value} %`))), " of the chosen function"));
    this.note = element("span", { class: "note" });
    this.tools.append(this.note);
    this.picture = element("div", { class: "picture", id: "graph" });
  }

  draw() {
    const { profile, event } = this.state;
    const center = profile.cycleOf[this.state.node] ?? this.state.node;
    const chosen = chooseBoxes(profile, event, center, this.threshold);
    const graph = layOut(profile, event, center, chosen);
    this.note.textContent = ` from ${percent(chosen.share)}${chosen.left > 0 ? `; ${count(chosen.left)} boxes are left out` : ""}`;
    this.place.replaceChildren(this.tools, this.picture);
    this.drawPicture(graph, center);
  }

  drawPicture(graph, center) {
    this.picture.replaceChildren();
    const svg = select(this.picture).append("svg").attr("role", "group").attr("aria-label", "Call graph");
    svg.append("defs").append("marker").attr("id", "arrow").attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4)
      .attr("markerWidth", 7).attr("markerHeight", 7).attr("orient", "auto").attr("markerUnits", "userSpaceOnUse")
      .append("path").attr("d", "M0 0L8 4L0 8z").attr("class", "arrow");
    const layer = svg.append("g");
    this.drawEdges(layer, graph);
    this.drawBoxes(layer, graph, center);
    const moving = zoom().scaleExtent([0.1, 4]).on("zoom", (event) => layer.attr("transform", event.transform));
    svg.call(moving);
    this.center(svg, moving, graph, center);
  }

  /** All of it if it fits, else the chosen box in the middle. */
  center(svg, moving, graph, center) {
    const { width, height } = this.picture.getBoundingClientRect();
    const size = graph.graph(), box = graph.node(String(center));
    const scale = Math.min(1, Math.max(0.6, Math.min(width / (size.width + 20), height / (size.height + 20))));
    const fits = size.width * scale <= width && size.height * scale <= height;
    const x = fits ? (width - size.width * scale) / 2 : width / 2 - box.x * scale;
    const y = fits ? 10 : Math.min(10, height / 2 - box.y * scale);
    svg.call(moving.transform, zoomIdentity.translate(x, y).scale(scale));
  }

  drawEdges(layer, graph) {
    const { profile, event } = this.state;
    const curve = line().x((point) => point.x).y((point) => point.y).curve(curveBasis);
    for (const end of graph.edges()) {
      const edge = graph.edge(end), share = profile.share(edge.cost, event);
      const path = layer.append("path").attr("class", "edge").attr("d", curve(edge.points)).attr("marker-end", "url(#arrow)")
        .attr("stroke-width", 1 + 5 * Math.min(1, share));
      path.append("title").text(`${profile.names[edge.from]} → ${profile.names[edge.to]}\n` +
                                `${count(edge.cost)} ${profile.events[event]} (${percent(share)}), ${count(edge.calls)} calls`);
    }
  }

  drawBoxes(layer, graph, center) {
    const { profile, event } = this.state;
    for (const name of graph.nodes()) {
      const { node, cost, x, y, width, height } = graph.node(name);
      const box = layer.append("g").attr("class", node === center ? "box center" : "box").attr("data-node", node)
        .attr("transform", `translate(${x - width / 2} ${y - height / 2})`);
      box.append("rect").attr("width", width).attr("height", height).attr("rx", 4).style("fill", colorOf(profile, node));
      box.append("text").attr("x", width / 2).attr("y", height / 2 - 3).text(cut(profile.names[node], width));
      box.append("text").attr("class", "numbers").attr("x", width / 2).attr("y", height / 2 + 13)
        .text(cut(`${percent(profile.share(cost, event))} · ${count(profile.calls(node))}×`, width));
      const label = describe(profile, event, node, cost, profile.calls(node));
      box.append("title").text(label);
      makeButton(box.node(), label, () => this.choose(node));
    }
  }
}
