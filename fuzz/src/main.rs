//! Attacks readers for as long as one likes: `cargo run --release -p mustlink-fuzz -- --target all --inputs 1000000`.
//!
//! An input that breaks its reader is minimised and kept under `crashes/TARGET/`, with what broke beside it;
//! the exit status is 1 then. An input that ends the whole process (a stack that overflows, memory that is not
//! there) leaves `crashes/current`, which names it by target, seed and number.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::Parser;
use mustlink_fuzz::{Broken, Mutants, TARGETS, Target, Watch, find, kept, minimise};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// An input that takes longer is reported as a hang.
const LONGEST: Duration = Duration::from_secs(10);
/// Inputs between two looks at the clock and the progress.
const BATCH: u64 = 64;
/// Different defects of a target after which it is left.
const ENOUGH: usize = 20;

/// Attacks on the readers of mustlink
#[derive(Debug, Parser)]
struct Args {
    /// A target, or several with commas between, or all
    #[arg(long, default_value = "all")]
    target: String,
    /// Inputs of all targets together; those that start programs get fewer of them. Absent: 100000, or as
    /// many as there is time for
    #[arg(long)]
    inputs: Option<u64>,
    /// Ends after so many seconds, shared equally by the targets
    #[arg(long)]
    seconds: Option<u64>,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first input
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Reads this file instead, as an input of the target
    #[arg(long)]
    file: Option<PathBuf>,
}

/// The result of a target.
#[derive(Default)]
struct Row {
    name: &'static str,
    reads: &'static str,
    inputs: u64,
    crashes: usize,
    slowest: Duration,
    memory: usize,
    seconds: f64,
}

/// The input being read, for the thread that waits for it.
type Running = Arc<Mutex<Option<(Instant, &'static str, Vec<u8>)>>>;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(1),
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<bool, Box<dyn std::error::Error>> {
    let targets: Vec<&'static Target> = match args.target.as_str() {
        "all" => TARGETS.iter().collect(),
        names => names
            .split(',')
            .map(|name| find(name).ok_or_else(|| format!("no target {name:?}; known: {}", known())))
            .collect::<Result<_, _>>()?,
    };
    let watch = Watch::new(&MEMORY);
    let running = watchdog();
    if let Some(file) = &args.file {
        let (input, mut broke) = (std::fs::read(file)?, false);
        for target in targets {
            let taken = watch.run(&mut *(target.prepare)(), &input);
            let says = taken.broken.as_ref().map_or("ends well".into(), Broken::to_string);
            println!("{}: {says} ({:?}, {} KiB)", target.name, taken.time, taken.memory >> 10);
            broke |= taken.broken.is_some();
        }
        return Ok(broke);
    }
    let shares: f64 = targets.iter().map(|t| 1.0 / t.dear as f64).sum();
    let count = targets.len() as u32;
    let mut rows = Vec::new();
    for target in targets {
        let usual = if args.seconds.is_some() { u64::MAX >> 1 } else { 100_000 };
        let inputs = args.inputs.unwrap_or(usual) as f64 / target.dear as f64 / shares;
        let end = args.seconds.map(|s| Instant::now() + Duration::from_secs(s) / count);
        rows.push(attack(target, args, inputs.ceil() as u64, end, &watch, &running)?);
    }
    std::fs::remove_file(crashes().join("current")).ok();
    println!(
        "\n| target | what is read | inputs | crashes | slowest, ms | peak memory, KiB | seconds |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|");
    for row in &rows {
        let slowest = row.slowest.as_secs_f64() * 1e3;
        let (name, inputs, memory) = (row.name, row.inputs, row.memory >> 10);
        println!(
            "| `{name}` | {} | {inputs} | {} | {slowest:.1} | {memory} | {:.0} |",
            row.reads, row.crashes, row.seconds
        );
    }
    let (inputs, broken): (Vec<u64>, Vec<usize>) =
        rows.iter().map(|r| (r.inputs, r.crashes)).unzip();
    let broken: usize = broken.iter().sum();
    println!("| all | | {} | {broken} | | | |", inputs.iter().sum::<u64>());
    Ok(broken > 0)
}

fn known() -> String {
    TARGETS.map(|t| t.name).join(", ")
}

