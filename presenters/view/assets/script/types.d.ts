/**
 * Types for the check of the scripts (`tsc`, see tsconfig.json); no part of the page.
 *
 * The page's data are what `src/page.rs`, `src/compact.rs` and `src/suspects.rs` write as JSON. The rows of tables are those
 * that the scripts read: a column that may be unknown is `null`, one that not every table has is optional.
 */

type Cell = string | number | null;
type Cells = Record<string, Cell>;

/** Units of `report/src/table/unit.rs`; `duration`, in nanoseconds, is the page's own. */
type Unit = 'text' | 'path' | 'source' | 'count' | 'bytes' | 'number' | 'share' | 'rate' | 'change' | 'ratio' | 'duration';

type Column = { name: string; title: string; unit: Unit };

type RawTable = {
  name: string;
  title: string;
  layout: 'rows' | 'record';
  columns: Column[];
  rows: Cell[][];
  row_count: number;
  /** How many rows there were before the table was cut to the top. */
  total_rows?: number;
};

type RawPart = { name: string; title: string; answer: string; warnings: string[]; tables: RawTable[] };

type Stretch = { first_line: number; lines: string[] };

type Suspect = { part: string; name: string; share: number; sentence: string; file: string | null; line: number | null };

/** A number of the overview, and what to compare it with. */
type Tile = [title: string, number: string, detail: string];

type PageData = {
  format: number;
  title: string;
  generator: string;
  trace?: string;
  rank_by: string;
  terms?: { term: string; text: string }[];
  suspects: Suspect[];
  parts: RawPart[];
  /** What is shown of the first of two compared traces. */
  first?: RawPart[];
  sources: { file: string; stretches: Stretch[] }[];
};

type Table<R = Cells> = InstanceType<typeof Data.Table<R>>;
type Part = Omit<RawPart, 'tables'> & { tables: Table[] };

/** Tables that scripts ask for by the names of their part and their own, by what a row has. */
type NamedTables = {
  misses: {
    caches: { level: number; size_bytes: number; line_bytes: number; misses: number; miss_ratio: number | null; reached: number };
    trace: {
      complete: string;
      gaps: number;
      dropped_buffers: number;
      damaged_parts: number;
      uncertain_accesses: number;
      accesses: number;
      streams: number;
    };
    attribution: { bytes: number; with_line: number | null; with_variable_or_field: number | null };
    memory_traffic: { bytes_read: number; bytes_written: number };
  };
  sharing: {
    sharing: { read_hand_overs: number; write_hand_overs: number; handed_over: number };
    order: { backward_points: number };
    thread_pairs: ThreadPair;
    shared_lines: SharedLine;
    fields: Cells;
    lines: Cells;
    field_moments: Transfers;
    line_moments: Transfers;
    pair_moments: Transfers;
    shared_line_moments: Transfers;
  };
  places: {
    places: Cells;
    place_moments: Cells;
    moment_axis: { bins: number; bin_ns: number; first_ns: number; folded_share: number };
    place_paths: Cells;
    path_moments: Cells;
    place_members: { place: number; type: string; member: string };
    path_nodes: { node: number; parent: number; function: string; inlined: string; cycles?: number | null };
  };
  /** Columns `from_*` have the references of distances from so many lines on, up to twice that. */
  reuse: {
    reuse: { line_bytes: number };
    fields: Cells;
    reuse_moments: { stream: number; bin: number; references: number; cold: number };
    field_reuse_moments: { row: number; stream: number; bin: number; accesses: number; references: number; cold: number };
  };
  map: {
    owners: Cells;
    owner_moments: { row: number; stream: number; bin: number; reads: number; writes: number };
    site_owners: SiteOwner;
    site_owner_moments: { row: number; stream: number; bin: number; accesses: number };
  };
  memory: {
    allocations: Cells;
    allocation_moments: { row: number; stream: number; bin: number; allocations: number; allocated_bytes: number; ended_bytes: number };
  };
  activity: { activity: ActivityStep; activity_axis: ActivityAxis; gaps: Gap };
  info: {
    recording: { command: string; started: string; host: string; cpu_model: string; duration: string; reason: string };
    instrumentation: { recorded_share: number | null };
  };
  regions: {
    regions: RegionRow;
    counts: {
      damaged_parts: number;
      uncounted: number;
      open: number;
      below_zero: number;
      threads: number;
      time_ns: number;
      outside: number | null;
    };
  };
  objects: { sampled: { samples: number; lost: number; memory: number | null; no_access: number | null; no_address: number | null } };
  samples: { sampling: { threads: number; unattributed: number } };
};

/** The most memory that was live at once in a part of time. */
type LivePoint = { from_ns: number; width_ns: number; most_blocks: number; most_bytes: number };

/** The memory that is accessed by a field, variable and type. */
type SiteOwner = { field: string; variable: string; type: string; memory: string; kind: string; accesses: number };

/** Of a row of another table, or from a thread: what a thread took in a bin of time. */
type Transfers = { to_stream: number; bin: number; read_hand_overs: number; write_hand_overs: number };
type ThreadPair = { from_stream: number; to_stream: number; read_hand_overs: number; write_hand_overs: number };
type SharedLine = {
  process: number;
  line_address: string;
  field: string;
  to_stream: number;
  read_hand_overs: number;
  write_hand_overs: number;
};

