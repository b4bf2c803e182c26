/**
 * Regions over time: a line for each region, or for each thread of one, and how even the threads are.
 *
 * Tables of one part, found by their columns: sums of regions, with `time_s` (when a bin ends), `interval_s`, `region`,
 * `threads`, `own_time_ns`, `time_imbalance`, and `bytes_imbalance` if known; their threads, with `stream` and `thread`
 * as well.
 */
const SeriesChart = (() => {
  const COLUMNS = ['time_s', 'interval_s', 'region', 'threads', 'own_time_ns', 'time_imbalance'];
  const THREADS = ['time_s', 'interval_s', 'region', 'stream', 'thread'];
  const [HEIGHT, SMALL_HEIGHT] = [320, 150];
  /** Lines that are drawn at first; the others wait behind their checkboxes. */
  const FIRST_LINES = 6;
  const MAX_LINES = 64;
  const STYLES = 8;
  const LONGEST_NAME = 60;

  const number = (value) => (value >= 100 ? Numbers.grouped(Math.round(value)) : String(Number(value.toPrecision(3))));
  const percent = (share) => `${Number((share * 100).toPrecision(3))} %`;

  const MEASURES = [
    { column: 'read_mb_per_s', title: 'MB/s read', format: number, imbalance: 'bytes_imbalance' },
    { column: 'write_mb_per_s', title: 'MB/s written', format: number, imbalance: 'bytes_imbalance' },
    { column: 'entries_per_s', title: 'entries/s', format: number, imbalance: 'time_imbalance' },
    { column: 'time_share', title: 'share of the threads’ time', format: percent, imbalance: 'time_imbalance' },
  ];
  const OF = { bytes_imbalance: 'bytes', time_imbalance: 'time' };

  const nameOf = (text) => Text.abridged(Text.visible(text), LONGEST_NAME);

  const isKnown = (table, column) => table.has(column) && table.rows.some((row) => table.value(row, column) !== null);

  /** What a line is drawn from, by its key; those with the most time of their own come first. */
  const groups = (rows, keyOf, titleOf) => {
    const found = new Map();
    for (const row of rows) {
      const key = keyOf(row);
      if (!found.has(key)) found.set(key, { name: titleOf(row), rows: [], time: 0 });
      found.get(key).rows.push(row);
      found.get(key).time += row.own_time_ns;
    }
    return [...found.values()].sort((a, b) => b.time - a.time);
  };

  class Series {
    constructor(sums, threads) {
      Object.assign(this, { sums, threads });
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
      this.choose(null);
      StepPlot.narrow.addEventListener('change', () => this.draw());
    }

    /** The lines of all regions, or of the threads of one. */
    choose(region) {
      this.region = region;
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

    threadsOf(region) {
      const rows = (this.threads?.objects() ?? []).filter((row) => row.region === region);
      const streams = new Map(rows.map((row) => [row.stream, row.thread]));
      const threads = [...streams.values()];
      // The kernel gives numbers again.
      const isUnique = (thread) => threads.filter((other) => other === thread).length === 1;
      const name = ({ thread, stream }) => `thread ${thread}${isUnique(thread) ? '' : ` (stream ${stream})`}`;
      return groups(rows, (row) => row.stream, name);
    }

    /** A value for each bin; `missing` where the group has no row. */
    values(group, column, missing) {
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
      const onMove = (next) => this.move(next(this.at));
      this.plots = plots.map((plot) => StepPlot.create({ ...plot, bins: this.bins, onMove }));
      this.drawing.replaceChildren(...this.plots.map((plot) => plot.element()));
      if (this.at >= 0) this.move(this.at);
    }

    /** Of the regions that are drawn; none if no region has several threads. */
    imbalance() {
      const column = this.measure.imbalance;
      const drawn =
        this.region === null
          ? this.lines.filter((line) => line.shown)
          : this.regions.filter(({ name }) => name === this.region);
      const lines = drawn.map((line, index) => ({
        name: nameOf(line.name),
        style: line.style ?? `curve-${index}`,
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

    move(bin) {
      this.at = Chart.clamp(bin, 0, this.bins.length - 1);
      for (const plot of this.plots) plot.show(this.at);
      const { from, to } = this.bins[this.at];
      const { column, format, title } = this.measure;
      const shown = this.lines.filter((line) => line.shown).slice(0, STYLES);
      const numbers = shown.map((line) => `${line.name} ${format(this.values(line, column, 0)[this.at])}`);
      const even = this.even.slice(0, STYLES).filter(({ values }) => values[this.at] !== null);
      const factors = even.map(({ name, values }) => `${name} ×${values[this.at].toFixed(2)}`);
      const imbalance = factors.length > 0 ? `; max/mean: ${factors.join(', ')}` : '';
      const span = `${Number(from.toFixed(3))} to ${Number(to.toFixed(3))} s`;
      this.readout.textContent = `${span}, ${title}: ${numbers.join(', ')}${imbalance}`;
    }

    checkbox(line) {
      const box = Dom.element('input', { type: 'checkbox' });
      box.checked = line.shown;
      box.addEventListener('change', () => {
        line.shown = box.checked;
        this.draw();
      });
      const swatch = Dom.svg(
        'svg',
        { viewBox: '0 0 28 8', class: 'line-swatch', 'aria-hidden': 'true' },
        Dom.svg('path', { d: 'M0 4H28', class: `curve ${line.style}` }),
      );
      return Dom.element('label', {}, box, swatch, Dom.element('span', {}, line.name));
    }

    checkboxes() {
      const rest =
        this.left > 0
          ? Dom.element(
              'span',
              { class: 'status' },
              `${Numbers.grouped(this.left)} more with less time stand in the table.`,
            )
          : null;
      return Dom.element(
        'fieldset',
        { class: 'choices many' },
        Dom.element('legend', {}, 'Lines'),
        this.lines.map((line) => this.checkbox(line)),
        rest,
      );
    }

    tools() {
      const measures = this.measures.map(({ title }, index) => Dom.element('option', { value: index }, title));
      const measure = Dom.element('select', {}, measures);
      measure.addEventListener('change', () => {
        this.measure = this.measures[measure.value];
        this.draw();
      });
      const shared = this.regions.filter(({ rows }) => rows.some((row) => row.threads > 1));
      const options = shared.map(({ name }, index) =>
        Dom.element('option', { value: index }, `threads of ${nameOf(name)}`),
      );
      const lines = Dom.element('select', {}, Dom.element('option', { value: -1 }, 'regions'), options);
      lines.addEventListener('change', () => this.choose(shared[lines.value]?.name ?? null));
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
      return Chart.figure(content, caption, [this.sums, this.threads].filter(Boolean));
    }
  }

  /** A figure; none without a bin. */
  const create = (sums, part) => {
    if (sums.rows.length === 0) return null;
    const threads = part.tables.find((table) => table.has(...THREADS));
    return new Series(sums, threads).element();
  };

  return { COLUMNS, COMPANIONS: [THREADS], create };
})();
