/** Where on the paths of calls the costs arise: frames as wide as what they cost, callers above what they call. */
const FlameChart = (() => {
  /** @typedef {{ name: string, kind: 'function' | 'inlined' | 'line' | 'all', key: string | null, parent: Frame | null, children: Frame[], counts: number[], before?: number[] }} Frame */
  /** @typedef {{ frame: Frame, from: number, width: number, depth: number }} Drawn */

  /** Narrower frames, in parts of the width, are left out. */
  const LEAST = 0.002;
  const MOST_FRAMES = 1500;

  const nodes = Data.table('places', 'path_nodes');
  const paths = Data.table('places', 'place_paths');
  const moments = Data.table('places', 'path_moments');
  const folded = Data.table('places', 'moment_axis')?.record().folded_share ?? 0;
  const hasCycles = nodes?.has('cycles') ?? false;

  /** Whether any function was entered from another one that is known. */
  const hasCalls = (nodes?.objects() ?? []).some(({ parent, inlined }) => parent > 0 && inlined !== 'yes');

  /** @type {Column[]} */
  const measures = hasCycles
    ? [...Places.measures, { name: 'cycles', title: 'estimated cycles', unit: 'count' }]
    : Places.measures;

  const zero = () => measures.map(() => 0);

  /** @type {(name: string, kind: Frame['kind'], key: string | null, parent: Frame | null) => Frame} */
  const frame = (name, kind, key, parent) => {
    const made = { name, kind, key, parent, children: [], counts: zero() };
    parent?.children.push(made);
    return made;
  };

  /**
   * Adds to a frame and all that called it.
   * @type {(found: Frame | null, counts: number[]) => void}
   */
  const charge = (found, counts) => {
    for (let at = found; at !== null; at = at.parent) Places.add(at.counts, counts);
  };

  /**
   * Counts of places on paths, in the chosen time and threads: the place (none for what isn't told apart), the node, the counts.
   * @typedef {[number | null, number, number[]]} PathCounts
   * @type {() => PathCounts[]}
   */
  const wholePaths = () =>
    (paths?.rows ?? []).map((row) => [Number(row[0]), Number(row[1]), [...Places.countsOf(row, 2), ...(hasCycles ? [0] : [])]]);

  /** @type {() => PathCounts[]} */
  const chosenPaths = () => {
    /** @type {Map<string, PathCounts>} */
    const sums = new Map();
    for (const row of moments?.rows ?? []) {
      const [place, node, stream, bin] = row;
      if (!Chosen.holds(Number(stream), Number(bin))) continue;
      const key = `${node} ${place}`;
      const sum = sums.get(key) ?? [place === null ? null : Number(place), Number(node), zero()];
      sums.set(key, sum);
      Places.add(sum[2], Places.countsOf(row, 4));
    }
    return [...sums.values()];
  };

  /**
   * What the chosen paths don't tell apart of some places counts at the root.
   * @type {(root: Frame, wanted: Set<number>) => void}
   */
  const chargeRest = (root, wanted) => {
    const whole = Places.sum(Places.all.filter(({ number }) => wanted.has(number)));
    for (let index = 0; index < whole.length; index += 1) root.counts[index] = Math.max(root.counts[index], whole[index]);
  };

  /**
   * The frames of all places, or of some, in the chosen time and threads.
   * @type {(wanted: Set<number> | null) => Frame}
   */
  const build = (wanted) => {
    const root = frame('all', 'all', null, null);
    const isPart = !Chosen.isAll() && moments !== undefined;
    /** @type {Map<number, Frame>} */
    const frames = new Map([[0, root]]);
    // Callers have smaller numbers than what they call.
    for (const { node, parent, function: name, inlined, cycles } of nodes?.objects() ?? []) {
      const own = frame(name, inlined === 'yes' ? 'inlined' : 'function', name, frames.get(parent) ?? root);
      frames.set(node, own);
      if (hasCycles && !wanted && !isPart) charge(own, [...Places.zero(), cycles ?? 0]);
    }
    /** @type {Map<string, Frame>} */
    const lines = new Map();
    if (!paths) addFunctions(root, wanted);
    for (const [number, node, counts] of isPart ? chosenPaths() : wholePaths()) {
      if (wanted && (number === null || !wanted.has(number))) continue;
      const above = frames.get(node) ?? root;
      if (number === null) {
        charge(above, counts);
        continue;
      }
      const { line } = Places.all[number].keys;
      const key = `${node} ${line}`;
      const leaf = lines.get(key) ?? frame(line, 'line', line, above);
      lines.set(key, leaf);
      charge(leaf, counts);
    }
    if (wanted && isPart) chargeRest(root, wanted);
    return root;
  };

  /**
   * Without paths: functions, and their lines.
   * @type {(root: Frame, wanted: Set<number> | null) => void}
   */
  const addFunctions = (root, wanted) => {
    for (const { name, places } of Places.grouped('function')) {
      const own = frame(name || '(unknown)', 'function', name, root);
      for (const { name: line, places: of } of Places.grouped('line', places)) {
        const chosen = of.filter(({ number }) => !wanted || wanted.has(number));
        const leaf = frame(line, 'line', line, own);
        for (const { counts } of chosen) charge(leaf, counts);
      }
    }
  };

  /** From the outermost frame below the root on. @type {(found: Frame) => string[]} */
  const namesOf = (found) => (found.parent === null ? [] : [...namesOf(found.parent), found.name]);

  /** The frame of those names, or the innermost one of them that costs something. @type {(root: Frame, names: string[]) => Frame} */
  const find = (root, names) => {
    let at = root;
    for (const name of names) {
      const next = at.children.find((child) => child.name === name && child.counts.some((count) => count > 0));
      if (!next) break;
      at = next;
    }
    return at;
  };

  class Flame {
    /** @param {Set<number> | null} wanted */
    constructor(wanted) {
      this.wanted = wanted;
      this.root = this.build();
      this.top = this.root;
      /** @type {Frame} */
      this.cursor = this.root;
      this.measure = this.root.counts[Places.ranking] > 0 ? Places.ranking : 0;
      /** @type {Map<Frame, HTMLElement>} */
      this.shown = new Map();
      this.place = Dom.element('div', { class: 'flame', tabindex: '0', role: 'group' });
      this.place.setAttribute(
        'aria-label',
        'Flame graph. Arrow keys move from frame to frame, enter zooms in, backspace zooms out, 0 shows all.',
      );
      this.readout = Chart.readout();
      this.caption = Dom.element('figcaption', {});
      this.functions = Dom.element('div', {});
      this.place.addEventListener('keydown', (event) => this.key(event));
      this.draw();
      Chosen.onChange(() => this.sumAnew(), this.place);
    }

    /** @returns {Frame} */
    build() {
      return build(this.wanted);
    }

    /** The same frames in the time and of the threads that are chosen now. */
    sumAnew() {
      const top = namesOf(this.top);
      this.root = this.build();
      this.top = find(this.root, top);
      this.cursor = this.top;
      this.draw();
      this.listFunctions();
    }

    /** The table is made anew of the frames and the measure that are shown now. */
    listFunctions() {
      const wasOpen = this.functions.querySelector('details')?.open ?? false;
      const details = Dom.details('Table: functions on the paths', () => TableView.create(this.table(), { rows: 30 }));
      this.functions.replaceChildren(details);
      details.open = wasOpen;
    }

    /** @param {Frame} found */
    weight(found) {
      return found.counts[this.measure];
    }

    /** Frames in sight, from the outermost on. */
    layout() {
      /** @type {Drawn[]} */
      const drawn = [];
      /** @type {Drawn[]} */
      let row = [{ frame: this.top, from: 0, width: 1, depth: 0 }];
      while (row.length > 0 && drawn.length < MOST_FRAMES) {
        drawn.push(...row);
        row = row.flatMap(({ frame: above, from, width, depth }) => {
          const whole = this.weight(above) || 1;
          let at = from;
          const children = [...above.children].sort((a, b) => this.weight(b) - this.weight(a));
          return children.flatMap((child) => {
            const part = (this.weight(child) / whole) * width;
            const place = { frame: child, from: at, width: part, depth: depth + 1 };
            at += part;
            return part >= LEAST ? [place] : [];
          });
        });
      }
      return drawn.slice(0, MOST_FRAMES);
    }

    draw() {
      const drawn = this.layout();
      const depth = Math.max(...drawn.map((one) => one.depth)) + 1;
      this.shown = new Map();
      const boxes = drawn.map(({ frame: found, from, width, depth: row }) => {
        const box = this.box(found);
        Dom.withVariables(box, { '--from': from, '--part': width, '--row': row });
        box.addEventListener('click', () => this.zoom(found));
        box.addEventListener('pointermove', () => this.point(found, false));
        this.shown.set(found, box);
        return box;
      });
      Dom.withVariables(this.place, { '--rows': depth });
      this.place.replaceChildren(...boxes);
      this.caption.textContent = this.explanation();
      this.point(this.shown.has(this.cursor) ? this.cursor : this.top, true);
    }

    /** @param {Frame} found */
    box(found) {
      return Dom.element('span', { class: `frame ${found.kind}`, title: this.words(found) }, Names.short(found.name));
    }

    /** @param {Frame} found */
    words(found) {
      const { title, unit } = measures[this.measure];
      const share = Numbers.percent(this.weight(found) / (this.weight(this.root) || 1));
      const kind = { function: '', inlined: ' (inlined)', line: '', all: '' }[found.kind];
      return `${Texts.visible(found.name)}${kind}: ${Numbers.cell(this.weight(found), unit)} ${Numbers.wordsOf(this.weight(found), Texts.visible(title))}, ${share}`;
    }

    /**
     * @param {Frame} found
     * @param {boolean} marks
     */
    point(found, marks) {
      if (marks) {
        this.shown.get(this.cursor)?.classList.remove('at');
        this.cursor = found;
        this.shown.get(found)?.classList.add('at');
      }
      const kind = found.kind === 'line' ? 'line' : 'function';
      const link = found.key === null ? null : [' ', Entity.link(kind, found.key, kind === 'line' ? 'open this line' : 'open this function', '')];
      this.readout.replaceChildren(...Dom.nodesOf([this.words(found), link]));
    }

    /** @param {Frame} found */
    zoom(found) {
      this.top = found.children.length > 0 ? found : (found.parent ?? found);
      this.cursor = found;
      this.draw();
    }

    /** @param {KeyboardEvent} event */
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const siblings = (this.cursor.parent?.children ?? [this.cursor])
        .filter((child) => this.shown.has(child))
        .sort((a, b) => this.weight(b) - this.weight(a));
      const at = siblings.indexOf(this.cursor);
      const below = [...this.cursor.children].sort((a, b) => this.weight(b) - this.weight(a))[0];
      /** @type {Record<string, Frame | null | undefined>} */
      const moves = {
        ArrowUp: this.cursor === this.top ? null : this.cursor.parent,
        ArrowDown: below,
        ArrowLeft: siblings[at - 1],
        ArrowRight: siblings[at + 1],
      };
      if (event.key in moves) {
        const next = moves[event.key];
        if (next && this.shown.has(next)) this.point(next, true);
      } else if (event.key === 'Enter') this.zoom(this.cursor);
      else if (event.key === 'Backspace' || event.key === '-') this.zoom(this.top.parent ?? this.top);
      else if (event.key === '0') this.zoom(this.root);
      else return;
      event.preventDefault();
    }

    tools() {
      const usable = measures.map((measure, index) => ({ ...measure, index })).filter(({ index }) => this.root.counts[index] > 0);
      const select = Dom.element(
        'select',
        {},
        usable.map(({ title, index }) => Dom.element('option', { value: index }, Texts.visible(title))),
      );
      select.value = String(this.measure);
      select.addEventListener('change', () => {
        this.measure = Number(select.value);
        this.draw();
        this.listFunctions();
      });
      return Dom.element(
        'div',
        { class: 'tools' },
        Dom.element('label', {}, 'Width by ', select),
        Dom.button('Zoom out', () => this.zoom(this.top.parent ?? this.top)),
        Dom.button('Show all', () => this.zoom(this.root)),
      );
    }

    /** All functions, each with all that it calls: what is on the stack twice counts once. */
    table() {
      /** @type {Map<string, { own: number[], all: number[] }>} */
      const sums = new Map();
      /** @type {(found: Frame, above: Set<string>) => void} */
      const visit = (found, above) => {
        if (found.kind === 'line') return;
        const sum = sums.get(found.name) ?? { own: zero(), all: zero() };
        sums.set(found.name, sum);
        if (!above.has(found.name)) Places.add(sum.all, found.counts);
        Places.add(sum.own, found.counts);
        for (const child of found.children) {
          if (child.kind !== 'line') Places.add(sum.own, child.counts.map((count) => -count));
          visit(child, new Set([...above, found.name]));
        }
      };
      for (const child of this.root.children) visit(child, new Set());
      const { name, title, unit } = measures[this.measure];
      const rows = [...sums].map(([called, { own, all }]) => [called, own[this.measure], all[this.measure]]);
      rows.sort((a, b) => Number(b[2]) - Number(a[2]));
      return new Data.Table({
        name: 'flame',
        title: `Functions on the paths, by ${Texts.visible(title)}`,
        layout: 'rows',
        columns: [
          { name: 'function', title: 'function', unit: 'text' },
          { name: `own_${name}`, title: `own ${title}`, unit },
          { name: `all_${name}`, title: `with what it calls`, unit },
        ],
        rows,
        row_count: rows.length,
      });
    }

    explanation() {
      const what = hasCalls
        ? 'Each frame is a function on a path of calls, as it was recorded; what it calls stands below it.'
        : paths
          ? 'No calls were recorded: each frame is a function, and below it what was inlined into it.'
          : 'Paths of calls were not recorded: each frame is a function, and below it stand its lines.';
      const parts = [
        this.root.counts.every((count) => count === 0) ? 'The chosen time and threads hold no accesses.' : '',
        what,
        `Dashed frames were inlined; the last ones are lines of source. Frames of less than ${Numbers.percent(LEAST)} are left out, and recursion is one frame.`,
        hasCycles && this.wanted !== null ? 'Cycles are only known by function, not of this part.' : '',
        Chosen.isAll() || !moments ? '' : this.summed(),
      ];
      return parts.filter(Boolean).join(' ');
    }

    /** What the page doesn't tell apart by time and threads. */
    summed() {
      if (folded === 0) return 'The frames are sums of the chosen time and threads.';
      const whose = this.wanted === null ? 'count for the function itself or its callers' : 'are in the first frame alone';
      return `The frames are sums of the chosen time and threads: lines and functions of less than ${Numbers.percent(folded)} of what a thread costs in a bin of time ${whose}.`;
    }

    element() {
      this.listFunctions();
      return Dom.element('figure', {}, this.tools(), this.place, this.readout, this.caption, this.functions);
    }
  }

  /**
   * A figure of all places or some; none without any.
   * @type {(places?: { number: number }[]) => Child}
   */
  const create = (places) => {
    if (Places.all.length === 0) return null;
    const flame = new Flame(places ? new Set(places.map(({ number }) => number)) : null);
    return flame.root.counts.some((count) => count > 0) ? flame.element() : null;
  };

  /** What the widths of frames stand for. @type {() => [string, string][]} */
  const terms = () =>
    measures.flatMap(({ name, title }) => {
      const text = ColumnTerms.of('places', name);
      return text ? [/** @type {[string, string]} */ ([Texts.visible(title), text])] : [];
    });

  return { Flame, LEAST, frame, measures, zero, create, terms };
})();
