//! The rank's actions in each part.

use fi::attach;
use libc::{c_int, timespec, timeval};
use rank::session::{self, Session};
use rank::thread;
use std::ffi::{CString, c_double, c_void};
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// The variable that names the part.
pub const PART: &str = "ELANITE_TEST_PART";

/// The process manager's descriptor.
pub const MANAGER: c_int = 500;

/// `PMIX_ERR_NOT_SUPPORTED`.
const NOT_SUPPORTED: c_int = -47;

unsafe extern "C" {
    fn PMIx_Fence_nb(
        processes: *const c_void,
        count: usize,
        infos: *const c_void,
        information: usize,
        done: *const c_void,
        data: *mut c_void,
    ) -> c_int;
}

const MICROSECOND: u64 = 1_000_000;
const MILLISECOND: u64 = 1_000_000_000;

#[test]
#[ignore = "the tests above run it as a rank"]
fn run() {
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let path = std::env::var(link::PATH_VARIABLE).expect("the simulator's");
    wait_for_first_thread();
    let session = attach::attach(&path, 0).expect("a rank");
    match &*part {
        "sleep" => sleep(session),
        "clocks" => clocks(session),
        "busy" => busy(session),
        "held" => held(session),
        "fork" => fork(session),
        "threads" => threads(session),
        "timeouts" => timeouts(session),
        "endless" => endless(session),
        "end" => end(session),
        "calls" => of_mpi(session),
        "measured" => measured(session),
        "spawn" => spawn(),
        "abort" => tell("cmd=abort exitcode=6 message=abort\n"),
        "abort in version 2" => tell("    43cmd=abort;isworld=TRUE;msg=internal;"),
        "again" => again(session),
        "start" => start(session),
        "fences" => fences(session),
        "barriers" => {
            tell("cmd=barrier_in\n");
            tell("    20cmd=kvs-fence;");
            tell("cmd=barrier_in group=WORLD:7\n");
            tell("cmd=barrier_in group=0,2,4:7\n");
        }
        "words" => {
            tell("cmd=get_maxes\n");
            tell("a");
            // SAFETY: the system refuses it before it looks at the place.
            assert_eq!(unsafe { libc::write(-1, null_mut(), 100) }, -1);
        }
        _ => panic!("no such part"),
    }
    if session::get().is_some() {
        session.finish();
    }
}

/// Waits until the process's first thread, the test harness's, waits for this one. A wait that it
/// began in the session would be a rank's, in which other threads' sleeps take simulated time.
fn wait_for_first_thread() {
    let file = format!("/proc/self/task/{}/syscall", std::process::id());
    let futex = format!("{} ", libc::SYS_futex);
    // Where the kernel does not show the call, the wait may be missed.
    while std::fs::read_to_string(&file).is_ok_and(|call| !call.starts_with(&futex)) {
        std::thread::yield_now();
    }
}

/// Looks during Open MPI's start take no time, later ones do.
fn start(session: &Session) {
    let began = session.now();
    let mut state = session.lock();
    thread::meets_outside(true);
    // Each one gives the processor away: on a busy host it is back after some milliseconds.
    for _ in 0..100 {
        session.look(&mut state);
    }
    assert_eq!(session.now(), began);
    thread::meets_outside(false);
    session.look(&mut state);
    assert!(session.now() > began);
}

/// Enters fences of Open MPI's process manager, whose library is not there: in `MPI_Finalize` the
/// rank waits for the others in the simulation, and then looks for messages in no time.
fn fences(session: &Session) {
    // SAFETY: no fence gets any arguments.
    let enter = || unsafe { PMIx_Fence_nb(null(), 0, null(), 0, null(), null_mut()) };
    assert_eq!(enter(), NOT_SUPPORTED);
    assert_eq!(session.now(), 0);
    let thread = thread::current();
    thread.enter(link::calls::number("MPI_Finalize"));
    assert_eq!(enter(), NOT_SUPPORTED);
    let met = session.now();
    assert!(met > 0);
    for _ in 0..100 {
        session.look(&mut session.lock());
    }
    assert_eq!(session.now(), met);
    thread.leave();
}

