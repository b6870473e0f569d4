//! The language against CUDA's own compiler: what the laboratory takes NVRTC takes too, and what it
//! refuses as wrong NVRTC refuses.
//!
//! Without NVRTC the laboratory's side is tested alone, against the verdicts written here.

mod conversions;
mod functions;
#[path = "../common/nvrtc.rs"]
mod nvrtc;
mod specialisations;
mod statements;
mod structs;

use kogge_lab::Program;
use nvrtc::{compile, library};

fn source(prelude: &str, body: &str) -> String {
    let parameters = "int *out, float *f, double *d, long long *l, unsigned *u, \
                      unsigned long long *ul, int n";
    format!("{prelude}\n__global__ void k({parameters}) {{\n{body}\n}}\n")
}

/// Compares the verdicts of the laboratory and of NVRTC; a refusal must say `what`.
fn verdicts(cases: &[(&str, &str, Result<(), &str>)]) {
    let nvrtc = library();
    for (prelude, body, expected) in cases {
        let source = source(prelude, body);
        let verdict = Program::parse(&source, "k.cu", &[]).and_then(|p| p.check());
        match (verdict, expected) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(what)) => assert!(error.message.contains(what), "{body}: {error}"),
            (verdict, _) => panic!("{prelude}\n{body}: {verdict:?}, not {expected:?}"),
        }
        if let Some(nvrtc) = &nvrtc {
            let compiled = compile(nvrtc, &source, "sm_90");
            let refused = compiled.err().filter(|log| log.contains("error"));
            assert_eq!(refused.is_none(), expected.is_ok(), "{prelude}\n{body}: {refused:?}");
        }
    }
}

/// Bodies without a prelude that both refuse, the laboratory with these words.
fn refused(cases: &[(&str, &str)]) {
    verdicts(&cases.iter().map(|&(body, what)| ("", body, Err(what))).collect::<Vec<_>>());
}

fn taken(cases: &[&str]) {
    verdicts(&cases.iter().map(|&body| ("", body, Ok(()))).collect::<Vec<_>>());
}