type ActivityStep = { stream: number; time_bin: number; accesses: number };
type ActivityAxis = { bins: number; bin_ns: number; first_us: number };
type Gap = { stream: number; first_us: number | null; last_us: number | null; dropped_buffers: number; reason: string };

type RegionRow = {
  region: string;
  threads: number;
  entries: number;
  time_ns: number;
  own_time_ns: number;
  bytes_read: number | null;
  bytes_written: number | null;
  time_imbalance: number | null;
  bytes_imbalance?: number | null;
  read_mb_per_s?: number | null;
  write_mb_per_s?: number | null;
  raw_read_mb_per_s: number | null;
  raw_write_mb_per_s?: number | null;
  rate_by?: string | null;
};
type RegionThread = { region: string; stream: number; thread: number; time_ns: number; bytes_read: number; bytes_written: number };
type Imbalances = { region: string; bytes_imbalance: number | null; time_imbalance: number | null };
type AccessSize = { region: string; size_bytes: number; reads: number; writes: number };

/** What the lines of a series are drawn from; not every table has every measure. */
type SeriesRow = {
  time_s: number;
  interval_s: number;
  region: string;
  own_time_ns: number;
  read_mb_per_s?: number | null;
  write_mb_per_s?: number | null;
  entries_per_s?: number | null;
  time_share?: number | null;
  time_imbalance?: number | null;
  bytes_imbalance?: number | null;
};
type SeriesSum = SeriesRow & { threads: number };
type SeriesThread = SeriesRow & { stream: number; thread: number };
type SeriesColumn = 'read_mb_per_s' | 'write_mb_per_s' | 'entries_per_s' | 'time_share' | 'time_imbalance' | 'bytes_imbalance';

type LayoutField = { type: string; field: string; offset: number; size: number; accesses: number; misses?: number | null };
type CurvePoint = { group: string; size_bytes: number; miss_ratio: number | null };

type MapCells = { level: number; time_bin: number; address_bin: number; stream?: number; reads: number; writes: number; misses?: number };
type MapTimes = { level: number; time_bins: number; first_ns: number; bin_ns: number };
type MapAddresses = {
  level: number;
  address_bin: number;
  first_address: number;
  size_bytes: number;
  name?: string | null;
  /** The row of the finest level where the bin begins. */
  first_row?: number;
};

type MapTables = { cells: Table<MapCells>; times: Table<MapTimes>; addresses: Table<MapAddresses> };
type MapCell = Omit<MapCells, 'level' | 'stream'>;
/** Successive bins of addresses of one name. */
type MapStretch = { name: string; suffix: string; bin: number; end: number };
/** One resolution: its cells by place, and its scales. */
type MapLevel = MapTimes & {
  cells: Map<number, MapCell>;
  addresses: MapAddresses[];
  addressBins: number;
  width: number;
  edges: number[];
  stretches?: MapStretch[];
};
/** What is in view, in parts of the whole map. */
type MapWindow = { x0: number; x1: number; y0: number; y1: number };

type SpotRow = {
  time_bin: number;
  process: number;
  thread: number;
  memory: number;
  address: number | null;
  loads: number;
  stores: number;
  weight: number;
};
type SpotScale = { time_bins: number; first_ns: number; bin_ns: number; granule_bytes: number; weight_unit: string };
type SpotMemory = {
  memory: number;
  kind: string;
  label: string | null;
  data_type: string | null;
  peak_bytes: number | null;
  samples: number;
  share: number | null;
};

/** What can be put into an element. */
type Child = Node | string | null | undefined | Child[];
type Attribute = string | number | boolean | null | undefined | ((event: Event) => void);
type Attributes = Record<string, Attribute>;

/** Draws tables that have its columns, and along with them those that have the columns of a companion. */
interface ChartKind {
  COLUMNS: string[];
  COMPANIONS?: string[][];
  create(table: Table, part: Part): Child;
}

/** `terms` are the words of its numbers with their explanations, if its tables don't have them. */
type PageSection = { id: string; title: string; make: () => Child; terms?: [string, string][] };

/** Addresses of a process, `to` excluded. */
type AddressRange = { process: number; from: number; to: number };
type FoldedStretch = AddressRange & { top: number; height: number };
type Address = { process: number; from: number };
/** Samples of one part of time at one place. */
type Spot = {
  bin: number;
  process: number;
  thread: number;
  memory: number;
  from: number | null;
  to: number | null;
  loads: number;
  stores: number;
  samples: number;
  weight: number;
};
type PlacedSpot = Spot & AddressRange;
type SpotRange = { first: number; last: number; low: Address | null; high: Address | null };
type SpotView = {
  spots: PlacedSpot[];
  unplaced: Spot[];
  folded: ReturnType<typeof FoldedAddresses.create> | null;
  first: number;
  last: number;
  scale: SpotScale;
  memories: SpotMemory[];
  measure: string;
  cursor: PlacedSpot | null;
};
/** What is drawn if any sample that is shown has an address. */
type FoldedSpotView = SpotView & { folded: NonNullable<SpotView['folded']> };

type Bin = { from: number; to: number };
type StepLine = { name: string; style: string; values: (number | null)[] };
type StepPlotContent = {
  title: string;
  label: string;
  lines: StepLine[];
  height: number;
  least: number;
  format: (value: number) => string;
  bins: Bin[];
  begin?: number;
  ticks?: (first: number, last: number, count: number) => number[];
  onMove: (next: (at: number) => number) => void;
};
