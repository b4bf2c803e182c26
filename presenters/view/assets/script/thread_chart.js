/**
 * How evenly threads share in each region: a bar of time and one of bytes for each thread.
 *
 * Tables: columns `region`, `stream`, `thread`, `time_ns`, `bytes_read`, `bytes_written`. Imbalances are those of a
 * table of the same part with `region`, `bytes_imbalance`, `time_imbalance`.
 */
const ThreadChart = (() => {
  /**
   * @typedef {object} Measure
   * @property {string} title
   * @property {'time_imbalance' | 'bytes_imbalance'} imbalance
   * @property {(value: number) => string} format
   * @property {(row: RegionThread) => number[]} parts
   */

  const COLUMNS = ['region', 'stream', 'thread', 'time_ns', 'bytes_read', 'bytes_written'];
  const IMBALANCES = ['region', 'bytes_imbalance', 'time_imbalance'];
  const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [400, 150, 58, 8, 24, 20];
  /** Regions that are drawn at first. */
  const FIRST_REGIONS = 6;
  /** More bars can't be told apart; those with the least time are left out. */
  const MAX_THREADS = 160;
  /** Fewer have room for their names. */
  const NAMED_THREADS = 6;

  /** @type {Measure[]} */
  const MEASURES = [
    { title: 'time', imbalance: 'time_imbalance', format: Numbers.duration, parts: (row) => [row.time_ns] },
    {
      title: 'bytes read and written',
      imbalance: 'bytes_imbalance',
      format: Numbers.short,
      parts: (row) => [row.bytes_read, row.bytes_written],
    },
  ];

  /** @type {(values: number[]) => number} */
  const sum = (values) => values.reduce((all, value) => all + value, 0);

  /**
   * Regions of several threads in the order of the table.
   * @type {(table: Table<RegionThread>) => [string, RegionThread[]][]}
   */
  const regionsOf = (table) => {
    /** @type {Map<string, RegionThread[]>} */
    const found = new Map();
    for (const row of table.objects()) {
      const threads = found.get(row.region);
      if (threads) threads.push(row);
      else found.set(row.region, [row]);
    }
    return [...found].filter(([, threads]) => threads.length > 1);
  };

  /** @type {(threads: RegionThread[]) => RegionThread[]} */
  const drawn = (threads) => {
    const most = [...threads].sort((a, b) => b.time_ns - a.time_ns).slice(0, MAX_THREADS);
    return most.sort((a, b) => a.stream - b.stream);
  };

  /** @type {(number: number | null | undefined) => string} */
  const factor = (number) => (number === null || number === undefined ? '' : `, max/mean ×${number.toFixed(2)}`);

  class Region {
    /**
     * @param {string} name
     * @param {RegionThread[]} all
     * @param {Imbalances | undefined} imbalances
     */
    constructor(name, all, imbalances) {
      this.name = Texts.visible(name);
      this.all = all;
      this.imbalances = imbalances;
      this.threads = drawn(all);
      this.readout = Chart.readout();
      this.step = (WIDTH - LEFT - RIGHT) / this.threads.length;
      /** @type {SVGElement[]} */
      this.marks = [];
      this.at = -1;
    }

    /** @param {number} index */
    x(index) {
      return LEFT + index * this.step;
    }

    /**
     * @param {Measure} measure
     * @param {(value: number) => number} y
     */
    bars(measure, y) {
      return this.threads.flatMap((row, index) => {
        let base = y(0);
        let below = 0;
        return measure.parts(row).map((value, part) => {
          below += value;
          const top = y(below);
          const box = {
            x: this.x(index) + this.step * 0.1,
            y: top,
            width: this.step * 0.8,
            height: Math.max(base - top, 0),
          };
          base = top;
          return Dom.svg('rect', { ...box, class: part === 0 ? 'part' : 'part upper' });
        });
      });
    }

    names() {
      if (this.threads.length > NAMED_THREADS) {
        const text = `${this.threads.length} threads`;
        return Dom.svg('text', { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 5, class: 'tick middle' }, text);
      }
      return [
        Dom.svg('text', { x: 0, y: HEIGHT - 5, class: 'axis-title' }, 'thread'),
        this.threads.map(({ thread }, index) =>
          Dom.svg('text', { x: this.x(index + 0.5), y: HEIGHT - 5, class: 'tick middle' }, String(thread)),
        ),
      ];
    }

    /** @param {Measure} measure */
    draw(measure) {
      const heights = this.threads.map((row) => sum(measure.parts(row)));
      const highest = Math.max(1, ...heights);
      /** @type {(value: number) => number} */
      const y = (value) => HEIGHT - BOTTOM - (value / highest) * (HEIGHT - TOP - BOTTOM);
      const mean = y(sum(this.all.map((row) => sum(measure.parts(row)))) / this.all.length);
      const mark = Dom.svg('rect', {
        x: 0,
        y: TOP,
        width: this.step,
        height: HEIGHT - TOP - BOTTOM,
        class: 'column-mark',
      });
      this.marks.push(mark);
      const svg = Dom.svg(
        'svg',
        { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true', class: 'bars' },
        mark,
        Chart.ticks(0, highest, 3).map((value) => [
          Dom.svg('path', { d: `M${LEFT} ${y(value)}H${WIDTH - RIGHT}`, class: 'grid' }),
          Dom.svg('text', { x: LEFT - 6, y: y(value) + 4, class: 'tick end' }, measure.format(value)),
        ]),
        this.bars(measure, y),
        Dom.svg('path', { d: `M${LEFT} ${mean}H${WIDTH - RIGHT}`, class: 'mean' }),
        Dom.svg('text', { x: 0, y: 13, class: 'bars-title' }, this.heading(measure)),
        this.names(),
      );
      svg.addEventListener('pointermove', (event) => this.point(svg, event));
      return svg;
    }

    /** @param {Measure} measure */
    heading(measure) {
      const isNone = this.all.every((row) => sum(measure.parts(row)) === 0);
      return isNone ? `${measure.title}: none` : `${measure.title}${factor(this.imbalances?.[measure.imbalance])}`;
    }

    /**
     * @param {SVGElement} svg
     * @param {PointerEvent} event
     */
    point(svg, event) {
      const box = svg.getBoundingClientRect();
      this.move(Math.floor((((event.clientX - box.left) / box.width) * WIDTH - LEFT) / this.step));
    }

    /** @param {number} index */
    move(index) {
      this.at = Chart.clamp(index, 0, this.threads.length - 1);
      this.marks.forEach((mark) => {
        mark.setAttribute('x', String(this.x(this.at)));
        mark.classList.add('here');
      });
      const row = this.threads[this.at];
      const bytes = `${Numbers.grouped(row.bytes_read)} bytes read, ${Numbers.grouped(row.bytes_written)} written`;
      const name = `Thread ${row.thread} (stream ${row.stream})`;
      this.readout.textContent = `${name}: ${Numbers.duration(row.time_ns)}, ${bytes}`;
    }

    element() {
      const words = MEASURES.map((measure) => this.heading(measure)).join('; ');
      const label = `${this.name}, ${this.all.length} threads: ${words}. Arrow keys move from thread to thread.`;
      const pair = Dom.element(
        'div',
        { class: 'pair', role: 'img', tabindex: '0', 'aria-label': label },
        MEASURES.map((measure) => this.draw(measure)),
      );
      Chart.onArrows(pair, (dx) => this.move(this.at + dx));
      const left = this.all.length - this.threads.length;
      const remark =
        left > 0
          ? Dom.element(
              'p',
              { class: 'status' },
              `Of ${this.all.length} threads, ${left} with the least time are not drawn.`,
            )
          : null;
      return Dom.element(
        'section',
        { class: 'region-bars', 'aria-label': this.name },
        Dom.element('h4', {}, Dom.element('code', {}, this.name)),
        pair,
        remark,
        this.readout,
      );
    }
  }

  /**
   * A figure; none if no region has several threads.
   * @type {(table: Table<RegionThread>, part: Part) => Child}
   */
  const create = (table, part) => {
    const regions = regionsOf(table);
    if (regions.length === 0) return null;
    const found = part.tables.find((candidate) => candidate.has(...IMBALANCES));
    const sums = /** @type {Table<Imbalances> | undefined} */ (found);
    const imbalances = new Map((sums?.objects() ?? []).map((row) => [row.region, row]));
    const list = Dom.element('div', { class: 'region-list' });
    const more = Chart.more(regions.length, FIRST_REGIONS, (from, to) =>
      list.append(
        ...regions.slice(from, to).map(([name, threads]) => new Region(name, threads, imbalances.get(name)).element()),
      ),
    );
    const caption =
      'A bar for each thread, in the order of their streams; the dashed line is the mean. Of bytes, those read stand ' +
      'below, those written above. Each region has its own scales; regions of one thread are left out.';
    return Chart.section(table.title, Chart.figure(Dom.element('div', {}, list, more), caption, [table]));
  };

  return { COLUMNS, create };
})();
