/** What the page shows: reports of analyses, each with typed tables. */
const Data = (() => {
  const page = JSON.parse(document.getElementById('data').textContent);

  /** Columns with name, title and unit; rows as arrays in their order. */
  class Table {
    constructor(raw) {
      Object.assign(this, { name: raw.name, title: raw.title, layout: raw.layout, columns: raw.columns });
      this.rows = raw.rows;
      this.rowCount = raw.row_count;
      this.totalRows = raw.total_rows ?? raw.row_count;
      this.positions = new Map(raw.columns.map((column, position) => [column.name, position]));
    }

    has(...names) {
      return names.every((name) => this.positions.has(name));
    }

    column(name) {
      return this.columns[this.positions.get(name)];
    }

    value(row, name) {
      return this.has(name) ? row[this.positions.get(name)] : null;
    }

    /** The first row as an object; for tables of one row. */
    record() {
      const row = this.rows[0] ?? [];
      return Object.fromEntries(this.columns.map((column, position) => [column.name, row[position] ?? null]));
    }

    objects() {
      return this.rows.map((row) => Object.fromEntries(this.columns.map((column, i) => [column.name, row[i]])));
    }
  }

  const parts = page.parts.map((part) => ({ ...part, tables: part.tables.map((raw) => new Table(raw)) }));

  const part = (name) => parts.find((candidate) => candidate.name === name);

  const table = (partName, name) => part(partName)?.tables.find((candidate) => candidate.name === name);

  const sources = new Map(page.sources.map((source) => [source.file, source.stretches]));

  /** Text of a line of source; none if the page doesn't hold it. */
  const sourceLine = (file, line) => {
    const stretch = sources.get(file)?.find(
      ({ first_line: first, lines }) => line >= first && line < first + lines.length,
    );
    return stretch?.lines[line - stretch.first_line];
  };

  /** Bytes of a cache line, for what is drawn to scale. */
  const lineBytes = () => table('misses', 'caches')?.record().line_bytes ?? 64;

  return { page, Table, parts, part, table, sources, sourceLine, lineBytes };
})();
