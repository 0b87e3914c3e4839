/* Rank 0's clocks and timers in simulated time. A line for each: its name, and how long it took by
 * MPI_Wtime, in us. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rung;
static volatile int threads;
static double begun;

static void on(int number)
{
    (void)number;
    rung++;
}

static void in_thread(union sigval value)
{
    threads += value.sival_int;
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

static void after(long us)
{
    struct itimerval span = {{0, 0}, {0, us}};
    setitimer(ITIMER_REAL, &span, NULL);
}

static timer_t made(int how, int number)
{
    timer_t timer;
    struct sigevent event = {
        .sigev_notify = how, .sigev_signo = number, .sigev_value.sival_int = 5};
    event.sigev_notify_function = in_thread;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    return timer;
}

static time_t time_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec;
}

static void *sleeps(void *unused)
{
    struct timespec rest = {0, 2000000};
    nanosleep(&rest, NULL);
    return unused;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        struct sigaction action = {.sa_handler = on};
        sigaction(SIGALRM, &action, NULL);
        sigaction(SIGUSR1, &action, NULL);

        begin(), alarm(1);
        unsigned left = sleep(3);
        end("alarm in sleep", left == 2 && rung == 1);
        begin(), after(2000);
        struct timespec asked = {0, 5000000}, rest = {0, 0};
        int got = nanosleep(&asked, &rest);
        end("setitimer in nanosleep", got == -1 && errno == EINTR && rest.tv_nsec == 3000000);
        begin(), ualarm(2000, 0), pause();
        end("ualarm in pause", rung == 1);
        begin(), after(2000);
        got = poll(NULL, 0, 10);
        end("setitimer in poll", got == -1 && errno == EINTR && rung == 1);
        begin(), after(2000);
        struct timeval time = {0, 10000};
        got = select(0, NULL, NULL, NULL, &time);
        got = got == -1 && errno == EINTR && rung == 1;
        end("setitimer in select", got && time.tv_usec == 8000);

        struct itimerval every = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
        begin(), setitimer(ITIMER_REAL, &every, NULL);
        while (rung < 5)
            sleep(1);
        setitimer(ITIMER_REAL, &none, NULL);
        usleep(5000);
        end("interval, five times", rung == 5);
        begin(), after(2000);
        while (!rung)
            ;
        end("setitimer in a loop", rung == 1);
        begin(), after(2000);
        while (!rung)
            MPI_Wtime();
        end("setitimer, reading clocks", rung == 1);

        timer_t timer = made(SIGEV_SIGNAL, SIGUSR1);
        struct itimerspec span = {{0, 0}, {0, 2000000}}, state;
        begin(), timer_settime(timer, 0, &span, NULL);
        usleep(1000);
        timer_gettime(timer, &state);
        usleep(9000);
        end("timer_create in usleep", rung == 1 && state.it_value.tv_nsec == 1000000);
        timer_delete(timer);
        sigset_t set;
        sigemptyset(&set), sigaddset(&set, SIGUSR1), sigprocmask(SIG_BLOCK, &set, NULL);
        timer = made(SIGEV_SIGNAL, SIGUSR1);
        begin(), timer_settime(timer, 0, &span, NULL);
        sigwait(&set, &got);
        end("timer_create in sigwait", got == SIGUSR1 && rung == 0);
        struct timespec short_time = {0, 2000000};
        begin(), got = sigtimedwait(&set, NULL, &short_time);
        end("sigtimedwait", got == -1 && errno == EAGAIN);
        timer = made(SIGEV_SIGNAL, SIGRTMIN), sigaddset(&set, SIGRTMIN);
        sigprocmask(SIG_BLOCK, &set, NULL);
        struct itimerspec often = {{0, 100000}, {0, 100000}};
        siginfo_t about;
        begin(), timer_settime(timer, 0, &often, NULL), usleep(1050);
        got = sigwaitinfo(&set, &about) == SIGRTMIN && about.si_overrun == 9;
        end("a blocked timer's overruns", got && timer_getoverrun(timer) == 9);
        timer_delete(timer);
        timer = made(SIGEV_THREAD, 0);
        span.it_interval.tv_nsec = 1000000;
        begin(), timer_settime(timer, 0, &span, NULL), usleep(7000);
        end("timer_create with threads", threads == 6 * 5);
        timer_delete(timer);

        int file = timerfd_create(CLOCK_MONOTONIC, 0);
        uint64_t count = 0;
        span.it_interval.tv_nsec = 500000;
        begin(), timerfd_settime(file, 0, &span, NULL);
        got = (int)read(file, &count, sizeof count);
        end("timerfd in read", got == sizeof count && count == 1);
        begin(), usleep(2000), got = (int)read(file, &count, sizeof count);
        end("timerfd counts", count == 4);
        span.it_interval.tv_nsec = 0;
        begin(), timerfd_settime(file, 0, &span, NULL);
        struct pollfd one = {.fd = file, .events = POLLIN};
        got = poll(&one, 1, 1000);
        end("timerfd in poll", got == 1);
        int epoll = epoll_create1(0);
        struct epoll_event event = {.events = EPOLLIN}, found;
        epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event);
        begin(), timerfd_settime(file, 0, &span, NULL);
        got = epoll_wait(epoll, &found, 1, -1);
        end("timerfd in epoll_wait", got == 1);
        begin(), timerfd_settime(file, 0, &span, NULL);
        fd_set files;
        FD_ZERO(&files);
        FD_SET(file, &files);
        got = select(file + 1, &files, NULL, NULL, NULL);
        end("timerfd in select", got == 1 && FD_ISSET(file, &files));

        struct rusage before, now;
        begin(), getrusage(RUSAGE_SELF, &before), usleep(2000), getrusage(RUSAGE_SELF, &now);
        end("getrusage", now.ru_utime.tv_usec - before.ru_utime.tv_usec == 2000);
        struct tms ticks;
        long tick = times(&ticks);
        begin(), usleep(20000);
        end("times", times(&ticks) - tick == 2);
        void *library = dlopen("libc.so.6", RTLD_NOW);
        int (*naps)(useconds_t);
        time_t (*seconds)(time_t *);
        *(void **)&naps = dlsym(library, "usleep");
        *(void **)&seconds = dlsym(library, "time");
        begin(), naps(2000);
        end("usleep of a handle", seconds(NULL) == time_of(CLOCK_REALTIME));
        pthread_t thread;
        begin(), pthread_create(&thread, NULL, sleeps, NULL), pthread_join(thread, NULL);
        end("sleep of a thread", 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
