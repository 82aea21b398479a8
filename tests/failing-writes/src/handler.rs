//! The replies to system calls that the filter caught.
//!
//! The handler runs in place of the call, on the thread that made it: it takes no memory from the heap
//! and gives back what the kernel would.

use std::ffi::CStr;
use std::io::Write;
use std::os::fd::IntoRawFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use libc::{c_int, c_long, c_void};

use crate::filter::{CALLS, PASS, install};
use crate::{AT, FOLDER, Fault, HOW, LOG};

struct Plan {
    folder: Vec<u8>,
    log: c_int,
    at: usize,
    fault: Fault,
}

static PLAN: OnceLock<Plan> = OnceLock::new();
static COUNT: AtomicUsize = AtomicUsize::new(0);
static FULL: AtomicBool = AtomicBool::new(false);

/// Runs before `main` of a program that is started with the library; elsewhere nothing is in the
/// environment and nothing happens.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    let (Some(folder), Some(log)) = (std::env::var_os(FOLDER), std::env::var_os(LOG)) else {
        return;
    };
    let say = |what: &str, e: std::io::Error| -> ! {
        let _ = writeln!(std::io::stderr(), "failing-writes: {what}: {e}");
        std::process::abort();
    };
    // First of all: a program that a watched one starts has its filter already.
    // SAFETY: a handler with these flags is given the three arguments of `caught`.
    let set = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = caught as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut())
    };
    if set != 0 {
        say("sigaction", std::io::Error::last_os_error());
    }
    let log = std::fs::File::options().append(true).create(true).open(log);
    let log = log.unwrap_or_else(|e| say("log", e)).into_raw_fd();
    let how = std::env::var(HOW).unwrap_or_default();
    let at = std::env::var(AT).ok().and_then(|at| at.parse().ok()).unwrap_or(0);
    let fault = Fault::ALL.into_iter().find(|f| f.name() == how).unwrap_or(Fault::Broken);
    let folder = folder.as_bytes().to_vec();
    let _ = PLAN.set(Plan { folder, log, at, fault });
    install().unwrap_or_else(|e| say("seccomp", e));
}

/// The call with `PASS` in its last argument, which the filter lets through.
fn call(number: c_long, a: [usize; 5]) -> isize {
    let result;
    // SAFETY: the arguments are those that the program gave to this very call, or our own.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2],
            in("r10") a[3], in("r8") a[4], in("r9") PASS,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}

/// A path in memory of a fixed size.
struct Place {
    bytes: [u8; 4096],
    len: usize,
}

impl Place {
    /// The target of a link of the kernel: `/proc/self/fd/3`.
    fn of_link(link: &CStr) -> Option<Place> {
        let mut place = Place { bytes: [0; 4096], len: 0 };
        let at = [link.as_ptr() as usize, place.bytes.as_mut_ptr() as usize, 4096, 0, 0];
        let len = call(libc::SYS_readlink, at);
        place.len = usize::try_from(len).ok()?;
        Some(place)
    }

    fn of_file(fd: usize) -> Option<Place> {
        let fd = fd as c_int;
        if fd == libc::AT_FDCWD {
            return Place::of_link(c"/proc/self/cwd");
        }
        let mut link = [0; 32];
        write!(&mut link[..31], "/proc/self/fd/{fd}").ok()?;
        Place::of_link(CStr::from_bytes_until_nul(&link).ok()?)
    }

    /// A path that the program gave, seen from the folder that is open as `fd`.
    fn of_path(fd: usize, path: usize) -> Option<Place> {
        // SAFETY: the program gave it to the kernel as the beginning of a path.
        let path = unsafe { CStr::from_ptr(path as *const _) }.to_bytes();
        let mut place = if path.starts_with(b"/") {
            Place { bytes: [0; 4096], len: 0 }
        } else {
            let mut place = Place::of_file(fd)?;
            *place.bytes.get_mut(place.len)? = b'/';
            place.len += 1;
            place
        };
        let end = place.len + path.len();
        place.bytes.get_mut(place.len..end)?.copy_from_slice(path);
        place.len = end;
        Some(place)
    }

