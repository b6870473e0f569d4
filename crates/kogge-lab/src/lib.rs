//! A simulated GPU for CUDA C scan kernels: it runs the text of a kernel
//! thread by thread, in any interleaving that the language allows, and sees
//! everything: races, divergent barriers, accesses out of bounds, reads of what
//! was never written, deadlocks, results that depend on the schedule; and it
//! counts the work, the steps, bank conflicts, transactions, divergence.
//!
//! For learning and checking, without a GPU. It must never be part of the
//! product (no other crate depends on it but the command line), never touch
//! files, clocks, threads or the network (it compiles to WebAssembly), never
//! panic or run without bound on any input, and never guess: a source outside
//! the language is refused, with the place and what is missing.
//!
//! ```
//! use kogge_lab::{Launch, Options, Program, Script, Values, run};
//!
//! let source = "
//!     __global__ void scan(int *x, int n) {
//!         __shared__ int s[64];
//!         int t = threadIdx.x;
//!         s[t] = x[t];
//!         for (int stride = 1; stride < n; stride *= 2) {
//!             __syncthreads();
//!             int v = t >= stride ? s[t - stride] + s[t] : s[t];
//!             __syncthreads();
//!             s[t] = v;
//!         }
//!         x[t] = s[t];
//!     }";
//! let program = Program::parse(source, "scan.cu", &[])?;
//! let script = Script::new()
//!     .value("x", vec![1i32; 64])
//!     .value("n", 64)
//!     .launch(Launch::new("scan", 1, 64));
//! let report = run(&program, &script, &Options::default())?;
//! assert!(report.is_clean());
//! assert_eq!(report.arrays["x"], Values::I32((1..=64).collect()));
//! assert_eq!((report.work(), report.steps()), (64 * 6 - 63, 6));
//! # Ok::<(), kogge_lab::Diagnostic>(())
//! ```
//!
//! # The way of a source
//!
//! `lang` preprocesses and parses it; `lower` compiles each launched kernel,
//! with all it calls, to the instructions of `machine`; `run` plays the host.
//! The catalogue of lessons and the drawings stand beside, on the public API.
//!
//! # What orders two accesses
//!
//! Program order; a block barrier; `__syncwarp` among its lanes; a grid barrier;
//! the end of a kernel; and a flag: the writer's `__threadfence` (or, within a
//! block, `__threadfence_block`) before a volatile or atomic write, and the
//! volatile or atomic read that sees it. With `cuda::atomic_ref` a release needs no
//! fence before it and an acquire none behind it. A release goes on through the atomic
//! updates of others, not through their stores; it is no fence for other flags.
//! `memory_order_relaxed` is what CUDA's own atomics have, and
//! `cuda::atomic_thread_fence` is a fence for writers, for readers or for both, as its
//! order says. Shuffles and votes do not order memory, as CUDA has it. Two deliberate
//! leniencies, which textbooks rely on: a volatile or relaxed read needs no fence
//! behind it unless [`Options::acquire_needs_fence`] is set, and a fence before a block
//! barrier counts for a flag that another thread of the block raises behind it.
//!
//! Atomic accesses never race with each other or with volatile ones, but for atomics
//! of one block's scope (`atomicAdd_block`, `cuda::thread_scope_block`) with those of
//! another block. Volatile ones of an array don't where the kernel waits for its values
//! in a loop, so that they are flags. Whether such may come in either order is for
//! [`explore`] to show. Memory itself is sequentially consistent: a missing fence is
//! found as a race, not as a stale value.
//!
//! # What counts as work
//!
//! Calls of the function [`Options::operator`] (`combine`); in a source without
//! it, calls of an `operator()` of two operands; and outside both, each
//! `+ * & | ^ min max` (operator, assignment, function or atomic) whose two
//! operands both stem from array elements.
//!
//! # The language
//!
//! CUDA C as kernels are written in textbooks and on blogs: all statements but `goto`, range-based
//! `for` and declarations in conditions, all operators, pointers, arrays, structs with methods,
//! constructors, operators and single inheritance, unions, enumerations, references, templates of
//! functions and structs on types and integers with their specialisations (full, and of structs
//! partial), `auto`, `constexpr`, `if constexpr`, the preprocessor, `__shared__` and
//! `extern __shared__`, device variables, atomics, fences, shuffles, votes, maths, vector types,
//! cooperative groups (grid, block, tiles of a fixed size). Sizes are those of 64-bit Linux; `long`
//! is `long long`, `char` is `signed char`, and a value of an enumeration is an integer, so that
//! templates and overloads don't tell them apart. Signed overflow wraps; transcendental functions
//! are the host's; a product and a sum are never fused, as nvcc fuses them unless told
//! `-fmad=false`. Variables that are `const` and what a pointer to `const` points at are not
//! written; elements of an array that is `const` may be, and so may those of `__constant__` memory.
//! Of a template that has specialisations, a wrong one or one outside the language refuses the use,
//! whatever the arguments: which one is meant isn't known then.
//!
//! Of libcu++ the atomics: `cuda::atomic_ref` and `cuda::atomic` (and those of `cuda::std`) of
//! numbers and pointers of 32 and 64 bits and of structs of 4 and 8 bytes without padding, with
//! their operators and all members but `wait` and its like, `fetch_add` and its like of pointers,
//! `fetch_min` and `fetch_max` of floating-point numbers; all memory orders but `consume`; scopes
//! from the block up; and `cuda::atomic_thread_fence`. `compare_exchange_weak` fails only where the
//! value is another, and a host gives an array of `T` for one of `cuda::atomic<T>`.
//!
//! Refused where a launched kernel needs it: recursion (but for templates and
//! constants), `goto`, lambdas, function pointers, virtual functions, exceptions,
//! `new`, inline PTX, `static` variables and `__device__` ones within functions, bit
//! fields, designated initialisers, braced lists as arguments, range-based `for`,
//! parameter packs, specialisations of members, of variables and for references,
//! references and enumerations as arguments of a template that has specialisations,
//! substitution that may fail (SFINAE), templates of structs within structs, methods
//! defined outside their struct, members that are references, conversion operators,
//! `__half` and `__nv_bfloat16`, 128-bit integers, pointers to arrays, atomic
//! references to a thread's own variables and as members or in arrays, memory orders
//! known only at run time, library types (`cub`, `thrust`, `std` containers,
//! `cuda::barrier`), textures and surfaces, `cp.async`, `mbarrier`, clusters, named
//! barriers, coalesced groups, dynamic parallelism. The text behind an `#include` is
//! not read: a kernel that needs it is refused where it does. Host code is read past;
//! what the host does is a [`Script`], or [`catalogue::HostProgram`] writes one.
//! `printf` in a kernel prints nothing.
//!
//! # Where a finding is
//!
//! At the line of the access, and for an access within the operator at the line
//! that applies it: the barriers stand there. The message says, for a line of a
//! device function, from which line of the kernel it was called.
//!
//! # Speed
//!
//! On one core of an AMD EPYC (family 25, model 17), release build: a block of 1,024
//! threads takes 19 ms in `one_thread_per_output`, which applies the operator half a
//! million times, and 0.4 to 2.4 ms in every other lesson; 65,536 elements take 1.2 s
//! in the two lessons whose 256 resident blocks meet at 32 barriers of the grid, and
//! 0.03 to 0.18 s in the others. To measure it again:
//! `cargo test --release -p kogge-lab --test sim_speed -- --ignored --nocapture`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod catalogue;
mod diagnostic;
pub mod draw;
mod expect;
#[doc(hidden)]
pub mod fuzzing;
mod lang;
mod lower;
mod machine;
mod options;
mod program;
mod random;
mod report;
mod run;
mod script;
mod trace;
pub mod value;

pub use diagnostic::Diagnostic;
pub use expect::{Expectation, Mismatch};
pub use options::{Budget, Device, Options, Order, Schedule};
pub use program::{Kernel, Parameter, Program, Variable};
pub use report::{
    Access, AccessKind, Counts, Finding, FindingKind, LaunchReport, Level, Location, Report, Space,
};
pub use run::{explore, explore_each, run};
pub use script::{Arg, Launch, Script, Step};
pub use trace::{Event, Interval, Labelled, Moment, Place, Trace, TracedArray};
pub use value::{ArrayInit, Number, ScalarType, Value, Values};
