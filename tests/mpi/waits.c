/* Rank 0's waits in simulated time, by less common names and beside timers. A line for each: its
 * name, and how long it took by MPI_Wtime, in us. Built as distributions build their programs,
 * whose calls then have other names
 * (_FORTIFY_SOURCE).
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#if !__GLIBC_PREREQ(2, 35)
#define epoll_pwait2(file, events, most, time, mask) epoll_pwait(file, events, most, 2, mask)
#endif

static volatile sig_atomic_t rung;
static sem_t semaphore;
static int ends[2], word;
static pthread_barrier_t barrier;
static double begun;

static void on(int number)
{
    (void)number;
    rung++;
}

static void posts(int number)
{
    on(number);
    sem_post(&semaphore);
}

static void writes(int number)
{
    on(number);
    if (write(ends[1], "x", 1) != 1)
        abort();
}

static void begin(void)
{
    rung = 0;
    begun = MPI_Wtime();
}

static void end(const char *what, int good)
{
    printf("%-28s %9.1f%s\n", what, 1e6 * (MPI_Wtime() - begun), good ? "" : " (bad)");
}

static void after(long us, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    struct itimerval span = {{0, 0}, {0, us}};
    sigaction(SIGALRM, &action, NULL);
    begin();
    setitimer(ITIMER_REAL, &span, NULL);
}

static struct timespec in(clockid_t clock, long us)
{
    struct timespec moment;
    clock_gettime(clock, &moment);
    moment.tv_nsec += 1000 * us;
    moment.tv_sec += moment.tv_nsec / 1000000000;
    moment.tv_nsec %= 1000000000;
    return moment;
}

static void nap(void)
{
    struct timespec rest = {0, 400000000};
    nanosleep(&rest, NULL);
}

static int naps(void *unused)
{
    (void)unused;
    nap();
    return 7;
}

static void *wakes(void *unused)
{
    nap();
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, 1, 1);
    return unused;
}

static void *meets(void *unused)
{
    nap();
    pthread_barrier_wait(&barrier);
    return unused;
}

static void *idles(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void fortified(void)
{
    volatile nfds_t one = 1;
    volatile size_t room = 64;
    struct pollfd files[2] = {{ends[0], POLLIN, 0}, {ends[0], POLLIN, 0}};
    struct timespec time = {0, 2000000};
    char host[64] = "", bytes[64];
    begin();
    end("poll, fortified", poll(files, one, 2) == 0);
    begin();
    end("ppoll, fortified", ppoll(files, one, &time, NULL) == 0);
    begin();
    end("names, fortified", gethostname(host, room) == 0 && !strcmp(host, "node0"));
    begin();
    end("read, fortified", write(ends[1], "ab", 2) == 2 && read(ends[0], bytes, room) == 2);
}

static void of_c11(void)
{
    struct timespec time = {0, 2000000}, moment;
    mtx_t mutex;
    cnd_t condition;
    thrd_t thread;
    int result = 0;
    begin();
    end("thrd_sleep", thrd_sleep(&time, NULL) == 0);
    mtx_init(&mutex, mtx_timed), cnd_init(&condition), mtx_lock(&mutex);
    moment = in(CLOCK_REALTIME, 2000), begin();
    end("cnd_timedwait", cnd_timedwait(&condition, &mutex, &moment) == thrd_timedout);
    moment = in(CLOCK_REALTIME, 2000), begin();
    end("mtx_timedlock", mtx_timedlock(&mutex, &moment) == thrd_timedout);
    begin(), thrd_create(&thread, naps, NULL), thrd_join(thread, &result);
    end("thrd_join", result == 7);
}

static void of_threads(void)
{
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_t thread;
    struct timespec moment;
    int got;
    pthread_rwlock_rdlock(&lock);
    moment = in(CLOCK_REALTIME, 2000), begin();
    end("pthread_rwlock_timedwrlock", pthread_rwlock_timedwrlock(&lock, &moment) == ETIMEDOUT);
    moment = in(CLOCK_MONOTONIC, 2000), begin();
    got = pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &moment);
    end("pthread_rwlock_clockwrlock", got == ETIMEDOUT);
    pthread_create(&thread, NULL, idles, NULL);
    moment = in(CLOCK_REALTIME, 2000), begin();
    end("pthread_timedjoin_np", pthread_timedjoin_np(thread, NULL, &moment) == ETIMEDOUT);
    pthread_cancel(thread), pthread_join(thread, NULL);
    begin(), pthread_create(&thread, NULL, wakes, NULL);
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &word, 0, 0, NULL);
    end("a word, by the kernel", 1);
    pthread_join(thread, NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    begin(), pthread_create(&thread, NULL, meets, NULL), pthread_barrier_wait(&barrier);
    end("pthread_barrier_wait", 1);
    pthread_join(thread, NULL);
}

static void of_files(void)
{
    struct timespec time = {0, 2000000}, longer = {0, 50000000};
    struct epoll_event event = {.events = EPOLLIN};
    struct timeb first, second;
    sigset_t alarms, none;
    int file = epoll_create1(0), got;
    begin();
    end("epoll_pwait2", epoll_pwait2(file, &event, 1, &time, NULL) == 0);
    sigemptyset(&none), sigemptyset(&alarms), sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    after(2000, on), got = pselect(0, NULL, NULL, NULL, &longer, &none);
    end("an alarm in pselect's mask", got == -1 && errno == EINTR && rung == 1);
    after(2000, on), got = ppoll(NULL, 0, &longer, &none);
    end("an alarm in ppoll's mask", got == -1 && errno == EINTR && rung == 1);
    begin(), raise(SIGALRM), got = pselect(0, NULL, NULL, NULL, &longer, &none);
    end("an alarm before pselect", got == -1 && errno == EINTR && rung == 1);
    file = signalfd(-1, &alarms, 0);
    struct signalfd_siginfo found;
    after(2000, on), got = (int)read(file, &found, sizeof found);
    end("an alarm in a signalfd", got == sizeof found && found.ssi_signo == SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    begin(), ftime(&first), usleep(5000), ftime(&second);
    end("ftime", 1000 * (second.time - first.time) + second.millitm - first.millitm == 5);
}

static void of_sockets(void)
{
    static char bytes[1 << 20];
    struct timeval limit = {0, 2000};
    struct timespec time = {0, 2000000};
    struct iovec part = {bytes, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct aiocb pending = {.aio_fildes = ends[0], .aio_buf = bytes, .aio_nbytes = 1};
    const struct aiocb *operations[] = {&pending};
    int pair[2], got;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    begin(), got = (int)recv(pair[0], bytes, 1, 0);
    end("SO_RCVTIMEO in recv", got == -1 && errno == EAGAIN);
    begin(), got = (int)recvmsg(pair[0], &message, 0);
    end("SO_RCVTIMEO in recvmsg", got == -1 && errno == EAGAIN);
    begin(), got = (int)read(pair[0], bytes, 1);
    end("SO_RCVTIMEO in read", got == -1 && errno == EAGAIN);
    begin(), got = (int)recv(pair[0], bytes, 1, MSG_DONTWAIT);
    end("MSG_DONTWAIT", got == -1 && errno == EAGAIN);
    after(1000, on), got = (int)recv(pair[0], bytes, 1, 0);
    end("an alarm in SO_RCVTIMEO", got == -1 && errno == EINTR && rung == 1);
    begin(), got = (int)send(pair[0], bytes, sizeof bytes, 0);
    end("SO_SNDTIMEO within a send", got > 0 && got < (int)sizeof bytes);
    begin(), got = (int)write(pair[0], bytes, 1);
    end("SO_SNDTIMEO in write", got == -1 && errno == EAGAIN);
    aio_read(&pending), begin(), got = aio_suspend(operations, 1, &time);
    end("aio_suspend", got == -1 && errno == EAGAIN);
    if (write(ends[1], "x", 1) == 1)
        aio_suspend(operations, 1, NULL);
}

static void of_alarms(void)
{
    struct timespec moment;
    char byte;
    int got;
    sem_init(&semaphore, 0, 0);
    after(2000, posts);
    while (sem_wait(&semaphore))
        ;
    end("an alarm posts", rung == 1);
    after(2000, on), moment = in(CLOCK_REALTIME, 5000), got = sem_timedwait(&semaphore, &moment);
    end("an alarm in sem_timedwait", got == -1 && errno == EINTR && rung == 1);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    after(2000, on), moment = in(CLOCK_REALTIME, 5000),
                     got = pthread_mutex_timedlock(&mutex, &moment);
    end("an alarm in mutex_timedlock", got == ETIMEDOUT && rung == 1);
    after(2000, writes);
    while ((got = (int)read(ends[0], &byte, 1)) == -1 && errno == EINTR)
        ;
    end("an alarm writes into a pipe", got == 1 && rung == 1);
    after(2000, on), got = (int)read(ends[0], &byte, 1);
    end("an alarm in read", got == -1 && errno == EINTR && rung == 1);
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    after(2000, on), got = waitpid(child, NULL, 0);
    end("an alarm in waitpid", got == -1 && errno == EINTR && rung == 1);
    kill(child, SIGKILL), waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && pipe(ends) == 0) {
        fortified();
        of_c11();
        of_threads();
        of_files();
        of_sockets();
        of_alarms();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
