/** Maps of two traces, on one scale of time. */
const MapPair = (() => {
  /**
   * A figure for each of two traces, on one scale of time; none if one has no map.
   * @type {(first: Part, second: Part) => [Child, Child] | null}
   */
  const create = (first, second) => {
    const [before, after] = [MapLevels.tablesOf(first), MapLevels.tablesOf(second)];
    if (!before || !after) return null;
    const span = Math.max(...[before, after].flatMap(({ times }) => times.objects().map(MapLevels.lengthOf)));
    const [upper, lower] = [new MapChart.Map2D(before, null, span), new MapChart.Map2D(after, null, span)];
    [upper.peer, lower.peer] = [lower, upper];
    return [upper.element(), lower.element()];
  };

  return { create };
})();
