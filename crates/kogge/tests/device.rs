//! The builder gives a GPU's buffers and a GPU's host slices the bits that it gives slices. Without a
//! GPU the error is looked at instead, and the skip is said.
#![cfg(feature = "cuda")]

use kogge::ops::{Affine, Compose, Max, Sum};
use kogge::{Device, DeviceError, Scan, f16};
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
    assert!(matches!(refused, Err(DeviceError::Length { .. })));
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
