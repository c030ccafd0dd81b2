/**
 * @fileoverview The page of sonde report --html: decodes the profile, and ties the list of functions to the views.
 *
 * The address's part behind # says what is shown (#view/node/event), so that the reader's Back and Forward work.
 */
import { Frame, addressParts, drawChoice, drawTitle } from "./frame.js";
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
    this.names = Object.keys(VIEWS).filter((name) => profile.hasCalls || !VIEWS[name].needsCalls);
    this.state = { profile, event: data.event, node: PROGRAM, view: this.names[0] };
    this.frame = new Frame(Object.fromEntries(this.names.map((name) => [name, VIEWS[name].title])), (view) => this.go({ view }), () => this.follow());
    this.place = this.frame.place;
    this.table = new FunctionTable(document.getElementById("functions"), this.state, (node) => this.go({ node }));
    this.views = Object.fromEntries(this.names.map((name) =>
      [name, new VIEWS[name].View(this.place, this.state, (node) => this.go({ node }))]));
    this.drawHead();
    this.frame.onResize(() => this.drawView());
  }

  /** The function that stands for the whole program where one is needed. */
  firstNode() {
    return this.state.profile.wayIn(this.state.event).at(-1)?.node ?? 0;
  }

  drawHead() {
    const { profile } = this.state, data = profile.data;
    drawTitle({ title: data.files.length === 1 ? data.files[0] : `sum of ${data.files.length} profiles`, command: data.command,
                descriptions: data.descriptions, leftOut: data.left_out });
    drawChoice(profile.events.map((name, index) => [`${name}: ${count(profile.totals[index])}`, { title: data.meanings[index] }]),
               (event) => this.go({ event }));
    document.getElementById("whole").addEventListener("click", () => this.go({ node: PROGRAM }));
  }

  go(change) {
    const next = { ...this.state, ...change };
    this.frame.go([next.view, next.node, next.event]);
  }

  /** Show what the address says; what it says wrong is as if it were not there. */
  follow() {
    const { profile, event: before } = this.state;
    const [view, node, event] = addressParts();
    const number = Number(node);
    this.state.view = this.names.includes(view) ? view : this.names[0];
    this.state.event = event && profile.events[Number(event)] !== undefined ? Number(event) : profile.data.event;
    this.state.node = Number.isInteger(number) && node && number < profile.nodeCount && number >= PROGRAM
      ? number : profile.data.chosen ?? PROGRAM;
    document.getElementById("event").value = String(this.state.event);
    if (this.state.event !== before) this.table.draw();
    this.table.mark();
    this.drawView();
  }

  drawView() {
    const { view } = this.state, needs = VIEWS[view];
    this.frame.markTab(view);
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
    this.frame.ready();
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