/// Sends words to the process manager, which gets them.
fn tell(words: &str) {
    let mut pipe = [0; 2];
    let mut got = vec![0; words.len()];
    // SAFETY: places of the sizes that the functions want.
    unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        assert_eq!(libc::dup2(pipe[1], MANAGER), MANAGER);
        let written = libc::write(MANAGER, words.as_ptr().cast(), words.len());
        assert_eq!(written.cast_unsigned(), words.len());
        libc::read(pipe[0], got.as_mut_ptr().cast(), got.len());
    }
    assert_eq!(got, words.as_bytes());
}

fn read(clock: libc::clockid_t) -> timespec {
    let mut time = span(0, 0);
    // SAFETY: a place for it.
    assert_eq!(unsafe { libc::clock_gettime(clock, &raw mut time) }, 0);
    time
}

fn span(tv_sec: i64, tv_nsec: i64) -> timespec {
    timespec { tv_sec, tv_nsec }
}

fn sleep(session: &Session) {
    let mut expected = 0;
    let mut slept = |time: u64| {
        expected += time;
        assert_eq!(session.now(), expected);
    };
    // SAFETY: pointers to the functions' arguments.
    unsafe {
        assert_eq!(libc::usleep(5), 0);
        slept(5 * MICROSECOND);
        assert_eq!(libc::sleep(60), 0);
        slept(60_000 * MILLISECOND);
        assert_eq!(libc::nanosleep(&span(1, 3), null_mut()), 0);
        slept(1000 * MILLISECOND + 3000);
        for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME] {
            let nanosecond = &span(0, 1);
            assert_eq!(libc::clock_nanosleep(clock, 0, nanosecond, null_mut()), 0);
            slept(1000);
            let mut until = read(clock);
            until.tv_sec += 2;
            for _twice in 0..2 {
                let absolute = libc::TIMER_ABSTIME;
                let until = &raw const until;
                assert_eq!(libc::clock_nanosleep(clock, absolute, until, null_mut()), 0);
            }
            slept(2000 * MILLISECOND);
        }
        assert_eq!(libc::poll(null_mut(), 0, 4), 0);
        slept(4 * MILLISECOND);
        let mut time = timeval {
            tv_sec: 0,
            tv_usec: 6,
        };
        let none = null_mut();
        assert_eq!(libc::select(0, none, none, none, &raw mut time), 0);
        slept(6 * MICROSECOND);
        assert_eq!(time.tv_usec, 0);
        // An invalid time is an error, as in the system.
        assert_eq!(libc::nanosleep(&span(0, -1), null_mut()), -1);
        assert_eq!(*libc::__errno_location(), libc::EINVAL);
        slept(0);
    }
    std::thread::sleep(Duration::from_millis(9));
    slept(9 * MILLISECOND);
}

fn clocks(session: &Session) {
    assert_eq!(read(libc::CLOCK_MONOTONIC).tv_sec, 1);
    session.sleep_until(1_234_567_891_000);
    let real = read(libc::CLOCK_REALTIME);
    assert_eq!((real.tv_sec, real.tv_nsec), (2_000_000_001, 234_567_891));
    let clocks = [
        libc::CLOCK_MONOTONIC,
        libc::CLOCK_PROCESS_CPUTIME_ID,
        libc::CLOCK_BOOTTIME,
    ];
    for clock in clocks {
        let time = read(clock);
        assert_eq!((time.tv_sec, time.tv_nsec), (2, 234_567_891));
    }
    assert!((MPI_Wtime() - 2.234_567_891).abs() < 1e-12);
    assert!((MPI_Wtick() - 1e-12).abs() < 1e-20);
    assert_eq!(clock(), 2_234_567);
    let mut day = timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    // SAFETY: a place for it.
    unsafe {
        assert_eq!(libc::gettimeofday(&raw mut day, null_mut()), 0);
        assert_eq!(libc::time(null_mut()), 2_000_000_001);
        let mut resolution = span(0, 0);
        libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut resolution);
        assert_eq!(resolution.tv_nsec, 1);
        assert_eq!(libc::clock_gettime(1234, &raw mut resolution), -1);
    }
    assert_eq!((day.tv_sec, day.tv_usec), (2_000_000_001, 234_567));
}

