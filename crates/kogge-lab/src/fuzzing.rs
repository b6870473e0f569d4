//! One entry for fuzzers and for the tests that stand in for them.

use crate::{
    ArrayInit, Budget, Launch, Number, Options, Order, Program, ScalarType, Schedule, Script,
    Value, run,
};

/// Parses a text and runs every kernel in it on made-up arguments, under
/// budgets so small that any text comes to its end in well under a second.
pub fn run_text(source: &str) {
    let Ok(program) = Program::parse(source, "fuzz.cu", &[]) else {
        return;
    };
    for (i, kernel) in program.kernels().iter().take(4).enumerate() {
        let template: Vec<&str> = kernel.template.iter().map(|_| "32").collect();
        let name = if template.is_empty() {
            kernel.full_name.clone()
        } else {
            format!("{}<{}>", kernel.name, template.join(","))
        };
        let mut launch = Launch::new(name, 3, 40);
        launch.shared_bytes = 256;
        launch.cooperative = i % 2 == 1;
        let mut script = Script::new().launch(launch);
        for p in &kernel.parameters {
            let value: Value = if p.pointer {
                let ty = p.scalar.unwrap_or(ScalarType::I32);
                Value::Array(ArrayInit::Iota(ty, 64))
            } else {
                Value::Number(Number::Int(40))
            };
            script = script.value(p.name.clone(), value);
        }
        for order in [Order::Forward, Order::Random] {
            let options = Options {
                resident_blocks: 2,
                schedule: Schedule { order, seed: 7 },
                budget: Budget { instructions: 200_000, memory: 64 << 20, findings: 10 },
                trace: order == Order::Forward,
                ..Options::default()
            };
            // Refusals and findings are both fine; ending is what matters.
            let _ = run(&program, &script, &options);
        }
    }
}
