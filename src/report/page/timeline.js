/**
 * @fileoverview The heap over time: a band for each allocation site, or for each caller of the one that was chosen; a band for what the
 * allocator added and one for the stacks; the peak marked.
 *
 * Bands are known at the detailed snapshots. At the others the heap's size is known, which is shared out as between the detailed ones
 * before and behind; the line above is the total.
 */
import { select } from "d3-selection";
import { area, line } from "d3-shape";
import { colorOfName, count, element, makeButton } from "./format.js";

const MOST_BANDS = 12, MARGIN = { left: 90, right: 12, top: 18, bottom: 26 };

/** The values of a band at all snapshots, from those at the detailed ones. */
function spread(model, values) {
  const shares = values.map((value, column) => (model.heap[model.snapshots[column]] ? value / model.heap[model.snapshots[column]] : 0));
  let next = 0;
  return [...model.times.keys()].map((snapshot) => {
    while (next < model.snapshots.length - 1 && model.snapshots[next] < snapshot) next++;
    const behind = model.snapshots[next], before = model.snapshots[Math.max(0, next - 1)];
    if (model.snapshots.includes(snapshot)) return values[model.snapshots.indexOf(snapshot)];
    const part = snapshot > behind || before === behind ? 1 : Math.max(0, (snapshot - before) / (behind - before));
    const share = snapshot < before ? shares[0] : shares[Math.max(0, next - 1)] * (1 - part) + shares[next] * part;
    return share * model.heap[snapshot];
  });
}

/** All bands, the largest first: {name, key, values, drawn}: values are of the detailed snapshots, drawn is of all. */
export function makeBands(model, way) {
  const found = new Map();
  model.snapshots.forEach((snapshot, column) => {
    for (const child of model.nodeAt(snapshot, way)?.children.values() ?? []) {
      const band = found.get(child.name) ?? { name: model.data.names[child.name], key: [...way, child.name].join("."), values: model.snapshots.map(() => 0),
                                              hasMore: false };
      band.values[column] = child.value;
      band.hasMore ||= child.children.size > 0;
      found.set(child.name, band);
    }
  });
  const bands = [...found.values()].sort((a, b) => Math.max(...b.values) - Math.max(...a.values)), shown = bands.slice(0, MOST_BANDS);
  const rest = model.snapshots.map((snapshot, column) =>
    (model.nodeAt(snapshot, way)?.value ?? 0) - shown.reduce((sum, band) => sum + band.values[column], 0));
  if (rest.some((value) => value > 0)) {
    shown.push({ name: bands.length > MOST_BANDS ? "others" : "not below any of these", values: rest, color: "var(--box-program)" });
  }
  for (const band of shown) band.drawn = spread(model, band.values);
  if (way.length === 0 && model.snapshots.length > 0) {
    for (const [name, list] of [["added by the allocator", model.extra], ["stacks", model.stackBytes]]) {
      if (list.some((value) => value > 0)) {
        shown.push({ name, values: model.snapshots.map((snapshot) => list[snapshot]), drawn: [...list], color: "var(--quiet)", isFaint: name !== "stacks" });
      }
    }
  }
  return shown;
}

export class TimelineView {
  constructor(place, state, go) {
    this.place = place;
    this.state = state;
    this.go = go;
  }

  crumbs() {
    const { model } = this.state, way = model.wayOf(this.state);
    const steps = [{ key: "", name: "all allocation sites" }, ...way.map((name, place) => ({ key: way.slice(0, place + 1).join("."), name: model.data.names[name] }))];
    return element("div", { class: "tools crumbs" }, ...steps.map(({ key, name }) => element("button", { type: "button", onclick: () => this.go({ chosen: key }) }, name)));
  }

