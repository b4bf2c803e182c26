/**
 * The address of the page says what is shown, so that it can be sent: `#field=arc.ident&time=3-9&threads=0,2` is a field in a
 * part of time, `#part-map` a section. What the selection adds is kept when another view is opened.
 */
const Router = (() => {
  const KINDS = ['field', 'variable', 'type', 'function', 'line', 'file'];

  /** @type {(fragment: string) => URLSearchParams} */
  const parse = (fragment) => new URLSearchParams(fragment.replace(/^#/, ''));

  /**
   * The fragment for something by its kind and name.
   * @type {(kind: string, name: string) => string}
   */
  const fragment = (kind, name) => {
    const made = new URLSearchParams([[kind, name], ...Chosen.parameters()]);
    return `#${made}`;
  };

  /** What is open: a kind and a name. @type {() => [string, string] | null} */
  const entity = () => {
    const found = parse(location.hash);
    for (const kind of KINDS) {
      const name = found.get(kind);
      if (name) return [kind, name];
    }
    return null;
  };

  /** @type {() => string} */
  const section = () => [...parse(location.hash)].find(([key, value]) => value === '' && document.getElementById(key))?.[0] ?? '';

  /** Puts the selection into the address, without a step back. */
  const write = () => {
    const open = entity();
    /** @type {[string, string][]} */
    const first = open ? [open] : [];
    const own = new URLSearchParams([...first, ...Chosen.parameters()]).toString();
    const at = open ? '' : section();
    const next = [at, own].filter(Boolean).join('&');
    if (`#${next}` !== location.hash) history.replaceState(null, '', next ? `#${next}` : '#');
  };

  const follow = () => {
    Chosen.restore(parse(location.hash));
    const open = entity();
    Entity.show(open);
    if (!open) {
      const target = section();
      if (target) document.getElementById(target)?.scrollIntoView();
    }
    write();
  };

  const start = () => {
    addEventListener('hashchange', follow);
    Chosen.onChange(write);
    if (location.hash) follow();
  };

  /**
   * Back to all sections, at one of them.
   * @type {(target?: string) => void}
   */
  const leave = (target = 'overview') => {
    if (entity()) {
      const chosen = new URLSearchParams(Chosen.parameters()).toString();
      // A new hash would scroll once more, and that after a caller which goes on to a place within the section.
      history.pushState(null, '', `#${[target, chosen].filter(Boolean).join('&')}`);
      Entity.show(null);
      document.getElementById(target)?.scrollIntoView();
    }
  };

  return { fragment, start, leave };
})();
