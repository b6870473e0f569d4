//! A cell on the CPU: copies, kogge and the rivals in Rust in this process, Python's in the child,
//! all on the same pages.

use super::python::{Python, Turn};
use super::turns::{Entry, clocked};
use super::{Inexact, Options, Place, compare};
use crate::Dtype;
use crate::contender::{Contender, Mode, Role};
use crate::contenders;
use crate::record::Cell;
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

    /// Writes the elements that are scanned.
    pub(super) fn fill(&mut self) {
        let values = self.values_mut();
        values.par_iter_mut().enumerate().for_each(|(i, value)| *value = T::element_at(i as u64));
    }

    /// The first value that is not the sum, in words.
    pub(super) fn fault(&self) -> Option<String> {
        let values = self.values();
        let wrong = |&i: &usize| values[i] != T::sum_at(i as u64);
        let first = (0..values.len()).into_par_iter().find_first(wrong)?;
        Some(format!("[{first}] is {:?}, not {:?}", values[first], T::sum_at(first as u64)))
    }
}

/// A contender of this process.
struct Native<'a, T> {
    contender: Contender<'static, T>,
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

/// Measures the inclusive sum of `len` elements into another buffer.
pub(super) fn cell<T: Dtype>(
    python: Option<&mut Python>,
    len: usize,
    options: &Options,
    inexact: &mut Vec<Inexact>,
) -> io::Result<Cell> {
    let mut input = Shared::<T>::new(len)?;
    input.fill();
    let output = RefCell::new(Shared::<T>::new(len)?);
    let python = python.map(RefCell::new);
    let threads = rayon::current_num_threads();
    let native = contenders::sum::<T>(Mode::Into, threads, &[])
        .into_iter()
        // Some leave their result where it can't be checked.
        .filter(|contender| contender.checked || contender.role == Role::Copy)
        .map(|contender| Native { contender, input: &input, output: &output });
    let mut entries: Vec<Box<dyn Entry + '_>> = native.map(|one| Box::new(one) as _).collect();
    if let Some(python) = &python {
        let path = output.borrow().path().to_owned();
        let peers = python.borrow_mut().open(T::NAME, len, input.path(), &path, Place::Cpu)?;
        let turns = peers.into_iter().map(|peer| Turn { python, peer, checks: true });
        entries.extend(turns.map(|turn| Box::new(turn) as Box<dyn Entry + '_>));
    }
    let fault = |one: &mut dyn Entry| {
        output.borrow_mut().values_mut().fill(T::zeroed());
        one.run(1)?;
        Ok(output.borrow().fault())
    };
    let series = compare(entries, fault, (T::NAME, len), options, inexact)?;
    if let Some(python) = &python {
        python.borrow_mut().close()?;
    }
    Ok(Cell {
        dtype: T::NAME.to_owned(),
        element_bytes: size_of::<T>(),
        mode: Mode::Into,
        len,
        series,
    })
}
