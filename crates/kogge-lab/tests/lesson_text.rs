//! Headers, host programs and mutants come from files anyone may write: no text makes them panic or
//! run for ever, and those of the catalogue survive small damage with an error or another meaning.

use kogge_lab::ScalarType;
use kogge_lab::catalogue::{Lesson, lessons};
use proptest::prelude::*;

fn read(text: &str, mutants: &str, n: u64) {
    if let Ok(lesson) = Lesson::parse("any", text, mutants) {
        let _ = lesson.claims(n, &[]);
        let _ = lesson.plan(n, ScalarType::F32, &[]);
        for mutant in &lesson.mutants {
            let _ = mutant.apply(text);
        }
    }
}

proptest! {
    #[test]
    fn any_text(text in ".{0,400}", mutants in ".{0,200}", n in any::<u64>()) {
        read(&text, &mutants, n);
    }

    #[test]
    fn notation_like_text(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "N", "let", "if", "for", "T", "x", "(", ")", "{", "}", "[", "]", "<<<", ">>>", "=", ";", ",", "+",
                "-", "*", "/", "%", "^", "<", "1", "2", "9223372036854775807", "log2", "ceil", "sizeof", "\n//", "min",
            ]),
            0..60,
        ),
        n in any::<u64>(),
    ) {
        let host = words.join(" ");
        let text = format!("// T.\n// scan: inclusive\n// sizes: 1..8\n// work: {}\n// host:\n// {host}\n", host.replace('\n', " "));
        read(&text, "", n);
        read(&text.replace("// work", "// hazard"), "", n);
    }

    #[test]
    fn damaged_lessons(which in 0..100_usize, at in any::<prop::sample::Index>(), with in ".{0,3}", n in 1..5000_u64) {
        let lesson = &lessons()[which % lessons().len()];
        let mut text: Vec<char> = lesson.text.chars().collect();
        let header = lesson.text.find("#ifndef").expect("a lesson has macros");
        let place = at.index(header);
        text.splice(place..(place + 2).min(text.len()), with.chars());
        read(&text.into_iter().collect::<String>(), "", n);
    }
}
