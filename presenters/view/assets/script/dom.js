/** Builds elements. Texts become text nodes; nothing is ever parsed as HTML. */
const Dom = (() => {
  const SVG = 'http://www.w3.org/2000/svg';

  /**
   * The nodes and texts of nested content, in order, without what is missing.
   * @type {(content: Child) => (Node | string)[]}
   */
  const nodesOf = (content) => {
    if (Array.isArray(content)) return content.flatMap(nodesOf);
    return content === null || content === undefined ? [] : [content];
  };

  /**
   * @template {Element} E
   * @param {E} made
   * @param {Attributes} attributes
   * @param {Child[]} children
   */
  const fill = (made, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === 'function') made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? '' : String(value));
    }
    made.append(...nodesOf(children));
    return made;
  };

  /**
   * @template {keyof HTMLElementTagNameMap} K
   * @param {K} name
   * @param {Attributes} attributes
   * @param {Child[]} children
   */
  const element = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

  /**
   * @template {keyof SVGElementTagNameMap} K
   * @param {K} name
   * @param {Attributes} attributes
   * @param {Child[]} children
   */
  const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

  /**
   * Content that costs time is made when it is first asked for.
   * @param {string} summary
   * @param {() => Node} make
   */
  const details = (summary, make, open = false) => {
    const made = element('details', {}, element('summary', {}, summary));
    let filled = false;
    const fillOnce = () => {
      if (!filled && made.open) {
        filled = true;
        made.append(make());
      }
    };
    made.addEventListener('toggle', fillOnce);
    made.open = open;
    fillOnce();
    return made;
  };

  /**
   * @param {string} label
   * @param {(event: Event) => void} onclick
   * @param {Attributes} attributes
   */
  const button = (label, onclick, attributes = {}) => element('button', { type: 'button', onclick, ...attributes }, label);

  /**
   * A length of the style as a variable: style attributes are forbidden by the page's policy, this is not.
   * @template {HTMLElement | SVGElement} E
   * @param {E} made
   * @param {Record<string, string | number>} variables
   */
  const withVariables = (made, variables) => {
    for (const [name, value] of Object.entries(variables)) made.style.setProperty(name, String(value));
    return made;
  };

  /** @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D} */
  const contextOf = (canvas) => {
    const context = canvas.getContext('2d');
    if (!context) throw new Error('This browser does not draw on canvas elements.');
    return context;
  };

  return { nodesOf, element, svg, details, button, withVariables, contextOf };
})();
