//! The picture as PNG, and the table that describes its pixels.

use std::io;

use png::{BitDepth, ColorType, Encoder};

use super::colours::{colour, LEGEND};
use super::picture::sum;
use super::{HeatMap, HeatRow};
use crate::terminal::printable;
use crate::{duration, grouped, Table, TableBuilder};

/// About the size of a picture, in pixels: cells have as many as fit, and at least one.
const WIDTH: usize = 1024;
const HEIGHT: usize = 800;
const MAX_CELL: usize = 24;
const CHANNELS: usize = 3;
const PAPER: u8 = 255;
/// Grey of the lines between owners.
const LINE: u8 = 160;

/// Where things are in the picture.
struct Pixels {
    cell_width: usize,
    cell_height: usize,
    /// Top of each row. A line stands before the first row of each owner but the first.
    tops: Vec<usize>,
    height: usize,
}

/// Successive rows of one owner.
struct Stretch {
    top: usize,
    height: usize,
    name: String,
    first: Option<u64>,
    last: Option<u64>,
}

impl Pixels {
    fn of(map: &HeatMap) -> Pixels {
        let size = |room: usize, count: usize| (room / count.max(1)).clamp(1, MAX_CELL);
        let cell_height = size(HEIGHT, map.rows.len());
        let mut height = 0;
        let mut tops = Vec::new();
        for (index, row) in map.rows.iter().enumerate() {
            height += usize::from(index > 0 && !is_same_owner(&map.rows[index - 1], row));
            tops.push(height);
            height += cell_height;
        }
        Pixels {
            cell_width: size(WIDTH, map.column_count()),
            cell_height,
            tops,
            height,
        }
    }
}

fn is_same_owner(one: &HeatRow, other: &HeatRow) -> bool {
    one.label == other.label
}

