/**
 * Addresses over time, to zoom into.
 *
 * Tables of one part, found by their columns:
 * - cells: `level` (0 is the coarsest), `time_bin`, `address_bin`, `reads`, `writes`, and `misses` if known; empty cells are left out
 * - scale of time: `level`, `time_bins`, `first_ns`, `bin_ns`
 * - scale of addresses: `level`, `address_bin`, `first_address`, `size_bytes`, and `name` and `first_row` if known: the row of
 *   the finest level where it begins; without, all bins of a level are equally high
 * Each level covers the same time and the same addresses.
 */
const MapChart = (() => {
  /** @typedef {{ cells: Table<MapCells>, times: Table<MapTimes>, addresses: Table<MapAddresses> }} Tables */
  /** @typedef {Omit<MapCells, 'level'>} MapCell */
  /** @typedef {{ cells: Map<number, MapCell>, addresses: MapAddresses[], addressBins: number }} Bins */
  /** @typedef {{ name: string, suffix: string, bin: number, end: number }} Stretch */
  /** @typedef {MapTimes & Bins & { width: number, edges: number[], stretches?: Stretch[] }} Level */
  /** @typedef {{ x: number, y: number }} Point */
  /** @typedef {{ x0: number, x1: number, y0: number, y1: number }} Window2D */

  const COLUMNS = ['level', 'time_bin', 'address_bin', 'reads', 'writes'];
  const TIMES = ['level', 'time_bins', 'first_ns', 'bin_ns'];
  const ADDRESSES = ['level', 'address_bin', 'first_address', 'size_bytes'];
  const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [896, 470, 190, 76, 6];
  /** Letters that have room beside the map. */
  const LABEL_LENGTH = 27;
  /** Colours of the scale, from the least to the most. */
  const STEPS = 24;
  /** A finer level is taken when cells of the present one would be larger, pixels. */
  const LARGE_CELL = 14;
  const WHOLE = { x0: 0, x1: 1, y0: 0, y1: 1 };
  const MIN_SPAN = 1e-6;
  /** @type {Record<string, (cell: MapCell) => number>} */
  const MEASURES = {
    accesses: (cell) => cell.reads + cell.writes,
    reads: (cell) => cell.reads,
    writes: (cell) => cell.writes,
    misses: (cell) => cell.misses ?? 0,
  };

  /**
   * Everything about one level: its cells by place, and its scales.
   * @type {(tables: Tables, span: number) => Level[]}
   */
  const readLevels = ({ cells, times, addresses }, span) => {
    /** @type {Map<number, Level>} */
    const levels = new Map();
    for (const time of times.objects()) {
      levels.set(time.level, { ...time, cells: new Map(), addresses: [], addressBins: 0, width: 0, edges: [] });
    }
    for (const address of addresses.objects()) {
      const level = levels.get(address.level);
      if (!level) continue;
      level.addresses[address.address_bin] = address;
      level.addressBins = Math.max(level.addressBins, address.address_bin + 1);
    }
    // There are many: not even their columns are looked for one by one.
    const [number, time, address, reads, writes, misses] = [...COLUMNS, 'misses'].map((name) => cells.position(name));
    for (const row of /** @type {number[][]} */ (cells.rows)) {
      const level = levels.get(row[number]);
      if (!level) continue;
      const cell = { time_bin: row[time], address_bin: row[address], reads: row[reads], writes: row[writes], misses: row[misses] };
      level.cells.set(cell.time_bin * level.addressBins + cell.address_bin, cell);
    }
    const sorted = [...levels.values()]
      .filter((level) => level.time_bins > 0 && level.addressBins > 0)
      .sort((a, b) => a.level - b.level);
    for (const level of sorted) place(level, sorted[sorted.length - 1], span);
    return sorted;
  };

  /**
   * Where bins are, in parts of the whole map: each bin of time has the same width, addresses have edges.
   * @type {(level: Level, finest: Level, span: number) => void}
   */
  const place = (level, finest, span) => {
    level.width = level.bin_ns / (span || lengthOf(finest));
    level.edges = Array.from({ length: level.addressBins }, (_, bin) => {
      const row = level.addresses[bin]?.first_row;
      return row === undefined ? bin / level.addressBins : row / finest.addressBins;
    });
    level.edges.push(1);
  };

  /** Nanoseconds that a scale of time covers. @type {(times: MapTimes) => number} */
  const lengthOf = ({ time_bins: bins, bin_ns: width }) => bins * width;

  /**
   * The bin of addresses at that height.
   * @type {(level: Level, y: number) => number}
   */
  const binAt = (level, y) => {
    let [low, high] = [0, level.addressBins - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (level.edges[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  /**
   * Successive bins of one name. Where other memory lies between two of them, they are numbered: `name 1/2`.
   * @type {(level: Level) => Stretch[]}
   */
  const stretchesOf = (level) => {
    /** @type {Stretch[]} */
    const made = [];
    for (let bin = 0; bin < level.addressBins; bin += 1) {
      const range = level.addresses[bin];
      const name = Texts.visible(range?.name ?? (range ? Numbers.hexadecimal(range.first_address) : ''));
      const last = made.at(-1);
      if (last?.name === name) last.end = bin + 1;
      else made.push({ name, suffix: '', bin, end: bin + 1 });
    }
    for (const namesakes of Data.grouped(made, ({ name }) => name).values()) {
      namesakes.forEach((stretch, index) => {
        if (namesakes.length > 1) stretch.suffix = ` ${index + 1}/${namesakes.length}`;
      });
    }
    return made;
  };

  /**
   * A colour between two of the form #rrggbb.
   * @type {(low: string, high: string, part: number) => string}
   */
  const mixed = (low, high, part) => {
    /** @type {(colour: string, at: number) => number} */
    const channel = (colour, at) => Number.parseInt(colour.slice(at, at + 2), 16);
    const mix = [1, 3, 5].map((at) => Math.round(channel(low, at) + part * (channel(high, at) - channel(low, at))));
    return `rgb(${mix.join(' ')})`;
  };

  class Map2D {
    /**
     * @param {Tables} tables
     * @param {Tables | null} missed Where and when the ranking level is missed.
     * @param {number} span Nanoseconds across, if not those that the tables cover.
     */
    constructor(tables, missed, span = 0) {
      this.span = span;
      /** The map of another trace, which shows the same time. @type {Map2D | null} */
      this.peer = null;
      this.accessed = tables;
      this.missed = missed;
      this.tables = tables;
      /** Names of memory that is marked. @type {string[]} */
      this.marked = [];
      this.view = { ...WHOLE };
      this.measure = 'accesses';
      /** @type {{ time: number, address: number } | null} */
      this.cursor = null;
      /** @type {Point | null} */
      this.dragged = null;
      /** @type {Level[] | undefined} */
      this.read = undefined;
      this.canvas = Dom.element('canvas', { width: WIDTH * 2, height: HEIGHT * 2, tabindex: '0', role: 'img' });
      this.canvas.setAttribute('aria-label', 'Addresses over time. Arrow keys move the cursor, plus and minus zoom, 0 shows all.');
      this.readout = Chart.readout();
      this.listen();
    }

    /**
     * Read when the page is there: cells are many.
     * @returns {Level[]}
     */
    get levels() {
      this.read ??= readLevels(this.tables, this.span);
      return this.read;
    }

    /**
     * The coarsest level whose cells are small enough in this view.
     * @returns {Level}
     */
    level() {
      const { x0, x1, y0, y1 } = this.view;
      /** @type {(level: Level) => boolean} */
      const fits = (level) =>
        (WIDTH * level.width) / (x1 - x0) <= LARGE_CELL && HEIGHT / ((y1 - y0) * level.addressBins) <= LARGE_CELL;
      return this.levels.find(fits) ?? this.levels[this.levels.length - 1];
    }

    listen() {
      this.canvas.addEventListener('pointermove', (event) => this.point(event));
      this.canvas.addEventListener('pointerdown', (event) => this.begin(event));
      this.canvas.addEventListener('pointerup', (event) => this.end(event));
      this.canvas.addEventListener('keydown', (event) => this.key(event));
      Chart.onZoomKeys(this.canvas, (factor) => this.zoom(factor), () => this.show(WHOLE));
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
      if (this.span === 0) Chosen.onChange(() => this.showSelection());
    }

    /** The chosen time; `remark` says that threads are not told apart. */
    showSelection() {
      const level = this.levels[this.levels.length - 1];
      const length = level.time_bins * level.bin_ns;
      if (length === 0) return;
      const [from, to] = Chosen.times();
      this.show(Chosen.isAll() ? WHOLE : { x0: (from - level.first_ns) / length, x1: (to - level.first_ns) / length, y0: this.view.y0, y1: this.view.y1 });
    }

    /** @param {string} measure */
    take(measure) {
      const tables = measure === 'missed' && this.missed ? this.missed : this.accessed;
      this.measure = measure === 'missed' ? 'accesses' : measure;
      if (tables === this.tables) return this.draw();
      this.tables = tables;
      this.read = undefined;
      this.cursor = null;
      this.draw();
    }

    /**
     * Where an event is, in parts of the whole map.
     * @param {PointerEvent} event
     */
    place(event) {
      const box = this.canvas.getBoundingClientRect();
      const x = (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT);
      const y = (((event.clientY - box.top) / box.height) * HEIGHT - TOP) / (HEIGHT - BOTTOM - TOP);
      const { x0, x1, y0, y1 } = this.view;
      return { x: x0 + Chart.clamp(x, 0, 1) * (x1 - x0), y: y0 + Chart.clamp(y, 0, 1) * (y1 - y0) };
    }

    /** @param {Point} point */
    cellAt({ x, y }) {
      const level = this.level();
      return {
        time: Chart.clamp(Math.floor(x / level.width), 0, level.time_bins - 1),
        address: binAt(level, y),
      };
    }

    /** @param {PointerEvent} event */
    point(event) {
      this.cursor = this.cellAt(this.place(event));
      this.tell();
      this.draw();
    }

    /** @param {PointerEvent} event */
    begin(event) {
      this.dragged = this.place(event);
      this.canvas.setPointerCapture(event.pointerId);
    }

    /**
     * What was drawn around becomes the view.
     * @param {PointerEvent} event
     */
    end(event) {
      const [from, to] = [this.dragged, this.place(event)];
      this.dragged = null;
      if (!from || Math.abs(from.x - to.x) < (this.view.x1 - this.view.x0) / 50) return;
      const [y0, y1] = Math.abs(from.y - to.y) < (this.view.y1 - this.view.y0) / 50 ? [this.view.y0, this.view.y1] : [from.y, to.y];
      this.show({ x0: Math.min(from.x, to.x), x1: Math.max(from.x, to.x), y0: Math.min(y0, y1), y1: Math.max(y0, y1) });
    }

    /** @param {Window2D} view */
    show(view) {
      const spanX = Chart.clamp(view.x1 - view.x0, MIN_SPAN, 1);
      const spanY = Chart.clamp(view.y1 - view.y0, MIN_SPAN, 1);
      const x0 = Chart.clamp(view.x0, 0, 1 - spanX);
      const y0 = Chart.clamp(view.y0, 0, 1 - spanY);
      const isMoved = this.view.x0 !== x0 || this.view.x1 !== x0 + spanX;
      this.view = { x0, x1: x0 + spanX, y0, y1: y0 + spanY };
      this.cursor = null;
      this.draw();
      if (this.peer && isMoved) this.peer.show({ ...this.peer.view, x0, x1: x0 + spanX });
    }

    /**
     * Around the middle, or the cursor.
     * @param {number} factor
     */
    zoom(factor) {
      const level = this.level();
      const { x0, x1, y0, y1 } = this.view;
      /** @type {(address: number) => number} */
      const middle = (address) => (level.edges[address] + level.edges[address + 1]) / 2;
      const x = this.cursor ? (this.cursor.time + 0.5) * level.width : (x0 + x1) / 2;
      const y = this.cursor ? middle(this.cursor.address) : (y0 + y1) / 2;
      const [width, height] = [(x1 - x0) * factor, (y1 - y0) * factor];
      this.show({ x0: x - width / 2, x1: x + width / 2, y0: y - height / 2, y1: y + height / 2 });
    }

    /** @param {KeyboardEvent} event */
    key(event) {
      /** @type {Record<string, [number, number]>} */
      const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (!arrows[event.key]) return;
      this.step(arrows[event.key], event.shiftKey);
      event.preventDefault();
    }

    /**
     * Moves the cursor by a cell or, with shift, the view by a quarter.
     * @param {[number, number]} by
     * @param {boolean} pan
     */
    step([dx, dy], pan) {
      const { x0, x1, y0, y1 } = this.view;
      const [width, height] = [x1 - x0, y1 - y0];
      if (pan) {
        this.show({ x0: x0 + (dx * width) / 4, x1: x1 + (dx * width) / 4, y0: y0 + (dy * height) / 4, y1: y1 + (dy * height) / 4 });
        return;
      }
      const level = this.level();
      const at = this.cursor ?? this.cellAt({ x: (x0 + x1) / 2, y: (y0 + y1) / 2 });
      this.cursor = {
        time: Chart.clamp(at.time + dx, 0, level.time_bins - 1),
        address: Chart.clamp(at.address + dy, 0, level.addressBins - 1),
      };
      this.tell();
      this.draw();
    }

    tell() {
      const level = this.level();
      if (!this.cursor) return;
      const { time, address } = this.cursor;
      const cell = level.cells.get(time * level.addressBins + address) ?? { reads: 0, writes: 0, misses: 0 };
      const range = level.addresses[address];
      const from = Numbers.duration(level.first_ns + time * level.bin_ns);
      const place = range ? `${Numbers.hexadecimal(range.first_address)}, ${Numbers.bytes(range.size_bytes)} ${Texts.visible(range.name ?? '')}` : '';
      /** @type {(number: number, words: string) => string} */
      const counted = (number, words) => `${Numbers.grouped(number)} ${Numbers.wordsOf(number, words)}`;
      const accesses = [counted(cell.reads, 'reads'), counted(cell.writes, 'writes')];
      const misses = this.tables.cells.has('misses') ? [counted(cell.misses ?? 0, 'misses')] : [];
      const counts = this.tables === this.missed ? [counted(cell.reads + cell.writes, missName())] : [...accesses, ...misses];
      this.readout.textContent = `${from}, ${place}: ${counts.join(', ')}`;
    }

    draw() {
      const style = getComputedStyle(this.canvas);
      /** @type {(name: string) => string} */
      const colour = (name) => style.getPropertyValue(name).trim();
      const context = Dom.contextOf(this.canvas);
      context.setTransform(2, 0, 0, 2, 0, 0);
      context.clearRect(0, 0, WIDTH, HEIGHT);
      context.fillStyle = colour('--surface');
      context.fillRect(LEFT, TOP, WIDTH - LEFT, HEIGHT - TOP - BOTTOM);
      this.drawCells(context, colour('--heat-low'), colour('--heat-high'));
      this.drawMarks(context, colour('--accent'));
      this.drawScale(context, colour('--muted'), colour('--heat-low'), colour('--heat-high'));
      this.drawTimes(context, colour('--muted'));
      this.drawAddresses(context, colour('--muted'), colour('--border'));
      this.drawCursor(context, colour('--text'));
    }

    /**
     * Place and size on the canvas: of a cell or, with `end`, of all cells up to that address.
     * @param {Level} level
     * @param {number} time
     * @param {number} address
     * @param {number} end
     * @returns {[number, number, number, number]}
     */
    box(level, time, address, end = address + 1) {
      const { x0, x1, y0, y1 } = this.view;
      const [scaleX, scaleY] = [(WIDTH - LEFT) / (x1 - x0), (HEIGHT - TOP - BOTTOM) / (y1 - y0)];
      const [from, to] = [level.edges[address], level.edges[end]];
      return [
        LEFT + (time * level.width - x0) * scaleX,
        TOP + (from - y0) * scaleY,
        Math.max(level.width * scaleX, 1),
        Math.max((to - from) * scaleY, 1),
      ];
    }

    /**
     * The least and the most that a cell of the level in view has.
     * @returns {[number, number]}
     */
    range() {
      const measure = MEASURES[this.measure];
      /** @type {[number, number]} */
      const found = [Number.POSITIVE_INFINITY, 1];
      for (const cell of this.level().cells.values()) {
        const count = measure(cell);
        if (count > 0) found[0] = Math.min(found[0], count);
        found[1] = Math.max(found[1], count);
      }
      return [Math.min(...found), found[1]];
    }

    /** Memory with a name that is marked, at the side. @param {CanvasRenderingContext2D} context @param {string} colour */
    drawMarks(context, colour) {
      if (this.marked.length === 0) return;
      context.fillStyle = colour;
      for (const { name, bin, end } of this.stretches()) {
        if (!isMarked(name, this.marked)) continue;
        const [, y, , height] = this.box(this.level(), 0, bin, end);
        context.fillRect(LEFT - 5, Math.max(y, TOP), 4, Math.max(2, Math.min(height, HEIGHT - BOTTOM - y)));
        context.fillRect(WIDTH - 4, Math.max(y, TOP), 4, Math.max(2, Math.min(height, HEIGHT - BOTTOM - y)));
      }
    }

    /**
     * What colours stand for.
     * @param {CanvasRenderingContext2D} context
     * @param {string} text
     * @param {string} low
     * @param {string} high
     */
    drawScale(context, text, low, high) {
      const [left, top, width, height] = [LEFT, HEIGHT - 26, 240, 10];
      const [least, largest] = this.range();
      for (let step = 0; step < STEPS; step += 1) {
        context.fillStyle = mixed(low, high, step / (STEPS - 1));
        context.fillRect(left + (step * width) / STEPS, top, width / STEPS + 0.5, height);
      }
      context.fillStyle = text;
      context.font = '12px system-ui, sans-serif';
      context.textAlign = 'center';
      const middle = Math.round(Math.sqrt(least * largest));
      const ends = largest > least ? [[least, 0], [largest, 1]] : [[largest, 1]];
      for (const [count, at] of largest > 3 * least ? [...ends, [middle, 0.5]] : ends) {
        context.fillText(Numbers.short(count), left + at * width, top + height + 13);
      }
      const name = this.tables === this.missed ? missName() : this.measure;
      const level = this.level();
      const cell = `${Numbers.duration(level.bin_ns)} × ${Numbers.bytes(level.addresses[0]?.size_bytes ?? 0)}`;
      context.textAlign = 'left';
      context.fillText(`${name} of a cell, logarithmic; a cell is ${cell}`, left + width + 24, top + height);
    }

    /**
     * @param {CanvasRenderingContext2D} context
     * @param {string} low
     * @param {string} high
     */
    drawCells(context, low, high) {
      const level = this.level();
      const measure = MEASURES[this.measure];
      const cells = [...level.cells.values()];
      const [least, largest] = this.range();
      context.save();
      context.beginPath();
      context.rect(LEFT, TOP, WIDTH - LEFT, HEIGHT - TOP - BOTTOM);
      context.clip();
      const colours = Array.from({ length: STEPS }, (_, step) => mixed(low, high, step / (STEPS - 1)));
      for (const cell of cells) {
        const count = measure(cell);
        if (count === 0) continue;
        // Logarithmic: one access must be seen beside a million.
        context.fillStyle = colours[largest > least ? Math.round((Math.log(count / least) / Math.log(largest / least)) * (STEPS - 1)) : STEPS - 1];
        context.fillRect(...this.box(level, cell.time_bin, cell.address_bin));
      }
      context.restore();
    }

    /**
     * @param {CanvasRenderingContext2D} context
     * @param {string} colour
     */
    drawTimes(context, colour) {
      const level = this.levels[this.levels.length - 1];
      const length = this.span || lengthOf(level);
      const { x0, x1 } = this.view;
      const [first, last] = [level.first_ns + x0 * length, level.first_ns + x1 * length];
      context.fillStyle = colour;
      context.font = '12px system-ui, sans-serif';
      context.textAlign = 'center';
      context.fillText('time since the beginning', (LEFT + WIDTH) / 2, HEIGHT - BOTTOM + 33);
      for (const time of Chart.ticks(first, last, 8)) {
        const x = LEFT + ((time - first) / (last - first || 1)) * (WIDTH - LEFT);
        if (x > LEFT + 16 && x < WIDTH - 24) context.fillText(Numbers.duration(time), x, HEIGHT - BOTTOM + 16);
      }
    }

    /**
     * Successive bins of one name, as far as they are in view.
     * @returns {Stretch[]}
     */
    stretches() {
      const level = this.level();
      level.stretches ??= stretchesOf(level);
      const { y0, y1 } = this.view;
      const inView = level.stretches.filter(({ bin, end }) => level.edges[end] > y0 && level.edges[bin] < y1);
      const first = binAt(level, y0);
      return inView.map((stretch) => ({ ...stretch, bin: Math.max(stretch.bin, first) }));
    }

    /**
     * Names beside the map, where there is room for them.
     * @param {CanvasRenderingContext2D} context
     * @param {string} colour
     * @param {string} line
     */
    drawAddresses(context, colour, line) {
      const level = this.level();
      context.textAlign = 'right';
      let free = TOP;
      const stretches = this.stretches();
      const longest = Math.max(...stretches.map(({ suffix }) => suffix.length));
      const labels = Names.distinct(stretches.map(({ name }) => name), LABEL_LENGTH - longest);
      for (const { name, suffix, bin, end } of stretches) {
        const [, y, , height] = this.box(level, 0, bin, end);
        const middle = Chart.clamp(y + height / 2, TOP + 6, HEIGHT - BOTTOM - 4);
        context.fillStyle = line;
        context.fillRect(LEFT - 6, Math.max(y, TOP), 6, 1);
        if (middle < free + 6) continue;
        context.fillStyle = colour;
        context.fillText(`${labels.get(name) ?? ''}${suffix}`, LEFT - 10, middle + 4);
        free = middle + 8;
      }
    }

    /**
     * @param {CanvasRenderingContext2D} context
     * @param {string} colour
     */
    drawCursor(context, colour) {
      if (!this.cursor) return;
      const [x, y, width, height] = this.box(this.level(), this.cursor.time, this.cursor.address);
      context.strokeStyle = colour;
      context.lineWidth = 1.5;
      context.strokeRect(x - 1, y - 1, width + 2, height + 2);
    }

    tools() {
      const names = Object.keys(MEASURES).filter((name) => name !== 'misses' || this.tables.cells.has('misses'));
      const options = names.map((name) => Dom.element('option', { value: name }, name));
      if (this.missed) options.push(Dom.element('option', { value: 'missed' }, missName()));
      const select = Dom.element('select', {}, options);
      select.addEventListener('change', () => this.take(select.value));
      return Dom.element(
        'div',
        { class: 'tools' },
        Dom.element('label', {}, 'Show ', select),
        Dom.button('Zoom in', () => this.zoom(0.5)),
        Dom.button('Zoom out', () => this.zoom(2)),
        Dom.button('Show all', () => this.show(WHOLE)),
      );
    }

    element() {
      const caption = 'Down: memory by address, without the gaps between; across: time since the beginning. Threads are added up. Drag to zoom into a part; with the keyboard, arrows move the cursor, + and − zoom, shift and arrows move the view.';
      const { cells, times, addresses } = this.tables;
      const content = Dom.element('div', { class: 'map' }, this.tools(), this.canvas, this.readout);
      // Colours are known once the canvas is part of the page, and that need not wait for the map.
      requestAnimationFrame(() => setTimeout(() => this.draw()));
      return Chart.figure(content, caption, [cells, times, addresses], 'map');
    }
  }

  /**
   * What is drawn of a part; null if a scale is missing or no level has bins.
   * @type {(part: Part) => Tables | null}
   */
  const tablesOf = ({ tables }) => {
    const [cells, times, addresses] = [COLUMNS, TIMES, ADDRESSES].map((columns) => tables.find((table) => table.has(...columns)));
    if (!cells || !times || !addresses) return null;
    const made = /** @type {Tables} */ (/** @type {unknown} */ ({ cells, times, addresses }));
    const withTimes = new Set(made.times.objects().flatMap(({ level, time_bins: bins }) => (bins > 0 ? [level] : [])));
    return made.addresses.objects().some(({ level }) => withTimes.has(level)) ? made : null;
  };

  /**
   * A figure; none if a scale is missing from the part or no level has bins.
   * @type {(cells: Table<MapCells>, part: Part) => Child}
   */
  const create = (_, part) => {
    const tables = tablesOf(part);
    if (!tables) return null;
    drawn = new Map2D(tables, missedTables(part));
    return drawn.element();
  };

  /**
   * A figure for each of two traces, on one scale of time; none if one has no map.
   * @type {(first: Part, second: Part) => [Child, Child] | null}
   */
  const createPair = (first, second) => {
    const [before, after] = [tablesOf(first), tablesOf(second)];
    if (!before || !after) return null;
    const span = Math.max(...[before, after].flatMap(({ times }) => times.objects().map(lengthOf)));
    const [upper, lower] = [new Map2D(before, null, span), new Map2D(after, null, span)];
    [upper.peer, lower.peer] = [lower, upper];
    return [upper.element(), lower.element()];
  };

  /** What it shows of the chosen time and threads. */
  const remark = () => {
    const threads = Chosen.now().streams === null ? '' : ', of all threads: it doesn’t tell them apart';
    return `The map and its cells are of the chosen time${threads}. Other tables are of the whole trace.`;
  };

  /** The map of the page, if there is one. @type {Map2D | null} */
  let drawn = null;

  /**
   * The tables of the map of misses, for the map of all accesses.
   * @type {(part: Part) => Tables | null}
   */
  const missedTables = (part) => {
    const missed = part.name === 'map' ? Data.part('missed_map') : undefined;
    const tables = missed ? tablesOf(missed) : null;
    return tables && tables.cells.rows.length > 0 ? tables : null;
  };

  const missName = () => Data.page.rank_by.replace('_', ' ').replace(/^l/, 'L');

  /** @type {(name: string, words: string[]) => boolean} */
  const isMarked = (name, words) => words.includes(name);

  /**
   * How many rows of the finest level have such a name.
   * @type {(fits: (name: string) => boolean) => number}
   */
  const rowsOf = (fits) => {
    const levels = drawn?.levels ?? [];
    const finest = levels[levels.length - 1];
    return finest ? finest.addresses.filter((range) => fits(Texts.visible(range?.name ?? ''))).length : 0;
  };

  /** @type {(words: string[]) => void} */
  const mark = (words) => {
    if (!drawn) return;
    drawn.marked = words;
    drawn.draw();
  };

  return { COLUMNS, COMPANIONS: [TIMES, ADDRESSES], create, createPair, remark, rowsOf, mark };
})();
