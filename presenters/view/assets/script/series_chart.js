/**
 * Regions over time: a line for each region, or for each thread of one, and how even the threads are.
 *
 * Tables of one part, found by their columns: sums of regions, with `time_s` (when a bin ends), `interval_s`, `region`,
 * `threads`, `own_time_ns`, `time_imbalance`, and `bytes_imbalance` if known; their threads, with `stream` and `thread`
 * as well.
 */
const SeriesChart = (() => {
  /**
   * @template [R=SeriesRow]
   * @typedef {{ name: string, rows: R[], time: number }} Group
   */
  /** @typedef {Group & { style: string, shown: boolean }} Line */
  /**
   * @typedef {object} Measure
   * @property {SeriesColumn} column
   * @property {string} title
   * @property {(value: number) => string} format
   * @property {'bytes_imbalance' | 'time_imbalance'} imbalance
   */

  const COLUMNS = ['time_s', 'interval_s', 'region', 'threads', 'own_time_ns', 'time_imbalance'];
  const THREADS = ['time_s', 'interval_s', 'region', 'stream', 'thread'];
  const [HEIGHT, SMALL_HEIGHT] = [320, 150];
  /** Lines that are drawn at first; the others wait behind their checkboxes. */
  const FIRST_LINES = 6;
  const MAX_LINES = 64;
  const STYLES = 8;
  const LONGEST_NAME = 60;

  /** @type {(value: number) => string} */
  const number = (value) => (value >= 100 ? Numbers.grouped(Math.round(value)) : String(Number(value.toPrecision(3))));
  /** @type {(share: number) => string} */
  const percent = (share) => `${Number((share * 100).toPrecision(3))} %`;

  /** @type {Measure[]} */
  const MEASURES = [
    { column: 'read_mb_per_s', title: 'MB/s read', format: number, imbalance: 'bytes_imbalance' },
    { column: 'write_mb_per_s', title: 'MB/s written', format: number, imbalance: 'bytes_imbalance' },
    { column: 'entries_per_s', title: 'entries/s', format: number, imbalance: 'time_imbalance' },
    { column: 'time_share', title: 'share of the threads’ time', format: percent, imbalance: 'time_imbalance' },
  ];
  const OF = { bytes_imbalance: 'bytes', time_imbalance: 'time' };

  /** @type {(text: string) => string} */
  const nameOf = (text) => Texts.abridged(Texts.visible(text), LONGEST_NAME);

  /** @type {(table: Table<SeriesSum>, column: SeriesColumn) => boolean} */
  const isKnown = (table, column) => table.has(column) && table.rows.some((row) => table.value(row, column) !== null);

  /**
   * What a line is drawn from, by its key; those with the most time of their own come first.
   * @template {SeriesRow} R
   * @param {R[]} rows
   * @param {(row: R) => string | number} keyOf
   * @param {(row: R) => string} titleOf
   * @returns {Group<R>[]}
   */
  const groups = (rows, keyOf, titleOf) => {
    /** @type {Map<string | number, Group<R>>} */
    const found = new Map();
    for (const row of rows) {
      const key = keyOf(row);
      const group = found.get(key) ?? { name: titleOf(row), rows: [], time: 0 };
      group.rows.push(row);
      group.time += row.own_time_ns;
      found.set(key, group);
    }
    return [...found.values()].sort((a, b) => b.time - a.time);
  };

  class Series {
    /**
     * @param {Table<SeriesSum>} sums
     * @param {Table<SeriesThread> | undefined} threads
     */
    constructor(sums, threads) {
      this.sums = sums;
      this.threads = threads;
      this.rows = sums.objects();
      const ends = new Map(this.rows.map((row) => [row.time_s, row.interval_s]));
      this.bins = [...ends].sort(([a], [b]) => a - b).map(([to, interval]) => ({ from: to - interval, to }));
      this.positions = new Map(this.bins.map(({ to }, index) => [to, index]));
      this.regions = groups(
        this.rows,
        (row) => row.region,
        (row) => row.region,
      );
      this.measures = MEASURES.filter(({ column }) => isKnown(sums, column));
      this.measure = this.measures[0];
      this.at = -1;
      this.readout = Chart.readout();
      this.drawing = Dom.element('div', { class: 'plots' });
      this.choices = Dom.element('div');
      /** @type {string | null} */
      this.region = null;
      /** @type {Line[]} */
      this.lines = [];
      /** @type {StepLine[]} */
      this.even = [];
      /** @type {ReturnType<typeof StepPlot.create>[]} */
      this.plots = [];
      this.left = 0;
      this.choose(null);
      StepPlot.narrow.addEventListener('change', () => this.draw());
    }

    /**
     * The lines of all regions, or of the threads of one.
     * @param {string | null} region
     */
    choose(region) {
      this.region = region;
      /** @type {Group[]} */
      const found = region === null ? this.regions : this.threadsOf(region);
      this.left = Math.max(found.length - MAX_LINES, 0);
      this.lines = found.slice(0, MAX_LINES).map((group, index) => ({
        ...group,
        name: nameOf(group.name),
        style: `curve-${index % STYLES}`,
        shown: index < FIRST_LINES,
      }));
      this.choices.replaceChildren(this.checkboxes());
      this.draw();
    }

    /** @param {string} region */
    threadsOf(region) {
      const rows = (this.threads?.objects() ?? []).filter((row) => row.region === region);
      const streams = new Map(rows.map((row) => [row.stream, row.thread]));
      const threads = [...streams.values()];
      // The kernel gives numbers again.
      /** @type {(thread: number) => boolean} */
      const isUnique = (thread) => threads.filter((other) => other === thread).length === 1;
      /** @type {(row: SeriesThread) => string} */
      const name = ({ thread, stream }) => `thread ${thread}${isUnique(thread) ? '' : ` (stream ${stream})`}`;
      return groups(rows, (row) => row.stream, name);
    }

    /**
     * A value for each bin; `missing` where the group has no row.
     * @template {number | null} M
     * @param {{ rows: SeriesRow[] }} group
     * @param {SeriesColumn} column
     * @param {M} missing
     * @returns {(number | M)[]}
     */
    values(group, column, missing) {
      /** @type {(number | M)[]} */
      const values = this.bins.map(() => missing);
      for (const row of group.rows) {
        const at = this.positions.get(row.time_s);
        if (at !== undefined) values[at] = row[column] ?? missing;
      }
      return values;
    }

    draw() {
      const { title, format, column } = this.measure;
      const shown = this.lines.filter((line) => line.shown);
      const of = this.region === null ? '' : `, threads of ${nameOf(this.region)}`;
      const main = {
        title: `${title}${of}`,
        label: `${title}${of} over time, of ${shown.map((line) => line.name).join(', ') || 'nothing'}`,
        lines: shown.map((line) => ({ ...line, values: this.values(line, column, 0) })),
        height: HEIGHT,
        least: 0,
        format,
      };
      const plots = [main, this.imbalance()].filter((plot) => plot !== null);
      /** @type {StepPlotContent['onMove']} */
      const onMove = (next) => this.move(next(this.at));
      this.plots = plots.map((plot) => StepPlot.create({ ...plot, bins: this.bins, onMove }));
      this.drawing.replaceChildren(...this.plots.map((plot) => plot.element()));
      if (this.at >= 0) this.move(this.at);
    }

    /**
     * Of the regions that are drawn; none if no region has several threads.
     * @returns {Omit<StepPlotContent, 'bins' | 'onMove'> | null}
     */
    imbalance() {
      const column = this.measure.imbalance;
      const drawn =
        this.region === null
          ? this.lines.filter((line) => line.shown)
          : this.regions.filter(({ name }) => name === this.region).map((group) => ({ ...group, style: 'curve-0' }));
      const lines = drawn.map((line) => ({
        name: nameOf(line.name),
        style: line.style,
        values: this.values(line, column, null),
      }));
      this.even = lines.filter(({ values }) => values.some((value) => value !== null));
      if (this.even.length === 0) return null;
      const title = `max/mean of the threads’ ${OF[column]} (1 is even)`;
      const label = `${title} over time, of ${this.even.map((line) => line.name).join(', ')}`;
      return {
        title,
        label,
        lines: this.even,
        height: SMALL_HEIGHT,
        least: 1,
        format: (value) => `×${Number(value.toPrecision(3))}`,
      };
    }

    /** @param {number} bin */
    move(bin) {
      this.at = Chart.clamp(bin, 0, this.bins.length - 1);
      for (const plot of this.plots) plot.show(this.at);
      const { from, to } = this.bins[this.at];
      const { column, format, title } = this.measure;
      const shown = this.lines.filter((line) => line.shown).slice(0, STYLES);
      const numbers = shown.map((line) => `${line.name} ${format(this.values(line, column, 0)[this.at])}`);
      const factors = this.even.slice(0, STYLES).flatMap(({ name, values }) => {
        const value = values[this.at];
        return value === null ? [] : [`${name} ×${value.toFixed(2)}`];
      });
      const imbalance = factors.length > 0 ? `; max/mean: ${factors.join(', ')}` : '';
      const span = `${Number(from.toFixed(3))} to ${Number(to.toFixed(3))} s`;
      this.readout.textContent = `${span}, ${title}: ${numbers.join(', ')}${imbalance}`;
    }

    checkboxes() {
      const words = `${Numbers.grouped(this.left)} more with less time stand in the table.`;
      const rest = this.left > 0 ? Dom.element('span', { class: 'status' }, words) : null;
      return LineChoices.create(this.lines, () => this.draw(), rest);
    }

    tools() {
      const measures = this.measures.map(({ title }, index) => Dom.element('option', { value: index }, title));
      const measure = Dom.element('select', {}, measures);
      measure.addEventListener('change', () => {
        this.measure = this.measures[Number(measure.value)];
        this.draw();
      });
      const shared = this.regions.filter(({ rows }) => rows.some((row) => row.threads > 1));
      const options = shared.map(({ name }, index) =>
        Dom.element('option', { value: index }, `threads of ${nameOf(name)}`),
      );
      const lines = Dom.element('select', {}, Dom.element('option', { value: -1 }, 'regions'), options);
      lines.addEventListener('change', () => this.choose(shared[Number(lines.value)]?.name ?? null));
      return Dom.element(
        'div',
        { class: 'tools' },
        Dom.element('label', {}, 'Show ', measure),
        Dom.element('label', {}, 'Lines ', lines),
      );
    }

    element() {
      const caption =
        'Each step is what came in that time, per second or as a share of the time of all threads that ' +
        'count. The smaller plot has the greatest of the threads’ numbers over their mean.';
      const content = Dom.element('div', {}, this.tools(), this.drawing, this.readout, this.choices);
      return Chart.figure(content, caption, this.threads ? [this.sums, this.threads] : [this.sums]);
    }
  }

  /**
   * A figure; none without a bin.
   * @type {(sums: Table<SeriesSum>, part: Part) => Child}
   */
  const create = (sums, part) => {
    if (sums.rows.length === 0) return null;
    const threads = /** @type {Table<SeriesThread> | undefined} */ (part.tables.find((table) => table.has(...THREADS)));
    return new Series(sums, threads).element();
  };

  return { COLUMNS, COMPANIONS: [THREADS], create };
})();
