/** A small chart of counts over the bins of time, in which a range can be chosen by pointer and by keys. */
const TimeBars = (() => {
  const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [896, 96, 56, 34, 8];

  /** @type {(bin: number) => number} */
  const x = (bin) => LEFT + (bin / Math.max(Chosen.bins, 1)) * (WIDTH - LEFT - 8);

  /** @type {(bin: number) => number} */
  const timeOf = (bin) => (Chosen.axis?.first_ns ?? 0) + bin * (Chosen.axis?.bin_ns ?? 0);

  /** @type {(largest: number, title: string) => Child[]} */
  const axes = (largest, title) => [
    Dom.svg('text', { x: LEFT - 6, y: TOP + 9, class: 'tick end' }, Numbers.short(largest)),
    Dom.svg('text', { x: LEFT - 6, y: HEIGHT - BOTTOM, class: 'tick end' }, '0'),
    Chart.ticks(timeOf(0), timeOf(Chosen.bins), 6).map((time) => {
      const bin = (time - timeOf(0)) / (Chosen.axis?.bin_ns || 1);
      return Dom.svg('text', { x: Chart.clamp(x(bin), LEFT + 10, WIDTH - 30), y: HEIGHT - BOTTOM + 14, class: 'tick middle' }, Numbers.duration(time));
    }),
    Dom.svg(
      'text',
      { x: LEFT, y: HEIGHT - 4, class: 'axis-title' },
      `time since the beginning; height: ${Texts.visible(title)} in ${Numbers.duration(Chosen.axis?.bin_ns ?? 0)}`,
    ),
  ];

  /**
   * Bars of counts; the chosen range is drawn over them.
   * @type {(counts: number[], title: string) => HTMLElement}
   */
  const create = (counts, title) => {
    const largest = Math.max(1, ...counts);
    const bars = counts.map((count, bin) => {
      const height = count > 0 ? Math.max(1, (count / largest) * (HEIGHT - BOTTOM - TOP)) : 0;
      const width = Math.max(0.5, x(1) - x(0) - 0.5);
      return Dom.svg('rect', { x: x(bin), y: HEIGHT - BOTTOM - height, width, height, class: 'area' });
    });
    const chosen = Dom.svg('rect', { y: TOP - 4, height: HEIGHT - BOTTOM - TOP + 4, class: 'chosen' });
    const svg = Dom.svg(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, tabindex: '0', class: 'time-bars', role: 'img' },
      axes(largest, title),
      bars,
      chosen,
    );
    svg.setAttribute('aria-label', `${Texts.visible(title)} over time. Drag to choose a range; with the keyboard, arrows move it, shift and arrows change its end, escape shows all.`);
    const mark = () => {
      const { first, last } = Chosen.now();
      const isAll = first === 0 && last === Chosen.bins - 1;
      chosen.setAttribute('x', String(x(first)));
      chosen.setAttribute('width', String(isAll ? 0 : x(last + 1) - x(first)));
    };
    mark();
    Chosen.onChange(mark, svg);
    listen(svg);
    return Dom.element('div', { class: 'drawing' }, svg);
  };

  /** @type {(svg: SVGSVGElement) => void} */
  const listen = (svg) => {
    /** @type {(event: PointerEvent) => number} */
    const binAt = (event) => {
      const box = svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * WIDTH;
      return Chart.clamp(Math.floor(((at - LEFT) / (WIDTH - LEFT - 8)) * Chosen.bins), 0, Chosen.bins - 1);
    };
    /** @type {number | null} */
    let from = null;
    svg.addEventListener('pointerdown', (event) => {
      from = binAt(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener('pointerup', (event) => {
      if (from !== null) Chosen.choose({ first: from, last: binAt(event) });
      from = null;
    });
    svg.addEventListener('keydown', (event) => {
      const { first, last } = Chosen.now();
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === 'Escape') Chosen.clear();
      else if (by === undefined) return;
      else if (event.shiftKey) Chosen.choose({ last: Math.max(first, last + by) });
      else if (last - first === Chosen.bins - 1) Chosen.choose({ first: 0, last: 0 });
      else Chosen.choose({ first: first + by, last: last + by });
      event.preventDefault();
    });
  };

  return { create };
})();
