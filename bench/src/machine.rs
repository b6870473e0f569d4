//! The machine a record was made on.

use std::fs;
use std::path::Path;

/// What of a machine matters to a scan.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Machine {
    /// The CPU's name, with family and model where the name alone says little.
    pub cpu: String,
    /// Logical CPUs.
    pub cpus: usize,
    /// SIMD levels that kogge found.
    pub simd: Vec<String>,
    /// The caches of the first CPU: level, kind and size.
    pub caches: Vec<String>,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The kernel.
    pub kernel: String,
    /// When the kernel uses huge pages.
    pub transparent_huge_pages: String,
    /// The GPU, where one was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<Gpu>,
}

/// What of a GPU matters to a scan.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// The version of its driver, and of CUDA that it speaks.
    pub driver: String,
    /// Its compute capability.
    pub capability: String,
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of its memory.
    pub memory_bytes: u64,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        system.refresh_cpu_all();
        let brand = system.cpus().first().map_or("unknown", |cpu| cpu.brand()).trim().to_owned();
        let levels = kogge_cpu::Level::available();
        Self {
            cpu: match family_and_model() {
                Some(numbers) => format!("{brand} ({numbers})"),
                None => brand,
            },
            cpus: system.cpus().len(),
            simd: levels.iter().map(|level| level.name().to_owned()).collect(),
            caches: caches(),
            memory_bytes: system.total_memory(),
            kernel: sysinfo::System::kernel_long_version(),
            transparent_huge_pages: read("/sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| Some(text.split_once('[')?.1.split_once(']')?.0.to_owned()))
                .unwrap_or_else(|| "unknown".to_owned()),
            gpu: None,
        }
    }

    /// A folder name for records of this machine.
    pub fn slug(&self) -> String {
        let name = self.cpu.split(" (").next().unwrap_or("cpu").to_lowercase();
        let words =
            name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        format!("{}-{}", words.collect::<Vec<_>>().join("-"), self.cpus)
    }
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn family_and_model() -> Option<String> {
    let text = read("/proc/cpuinfo")?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().map(str::trim) == Some(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    Some(format!("family {}, model {}", field("cpu family")?, field("model")?))
}

fn caches() -> Vec<String> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let cache = |i: usize| {
        let field = |name: &str| read(folder.join(format!("index{i}")).join(name));
        Some(format!("L{} {} {}", field("level")?, field("type")?, field("size")?))
    };
    (0..).map_while(cache).collect()
}
