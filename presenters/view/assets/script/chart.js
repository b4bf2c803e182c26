/** What charts have in common: a frame with caption, axes, a read-out that follows pointer and keys, and the table. */
const Chart = (() => {
  /**
   * `caption` says in words what is drawn; tables are what the drawing was made from. Those of a part are of the chosen time
   * and threads, as far as they can be.
   * @type {(drawing: Child, caption: string, tables: Table[], part?: string) => HTMLElement}
   */
  const figure = (drawing, caption, tables, part) =>
    Dom.element(
      'figure',
      {},
      drawing,
      Dom.element('figcaption', {}, caption),
      tables.map((table) => Dom.details(`Table: ${Texts.visible(table.title)}`, () => tableOf(table, part))),
    );

  /** @type {(table: Table, part: string | undefined) => HTMLElement} */
  const tableOf = (table, part) => (part === undefined ? TableView.create(table, { rows: 100 }) : ChosenTables.shown(part, table, { rows: 100 }));

  const STEPS = [1, 2, 5, 10];

  /**
   * Round values from `first` to `last`, about `count` of them.
   * @type {(first: number, last: number, count: number) => number[]}
   */
  const ticks = (first, last, count) => {
    const rough = (last - first) / count || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * (STEPS.find((factor) => factor * power >= rough) ?? 10);
    const values = [];
    for (let value = Math.ceil(first / step) * step; value <= last + step / 1e6; value += step) values.push(value);
    return values;
  };

  /**
   * The same of bytes, which are round as multiples of a power of two.
   * @type {(first: number, last: number, count: number) => number[]}
   */
  const byteTicks = (first, last, count) => {
    const step = 2 ** Math.max(0, Math.ceil(Math.log2((last - first) / count || 1)));
    const values = [];
    for (let value = Math.ceil(first / step) * step; value <= last; value += step) values.push(value);
    return values;
  };

  /**
   * The titles of the axes: what they measure, and in what unit.
   * @type {(texts: [text: string, x: number, y: number, turned?: boolean][]) => Child[]}
   */
  const axisTitles = (texts) =>
    texts.map(([text, x, y, turned]) =>
      Dom.svg('text', { x, y, class: 'axis-title middle', transform: turned ? `rotate(-90 ${x} ${y})` : null }, text),
    );

  /**
   * A drawing that a narrow window scrolls, also by keys: nothing within it can be focused.
   * @type {(name: string, ...content: Child[]) => HTMLElement}
   */
  const scrolled = (name, ...content) =>
    Dom.element('div', { class: 'drawing', tabindex: '0', role: 'region', 'aria-label': `Drawing: ${Texts.visible(name)}` }, content);

  /** A line of text that says what is under the cursor, to eyes and to screen readers. */
  const readout = () => Dom.element('p', { class: 'readout', role: 'status' }, '');

  /**
   * Elements in general don't know the types of their events.
   * @type {(target: Element, listen: (event: KeyboardEvent) => void) => void}
   */
  const onKey = (target, listen) =>
    target.addEventListener('keydown', (event) => {
      if (event instanceof KeyboardEvent) listen(event);
    });

  /** @type {Record<string, [number, number]>} */
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  /**
   * Arrow keys on a focused chart move by columns and rows.
   * @type {(target: Element, move: (dx: number, dy: number) => void) => void}
   */
  const onArrows = (target, move) =>
    onKey(target, (event) => {
      const step = ARROWS[event.key];
      if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      move(...step);
    });

  /**
   * Plus and minus on a focused chart zoom by a factor, 0 shows all.
   * @type {(target: Element, zoom: (factor: number) => void, showAll: () => void) => void}
   */
  const onZoomKeys = (target, zoom, showAll) =>
    onKey(target, (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '+' || event.key === '=') zoom(0.5);
      else if (event.key === '-') zoom(2);
      else if (event.key === '0') showAll();
      else return;
      event.preventDefault();
    });

  /** @type {(value: number, low: number, high: number) => number} */
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  /**
   * Makes the first of many by `make(from, to)`, and the next ones when a button is pressed, which it returns.
   * @type {(count: number, first: number, make: (from: number, to: number) => void) => HTMLButtonElement}
   */
  const more = (count, first, make) => {
    let made = Math.min(first, count);
    make(0, made);
    const label = () =>
      `Show ${Numbers.grouped(Math.min(first * 4, count - made))} more of ${Numbers.grouped(count - made)}`;
    const button = Dom.button(label(), () => {
      const from = made;
      made = Math.min(made + first * 4, count);
      make(from, made);
      button.hidden = made === count;
      button.textContent = label();
    });
    button.hidden = made === count;
    return button;
  };

  /**
   * A chart below its own heading.
   * @type {(title: string, ...content: Child[]) => HTMLElement}
   */
  const section = (title, ...content) =>
    Dom.element(
      'section',
      { class: 'chart', 'aria-label': Texts.visible(title) },
      Dom.element('h3', {}, Texts.visible(title)),
      content,
    );

  return { figure, scrolled, ticks, byteTicks, axisTitles, readout, onArrows, onZoomKeys, clamp, more, section };
})();
