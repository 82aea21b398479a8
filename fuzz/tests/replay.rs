//! Files as they are, inputs that once broke a reader, and a few thousand mutants of always the same seed.

use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use mustlink_fuzz::{Mutants, TARGETS, Target, Watch, find, kept};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Mutants of the quickest targets; of the others, fewer by their cost.
const MUTANTS: u64 = 1000;

/// Memory and panics are those of the whole process: one target at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn mutants(target: &Target) -> Mutants {
    let files = kept(target.name).expect("files that can be read");
    let all = files.corpus.into_iter().chain(files.regressions);
    Mutants::new(all.map(|(_, bytes)| bytes).collect(), target.words)
}

fn attack(name: &str) {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let target = find(name).expect("a target");
    let watch = Watch::new(&MEMORY);
    let files = kept(name).expect("files that can be read");
    assert!(files.corpus.len() > 1, "{name} has {} files", files.corpus.len());
    let mut harness = (target.prepare)();
    let mut broken = Vec::new();
    for (path, bytes) in files.corpus.iter().chain(&files.regressions) {
        if let Some(b) = watch.run(&mut *harness, bytes).broken {
            broken.push(format!("{}: {b}", path.display()));
        }
    }
    let mutants = mutants(target);
    for number in 0..(MUTANTS / target.cost).max(20) {
        if let Some(b) = watch.run(&mut *harness, &mutants.input(1, name, number)).broken {
            broken.push(format!("input {number} of {name}: {b}"));
        }
    }
    drop(harness);
    let _ = std::panic::take_hook();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test] fn $name() { attack(stringify!($name)); })*

        #[test]
        fn all_are_attacked() {
            assert_eq!(TARGETS.map(|t| t.name), [$(stringify!($name)),*]);
        }
    };
}

targets! {
    experiment method set keys model table packed matrix npy manifest constraints answers listed partitions labels
    ledger results report array oracle external reply request
}

/// 6 KB that unpack to 1.5 million rows of two missing cells each: 431 MiB, when each was listed. It is no file,
/// because others would be made of it that are larger still.
#[test]
fn missing_cells_are_counted() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(b"x,y,z\n").expect("memory");
    packed.write_all(&b",,0\n".repeat(1_500_000)).expect("memory");
    let mut harness = (find("packed").expect("a target").prepare)();
    let broken = Watch::new(&MEMORY).run(&mut *harness, &packed.finish().expect("memory")).broken;
    drop(harness);
    let _ = std::panic::take_hook();
    assert!(broken.is_none(), "{}", broken.expect("some"));
}

/// The time that one input may take when bolero makes the inputs.
const LONGEST: Duration = Duration::from_secs(10);

/// The targets that `MUSTLINK_FUZZ_TARGET` names, with commas between or `all`, with new inputs each time: see the
/// README. bolero draws the inputs, makes an input that breaks its reader as small as it can, and prints its seed.
#[test]
fn guided() {
    let Ok(names) = std::env::var("MUSTLINK_FUZZ_TARGET") else {
        let note = b"skipped: guided makes new inputs for the targets in MUSTLINK_FUZZ_TARGET\n";
        std::io::stderr().write_all(note).expect("a stream");
        return;
    };
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    // The hook of bolero is set once. The watch replaces it, to count the panics of all threads.
    bolero::bolero_engine::panic::set_hook();
    let watch = Watch::new(&MEMORY);
    for target in TARGETS.iter().filter(|t| names == "all" || names.split(',').any(|n| n == t.name))
    {
        let harness = Mutex::new(AssertUnwindSafe((target.prepare)()));
        bolero::check!().with_generator(mutants(target)).for_each(|bytes: &Vec<u8>| {
            let harness = &mut harness.lock().unwrap_or_else(|e| e.into_inner()).0;
            let taken = watch.run(&mut **harness, bytes);
            if let Some(broken) = taken.broken {
                panic!("{}: {broken}", target.name);
            }
            assert!(taken.time < LONGEST, "{}: took {:?}", target.name, taken.time);
        });
    }
    let _ = std::panic::take_hook();
}
