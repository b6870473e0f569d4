//! Numbers that were measured, and nothing else. bench/records holds the measurements.

use crate::Error;
use crate::segments::StretchesByKey;

/// The choices that change how fast a scan is, and never its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuning {
    /// Thread blocks of the cluster that takes a short sequence, at most: 16 where there are so
    /// many, and 0 for none.
    pub cluster_blocks: u32,
    /// Segments of each of them, at most: one, or two.
    pub cluster_segments: u32,
    /// Segments up to which elsewhere a thread block takes one, and not a tile.
    pub few_segments: u64,
    /// Thread blocks that hold a tile each, on a multiprocessor at most. What all of them can't
    /// hold goes in rounds, or by segments.
    pub tile_blocks: u32,
    /// Places in which they publish a tile's total.
    pub copies: u32,
    /// Input bytes from which what isn't held goes in rounds. Below, the segment kernel is faster.
    pub rounds_bytes: u64,
    /// Stages of the ring, at most: what one thread block needs in flight to fill its share of the
    /// memory's bandwidth.
    pub stages: u32,
    /// Groups of scanners, if the stages can be shared evenly.
    pub groups: u32,
    /// Warps that reduce tiles: 1, 2, 4 or 8.
    pub reducers: u32,
    /// Warps that look ahead, where accumulators have more than 8 bytes,
    pub wide_lookers: u32,
    /// and where a sequence of bytes is too short for its tiles to be drawn; elsewhere one.
    pub byte_lookers: u32,
    /// Tiles that a block reduces before it looks at the totals of others.
    pub ahead: u32,
    /// Tiles that a block has on their way into its ring: more of them only queue up.
    pub flight: u32,
    /// Tiles of a sequence from which blocks draw them, where accumulators have at most 8 bytes:
    /// shorter ones are faster in turn.
    pub draw_from: u32,
    /// Whether blocks that wait for each other are launched as a cooperative grid, all resident or
    /// none, even where one block has a single tile and so waits for lower blocks only.
    pub always_cooperative: bool,
    /// Blocks of the team of a strip of lines, at most: each reads what all of them have published.
    pub strip_blocks: u32,
    /// Stages of a team's blocks, at least.
    pub strip_stages: u32,
    /// Stages of a block that has strips to itself, at most: more on their way into it only queue
    /// up;
    pub lone_strip_stages: u32,
    /// and where those have less than a segment.
    pub short_strip_stages: u32,
    /// Lanes of a hundred that must have a line, or lines go another way.
    pub strip_use: u32,
    /// Blocks of a team that form a cluster where there are clusters, at most: 2, 4 or 8; or 1 for
    /// none.
    pub strip_cluster: u32,
    /// Multiprocessors of a hundred that must have a block for clusters to pay.
    pub strip_cluster_use: u32,
    /// Warps a multiprocessor, a lane a line, below which lines that lie side by side are cut.
    pub column_warps: u32,
    /// Lines of a thread block of the kernel that gives a lane a line, at most; a power of two.
    pub column_lines: u32,
    /// Blocks a multiprocessor of that kernel.
    pub column_blocks: u32,
    /// Stages of its ring.
    pub column_stages: u32,
    /// Blocks a multiprocessor of the same kernel, at most, where lines have eight chunks or fewer.
    pub short_column_blocks: u32,
    /// Elements of a line up to which neighbours go in vectors of 16 bytes, a few a thread; 0 for
    /// none, 16 at most.
    pub short_column_elements: u32,
    /// Bytes of a table from which they do so up to twice as many.
    pub large_column_bytes: u64,
    /// Workers of a stage, a row of a line each, of the kernel that cuts lines: 32, 64 or 128;
    /// fewer where shared memory is small.
    pub column_workers: u32,
    /// Whole segments of a line from which the tiles of lines go in rounds, if lines begin at
    /// multiples of 16 bytes; shorter and other lines go in lots, if they are no longer than a
    /// tile.
    pub line_rounds_segments: u32,
    /// Tiles that segments given by offsets have on average, from which long ones go in rounds
    /// where the others go by windows.
    pub run_rounds_tiles: u32,
    /// Warps that find in keys where segments start, for exact operators in rounds: 1, 2 or 4; or
    /// 0, and another launch does.
    pub markers: u32,
    /// Pieces of keys that each of them has under way.
    pub pieces: u32,
    /// Warps that look ahead where long segments go in rounds: such tiles are of all
    /// lengths, so that the totals of others come when they come.
    pub run_lookers: u32,
    /// Tiles that such blocks reduce before they look at the totals of others.
    pub run_ahead: u32,
    /// Windows of the longest kind for each multiprocessor, at least, or windows have two rows a
    /// warp: then segments of short sequences are scanned by more of them.
    pub long_windows: u32,
    /// Stages of each warp's ring for segments in stretches,
    pub stretch_stages: u32,
    /// warps of a thread block,
    pub stretch_warps: u32,
    /// rows of the order in a stage, eight if a multiprocessor has no room for two blocks of so
    /// many,
    pub stretch_rows: u32,
    /// and thread blocks of such warps on a multiprocessor, at most, if accumulators have four
    /// bytes at most.
    pub stretch_residents: u32,
    /// Elements of a segment given by offsets, on average, from which there are fewer warps,
    pub long_stretches_from: u32,
    /// where memory moves so many bytes a cycle for each multiprocessor, at most,
    pub long_stretch_bytes_per_cycle: u32,
    /// so many in a block,
    pub long_stretch_warps: u32,
    /// with so many rows in a stage, if a multiprocessor has room for two such blocks.
    pub long_stretch_rows: u32,
    /// Elements of a segment given by offsets, on average, from which a stretch's warp goes along
    /// the offsets; else a bit an element says where segments start.
    pub unmasked_from: u32,
    /// Stretches for each warp that there is room for, at least, where blocks have `stretch_warps`:
    /// it takes some 50 µs for one, however few there are. With fewer, windows take all segments.
    pub stretches_per_warp: u32,
    /// Bytes of a sequence in segments from which L2 is told what to give up last, where that is
    /// known to be faster.
    pub kept_bytes: u64,
    /// Whether segments by flags or keys go in stretches too, from as many on. On an H200 those of
    /// hundreds of elements are up to 1.4 times as fast so as by windows, and short ones up to 1.07
    /// times as slow.
    pub stretches_by_key: StretchesByKey,
    /// Bytes of a table up to which its lines, if they are no longer than a segment, go a row a
    /// warp: of whole chunks at multiples of 16 bytes, a quarter of it where elements have less
    /// than four bytes;
    pub short_line_bytes: u64,
    /// and of other lines.
    pub ragged_line_bytes: u64,
    /// Warps of a thread block for lines in lots, eight at least: 16 leave each thread 128
    /// registers.
    pub line_warps: u32,
    /// Stages of each warp's ring for such lines, at most.
    pub line_stages: u32,
    /// Bytes of such lines that a warp draws at once, at least: the draws of a million lots would
    /// queue up. What has a team of warps is drawn one by one.
    pub bunch_bytes: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            cluster_blocks: 16,
            cluster_segments: 2,
            few_segments: 32,
            tile_blocks: 4,
            copies: 4,
            rounds_bytes: 3 << 19,
            stages: 6,
            groups: 1,
            reducers: 4,
            wide_lookers: 2,
            byte_lookers: 2,
            ahead: 1,
            flight: 2,
            draw_from: 16_384,
            always_cooperative: false,
            strip_blocks: 66,
            strip_stages: 3,
            lone_strip_stages: 4,
            short_strip_stages: 3,
            strip_use: 90,
            strip_cluster: 8,
            strip_cluster_use: 70,
            column_warps: 6,
            column_lines: 256,
            column_blocks: 2,
            column_stages: 3,
            short_column_blocks: 3,
            short_column_elements: 16,
            large_column_bytes: 64 << 20,
            column_workers: 128,
            line_rounds_segments: 4,
            run_rounds_tiles: 8,
            markers: 4,
            pieces: 2,
            run_lookers: 2,
            run_ahead: 2,
            long_windows: 2,
            stretch_stages: 1,
            stretch_warps: 8,
            stretch_rows: 24,
            stretch_residents: 2,
            long_stretches_from: 160,
            long_stretch_bytes_per_cycle: 15,
            long_stretch_warps: 6,
            long_stretch_rows: 32,
            unmasked_from: 96,
            stretches_per_warp: 12,
            kept_bytes: 256 << 20,
            stretches_by_key: StretchesByKey::AsTheLastCall,
            short_line_bytes: 256 << 20,
            ragged_line_bytes: 512 << 10,
            line_warps: 16,
            line_stages: 8,
            bunch_bytes: 16 << 10,
        }
    }
}

