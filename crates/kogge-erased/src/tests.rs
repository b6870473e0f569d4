//! Every scan that there is, with what [`Op::types`] gives for it.

use crate::{Direction, Dtype, Kind, Op, Spec, bytemuck};

const OPS: [Op; 14] = [
    Op::Sum,
    Op::Product,
    Op::Min,
    Op::Max,
    Op::BitAnd,
    Op::BitOr,
    Op::BitXor,
    Op::All,
    Op::Any,
    Op::LogAddExp,
    Op::LastValid,
    Op::ArgMin,
    Op::ArgMax,
    Op::Affine,
];

/// With initial values as long as the accumulators that are said to be theirs.
#[test]
fn every_pair_of_operator_and_types_scans() {
    let mut scans = 0;
    for op in OPS {
        for file in Dtype::all() {
            for accumulate in Dtype::all().map(Some).chain([None]) {
                let Ok(types) = op.types(file, None, accumulate) else { continue };
                let init = op.takes_init().then(|| vec![0; types.accumulator.size()]);
                let spec = Spec::new(op, types, Kind::Inclusive, Direction::Forward, init);
                let (mut input, mut output) = ([0u64; 4], [u64::MAX; 4]);
                let input = &bytemuck::bytes_of_mut(&mut input)[..2 * spec.input_size()];
                let output = &mut bytemuck::bytes_of_mut(&mut output)[..2 * spec.output_size()];
                spec.line().scan_into(0, &[], input, output).expect("lengths fit");
                let by_line = output.to_vec();
                spec.columns(1).scan_rows(0, input, output).expect("lengths fit");
                assert_eq!(output, by_line, "{op:?} {file} {accumulate:?}");
                scans += 1;
            }
        }
    }
    assert!(scans > 200, "{scans} scans");
}

#[test]
#[should_panic(expected = "a part of a row")]
fn rows_are_whole() {
    let types = Op::Sum.types(Dtype::I64, None, None).unwrap();
    let spec = Spec::new(Op::Sum, types, Kind::Inclusive, Direction::Forward, None);
    let (input, mut output) = ([0i64; 7], [0i64; 7]);
    let output = bytemuck::cast_slice_mut(&mut output);
    let _ = spec.columns(3).scan_rows(0, bytemuck::cast_slice(&input), output);
}
