//! The instructions of the simulated machine, and compiled kernels.
//!
//! Registers are numbered per kernel: device functions are compiled into
//! their callers, so a thread is its registers, its local memory and a program
//! counter, and lanes with equal counters can always run together. A register
//! holds 64 bits: integers sign- or zero-extended by their type, floats as
//! their bits in the low part, pointers as [`address`](super::address) has it.

use std::num::NonZeroU32;

use crate::lang::Pos;
use crate::report::AccessKind;
use crate::value::ScalarType;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Op {
    Nop,
    Mov,
    AddI32,
    AddU32,
    Add64,
    SubI32,
    SubU32,
    Sub64,
    MulI32,
    MulU32,
    Mul64,
    AddF32,
    SubF32,
    MulF32,
    DivF32,
    AddF64,
    SubF64,
    MulF64,
    DivF64,
    /// Integer division and remainder: `x` is the type.
    Div,
    Rem,
    And,
    Or,
    Xor,
    /// Shifts: `x` is the type.
    Shl,
    Shr,
    LtS,
    LeS,
    LtU,
    LeU,
    Eq,
    Ne,
    LtF32,
    LeF32,
    EqF32,
    NeF32,
    LtF64,
    LeF64,
    EqF64,
    NeF64,
    /// `d = a` converted from type `x >> 4` to type `x & 15`.
    Convert,
    /// `d = a + b * k`, for addresses.
    Index,
    /// `d = a + k`, k signed, for addresses.
    Offset,
    /// `d = a ? b : register k`.
    Select,
    /// `d = f(a, b, register k)`, f and type in `x` and the high half of `k`.
    Math,
    /// `d` = type `x` at `a + k`; flags in `b`.
    Load,
    /// Type `x` at `a + k` = `b`; flags in `d`.
    Store,
    /// `d` = atomic `k` (its scope and order too) of type `x` at `a` with operands from `b` on.
    Atomic,
    /// `d` = shuffle `x` of `a`; mask, lane and width from `b` on.
    Shuffle,
    /// `d` = vote `x` on `b` among the lanes of mask `a`.
    Vote,
    /// Block barrier; `x` reduces the predicate `a` into `d`.
    SyncThreads,
    /// Barrier of the lanes of mask `a`.
    SyncWarp,
    GridSync,
    /// `x`: its scope, and what it leaves out ([`fence`]).
    Fence,
    Jump,
    JumpZero,
    JumpNonZero,
    /// The operator's call begins: operands of `x` leaves from `a` and `b` on, nesting `k`.
    WorkBegin,
    /// It ends: result of `x` leaves from `d` on, nesting `k`.
    WorkEnd,
    /// The instruction before, `d = a ∘ b`, was an application of the operator.
    Work,
    /// Finding unless flag `a` is set: name `k` is read uninitialised; `x` says what it names.
    Check,
    /// Finding unless `a`.
    Assert,
    Trap,
    /// `d` = a clock.
    Clock,
    Exit,
}

/// Load and store flags.
pub(crate) mod flag {
    pub(crate) const VOLATILE: u16 = 1;
    /// The size that the memory system sees is in the bits above; 0: this
    /// access belongs to a vector access counted before.
    pub(crate) const SIZE_SHIFT: u16 = 8;
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ins {
    pub op: Op,
    pub x: u8,
    pub d: u16,
    pub a: u16,
    pub b: u16,
    pub k: u32,
}

impl Ins {
    pub(crate) const fn new(op: Op) -> Self {
        Self { op, x: 0, d: 0, a: 0, b: 0, k: 0 }
    }

