//! Decodes [`Samples`].

use super::encode::column;
use super::*;
use crate::table::{Cursor, TableError};

type Result<T> = std::result::Result<T, TableError>;

impl Samples {
    /// Reads the payload of a chunk of samples.
    ///
    /// # Errors
    /// If the payload breaks a rule of the format; the error says at which byte.
    pub fn parse(bytes: &[u8]) -> Result<Samples> {
        let mut cursor = Cursor::new(bytes);
        let lost = cursor.varint("lost samples")?;
        let samples = cursor.count(1, "samples")?;
        let accesses = cursor.count(1, "accesses of windows")?;
        let count = cursor.count(2, "columns")?;
        let mut columns = Columns::default();
        for _ in 0..count {
            columns.read(&mut cursor, samples, accesses)?;
        }
        if cursor.remaining() != 0 {
            return cursor.error(format!("{} bytes after the last column", cursor.remaining()));
        }
        for (number, values) in [(column::TIME, samples), (column::ACCESS_INSTRUCTION, accesses)] {
            if values > 0 && columns.of(number).is_empty() {
                return cursor.error(format!("column {number} is missing"));
            }
        }
        columns.assemble(lost, samples, accesses, &cursor)
    }
}

/// The values of columns by their numbers; empty if they are missing.
struct Columns(Vec<Vec<u64>>);

impl Default for Columns {
    fn default() -> Self {
        Columns(vec![Vec::new(); usize::from(u8::MAX) + 1])
    }
}

impl Columns {
    fn read(&mut self, cursor: &mut Cursor, samples: usize, accesses: usize) -> Result<()> {
        let number = cursor.u8("number of a column")?;
        let length = cursor.varint("length of a column")?;
        let start = cursor.position();
        let bytes = cursor.take(length, "a column")?;
        let is_known = (column::TIME..=column::WINDOW_WEIGHT).contains(&number)
            || (column::ACCESS_INSTRUCTION..=column::ACCESS_KIND).contains(&number);
        if !is_known {
            return Ok(()); // a newer writer's
        }
        let count = match number < column::FIRST_OF_WINDOW {
            true => samples,
            false => accesses,
        };
        let values = &mut self.0[usize::from(number)];
        if !values.is_empty() {
            return cursor.error(format!("column {number} comes twice"));
        }
        *values = differences(bytes, count).map_err(|error| TableError {
            position: start as u64 + error.position,
            ..error
        })?;
        Ok(())
    }

    fn of(&self, number: u8) -> &[u64] {
        &self.0[usize::from(number)]
    }

    fn value(&self, number: u8, index: usize) -> u64 {
        self.of(number).get(index).copied().unwrap_or(0)
    }

    fn byte(&self, number: u8, index: usize) -> Option<u8> {
        u8::try_from(self.value(number, index)).ok()
    }

    /// What fits 32 bits.
    fn number(&self, number: u8, index: usize, cursor: &Cursor) -> Result<u32> {
        let value = self.value(number, index);
        match u32::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => cursor.error(format!("value {value} in column {number} exceeds 32 bits")),
        }
    }

    fn assemble(&self, lost: u64, samples: usize, accesses: usize, cursor: &Cursor) -> Result<Samples> {
        let mut next = 0usize;
        let samples = (0..samples).map(|index| {
            let count = self.number(column::WINDOW_ACCESSES, index, cursor)? as usize;
            let window = next..next + count;
            if window.end > accesses {
                return cursor.error(format!("windows of more than {accesses} accesses"));
            }
            next = window.end;
            self.sample(index, window, cursor)
        });
        let samples = samples.collect::<Result<Vec<Sample>>>()?;
        if next != accesses {
            return cursor.error(format!("{} accesses that belong to no window", accesses - next));
        }
        let window = (0..accesses).map(|index| self.access(index, cursor));
        Ok(Samples {
            lost,
            samples,
            window: window.collect::<Result<_>>()?,
        })
    }

    fn sample(&self, index: usize, window: Range<usize>, cursor: &Cursor) -> Result<Sample> {
        use column::*;
        let number = |column| self.number(column, index, cursor);
        let class = self.byte(CLASS, index).and_then(AddressClass::from_byte);
        let direction = self.byte(DIRECTION, index).and_then(Direction::from_byte);
        let window_end = self.byte(WINDOW_END, index).and_then(WindowEnd::from_byte);
        let (Some(class), Some(direction), Some(window_end)) = (class, direction, window_end) else {
            return cursor.error(format!("class, direction or end of sample {index} doesn't exist"));
        };
        Ok(Sample {
            time_ns: self.value(TIME, index),
            pid: number(PID)?,
            tid: number(TID)?,
            processor: number(PROCESSOR)?,
            event: number(EVENT)?,
            seen_at: self.value(SEEN_AT, index),
            instruction: self.value(INSTRUCTION, index),
            direction,
            address: (class != AddressClass::None).then(|| self.value(ADDRESS, index)),
            class,
            size_bytes: number(SIZE)?,
            latency_cycles: self.value(LATENCY, index),
            data_source: DataSource(self.value(DATA_SOURCE, index)),
            physical_address: self.value(PHYSICAL_ADDRESS, index),
            weight: self.value(WEIGHT, index),
            window_instructions: number(WINDOW_INSTRUCTIONS)?,
            window_end,
            window_speed: number(WINDOW_SPEED)?,
            window_weight: self.value(WINDOW_WEIGHT, index),
            window,
        })
    }

    fn access(&self, index: usize, cursor: &Cursor) -> Result<WindowAccess> {
        use column::*;
        let kind = self.value(ACCESS_KIND, index);
        let known_by = u8::try_from(kind >> 1).ok().and_then(WindowAddress::from_byte);
        let Some(known_by) = known_by else {
            return cursor.error(format!("access {index} of the windows has kind {kind}"));
        };
        Ok(WindowAccess {
            instruction: self.value(ACCESS_INSTRUCTION, index),
            address: self.value(ACCESS_ADDRESS, index),
            size_bytes: self.number(ACCESS_SIZE, index, cursor)?,
            is_store: kind & 1 != 0,
            known_by,
        })
    }
}

/// The values of a column, which are stored as differences.
fn differences(bytes: &[u8], count: usize) -> Result<Vec<u64>> {
    let mut cursor = Cursor::new(bytes);
    if count > bytes.len() {
        return cursor.error(format!("{} bytes for {count} values", bytes.len()));
    }
    let mut values = Vec::with_capacity(count);
    let mut value = 0u64;
    for _ in 0..count {
        value = value.wrapping_add(cursor.svarint("value of a column")? as u64);
        values.push(value);
    }
    match cursor.remaining() {
        0 => Ok(values),
        left => cursor.error(format!("{left} bytes after the last value of a column")),
    }
}
