/** A map as it is drawn: its resolutions, what is in view, and how that looks on the canvas. */
const MapDrawing = (() => {
  const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [896, 470, 190, 76, 6];
  /** Letters that have room beside the map. */
  const LABEL_LENGTH = 27;
  /** Colours of the scale, from the least to the most. */
  const STEPS = 24;
  /** A finer level is taken when cells of the present one would be larger, pixels. */
  const LARGE_CELL = 14;
  const WHOLE = { x0: 0, x1: 1, y0: 0, y1: 1 };

  /** @type {Record<string, (cell: MapCell) => number>} */
  const MEASURES = {
    accesses: (cell) => cell.reads + cell.writes,
    reads: (cell) => cell.reads,
    writes: (cell) => cell.writes,
    misses: (cell) => cell.misses ?? 0,
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

  const missName = () => Data.page.rank_by.replace('_', ' ').replace(/^l/, 'L');

  /** @type {(name: string, words: string[]) => boolean} */
  const isMarked = (name, words) => words.includes(name);

  class Picture {
    /**
     * @param {MapTables} tables
     * @param {MapTables | null} missed Where and when the ranking level is missed.
     * @param {number} span Nanoseconds across, if not those that the tables cover.
     */
    constructor(tables, missed, span = 0) {
      this.span = span;
      this.accessed = tables;
      this.missed = missed;
      this.tables = tables;
      /** Names of memory that is marked. @type {string[]} */
      this.marked = [];
      this.view = { ...WHOLE };
      this.measure = 'accesses';
      /** @type {{ time: number, address: number } | null} */
      this.cursor = null;
      /** @type {MapLevel[] | undefined} */
      this.read = undefined;
      this.canvas = Dom.element('canvas', { width: WIDTH * 2, height: HEIGHT * 2, tabindex: '0', role: 'img' });
      this.canvas.setAttribute('aria-label', 'Addresses over time. Arrow keys move the cursor, plus and minus zoom, 0 shows all.');
    }

    /**
     * Read when the page is there: cells are many.
     * @returns {MapLevel[]}
     */
    get levels() {
      // A pair of maps shows whole traces.
      this.read ??= MapLevels.read(this.tables, this.span, this.span === 0 ? Chosen.holdsStream : () => true);
      return this.read;
    }

    /**
     * The coarsest level whose cells are small enough in this view.
     * @returns {MapLevel}
     */
    level() {
      const { x0, x1, y0, y1 } = this.view;
      /** @type {(level: MapLevel) => boolean} */
      const fits = (level) =>
        (WIDTH * level.width) / (x1 - x0) <= LARGE_CELL && HEIGHT / ((y1 - y0) * level.addressBins) <= LARGE_CELL;
      return this.levels.find(fits) ?? this.levels[this.levels.length - 1];
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

    /** @param {MapWindow} view */
    look(view) {
      this.view = view;
      this.cursor = null;
      this.draw();
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
     * @param {MapLevel} level
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
      const length = this.span || MapLevels.lengthOf(level);
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
     * @returns {MapStretch[]}
     */
    stretches() {
      const level = this.level();
      level.stretches ??= MapLevels.stretchesOf(level);
      const { y0, y1 } = this.view;
      const inView = level.stretches.filter(({ bin, end }) => level.edges[end] > y0 && level.edges[bin] < y1);
      const first = MapLevels.binAt(level, y0);
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
  }

  return { Picture, WIDTH, HEIGHT, LEFT, BOTTOM, TOP, WHOLE, MEASURES, missName };
})();
