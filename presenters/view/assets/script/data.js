/** What the page shows: reports of analyses, each with typed tables. */
const Data = (() => {
  /** @type {PageData} */
  const page = JSON.parse(document.getElementById('data')?.textContent ?? 'null');

  /**
   * Columns with name, title and unit; rows as arrays in their order.
   * @template [R=Cells]
   */
  class Table {
    /** @param {RawTable} raw */
    constructor(raw) {
      this.name = raw.name;
      this.title = raw.title;
      this.layout = raw.layout;
      this.columns = raw.columns;
      this.rows = raw.rows;
      this.rowCount = raw.row_count;
      this.totalRows = raw.total_rows ?? raw.row_count;
      this.positions = new Map(raw.columns.map((column, position) => [column.name, position]));
    }

    /** @param {string[]} names */
    has(...names) {
      return names.every((name) => this.positions.has(name));
    }

    /** @param {string} name */
    column(name) {
      return this.columns[this.position(name)];
    }

    /**
     * Where the cells of a column stand in rows; -1 if the table has no such column.
     * @param {string} name
     */
    position(name) {
      return this.positions.get(name) ?? -1;
    }

    /**
     * @template {keyof R & string} K
     * @param {Cell[]} row
     * @param {K} name
     * @returns {NonNullable<R[K]> | null}
     */
    value(row, name) {
      return this.has(name) ? /** @type {NonNullable<R[K]> | null} */ (row[this.position(name)]) : null;
    }

    /**
     * The first row as an object; for tables of one row.
     * @returns {R}
     */
    record() {
      const row = this.rows[0] ?? [];
      return this.asObject(this.columns.map((_, position) => row[position] ?? null));
    }

    /**
     * Nothing checks the cells: the type of the table's rows says what its columns hold.
     * @param {Cell[]} row
     * @returns {R}
     */
    asObject(row) {
      return /** @type {R} */ (Object.fromEntries(this.columns.map((column, position) => [column.name, row[position]])));
    }

    /**
     * The same columns with other rows.
     * @param {Cell[][]} rows
     * @returns {Table<R>}
     */
    withRows(rows) {
      const { name, title, layout, columns } = this;
      return new Table({ name, title, layout, columns, rows, row_count: rows.length });
    }

    /**
     * @param {string} title
     * @returns {Table<R>}
     */
    withTitle(title) {
      const { name, layout, columns, rows, rowCount, totalRows } = this;
      return new Table({ name, title, layout, columns, rows, row_count: rowCount, total_rows: totalRows });
    }

    /**
     * Leaves out these columns.
     * @param {string[]} names
     * @returns {Table<R>}
     */
    without(names) {
      const { name, title, layout, rowCount, totalRows } = this;
      const kept = this.columns.flatMap((column, position) => (names.includes(column.name) ? [] : [position]));
      const columns = kept.map((position) => this.columns[position]);
      const rows = this.rows.map((row) => kept.map((position) => row[position]));
      return new Table({ name, title, layout, columns, rows, row_count: rowCount, total_rows: totalRows });
    }

    /** @returns {R[]} */
    objects() {
      return this.rows.map((row) => this.asObject(row));
    }
  }

  /** @type {(raw: RawPart[]) => Part[]} */
  const partsOf = (raw) => raw.map((part) => ({ ...part, tables: part.tables.map((own) => new Table(own)) }));

  const parts = partsOf(page.parts);

  /** What the page shows of the first of two compared traces. */
  const first = partsOf(page.first ?? []);

  /** @type {(name: string) => Part | undefined} */
  const part = (name) => parts.find((candidate) => candidate.name === name);

  /**
   * @template {keyof NamedTables} P
   * @template {keyof NamedTables[P] & string} N
   * @param {P} partName
   * @param {N} name
   * @returns {Table<NamedTables[P][N]> | undefined}
   */
  const table = (partName, name) => {
    const found = part(partName)?.tables.find((candidate) => candidate.name === name);
    return /** @type {Table<NamedTables[P][N]> | undefined} */ (/** @type {unknown} */ (found));
  };

  /**
   * The first row of that table; an empty object if it is not there.
   * @template {keyof NamedTables} P
   * @template {keyof NamedTables[P] & string} N
   * @param {P} partName
   * @param {N} name
   * @returns {Partial<NamedTables[P][N]>}
   */
  const record = (partName, name) => table(partName, name)?.record() ?? {};

  /**
   * Rows with the same key, in their order.
   * @template R
   * @param {R[]} rows
   * @param {(row: R) => string} keyOf
   */
  const grouped = (rows, keyOf) => {
    /** @type {Map<string, R[]>} */
    const groups = new Map();
    for (const row of rows) {
      const group = groups.get(keyOf(row));
      if (group) group.push(row);
      else groups.set(keyOf(row), [row]);
    }
    return groups;
  };

  const sources = new Map(page.sources.map((source) => [source.file, source.stretches]));

  /**
   * Text of a line of source; none if the page doesn't hold it.
   * @type {(file: string, line: number) => string | undefined}
   */
  const sourceLine = (file, line) => {
    const stretch = sources.get(file)?.find(
      ({ first_line: first, lines }) => line >= first && line < first + lines.length,
    );
    return stretch?.lines[line - stretch.first_line];
  };

  /**
   * Bytes of a cache line, for what is drawn to scale.
   * @type {() => number}
   */
  const lineBytes = () => record('misses', 'caches').line_bytes ?? 64;

  /** The trace as a word of a command. */
  const trace = Texts.visible(page.trace || 'TRACE');

  return { page, trace, Table, parts, first, part, table, record, sources, sourceLine, lineBytes, grouped };
})();
