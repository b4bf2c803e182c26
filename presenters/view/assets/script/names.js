/** Names of programs, shortened where they say nothing: the whole name is in the title. */
const Names = (() => {
  const MOST = 96;
  /** Letters of a name that stand before what tells it from others. */
  const HEAD = 6;
  /** Folders of an absolute path that a name holds, as those of memory do. */
  const FOLDERS = /(?<![\w.~-])\/(?:[^\s/:,;()]+\/)+/g;

  /**
   * Without anonymous namespaces, with the arguments of templates left out if they are long.
   * @type {(name: unknown) => string}
   */
  const short = (name) => {
    const plain = Texts.visible(name).trim().replaceAll('(anonymous namespace)::', '').replace(FOLDERS, '');
    return plain.length > MOST ? withoutArguments(plain) : plain;
  };

  /**
   * `a<b<c>, d>::e` becomes `a<…>::e`; comparisons in names are left alone.
   * @type {(name: string) => string}
   */
  const withoutArguments = (name) => {
    let made = '';
    let depth = 0;
    for (let at = 0; at < name.length; at += 1) {
      const letter = name[at];
      const isOperator = /operator[<>=-]*$/.test(name.slice(Math.max(0, at - 12), at));
      if (letter === '<' && !isOperator) {
        if (depth === 0) made += '<…>';
        depth += 1;
      } else if (letter === '>' && !isOperator && depth > 0) {
        depth -= 1;
      } else if (depth === 0) {
        made += letter;
      }
    }
    return Texts.abridged(depth === 0 ? made : name, MOST);
  };

  /**
   * Names, each cut to a length, so that different names have different labels: where their begins and ends are alike, the
   * label has what stands where they differ.
   * @type {(names: string[], length: number) => Map<string, string>}
   */
  const distinct = (names, length) => {
    /** @type {Map<string, string[]>} */
    const alike = new Map();
    for (const name of new Set(names)) {
      const label = Texts.abridged(short(name), length);
      alike.set(label, [...(alike.get(label) ?? []), name]);
    }
    return new Map([...alike].flatMap(([label, group]) => (group.length === 1 ? [[group[0], label]] : apart(group, length))));
  };

  /** Labels of names that begin and end alike. @type {(names: string[], length: number) => [string, string][]} */
  const apart = (names, length) => {
    const texts = names.map((name) => Texts.visible(name).trim());
    const longest = Math.max(...texts.map((text) => text.length));
    let same = 0;
    while (same < longest && texts.every((text) => text[same] === texts[0][same])) same += 1;
    const begin = Math.max(0, same - 2);
    const labels = texts.map((text) => Texts.shortened(begin > HEAD ? `${text.slice(0, HEAD)}…${text.slice(begin)}` : text, length));
    // What differs once more, and farther on, is told apart by a number.
    return names.map((name, at) => {
      const isRepeated = labels.indexOf(labels[at]) !== at;
      return [name, isRepeated ? `${labels[at].slice(0, length - 3)} ${at + 1}` : labels[at]];
    });
  };

  /**
   * A path without the folders that lead to its own.
   * @type {(path: string) => string}
   */
  const path = (path) => {
    const parts = path.split('/');
    return parts.length > 3 && path.startsWith('/') ? `…/${parts.slice(-2).join('/')}` : path;
  };

  /**
   * A name as code, whose title is the whole name if it is shortened.
   * @type {(name: unknown) => HTMLElement}
   */
  const code = (name) => {
    const whole = Texts.visible(name).trim();
    const shown = short(name);
    return Dom.element('code', { title: shown === whole ? null : whole }, shown);
  };

  /**
   * A sentence in which names of files and of anonymous namespaces are short.
   * @type {(text: unknown) => string}
   */
  const sentence = (text) => Texts.visible(text).replaceAll('(anonymous namespace)::', '').replace(FOLDERS, '');

  /**
   * A name that goes on in the next line after a sign, where a narrow column has no room for it.
   * @type {(name: string) => Child}
   */
  const breakable = (name) => broken(name, /(?<=[.:_,>[{|])(?=\w)/);

  /** A path that goes on in the next line after a folder. @type {(path: string) => Child} */
  const breakablePath = (path) => broken(path, /(?<=\/)/);

  /** @type {(text: string, where: RegExp) => Child} */
  const broken = (text, where) => text.split(where).flatMap((part, at) => (at === 0 ? [part] : [Dom.element('wbr'), part]));

  return { short, distinct, path, code, sentence, breakable, breakablePath };
})();
