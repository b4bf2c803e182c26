/** The choice of time and threads, above all parts. */
const ChosenBar = (() => {
  const MOST_THREADS = 64;

  /** @type {() => HTMLElement} */
  const threads = () => {
    const shown = Places.streams.slice(0, MOST_THREADS);
    const boxes = shown.map((stream) => {
      const box = Dom.element('input', { type: 'checkbox', checked: true, value: stream });
      box.addEventListener('change', () => {
        const chosen = boxes.filter(({ input }) => input.checked).map(({ stream: number }) => number);
        Chosen.choose({ streams: chosen.length === shown.length ? null : chosen });
      });
      return { stream, input: box };
    });
    Chosen.onChange(() => {
      const { streams } = Chosen.now();
      for (const { stream, input } of boxes) input.checked = streams === null || streams.includes(stream);
    });
    return Dom.element(
      'fieldset',
      { class: 'choices' },
      Dom.element('legend', {}, 'Threads'),
      boxes.map(({ stream, input }) => Dom.element('label', {}, input, `thread ${stream}`)),
    );
  };

  /**
   * Says, while something is chosen, what a part shows of it, and which command answers for the slice alone, if one does.
   * @type {(text: () => string, verb: string | null) => HTMLElement}
   */
  const note = (text, verb) => {
    const made = Dom.element('p', { class: 'whole-note' });
    const tell = () => {
      made.hidden = Chosen.isAll();
      const command = verb === null ? [] : [' To ask for the slice: ', Dom.element('code', {}, `trackway ${verb} ${Chosen.options()} ${Data.trace}`)];
      made.replaceChildren(text(), ...command);
    };
    tell();
    Chosen.onChange(tell, made);
    return made;
  };

  /**
   * Of a part that can't be summed anew.
   * @type {(verb?: string | null) => HTMLElement}
   */
  const wholeNote = (verb = 'report') => note(() => 'This part shows the whole trace, whatever time and threads are chosen.', verb);

  /** Instead of numbers, where the choice leaves none. */
  const emptyNote = (of = '') => Dom.element('p', { class: 'status' }, `The chosen time and threads hold no accesses${of}.`);

  /** @type {() => string} */
  const words = () => {
    const { streams } = Chosen.now();
    const [from, to] = Chosen.times();
    const time = `${Numbers.duration(from)} to ${Numbers.duration(to)}`;
    const of = streams === null ? 'all threads' : `thread ${streams.join(', ')}`;
    const lack = Places.isCut ? ' Sums lack the least accessed places, for which this page has no room.' : '';
    if (Chosen.isAll()) return 'All of the recording, all threads.';
    if (Places.isNothing()) return `Chosen: ${time}, ${of}. This part holds no accesses.`;
    return `Chosen: ${time}, ${of}. The page shows this part, but for what says that it is of the whole trace.${lack}`;
  };

  /** None if the page holds no places, or nothing could be chosen. */
  const create = () => {
    if (Chosen.bins < 2 && Places.streams.length < 2) return null;
    const { bins } = Places.overTime();
    const status = Dom.element('span', { role: 'status' }, words());
    const clear = Dom.button('Show all', Chosen.clear);
    clear.hidden = Chosen.isAll();
    Chosen.onChange(() => {
      status.textContent = words();
      clear.hidden = Chosen.isAll();
    });
    const bars = Chosen.bins > 1 ? TimeBars.create(bins.map((sums) => sums[Places.ranking] || 0), Places.measures[Places.ranking].title) : null;
    return Dom.element(
      'details',
      { class: 'selection' },
      Dom.element('summary', {}, 'Time and threads: ', status),
      bars,
      Places.streams.length > 1 ? threads() : null,
      clear,
    );
  };

  return { create, wholeNote, note, emptyNote };
})();
