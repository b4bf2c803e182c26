/** Draws the page. */
(() => {
  const header = () => {
    const recording = Data.table('info', 'recording')?.record() ?? {};
    const facts = [recording.command, recording.started, recording.host, recording.cpu_model].filter(Boolean);
    return [
      Dom.element('h1', {}, Text.visible(Data.page.title)),
      Dom.element('p', {}, facts.map((fact) => Dom.element('span', {}, Text.visible(fact)))),
    ];
  };

  const warnings = () => {
    const texts = new Set(Data.parts.flatMap((part) => part.warnings));
    if (texts.size === 0) return [];
    return Dom.element(
      'section',
      { class: 'warnings', 'aria-label': 'Warnings' },
      Dom.element('ul', {}, [...texts].map((text) => Dom.element('li', {}, Dom.element('strong', {}, 'Warning: '), Text.visible(text)))),
    );
  };

  const contents = (sections) =>
    Dom.element('ul', {}, sections.map(({ id, title }) => Dom.element('li', {}, Dom.element('a', { href: `#${id}` }, Text.visible(title)))));

  /** On paper nothing can be opened. */
  const openForPrint = () =>
    document.querySelectorAll('details').forEach((details) => {
      details.open = true;
    });

  const place = (id, content) => document.getElementById(id).append(...[content].flat(Infinity));

  const draw = () => {
    document.title = `${Text.visible(Data.page.title)} – Trackway`;
    const sections = Sections.create();
    place('header', header());
    place('contents', contents(sections));
    place('main', [warnings(), sections.map(({ element }) => element)]);
    place('footer', [Dom.element('p', {}, `Made by ${Text.visible(Data.page.generator)}. docs/analyses.md defines each number.`)]);
    addEventListener('beforeprint', openForPrint);
    performance.mark('trackway-drawn');
  };

  draw();
})();
