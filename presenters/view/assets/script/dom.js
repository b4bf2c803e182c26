/** Builds elements. Texts become text nodes; nothing is ever parsed as HTML. */
const Dom = (() => {
  const SVG = 'http://www.w3.org/2000/svg';

  const fill = (made, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? '' : value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return made;
  };

  const element = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

  const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

  /** Content that costs time is made when it is first asked for. */
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

  const button = (label, onclick, attributes = {}) => element('button', { type: 'button', onclick, ...attributes }, label);

  /** A length of the style as a variable: style attributes are forbidden by the page's policy, this is not. */
  const withVariables = (made, variables) => {
    for (const [name, value] of Object.entries(variables)) made.style.setProperty(name, String(value));
    return made;
  };

  return { element, svg, details, button, withVariables };
})();
