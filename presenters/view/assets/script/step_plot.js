/** Lines of steps over time: a value for each bin of time, with axes, names at the ends and a cursor. */
const StepPlot = (() => {
  const [LEFT, TOP, BOTTOM] = [58, 24, 34];
  const LABEL_HEIGHT = 15;
  const LABEL_LENGTH = 24;

  /** A drawing that is narrow from the start stays readable; its names stand in the legend alone. */
  const narrow = matchMedia('(max-width: 60rem)');

  const size = () => (narrow.matches ? { width: 400, right: 10 } : { width: 896, right: 180 });

  /**
   * Values that are not known interrupt a line.
   * @type {(values: (number | null)[], bins: Bin[], x: (seconds: number) => number, y: (value: number) => number) => string}
   */
  const path = (values, bins, x, y) => {
    let made = '';
    /** @type {number | null} */
    let end = null;
    bins.forEach((bin, index) => {
      const value = values[index];
      if (value === null) {
        end = null;
        return;
      }
      const joins = end !== null && bin.from - end < 1e-6;
      made += joins ? `V${y(value).toFixed(1)}` : `M${x(bin.from).toFixed(1)} ${y(value).toFixed(1)}`;
      made += `H${x(bin.to).toFixed(1)}`;
      end = bin.to;
    });
    return made;
  };

  /** @type {(values: (number | null)[]) => number | null} */
  const lastKnown = (values) => values.findLast((value) => value !== null) ?? null;

  class Plot {
    /**
     * The values of a line are one or null for each bin. `title` is that of the values' axis, `least` its begin, `begin` that of the time if it is not 0, `label`
     * says what is drawn, `ticks` are of the values. `onMove` gets where the cursor goes from where it is.
     * @param {StepPlotContent} content
     */
    constructor(content) {
      const { width, right } = size();
      this.width = width;
      this.right = right;
      this.title = content.title;
      this.label = content.label;
      this.lines = content.lines;
      this.height = content.height;
      this.least = content.least;
      this.format = content.format;
      this.bins = content.bins;
      this.ticks = content.ticks ?? Chart.ticks;
      this.onMove = content.onMove;
      const values = this.lines.flatMap((line) => line.values).filter((value) => value !== null);
      this.most = values.reduce((most, value) => Math.max(most, value), this.least);
      if (this.most === this.least) this.most = this.least + 1;
      this.end = this.bins[this.bins.length - 1].to;
      this.begin = content.begin ?? Math.min(0, this.bins[0].from);
      this.mark = Dom.svg('rect', { y: TOP, height: this.height - TOP - BOTTOM, class: 'column-mark' });
    }

    /** @param {number} seconds */
    x(seconds) {
      const part = (seconds - this.begin) / (this.end - this.begin || 1);
      return LEFT + part * (this.width - LEFT - this.right);
    }

    /** @param {number} value */
    y(value) {
      const part = (value - this.least) / (this.most - this.least);
      return this.height - BOTTOM - part * (this.height - TOP - BOTTOM);
    }

    axes() {
      const [right, bottom] = [this.width - this.right, this.height - BOTTOM];
      const count = narrow.matches ? 4 : 8;
      const values = new Set([this.least, ...this.ticks(this.least, this.most, this.height < 200 ? 2 : 5)]);
      return [
        [...values].map((value) => [
          Dom.svg('path', { d: `M${LEFT} ${this.y(value)}H${right}`, class: 'grid' }),
          Dom.svg('text', { x: LEFT - 8, y: this.y(value) + 4, class: 'tick end' }, this.format(value)),
        ]),
        Chart.ticks(this.begin, this.end, count).map((seconds) => [
          Dom.svg('path', { d: `M${this.x(seconds)} ${bottom}v4`, class: 'grid' }),
          Dom.svg(
            'text',
            { x: this.x(seconds), y: bottom + 16, class: 'tick middle' },
            String(Number(seconds.toPrecision(6))),
          ),
        ]),
        Dom.svg('text', { x: 0, y: 13, class: 'axis-title' }, this.title),
        Dom.svg('text', { x: right, y: this.height - 3, class: 'axis-title end' }, 'time since the beginning, s'),
      ];
    }

    /** Names at the ends of lines, moved apart; as many as there is room for. */
    labels() {
      if (narrow.matches) return [];
      const room = Math.floor((this.height - TOP - BOTTOM) / LABEL_HEIGHT);
      const ends = this.lines
        .slice(0, room)
        .map((line) => ({ line, at: this.y(lastKnown(line.values) ?? this.least) + 4 }));
      ends.sort((a, b) => a.at - b.at);
      let free = TOP + 4;
      ends.forEach((end) => {
        end.at = Math.max(end.at, free);
        free = end.at + LABEL_HEIGHT;
      });
      let lowest = this.height - BOTTOM - 2;
      [...ends].reverse().forEach((end) => {
        end.at = Math.min(end.at, lowest);
        lowest = end.at - LABEL_HEIGHT;
      });
      const names = Names.distinct(ends.map(({ line }) => line.name), LABEL_LENGTH);
      return ends.map(({ line, at }) =>
        Dom.svg(
          'text',
          { x: this.width - this.right + 8, y: at, class: `curve-label ${line.style}` },
          names.get(line.name),
        ),
      );
    }

    element() {
      const label = `${this.label}. Arrow keys move the cursor.`;
      const svg = Dom.svg(
        'svg',
        {
          viewBox: `0 0 ${this.width} ${this.height}`,
          role: 'img',
          'aria-label': label,
          tabindex: '0',
          class: 'steps',
        },
        this.mark,
        this.axes(),
        this.lines.map((line) =>
          Dom.svg(
            'path',
            { d: path(line.values, this.bins, (seconds) => this.x(seconds), (value) => this.y(value)), class: `curve ${line.style}` },
            Dom.svg('title', {}, line.name),
          ),
        ),
        this.labels(),
      );
      svg.addEventListener('pointermove', (event) => this.point(svg, event));
      // Bins that are narrower than a pixel are passed over.
      const step = Math.ceil(this.bins.length / this.width);
      Chart.onArrows(svg, (dx) => this.onMove((at) => at + dx * step));
      return svg;
    }

    /**
     * @param {SVGElement} svg
     * @param {PointerEvent} event
     */
    point(svg, event) {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * this.width;
      const found = this.bins.findIndex((bin) => this.x(bin.to) >= x);
      this.onMove(() => (found < 0 ? this.bins.length - 1 : found));
    }

    /**
     * Puts the cursor there.
     * @param {number} bin
     */
    show(bin) {
      const { from, to } = this.bins[bin];
      this.mark.setAttribute('x', String(this.x(from)));
      this.mark.setAttribute('width', String(Math.max(this.x(to) - this.x(from), 1.5)));
      this.mark.classList.add('here');
    }
  }

  /** @type {(content: StepPlotContent) => Plot} */
  const create = (content) => new Plot(content);

  return { create, narrow };
})();
