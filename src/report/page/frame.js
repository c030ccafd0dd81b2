/**
 * @fileoverview What all pages have around their views: the tabs, the button for light or dark, the address's part behind #.
 *
 * Each kind of page owns one Frame, and tells it the names of its views and how an address is read.
 */
import { element } from "./format.js";

const RESIZE_PAUSE = 150; // ms: drawing while the window is being dragged would make it stutter

/** The reader's own choice goes before that of his system. */
function changeTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}

export class Frame {
  /** `titles` is {view: title}; `show(view)` goes there; `follow()` reads the address and draws what it says. */
  constructor(titles, show, follow) {
    this.titles = titles;
    this.show = show;
    this.follow = follow;
    this.place = document.getElementById("view");
    this.drawTabs();
    document.getElementById("theme").addEventListener("click", changeTheme);
    window.addEventListener("hashchange", follow);
  }

  drawTabs() {
    document.getElementById("tabs").replaceChildren(...Object.entries(this.titles).map(([name, title]) =>
      element("button", { type: "button", role: "tab", id: `tab-${name}`, "data-view": name, "aria-controls": "view",
                          onclick: () => this.show(name), onkeydown: (key) => this.moveTab(key, name) }, title)));
  }

  /** Left and right in the list of tabs. */
  moveTab(key, name) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key.key];
    if (!step) return;
    const names = Object.keys(this.titles);
    const next = names[(names.indexOf(name) + step + names.length) % names.length];
    this.show(next);
    document.getElementById(`tab-${next}`).focus();
  }

  /** Say which view is shown, to the eye and to a screen reader. */
  markTab(view) {
    for (const tab of document.getElementById("tabs").children) {
      tab.setAttribute("aria-selected", tab.dataset.view === view ? "true" : "false");
      tab.tabIndex = tab.dataset.view === view ? 0 : -1;
    }
    this.place.setAttribute("aria-labelledby", `tab-${view}`);
  }

  /** Go to `#part/part/...`, so that the reader's Back and Forward work. */
  go(parts) {
    const address = `#${parts.join("/")}`;
    if (address === location.hash) this.follow();
    else location.hash = address;
  }

  /** Draw again when the window has got another size. */
  onResize(draw) {
    let waiting = 0;
    window.addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(draw, RESIZE_PAUSE);
    });
  }

  /** What whoever drives the page waits for: everything is drawn. */
  ready() {
    document.documentElement.dataset.ready = "yes";
  }
}

/** The parts of the address behind #. */
export function addressParts() {
  return location.hash.slice(1).split("/");
}

/** The head's title, command and notes. */
export function drawTitle({ title, command, descriptions, leftOut = [], file = title }) {
  document.title = `${file} - sonde report`;
  document.getElementById("title").textContent = title;
  document.getElementById("command").textContent = command;
  document.getElementById("descriptions").replaceChildren(...descriptions.map((text) => element("li", {}, text)));
  document.getElementById("left-out").replaceChildren(...leftOut.map((text) => element("li", {}, text)));
}

/** The choice beside the title: [text, {attributes}] each; `choose(number)`. */
export function drawChoice(options, choose) {
  const choice = document.getElementById("event");
  choice.replaceChildren(...options.map(([text, attributes], number) => element("option", { value: number, ...attributes }, text)));
  choice.addEventListener("change", () => choose(Number(choice.value)));
}
