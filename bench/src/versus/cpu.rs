//! A cell on the CPU: copies, kogge and the rivals in Rust in this process, Python's in the child,
//! all on the same pages.

use super::python::{Python, Turn};
use super::turns::{Entry, clocked};
use super::{Inexact, Options, Place, cell_of, compare};
use crate::contender::{Contender, Mode, Role};
use crate::contenders;
use crate::record::Cell;
use crate::{Dtype, Shape, distance};
use memmap2::MmapMut;
use rayon::prelude::*;
use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;
use std::path::Path;
use tempfile::NamedTempFile;

/// Values in a file of memory, which the child maps too.
pub(super) struct Shared<T> {
    file: NamedTempFile,
    pages: MmapMut,
    len: usize,
    value: PhantomData<T>,
}

impl<T: Dtype> Shared<T> {
    /// `len` zeros.
    pub(super) fn new(len: usize) -> io::Result<Self> {
        let memory = Path::new("/dev/shm");
        let file =
            if memory.is_dir() { NamedTempFile::new_in(memory)? } else { NamedTempFile::new()? };
        file.as_file().set_len((len * size_of::<T>()) as u64)?;
        // SAFETY: the file is new, and only this process and its child, in turn, touch it.
        let pages = unsafe { MmapMut::map_mut(file.as_file()) }?;
        Ok(Self { file, pages, len, value: PhantomData })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn values(&self) -> &[T] {
        bytemuck::cast_slice(&self.pages[..self.len * size_of::<T>()])
    }

    pub(super) fn values_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.pages[..self.len * size_of::<T>()])
    }

    /// The first of `len` values that is not the sum, in words.
    pub(super) fn fault(&self, len: usize) -> Option<String> {
        let values = &self.values()[..len];
        let wrong = |&i: &usize| values[i] != T::sum_at(i as u64);
        let first = (0..values.len()).into_par_iter().find_first(wrong)?;
        Some(format!("[{first}] is {:?}, not {:?}", values[first], T::sum_at(first as u64)))
    }
}

/// A contender of this process.
struct Native<'a, T> {
    contender: Contender<'a, T>,
    input: &'a Shared<T>,
    output: &'a RefCell<Shared<T>>,
}

impl<T: Dtype> Entry for Native<'_, T> {
    fn name(&self) -> &str {
        &self.contender.name
    }
    fn role(&self) -> Role {
        self.contender.role
    }
    fn threads(&self) -> usize {
        self.contender.threads
    }
    fn repeats(&self) -> bool {
        true
    }
    fn run(&mut self, calls: u32) -> io::Result<f64> {
        let mut output = self.output.borrow_mut();
        let (input, output) = (self.input.values(), output.values_mut());
        Ok(clocked(calls, || self.contender.call(input, output)))
    }
}

/// What makes the contenders of a shape, for so many threads, from its keys and offsets.
pub(super) type Shapes<T> = for<'a> fn(Shape, usize, &'a [u32], &'a [u64]) -> Vec<Contender<'a, T>>;

/// The contenders of this process.
fn native<'a, T: Dtype>(
    shape: Shape,
    shapes: Option<Shapes<T>>,
    keys: &'a [u32],
    offsets: &'a [u64],
) -> Vec<Contender<'a, T>> {
    let threads = rayon::current_num_threads();
    match (shape, shapes) {
        (Shape::Flat(_), _) | (_, None) => contenders::sum::<T>(Mode::Into, threads, &[])
            .into_iter()
            // Some leave their result where it can't be checked.
            .filter(|one| one.checked || one.role == Role::Copy)
            .collect(),
        (_, Some(shapes)) => shapes(shape, threads, keys, offsets),
    }
}

/// Measures the inclusive sum of a shape into another buffer.
pub(super) fn cell<T: Dtype>(
    python: Option<&mut Python>,
    shape: Shape,
    shapes: Option<Shapes<T>>,
    options: &Options,
    inexact: &mut Vec<Inexact>,
) -> io::Result<Cell> {
    let (len, moved) = (shape.len(), shape.moved(size_of::<T>()));
    let (keys, offsets) = (shape.keys(), shape.offsets());
    let mut input = Shared::<T>::new(moved)?;
    shape.fill(&offsets, &mut input.values_mut()[..len]);
    let output = RefCell::new(Shared::<T>::new(moved)?);
    let python = python.map(RefCell::new);
    let native = native(shape, shapes, &keys, &offsets).into_iter();
    let native = native.map(|contender| Native { contender, input: &input, output: &output });
    let mut entries: Vec<Box<dyn Entry + '_>> = native.map(|one| Box::new(one) as _).collect();
    if let Some(python) = &python {
        let path = output.borrow().path().to_owned();
        let peers = python.borrow_mut().open(T::NAME, shape, input.path(), &path, Place::Cpu)?;
        let turns = peers.into_iter().map(|peer| Turn { python, peer, checks: true });
        entries.extend(turns.map(|turn| Box::new(turn) as Box<dyn Entry + '_>));
    }
    let fault = |one: &mut dyn Entry| {
        output.borrow_mut().values_mut().fill(T::zeroed());
        one.run(1)?;
        Ok(output.borrow().fault(len))
    };
    let (series, word_ns) =
        distance::beside(|| compare(entries, fault, (T::NAME, shape), options, inexact));
    let series = series?;
    if let Some(python) = &python {
        python.borrow_mut().close()?;
    }
    Ok(Cell { word_ns, ..cell_of::<T>(shape, series) })
}
