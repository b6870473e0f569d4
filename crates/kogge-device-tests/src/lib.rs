//! Operators as CUDA C++ and WGSL, run and compared with their Rust, bit for bit.
//!
//! [`cases`] lists the operators: every word of the language for every type, every cast, what
//! control flow there is, and all built-in operators. A [`Case`] knows its source in each language,
//! makes operands that hurt, computes what Rust gives for them, and judges what a device gave. The
//! tests do the rest: `host` compiles the CUDA C++ with the system's compiler, `nvrtc` with
//! NVIDIA's, `vulkan` runs the WGSL on the first Vulkan device.

pub mod cases;
mod operands;
mod verdict;

pub use verdict::{Tolerance, Verdict};

use kogge_core::device::{DeviceOperator, DeviceType, Error, cuda, ir::Type, wgsl};
use kogge_core::{Element, bytemuck};

type WriteCuda = dyn Fn(&str) -> Result<String, Error> + Sync + Send;
type WriteWgsl = dyn Fn(wgsl::Options<'_>) -> Result<wgsl::Source, Error> + Sync + Send;
/// Combines the bytes of two elements into those of a third.
type Combine = dyn Fn(&[u8], &[u8], &mut [u8]) + Sync + Send;

/// One operator on one type, with its type gone.
pub struct Case {
    /// A name that is an identifier in every language.
    pub name: String,
    /// The element.
    pub ty: Type,
    /// How far off floats may be on a CPU and on CUDA.
    pub tolerance: Tolerance,
    /// How far off floats may be in WGSL.
    pub wgsl_tolerance: Tolerance,
    cuda: Box<WriteCuda>,
    wgsl: Box<WriteWgsl>,
    combine: Box<Combine>,
    identity: Vec<u8>,
}

impl Case {
    /// The case of this operator on `A`.
    pub fn new<A, O>(name: impl Into<String>, operator: O) -> Self
    where
        A: Element + DeviceType,
        O: DeviceOperator<A> + Copy + Send + 'static,
    {
        Self {
            name: name.into(),
            ty: A::device_type(),
            tolerance: Tolerance::NONE,
            wgsl_tolerance: Tolerance::NONE,
            cuda: Box::new(move |name| cuda::source(&operator, name)),
            wgsl: Box::new(move |options| wgsl::source(&operator, options)),
            combine: Box::new(move |left, right, result| {
                let read = |bytes| bytemuck::pod_read_unaligned::<A>(bytes);
                let combined = operator.combine(read(left), read(right));
                result.copy_from_slice(bytemuck::bytes_of(&combined));
            }),
            identity: bytemuck::bytes_of(&operator.identity()).to_vec(),
        }
    }

    /// The case, with floats allowed to be so far off.
    pub fn within(mut self, tolerance: Tolerance, wgsl_tolerance: Tolerance) -> Self {
        (self.tolerance, self.wgsl_tolerance) = (tolerance, wgsl_tolerance);
        self
    }

    /// Bytes of an element.
    pub fn bytes(&self) -> usize {
        self.ty.bytes()
    }

    /// The operator as CUDA C++, in a namespace of its name.
    pub fn cuda(&self) -> Result<String, Error> {
        (self.cuda)(&self.name)
    }

    /// The operator as WGSL.
    pub fn wgsl(&self, options: wgsl::Options<'_>) -> Result<wgsl::Source, Error> {
        (self.wgsl)(options)
    }

    /// What Rust gives for these pairs of elements.
    pub fn expected(&self, operands: &Operands) -> Vec<u8> {
        let mut results = vec![0; operands.left.len()];
        let (left, right) = (&operands.left, &operands.right);
        let pairs = left.chunks_exact(self.bytes()).zip(right.chunks_exact(self.bytes()));
        for (result, (left, right)) in results.chunks_exact_mut(self.bytes()).zip(pairs) {
            (self.combine)(left, right, result);
        }
        results
    }

    /// The identity's bytes.
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// At least `random` pairs of elements, after all pairs of special values.
    pub fn operands(&self, random: usize) -> Operands {
        operands::operands(&self.ty, random, &self.name)
    }

    /// Compares what a device gave with what Rust gave.
    pub fn judge(
        &self,
        tolerance: Tolerance,
        operands: &Operands,
        expected: &[u8],
        given: &[u8],
    ) -> Verdict {
        verdict::judge(self, tolerance, operands, expected, given)
    }
}

/// Pairs of elements, as bytes one after the other.
pub struct Operands {
    /// The left elements.
    pub left: Vec<u8>,
    /// The right elements.
    pub right: Vec<u8>,
}

/// The value of an environment variable that says whether a test may be skipped.
pub fn required(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| value == "1")
}

/// Says that a test is skipped, or fails if it must not be.
///
/// # Panics
///
/// If the environment says that the test is required.
pub fn skip(variable: &str, reason: &str) {
    assert!(!required(variable), "{variable}=1, but {reason}");
    // Straight to the terminal: the harness hides what a passing test prints.
    let _ = std::io::Write::write_fmt(
        &mut std::io::stderr(),
        format_args!("SKIPPED: {reason}; set {variable}=1 to make this an error\n"),
    );
}