  draw() {
    const { model } = this.state, way = model.wayOf(this.state), bands = makeBands(model, way);
    this.details = element("span", { class: "note", id: "band-details" }, model.snapshots.length === 0
      ? "Bands need a detailed snapshot; the line shows the total."
      : `A band leads to those that called it.${model.snapshots.length < model.times.length ? " Between detailed snapshots, bands are estimated." : ""}`);
    const picture = element("div", { class: "picture", id: "timeline" });
    this.place.replaceChildren(this.crumbs(), picture, element("div", { class: "tools" }, this.details));
    const width = Math.max(200, picture.clientWidth), height = Math.max(160, picture.clientHeight);
    const svg = select(picture).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "group").attr("aria-label", "The heap over time");
    this.setScales(bands, way, width, height);
    this.drawBands(svg, bands);
    this.drawLines(svg, way, width, height);
  }

  setScales(bands, way, width, height) {
    const { model } = this.state;
    const sums = [...model.times.keys()].map((column) => bands.reduce((sum, band) => sum + band.drawn[column], 0));
    const totals = way.length === 0 ? [...model.times.keys()].map((snapshot) => this.totalAt(snapshot)) : [];
    this.most = Math.max(1, ...sums, ...totals);
    const last = Math.max(1, model.times.at(-1) ?? 1);
    this.x = (time) => MARGIN.left + (time / last) * (width - MARGIN.left - MARGIN.right);
    this.y = (bytes) => height - MARGIN.bottom - (bytes / this.most) * (height - MARGIN.top - MARGIN.bottom);
  }

  totalAt(snapshot) {
    const { model } = this.state;
    return model.heap[snapshot] + model.extra[snapshot] + model.stackBytes[snapshot];
  }

  drawBands(svg, bands) {
    const { model } = this.state, below = [...model.times.keys()].map(() => 0), at = model.snapshots.indexOf(this.state.snapshot);
    for (const band of bands) {
      const points = band.drawn.map((value, column) => [this.x(model.times[column]), this.y(below[column]), this.y((below[column] += value))]);
      const path = svg.append("path").attr("class", "band").attr("data-name", band.name).attr("data-most", Math.max(...band.values))
        .attr("d", area().x((point) => point[0]).y0((point) => point[1]).y1((point) => point[2])(points))
        .attr("fill", band.color ?? colorOfName(band.name)).attr("fill-opacity", band.isFaint ? 0.45 : 1);
      const label = `${band.name}: ${count(Math.max(...band.values))} bytes at most${at >= 0 ? `, ${count(band.values[at])} at snapshot ${this.state.snapshot}` : ""}`;
      path.append("title").text(label);
      makeButton(path.node(), label, () => {
        this.details.textContent = label;
        if (band.hasMore) this.go({ chosen: band.key });
      });
    }
  }

  /** The total, the axes, the peak, and the snapshot that the list and the flame graph are of. */
  drawLines(svg, way, width, height) {
    const { model, snapshot } = this.state, bottom = height - MARGIN.bottom;
    if (way.length === 0) {
      svg.append("path").attr("class", "total").attr("d", line().x((number) => this.x(model.times[number])).y((number) => this.y(this.totalAt(number)))([...model.times.keys()]));
    }
    svg.append("path").attr("class", "axis").attr("d", `M${MARGIN.left},${MARGIN.top}V${bottom}H${width - MARGIN.right}`);
    for (const share of [0, 0.5, 1]) {
      svg.append("text").attr("class", "scale").attr("x", MARGIN.left - 6).attr("y", this.y(share * this.most) + 4).attr("text-anchor", "end").text(count(share * this.most));
      svg.append("text").attr("class", "scale").attr("x", this.x(share * Math.max(1, model.times.at(-1) ?? 1))).attr("y", height - 8)
        .attr("text-anchor", share === 0 ? "start" : share === 1 ? "end" : "middle").text(`${count(share * (model.times.at(-1) ?? 0))} ${share === 1 ? model.data.time_unit : ""}`);
    }
    this.mark(svg, model.peak, "peak", `peak: ${count(this.totalAt(model.peak))}`, bottom, width);
    if (model.snapshots.length > 0 && snapshot !== model.peak) this.mark(svg, snapshot, "marked", `snapshot ${snapshot}`, bottom, width);
  }

  mark(svg, snapshot, name, text, bottom, width) {
    const x = this.x(this.state.model.times[snapshot]);
    svg.append("line").attr("class", `mark ${name}`).attr("data-snapshot", snapshot).attr("x1", x).attr("x2", x).attr("y1", MARGIN.top).attr("y2", bottom);
    svg.append("text").attr("class", `scale ${name}`).attr("x", x).attr("y", MARGIN.top - 5).attr("text-anchor", x > width / 2 ? "end" : "start").text(text);
  }
}
