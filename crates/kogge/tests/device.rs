//! The builder gives a GPU's buffers and a GPU's host slices the bits that it gives slices. Without
//! a GPU the error is looked at instead, and the skip is said.
#![cfg(feature = "cuda")]

use kogge::ops::{Affine, Compose, Max, Sum};
use kogge::{BufferSegments, Device, DeviceError, Error, Layout, Scan, by_offsets, f16};
use std::io::Write;

/// The GPU, or that there is none.
fn device() -> Option<Device> {
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            // Straight to the terminal: the harness hides what a passing test prints.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {error}");
            None
        }
    }
}

#[test]
fn a_device_that_does_not_exist_is_an_error() {
    let error = Device::cuda(4_000).expect_err("no such device");
    assert!(
        matches!(
            error,
            DeviceError::NoDriver
                | DeviceError::NoDevice { .. }
                | DeviceError::DriverTooOld(..)
                | DeviceError::Driver(_)
        ),
        "{error:?}"
    );
}

#[test]
fn buffers_get_the_bits_of_slices() -> Result<(), DeviceError> {
    let Some(device) = device() else { return Ok(()) };
    let data: Vec<f32> = (0..3_000_000).map(|i| (i % 1013) as f32 * 0.37 - 100.0).collect();
    let input = device.buffer(&data)?;
    for scan in [
        Scan::new(Sum),
        Scan::new(Sum).exclusive().init(0.5),
        Scan::new(Sum).reverse(),
        Scan::new(Sum).reverse().exclusive(),
    ] {
        let (values, total) = scan.scan_with_total(&data);
        assert!(scan.scan_buffer(&device, &input)?.read()? == values);
        let mut output = device.zeros::<f32>(data.len())?;
        assert_eq!(scan.scan_buffer_with_total(&device, &input, &mut output)?, total);
        assert!(output.read()? == values);
        let mut in_place = device.buffer(&data)?;
        scan.scan_buffer_in_place(&device, &mut in_place)?;
        assert!(in_place.read()? == values);
        let mut host = vec![0.0f32; data.len()];
        assert_eq!(scan.scan_by_way_of(&device, &data, &mut host)?, total);
        assert!(host == values);
    }
    let mut short = device.zeros::<f32>(5)?;
    let refused = Scan::new(Sum).scan_buffer_into(&device, &input, &mut short);
    let differ = Error::LengthMismatch { input: input.len(), output: 5 };
    assert!(matches!(refused, Err(DeviceError::Invalid(error)) if error == differ));
    Ok(())
}

#[test]
fn other_types_and_wider_accumulators() -> Result<(), DeviceError> {
    let Some(device) = device() else { return Ok(()) };
    let halves: Vec<f16> = (0..100_000).map(|i| f16::from_f32((i % 77) as f32 * 0.1)).collect();
    let scan = Scan::new(Sum).accumulate::<f64>();
    let input = device.buffer(&halves)?;
    assert!(scan.scan_buffer(&device, &input)?.read()? == scan.scan(&halves));
    let maps: Vec<Affine<f32>> =
        (0..100_000).map(|i| Affine { a: 0.99, b: (i % 5) as f32 }).collect();
    let scan = Scan::new(Compose);
    assert!(scan.scan_buffer(&device, &device.buffer(&maps)?)?.read()? == scan.scan(&maps));
    let nothing = device.buffer::<i32>(&[])?;
    assert!(Scan::new(Max).scan_buffer(&device, &nothing)?.read()?.is_empty());
    Ok(())
}