fn crashes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crashes")
}

fn attack(
    target: &'static Target,
    args: &Args,
    inputs: u64,
    end: Option<Instant>,
    watch: &Watch,
    running: &Running,
) -> std::io::Result<Row> {
    let files = kept(target.name)?;
    let all: Vec<Vec<u8>> =
        files.corpus.into_iter().chain(files.regressions).map(|(_, bytes)| bytes).collect();
    let mutants = Mutants::new(all.clone(), target.words);
    std::fs::create_dir_all(crashes())?;
    let mut current = File::create(crashes().join("current"))?;
    let mut harness = (target.prepare)();
    let mut row = Row { name: target.name, reads: target.reads, ..Row::default() };
    let mut seen: Vec<String> = Vec::new();
    let begun = Instant::now();
    let mut told = begun;
    // The files as they are come first, counted below 0.
    let whole = if args.from == 0 { all.len() as u64 } else { 0 };
    for number in 0..whole + inputs {
        let input = match number.checked_sub(whole) {
            None => all[number as usize].clone(),
            Some(number) => mutants.input(args.seed, target.name, args.from + number),
        };
        let name = target.name;
        current.seek(SeekFrom::Start(0))?;
        let at = i128::from(number) - i128::from(whole) + i128::from(args.from);
        writeln!(current, "target {name} seed {} input {at:<20}", args.seed)?;
        *lock(running) = Some((Instant::now(), name, input.clone()));
        let taken = watch.run(&mut *harness, &input);
        *lock(running) = None;
        row.inputs += 1;
        row.slowest = row.slowest.max(taken.time);
        row.memory = row.memory.max(taken.memory);
        if let Some(broken) = taken.broken {
            row.crashes += 1;
            // What a defect does to the reader is not known: another one goes on.
            harness = (target.prepare)();
            let says = broken.to_string();
            if !seen.contains(&place(&says)) {
                seen.push(place(&says));
                let small = minimise(&input, |tried| {
                    let again = watch.run(&mut *(target.prepare)(), tried).broken;
                    again.is_some_and(|b| place(&b.to_string()) == place(&says))
                });
                keep(name, &small, &says)?;
                eprintln!("{name}: input {at} ({} bytes when minimised): {says}", small.len());
                if seen.len() == ENOUGH {
                    break;
                }
            }
        }
        if number % BATCH == 0 {
            let now = Instant::now();
            if now.duration_since(told) > Duration::from_secs(10) {
                told = now;
                let speed = row.inputs as f64 / now.duration_since(begun).as_secs_f64();
                eprintln!(
                    "{name}: {} of {} inputs, {speed:.0} per second",
                    row.inputs,
                    whole + inputs
                );
            }
        }
        if end.is_some_and(|end| Instant::now() > end) {
            break;
        }
    }
    row.seconds = begun.elapsed().as_secs_f64();
    Ok(row)
}

/// The place of the break: further words belong to the input.
fn place(says: &str) -> String {
    let end = says.find(".rs:").map_or(says.len().min(20), |at| {
        at + says[at..].find(": ").unwrap_or(says.len() - at).min(24)
    });
    says.chars().take(end).collect()
}

fn keep(target: &str, input: &[u8], says: &str) -> std::io::Result<()> {
    let folder = crashes().join(target);
    std::fs::create_dir_all(&folder)?;
    let hash = blake3::hash(input).to_hex()[..16].to_string();
    std::fs::write(folder.join(&hash), input)?;
    std::fs::write(folder.join(format!("{hash}.txt")), format!("{says}\n"))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Ends the program when an input takes too long: what hangs cannot be stopped.
fn watchdog() -> Running {
    let running = Running::default();
    let watched = running.clone();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let late = lock(&watched).as_ref().filter(|r| r.0.elapsed() > LONGEST).cloned();
            if let Some((_, target, input)) = late {
                let says = format!("hang: longer than {LONGEST:?}");
                if let Err(e) = keep(target, &input, &says) {
                    eprintln!("error: {e}");
                }
                eprintln!("{target}: {says}; {} bytes kept", input.len());
                std::process::exit(1);
            }
        }
    });
    running
}
