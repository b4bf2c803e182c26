/**
 * Live memory over time: the most that was live at once, and what each allocation site had live.
 *
 * Tables: columns `from_ns`, `width_ns`, `most_blocks`, `most_bytes`. Of the same part, `allocation_moments` has the blocks that began
 * and ended by row of `allocations`.
 */
const LiveChart = (() => {
  /** @typedef {{ name: string, style: string, values: number[], shown: boolean }} Line */
  /** @typedef {{ name: string, live: number[] }} Site Its live bytes at the end of each bin of moments. */

  const COLUMNS = ['from_ns', 'width_ns', 'most_blocks', 'most_bytes'];
  const HEIGHT = 320;
  /** Lines that are drawn at first; the others wait behind their checkboxes. */
  const FIRST_LINES = 6;
  const MAX_LINES = 24;
  const STYLES = 8;
  const NS_PER_S = 1e9;

  const allocations = Data.table('memory', 'allocations');
  const moments = Data.table('memory', 'allocation_moments');
  const isKnown = moments !== undefined && Chosen.axis !== undefined && moments.has('ended_bytes');

  /** The file of a path, with its line. @type {(path: Cell) => string | undefined} */
  const inFolder = (path) => String(path ?? '').split('/').pop();

  /** `slots at table.c:12, from main.c:3` @type {(row: Cells) => string} */
  const nameOf = (row) => {
    const what = row.variable || row.allocator || 'memory';
    const place = row.file ? `${inFolder(row.file)}:${row.line}` : row.function;
    const caller = row.caller ? `, from ${inFolder(row.caller)}` : '';
    return Texts.visible(place ? `${what} at ${place}${caller}` : String(what));
  };

  /** Names of sites by their rows; namesakes are numbered. */
  const names = (() => {
    const all = (allocations?.objects() ?? []).map(nameOf);
    return all.map((name, row) => (all.indexOf(name) === row ? name : `${name} (row ${row + 1})`));
  })();

  /** Blocks of the chosen threads, by site, at the end of each bin of all the time. @type {() => Site[]} */
  const sites = () => {
    /** @type {Map<number, number[]>} */
    const changes = new Map();
    for (const { row, stream, bin, allocated_bytes: more, ended_bytes: less } of (isKnown && moments?.objects()) || []) {
      if (!Chosen.holdsStream(stream)) continue;
      const own = changes.get(row) ?? Array.from({ length: Chosen.bins }, () => 0);
      own[bin] += more - less;
      changes.set(row, own);
    }
    return [...changes].map(([row, own]) => ({ name: names[row] ?? `row ${row + 1}`, live: sumsUntil(own) }));
  };

  /** @type {(changes: number[]) => number[]} */
  const sumsUntil = (changes) => {
    let sum = 0;
    return changes.map((change) => {
      sum += change;
      return sum;
    });
  };

  /** The bin of moments in which a part of time is. @type {(fromNs: number) => number} */
  const momentOf = (fromNs) => {
    const { first_ns: first, bin_ns: width } = Chosen.axis ?? { first_ns: 0, bin_ns: 1 };
    return Chart.clamp(Math.floor((fromNs - first) / width), 0, Math.max(Chosen.bins - 1, 0));
  };

  const allThreads = () => Chosen.now().streams === null;

  /** The first line: the most of all threads, or what all sites have of the chosen ones. @type {(rows: LivePoint[], of: Site[]) => { name: string, values: number[] }} */
  const whole = (rows, of) => {
    if (allThreads()) return { name: 'all, most at once', values: rows.map(({ most_bytes: most }) => most) };
    const sums = Array.from({ length: Chosen.bins }, (_, bin) => of.reduce((sum, { live }) => sum + live[bin], 0));
    return { name: 'all sites, chosen threads', values: rows.map(({ from_ns: from }) => sums[momentOf(from)]) };
  };

  /** Sites that have most at the end of a chosen step come first. @type {(rows: LivePoint[]) => Line[]} */
  const lines = (rows) => {
    const of = sites();
    const steps = [...new Set(rows.map(({ from_ns: from }) => momentOf(from)))];
    const most = new Map(of.map((site) => [site, Math.max(...steps.map((step) => site.live[step]))]));
    const ranked = of.filter((site) => (most.get(site) ?? 0) > 0).sort((a, b) => (most.get(b) ?? 0) - (most.get(a) ?? 0));
    const ofSites = ranked.slice(0, MAX_LINES).map(({ name, live }) => ({ name, values: rows.map(({ from_ns: from }) => live[momentOf(from)]) }));
    return [whole(rows, of), ...ofSites].map((line, index) => ({ ...line, style: `curve-${index % STYLES}`, shown: index < FIRST_LINES }));
  };

  class Live {
    /**
     * @param {LivePoint[]} rows
     * @param {Table} table
     */
    constructor(rows, table) {
      this.table = table;
      this.bins = rows.map(({ from_ns: from, width_ns: width }) => ({ from: from / NS_PER_S, to: (from + width) / NS_PER_S }));
      this.lines = lines(rows);
      this.at = -1;
      this.readout = Chart.readout();
      this.drawing = Dom.element('div', { class: 'plots' });
      this.draw();
    }

    draw() {
      const shown = this.lines.filter((line) => line.shown);
      const label = `Live bytes over time, of ${shown.map(({ name }) => name).join(', ') || 'nothing'}`;
      this.plot = StepPlot.create({
        title: 'live memory, bytes',
        label,
        lines: shown,
        height: HEIGHT,
        least: 0,
        format: (value) => Numbers.bytes(value),
        ticks: Chart.byteTicks,
        bins: this.bins,
        begin: this.bins[0].from,
        onMove: (next) => this.move(next(this.at)),
      });
      this.drawing.replaceChildren(this.plot.element());
      if (this.at >= 0) this.move(this.at);
    }

    /** @param {number} bin */
    move(bin) {
      this.at = Chart.clamp(bin, 0, this.bins.length - 1);
      this.plot?.show(this.at);
      const { from, to } = this.bins[this.at];
      const shown = this.lines.filter((line) => line.shown).slice(0, STYLES);
      const numbers = shown.map(({ name, values }) => `${name} ${Numbers.bytes(values[this.at])}`);
      this.readout.textContent = `${Numbers.duration(from * NS_PER_S)} to ${Numbers.duration(to * NS_PER_S)}: ${numbers.join(', ')}`;
    }

    /** What each line has where it changes. */
    asTable() {
      const rows = this.lines.slice(1).flatMap(({ name, values }) =>
        values.flatMap((value, at) => (at > 0 && values[at - 1] === value ? [] : [[name, this.bins[at].from * NS_PER_S, value]])),
      );
      /** @type {Column[]} */
      const columns = [
        { name: 'memory', title: 'allocation site', unit: 'text' },
        { name: 'from_ns', title: 'from', unit: 'duration' },
        { name: 'live_bytes', title: 'live bytes', unit: 'bytes' },
      ];
      const title = Chosen.isAll() ? 'Live memory by allocation site' : 'Live memory by allocation site, of the chosen time and threads';
      return new Data.Table({ name: 'live_sites', title, layout: 'rows', columns, rows, row_count: rows.length });
    }

    element() {
      const content = Dom.element('div', {}, this.drawing, this.readout, LineChoices.create(this.lines, () => this.draw()));
      const figure = Chart.figure(content, caption(), [this.table], 'memory');
      if (this.lines.length > 1) figure.append(Dom.details('Table: Live memory by allocation site', () => TableView.create(this.asTable(), { rows: 100 })));
      return figure;
    }
  }

  /** @type {() => string} */
  const caption = () => {
    if (!isKnown) return 'The most bytes of blocks that were live at once in each part of time.';
    const of = allThreads()
      ? 'The first line is the most that was live at once in each part of time; the others are what sites had live at the end of each step.'
      : 'What was live at the end of each step, of blocks that the chosen threads allocated, whichever thread released them.';
    const listed = allocations && allocations.rows.length < allocations.totalRows ? ' Sites that are not in the table of allocations have no line.' : '';
    const lack = moments && ChosenSums.isCut(moments) ? ' Sites that allocated least have no line.' : '';
    return `${of}${listed}${lack}`;
  };

  /** What is drawn now. @type {Live | null} */
  let drawn = null;
  StepPlot.narrow.addEventListener('change', () => drawn?.draw());

  /** A figure, made anew for each choice; none without a part of time. @type {(table: Table) => Child} */
  const create = (table) => (table.rows.length > 0 ? Chosen.redrawn(() => chosen(table)) : null);

  /** @type {(table: Table) => Child} */
  const chosen = (table) => {
    const rows = /** @type {LivePoint[]} */ (/** @type {unknown} */ (ChosenTables.of('memory', table).objects()));
    drawn = rows.length > 0 ? new Live(rows, table) : null;
    return drawn ? drawn.element() : ChosenBar.emptyNote();
  };

  return { COLUMNS, create };
})();
