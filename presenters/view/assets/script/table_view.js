/** Any table: sorted by any column, filtered, with bars beside shares. */
const TableView = (() => {
  /** @typedef {{ position: number | null, descending: boolean }} Order */
  /** @typedef {{ rows?: number, title?: string }} Options */

  const FIRST_ROWS = 12;
  /** A page with more rows would become slow. */
  const MAX_ROWS = 2000;
  const FILTER_FROM = 20;
  /** Pixels of a window in which not all columns have room. */
  const NARROW = 1200;

  /** @type {(unit: Unit) => boolean} */
  const isText = (unit) => unit === 'text' || unit === 'path' || unit === 'source';

  /** @type {(column: Column) => string} */
  const classOf = (column) => {
    if (column.unit === 'source') return 'code';
    if (column.unit === 'path') return 'path';
    return isText(column.unit) ? 'name' : 'number';
  };

  const addressNames = /(^|_)address$/;

  /** Times are shown with their units, which their titles then needn't have. */
  const UNITS_OF_TIME = [' (ns)', ', ns', 'ns ', ' ns', ', µs', ', us', ' us'];
  /** The nanoseconds of a column's unit; 0 if it has no times. @type {(column: Column) => number} */
  const timeUnit = ({ name, title, unit }) => {
    const isWhole = unit === 'count' || unit === 'number';
    if (name.endsWith('_us') && (isWhole || unit === 'rate')) return 1000;
    return isWhole && (name.endsWith('_ns') || title.endsWith(UNITS_OF_TIME[0])) ? 1 : 0;
  };
  /**
   * A head that is empty where values say enough still needs a name here: it is a button.
   * @type {(column: Column) => string}
   */
  const titleOf = (column) => {
    if (timeUnit(column) === 0) return Texts.visible(column.title || column.name.replaceAll('_', ' '));
    if (column.title === 'ns' || column.title === 'us') return 'time';
    return Texts.visible(UNITS_OF_TIME.reduce((title, unit) => title.replace(unit, ''), column.title));
  };

  /** Bytes whose title doesn't say so have their unit beside them. @type {(column: Column) => boolean} */
  const needsBytes = ({ name, title, unit }) => (unit === 'bytes' || (unit === 'number' && name.endsWith('_bytes'))) && !title.includes('byte');

  /** Comparisons of single numbers have the names of their columns as texts. @type {(column: Column, text: string) => string} */
  const wordsOf = ({ name, unit }, text) => (name === 'number' && unit === 'text' ? text.replaceAll('_', ' ') : text);

  /** @type {(column: Column, value: Cell) => string} */
  const textOf = (column, value) => {
    const text = wordsOf(column, Numbers.cell(value, column.unit));
    if (typeof value !== 'number') return text;
    if (timeUnit(column) > 0) return Numbers.duration(value * timeUnit(column));
    if (addressNames.test(column.name) && column.unit === 'number') return Numbers.hexadecimal(value);
    return needsBytes(column) ? `${text} B` : text;
  };

  /** @type {(share: number) => HTMLElement} */
  const bar = (share) => Dom.withVariables(Dom.element('span', { class: 'bar', 'aria-hidden': 'true' }), { '--part': share });

  /**
   * The line of a place in the source leads there.
   * @type {(table: Table, row: Cell[], text: string) => Child}
   */
  const placeLink = (table, row, text) => {
    const [file, line] = [table.value(row, 'file'), table.value(row, 'line')];
    return typeof file === 'string' && typeof line === 'number' ? SourceView.link(file, line, text) : text;
  };

  /**
   * What the rows are ranked by, if the title says so, and its share come first of the numbers.
   * @type {(table: Table, positions: number[]) => number[]}
   */
  const rankedFirst = (table, positions) => {
    const [, change, ranking] = / by (change of )?([^,;]+)/.exec(table.title) ?? [];
    /** @type {(position: number) => boolean} */
    const isFirst = (position) => {
      const column = table.columns[position];
      return titleOf(column) === (change ? 'change' : ranking) || /(^|_)share$/.test(column.name);
    };
    return [...positions.filter(isFirst), ...positions.filter((position) => !isFirst(position))];
  };

  /**
   * Names stand first, then numbers, then the text of the source: numbers are what a narrow screen must show. Texts of which
   * all are empty are left out.
   * @type {(table: Table) => number[]}
   */
  const positionsOf = (table) => {
    /** @type {(position: number) => boolean} */
    const says = (position) => !isText(table.columns[position].unit) || table.rows.length === 0 || table.rows.some((row) => row[position]);
    const positions = table.columns.map((_, position) => position).filter(says);
    /** @type {(position: number) => boolean} */
    const isSource = (position) => table.columns[position].unit === 'source';
    const others = positions.filter((position) => !isSource(position));
    const heads = Math.max(1, others.findIndex((position) => !isText(table.columns[position].unit)) + (table.has('file', 'line') ? 1 : 0));
    /** @type {(position: number) => boolean} */
    const isHead = (position) => position === others[0] || (['file', 'line', 'name'].includes(table.columns[position].name) && others.indexOf(position) < heads);
    // On a narrow screen the first name must do before the numbers.
    const numbers = others.filter((position) => !isHead(position) && !isText(table.columns[position].unit));
    const first = innerWidth < NARROW ? [...others.filter(isHead), ...rankedFirst(table, numbers)] : others;
    return [...first, ...others.filter((position) => !first.includes(position)), ...positions.filter(isSource)];
  };

  /**
   * A name, which leads to the view of what it names.
   * @type {(column: Column, text: string) => Child}
   */
  const nameOf = (column, text) => {
    const shown = Names.short(text);
    const title = shown === text ? null : text;
    const name = Names.breakable(shown);
    return Entity.link(column.name, text, name, title ? Dom.element('span', { title }, name) : name);
  };

  /** @type {(text: string) => Child} */
  const pathOf = (text) => {
    const shown = Names.path(text);
    return Dom.element('span', { title: shown === text ? null : text }, Names.breakablePath(shown));
  };

  /** @type {(table: Table, column: Column, row: Cell[], position: number, isHead: boolean) => HTMLElement} */
  const cell = (table, column, row, position, isHead) => {
    const value = row[position];
    const text = textOf(column, value);
    /** @type {Child[]} */
    const children = [column.unit === 'text' ? nameOf(column, text) : column.unit === 'path' ? pathOf(text) : text];
    if (column.unit === 'share' && typeof value === 'number') children.splice(0, 1, bar(value), Dom.element('span', { class: 'percent' }, text));
    if (column.name === 'line' && table.has('file')) children.splice(0, 1, placeLink(table, row, text));
    if (column.name === 'stream' && typeof value === 'number' && Places.streams.includes(value)) children.splice(0, 1, threadButton(value));
    const attributes = { class: classOf(column) };
    return isHead
      ? Dom.element('th', { ...attributes, scope: 'row' }, children)
      : Dom.element('td', attributes, children);
  };

  /**
   * Chooses that thread for all parts.
   * @type {(stream: number) => HTMLElement}
   */
  const threadButton = (stream) =>
    Dom.button(String(stream), () => Chosen.choose({ streams: [stream] }), { class: 'as-link', title: 'Choose this thread for all parts' });

  /** @type {(a: Cell, b: Cell) => number} */
  const compare = (a, b) => {
    if (a === b) return 0;
    if (a === null) return 1;
    if (b === null) return -1;
    return a < b ? -1 : 1;
  };

  /**
   * Numbers start with the largest.
   * @type {(rows: Cell[][], order: Order) => Cell[][]}
   */
  const sorted = (rows, { position, descending }) =>
    position === null ? rows : [...rows].sort((a, b) => (descending ? -1 : 1) * compare(a[position], b[position]));

  class View {
    /**
     * @param {Table} table
     * @param {Options} options
     */
    constructor(table, options) {
      this.table = table;
      this.options = options;
      /** @type {Order} */
      this.order = { position: null, descending: true };
      this.word = '';
      this.limit = options.rows ?? FIRST_ROWS;
      this.body = Dom.element('tbody');
      this.more = Dom.button('', () => this.showAll(), { class: 'more' });
      this.status = Dom.element('span', { class: 'status', role: 'status' });
      this.cut = Dom.element('p', { class: 'status' }, `Not all ${Numbers.grouped(table.rowCount)} rows are in this page.`);
      this.positions = positionsOf(table);
      this.heads = this.positions.map((position) => this.head(table.columns[position], position));
      this.draw();
    }

    /**
     * @param {Column} column
     * @param {number} position
     */
    head(column, position) {
      const sort = Dom.button(titleOf(column), () => this.sortBy(position));
      return Dom.element('th', { scope: 'col', class: classOf(column) }, sort);
    }

    /** @param {number} position */
    sortBy(position) {
      const again = this.order.position === position;
      const numeric = !isText(this.table.columns[position].unit);
      this.order = { position, descending: again ? !this.order.descending : numeric };
      this.draw();
    }

    showAll() {
      this.limit = MAX_ROWS;
      this.draw();
      const next = this.body.querySelectorAll('tr')[this.options.rows ?? FIRST_ROWS];
      /** @type {HTMLElement | null | undefined} */ (next?.querySelector('a, th'))?.focus();
    }

    /** @param {string} word */
    filter(word) {
      this.word = word.trim().toLowerCase();
      this.draw();
    }

    matching() {
      if (!this.word) return this.table.rows;
      const texts = this.table.columns.flatMap((column, position) => (isText(column.unit) ? [position] : []));
      return this.table.rows.filter((row) =>
        texts.some((position) => String(row[position] ?? '').toLowerCase().includes(this.word)),
      );
    }

    draw() {
      const rows = sorted(this.matching(), this.order);
      const shown = rows.slice(0, this.limit);
      this.body.replaceChildren(
        ...shown.map((row) =>
          Dom.element('tr', {}, this.positions.map((position) => cell(this.table, this.table.columns[position], row, position, position === this.positions[0]))),
        ),
      );
      this.heads.forEach((head, position) => {
        const direction = this.order.descending ? 'descending' : 'ascending';
        if (this.positions[position] === this.order.position) head.setAttribute('aria-sort', direction);
        else head.removeAttribute('aria-sort');
      });
      const all = Math.min(rows.length, MAX_ROWS);
      this.more.hidden = shown.length >= all;
      this.more.textContent = `Show ${Numbers.grouped(all - shown.length)} more`;
      this.cut.hidden = rows.length <= MAX_ROWS && this.table.rows.length === this.table.rowCount;
      this.status.textContent = this.word ? `${Numbers.grouped(rows.length)} of ${Numbers.grouped(this.table.rows.length)} rows` : '';
    }

    tools() {
      if (this.table.rows.length < FILTER_FROM || !this.table.columns.some(({ unit }) => isText(unit))) return null;
      const input = Dom.element('input', { type: 'search', placeholder: 'Filter', oninput: () => this.filter(input.value) });
      input.setAttribute('aria-label', `Filter ${Texts.visible(this.table.title)}`);
      return Dom.element('div', { class: 'tools' }, this.status, input);
    }

    element() {
      const title = Texts.visible(this.options.title ?? this.table.title);
      const table = Dom.element(
        'table',
        {},
        Dom.element('caption', {}, title),
        Dom.element('thead', {}, Dom.element('tr', {}, this.heads)),
        this.body,
      );
      const region = Dom.element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Table: ${title}` }, table);
      return Dom.element('div', { class: 'table-view' }, this.tools(), Terms.ofTable(this.table), region, this.more, this.cut);
    }
  }

  /**
   * Numbers under texts stand where the texts begin.
   * @type {(table: Table) => string}
   */
  const recordClass = (table) => (table.columns.some(({ unit }) => isText(unit)) ? 'record mixed' : 'record');

  /**
   * One row as titles and values.
   * @type {(table: Table, title?: string) => HTMLElement}
   */
  const record = (table, title) =>
    Dom.element(
      'div',
      { class: 'record-view' },
      Terms.ofTable(table),
      Dom.element(
        'table',
        { class: recordClass(table) },
        Dom.element('caption', {}, Texts.visible(title ?? table.title)),
        Dom.element(
          'tbody',
          {},
          table.columns.map((column, position) =>
            Dom.element(
              'tr',
              {},
              Dom.element('th', { scope: 'row' }, titleOf(column)),
              Dom.element('td', { class: classOf(column) }, textOf(column, table.rows[0]?.[position] ?? null)),
            ),
          ),
        ),
      ),
    );

  /**
   * The table as an element. Options: `rows` to begin with, `title` instead of the table's.
   * @type {(table: Table, options?: Options) => HTMLElement}
   */
  const create = (table, options = {}) =>
    table.layout === 'record' ? record(table, options.title) : new View(table, options).element();

  return { create, titleOf };
})();