fn busy(session: &Session) {
    let began = session.now();
    let mut readings = 0;
    while clock::reading().expect("a session") < began + 50 * MICROSECOND {
        readings += 1;
    }
    // 1000 free readings, five steps that double, then the longest steps.
    assert!((1030..1040).contains(&readings), "{readings}");
    assert!(session.now() < began + 52 * MICROSECOND);
    let now = session.now();
    thread::acted();
    assert_eq!(clock::reading(), Some(now), "a new row");
}

fn held(session: &Session) {
    let state = session.lock();
    for _reading in 0..3000 {
        assert_eq!(clock::reading(), Some(0));
    }
    // SAFETY: without pointers.
    assert_eq!(unsafe { libc::usleep(1000) }, 0);
    assert!(session.try_lock().is_none());
    drop(state);
    assert!(session.try_lock().is_some());
    assert_eq!(session.now(), 0);
}

fn fork(session: &Session) {
    // SAFETY: the child does little, and takes no lock.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let before = read(libc::CLOCK_MONOTONIC);
        // SAFETY: without pointers.
        unsafe { libc::usleep(3000) };
        let after = read(libc::CLOCK_MONOTONIC);
        let nanoseconds =
            (after.tv_sec - before.tv_sec) * 1_000_000_000 + after.tv_nsec - before.tv_nsec;
        let real = read(libc::CLOCK_REALTIME).tv_sec < 1_999_999_999;
        let well = real && nanoseconds >= 3_000_000 && session::get().is_none();
        // SAFETY: ends the child.
        unsafe { libc::_exit(if well { 7 } else { 8 }) };
    }
    let mut status = 0;
    // SAFETY: a place for it.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 7);
    assert_eq!(session.now(), 0);
}

fn threads(session: &Session) {
    let sleeper = || {
        std::thread::spawn(|| {
            // SAFETY: without pointers.
            unsafe { libc::usleep(20_000) };
            read(libc::CLOCK_MONOTONIC).tv_sec
        })
    };
    let alone = sleeper();
    while !alone.is_finished() {
        std::hint::spin_loop();
    }
    assert_eq!(alone.join().expect("a thread"), 1, "clocks are simulated");
    assert_eq!(session.now(), 0, "the rank has not waited for it");
    sleeper().join().expect("a thread");
    assert_eq!(session.now(), 20 * MILLISECOND);
}

/// Waits without an end, and reads the clock, after an order.
fn endless(session: &Session) {
    let mut pipe = [0; 2];
    session.order(&mut session.lock(), 0, link::Order::Spawn { count: 1 }, &[]);
    // SAFETY: pointers to the functions' arguments.
    unsafe {
        let mut semaphore: libc::sem_t = std::mem::zeroed();
        libc::sem_init(&raw mut semaphore, 0, 1);
        assert_eq!(libc::sem_wait(&raw mut semaphore), 0);
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        libc::write(pipe[1], c"x".as_ptr().cast(), 1);
        let mut file = libc::pollfd {
            fd: pipe[0],
            events: libc::POLLIN,
            revents: 0,
        };
        assert_eq!(libc::poll(&raw mut file, 1, -1), 1);
    }
    session.compute(MILLISECOND);
    read(libc::CLOCK_MONOTONIC);
}