impl HeatMap {
    /// Time from the left, memory from the top. Fails only if the picture would be larger than PNG allows.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        let pixels = Pixels::of(self);
        let width = pixels.cell_width * self.column_count();
        let mut image = vec![LINE; width * pixels.height * CHANNELS];
        for (row, &top) in self.rows.iter().zip(&pixels.tops) {
            let line = self.line(row, pixels.cell_width);
            let lines = image[top * width * CHANNELS..].chunks_exact_mut(width * CHANNELS);
            lines
                .take(pixels.cell_height)
                .for_each(|pixels| pixels.copy_from_slice(&line));
        }
        let side = |pixels: usize| u32::try_from(pixels).map_err(io::Error::other);
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, side(width)?, side(pixels.height)?);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        encoder.add_itxt_chunk("Title".into(), printable(&self.title))?;
        encoder.add_itxt_chunk("Description".into(), self.scales(&pixels))?;
        encoder.write_header()?.write_image_data(&image)?;
        Ok(file)
    }

    fn line(&self, row: &HeatRow, cell_width: usize) -> Vec<u8> {
        let largest = self.largest();
        let cell = |counts: &[u64; 2]| match sum(*counts) {
            0 => [PAPER; CHANNELS],
            _ => colour(*counts, largest),
        };
        let cells = row.counts.iter().map(cell);
        cells.flat_map(|cell| cell.repeat(cell_width)).collect()
    }

    fn scales(&self, pixels: &Pixels) -> String {
        format!(
            "{} from left to right, {} pixels for {}; {LEGEND}, up to {}",
            [self.from_ns, self.end_ns()].map(duration).join(" to "),
            pixels.cell_width,
            duration(self.column_ns),
            grouped(self.largest()),
        )
    }

    /// What stands where in the PNG: a row for each stretch of memory.
    pub fn png_caption(&self) -> Table {
        let pixels = Pixels::of(self);
        let stretches: Vec<Stretch> = self.stretches(&pixels);
        let address = |address: Option<u64>| address.map_or(String::new(), |address| format!("{address:#x}"));
        TableBuilder::new(
            "picture",
            format!("Picture: {}", self.scales(&pixels)),
            &stretches,
        )
        .number(("top_pixel", "from the top"), |row| row.top)
        .number(("height_pixels", "height"), |row| row.height)
        .text(("name", "memory"), |row| row.name.clone())
        .text(("first_address", "first"), |row| address(row.first))
        .text(("last_address", "last"), |row| address(row.last))
        .build()
    }

    fn stretches(&self, pixels: &Pixels) -> Vec<Stretch> {
        let rows: Vec<(&HeatRow, usize)> = self.rows.iter().zip(pixels.tops.iter().copied()).collect();
        let owners = rows.chunk_by(|(one, _), (other, _)| is_same_owner(one, other));
        let stretch = |rows: &[(&HeatRow, usize)]| {
            let ((first, top), (last, bottom)) = (rows[0], rows[rows.len() - 1]);
            Stretch {
                top,
                height: bottom + pixels.cell_height - top,
                name: first.label.clone(),
                first: first.address,
                last: last
                    .address
                    .map(|address| address.saturating_add(last.bytes.saturating_sub(1))),
            }
        };
        owners.map(stretch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::picture::tests::table;
    use super::*;
    use crate::Value;

    /// Width, height, and red, green and blue of each pixel.
    fn decoded(file: &[u8]) -> (usize, usize, Vec<u8>) {
        let mut reader = png::Decoder::new(io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(info.color_type, ColorType::Rgb);
        (info.width as usize, info.height as usize, pixels)
    }

    #[test]
    fn pixels_have_the_colours_of_their_cells() {
        let cells = [
            (0, "nodes", 0x1000, 0, 7, 0),
            (0, "nodes", 0x9000, 8, 0, 1),
            (1, "stack", 0xf000, 8, 0, 7),
        ];
        let map = HeatMap::from_cells(&table(&cells), 10, 10).unwrap();
        let (width, height, pixels) = decoded(&map.png().unwrap());
        assert_eq!((width, height), (2 * MAX_CELL, 3 * MAX_CELL + 1));
        let at = |x: usize, y: usize| &pixels[(y * width + x) * 3..][..3];
        assert_eq!(at(0, 0), [0x1a, 0x54, 0xb3]);
        assert_eq!(at(MAX_CELL - 1, MAX_CELL - 1), at(0, 0));
        assert_eq!(at(MAX_CELL, 0), [PAPER; 3]);
        assert_eq!(at(MAX_CELL, MAX_CELL), colour([0, 1], 7));
        assert_eq!(at(0, 2 * MAX_CELL), [LINE; 3], "between owners");
        assert_eq!(at(width - 1, height - 1), [0xbf, 0x14, 0x19]);
    }

    #[test]
    fn the_caption_says_where_memory_is() {
        let cells = [
            (0, "nodes", 0x1000, 0, 7, 0),
            (0, "nodes", 0x9000, 8, 0, 1),
            (1, "stack", 0xf000, 8, 0, 7),
        ];
        let map = HeatMap::from_cells(&table(&cells), 10, 10).unwrap();
        let caption = map.png_caption();
        let column = |name: &str| -> Vec<String> {
            let column = caption.column(name).unwrap();
            (0..caption.row_count())
                .map(|row| match column.value(row) {
                    Value::Text(text) => text.to_owned(),
                    Value::Integer(number) => number.to_string(),
                    other => panic!("{other:?}"),
                })
                .collect()
        };
        assert_eq!(column("name"), ["nodes", "stack"]);
        assert_eq!(column("top_pixel"), ["0", "49"]);
        assert_eq!(column("height_pixels"), ["48", "24"]);
        assert_eq!(column("first_address"), ["0x1000", "0xf000"]);
        assert_eq!(column("last_address"), ["0x903f", "0xf03f"]);
        let title = caption.title();
        assert!(
            title.contains("0 s to 16 ns from left to right, 24 pixels for 8 ns"),
            "{title}"
        );
    }

    #[test]
    fn large_pictures_have_small_cells() {
        let cells: Vec<_> = (0..300).map(|n| (n, "x", n * 64, n * 8, n + 1, 0)).collect();
        let map = HeatMap::from_cells(&table(&cells), 200, 300).unwrap();
        let (width, height, _) = decoded(&map.png().unwrap());
        assert!((300..=WIDTH).contains(&width) && (200..HEIGHT + 200).contains(&height));
    }
}