    fn path(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The file that a call changes.
fn place(number: c_long, a: [usize; 5]) -> Option<Place> {
    let here = libc::AT_FDCWD as usize;
    match number {
        libc::SYS_open
        | libc::SYS_mkdir
        | libc::SYS_unlink
        | libc::SYS_rmdir
        | libc::SYS_truncate => Place::of_path(here, a[0]),
        libc::SYS_openat | libc::SYS_mkdirat | libc::SYS_unlinkat => Place::of_path(a[0], a[1]),
        libc::SYS_rename | libc::SYS_link | libc::SYS_symlink => Place::of_path(here, a[1]),
        libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat => Place::of_path(a[2], a[3]),
        libc::SYS_symlinkat => Place::of_path(a[1], a[2]),
        // Letting go of a lock changes nothing.
        libc::SYS_flock if a[1] as c_int & libc::LOCK_UN != 0 => None,
        _ => Place::of_file(a[0]),
    }
}

/// Half of a write; none of one that cannot be halved.
fn half(number: c_long, mut a: [usize; 5]) -> isize {
    let written = match number {
        libc::SYS_writev if a[2] > 0 => {
            // SAFETY: the program gave this many parts.
            let first = unsafe { &*(a[1] as *const libc::iovec) };
            let (from, len) = (first.iov_base as usize, first.iov_len / 2);
            call(libc::SYS_write, [a[0], from, len, 0, 0])
        }
        _ => {
            a[2] /= 2;
            call(number, a)
        }
    };
    if written == 0 { -(libc::ENOSPC as isize) } else { written }
}

fn log(plan: &Plan, name: &str, path: &[u8]) {
    let mut line = [0; 4200];
    let size = line.len();
    let mut rest = &mut line[..];
    let inside = path.get(plan.folder.len() + 1..).unwrap_or(b".");
    let _ = rest.write_all(name.as_bytes());
    let _ = rest.write_all(b" ");
    let _ = rest.write_all(inside);
    let _ = rest.write_all(b"\n");
    let len = size - rest.len();
    call(libc::SYS_write, [plan.log as usize, line.as_ptr() as usize, len, 0, 0]);
}

fn is_inside(plan: &Plan, path: &[u8]) -> bool {
    path.strip_prefix(&plan.folder[..]).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// The result of a call for the program.
fn answer(number: c_long, a: [usize; 5]) -> isize {
    let name = CALLS.iter().find(|(n, _)| *n == number).map(|(_, name)| *name);
    let (Some(plan), Some(name)) = (PLAN.get(), name) else { return call(number, a) };
    let Some(place) = place(number, a).filter(|p| is_inside(plan, p.path())) else {
        return call(number, a);
    };
    log(plan, name, place.path());
    let at = 1 + COUNT.fetch_add(1, Ordering::Relaxed);
    let writes = Fault::Short.befalls(name);
    if FULL.load(Ordering::Relaxed) && Fault::Full.befalls(name) {
        return -(libc::ENOSPC as isize);
    }
    if at != plan.at {
        return call(number, a);
    }
    match plan.fault {
        Fault::Broken => -(libc::EIO as isize),
        Fault::Denied => -(libc::EACCES as isize),
        Fault::Full => {
            FULL.store(true, Ordering::Relaxed);
            -(libc::ENOSPC as isize)
        }
        Fault::Short => {
            FULL.store(true, Ordering::Relaxed);
            half(number, a)
        }
        Fault::Killed => {
            if writes {
                half(number, a);
            }
            let me = call(libc::SYS_getpid, [0; 5]) as usize;
            call(libc::SYS_kill, [me, libc::SIGKILL as usize, 0, 0, 0])
        }
    }
}

extern "C" fn caught(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives the state of the thread, whose registers are as before the call.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let get = |register: c_int| registers[register as usize] as usize;
    let number = get(libc::REG_RAX) as c_long;
    let arguments = [
        get(libc::REG_RDI),
        get(libc::REG_RSI),
        get(libc::REG_RDX),
        get(libc::REG_R10),
        get(libc::REG_R8),
    ];
    registers[libc::REG_RAX as usize] = answer(number, arguments) as i64;
}
