//! Tells the program which compiler made it, for its records.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.as_deref().map_or("unknown", str::trim);
    println!("cargo:rustc-env=KOGGE_BENCH_COMPILER={version}");
    println!("cargo:rerun-if-changed=build.rs");
}