fn timeouts(session: &Session) {
    let mut pipe = [0; 2];
    let soon = |clock, milliseconds: i64| {
        let mut moment = read(clock);
        moment.tv_nsec += milliseconds * 1_000_000;
        moment
    };
    // SAFETY: pointers to the functions' arguments.
    unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        let mut file = libc::pollfd {
            fd: pipe[0],
            events: libc::POLLIN,
            revents: 0,
        };
        assert_eq!(libc::poll(&raw mut file, 1, 10), 0);
        assert_eq!(session.now(), 10 * MILLISECOND);
        libc::write(pipe[1], c"x".as_ptr().cast(), 1);
        assert_eq!(libc::poll(&raw mut file, 1, 10), 1);
        assert_eq!(session.now(), 10 * MILLISECOND, "it has come");

        let mut semaphore: libc::sem_t = std::mem::zeroed();
        libc::sem_init(&raw mut semaphore, 0, 0);
        let moment = soon(libc::CLOCK_MONOTONIC, 10);
        let result = sem_clockwait(&raw mut semaphore, libc::CLOCK_MONOTONIC, &raw const moment);
        assert_eq!((result, *libc::__errno_location()), (-1, libc::ETIMEDOUT));
        assert_eq!(session.now(), 20 * MILLISECOND);

        let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
        let mut cond = libc::PTHREAD_COND_INITIALIZER;
        libc::pthread_mutex_lock(&raw mut mutex);
        let moment = soon(libc::CLOCK_REALTIME, 10);
        let result = libc::pthread_cond_timedwait(&raw mut cond, &raw mut mutex, &raw const moment);
        assert_eq!(result, libc::ETIMEDOUT);
        assert_eq!(session.now(), 30 * MILLISECOND);
    }
}

fn end(session: &Session) {
    session.finish();
    assert!(session::get().is_none());
    // SAFETY: without pointers.
    unsafe { libc::usleep(5) };
    let time = read(libc::CLOCK_MONOTONIC);
    assert_eq!((time.tv_sec, time.tv_nsec), (1, 5000));
    let began = session.now();
    while clock::reading().expect("time is still shown") < began + MICROSECOND {}
}

/// Twice outside: for less time than passes in the simulation, and for more.
fn again(session: &Session) {
    let path = std::env::var(link::PATH_VARIABLE).expect("there is a simulator");
    for outside in [1, 60] {
        session.finish();
        // SAFETY: without pointers.
        unsafe { libc::usleep(outside) };
        attach::attach(&path, 0).expect("the simulation goes on");
        // SAFETY: as above.
        unsafe { libc::usleep(2) };
    }
}

/// A library as small as possible, which the process loads as interpreters load theirs: out of
/// sight of others.
const LIBRARY: &str = "
void (*hook)(void);
int PMPI_Init(int *count, char ***words) { return 0; }
int MPI_Recv(void *a, int b, int c, int d, int e, int f, void *g) \
{ hook(); return a == 0 && b == -1 && g == (void *)7; }
int MPI_Isend(void *a, int b, int c, int d, int e, int f, void *g) { hook(); return 0; }
int MPI_Sendrecv(long a, int b, int c, int d, int e, long f, int g, int h, int i, int j, int k, \
long l)
{ return a + 10 * b + 100 * c + 1000 * (d + e + f + g + h + i + j + k) + 10000 * (l == -12) ; }
int MPI_Test(void *a, void *b, void *c) { hook(); return 0; }
int PMPI_Allreduce(void *a, void *b, int c, int d, int e, int f) { hook(); return 0; }
static int handled;
int MPI_Comm_rank(int comm, int *rank) { *rank = 3; return 0; }
int MPI_Barrier(int comm) { return 0; }
int MPI_Comm_call_errhandler(int comm, int error) { handled = 1000 * comm + error; return 0; }
int what_was_handled(void) { return handled; }
";

type Int = c_int;

unsafe extern "C" {
    safe fn clock() -> libc::clock_t;
    fn sem_clockwait(semaphore: *mut libc::sem_t, clock: c_int, moment: *const timespec) -> c_int;
    safe fn MPI_Wtime() -> c_double;
    safe fn MPI_Wtick() -> c_double;
    safe fn MPI_Recv(_: usize, _: Int, _: Int, _: Int, _: Int, _: Int, _: usize) -> Int;
    safe fn MPI_Isend(_: usize, _: Int, _: Int, _: Int, _: Int, _: Int, _: usize) -> Int;
    safe fn MPI_Test(_: usize, _: usize, _: usize) -> Int;
    safe fn MPI_Allreduce(_: usize, _: usize, _: Int, _: Int, _: Int, _: Int) -> Int;
    #[allow(clippy::too_many_arguments)]
    safe fn MPI_Sendrecv(
        a: i64,
        b: c_int,
        c: c_int,
        d: c_int,
        e: c_int,
        f: i64,
        g: c_int,
        h: c_int,
        i: c_int,
        j: c_int,
        k: c_int,
        l: i64,
    ) -> c_int;
    #[allow(clippy::too_many_arguments)]
    safe fn MPI_Comm_spawn(
        a: usize,
        b: usize,
        c: c_int,
        d: c_int,
        e: c_int,
        f: c_int,
        g: usize,
        h: usize,
    ) -> c_int;
}

