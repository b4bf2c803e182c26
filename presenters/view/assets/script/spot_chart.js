/**
 * Samples by time and address, to search: which memory, which thread, and when.
 *
 * Tables of one part, found by their columns:
 * - spots: `time_bin`, `process`, `thread`, `memory`, `address`, `loads`, `stores`, `weight`
 * - scales: `time_bins`, `first_ns`, `bin_ns`, `granule_bytes`, `weight_unit`
 * - memory: `memory` (its rank, from 0), `kind`, `label`, `data_type`, `peak_bytes`, `samples`, `share`
 */
const SpotChart = (() => {
  /** @typedef {{ spots: Table<SpotRow>, scales: Table<SpotScale>, memories: Table<SpotMemory> }} Tables */

  /**
   * Cells in the order of `COLUMNS`; the address may be unknown.
   * @typedef {[number, number, number, number, number | null, number, number, number]} SpotCells
   */

  const COLUMNS = ['time_bin', 'process', 'thread', 'memory', 'address', 'loads', 'stores', 'weight'];
  const SCALES = ['time_bins', 'first_ns', 'bin_ns', 'granule_bytes', 'weight_unit'];
  const MEMORIES = ['memory', 'kind', 'label', 'data_type', 'peak_bytes', 'samples', 'share'];
  const { SIZE, HEIGHT } = SpotDrawing;
  /** From the pointer to a sample, pixels. */
  const NEAR = 12;
  const ALL = '';
  const LONGEST_NAME = 70;

  /** @type {(table: Table<SpotRow>, granule: number) => Spot[]} */
  const read = (table, granule) => {
    const columns = COLUMNS.map((name) => table.position(name));
    return table.rows.map((row) => {
      const cells = /** @type {SpotCells} */ (columns.map((column) => row[column]));
      const [bin, process, thread, memory, from, loads, stores, weight] = cells;
      return { bin, process, thread, memory, from, to: from === null ? null : from + granule, loads, stores, samples: loads + stores, weight };
    });
  };

  /**
   * @param {Spot} spot
   * @returns {spot is PlacedSpot}
   */
  const isPlaced = (spot) => spot.from !== null;

  /**
   * @param {SpotView} view
   * @returns {view is FoldedSpotView}
   */
  const isFolded = (view) => view.folded !== null;

  /** @type {(place: Address, low: Address, high: Address) => boolean} */
  const isBetween = (place, low, high) =>
    FoldedAddresses.compare(low, place) <= 0 && FoldedAddresses.compare(place, high) <= 0;

  class Spots {
    /** @param {Tables} tables */
    constructor(tables) {
      this.tables = tables;
      this.scale = tables.scales.record();
      this.memories = tables.memories.objects();
      this.spots = read(tables.spots, this.scale.granule_bytes);
      this.chosen = { memory: ALL, thread: ALL };
      /** @type {SpotRange} */
      this.whole = { first: 0, last: this.scale.time_bins - 1, low: null, high: null };
      this.range = this.whole;
      this.view = this.viewOf([], []);
      /** @type {ReturnType<typeof SpotDrawing.create> | null} */
      this.drawing = null;
      /** @type {{ x: number, y: number } | null} */
      this.dragged = null;
      this.canvas = Dom.element('canvas', { width: SIZE.width * 2, height: HEIGHT * 2, tabindex: '0', role: 'img' });
      this.readout = Chart.readout();
      this.listen();
    }

    listen() {
      this.canvas.addEventListener('pointermove', (event) => this.point(event));
      this.canvas.addEventListener('pointerdown', (event) => this.begin(event));
      this.canvas.addEventListener('pointerup', (event) => this.end(event));
      Chart.onZoomKeys(this.canvas, (factor) => this.zoom(factor), () => this.show(this.whole));
      Chart.onArrows(this.canvas, (dx, dy) => this.step(dx, dy));
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.restyle());
    }

    /** Colours are those of the page once the canvas is part of it. */
    restyle() {
      this.drawing = SpotDrawing.create(this.canvas);
      this.show(this.range);
    }

    /** @param {Spot} spot */
    isShown({ bin, memory, thread, process, from }) {
      const { first, last, low, high } = this.range;
      return (
        bin >= first &&
        bin <= last &&
        (this.chosen.memory === ALL || String(memory) === this.chosen.memory) &&
        (this.chosen.thread === ALL || String(thread) === this.chosen.thread) &&
        (low === null || high === null || (from !== null && isBetween({ process, from }, low, high)))
      );
    }

    /**
     * What the drawing shows of the present range.
     * @param {PlacedSpot[]} spots
     * @param {Spot[]} unplaced
     * @returns {SpotView}
     */
    viewOf(spots, unplaced) {
      const measure = this.scale.weight_unit === 'ns' ? 'time' : 'weight';
      const folded = spots.length > 0 ? FoldedAddresses.create(spots, SIZE.map) : null;
      const { first, last } = this.range;
      const { scale, memories } = this;
      return { spots, unplaced, folded, first, last, scale, memories, measure, cursor: null };
    }

    /** @param {SpotRange} range */
    show(range) {
      this.range = range;
      const shown = this.spots.filter((spot) => this.isShown(spot));
      const [spots, unplaced] = [shown.filter(isPlaced), shown.filter((spot) => !isPlaced(spot))];
      this.view = this.viewOf(spots, unplaced);
      this.label();
      this.draw();
      this.readout.textContent = this.summary();
    }

    draw() {
      if (!this.drawing) return;
      if (isFolded(this.view)) this.drawing.draw(this.view);
      else Dom.contextOf(this.canvas).clearRect(0, 0, SIZE.width * 2, HEIGHT * 2);
    }

    label() {
      const { spots, folded } = this.view;
      const parts = folded ? `${folded.stretches.length} stretches of addresses` : 'no addresses';
      this.canvas.setAttribute(
        'aria-label',
        `Samples by time and address: ${Numbers.grouped(sum(spots))} in ${parts}. ` +
          'Arrow keys move the cursor from sample to sample, plus and minus zoom, 0 shows all.',
      );
    }

    summary() {
      const { spots, unplaced } = this.view;
      const threads = new Set(spots.map(({ thread }) => thread)).size;
      const memories = new Set(spots.map(({ memory }) => memory)).size;
      const without = unplaced.length > 0 ? `; ${Numbers.counted(sum(unplaced), 'sample')} without known address` : '';
      return `${Numbers.counted(sum(spots), 'sample')} of ${Numbers.counted(threads, 'thread')} at ${Numbers.counted(memories, 'name')}${without}`;
    }

    /**
     * Where an event is, in pixels of the drawing.
     * @param {PointerEvent} event
     */
    place(event) {
      const box = this.canvas.getBoundingClientRect();
      return {
        x: ((event.clientX - box.left) / box.width) * SIZE.width,
        y: ((event.clientY - box.top) / box.height) * HEIGHT,
      };
    }

    /** @param {PointerEvent} event */
    point(event) {
      const { view } = this;
      if (!this.drawing || !isFolded(view)) return;
      const { x, y } = this.place(event);
      /** @type {PlacedSpot | null} */
      let best = null;
      let least = NEAR;
      for (const spot of view.spots) {
        const box = this.drawing.box(spot, view);
        /** @type {(at: number, from: number, length: number) => number} */
        const outside = (at, from, length) => Math.max(from - at, at - from - length, 0);
        const distance = Math.hypot(outside(x, box.x, box.width), outside(y, box.y, box.height));
        if (distance < least) [best, least] = [spot, distance];
      }
      this.move(best);
    }

    /** @param {PlacedSpot | null} spot */
    move(spot) {
      this.view.cursor = spot;
      this.readout.textContent = spot ? this.tell(spot) : this.summary();
      this.draw();
    }

    /** @param {PlacedSpot} spot */
    tell(spot) {
      const memory = this.memories[spot.memory];
      const { scale } = this;
      const from = scale.first_ns + spot.bin * scale.bin_ns;
      const name = Texts.abridged(SpotDrawing.lettered(memory), LONGEST_NAME);
      const type = memory.data_type ? `, ${Texts.visible(memory.data_type)}` : '';
      const counts = `${Numbers.grouped(spot.loads)} at loads, ${Numbers.grouped(spot.stores)} at stores`;
      const weight = scale.weight_unit === 'ns' ? `, ${Numbers.duration(spot.weight)}` : '';
      const size = memory.peak_bytes !== null && memory.peak_bytes > 0 ? ` of ${Numbers.bytes(memory.peak_bytes)}` : '';
      return `${Numbers.duration(from)}, thread ${spot.thread}: ${name} (${memory.kind}${size}${type}), ${Numbers.hexadecimal(spot.from)}: ${counts}${weight}`;
    }

    /** @param {PointerEvent} event */
    begin(event) {
      this.dragged = this.place(event);
      this.canvas.setPointerCapture(event.pointerId);
    }

    /**
     * What was drawn around is shown alone.
     * @param {PointerEvent} event
     */
    end(event) {
      const [from, to] = [this.dragged, this.place(event)];
      this.dragged = null;
      const { folded } = this.view;
      if (!from || !folded) return;
      const [wide, high] = [Math.abs(from.x - to.x) > 8, Math.abs(from.y - to.y) > 8];
      if (!wide && !high) return;
      const range = { ...this.range };
      if (wide) [range.first, range.last] = [from.x, to.x].map((x) => this.binAt(x)).sort((a, b) => a - b);
      if (high) {
        const [top, bottom] = [from.y, to.y].map((y) => y - SIZE.top).sort((a, b) => a - b);
        /** @type {(y: number) => Address} */
        const place = (y) => {
          const { process, address } = folded.at(y);
          return { process, from: address };
        };
        [range.low, range.high] = [place(bottom), place(top)];
      }
      this.show(range);
    }

    /** @param {number} x */
    binAt(x) {
      const { first, last } = this.range;
      const part = (x - SIZE.left) / (SIZE.width - SIZE.left);
      return Chart.clamp(Math.floor(first + part * (last - first + 1)), first, last);
    }

    /**
     * In time, around the cursor.
     * @param {number} factor
     */
    zoom(factor) {
      const { first, last } = this.range;
      const width = Math.max(1, Math.round((last - first + 1) * factor));
      const middle = this.view.cursor?.bin ?? (first + last) / 2;
      const begin = Chart.clamp(Math.round(middle - width / 2), 0, Math.max(0, this.scale.time_bins - width));
      const end = Math.min(begin + width - 1, this.scale.time_bins - 1);
      this.show({ ...this.range, first: begin, last: end });
    }

    /**
     * To the next sample in time, or by address.
     * @param {number} dx
     * @param {number} dy
     */
    step(dx, dy) {
      const { spots, cursor } = this.view;
      /** @type {(a: PlacedSpot, b: PlacedSpot) => number} */
      const byTime = (a, b) => a.bin - b.bin || FoldedAddresses.compare(a, b) || a.thread - b.thread;
      /** @type {(a: PlacedSpot, b: PlacedSpot) => number} */
      const byAddress = (a, b) => FoldedAddresses.compare(a, b) || a.bin - b.bin || a.thread - b.thread;
      const order = [...spots].sort(dx !== 0 ? byTime : byAddress);
      // Addresses grow upward.
      const next = cursor ? order.indexOf(cursor) + (dx !== 0 ? dx : -dy) : 0;
      if (order.length > 0) this.move(order[Chart.clamp(next, 0, order.length - 1)]);
    }

    /**
     * @param {string} label
     * @param {'memory' | 'thread'} key
     * @param {[number, string][]} options
     */
    list(label, key, options) {
      const all = Dom.element('option', { value: ALL }, 'all');
      const made = options.map(([value, text]) => Dom.element('option', { value }, text));
      const select = Dom.element('select', {}, all, made);
      select.addEventListener('change', () => {
        this.chosen[key] = select.value;
        this.show(this.range);
      });
      return Dom.element('label', {}, `${label} `, select);
    }

    tools() {
      /** @type {(memory: SpotMemory) => [number, string]} */
      const named = (memory) => [
        memory.memory,
        `${Texts.abridged(SpotDrawing.lettered(memory), LONGEST_NAME)}, ${Numbers.percent(memory.share ?? 0)}`,
      ];
      const threads = [...new Set(this.spots.map(({ thread }) => thread))].sort((a, b) => a - b);
      return Dom.element(
        'div',
        { class: 'tools' },
        this.list('Memory', 'memory', this.memories.filter(SpotDrawing.isPlaced).map(named)),
        this.list('Threads', 'thread', threads.map((thread) => [thread, `thread ${thread}`])),
        Dom.button('Zoom in', () => this.zoom(0.5)),
        Dom.button('Zoom out', () => this.zoom(2)),
        Dom.button('Show all', () => this.show(this.whole)),
      );
    }

    legend() {
      /** @type {(memory: SpotMemory) => HTMLElement} */
      const entry = (memory) =>
        Dom.element(
          'li',
          {},
          Dom.element('span', { class: `spot-swatch spot-${SpotDrawing.isPlaced(memory) ? memory.memory : memory.kind.replace(' ', '-')}`, 'aria-hidden': 'true' }),
          `${Texts.abridged(SpotDrawing.lettered(memory), LONGEST_NAME)} ${Numbers.percent(memory.share ?? 0)}`,
        );
      const placed = this.memories.filter(SpotDrawing.isPlaced);
      const rest = placed.length - SpotDrawing.COLOURS;
      return Dom.element(
        'ul',
        { class: 'spot-legend', 'aria-label': 'Memory by its share of all samples' },
        placed.slice(0, SpotDrawing.COLOURS).map(entry),
        rest > 0 ? Dom.element('li', {}, `${Numbers.grouped(rest)} more, in grey`) : null,
        this.memories.filter((memory) => !SpotDrawing.isPlaced(memory)).map(entry),
      );
    }

    element() {
      const { spots, scales, memories } = this.tables;
      const content = Dom.element('div', { class: 'map' }, this.tools(), this.legend(), this.canvas, this.readout);
      requestAnimationFrame(() => setTimeout(() => this.restyle()));
      const caption =
        'Each point is a sample, or several, at the address that it accessed; the more, the stronger. Dashed lines: ' +
        'addresses without samples are left out, so that lengths compare within a stretch only. Below: what all ' +
        'samples weigh by part of time, those without address among them, of the largest part. Drag to show a part; with the keyboard, arrows move from ' +
        'sample to sample, + and − zoom in time, 0 shows all.';
      return Chart.figure(content, caption, [memories, spots, scales]);
    }
  }

  /** @type {(spots: Spot[]) => number} */
  const sum = (rows) => rows.reduce((all, { samples }) => all + samples, 0);

  /**
   * A figure; none without samples or scales.
   * @type {(spots: Table<SpotRow>, part: Part) => Child}
   */
  const create = (spots, part) => {
    /** @type {(columns: string[]) => Table | undefined} */
    const find = (columns) => part.tables.find((table) => table.has(...columns));
    const scales = /** @type {Table<SpotScale> | undefined} */ (find(SCALES));
    const memories = /** @type {Table<SpotMemory> | undefined} */ (find(MEMORIES));
    return scales && memories && spots.rows.length > 0 ? new Spots({ spots, scales, memories }).element() : null;
  };

  return { COLUMNS, COMPANIONS: [SCALES, MEMORIES], create };
})();
