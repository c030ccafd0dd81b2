/**
 * @fileoverview The profile in the page: what sonde wrote into it, decoded, and what follows from it.
 *
 * Nodes are functions, and behind them cycles, by number. Costs are typed arrays, one an event, decoded when first asked for.
 * All views read this; nothing here knows of the document.
 */

/** The text of the element that sonde filled in: base64 of a zlib stream of JSON. */
export async function decodeData(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** Lists of numbers are texts: "1 2 3". */
export function numbers(text) {
  return text === "" ? new Float64Array(0) : Float64Array.from(text.split(" "), Number);
}

/** One list an event, decoded when it is used. */
class Costs {
  constructor(texts) {
    this.texts = texts;
    this.decoded = [];
  }

  of(event) {
    return (this.decoded[event] ??= numbers(this.texts[event]));
  }
}

/** Lists of items by a key: where those of each key begin, and the items in that order. */
function group(keys, count) {
  const first = new Uint32Array(count + 1);
  for (const key of keys) first[key + 1]++;
  for (let i = 0; i < count; i++) first[i + 1] += first[i];
  const next = first.slice(), items = new Uint32Array(keys.length);
  keys.forEach((key, item) => (items[next[key]++] = item));
  return (key) => items.subarray(first[key], first[key + 1]);
}

/** The share of a function's cost from which on one callee is nearly all of it. */
const DOMINANT = 0.9;

export class Profile {
  constructor(data) {
    this.data = data;
    this.events = data.events;
    this.totals = numbers(data.totals);
    const functions = data.functions;
    this.functionCount = numbers(functions.names).length;
    this.names = [...numbers(functions.names)].map((name) => data.names[name]);
    this.files = [...numbers(functions.files)].map((name) => data.names[name]);
    this.objects = [...numbers(functions.objects)].map((name) => data.names[name]);
    this.lines = numbers(functions.lines);
    this.cycleOf = numbers(functions.cycles);
    this.called = numbers(functions.called);
    this.recursions = numbers(functions.recursions);
    this.selfCosts = new Costs(functions.self);
    this.inclusiveCosts = new Costs(functions.inclusive);
    this.incomingCosts = new Costs(functions.incoming);
    this.nodeCount = this.called.length;
    this.hasCalls = data.kind === "callgrind";
    this.makeCycles();
    this.makeArcs(data.arcs);
  }

  makeCycles() {
    this.members = [];
    for (let i = 0; i < this.functionCount; i++) {
      const cycle = this.cycleOf[i];
      if (cycle !== i) (this.members[cycle] ??= []).push(i);
    }
    for (let cycle = this.functionCount; cycle < this.nodeCount; cycle++) {
      const members = (this.members[cycle] ??= []);
      const inclusive = this.inclusiveCosts.of(0);
      members.sort((a, b) => inclusive[b] - inclusive[a]);
      const shown = members.slice(0, 3).map((member) => this.names[member]).join(", ");
      this.names[cycle] = `<cycle ${cycle - this.functionCount + 1}> ${shown}${members.length > 3 ? ", …" : ""}`;
    }
  }

  makeArcs(arcs) {
    this.callers = numbers(arcs.callers);
    this.callees = numbers(arcs.callees);
    this.arcCalls = numbers(arcs.calls);
    this.arcCosts = new Costs(arcs.costs);
    this.arcsFrom = group(this.callers, this.functionCount);
    this.arcsTo = group(this.callees, this.functionCount);
  }

  isCycle(node) {
    return node >= this.functionCount;
  }

  /** Whether a call stays inside of a function or a cycle. */
  isInternal(arc) {
    return this.cycleOf[this.callers[arc]] === this.cycleOf[this.callees[arc]];
  }

  self(node, event) {
    if (!this.isCycle(node)) return this.selfCosts.of(event)[node];
    return this.members[node].reduce((sum, member) => sum + this.self(member, event), 0);
  }

  inclusive(node, event) {
    return this.inclusiveCosts.of(event)[node];
  }

  share(cost, event) {
    return this.totals[event] ? cost / this.totals[event] : 0;
  }

  /** How often it was called, by itself too. */
  calls(node) {
    return this.called[node] + this.recursions[node];
  }

  functionsOf(node) {
    return this.isCycle(node) ? this.members[node] : [node];
  }

  /** Calls from a node to others: [{node, cost, calls}], one a node, the largest first. */
  neighbours(node, event, isCallers) {
    const found = new Map(), costs = this.arcCosts.of(event);
    for (const member of this.functionsOf(node)) {
      for (const arc of isCallers ? this.arcsTo(member) : this.arcsFrom(member)) {
        if (this.isInternal(arc)) continue;
        const other = this.cycleOf[isCallers ? this.callers[arc] : this.callees[arc]];
        const row = found.get(other) ?? { node: other, cost: 0, calls: 0 };
        row.cost += costs[arc];
        row.calls += this.arcCalls[arc];
        found.set(other, row);
      }
    }
    return [...found.values()].sort((a, b) => b.cost - a.cost);
  }

  /** What stands below a node in a tree: what it calls; of a cycle its members. */
  below(node, event) {
    if (!this.isCycle(node)) return this.neighbours(node, event, false);
    return this.members[node].map((member) => ({ node: member, cost: this.inclusive(member, event), calls: 0 }))
      .sort((a, b) => b.cost - a.cost);
  }

  /** From where the program begins down to where its cost first parts: the long way through what starts a program says little. */
  wayIn(event) {
    const way = [];
    for (let rows = this.roots(event); rows.length > 0;) {
      const [{ node, cost }] = rows;
      if (way.length > 0 && cost < DOMINANT * way[way.length - 1].cost) break;
      way.push({ node, cost });
      if (this.isCycle(node)) break;
      rows = this.neighbours(node, event, false);
    }
    return way;
  }

  /** Where the program begins: nodes that cost more than their callers say. */
  roots(event) {
    const found = [], incoming = this.incomingCosts.of(event);
    for (let node = 0; node < this.nodeCount; node++) {
      const cost = this.inclusive(node, event) - incoming[node];
      if ((this.isCycle(node) || this.cycleOf[node] === node) && cost > 0) found.push({ node, cost, calls: 0 });
    }
    return found.sort((a, b) => b.cost - a.cost);
  }
}

/** The whole program as the root of trees. */
export const PROGRAM = -1;

/**
 * A tree of calls below `root` ({node, cost}), level by level: what is less than `least` is left out, and so is what is behind
 * `most` nodes. Where a function has several callers its callees are shared out among them in proportion.
 * Nodes: {node, name, value, self, children, parent}; self is what is of no child.
 */
export function growTree(profile, event, root, least, most, mostDepth) {
  const isProgram = root.node === PROGRAM;
  const top = { node: root.node, name: isProgram ? "all" : profile.names[root.node], value: root.cost, children: [], depth: 0 };
  let level = [top], count = 1, isCut = false;
  while (level.length > 0) {
    const next = [];
    for (const place of level) {
      if (place.depth >= mostDepth) {
        isCut = true;
        continue;
      }
      const inclusive = place.node === PROGRAM ? place.value : profile.inclusive(place.node, event);
      const share = inclusive > 0 ? Math.min(1, place.value / inclusive) : 0;
      const rows = place.node === PROGRAM ? profile.roots(event) : profile.below(place.node, event);
      for (const row of rows) {
        const value = row.cost * share;
        if (value < least || value <= 0) break;
        if (count >= most) {
          isCut = true;
          break;
        }
        const child = { node: row.node, name: profile.names[row.node], value, calls: row.calls * share, children: [],
                        parent: place, depth: place.depth + 1 };
        place.children.push(child);
        next.push(child);
        count++;
      }
    }
    level = next;
  }
  return { top, isCut };
}

/** Without calls: files, and below each its functions, in the same form as a tree of calls. */
export function growFileTree(profile, event) {
  const top = { node: PROGRAM, name: "all", value: profile.totals[event], children: [], depth: 0 };
  const files = new Map();
  for (let node = 0; node < profile.functionCount; node++) {
    const value = profile.self(node, event);
    if (value <= 0) continue;
    const name = profile.files[node];
    if (!files.has(name)) files.set(name, { node: PROGRAM, file: name, name, value: 0, children: [], parent: top, depth: 1 });
    const file = files.get(name);
    file.value += value;
    file.children.push({ node, name: profile.names[node], value, children: [], parent: file, depth: 2 });
  }
  top.children = [...files.values()].sort((a, b) => b.value - a.value);
  for (const file of top.children) file.children.sort((a, b) => b.value - a.value);
  return { top, isCut: false };
}
