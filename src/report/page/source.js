/**
 * @fileoverview Annotated source: lines with what they cost themselves, and below them the calls that are made in them; where
 * the profile has them, also their instructions, with the jumps from and to each.
 */
import { numbers } from "./profile.js";
import { count, element, percent } from "./format.js";

/** Lines shown around each line with costs; longer stretches are folded. */
const CONTEXT = 8;

export class SourceView {
  constructor(place, state, choose) {
    this.place = place;
    this.state = state;
    this.choose = choose;
    this.index = 0;
    this.showsInstructions = false;
    this.files = state.profile.data.sources;
    this.byName = new Map(this.files.map((file, index) => [state.profile.data.names[file.name], index]));
  }

  /** The file of the chosen function, at its first line. */
  show() {
    const { profile, node } = this.state;
    const index = this.byName.get(profile.files[node]);
    this.isMissing = index === undefined && node >= 0 && !profile.isCycle(node);
    this.index = index ?? this.index;
    this.draw();
    const first = index === undefined ? 0 : profile.lines[node];
    this.place.querySelector(`tr[data-line="${first}"]`)?.scrollIntoView({ block: "center" });
  }

  /** Costs and calls of the lines of a file. */
  linesOf(file) {
    const { event } = this.state, lines = new Map();
    const at = (line) => {
      if (!lines.has(line)) lines.set(line, { self: 0, calls: [] });
      return lines.get(line);
    };
    const self = numbers(file.self[event]);
    numbers(file.lines).forEach((line, i) => (at(line).self += self[i]));
    const costs = numbers(file.calls.costs[event]), times = numbers(file.calls.calls), callees = numbers(file.calls.callees);
    numbers(file.calls.lines).forEach((line, i) => at(line).calls.push({ node: callees[i], cost: costs[i], calls: times[i] }));
    for (const line of lines.values()) line.calls.sort((a, b) => b.cost - a.cost);
    if (this.showsInstructions && file.instructions) this.addInstructions(file, at);
    return lines;
  }

  /** Each line's instructions, and the jumps of each: {other, line, taken, executed}, outgoing and incoming. */
  addInstructions(file, at) {
    const places = new Map(), jumps = file.jumps, list = file.instructions;
    const lines = numbers(list.lines), costs = numbers(list.self[this.state.event]);
    numbers(list.addresses).forEach((address, i) => {
      const instruction = { address, line: lines[i], self: costs[i], out: [], in: [] };
      places.set(address, instruction);
      const line = at(lines[i]);
      (line.instructions ??= []).push(instruction);
    });
    const to = numbers(jumps.to), taken = numbers(jumps.taken), executed = numbers(jumps.executed);
    numbers(jumps.from).forEach((from, i) => {
      const source = places.get(from), target = places.get(to[i]), counts = { taken: taken[i], executed: executed[i] };
      source?.out.push({ other: to[i], line: target?.line, ...counts });
      target?.in.push({ other: from, line: source?.line, ...counts });
    });
  }

  /** A jump as an arrow, a count, and a way to the other end. */
  jump(arrow, { other, line, taken, executed }) {
    const times = taken === executed ? `${count(taken)}×` : `${count(taken)} of ${count(executed)}×`;
    const where = `0x${other.toString(16)}${line === undefined ? "" : `, line ${line}`}`;
    const find = () => this.place.querySelector(`tr[data-address="0x${other.toString(16)}"]`)?.scrollIntoView({ block: "center" });
    return element("span", { class: "jump" }, `${arrow} ${times} `,
      line === undefined ? where : element("button", { type: "button", onclick: find }, where));
  }

  instructionRow(instruction) {
    const { profile, event } = this.state, address = `0x${instruction.address.toString(16)}`;
    return element("tr", { class: "instruction", "data-address": address },
      element("td", { class: "number" }, count(instruction.self)),
      element("td", { class: "number" }, percent(profile.share(instruction.self, event))), element("td", {}),
      element("td", { class: "name" }, element("code", {}, address),
        ...instruction.out.map((jump) => this.jump(jump.other > instruction.address ? "↓" : "↑", jump)),
        ...instruction.in.map((jump) => this.jump("←", jump))));
  }

