/**
 * @fileoverview The page of sonde report --html: decodes the profile, and ties the list of functions to the views.
 *
 * The address's part behind # says what is shown (#view/node/event), so that the reader's Back and Forward work.
 */
import { HeapPage } from "./heap.js";
import { ValuesPage } from "./values.js";
import { FunctionTable } from "./table.js";
import { GraphView } from "./graph.js";
import { TreeMapView } from "./treemap.js";
import { FlameView } from "./flame.js";
import { CallsView } from "./calls.js";
import { SourceView } from "./source.js";
import { PROGRAM, Profile, decodeData } from "./profile.js";
import { count, element } from "./format.js";

/** The views: which profiles have them, and whether they can show the whole program instead of a function. */
const VIEWS = {
  graph: { title: "Call graph", View: GraphView, needsCalls: true, needsNode: true },
  treemap: { title: "Tree-map", View: TreeMapView },
  flame: { title: "Flame graph", View: FlameView },
  calls: { title: "Callers and callees", View: CallsView, needsCalls: true, needsNode: true },
  source: { title: "Source", View: SourceView },
};

class Page {
  constructor(data) {
    const profile = new Profile(data);
    this.state = { profile, event: data.event, node: PROGRAM, view: profile.hasCalls ? "graph" : "treemap" };
    this.names = Object.keys(VIEWS).filter((name) => profile.hasCalls || !VIEWS[name].needsCalls);
    this.place = document.getElementById("view");
    this.table = new FunctionTable(document.getElementById("functions"), this.state, (node) => this.go({ node }));
    this.views = Object.fromEntries(this.names.map((name) =>
      [name, new VIEWS[name].View(this.place, this.state, (node) => this.go({ node }))]));
    this.drawHead();
    this.drawTabs();
    window.addEventListener("hashchange", () => this.follow());
    let waiting = 0;
    window.addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.drawView(), 150);
    });
  }

  /** The function that stands for the whole program where one is needed. */
  firstNode() {
    return this.state.profile.wayIn(this.state.event).at(-1)?.node ?? 0;
  }

  drawHead() {
    const { profile } = this.state, data = profile.data;
    const title = data.files.length === 1 ? data.files[0] : `sum of ${data.files.length} profiles`;
    document.title = `${title} - sonde report`;
    document.getElementById("title").textContent = title;
    document.getElementById("command").textContent = data.command;
    document.getElementById("descriptions").replaceChildren(...data.descriptions.map((text) => element("li", {}, text)));
    const choice = document.getElementById("event");
    choice.replaceChildren(...profile.events.map((name, index) =>
      element("option", { value: index, title: data.meanings[index] }, `${name}: ${count(profile.totals[index])}`)));
    choice.addEventListener("change", () => this.go({ event: Number(choice.value) }));
    document.getElementById("left-out").replaceChildren(...data.left_out.map((text) => element("li", {}, text)));
    document.getElementById("theme").addEventListener("click", () => this.changeTheme());
    document.getElementById("whole").addEventListener("click", () => this.go({ node: PROGRAM }));
  }

  changeTheme() {
    const isDark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
  }

  drawTabs() {
    document.getElementById("tabs").replaceChildren(...this.names.map((name) =>
      element("button", { type: "button", role: "tab", id: `tab-${name}`, "data-view": name, "aria-controls": "view",
                          onclick: () => this.go({ view: name }), onkeydown: (key) => this.moveTab(key, name) }, VIEWS[name].title)));
  }

  /** Left and right in the list of tabs. */
  moveTab(key, name) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key.key];
    if (step) {
      const next = this.names[(this.names.indexOf(name) + step + this.names.length) % this.names.length];
      this.go({ view: next });
      document.getElementById(`tab-${next}`).focus();
    }
  }

  go(change) {
    const next = { view: this.state.view, node: this.state.node, event: this.state.event, ...change };
    const address = `#${next.view}/${next.node}/${next.event}`;
    if (address === location.hash) this.follow();
    else location.hash = address;
  }

  /** Show what the address says; what it says wrong is as if it were not there. */
  follow() {
    const { profile } = this.state;
    const [view, node, event] = location.hash.slice(1).split("/");
    const isEventNew = Number(event) !== this.state.event;
    if (this.names.includes(view)) this.state.view = view;
    if (profile.events[Number(event)] !== undefined && event !== "") this.state.event = Number(event);
    const number = Number(node);
    this.state.node = Number.isInteger(number) && node !== "" && number < profile.nodeCount && number >= PROGRAM
      ? number : profile.data.chosen ?? PROGRAM;
    document.getElementById("event").value = String(this.state.event);
    if (isEventNew) this.table.draw();
    this.table.mark();
    this.drawView();
  }

  drawView() {
    const { view } = this.state, needs = VIEWS[view];
    for (const tab of document.getElementById("tabs").children) {
      tab.setAttribute("aria-selected", tab.dataset.view === view ? "true" : "false");
      tab.tabIndex = tab.dataset.view === view ? 0 : -1;
    }
    this.place.setAttribute("aria-labelledby", `tab-${view}`);
    if (needs.needsNode && this.state.profile.nodeCount === 0) {
      this.place.replaceChildren(element("p", { class: "note" }, "The profile has no functions."));
      return;
    }
    const wanted = this.state.node;
    if (needs.needsNode && wanted === PROGRAM) this.state.node = this.firstNode();
    document.getElementById("chosen").textContent = this.state.node === PROGRAM ? "the whole program" : this.state.profile.names[this.state.node];
    const shown = this.views[view];
    if (shown.show) shown.show();
    else shown.draw();
    this.state.node = wanted;
  }

  start() {
    this.table.draw();
    this.follow();
    document.documentElement.dataset.ready = "yes";
  }
}

/** The kinds that are no profiles of functions. */
const PAGES = { heap: HeapPage, massif: HeapPage, values: ValuesPage };

async function begin() {
  const place = document.getElementById("data");
  const data = await decodeData(place.textContent);
  place.remove();
  window.sondePage = new (PAGES[data.kind] ?? Page)(data);
  window.sondePage.start();
}

begin().catch((error) => {
  document.getElementById("title").textContent = `This page cannot be shown: ${error.message}`;
  document.documentElement.dataset.ready = "failed";
  throw error;
});