/// Every axis of an array with gaps, with an initial value and a total for each line.
#[test]
fn lines_of_buffers_get_the_bits_of_slices() -> Result<(), DeviceError> {
    let Some(device) = device() else { return Ok(()) };
    let dense = Layout::row_major(&[31, 257, 66]);
    // Rows of 66 that lie 70 apart, of which the first three elements are skipped.
    let apart = Layout { offset: 3, strides: vec![257 * 70, 70, 1], ..dense.clone() };
    let data: Vec<f32> = (0..31 * 257 * 70).map(|i| (i % 1013) as f32 * 0.37 - 100.0).collect();
    let input = device.buffer(&data)?;
    for (axis, scan) in [
        (0, Scan::new(Sum)),
        (1, Scan::new(Sum).exclusive()),
        (2, Scan::new(Sum).reverse()),
        (2, Scan::new(Sum).reverse().exclusive()),
    ] {
        let lines = 31 * 257 * 66 / dense.shape[axis];
        let inits: Vec<f32> = (0..lines).map(|i| i as f32 * 0.5).collect();
        let (mut values, mut totals) = (vec![0.0; 31 * 257 * 66], vec![0.0; lines]);
        let on_slices = scan.lines(axis).inits(&inits).totals(&mut totals);
        on_slices.scan_into(&data, &apart, &mut values, &dense)?;

        let (inits_there, mut totals_there) = (device.buffer(&inits)?, device.zeros::<f32>(lines)?);
        let mut output = device.zeros::<f32>(values.len())?;
        let on_buffers = scan.buffer_lines(axis).inits(&inits_there).totals(&mut totals_there);
        on_buffers.scan_into(&device, &input, &apart, &mut output, &dense)?;
        assert!(output.read()? == values, "axis {axis}");
        assert!(totals_there.read()? == totals, "totals along axis {axis}");

        let mut in_place = device.buffer(&data)?;
        scan.buffer_lines(axis).inits(&inits_there).scan_in_place(
            &device,
            &mut in_place,
            &apart,
        )?;
        let mut expected = data.clone();
        scan.lines(axis).inits(&inits).scan_in_place(&mut expected, &apart)?;
        assert!(in_place.read()? == expected, "axis {axis} in place");
    }
    let (few, mut output) = (device.zeros::<f32>(5)?, device.zeros::<f32>(data.len())?);
    let scan = Scan::new(Sum);
    let refused = scan.buffer_lines(0).inits(&few);
    let refused = refused.scan_into(&device, &input, &apart, &mut output, &apart);
    assert!(matches!(refused, Err(DeviceError::Invalid(_))), "{refused:?}");
    Ok(())
}

/// The same segments by offsets, flags and keys; by flags and keys they are counted on the device.
#[test]
fn segments_of_buffers_get_the_bits_of_slices() -> Result<(), DeviceError> {
    let Some(device) = device() else { return Ok(()) };
    let lengths = (0..4_000usize).map(|i| 1 + i * i % 509 + 300_000 * usize::from(i == 1_234));
    let mut offsets = vec![0u32];
    let mut keys = Vec::new();
    for (key, length) in lengths.enumerate() {
        keys.resize(keys.len() + length, key as u64);
        offsets.push(keys.len() as u32);
    }
    let len = keys.len();
    let heads: Vec<u8> = (0..len).map(|i| u8::from(i > 0 && keys[i] != keys[i - 1])).collect();
    let data: Vec<f32> = (0..len).map(|i| (i % 1013) as f32 * 0.37 - 100.0).collect();
    let inits: Vec<f32> = (0..4_000).map(|i| i as f32 * 0.5).collect();

    let input = device.buffer(&data)?;
    let (offsets_there, keys_there) = (device.buffer(&offsets)?, device.buffer(&keys)?);
    let signed: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
    let wide: Vec<i64> = offsets.iter().map(|&offset| offset.into()).collect();
    let (signed_there, wide_there) = (device.buffer(&signed)?, device.buffer(&wide)?);
    let (heads_there, inits_there) = (device.buffer(&heads)?, device.buffer(&inits)?);
    for scan in [
        Scan::new(Sum),
        Scan::new(Sum).exclusive(),
        Scan::new(Sum).reverse(),
        Scan::new(Sum).reverse().exclusive(),
    ] {
        let (mut values, mut totals) = (vec![0.0; len], vec![0.0; inits.len()]);
        let on_slices = scan.segments(by_offsets(&offsets)).inits(&inits);
        on_slices.totals(&mut totals).scan_into(&data, &mut values)?;
        for source in [
            BufferSegments::by_offsets(&offsets_there),
            BufferSegments::by_offsets(&signed_there),
            BufferSegments::by_offsets(&wide_there),
            BufferSegments::by_heads(&heads_there),
            BufferSegments::by_key(&keys_there),
        ] {
            let (mut output, mut totals_there) =
                (device.zeros::<f32>(len)?, device.zeros::<f32>(inits.len())?);
            let on_buffers = scan.buffer_segments(source).inits(&inits_there);
            on_buffers.totals(&mut totals_there).scan_into(&device, &input, &mut output)?;
            assert!(output.read()? == values, "{source:?}");
            assert!(totals_there.read()? == totals, "totals: {source:?}");
            let mut in_place = device.buffer(&data)?;
            let again = scan.buffer_segments(source).inits(&inits_there);
            again.scan_in_place(&device, &mut in_place)?;
            assert!(in_place.read()? == values, "in place: {source:?}");
        }
    }
    let few = device.zeros::<f32>(5)?;
    for source in
        [BufferSegments::by_heads(&heads_there), BufferSegments::by_offsets(&offsets_there)]
    {
        let mut output = device.zeros::<f32>(len)?;
        let scan = Scan::new(Sum);
        let refused = scan.buffer_segments(source).inits(&few);
        let refused = refused.scan_into(&device, &input, &mut output);
        assert!(matches!(refused, Err(DeviceError::Invalid(_))), "{refused:?}");
    }
    Ok(())
}
