//! ndarray's `accumulate_axis_inplace` along the only axis.

use crate::contender::{Contender, Mode, Role};
use crate::dtype::Dtype;
use ndarray::{ArrayViewMut1, Axis};

/// ndarray; it has the form in place alone.
pub fn contender<T: Dtype>(mode: Mode) -> Option<Contender<'static, T>> {
    (mode == Mode::InPlace).then(|| {
        let name = "ndarray accumulate_axis_inplace";
        Contender::in_place(Role::Peer, name, 1, |y: &mut [T]| {
            let mut array = ArrayViewMut1::from(y);
            array.accumulate_axis_inplace(Axis(0), |&sum, x| *x = sum.plus(*x));
        })
    })
}
