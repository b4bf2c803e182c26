/** Addresses over time, to zoom into; `map_levels.js` says of which tables. */
const MapChart = (() => {
  /** @typedef {{ x: number, y: number }} Point */

  const { WIDTH, HEIGHT, LEFT, BOTTOM, TOP, WHOLE, MEASURES, missName } = MapDrawing;
  const MIN_SPAN = 1e-6;
  class Map2D extends MapDrawing.Picture {
    /**
     * @param {MapTables} tables
     * @param {MapTables | null} missed Where and when the ranking level is missed.
     * @param {number} span Nanoseconds across, if not those that the tables cover.
     */
    constructor(tables, missed, span = 0) {
      super(tables, missed, span);
      /** The map of another trace, which shows the same time. @type {Map2D | null} */
      this.peer = null;
      /** @type {Point | null} */
      this.dragged = null;
      /** The threads whose cells were read. */
      this.streams = 'null';
      this.readout = Chart.readout();
      this.listen();
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

    /** The chosen time, of the chosen threads. */
    showSelection() {
      const streams = String(Chosen.now().streams);
      if (streams !== this.streams) this.read = undefined;
      this.streams = streams;
      const level = this.levels[this.levels.length - 1];
      const length = level.time_bins * level.bin_ns;
      if (length === 0) return;
      const [from, to] = Chosen.times();
      this.show(Chosen.isAll() ? WHOLE : { x0: (from - level.first_ns) / length, x1: (to - level.first_ns) / length, y0: this.view.y0, y1: this.view.y1 });
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
        address: MapLevels.binAt(level, y),
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

    /** @param {MapWindow} view */
    show(view) {
      const spanX = Chart.clamp(view.x1 - view.x0, MIN_SPAN, 1);
      const spanY = Chart.clamp(view.y1 - view.y0, MIN_SPAN, 1);
      const x0 = Chart.clamp(view.x0, 0, 1 - spanX);
      const y0 = Chart.clamp(view.y0, 0, 1 - spanY);
      const isMoved = this.view.x0 !== x0 || this.view.x1 !== x0 + spanX;
      this.look({ x0, x1: x0 + spanX, y0, y1: y0 + spanY });
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
      const caption = 'Down: memory by address, without the gaps between; across: time since the beginning. The chosen threads are added up. Drag to zoom into a part; with the keyboard, arrows move the cursor, + and − zoom, shift and arrows move the view.';
      const { cells, times, addresses } = this.tables;
      const content = Dom.element('div', { class: 'map' }, this.tools(), this.canvas, this.readout);
      // Colours are known once the canvas is part of the page, and that need not wait for the map.
      requestAnimationFrame(() => setTimeout(() => this.draw()));
      return Chart.figure(content, caption, [cells, times, addresses], 'map');
    }
  }

  /**
   * A figure; none if a scale is missing from the part or no level has bins.
   * @type {(cells: Table<MapCells>, part: Part) => Child}
   */
  const create = (_, part) => {
    const tables = MapLevels.tablesOf(part);
    if (!tables) return null;
    drawn = new Map2D(tables, missedTables(part));
    return drawn.element();
  };

  /** What it shows of the chosen time and threads. */
  const remark = () => {
    const moments = Data.table('map', 'owner_moments');
    if (!moments) return 'The map and its cells are of the chosen time and threads. Other tables are of the whole trace.';
    const lack = ChosenSums.isCut(moments) ? ' It lacks the least accessed memory, for whose times the page has no room.' : '';
    return `The map, its cells and the table of memory are of the chosen time and threads.${lack} Other tables are of the whole trace.`;
  };

  /** The map of the page, if there is one. @type {Map2D | null} */
  let drawn = null;

  /**
   * The tables of the map of misses, for the map of all accesses.
   * @type {(part: Part) => MapTables | null}
   */
  const missedTables = (part) => {
    const missed = part.name === 'map' ? Data.part('missed_map') : undefined;
    const tables = missed ? MapLevels.tablesOf(missed) : null;
    return tables && tables.cells.rows.length > 0 ? tables : null;
  };

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

  return { COLUMNS: MapLevels.COLUMNS, COMPANIONS: [MapLevels.TIMES, MapLevels.ADDRESSES], Map2D, create, remark, rowsOf, mark };
})();
