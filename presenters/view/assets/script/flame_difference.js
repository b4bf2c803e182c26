/** The paths of calls of two traces as one flame graph, whose colours say what changed from the first to the second. */
const FlameDifference = (() => {
  /** @typedef {ReturnType<typeof FlameChart.frame>} Frame */
  /** @typedef {{ paths: Table, nodes: Table }} Side */
  /** @typedef {'after' | 'before'} Trace */

  const { measures } = FlameChart;

  /** @type {(part: Part) => Side | null} */
  const sideOf = ({ tables }) => {
    const [paths, nodes] = ['place_paths', 'path_nodes'].map((name) => tables.find((table) => table.name === name));
    return paths && nodes && paths.rows.length > 0 ? { paths, nodes } : null;
  };

  const sides = Comparison.pair('places')?.map(sideOf);

  /** What a frame costs in that trace. @type {(found: Frame, trace: Trace) => number[]} */
  const costs = (found, trace) => {
    found.before ??= FlameChart.zero();
    return trace === 'after' ? found.counts : found.before;
  };

  /** @type {(found: Frame, trace: Trace, counts: number[]) => void} */
  const charge = (found, trace, counts) => {
    for (let at = /** @type {Frame | null} */ (found); at !== null; at = at.parent) Places.add(costs(at, trace), counts);
  };

  /**
   * Adds the paths of one trace to frames, which both have in common by their names.
   * @type {(root: Frame, side: Side, trace: Trace) => void}
   */
  const addSide = (root, { paths, nodes }, trace) => {
    /** @type {Map<number, Frame>} */
    const frames = new Map([[0, root]]);
    // Callers have smaller numbers than what they call.
    for (const { node, parent, function: name, inlined, cycles } of nodes.objects()) {
      const above = frames.get(Number(parent)) ?? root;
      const kind = inlined === 'yes' ? 'inlined' : 'function';
      const known = above.children.find((child) => child.name === name && child.kind === kind);
      const own = known ?? FlameChart.frame(String(name), kind, String(name), above);
      frames.set(Number(node), own);
      charge(own, trace, measures.map((measure) => (measure.name === 'cycles' ? Number(cycles ?? 0) : 0)));
    }
    for (const row of paths.rows) {
      const own = frames.get(Number(paths.value(row, 'node'))) ?? root;
      charge(own, trace, measures.map(({ name }) => Number(paths.value(row, name) ?? 0)));
    }
  };

  class Difference extends FlameChart.Flame {
    constructor() {
      super(null);
      /** The trace by which frames are as wide as they are. @type {Trace} */
      this.widths = 'after';
    }

    build() {
      const root = FlameChart.frame('all', 'all', null, null);
      const [before, after] = sides ?? [];
      if (before) addSide(root, before, 'before');
      if (after) addSide(root, after, 'after');
      return root;
    }

    /** The paths are those of the whole traces, whatever is chosen. */
    sumAnew() {}

    /** @param {Frame} found @returns {[number, number]} */
    numbers(found) {
      return [costs(found, 'before')[this.measure], costs(found, 'after')[this.measure]];
    }

    /** @param {Frame} found */
    weight(found) {
      const [before, after] = this.numbers(found);
      return this.widths === 'before' ? before : after;
    }

    /** @param {Frame} found */
    change(found) {
      const [before, after] = this.numbers(found);
      return after - before;
    }

    /** @param {Frame} found */
    box(found) {
      const change = this.change(found);
      const most = Math.max(...this.numbers(this.root), 1);
      const way = change > 0 ? 'more' : change < 0 ? 'fewer' : 'same';
      const box = Dom.element(
        'span',
        { class: `frame ${found.kind} ${way}`, title: this.words(found) },
        `${Names.short(found.name)} ${Comparison.changeOf(...this.numbers(found))}`,
      );
      return Dom.withVariables(box, { '--change-part': Math.min(1, Math.sqrt(Math.abs(change) / most)) });
    }

    /** @param {Frame} found */
    words(found) {
      const { title, unit } = measures[this.measure];
      const [before, after] = this.numbers(found);
      const kind = found.kind === 'inlined' ? ' (inlined)' : '';
      const named = `${Numbers.cell(after, unit)} ${Numbers.wordsOf(after, Texts.visible(title))}`;
      return `${Texts.visible(found.name)}${kind}: ${named} in the second trace, ${Numbers.cell(before, unit)} in the first: ${Comparison.changeOf(before, after)}`;
    }

    explanation() {
      const whose = this.widths === 'before' ? 'first' : 'second';
      return (
        `Each frame is a function on a path of calls, as wide as what it costs in the ${whose} trace; what it calls stands below it. ` +
        'Red frames (+) cost more in the second trace than in the first, blue ones (−) less; the deeper the colour, the larger the change as a part of the whole trace. ' +
        `Frames of less than ${Numbers.percent(FlameChart.LEAST)} are left out; the table has all functions, also those that are gone. ` +
        'The graph shows the whole traces.'
      );
    }

    tools() {
      const made = super.tools();
      const select = Dom.element(
        'select',
        {},
        [['after', 'the second trace'], ['before', 'the first trace']].map(([value, text]) => Dom.element('option', { value }, text)),
      );
      select.addEventListener('change', () => {
        this.widths = select.value === 'before' ? 'before' : 'after';
        this.zoom(this.root);
      });
      made.prepend(Dom.element('label', {}, 'Width as in ', select));
      return made;
    }

    /** All functions, each with all that it calls, by what changed. */
    table() {
      /** @type {Map<string, [number, number]>} */
      const sums = new Map();
      /** @type {(found: Frame, above: Set<string>) => void} */
      const visit = (found, above) => {
        const sum = sums.get(found.name) ?? [0, 0];
        // What is on the stack twice counts once.
        if (!above.has(found.name)) Places.add(sum, this.numbers(found));
        sums.set(found.name, sum);
        for (const child of found.children) visit(child, new Set([...above, found.name]));
      };
      for (const child of this.root.children) visit(child, new Set());
      const { title, unit } = measures[this.measure];
      const rows = [...sums].map(([name, [before, after]]) => [name, before, after, after - before, Comparison.stateOf(before, after) ?? '']);
      rows.sort((one, other) => Math.abs(Number(other[3])) - Math.abs(Number(one[3])));
      return new Data.Table({
        name: 'flame_difference',
        title: `Functions on the paths, with what they call, by change of ${Texts.visible(title)}`,
        layout: 'rows',
        columns: [
          { name: 'function', title: 'function', unit: 'text' },
          { name: 'before', title: 'before', unit },
          { name: 'after', title: 'after', unit },
          { name: 'change', title: 'change', unit: 'change' },
          { name: 'state', title: 'state', unit: 'text' },
        ],
        rows,
        row_count: rows.length,
      });
    }
  }

  /** A figure; none if one of the traces has no paths. */
  const create = () => (sides?.every((side) => side !== null) ? new Difference().element() : null);

  return { create };
})();