/// Builds and loads the library, and returns a function from names to addresses in it.
fn library() -> impl Fn(&std::ffi::CStr) -> *mut std::ffi::c_void {
    let folder = std::env::temp_dir().join(format!("elanite-fi-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let (source, built) = (folder.join("mpi.c"), folder.join("libmpi_test.so"));
    std::fs::write(&source, LIBRARY).expect("room");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-w", "-shared", "-fPIC", "-o"])
        .arg(&built)
        .arg(source);
    assert!(compiler.status().expect("a C compiler").success());
    let path = CString::new(built.to_str().expect("a plain path")).expect("a path");
    // SAFETY: a library without code that runs when it is loaded.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    std::fs::remove_dir_all(folder).expect("the folder");
    assert!(!library.is_null());
    // SAFETY: it is loaded.
    move |name| unsafe { libc::dlsym(library, name.as_ptr()) }
}

static HOOKS: AtomicU32 = AtomicU32::new(0);

/// Runs a function within calls.
extern "C" fn hook() {
    let session = session::get().expect("a rank");
    let seen = (thread::blocks(), thread::makes_request(), thread::outside());
    match HOOKS.fetch_add(1, Relaxed) {
        0 => {
            assert_eq!(seen, (true, false, false));
            session.sleep_until(session.now() + 3 * MICROSECOND);
        }
        1 => {
            assert_eq!(seen, (false, true, false));
            // SAFETY: without pointers.
            unsafe { libc::usleep(50) }; // takes no simulated time here
        }
        2 => {
            assert_eq!(seen, (true, false, false));
            MPI_Test(0, 0, 0);
        }
        // `MPI_Test` within `MPI_Allreduce`: the rank is in the latter.
        _ => assert_eq!(seen, (true, false, false)),
    }
}

fn of_mpi(_session: &Session) {
    let library = library();
    // SAFETY: the library's variable.
    unsafe { library(c"hook").cast::<extern "C" fn()>().write(hook) };
    assert_eq!(MPI_Recv(0, -1, 2, 3, 4, 5, 7), 1);
    assert_eq!(MPI_Isend(0, 1, 2, 3, 4, 5, 7), 0);
    assert_eq!(MPI_Allreduce(0, 1, 2, 3, 4, 5), 0);
    let sum = 1 + 20 + 300 + 1000 * (4 + 5 + 6 + 7 - 8 + 9 + 10 + 11) + 10000;
    assert_eq!(MPI_Sendrecv(1, 2, 3, 4, 5, 6, 7, -8, 9, 10, 11, -12), sum);
    assert_eq!(HOOKS.load(Relaxed), 4);
    assert!(!thread::blocks() && !thread::makes_request() && thread::outside());
}

fn measured(session: &Session) {
    let began = clock::reading().expect("a session");
    let cpu = rank::system::processor_time;
    let start = cpu();
    while cpu() < start + 1_000_000 {}
    let computed = clock::reading().expect("a session") - began;
    // A millisecond and a little, a thousand times as long; a busy host adds the little.
    assert!(computed >= 1000 * MILLISECOND, "{computed}");
    assert!(computed < 100_000 * MILLISECOND, "{computed}");
    assert_eq!(session.now(), began + computed);
}

fn spawn() {
    let library = library();
    let error = MPI_Comm_spawn(0, 0, 4, 0, 3, 17, 0, 0);
    assert_eq!(error, 42);
    // SAFETY: a function of the library without arguments.
    let handled = unsafe {
        let handled = library(c"what_was_handled");
        std::mem::transmute::<*mut std::ffi::c_void, extern "C" fn() -> c_int>(handled)()
    };
    assert_eq!(handled, 17_042);
}
