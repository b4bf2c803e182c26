/** What each thread did when: a row for each thread, as high as its accesses at that time; gaps are dashed boxes. */
const ActivityChart = (() => {
  /** @typedef {{ stream: number, counts: Map<number, number> }} Row */

  const [WIDTH, ROW, LEFT, TOP, BOTTOM] = [896, 34, 76, 24, 22];
  const MAX_GAP_THREADS = 64;
  /** @type {[string, string][]} */
  const TERMS = [
    ['thread', 'The records of one thread, by their number in the trace: the 64 with the most accesses.'],
    ['accesses', 'Executions of loads, stores and atomic operations in that part of time.'],
    ['missing records', 'Buffers that were lost or damaged: the accesses in them are in no number.'],
  ];

  /**
   * A thread of which only gaps are left has a row, too.
   * @type {(table: Table<ActivityStep>, gaps: Gap[]) => Row[]}
   */
  const streams = (table, gaps) => {
    /** @type {Map<number, Map<number, number>>} */
    const found = new Map();
    for (const { stream } of gaps.slice(0, MAX_GAP_THREADS)) found.set(stream, new Map());
    for (const { stream, time_bin: bin, accesses } of table.objects()) {
      const counts = found.get(stream) ?? new Map();
      found.set(stream, counts.set(bin, accesses));
    }
    return [...found].sort(([a], [b]) => a - b).map(([stream, counts]) => ({ stream, counts }));
  };

  /**
   * A row's outline in steps.
   * @type {(counts: Map<number, number>, bins: number, largest: number, top: number) => string}
   */
  const outline = (counts, bins, largest, top) => {
    const width = (WIDTH - LEFT) / bins;
    const base = top + ROW - 4;
    let path = `M${LEFT} ${base}`;
    for (let bin = 0; bin < bins; bin += 1) {
      const count = counts.get(bin) ?? 0;
      // The least activity is still seen.
      const height = count > 0 ? Math.max((count / largest) * (ROW - 8), 1.2) : 0;
      path += `V${(base - height).toFixed(1)}h${width.toFixed(3)}`;
    }
    return `${path}V${base}Z`;
  };

  /** @type {(gaps: Gap[], rows: Row[], toX: (timeNs: number) => number) => Child[]} */
  const drawGaps = (gaps, rows, toX) =>
    gaps.flatMap((gap) => {
      const row = rows.findIndex(({ stream }) => stream === gap.stream);
      const [first, last] = [gap.first_us ?? gap.last_us, gap.last_us ?? gap.first_us];
      if (row < 0 || first === null || last === null) return [];
      const [from, to] = [toX(first * 1000), toX(last * 1000)];
      const words = `Thread ${gap.stream}: ${gap.dropped_buffers} buffers are missing, ${Texts.visible(gap.reason)}`;
      const box = { x: from, y: TOP + row * ROW + 4, width: Math.max(to - from, 3), height: ROW - 8, class: 'gap' };
      return [Dom.svg('rect', box, Dom.svg('title', {}, words))];
    });

  /** @type {(rows: Row[]) => number} */
  const largestOf = (rows) => Math.max(1, ...rows.flatMap(({ counts }) => [...counts.values()]));

  class Activity {
    /**
     * @param {Row[]} rows
     * @param {number} largest What the highest step stands for.
     * @param {ActivityAxis} axis
     * @param {Gap[]} gaps
     */
    constructor(rows, largest, axis, gaps) {
      this.axis = axis;
      this.gaps = gaps;
      this.rows = rows;
      this.largest = largest;
      this.firstNs = axis.first_us * 1000;
      this.cursor = { bin: 0, row: 0 };
      this.readout = Chart.readout();
      this.line = Dom.svg('path', { class: 'cursor', d: '' });
      this.svg = this.drawing();
    }

    /** @param {number} timeNs */
    x(timeNs) {
      const length = this.axis.bins * this.axis.bin_ns;
      return LEFT + Chart.clamp((timeNs - this.firstNs) / length, 0, 1) * (WIDTH - LEFT);
    }

    drawing() {
      const height = TOP + this.rows.length * ROW;
      const title = `time since the beginning; height: accesses in ${Numbers.duration(this.axis.bin_ns)}, at most ${Numbers.short(this.largest)}`;
      const last = this.firstNs + this.axis.bins * this.axis.bin_ns;
      const label = `Accesses over time of ${Numbers.counted(this.rows.length, 'thread')}, from ${Numbers.duration(this.firstNs)} to ${Numbers.duration(last)}`;
      const svg = Dom.svg(
        'svg',
        { viewBox: `0 0 ${WIDTH} ${height + BOTTOM}`, role: 'img', 'aria-label': `${label}. Arrow keys move the cursor.`, tabindex: '0', class: 'activity' },
        Chart.ticks(this.firstNs, last, 8).map((time) => [
          Dom.svg('path', { d: `M${this.x(time)} ${TOP}V${height}`, class: 'grid' }),
          Dom.svg('text', { x: Chart.clamp(this.x(time), LEFT, WIDTH - 24), y: 14, class: 'tick middle' }, Numbers.duration(time)),
        ]),
        this.rows.map(({ stream, counts }, row) => [
          Dom.svg('text', { x: LEFT - 8, y: TOP + row * ROW + 22, class: 'tick end' }, `thread ${stream}`),
          Dom.svg('path', { d: outline(counts, this.axis.bins, this.largest, TOP + row * ROW), class: 'area' }),
        ]),
        drawGaps(this.gaps, this.rows, (time) => this.x(time)),
        this.chosenTime(height),
        this.line,
        Chart.axisTitles([[title, (LEFT + WIDTH) / 2, height + BOTTOM - 6]]),
      );
      svg.addEventListener('pointermove', (event) => this.point(event));
      Chart.onArrows(svg, (dx, dy) => this.move(this.cursor.bin + dx, this.cursor.row + dy));
      return svg;
    }

    /**
     * The chosen part of the time, over all rows.
     * @param {number} height
     */
    chosenTime(height) {
      const [from, to] = Chosen.times().map((time) => this.x(time));
      return Chosen.isAllTime() ? null : Dom.svg('rect', { x: from, y: TOP, width: Math.max(to - from, 1), height: height - TOP, class: 'chosen' });
    }

    /** @param {PointerEvent} event */
    point(event) {
      const box = this.svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * WIDTH;
      const y = ((event.clientY - box.top) / box.width) * WIDTH;
      this.move(Math.floor(((x - LEFT) / (WIDTH - LEFT)) * this.axis.bins), Math.floor((y - TOP) / ROW));
    }

    /**
     * @param {number} bin
     * @param {number} row
     */
    move(bin, row) {
      this.cursor = { bin: Chart.clamp(bin, 0, this.axis.bins - 1), row: Chart.clamp(row, 0, this.rows.length - 1) };
      const { stream, counts } = this.rows[this.cursor.row];
      const from = this.firstNs + this.cursor.bin * this.axis.bin_ns;
      const x = this.x(from + this.axis.bin_ns / 2);
      const y = TOP + this.cursor.row * ROW;
      this.line.setAttribute('d', `M${x} ${y}v${ROW}`);
      const span = `${Numbers.duration(from)} to ${Numbers.duration(from + this.axis.bin_ns)}`;
      const accesses = counts.get(this.cursor.bin) ?? 0;
      this.readout.textContent = `Thread ${stream}, ${span}: ${Numbers.grouped(accesses)} ${Numbers.wordsOf(accesses, 'accesses')}`;
    }
  }

  /**
   * A figure; none if no access has a time.
   * @type {(table: Table<ActivityStep>, axisTable: Table<ActivityAxis> | undefined, gaps: Table<Gap> | undefined) => Child}
   */
  const create = (table, axisTable, gaps) => {
    const axis = axisTable?.record();
    if (table.rows.length === 0 || !axisTable || !axis) return null;
    const found = gaps?.objects() ?? [];
    const rows = streams(table, found);
    const largest = largestOf(rows);
    const place = Dom.element('div', {});
    const draw = () => {
      const chosen = rows.filter(({ stream }) => Chosen.holdsStream(stream));
      const activity = chosen.length > 0 ? new Activity(chosen, largest, axis, found) : null;
      const none = `The chosen threads are none of the ${rows.length} that are drawn: those with the most accesses.`;
      place.replaceChildren(
        ...(activity ? [Dom.element('div', { class: 'drawing' }, activity.svg), activity.readout] : [Dom.element('p', { class: 'status' }, none)]),
      );
    };
    draw();
    Chosen.onChange(draw, place);
    const caption = `All rows have the same scale: the highest step is ${Numbers.grouped(largest)} accesses in ${Numbers.duration(axis.bin_ns)}. Between two times that the trace knows, accesses are taken as evenly spread. Dashed boxes: records are missing.`;
    const tables = [table, axisTable, ...(gaps ? [gaps] : [])];
    return Chart.figure(place, caption, tables, 'activity');
  };

  /** What it shows of the chosen time and threads. */
  const remark = () => 'The drawing has the chosen threads alone, and marks the chosen time. The tables are of the chosen time and threads.';

  return { TERMS, create, remark };
})();
