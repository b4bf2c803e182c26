/** The choice of time and threads, above all parts. */
const SelectionBar = (() => {
  const MOST_THREADS = 64;

  /** @type {() => HTMLElement} */
  const threads = () => {
    const shown = Places.streams.slice(0, MOST_THREADS);
    const boxes = shown.map((stream) => {
      const box = Dom.element('input', { type: 'checkbox', checked: true, value: stream });
      box.addEventListener('change', () => {
        const chosen = boxes.filter(({ input }) => input.checked).map(({ stream: number }) => number);
        Selection.choose({ streams: chosen.length === shown.length ? null : chosen });
      });
      return { stream, input: box };
    });
    Selection.onChange(() => {
      const { streams } = Selection.now();
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
   * Says of a part that can't be summed anew that it shows all.
   * @type {(verb?: string) => HTMLElement}
   */
  const wholeNote = (verb = 'report') => {
    const note = Dom.element('p', { class: 'whole-note' });
    const tell = () => {
      note.hidden = Selection.isAll();
      note.replaceChildren(
        'This part shows the whole trace, whatever time and threads are chosen. Of the chosen ones: ',
        Dom.element('code', {}, `trackway ${verb} ${Selection.options()} TRACE`),
      );
    };
    tell();
    Selection.onChange(tell, note);
    return note;
  };

  /** @type {() => string} */
  const words = () => {
    const { streams } = Selection.now();
    const [from, to] = Selection.times();
    const time = `${Numbers.duration(from)} to ${Numbers.duration(to)}`;
    const of = streams === null ? 'all threads' : `thread ${streams.join(', ')}`;
    return Selection.isAll() ? 'All of the recording, all threads.' : `Chosen: ${time}, ${of}. Tables of offenders, source and single views are sums of this part.`;
  };

  /** None if the page holds no places, or nothing could be chosen. */
  const create = () => {
    if (Selection.bins < 2 && Places.streams.length < 2) return null;
    const { bins } = Places.overTime();
    const status = Dom.element('span', { role: 'status' }, words());
    const clear = Dom.button('Show all', Selection.clear);
    clear.hidden = Selection.isAll();
    Selection.onChange(() => {
      status.textContent = words();
      clear.hidden = Selection.isAll();
    });
    const bars = Selection.bins > 1 ? TimeBars.create(bins.map((sums) => sums[Places.ranking] || 0), Places.measures[Places.ranking].title) : null;
    return Dom.element(
      'details',
      { class: 'selection' },
      Dom.element('summary', {}, 'Time and threads: ', status),
      bars,
      Places.streams.length > 1 ? threads() : null,
      clear,
    );
  };

  return { create, wholeNote };
})();
