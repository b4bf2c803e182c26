/** Draws the page. */
(() => {
  const header = () => {
    const recording = Data.record('info', 'recording');
    const facts = [recording.command, recording.started, recording.host, recording.cpu_model].filter(Boolean);
    return [
      Dom.element('div', { class: 'head' }, Dom.element('h1', {}, Texts.visible(Data.page.title)), Search.create()),
      Dom.element('p', {}, facts.map((fact) => Dom.element('span', {}, Texts.visible(fact)))),
    ];
  };

  /** @type {(sections: { id: string, title: string }[]) => HTMLElement} */
  const contents = (sections) =>
    Dom.element('ul', {}, sections.map(({ id, title }) => Dom.element('li', {}, Dom.element('a', { href: `#${id}` }, Texts.visible(title)))));

  /** On paper nothing can be opened. */
  const openForPrint = () =>
    document.querySelectorAll('details').forEach((details) => {
      details.open = true;
    });

  /** @type {(id: string, content: Child) => void} */
  const place = (id, content) => document.getElementById(id)?.append(...Dom.nodesOf(content));

  const draw = () => {
    document.title = `${Texts.visible(Data.page.title)} – Trackway`;
    const sections = Sections.create();
    place('header', header());
    place('contents', contents(sections));
    place('main', [Audit.warnings(), ChosenBar.create(), Entity.create(), sections.map(({ element }) => element)]);
    place('footer', [Dom.element('p', {}, `Made by ${Texts.visible(Data.page.generator)}. docs/analyses.md defines each number.`)]);
    addEventListener('beforeprint', openForPrint);
    Router.start();
    performance.mark('trackway-drawn');
  };

  draw();
})();
