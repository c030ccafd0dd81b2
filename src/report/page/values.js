/**
 * @fileoverview The page of what a tool found in values: findings of one kind as a list, and the one that is chosen with its places
 * and their calling contexts; or the totals, with those of each thread.
 *
 * The address's part behind # says what is shown (#view/list/finding).
 */
import { Frame, addressParts, drawChoice, drawTitle } from "./frame.js";
import { colorOfName, count, element, percent } from "./format.js";

const MOST_ROWS = 500;
const VIEWS = { finding: "Finding", totals: "Totals" };

/** Where a place is, in a few words. */
function placeName(place) {
  return `${place.function ?? "(unknown)"}${place.line ? `:${place.line}` : ""}`;
}

/** What a finding is called in the list. */
function nameOf(finding) {
  if (finding.kind) return finding.name ? `${finding.kind} ${finding.name}` : `${finding.kind}: ${finding.context[0] ?? "(unknown)"}`;
  return finding.places.map(placeName).join(" → ");
}

/** All that the search looks at. */
function textOf(finding) {
  const places = finding.places.flatMap((place) => [place.instruction, place.file ?? "", ...place.context]);
  return [nameOf(finding), finding.module ?? "", ...finding.context, ...places].join("\n").toLowerCase();
}

function numbersOf(amounts) {
  return element("dl", { class: "numbers" }, ...amounts.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, count(value)))));
}

function stackOf(lines) {
  return element("ol", { class: "stack" }, ...lines.map((line) => element("li", {}, line)));
}

export class ValuesPage {
  constructor(data) {
    this.data = data;
    this.state = { view: "finding", list: 0, finding: 0 };
    this.frame = new Frame(VIEWS, (view) => this.go({ view }), () => this.follow());
    this.place = this.frame.place;
    this.drawHead();
    document.getElementById("search").addEventListener("input", () => this.drawList());
  }

  drawHead() {
    const { data } = this;
    drawTitle({ title: `${data.tool}: ${data.title}`, file: data.file, command: data.command.join(" "), descriptions: [data.file] });
    drawChoice(data.lists.map((list) => [`${list.title}: ${count(list.findings.length)}`]),
               (list) => this.go({ list, finding: 0, view: "finding" }));
    document.getElementById("event-label").textContent = "List";
    document.getElementById("functions").setAttribute("aria-label", "Findings");
    document.getElementById("functions").classList.add("sites");
    document.getElementById("search").placeholder = "Search functions, files, instructions";
    document.getElementById("search").setAttribute("aria-label", "Search findings");
    document.getElementById("whole").textContent = "Totals";
    document.getElementById("whole").addEventListener("click", () => this.go({ view: "totals" }));
  }

  get list() {
    return this.data.lists[this.state.list] ?? { title: "", count: 0, findings: [] };
  }

  /** Every word of the search must be somewhere in the finding. */
  drawList() {
    const { list, state } = this;
    const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = list.findings.map((finding, number) => ({ finding, number }))
      .filter(({ finding }) => words.length === 0 || words.every((word) => textOf(finding).includes(word)));
    const unit = list.findings[0]?.amounts[0][0] ?? "bytes";
    document.querySelector("#functions thead").replaceChildren(element("tr", {}, ...[unit, "Share", "Where"].map((name) =>
      element("th", { scope: "col" }, name))));
    document.querySelector("#functions tbody").replaceChildren(...rows.slice(0, MOST_ROWS).map(({ finding, number }) => {
      const name = nameOf(finding);
      return element("tr", { "data-finding": number, "aria-selected": number === state.finding ? "true" : "false" },
        element("td", { class: "self", style: `--share: ${Math.min(100, 100 * finding.share)}%` }, count(finding.amounts[0][1])),
        element("td", { class: "number share" }, percent(finding.share)),
        element("td", { class: "name", title: name }, element("span", { class: "swatch", style: `background: ${colorOfName(name)}` }),
          element("button", { type: "button", onclick: () => this.go({ finding: number, view: "finding" }) }, name)));
    }));
    const left = list.count - list.findings.length;
    document.getElementById("more").textContent = rows.length > MOST_ROWS ? `${count(rows.length - MOST_ROWS)} more: search for them`
      : `${count(rows.length)} findings${left > 0 ? `; ${count(left)} more are not in the file` : ""}`;
  }

  drawFinding() {
    const finding = this.list.findings[this.state.finding];
    if (!finding) {
      this.place.replaceChildren(element("p", { class: "note" }, "Nothing of this kind was found."));
      return;
    }
    const places = finding.places.flatMap((place) => [
      element("h3", {}, `${place.label ?? "accessed"} by `, element("code", {}, place.instruction), ` (${place.type}, ${count(place.size)} bytes)`),
      stackOf(place.context)]);
    this.place.replaceChildren(element("div", { class: "scroll" }, numbersOf([...finding.amounts]),
      finding.remark ? element("p", { class: "remark" }, finding.remark) : null,
      finding.module ? element("p", { class: "note" }, finding.module) : null,
      finding.context.length > 0 ? stackOf(finding.context) : null, ...places));
  }

  drawTotals() {
    const threads = this.data.threads.length > 1
      ? this.data.threads.flatMap(({ thread, totals }) => [element("h3", {}, `Thread ${thread}`), numbersOf(totals)]) : [];
    this.place.replaceChildren(element("div", { class: "scroll" }, numbersOf(this.data.totals), ...threads));
  }

  go(change) {
    const next = { ...this.state, ...change };
    this.frame.go([next.view, next.list, next.finding]);
  }

  /** Show what the address says; what it says wrong is as if it were not there. */
  follow() {
    const [view, list, finding] = addressParts();
    const { state, data } = this;
    const filled = Math.max(0, data.lists.findIndex(({ findings }) => findings.length > 0));
    state.view = Object.hasOwn(VIEWS, view) ? view : "finding";
    state.list = list && data.lists[Number(list)] !== undefined ? Number(list) : filled;
    state.finding = finding && this.list.findings[Number(finding)] !== undefined ? Number(finding) : 0;
    document.getElementById("event").value = String(state.list);
    const shown = this.list.findings[state.finding];
    document.getElementById("chosen").textContent = state.view === "totals" ? "the whole program" : shown ? nameOf(shown) : "nothing";
    this.frame.markTab(state.view);
    this.drawList();
    if (state.view === "totals") this.drawTotals();
    else this.drawFinding();
  }

  start() {
    this.follow();
    this.frame.ready();
  }
}
