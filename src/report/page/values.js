/**
 * @fileoverview The page of what a tool found in values: findings of one kind as a list, and the one that is chosen with its places
 * and their calling contexts; or the totals, with those of each thread.
 *
 * The address's part behind # says what is shown (#view/list/finding).
 */
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
    this.place = document.getElementById("view");
    this.drawHead();
    this.drawTabs();
    document.getElementById("search").addEventListener("input", () => this.drawList());
    window.addEventListener("hashchange", () => this.follow());
  }

  drawHead() {
    const { data } = this;
    document.title = `${data.file} - sonde report`;
    document.getElementById("title").textContent = `${data.tool}: ${data.title}`;
    document.getElementById("command").textContent = data.command.join(" ");
    document.getElementById("descriptions").replaceChildren(element("li", {}, data.file));
    const choice = document.getElementById("event");
    choice.replaceChildren(...data.lists.map((list, number) => element("option", { value: number }, `${list.title}: ${count(list.findings.length)}`)));
    choice.addEventListener("change", () => this.go({ list: Number(choice.value), finding: 0, view: "finding" }));
    document.getElementById("event-label").textContent = "List";
    document.getElementById("functions").setAttribute("aria-label", "Findings");
    document.getElementById("functions").classList.add("sites");
    document.getElementById("search").placeholder = "Search functions, files, instructions";
    document.getElementById("search").setAttribute("aria-label", "Search findings");
    document.getElementById("whole").textContent = "Totals";
    document.getElementById("whole").addEventListener("click", () => this.go({ view: "totals" }));
    document.getElementById("theme").addEventListener("click", () => this.changeTheme());
  }

  changeTheme() {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  }

  drawTabs() {
    const names = Object.keys(VIEWS);
    const move = (key, name) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key.key];
      if (!step) return;
      const next = names[(names.indexOf(name) + step + names.length) % names.length];
      this.go({ view: next });
      document.getElementById(`tab-${next}`).focus();
    };
    document.getElementById("tabs").replaceChildren(...names.map((name) =>
      element("button", { type: "button", role: "tab", id: `tab-${name}`, "data-view": name, "aria-controls": "view",
                          onclick: () => this.go({ view: name }), onkeydown: (key) => move(key, name) }, VIEWS[name])));
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
    const address = `#${next.view}/${next.list}/${next.finding}`;
    if (address === location.hash) this.follow();
    else location.hash = address;
  }

  /** Show what the address says; what it says wrong is as if it were not there. */
  follow() {
    const [view, list, finding] = location.hash.slice(1).split("/");
    const { state, data } = this;
    const filled = Math.max(0, data.lists.findIndex(({ findings }) => findings.length > 0));
    state.view = Object.hasOwn(VIEWS, view) ? view : "finding";
    state.list = list && data.lists[Number(list)] !== undefined ? Number(list) : filled;
    state.finding = finding && this.list.findings[Number(finding)] !== undefined ? Number(finding) : 0;
    document.getElementById("event").value = String(state.list);
    const shown = this.list.findings[state.finding];
    document.getElementById("chosen").textContent = state.view === "totals" ? "the whole program" : shown ? nameOf(shown) : "nothing";
    for (const tab of document.getElementById("tabs").children) {
      tab.setAttribute("aria-selected", tab.dataset.view === state.view ? "true" : "false");
      tab.tabIndex = tab.dataset.view === state.view ? 0 : -1;
    }
    this.place.setAttribute("aria-labelledby", `tab-${state.view}`);
    this.drawList();
    if (state.view === "totals") this.drawTotals();
    else this.drawFinding();
  }

  start() {
    this.follow();
    document.documentElement.dataset.ready = "yes";
  }
}
