/** Draws samples as points of time and address, and below them how much each memory takes of each part of time. */
const SpotDrawing = (() => {
  const SIZE = { width: 896, left: 206, top: 8, map: 420, gap: 46, strip: 72, bottom: 4 };
  const HEIGHT = SIZE.top + SIZE.map + SIZE.gap + SIZE.strip + SIZE.bottom;
  const COLOURS = 8;
  const LEAST_POINT = 2;
  /** Columns of the strip. */
  const PARTS = 120;
  const NAME_LENGTH = 27;

  /** @type {(memory: number) => string} */
  const letter = (memory) => (memory < COLOURS ? String.fromCharCode(65 + memory) : '');

  /**
   * Of a name: letters tell apart what has the same colour to some eyes.
   * @type {(memory: SpotMemory) => string}
   */
  const lettered = ({ memory, kind, label }) => [isPlaced({ kind }) ? letter(memory) : '', withoutFolders(Texts.visible(label))].filter(Boolean).join(' ');

  /**
   * A path's last part says most.
   * @type {(label: string) => string}
   */
  const withoutFolders = (label) => label.replace(/(^|\s)\S*\//g, '$1');

  /**
   * Whether samples of it have addresses; others stand in the strip alone.
   * @type {(memory: { kind: string }) => boolean}
   */
  const isPlaced = ({ kind }) => kind !== 'no address' && kind !== 'no access';

  /** @type {Record<string, string>} */
  const UNPLACED = { 'no address': '--muted', 'no access': '--control-border' };

  /**
   * Name of its colour.
   * @type {(memory: SpotMemory) => string}
   */
  const colourName = ({ memory, kind }) => UNPLACED[kind] ?? (memory < COLOURS ? `--curve-${memory}` : '--muted');

  class Drawing {
    /** @param {HTMLCanvasElement} canvas */
    constructor(canvas) {
      this.canvas = canvas;
      this.context = Dom.contextOf(canvas);
      const style = getComputedStyle(canvas);
      /** @type {string[]} */
      this.palette = [];
      /** @type {(name: string) => string} */
      this.colour = (name) => style.getPropertyValue(name).trim();
    }

    /** @param {number} memory */
    colourOf(memory) {
      return this.palette[memory];
    }

    /** @param {FoldedSpotView} view */
    draw(view) {
      this.palette = view.memories.map((memory) => this.colour(colourName(memory)));
      const { context } = this;
      context.setTransform(2, 0, 0, 2, 0, 0);
      context.clearRect(0, 0, SIZE.width, HEIGHT);
      context.font = '12px system-ui, sans-serif';
      this.stretches(view);
      this.points(view);
      this.times(view);
      this.axisTitles();
      this.strip(view);
      this.cursor(view);
    }

    /**
     * The ground of each stretch, its names, and where addresses are left out.
     * @param {FoldedSpotView} view
     */
    stretches({ folded, spots, memories }) {
      const { context } = this;
      const names = namesOf(folded, spots, memories);
      for (const stretch of folded.stretches) {
        const top = SIZE.top + stretch.top;
        context.fillStyle = this.colour('--surface');
        context.fillRect(SIZE.left, top, SIZE.width - SIZE.left, stretch.height);
        this.fold(stretch, top);
        this.captions(stretch, top, names.get(stretch) ?? []);
      }
    }

    /**
     * A dashed line below a stretch, but below the lowest.
     * @param {FoldedStretch} stretch
     * @param {number} top
     */
    fold(stretch, top) {
      const bottom = top + stretch.height;
      if (bottom >= SIZE.top + SIZE.map - 1) return;
      const { context } = this;
      context.strokeStyle = this.colour('--control-border');
      context.lineWidth = 1;
      context.setLineDash([3, 4]);
      context.beginPath();
      context.moveTo(SIZE.left - 8, bottom + 5);
      context.lineTo(SIZE.width, bottom + 5);
      context.stroke();
      context.setLineDash([]);
    }

    /**
     * @param {FoldedStretch} stretch
     * @param {number} top
     * @param {SpotMemory[]} names
     */
    captions(stretch, top, names) {
      const { context } = this;
      const lines = Math.max(1, Math.floor(stretch.height / 15));
      const shown = names.slice(0, lines > names.length || lines === 1 ? lines : lines - 1);
      context.textAlign = 'right';
      shown.forEach((memory, line) => {
        context.fillStyle = this.colourOf(memory.memory);
        context.fillText(Texts.abridged(lettered(memory), NAME_LENGTH), SIZE.left - 8, top + 11 + line * 15);
      });
      if (shown.length >= lines) return;
      const rest = names.length - shown.length;
      const bytes = Numbers.bytes(stretch.to - stretch.from);
      context.fillStyle = this.colour('--muted');
      context.fillText(rest > 0 ? `and ${rest} more in ${bytes}` : bytes, SIZE.left - 8, top + 11 + shown.length * 15);
    }

    /**
     * @param {number} bin
     * @param {{ first: number, last: number }} range
     */
    x(bin, { first, last }) {
      return SIZE.left + ((bin - first) / (last - first + 1)) * (SIZE.width - SIZE.left);
    }

    /**
     * @param {PlacedSpot} spot
     * @param {FoldedSpotView} view
     */
    box(spot, view) {
      const { top, height } = view.folded.box(spot);
      const x = this.x(spot.bin, view);
      const width = this.x(spot.bin + 1, view) - x;
      return { x, y: SIZE.top + top, width: Math.max(width, LEAST_POINT), height: Math.max(height, LEAST_POINT) };
    }

    /** @param {FoldedSpotView} view */
    points(view) {
      const { context } = this;
      const largest = view.spots.reduce((most, spot) => Math.max(most, spot.samples), 1);
      for (const spot of view.spots) {
        const { x, y, width, height } = this.box(spot, view);
        context.fillStyle = this.colourOf(spot.memory);
        context.globalAlpha = 0.45 + (0.55 * Math.log1p(spot.samples)) / Math.log1p(largest);
        context.fillRect(x, y, width, height);
      }
      context.globalAlpha = 1;
    }

    /** @param {SpotView} view */
    times(view) {
      const { context } = this;
      const { first, last, scale } = view;
      const [from, to] = [first, last + 1].map((bin) => scale.first_ns + bin * scale.bin_ns);
      const y = SIZE.top + SIZE.map;
      context.textAlign = 'center';
      for (const time of Chart.ticks(from, to, 8)) {
        const x = this.x((time - scale.first_ns) / scale.bin_ns, view);
        context.fillStyle = this.colour('--border');
        context.fillRect(x, y, 1, 5);
        context.fillStyle = this.colour('--muted');
        if (x < SIZE.width - 26) context.fillText(Numbers.duration(time), x, y + 18);
      }
    }

    axisTitles() {
      const { context } = this;
      context.fillStyle = this.colour('--muted');
      context.textAlign = 'center';
      context.fillText('time since the beginning', (SIZE.left + SIZE.width) / 2, SIZE.top + SIZE.map + 36);
      context.save();
      context.translate(12, SIZE.top + SIZE.map / 2);
      context.rotate(-Math.PI / 2);
      context.fillText('address', 0, 0);
      context.restore();
    }

    /**
     * Of each part of time what samples weigh, by memory: phases have other colours.
     * @param {SpotView} view
     */
    strip(view) {
      const { context } = this;
      const { parts, most } = strips(view);
      const bottom = SIZE.top + SIZE.map + SIZE.gap + SIZE.strip;
      const width = (SIZE.width - SIZE.left) / parts.length;
      context.fillStyle = this.colour('--surface');
      context.fillRect(SIZE.left, bottom - SIZE.strip, SIZE.width - SIZE.left, SIZE.strip);
      parts.forEach((weights, part) => {
        let y = bottom;
        for (const [memory, weight] of [...weights].sort(([a], [b]) => a - b)) {
          const height = (weight / most) * SIZE.strip;
          context.fillStyle = this.colourOf(memory);
          context.fillRect(SIZE.left + part * width, y - height, Math.max(width - 0.5, 0.5), height);
          y -= height;
        }
      });
      context.fillStyle = this.colour('--muted');
      context.textAlign = 'right';
      context.fillText(view.measure, SIZE.left - 8, bottom - SIZE.strip + 12);
      context.fillText('by memory', SIZE.left - 8, bottom - SIZE.strip + 27);
    }

    /** @param {FoldedSpotView} view */
    cursor(view) {
      if (!view.cursor) return;
      const { x, y, width, height } = this.box(view.cursor, view);
      const { context } = this;
      context.strokeStyle = this.colour('--text');
      context.lineWidth = 1.5;
      context.strokeRect(x - 3, y - 3, width + 6, height + 6);
    }
  }

  /**
   * Of each stretch the memories that samples in it belong to, those with most first.
   * @type {(folded: FoldedSpotView['folded'], spots: PlacedSpot[], memories: SpotMemory[]) => Map<FoldedStretch, SpotMemory[]>}
   */
  const namesOf = (folded, spots, memories) => {
    /** @type {Map<FoldedStretch, Map<number, number>>} */
    const counts = new Map(folded.stretches.map((stretch) => [stretch, new Map()]));
    for (const { process, from, memory, samples } of spots) {
      const of = counts.get(folded.stretchOf(process, from));
      of?.set(memory, (of.get(memory) ?? 0) + samples);
    }
    /** @type {(of: Map<number, number>) => SpotMemory[]} */
    const ranked = (of) => [...of].sort(([, a], [, b]) => b - a).map(([memory]) => memories[memory]);
    return new Map([...counts].map(([stretch, of]) => [stretch, ranked(of)]));
  };

  /**
   * Weights by memory of each column, and the most that a column has.
   * @type {(view: SpotView) => { parts: Map<number, number>[], most: number }}
   */
  const strips = ({ spots, unplaced, first, last }) => {
    const bins = last - first + 1;
    /** @type {Map<number, number>[]} */
    const parts = Array.from({ length: Math.min(PARTS, bins) }, () => new Map());
    for (const { bin, memory, weight } of [...spots, ...unplaced]) {
      const part = parts[Math.floor(((bin - first) / bins) * parts.length)];
      part.set(memory, (part.get(memory) ?? 0) + weight);
    }
    const sums = parts.map((part) => [...part.values()].reduce((sum, weight) => sum + weight, 0));
    return { parts, most: Math.max(...sums, 1) };
  };

  /** @type {(canvas: HTMLCanvasElement) => Drawing} */
  const create = (canvas) => new Drawing(canvas);

  return { SIZE, HEIGHT, COLOURS, isPlaced, lettered, create };
})();
