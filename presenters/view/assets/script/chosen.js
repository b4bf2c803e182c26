/** One range of time and one set of threads for all parts of the page that can be summed anew. */
const Chosen = (() => {
  /** @typedef {{ first: number, last: number, streams: number[] | null }} Range */

  const axis = Data.table('places', 'moment_axis')?.record();
  const bins = axis?.bins ?? 0;

  /** All bins and all threads: nothing is chosen. @type {Range} */
  let chosen = { first: 0, last: bins - 1, streams: null };
  /** @type {{ listen: () => void, of: Element | null, wasShown: boolean }[]} */
  let listeners = [];

  /** @type {() => boolean} */
  const isAllTime = () => chosen.first <= 0 && chosen.last >= bins - 1;

  /** @type {() => boolean} */
  const isAll = () => isAllTime() && chosen.streams === null;

  /** @type {(next: Partial<Range>) => void} */
  const choose = (next) => {
    const made = { ...chosen, ...next };
    const first = Chart.clamp(Math.min(made.first, made.last), 0, bins - 1);
    const last = Chart.clamp(Math.max(made.first, made.last), 0, bins - 1);
    const same = first === chosen.first && last === chosen.last && String(made.streams) === String(chosen.streams);
    if (same || bins === 0) return;
    chosen = { first, last, streams: made.streams };
    for (const one of listeners) one.wasShown ||= one.of?.isConnected ?? false;
    // What has left the page hears of nothing any more.
    listeners = listeners.filter(({ of, wasShown }) => !of || !wasShown || of.isConnected);
    for (const { listen } of listeners) listen();
  };

  const clear = () => choose({ first: 0, last: bins - 1, streams: null });

  /**
   * Calls after each change, as long as the element is part of the page.
   * @type {(listen: () => void, of?: Element | null) => void}
   */
  const onChange = (listen, of = null) => {
    listeners.push({ listen, of, wasShown: false });
  };

  /**
   * What is made anew after each change, as long as it is part of the page.
   * @type {(make: () => Child) => HTMLElement}
   */
  const redrawn = (make) => {
    const place = Dom.element('div', { class: 'redrawn' });
    const draw = () => place.replaceChildren(...Dom.nodesOf(make()));
    draw();
    onChange(draw, place);
    return place;
  };

  /** @type {(stream: number) => boolean} */
  const holdsStream = (stream) => chosen.streams === null || chosen.streams.includes(stream);

  /** @type {(stream: number, bin: number) => boolean} */
  const holds = (stream, bin) => bin >= chosen.first && bin <= chosen.last && holdsStream(stream);

  /**
   * From and to, in nanoseconds since the beginning of the recording.
   * @type {() => [number, number]}
   */
  const times = () => {
    const { first_ns: first, bin_ns: width } = axis ?? { first_ns: 0, bin_ns: 0 };
    return [first + chosen.first * width, first + (chosen.last + 1) * width];
  };

  /**
   * As options of verbs.
   * @type {() => string}
   */
  const options = () => {
    const [from, to] = times();
    const time = chosen.first > 0 || chosen.last < bins - 1 ? [`--from ${Math.round(from)}ns`, `--to ${Math.round(to)}ns`] : [];
    const threads = (chosen.streams ?? []).map((stream) => `--thread ${stream}`);
    return [...time, ...threads].join(' ');
  };

  /**
   * For the address of the page.
   * @type {() => [string, string][]}
   */
  const parameters = () => {
    /** @type {[string, string][]} */
    const made = [];
    if (chosen.first > 0 || chosen.last < bins - 1) made.push(['time', `${chosen.first}-${chosen.last}`]);
    if (chosen.streams !== null) made.push(['threads', chosen.streams.join(',')]);
    return made;
  };

  /**
   * What an address says; other parameters are left alone.
   * @type {(found: URLSearchParams) => void}
   */
  const restore = (found) => {
    const range = /^(\d+)-(\d+)$/.exec(found.get('time') ?? '');
    const threads = found.get('threads');
    if (range) choose({ first: Number(range[1]), last: Number(range[2]) });
    if (threads !== null) choose({ streams: threads.split(',').map(Number).filter(Number.isInteger) });
  };

  /** @type {() => Range} */
  const now = () => chosen;

  return { bins, axis, now, isAll, isAllTime, choose, clear, onChange, redrawn, holds, holdsStream, times, options, parameters, restore };
})();
