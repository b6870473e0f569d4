//! The generated WGSL, run on a Vulkan device: in tests usually Mesa's lavapipe, on this CPU.
//!
//! wgpu checks each module with naga before the driver sees it. Skipped where there is no Vulkan
//! device, unless KOGGE_REQUIRE_VULKAN=1.

use kogge_core::device::{Error, wgsl};
use kogge_device_tests::{Case, Operands, cases, skip};
use wgpu::util::DeviceExt as _;

/// Random pairs for each case, after all pairs of special values.
const RANDOM: usize = 20_000;

/// What WGSL has no words for.
const UNSUPPORTED: [&str; 7] =
    ["LogAddExp_f64", "exp2_f64", "exp_f64", "ln_f64", "log2_f64", "mul_add_f64", "mul_sub_f64"];

#[test]
fn generated_wgsl_is_bit_for_bit_the_rust() {
    let Some(gpu) = Gpu::open() else {
        return skip("KOGGE_REQUIRE_VULKAN", "there is no Vulkan device");
    };
    let (mut failures, mut unsupported, mut lacking) = (Vec::new(), Vec::new(), Vec::new());
    let (mut pairs, mut run) = (0, 0);
    for case in cases::all() {
        let options = wgsl::Options { zero: Some("params.zero") };
        let source = match case.wgsl(options) {
            Ok(source) => source,
            Err(Error::Unsupported { .. }) => {
                unsupported.push(case.name.clone());
                continue;
            }
            Err(error) => {
                failures.push(format!("{}: {error}", case.name));
                continue;
            }
        };
        if source.needs_int64 && !gpu.has(wgpu::Features::SHADER_INT64)
            || source.needs_float64 && !gpu.has(wgpu::Features::SHADER_F64)
        {
            lacking.push(case.name.clone());
            continue;
        }
        let operands = case.operands(RANDOM);
        match gpu.run(&case, &source.text, &operands) {
            Ok((given, identity)) => {
                let verdict =
                    case.judge(case.wgsl_tolerance, &operands, &case.expected(&operands), &given);
                (run, pairs) = (run + 1, pairs + verdict.pairs);
                if verdict.wrong > 0 {
                    failures.push(format!(
                        "{}: {verdict} ({} with subnormals)",
                        case.name, verdict.flushed
                    ));
                }
                if identity != case.identity() {
                    failures.push(format!("{}: identity {identity:x?}", case.name));
                }
            }
            Err(error) => failures.push(format!("{}: {error}", case.name)),
        }
    }
    println!("{}: {run} cases, {pairs} pairs", gpu.name);
    unsupported.sort();
    if !lacking.is_empty() {
        eprintln!("{} lacks 64-bit types: {} cases not run", gpu.name, lacking.len());
    }
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(unsupported, UNSUPPORTED, "what WGSL can't say");
}

struct Gpu {
    name: String,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Gpu {
    fn open() -> Option<Self> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN;
        let instance = wgpu::Instance::new(descriptor);
        let adapter =
            pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
                .ok()?;
        let wanted = wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_F64;
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: adapter.features() & wanted,
            ..Default::default()
        }))
        .ok()?;
        let info = adapter.get_info();
        Some(Self { name: format!("{} ({})", info.name, info.driver_info), device, queue })
    }

    fn has(&self, feature: wgpu::Features) -> bool {
        self.device.features().contains(feature)
    }

    /// The results of all pairs, and the identity.
    fn run(
        &self,
        case: &Case,
        text: &str,
        operands: &Operands,
    ) -> Result<(Vec<u8>, Vec<u8>), String> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(&case.name),
            source: wgpu::ShaderSource::Wgsl(format!("{text}\n{MAIN}").into()),
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&case.name),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        if let Some(error) = pollster::block_on(scope.pop()) {
            return Err(format!("{error}"));
        }
        let bytes = case.bytes();
        let pairs = operands.left.len() / bytes;
        let stride = bytes.next_multiple_of(4);
        let (left, right) =
            (padded(&operands.left, bytes, stride), padded(&operands.right, bytes, stride));
        let size = ((pairs + 1) * stride) as u64;
        let buffer = |contents: &[u8], usage| {
            let label = None;
            self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label,
                contents,
                usage,
            })
        };
        let params: Vec<u8> =
            [0, pairs as u32, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect();
        let inputs = [
            buffer(&left, wgpu::BufferUsages::STORAGE),
            buffer(&right, wgpu::BufferUsages::STORAGE),
            buffer(
                &vec![0xff; size as usize],
                wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            ),
            buffer(&params, wgpu::BufferUsages::UNIFORM),
        ];
        let entries: Vec<_> = inputs
            .iter()
            .zip(0..)
            .map(|(buffer, binding)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let read = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups((pairs as u32 + 1).div_ceil(64), 1, 1);
        }
        encoder.copy_buffer_to_buffer(&inputs[2], 0, &read, 0, size);
        self.queue.submit([encoder.finish()]);
        read.map_async(wgpu::MapMode::Read, .., |_| ());
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| error.to_string())?;
        let view = read.get_mapped_range(..).map_err(|error| error.to_string())?;
        let mut given: Vec<u8> =
            view.chunks_exact(stride).flat_map(|words| words[..bytes].to_vec()).collect();
        let identity = given.split_off(pairs * bytes);
        Ok((given, identity))
    }
}

/// Elements, each filled up with zeros to whole words.
fn padded(elements: &[u8], bytes: usize, stride: usize) -> Vec<u8> {
    let mut padded = Vec::with_capacity(elements.len() / bytes * stride);
    for element in elements.chunks_exact(bytes) {
        padded.extend_from_slice(element);
        padded.resize(padded.len() + stride - bytes, 0);
    }
    padded
}

const MAIN: &str = r"
struct Params { zero: u32, count: u32, unused_1: u32, unused_2: u32 }
@group(0) @binding(0) var<storage, read> lefts: array<KoggeWords>;
@group(0) @binding(1) var<storage, read> rights: array<KoggeWords>;
@group(0) @binding(2) var<storage, read_write> results: array<KoggeWords>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i > params.count) { return; }
    if (i == params.count) {
        results[i] = kogge_pack(kogge_identity());
        return;
    }
    results[i] = kogge_pack(kogge_combine(kogge_unpack(lefts[i]), kogge_unpack(rights[i])));
}
";