impl Tuning {
    /// Refuses what kernels can't be made of.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`], with the field and its range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        // Beside these, a number that is too large for a device is taken for the largest that it
        // has room for.
        let ranges = [
            ("groups", self.groups, 1..=2),
            ("reducers", self.reducers, 1..=8),
            ("wide_lookers", self.wide_lookers, 1..=4),
            ("byte_lookers", self.byte_lookers, 1..=4),
            ("run_lookers", self.run_lookers, 1..=4),
            ("markers", self.markers, 0..=4),
            ("pieces", self.pieces, 1..=16),
            ("column_warps", self.column_warps, 0..=1 << 10),
            ("column_blocks", self.column_blocks, 1..=32),
            ("short_column_blocks", self.short_column_blocks, 0..=32),
            ("long_windows", self.long_windows, 0..=1 << 10),
            ("stretch_stages", self.stretch_stages, 1..=16),
            ("stretch_warps", self.stretch_warps, 1..=8),
            ("stretch_rows", self.stretch_rows, 1..=32),
            ("long_stretch_warps", self.long_stretch_warps, 1..=8),
            ("long_stretch_rows", self.long_stretch_rows, 1..=32),
            ("stretch_residents", self.stretch_residents, 0..=32),
            ("line_warps", self.line_warps, 0..=32),
            ("strip_stages", self.strip_stages, 1..=15),
            ("bunch_bytes", self.bunch_bytes, 1..=u32::MAX),
        ];
        if let Some((field, value, range)) =
            ranges.into_iter().find(|(_, value, range)| !range.contains(value))
        {
            let (least, most) = range.into_inner();
            let what = format!("Tuning::{field} is {value}; it may be {least} to {most}");
            return Err(Error::Unsupported(what));
        }
        for (field, value) in [("reducers", self.reducers), ("markers", self.markers.max(1))] {
            if !value.is_power_of_two() {
                let what = format!("Tuning::{field} is {value}; it must be a power of two");
                return Err(Error::Unsupported(what));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capability, LineShape, plan, plan_lines};
    use kogge_core::{Direction, Kind, Problem};

    #[test]
    fn what_no_kernel_can_be_made_of_is_refused_by_its_name() {
        let of = |tuning: Tuning| {
            let device = Capability::H100;
            let problem = Problem {
                len: 1 << 30,
                element_bytes: 4,
                output_bytes: 4,
                accumulator_bytes: 4,
                kind: Kind::Inclusive,
                direction: Direction::Forward,
                in_place: false,
            };
            let shape = LineShape::row_major(&[1 << 12, 1 << 12], 0).unwrap();
            let flat = plan(&problem, device, &tuning).map(drop).map_err(|e| e.to_string());
            let lines = plan_lines(&shape, &problem, device, &tuning).map(drop);
            assert_eq!(flat, lines.map_err(|e| e.to_string()));
            flat
        };
        let most = Tuning::default();
        assert_eq!(of(most), Ok(()));
        let said = |what: &str| Err(format!("Tuning::{what}"));
        assert_eq!(of(Tuning { groups: 0, ..most }), said("groups is 0; it may be 1 to 2"));
        assert_eq!(of(Tuning { reducers: 16, ..most }), said("reducers is 16; it may be 1 to 8"));
        assert_eq!(
            of(Tuning { reducers: 3, ..most }),
            said("reducers is 3; it must be a power of two")
        );
        assert_eq!(
            of(Tuning { column_blocks: 0, ..most }),
            said("column_blocks is 0; it may be 1 to 32")
        );
        let endless = Tuning { long_windows: u32::MAX, ..most };
        assert_eq!(of(endless), said("long_windows is 4294967295; it may be 0 to 1024"));
    }
}
