//! What the macros refuse, and what they say to write instead.
//!
//! Run with TRYBUILD=overwrite after changing a message, and read the difference.

#[test]
fn refusals_point_at_the_token_and_name_what_to_write() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/messages/*.rs");
}
