//! Values as the command line writes them, and comparisons with a reference.

use kogge_lab::value::parse;
use kogge_lab::{ArrayInit, Diagnostic, Expectation, Number, ScalarType as S, Value, Values};

fn read(text: &str) -> Result<Value, Diagnostic> {
    parse(text, &mut |name, ty| match (name, ty) {
        ("x.npy", S::I32) => Ok(Values::I32(vec![7, 8])),
        ("y.npy", _) => Ok(Values::F32(vec![])),
        _ => Err(Diagnostic::general("no such file")),
    })
}

#[test]
fn values_are_read() {
    let number = |text: &str| match read(text) {
        Ok(Value::Number(n)) => n,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(number("42"), Number::Int(42));
    assert_eq!(number(" -7 "), Number::Int(-7));
    assert_eq!(number("0x10"), Number::UInt(16));
    assert_eq!(number("18446744073709551615"), Number::UInt(u64::MAX));
    assert_eq!(number("-1.5"), Number::Double(-1.5));
    assert_eq!(number("1.5f"), Number::Double(1.5));
    assert_eq!(number("true"), Number::Bool(true));
    assert_eq!((number("nullptr"), number(" NULL")), (Number::Int(0), Number::Int(0)));

    let array = |text: &str| match read(text) {
        Ok(Value::Array(a)) => a,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(array("float[16]"), ArrayInit::Zeros(S::F32, 16));
    assert_eq!(array("unsigned long long[2]"), ArrayInit::Zeros(S::U64, 2));
    assert_eq!(array("int:iota(4)").values(), Values::I32(vec![0, 1, 2, 3]));
    assert_eq!(array("double:ones(2)").values(), Values::F64(vec![1.0; 2]));
    assert_eq!(array("int: 1, -2,3").values(), Values::I32(vec![1, -2, 3]));
    assert_eq!(array("float:1,2.5,nan").values().len(), 3);
    assert_eq!(array("int:@x.npy").values(), Values::I32(vec![7, 8]));
    assert_eq!(array("int:uninit(3)"), ArrayInit::Uninitialised(S::I32, 3));
    assert_eq!(array("char:").values(), Values::I8(vec![]));
    // The same seed gives the same elements, another seed others.
    let random = |seed| array(&format!("int:random(100,{seed})")).values();
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
    let Values::I32(v) = random(3) else { panic!() };
    assert!(v.iter().all(|x| (-100..=100).contains(x)));
}

#[test]
fn types_are_spelt_in_any_order() {
    for (names, ty) in [
        (
            "unsigned long long|unsigned long long int|long unsigned int long|int long unsigned",
            S::U64,
        ),
        ("long long|long|long int|signed long|int long signed long", S::I64),
        ("short|short int|int short|signed short int|int16_t", S::I16),
        ("unsigned short|short unsigned|int unsigned short|ushort", S::U16),
        ("int|signed|signed int|int signed|int32_t", S::I32),
        ("unsigned|unsigned int|int unsigned|uint|u32", S::U32),
        ("char|signed char|char signed|i8", S::I8),
        ("unsigned char|char unsigned|uint8_t", S::U8),
        ("double", S::F64),
        ("float", S::F32),
        ("bool", S::Bool),
    ] {
        for name in names.split('|') {
            assert_eq!(S::from_name(name), Some(ty), "{name}");
            let spaced = name.replace(' ', "  ");
            let array = Value::Array(ArrayInit::Zeros(ty, 3));
            assert_eq!(read(&format!("{spaced} [3]")).unwrap(), array, "{name}");
        }
    }
    let wrong = "signed unsigned|long short|long long long|int int|long char|unsigned double|long double|\
                 unsigned float|short double|bool int|unsigned uint|";
    for name in wrong.split('|') {
        assert_eq!(S::from_name(name), None, "{name}");
    }
    let many = "signed unsigned long ".repeat(300);
    assert_eq!(S::from_name(&format!("{many}int")), None);
}

#[test]
fn vectors_are_given_by_their_components() {
    let array = |text: &str| match read(text) {
        Ok(Value::Array(a)) => a,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(array("uint4[8]"), array("uint[32]"));
    assert_eq!(array("float3:uninit(5)"), ArrayInit::Uninitialised(S::F32, 15));
    assert_eq!(array("ulonglong2:iota(2)"), ArrayInit::Iota(S::U64, 4));
    assert_eq!(array("char1[2]"), ArrayInit::Zeros(S::I8, 2));
    assert_eq!(array("int2:1,2,3,4").values(), Values::I32(vec![1, 2, 3, 4]));
    assert_eq!(array("int2:@x.npy").values(), Values::I32(vec![7, 8]));
    let error = read("int2:1,2,3").unwrap_err().to_string();
    assert!(error.contains("3 numbers make no whole number of int2"), "{error}");
    for text in ["uint5[8]", "unsigned4[8]", "bool2[1]", "4[2]", "int4:@x.npy", "int4[67108865]"] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn wrong_values_are_refused() {
    for text in [
        "",
        "flout[3]",
        "int[-1]",
        "int[999999999999]",
        "int:iota(x)",
        "int:dance(3)",
        "char:300",
        "int:1.5",
        "unsigned:-1",
        "int:1,,2",
        "int:nullptr",
        "int:@missing.npy",
        "int:@y.npy",
        "int",
        "[3]",
        "int:random(3,x)",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn expectations_compare() {
    let check =
        |text: &str, x: Values, y: Values| Expectation::parse(text).unwrap().compare(&x, &y);
    let x = || Values::I32(vec![3, -1, 4, i32::MAX]);
    assert!(check("inclusive-sum:x:y", x(), Values::I32(vec![3, 2, 6, i32::MIN + 5])).is_ok());
    assert!(check("exclusive-sum:x:y", x(), Values::I32(vec![0, 3, 2, 6])).is_ok());
    assert!(check("inclusive-max:x:y", x(), Values::I32(vec![3, 3, 4, i32::MAX])).is_ok());
    assert!(check("exclusive-min:x:y", x(), Values::I32(vec![i32::MAX, 3, -1, -1])).is_ok());
    assert!(check("inclusive-xor:x:y", Values::U8(vec![1, 3]), Values::U8(vec![1, 2])).is_ok());
    assert!(
        check("inclusive-product:x:y", Values::I32(vec![3, -2]), Values::I32(vec![3, -6])).is_ok()
    );
    let wrong = check("inclusive-sum:x:y", x(), Values::I32(vec![3, 2, 7, 0])).unwrap_err();
    assert_eq!((wrong.index, wrong.count), (2, 2));
    assert_eq!((wrong.found, wrong.expected), (Number::Int(7), Number::Int(6)));

    // Any order of float additions is within the bound, a lost element is not.
    let x: Vec<f32> = (0..1000).map(|i| ((i * 37 % 101) as f32 - 50.0) * 0.1).collect();
    let mut sum = 0f32;
    let left: Vec<f32> = x
        .iter()
        .map(|v| {
            sum += v;
            sum
        })
        .collect();
    assert!(check("inclusive-sum:x:y", x.clone().into(), left.clone().into()).is_ok());
    let mut lost = left;
    for v in &mut lost[500..] {
        *v -= 1.0;
    }
    let wrong = check("inclusive-sum:x:y", x.into(), lost.into()).unwrap_err();
    assert_eq!((wrong.index, wrong.count), (500, 500));
    for text in
        ["sum:x:y", "inclusive-sum:x", "inclusive-sum:x:y:z", "inclusive-avg:x:y", "outer-sum:x:y"]
    {
        assert!(Expectation::parse(text).is_err(), "{text}");
    }
}
