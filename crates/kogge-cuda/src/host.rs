//! Scans of host memory, in chunks: one comes in while another is scanned and a third goes out.
//!
//! A chunk is a whole number of blocks of the order, and what precedes one is the fold of the
//! totals of all blocks before: the total of the chunk before, handed on in device memory as the
//! next one's init. So the bits are those of one scan, and the data may be larger than the device's
//! memory.

use crate::launch::Launch;
use crate::plan::parts;
use crate::staging::{LANES, Staging};
use crate::{Error, Init, Kernel, Plan, Scan, Workspace};
use cudarc::driver::result;
use kogge_core::{Accumulate, Element, Problem, bytemuck};
use std::ops::Range;

/// Bytes of a chunk: large enough for the bus, small enough for the first one to come in soon.
const CHUNK_BYTES: u64 = 16 << 20;

/// The chunks of a problem in the order of the scan; one at least.
fn chunks(problem: &Problem, plan: &Plan) -> impl Iterator<Item = Range<usize>> {
    let len = match plan.kernel {
        Kernel::Cluster(_) | Kernel::Tiles(_) | Kernel::Segments => plan.launch_len,
        Kernel::Rounds(_) => {
            let block = problem.order().block() as u64;
            block * (CHUNK_BYTES / (block * problem.element_bytes as u64)).max(1)
        }
    };
    parts(problem.len, len, problem.direction).map(|part| part.start as usize..part.end as usize)
}

impl<T, U, A> Scan<T, U, A>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
{
    /// Scans from host memory into host memory, by way of the device; gives the total. Waits for
    /// it.
    ///
    /// Data travel in chunks of 16 MiB through pinned memory that the workspace keeps, both ways at
    /// once; one launch a chunk.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] unless both slices have [`len`](Self::len) elements,
    /// [`Error::OutOfMemory`], [`Error::OutOfHostMemory`], or what the driver says; the output is
    /// in part written then.
    pub fn run_host(
        &self,
        workspace: &mut Workspace,
        input: &[T],
        output: &mut [U],
        init: Option<A>,
    ) -> Result<A, Error> {
        self.check(input.len(), output.len())?;
        let most = chunks(&self.problem, &self.plan).map(|chunk| chunk.len()).max();
        let most = most.unwrap_or(0);
        let room = (most * size_of::<T>(), most * size_of::<U>());
        let staging = workspace.staging.take().filter(|staging| staging.holds(room));
        let mut staging = match staging {
            Some(staging) => staging,
            None => Staging::new(workspace.stream().context(), room)?,
        };
        let outcome = self.pass_through(workspace, &mut staging, input, output, init);
        // Also after a failure no copy may be under way when the lanes are used again or freed.
        let idle = staging.idle().and(workspace.stream().synchronize().map_err(Error::from));
        let total = outcome?;
        idle?;
        workspace.staging = Some(staging);
        Ok(total)
    }

    fn pass_through(
        &self,
        workspace: &mut Workspace,
        staging: &mut Staging,
        input: &[T],
        output: &mut [U],
        init: Option<A>,
    ) -> Result<A, Error> {
        let scans = workspace.stream().clone();
        let mut under_way: Vec<Range<usize>> = Vec::new();
        let mut take = |staging: &mut Staging, i: usize, chunk: &Range<usize>| {
            let output = bytemuck::cast_slice_mut(&mut output[chunk.clone()]);
            staging.take(i % LANES, output)
        };
        for (i, chunk) in chunks(&self.problem, &self.plan).enumerate() {
            if let Some(earlier) = i.checked_sub(LANES) {
                take(staging, earlier, &under_way[earlier])?;
            }
            let lane = i % LANES;
            staging.upload(lane, bytemuck::cast_slice(&input[chunk.clone()]), &scans)?;
            let (from, to) = staging.addresses(lane);
            let launch = Launch {
                input: from,
                output: to,
                len: chunk.len() as u64,
                init: match i {
                    0 => init.map_or(Init::None, Init::Value),
                    _ => Init::Memory(staging.carry(i)),
                },
                total: Some(staging.carry(i + 1)),
            };
            // SAFETY: the lane holds a chunk of either type, and the carries an accumulator each,
            // until the lanes are idle; the streams wait for each other.
            unsafe { self.launch(workspace, launch) }?;
            staging.download(lane, chunk.len() * size_of::<U>(), &scans)?;
            under_way.push(chunk);
        }
        for i in under_way.len().saturating_sub(LANES)..under_way.len() {
            take(staging, i, &under_way[i])?;
        }
        let (mut total, carry) = (A::zeroed(), staging.carry(under_way.len()));
        // SAFETY: the carry is there; the value lives until the stream has been waited for.
        unsafe {
            result::memcpy_dtoh_async(bytemuck::bytes_of_mut(&mut total), carry, scans.cu_stream())
        }?;
        scans.synchronize()?;
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capability, Tuning};
    use kogge_core::{Direction, Kind, from_fn, reference};

    fn problem(len: usize, direction: Direction) -> Problem {
        Problem {
            len: len as u64,
            element_bytes: 16,
            output_bytes: 16,
            accumulator_bytes: 16,
            kind: Kind::Exclusive,
            direction,
            in_place: false,
        }
    }

    const DEVICE: Capability = Capability::H100;

    /// In rounds.
    fn planned(problem: &Problem) -> Plan {
        let tuning = Tuning { rounds_bytes: 0, ..Tuning::default() };
        crate::plan(problem, DEVICE, &tuning).unwrap()
    }

    /// By an operator that shows its brackets.
    #[test]
    fn chunks_that_hand_on_totals_give_the_bits_of_one_scan() {
        let operator = from_fn([0u64; 2], |x: [u64; 2], y: [u64; 2]| {
            [x[0].wrapping_mul(3).wrapping_add(y[0]), x[1].wrapping_mul(5) ^ y[1]]
        });
        let block = problem(0, Direction::Forward).order().block();
        for len in [1, 16 * block - 1, 16 * block, 16 * block + 1, 33 * block + 5] {
            let data: Vec<[u64; 2]> = (0..len as u64).map(|i| [i * i, !i]).collect();
            let problem = problem(len, Direction::Forward);
            for init in [None, Some([7, 9])] {
                let whole = reference::scan(&data, &operator, problem.order(), problem.kind, init);
                let (mut carry, mut values) = (init, Vec::new());
                for chunk in chunks(&problem, &planned(&problem)) {
                    let part = reference::scan(
                        &data[chunk],
                        &operator,
                        problem.order(),
                        problem.kind,
                        carry,
                    );
                    values.extend(part.values);
                    carry = Some(part.total);
                }
                assert!(values == whole.values && carry == Some(whole.total), "{len}");
            }
        }
    }

    #[test]
    fn chunks_cover_everything_once_in_the_order_of_the_scan() {
        let block = problem(0, Direction::Forward).order().block();
        for len in [0, 1, block, 40 * block + 3] {
            let of = |direction| {
                let problem = problem(len, direction);
                chunks(&problem, &planned(&problem)).collect::<Vec<_>>()
            };
            let forward = of(Direction::Forward);
            assert_eq!(forward.first().map(|chunk| chunk.start), Some(0));
            assert_eq!(forward.last().map(|chunk| chunk.end), Some(len));
            assert!(forward.windows(2).all(|pair| pair[0].end == pair[1].start));
            let reverse = of(Direction::Reverse);
            let mirrored = reverse.into_iter().map(|chunk| len - chunk.end..len - chunk.start);
            assert_eq!(forward, mirrored.collect::<Vec<_>>());
        }
    }
}
