/** What each row consists of: a bar as long as all others, cut into the parts of its kinds. */
const StackedBars = (() => {
  /** @typedef {{ name: string, values: number[] }} Row */
  /** @typedef {{ label: string, counted: string, kinds: string[], rows: Row[] }} Content */

  /** Rows that are drawn at first. */
  const FIRST_ROWS = 12;
  const STYLES = 8;
  /** Smaller parts surely have no room for a text; the read-out has them. */
  const LABELLED = 0.02;

  /** @type {(kind: number) => string} */
  const styleOf = (kind) => `kind-${kind % STYLES}`;

  /** @type {(values: number[]) => number} */
  const total = (values) => values.reduce((sum, value) => sum + value, 0);

  /** @type {(row: Row, kind: number, kinds: string[]) => string} */
  const words = ({ name, values }, kind, kinds) => {
    const share = Numbers.percent(values[kind] / (total(values) || 1));
    return `${name}, ${kinds[kind]}: ${Numbers.grouped(values[kind])}, ${share}`;
  };

  class Bars {
    /**
     * `kinds`: their names; `rows`: [{ name, values: a number for each kind }]; `label` says what is drawn, `counted` what
     * the numbers count.
     * @param {Content} content
     */
    constructor({ label, counted, kinds, rows }) {
      this.counted = counted;
      this.kinds = kinds;
      this.rows = rows;
      this.cursor = { row: 0, at: -1 };
      this.readout = Chart.readout();
      this.list = Dom.element('div', { class: 'stacks', role: 'img', tabindex: '0' });
      this.list.setAttribute('aria-label', `${label}. Arrow keys move from part to part.`);
      /** @type {{ element: HTMLElement, words: string }[][]} */
      this.segments = [];
      Chart.onArrows(this.list, (dx, dy) => this.step(dx, dy));
    }

    /**
     * @param {Row} row
     * @param {number} index
     * @param {number} kind
     * @param {number} part
     */
    segment(row, index, kind, part) {
      // Those texts that don't fit beside the first, empty one wrap to where they are not seen.
      const texts =
        part >= LABELLED
          ? ['', this.kinds[kind], Numbers.percent(part)].map((text) => Dom.element('span', {}, text))
          : [];
      const made = Dom.element('span', { class: `segment ${styleOf(kind)}` }, texts);
      const at = this.segments[index].length;
      made.addEventListener('pointerenter', () => this.show({ row: index, at }));
      this.segments[index].push({ element: made, words: words(row, kind, this.kinds) });
      return Dom.withVariables(made, { '--part': part });
    }

    /**
     * @param {Row} row
     * @param {number} index
     */
    bar(row, index) {
      const all = total(row.values);
      this.segments[index] = [];
      const parts = row.values.map((value, kind) => (value > 0 ? this.segment(row, index, kind, value / all) : null));
      return Dom.element(
        'div',
        { class: 'stack-row' },
        Dom.element('span', { class: 'stack-name' }, row.name),
        Dom.element('span', { class: 'stack' }, all > 0 ? parts : Dom.element('span', { class: 'none' }, 'none')),
        Dom.element('span', { class: 'stack-total' }, Numbers.short(all)),
      );
    }

    /**
     * @param {number} dx
     * @param {number} dy
     */
    step(dx, dy) {
      const row = Chart.clamp(this.cursor.row + dy, 0, this.segments.length - 1);
      this.show({ row, at: Chart.clamp(this.cursor.at + dx, 0, this.segments[row].length - 1) });
    }

    /** @param {{ row: number, at: number }} cursor */
    show(cursor) {
      const { row, at } = this.cursor;
      this.segments[row]?.[at]?.element.classList.remove('here');
      this.cursor = cursor;
      const found = this.segments[cursor.row]?.[cursor.at];
      found?.element.classList.add('here');
      this.readout.textContent = found?.words ?? '';
    }

    legend() {
      const seen = this.kinds.flatMap((name, kind) =>
        this.rows.some(({ values }) => values[kind] > 0) ? [{ name, kind }] : [],
      );
      /** @type {(kind: { name: string, kind: number }) => HTMLElement} */
      const entry = ({ name, kind }) =>
        Dom.element('li', {}, Dom.element('span', { class: `swatch ${styleOf(kind)}`, 'aria-hidden': 'true' }), name);
      return Dom.element('ul', { class: 'legend', 'aria-label': 'Kinds, in the order of the bars' }, seen.map(entry));
    }

    axes() {
      return Dom.element(
        'div',
        { class: 'stack-row axis-titles' },
        Dom.element('span', { class: 'stack-name' }, 'region'),
        Dom.element('span', { class: 'stack-axis' }, `share of its ${this.counted}, %`),
        Dom.element('span', { class: 'stack-total' }, this.counted),
      );
    }

    element() {
      const more = Chart.more(this.rows.length, FIRST_ROWS, (from, to) =>
        this.list.append(...this.rows.slice(from, to).map((row, index) => this.bar(row, from + index))),
      );
      return Dom.element('div', {}, this.legend(), this.axes(), this.list, more, this.readout);
    }
  }

  /** @type {(content: Content) => HTMLElement} */
  const create = (content) => new Bars(content).element();

  return { create };
})();
