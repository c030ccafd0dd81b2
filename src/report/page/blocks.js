/**
 * @fileoverview The blocks and roots around one block: who points to whom, at which offset; laid out by dagre.
 */
import dagre from "@dagrejs/dagre";
import { select } from "d3-selection";
import { curveBasis, line } from "d3-shape";
import { zoom, zoomIdentity } from "d3-zoom";
import { colorOfName, count, element, makeButton } from "./format.js";

const WIDTH = 190, HEIGHT = 52, CHARACTERS = 26;

function cut(text) {
  return text.length <= CHARACTERS ? text : `${text.slice(0, CHARACTERS - 1)}…`;
}

/** Several pointers between the same two are one edge: {from, to, label}. */
export function joinEdges(edges) {
  const found = new Map();
  for (const { from, to, offset, inside, member, is_guess: isGuess } of edges) {
    const edge = found.get(`${from} ${to}`) ?? { from, to, offsets: [] };
    edge.offsets.push(`+${offset}${member ? ` ${member.replace(/^.*::/, "")}${isGuess ? "?" : ""}` : ""}${inside ? " (inside)" : ""}`);
    found.set(`${from} ${to}`, edge);
  }
  return [...found.values()].map(({ from, to, offsets }) =>
    ({ from, to, label: offsets.length > 3 ? `${offsets.slice(0, 3).join(", ")}, …` : offsets.join(", ") }));
}

export class BlocksView {
  constructor(place, state) {
    this.place = place;
    this.state = state;
  }

  layOut({ nodes }, edges) {
    const graph = new dagre.graphlib.Graph().setGraph({ rankdir: "TB", nodesep: 16, ranksep: 56 }).setDefaultEdgeLabel(() => ({}));
    nodes.forEach((node, number) => graph.setNode(String(number), { number, width: WIDTH, height: HEIGHT }));
    for (const edge of edges) if (edge.from !== edge.to) graph.setEdge(String(edge.from), String(edge.to), edge);
    dagre.layout(graph);
    return graph;
  }

  draw() {
    const data = this.state.model.data.graph, edges = joinEdges(data.edges), graph = this.layOut(data, edges);
    this.details = element("div", { class: "scroll block-details", id: "block-details" });
    const picture = element("div", { class: "picture", id: "blocks" });
    this.place.replaceChildren(element("div", { class: "tools note" },
      data.left_out ? `Owners above point to those below; some are left out (${count(data.left_out)} pointers).` : "Owners above point to those below."), picture, this.details);
    const svg = select(picture).append("svg"), canvas = svg.append("g");
    svg.append("defs").append("marker").attr("id", "block-arrow").attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4).attr("markerWidth", 7)
      .attr("markerHeight", 7).attr("orient", "auto").append("path").attr("class", "arrow").attr("d", "M0,0L8,4L0,8z");
    for (const key of graph.edges()) this.drawEdge(canvas, graph.edge(key));
    for (const key of graph.nodes()) this.drawBox(canvas, graph.node(key), data.nodes, edges);
    this.fit(svg, canvas, graph.graph(), picture);
    this.show(0, data.nodes);
  }

  drawEdge(canvas, edge) {
    canvas.append("path").attr("class", "edge").attr("marker-end", "url(#block-arrow)").attr("d", line().x((point) => point.x).y((point) => point.y).curve(curveBasis)(edge.points));
    const middle = edge.points[Math.floor(edge.points.length / 2)];
    canvas.append("text").attr("class", "offset").attr("data-from", edge.from).attr("data-to", edge.to).attr("x", middle.x + 4).attr("y", middle.y).text(edge.label);
  }

  drawBox(canvas, { number, x, y }, nodes, edges) {
    const node = nodes[number], toItself = edges.find((edge) => edge.from === number && edge.to === number);
    const title = node.root ?? node.address, more = node.root ? "root" : `${count(node.requested)} bytes${toItself ? `, itself at ${toItself.label}` : ""}`;
    const box = canvas.append("g").attr("class", number === 0 ? "box center" : "box").attr("data-number", number).attr("transform", `translate(${x - WIDTH / 2},${y - HEIGHT / 2})`);
    box.append("rect").attr("width", WIDTH).attr("height", HEIGHT).attr("rx", 4).attr("fill", node.root ? "var(--box-cycle)" : colorOfName(node.frames[0] ?? ""));
    const lines = node.root ? [title, more] : [title, more, node.frames[0] ?? ""];
    lines.forEach((text, place) => box.append("text").attr("class", place ? "numbers" : "").attr("x", WIDTH / 2).attr("y", 15 + 15 * place).text(cut(text)));
    box.append("title").text([title, more, ...node.frames].join("\n"));
    makeButton(box.node(), `${title}, ${more}`, () => this.show(number, nodes));
  }

  show(number, nodes) {
    const node = nodes[number];
    this.details.replaceChildren(element("h3", {}, node.root ?? `${node.address}, ${count(node.requested)} bytes`),
      element("ol", { class: "stack" }, ...node.frames.map((frame) => element("li", {}, frame))));
  }

  /** The whole picture, as large as fits; the wheel and the mouse move it. */
  fit(svg, canvas, size, picture) {
    const move = zoom().scaleExtent([0.05, 4]).on("zoom", ({ transform }) => canvas.attr("transform", transform));
    const scale = Math.min(1, picture.clientWidth / (size.width + 20), picture.clientHeight / (size.height + 20)) || 1;
    svg.call(move).call(move.transform, zoomIdentity.translate(Math.max(10, (picture.clientWidth - size.width * scale) / 2), 10).scale(scale));
  }
}