    /// Whether `d` is a register that is only written.
    pub(crate) const fn writes(&self) -> bool {
        !matches!(
            self.op,
            Op::Nop
                | Op::Store
                | Op::SyncWarp
                | Op::GridSync
                | Op::Fence
                | Op::Jump
                | Op::JumpZero
                | Op::JumpNonZero
                | Op::WorkBegin
                | Op::WorkEnd
                | Op::Work
                | Op::Check
                | Op::Assert
                | Op::Trap
                | Op::Exit
        )
    }
}

pub(crate) const TYPES: [ScalarType; 11] = [
    ScalarType::Bool,
    ScalarType::I8,
    ScalarType::U8,
    ScalarType::I16,
    ScalarType::U16,
    ScalarType::I32,
    ScalarType::U32,
    ScalarType::I64,
    ScalarType::U64,
    ScalarType::F32,
    ScalarType::F64,
];

/// A type in four bits.
pub(crate) const fn code(ty: ScalarType) -> u8 {
    ty as u8
}

/// The type of four bits.
pub(crate) const fn decode(code: u8) -> ScalarType {
    TYPES[(code & 15) as usize % TYPES.len()]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum AtomicOp {
    Add,
    Sub,
    Exchange,
    Min,
    Max,
    Increment,
    Decrement,
    CompareSwap,
    And,
    Or,
    Xor,
    /// What `cuda::atomic_ref` has as `load` and `store`.
    Load,
    Store,
}

impl AtomicOp {
    pub(crate) const ALL: [Self; 13] = [
        Self::Add,
        Self::Sub,
        Self::Exchange,
        Self::Min,
        Self::Max,
        Self::Increment,
        Self::Decrement,
        Self::CompareSwap,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Load,
        Self::Store,
    ];

    /// That of an [`Op::Atomic`].
    pub(crate) const fn of(ins: Ins) -> Self {
        Self::ALL[(ins.k & atomic::OPERATION) as usize % Self::ALL.len()]
    }

    /// What a finding calls it.
    pub(crate) const fn access(self) -> AccessKind {
        match self {
            Self::Load => AccessKind::Read,
            Self::Store => AccessKind::Write,
            _ => AccessKind::Atomic,
        }
    }
}

/// Added to the operation of an atomic.
pub(crate) mod atomic {
    /// The bits of the operation itself.
    pub(crate) const OPERATION: u32 = BLOCK - 1;
    /// Its scope is the block alone.
    pub(crate) const BLOCK: u32 = 1 << 8;
    /// What it reads from orders what follows, without a fence.
    pub(crate) const ACQUIRES: u32 = 1 << 9;
    /// What came before is ordered for who reads it, without a fence.
    pub(crate) const RELEASES: u32 = 1 << 10;
    /// Where the comparison fails it is a read alone.
    pub(crate) const READS_ON_FAILURE: u32 = 1 << 11;
    /// And that read acquires.
    pub(crate) const FAILURE_ACQUIRES: u32 = 1 << 12;
}

/// What a fence is for.
pub(crate) mod fence {
    /// For the block alone, not the device.
    pub(crate) const BLOCK: u8 = 1;
    /// Flags read before it order nothing behind it.
    pub(crate) const NO_ACQUIRE: u8 = 2;
    /// Flags written behind it release nothing before it.
    pub(crate) const NO_RELEASE: u8 = 4;
}

/// Shuffles: which lane is read.
pub(crate) mod shuffle {
    pub(crate) const INDEX: u8 = 0;
    pub(crate) const UP: u8 = 1;
    pub(crate) const DOWN: u8 = 2;
    pub(crate) const XOR: u8 = 3;
}

/// What the name of [`Op::Check`] is.
pub(crate) mod check {
    /// A function, whose result is used; else a variable.
    pub(crate) const RESULT: u8 = 1;
}

/// Votes.
pub(crate) mod vote {
    pub(crate) const BALLOT: u8 = 0;
    pub(crate) const ANY: u8 = 1;
    pub(crate) const ALL: u8 = 2;
    /// The lanes that run: no synchronisation.
    pub(crate) const ACTIVE: u8 = 3;
    pub(crate) const MATCH_ANY: u8 = 4;
    /// Reductions of unsigned and signed integers.
    pub(crate) const ADD: u8 = 5;
    pub(crate) const MIN_S: u8 = 6;
    pub(crate) const MAX_S: u8 = 7;
    pub(crate) const MIN_U: u8 = 8;
    pub(crate) const MAX_U: u8 = 9;
    pub(crate) const AND: u8 = 10;
    pub(crate) const OR: u8 = 11;
    pub(crate) const XOR: u8 = 12;
}

/// What a block barrier does with the threads' predicates.
pub(crate) mod barrier {
    pub(crate) const PLAIN: u8 = 0;
    pub(crate) const COUNT: u8 = 1;
    pub(crate) const AND: u8 = 2;
    pub(crate) const OR: u8 = 3;
}

/// A register that the machine sets before the first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Thread(u8),
    Block(u8),
    BlockDim(u8),
    GridDim(u8),
    /// Linear id of the thread in its block.
    Rank,
    Lane,
}

/// A shared or local variable.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub name: String,
    pub offset: u32,
    pub size: u32,
    /// Size of the element that indices count.
    pub element: u32,
}

/// A parameter and the registers that hold it.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub name: String,
    pub register: u16,
    pub ty: ParamType,
    pub default: DefaultArgument,
}

/// What a parameter is where the launch gives it no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultArgument {
    None,
    /// A number or address as its register holds it.
    Constant(u64),
    /// Known only when the host runs.
    Computed,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParamType {
    Scalar(ScalarType),
    /// A pointer to elements of so many bytes; no type: to something that takes
    /// any array (`void`, a struct).
    Pointer(Option<ScalarType>, u32),
    /// A struct of so many leaves: given as an array of their numbers.
    Struct(Vec<ScalarType>),
}

/// A device variable that the kernel names.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub name: String,
    pub ty: ScalarType,
    pub bytes: u64,
    pub init: Vec<u8>,
    /// Whether its type is made of `ty` alone, so that its contents print.
    pub uniform: bool,
}

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Site {
    /// Its place. An access within the operator has the place of the operator's call: there the
    /// barriers stand that order it, or fail to.
    pub pos: Pos,
    /// In a device function: the line of the kernel that called it.
    pub caller: Option<NonZeroU32>,
}

/// An `extern __shared__` object: its index, and what it was declared as.
#[derive(Clone, Debug)]
pub(crate) struct Dynamic {
    pub object: usize,
    pub ty: String,
    pub pos: Pos,
}

/// A kernel ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub name: String,
    pub code: Vec<Ins>,
    /// For each instruction whether it is a volatile read that a loop waits for.
    pub waiting: Vec<bool>,
    pub places: Vec<Site>,
    pub registers: usize,
    pub constants: Vec<(u16, u64)>,
    pub specials: Vec<(u16, Special)>,
    pub params: Vec<Param>,
    pub locals: Vec<Object>,
    pub local_bytes: u32,
    pub shared: Vec<Object>,
    pub shared_bytes: u32,
    /// The `extern __shared__` objects among `shared`.
    pub dynamic: Vec<Dynamic>,
    /// Names of variables for [`Op::Check`].
    pub names: Vec<String>,
    pub launch_bound: Option<u64>,
    pub grid_sync: Option<Pos>,
    pub pos: Pos,
}
