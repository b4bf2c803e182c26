/**
 * What each column of numbers means, in a sentence; docs/verbs defines them with their limits. A row has the names of columns,
 * in which `*` stands for any part, and the tables that alone are meant, where the same name means something else in others.
 */
const ColumnTerms = (() => {
  /** @type {[columns: string, text: string, tables?: string][]} */
  const TERMS = [
    // Names that mean something else in one table.
    ['share', 'The row’s part of the bytes that are live at the peak.', 'peak peak_types'],
    ['share', 'Weight ÷ weights of all samples, also of those without address or access.', 'objects spot_memory address_classes'],
    ['share', 'The row’s part of all samples whose instruction accesses memory.', 'sample_classes'],
    ['accesses', 'Accesses in windows after samples, of known address.', 'object_accesses'],
    ['reads writes', 'Of the accesses in windows, those that read, or write.', 'object_accesses'],
    ['reads', 'Accesses that read, or the map’s own measure of them.', 'owners map_cells'],
    ['writes', 'Accesses that write, or the map’s own measure of them.', 'owners map_cells'],
    ['threads', 'Streams that touched the memory.', 'owners'],
    ['threads', 'Threads that entered the region, or inherited it.', 'regions region_sums_over_time'],
    ['threads', 'Threads that took such lines from others.'],
    ['cache_lines', 'Lines of cache that were taken.'],
    ['blocks', 'Released blocks that lived so long.', 'lifetimes'],
    ['bytes', 'Bytes of these blocks.', 'lifetimes'],
    ['blocks counters first_counter', 'Blocks of code and counters of a module, and where its counters begin.', 'counting_modules'],
    ['counters', 'Counters that are not 0.', 'nodes'],
    ['stores', 'The part of the accesses in windows that writes.', 'sample_lines sample_instructions'],
    ['allocations', 'Allocations, reallocations and mappings.', 'objects'],
    ['allocations releases', 'Blocks that began, and ended, in that part of time.', 'memory_over_time'],
    ['allocations', 'Blocks that began.'],
    ['calls', 'Calls of code that isn’t counted.', 'external_calls'],
    ['time_ns', 'Time in these calls, estimated from those that were timed.', 'external_calls'],
    ['size_bytes', 'How much the cache holds.', 'caches curves'],
    ['size_bytes', 'Bytes of the structure, with holes and padding.', 'structures'],
    ['size_bytes', 'Bytes of each access; 0 stands for copies, fills and ranges of library functions.', 'region_accesses_by_size'],
    ['cycles', 'Measured cycles of the processor, scaled to all entries.', 'region_hardware'],
    ['after', 'What is left of the measure after the change.', 'proposals'],

    // Accesses and the simulated caches.
    ['accesses', 'Executions of loads, stores and atomic operations; each side of a copy or fill is one.'],
    ['reads loads', 'Accesses that read.'],
    ['writes stores', 'Accesses that write.'],
    ['bytes', 'Bytes that the accesses read or write, each time anew: not those that come from memory.'],
    ['bytes_read bytes_written', 'Bytes that accesses read, or write: not traffic with memory.'],
    ['l*_misses', 'Lines of cache that the simulated cache of this level did not hold when they were looked up.'],
    ['misses', 'Lines that the simulated cache did not hold; of structures, the level by which the page ranks.'],
    ['share', 'The row’s part of the number by which the table is ranked, over the whole trace.'],
    ['miss_ratio', 'Misses ÷ lookups.'],
    ['reached', 'Lookups that came to this level.'],
    ['misses_per_1000_accesses', 'Misses for each thousand of all accesses; instructions are not recorded.'],
    ['write_backs', 'Changed lines that this level evicted.'],
    ['invalidations', 'Copies of lines that threads lost because another one wrote to them.'],
    ['ways', 'Lines that one set of the cache holds.'],
    ['line_bytes', 'Bytes of a line of the cache.'],
    ['shared_by', 'Processors that share such a cache.'],
    ['level', 'Of caches, from the first one on; of the map, from the coarsest on.'],
    ['cycles cycles_before cycles_after', 'Estimated cycles of all threads, by the latencies of the machine: a model, no measurement.'],
    ['saves', 'The part of the estimated cycles of all threads that the change saves.'],
    ['saved_share', 'The part of the whole program’s misses that the change saves, simulated.'],

    // Names and places.
    ['site', 'An instruction that accesses memory, by its number.'],
    ['line column', 'Where it stands in the file.'],
    ['stream from_stream to_stream', 'The records of one thread, by their number in the trace.'],
    ['process', 'The process, by its number in the trace.'],
    ['thread', 'The thread, by the number that the system gave it.'],
    ['executions', 'How often the block there that ran most did run.'],
    ['block', 'A block of code, by its number in the trace.'],
    ['node parent inherited_from', 'A thread in a region within others, by its number.'],
    ['image', 'The program or library that was loaded, by its number.'],

    // Threads that take cache lines from each other.
    ['read_hand_overs', 'Reads that had to take the cache line from another thread, which wrote it last.'],
    ['write_hand_overs', 'Writes that had to take the cache line from other threads, which accessed it last.'],
    ['false_sharing', 'Of these transfers, those that touch no byte that the others touched.'],
    ['certain', 'Of these transfers, those whose order does not rest on an estimate.'],
    ['sharers', 'Threads that ever accessed the line.'],
    ['most_accesses second_most', 'Accesses of the line by the two threads with most of them.'],

    // Structures.
    ['alignment_bytes', 'The border at which objects must begin.'],
    ['members', 'What the definition lists: fields, arrays, base classes.'],
    ['hole_bytes', 'Bytes between members that belong to none.'],
    ['padding_bytes', 'Bytes after the last member that belong to none.'],
    ['together', 'Accesses to one of two members with the other one of the same object shortly before.'],
    ['affinity', 'Accesses together ÷ accesses to the rarer of the two, at most 1.'],
    ['offset old_offset', 'Bytes from the beginning of the object.'],
    ['size', 'Bytes of the member.'],
    ['card part', 'Which card, and which part of the structure after its change.'],
    ['part_size', 'Bytes of that part.'],

    // Reuse.
    ['references', 'Lines of cache that the accesses overlap.'],
    ['cold', 'The part of the references that are the first of their line.'],
    ['median_distance', 'Half of the references come after at most so many different other lines since the last one to their line.'],
    ['p90_distance', 'Nine tenths of the references come after at most so many different other lines since the last one to their line.'],
    ['miss_ratio_*', 'The part of the references that miss an LRU cache of that size, shared with everything else.'],

    // Memory.
    ['peak_blocks', 'Blocks that were live at the peak.'],
    ['peak_bytes', 'Their bytes: the most that was live at once.'],
    ['allocated_bytes', 'Bytes of blocks, as they were asked for.'],
    ['failed', 'Allocations that gave no address.'],
    ['short_lived', 'Blocks that were released before a thousand accesses of all threads went by, or what --short-life says.'],
    ['mean_life_accesses', 'Accesses of all threads from allocation to release, on average.'],
    ['mean_life_us', 'Time from allocation to release, on average.'],
    ['never_released', 'Blocks that were still live at the end of the trace.'],
    ['never_released_bytes never_accessed_bytes', 'Bytes of these blocks.'],
    ['never_accessed', 'Blocks to which no recorded access belongs.'],
    ['accessed_bytes', 'Bytes of accesses to such blocks, each time anew.'],
    ['accesses_per_byte', 'Accesses ÷ allocated bytes.'],
    ['from_accesses to_accesses', 'How many accesses of all threads the blocks lived, from and to.'],
    ['most_blocks most_bytes', 'The most that was live at once in that part of time.'],
    ['touched_bytes', 'Bytes of the granules that were touched, of at least 64 bytes each.'],
    ['first_us last_us', 'Time since the recording began at which it was first, and last, seen.'],

    // Scales of drawings.
    ['time_bin time_bins', 'Parts of time, all equally long, from 0 on.'],
    ['first_ns from_ns', 'When the first part of time, or this one, begins.'],
    ['bin_ns width_ns', 'How long each part of time is.'],
    ['address_bin first_row', 'Parts of the addresses, and the row of the drawing where each begins.'],
    ['first_address address', 'Where the memory begins.'],
    ['size_bytes', 'Bytes of the memory.'],
    ['time_s', 'When the part of time ends, in seconds since the beginning.'],
    ['interval_s', 'How long the part of time is, in seconds.'],

    // Regions.
    ['entries', 'How often the region was entered.'],
    ['counted_entries', 'Entries whose accesses were counted.'],
    ['timed_entries', 'Entries that were timed, but not counted.'],
    ['inherited', 'How often a thread ran in the region without entering it.'],
    ['time_ns', 'Time in the region, of all threads, with regions inside it and with waiting.'],
    ['own_time_ns', 'Time in the region without regions inside it.'],
    ['entered_time_ns', 'Time in the region, of the threads that entered it.'],
    ['external_time_ns', 'Time in code that is not counted.'],
    ['counted_time_ns timed_time_ns', 'Time of the entries that were counted, or only timed.'],
    ['bytes_uncertainty', 'Half of the 95 % confidence interval of the bytes ÷ the bytes.'],
    ['read_mb_per_s write_mb_per_s', 'Millions of bytes per second that are read, or written, without the cost of counting.'],
    ['raw_read_mb_per_s raw_write_mb_per_s', 'The same of the counted entries, with the cost of counting.'],
    ['bytes_imbalance time_imbalance', 'The greatest of one thread ÷ the mean of all threads.'],
    ['entries_per_s', 'Entries in each second.'],
    ['time_share', 'The part of the threads’ time that is spent there.'],
    ['timed_calls', 'Of these calls, those that were timed.'],
    ['atomics integer floating_point vector branches calls', 'Executed instructions of that kind, of the compiler’s intermediate code.'],

    // Samples.
    ['samples', 'Samples that belong to it.'],
    ['weight', 'How much the samples count; their unit is that of their source.'],
    ['weight_low weight_high', 'The 95 % interval of that weight.'],
    ['weight_per_byte', 'Weight ÷ the most bytes that were live.'],
    ['rank_best rank_worst', 'The ranks that these intervals allow.'],
    ['memory', 'Memory, by its rank.'],
    ['access_share access_share_low access_share_high access_low access_high', 'Its part of the accesses in all windows, and the 95 % interval of that.'],
    ['time_low time_high', 'The 95 % interval of the part of the time: chance, not bias.'],
    ['streaming', 'Of successive accesses by one instruction, those at most 64 bytes apart.'],
    ['windows', 'Windows of instructions after samples that access it.'],
    ['window_accesses', 'Its accesses in windows of instructions after samples.'],
    ['of_the_moment', 'Of these, those that rest on what the registers and the memory held at the sample.'],
    ['addressed', 'Samples with the address of their data, of those whose instruction accesses memory.'],
    ['latency_cycles', 'The mean latency, if the processor says it.'],

    // Comparisons.
    ['before after', 'The number in the first trace, and in the second one.'],
    ['change', 'After minus before.'],
    ['ratio', 'After ÷ before.'],
    ['noise', 'How much the number differs between runs of the same program.'],
    ['line_before', 'The line in the first trace, if it moved.'],

    // The recording.
    ['chunks', 'Parts of the trace, each of some records.'],
    ['raw_bytes', 'Bytes of records before compression.'],
    ['stored_bytes', 'Bytes of records in the file.'],
    ['gaps', 'Places where records are missing.'],
    ['dropped_buffers', 'Buffers of records that are missing.'],
    ['functions sites segments loops', 'What the module has of these: functions, instructions that access memory, recorded paths and recorded loops.'],

    // Functions on paths of calls, by any measure.
    ['own_*', 'Of the function’s own code, with what was inlined nowhere else.'],
    ['all_*', 'Of the function and all that it calls.'],
  ];

  /** @type {(names: string) => RegExp} */
  const pattern = (names) => new RegExp(`^(?:${names.replaceAll('*', '.*').split(' ').join('|')})$`);

  const patterns = TERMS.map(([columns, text, tables]) => ({ columns: pattern(columns), tables: tables ? pattern(tables) : null, text }));

  /**
   * The explanation of a column in a table, if there is one.
   * @type {(table: string, column: string) => string | undefined}
   */
  const of = (table, column) =>
    patterns.find(({ columns, tables }) => columns.test(column) && (tables === null || tables.test(table)))?.text;

  return { of };
})();
