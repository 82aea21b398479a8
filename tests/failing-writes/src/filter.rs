//! The filter of system calls that the kernel passes to this process.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_TRAP, c_long, sock_filter, sock_fprog,
};

/// In the sixth argument of a call, which none of those below has: carry it out.
pub(crate) const PASS: usize = 0x6d75_7374;

/// `AUDIT_ARCH_X86_64` of the kernel, which the libc crate lacks.
const X86_64: u32 = 0xc000_003e;
/// Offsets in `struct seccomp_data`: the number of the call, its system, the lower half of an argument.
const NUMBER: u32 = 0;
const SYSTEM: u32 = 4;
const fn argument(at: u32) -> u32 {
    16 + 8 * at
}

/// The name of each call, here and in logs.
pub(crate) const CALLS: [(c_long, &str); 23] = [
    (libc::SYS_open, "open"),
    (libc::SYS_openat, "open"),
    (libc::SYS_write, "write"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_pwrite64, "pwrite64"),
    (libc::SYS_rename, "rename"),
    (libc::SYS_renameat, "rename"),
    (libc::SYS_renameat2, "rename"),
    (libc::SYS_link, "link"),
    (libc::SYS_linkat, "link"),
    (libc::SYS_symlink, "link"),
    (libc::SYS_symlinkat, "link"),
    (libc::SYS_mkdir, "mkdir"),
    (libc::SYS_mkdirat, "mkdir"),
    (libc::SYS_unlink, "unlink"),
    (libc::SYS_unlinkat, "unlink"),
    (libc::SYS_rmdir, "unlink"),
    (libc::SYS_fsync, "sync"),
    (libc::SYS_fdatasync, "sync"),
    (libc::SYS_truncate, "truncate"),
    (libc::SYS_ftruncate, "truncate"),
    (libc::SYS_fchmod, "chmod"),
    (libc::SYS_flock, "lock"),
];

fn step(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn load(offset: u32) -> sock_filter {
    step(BPF_LD | BPF_W | BPF_ABS, offset)
}

/// Goes on after `yes` steps or after `no` of them.
fn jump(test: u32, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | test | BPF_K) as u16, jt: yes, jf: no, k }
}

/// Has the calls of this process and of those it starts sent to the handler of `SIGSYS`, except opening a
/// file only to read it.
pub(crate) fn install() -> std::io::Result<()> {
    let allow = || step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    let trap = || step(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    let changing = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT) as u32;
    let mut steps = vec![
        load(SYSTEM),
        jump(BPF_JEQ, X86_64, 1, 0),
        allow(),
        load(argument(5)),
        jump(BPF_JEQ, PASS as u32, 0, 1),
        allow(),
        load(NUMBER),
    ];
    for (number, _) in CALLS {
        let flags = match number {
            libc::SYS_open => 1,
            libc::SYS_openat => 2,
            _ => {
                steps.extend([jump(BPF_JEQ, number as u32, 0, 1), trap()]);
                continue;
            }
        };
        let test = jump(BPF_JSET, changing, 0, 1);
        let of_call = [load(argument(flags)), test, trap(), allow()];
        steps.push(jump(BPF_JEQ, number as u32, 0, of_call.len() as u8));
        steps.extend(of_call);
    }
    steps.push(allow());
    let program = sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the kernel copies the program, which lives until then.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
