//! The text of every lesson and of every mutant compiles for real GPUs.
//!
//! Needs NVRTC, no GPU: the library named by `KOGGE_NVRTC`, or that of the Python package
//! `nvidia-cuda-nvrtc`. Without it the test says so and passes, unless `KOGGE_REQUIRE_NVRTC` is
//! set.

mod common;
#[path = "common/nvrtc.rs"]
mod nvrtc;

use common::{mutated, operator};
use kogge_lab::ScalarType;
use kogge_lab::catalogue::{Operator, lessons};
use nvrtc::{compile, library};

/// The macros of an operator as text before the first line.
fn prelude(operator: &Operator) -> String {
    operator.defines().iter().map(|(name, value)| format!("#define {name} {value}\n")).collect()
}

#[test]
fn lessons_and_mutants_compile() {
    let Some(nvrtc) = library() else { return };
    let affine = prelude(&operator("affine", ScalarType::U64));
    let mut failures = Vec::new();
    for lesson in lessons() {
        let mut texts = vec![
            (lesson.name.clone(), lesson.text.clone()),
            (format!("{} affine", lesson.name), affine.clone() + &lesson.text),
        ];
        texts.extend(
            lesson
                .mutants
                .iter()
                .map(|m| (format!("{} {}", lesson.name, m.name), mutated(lesson, m).text)),
        );
        for (name, text) in texts {
            for arch in ["sm_80", "sm_90"] {
                if let Err(log) = compile(&nvrtc, &text, arch) {
                    failures.push(format!("{name} for {arch}:\n{log}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn nvrtc_refuses_what_is_no_cuda() {
    let Some(nvrtc) = library() else { return };
    assert!(compile(&nvrtc, "__global__ void k() { x = 1; }", "sm_80").is_err());
}