  row(number, text, line) {
    const { profile, event } = this.state, share = profile.share(line?.self ?? 0, event);
    const rows = [element("tr", { "data-line": number, class: line ? "counted" : null },
      element("td", { class: "number self", style: `--share: ${100 * share}%` }, line?.self ? count(line.self) : ""),
      element("td", { class: "number" }, percent(share)), element("td", { class: "number line" }, number === 0 ? "?" : String(number)),
      element("td", { class: "text" }, number === 0 ? "(line not known)" : text))];
    for (const instruction of line?.instructions ?? []) rows.push(this.instructionRow(instruction));
    for (const call of line?.calls ?? []) {
      rows.push(element("tr", { class: "call" }, element("td", { class: "number" }, count(call.cost)),
        element("td", { class: "number" }, percent(profile.share(call.cost, event))), element("td", {}),
        element("td", { class: "name" }, `→ ${count(call.calls)}× `,
                element("button", { type: "button", onclick: () => this.choose(call.node) }, profile.names[call.node]))));
    }
    return rows;
  }

  /** Which lines of the text are near one that costs something. */
  static near(lines, count_) {
    const isNear = new Uint8Array(count_ + 1);
    for (const line of lines.keys()) {
      isNear.fill(1, Math.max(1, line - CONTEXT), Math.min(count_, line + CONTEXT) + 1);
    }
    return isNear;
  }

  bodyOf(file) {
    const lines = this.linesOf(file), body = element("tbody", {});
    const text = file.text === null ? null : file.text.split("\n");
    if (lines.has(0)) body.append(...this.row(0, "", lines.get(0)));
    if (text === null) {
      for (const line of [...lines.keys()].sort((a, b) => a - b)) if (line > 0) body.append(...this.row(line, "", lines.get(line)));
      return body;
    }
    if (text[text.length - 1] === "") text.pop();
    const isNear = SourceView.near(lines, text.length);
    for (let number = 1; number <= text.length; number++) {
      if (isNear[number]) {
        body.append(...this.row(number, text[number - 1], lines.get(number)));
      } else {
        let end = number;
        while (end < text.length && !isNear[end + 1]) end++;
        body.append(this.fold(text, number, end));
        number = end;
      }
    }
    for (const line of [...lines.keys()].sort((a, b) => a - b)) {
      if (line > text.length) body.append(...this.row(line, "", lines.get(line)));
    }
    return body;
  }

  fold(text, begin, end) {
    const row = element("tr", { class: "fold" }, element("td", { colspan: 4 }, element("button", { type: "button", onclick: () => {
      const rows = [];
      for (let number = begin; number <= end; number++) rows.push(...this.row(number, text[number - 1], undefined));
      row.replaceWith(...rows);
    } }, `… ${end - begin + 1} lines`)));
    return row;
  }

  draw() {
    const { profile, event } = this.state, file = this.files[this.index];
    if (file === undefined) {
      this.place.replaceChildren(element("p", { class: "note" }, "The profile names no source file."));
      return;
    }
    const choice = element("select", { id: "file", "aria-label": "Source file", onchange: (change) => {
      this.index = Number(change.target.value);
      this.isMissing = false;
      this.draw();
    } }, ...this.files.map((one, index) => element("option", { value: index, selected: index === this.index },
      profile.data.names[one.name])));
    const instructions = element("input", { type: "checkbox", id: "instructions", checked: this.showsInstructions,
      onchange: (change) => {
        this.showsInstructions = change.target.checked;
        this.draw();
      } });
    const notes = [this.isMissing ? "The chosen function's file is not in this page." : "", file.note ?? ""].filter(Boolean);
    this.place.replaceChildren(element("div", { class: "tools" }, choice,
      file.instructions ? element("label", {}, instructions, " Instructions") : null, element("span", { class: "note" }, ` ${notes.join(" ")}`)),
      element("div", { class: "scroll" }, element("table", { class: "source", id: "source" }, element("thead", {}, element("tr", {},
        ...[profile.events[event], "", "Line", "Source"].map((name) => element("th", { scope: "col" }, name)))), this.bodyOf(file))));
  }
}
