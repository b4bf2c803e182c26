/** What places access of the members of structures, in the chosen time and by the chosen threads. */
const LayoutSums = (() => {
  const listed = Data.table('places', 'place_members');

  /** Accesses to all of an object at once. */
  const WHOLE = '(all of it)';

  /** @type {(names: (row: { type: string, member: string }) => string) => Map<string, Set<number>>} */
  const placesBy = (names) => {
    /** @type {Map<string, Set<number>>} */
    const found = new Map();
    for (const row of listed?.objects() ?? []) {
      const places = found.get(names(row)) ?? new Set();
      found.set(names(row), places.add(row.place));
    }
    return found;
  };

  /** @type {(type: string, member: string) => string} */
  const keyOf = (type, member) => `${type}\n${member}`;

  const ofMembers = placesBy(({ type, member }) => keyOf(type, member));
  const ofTypes = placesBy(({ type }) => type);

  /** @type {(places: Set<number> | undefined) => number[]} */
  const sum = (places) => Places.sum([...(places ?? [])].map((number) => Places.all[number]));

  /** The numbers of a member, in the order of `Places.measures`. @type {(type: string, member: string) => number[]} */
  const ofMember = (type, member) => sum(ofMembers.get(keyOf(type, member)));

  /** The numbers of each structure, in which an access to several members counts once. @type {() => Map<string, number[]>} */
  const byType = () => new Map([...ofTypes].map(([type, places]) => [type, sum(places)]));

  /** Whether the page can tell what is chosen of them. */
  const isKnown = listed !== undefined;

  /** Whether some of what is accessed is among the places that aren't listed one by one. */
  const isCut = Places.all.some(({ keys }) => keys.field === '(others)');

  return { ofMember, byType, isKnown, isCut, WHOLE };
})();
