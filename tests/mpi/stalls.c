/* Ranks with threads that wait for each other: stalls KIND. A thread of each rank receives a
   message with tag 9. For a small letter no such message comes; for a capital one, a thread of
   rank 0 sends it after some seconds of real time. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 7 };

static int rank, size;
static char kind;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t begun;
static int received;

static void receive(int tag)
{
    MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void *helps(void *unused)
{
    if (kind == 'm')
        pthread_mutex_lock(&mutex);
    sem_post(&begun);
    receive(9);
    if (kind != 'm')
        pthread_mutex_lock(&mutex);
    received = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int helps_in_c11(void *unused)
{
    helps(unused);
    return 0;
}

static void computes(double seconds)
{
    struct timespec begin, now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &begin);
    now = begin;
    while ((double)(now.tv_sec - begin.tv_sec) < seconds)
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

/* Another process changes a word after a while. */
static void awaits_a_process(void)
{
    int *word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        computes(SECONDS);
        *word = 1;
        syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
        _exit(0);
    }
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0)
        syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
    waitpid(child, NULL, 0);
}

/* Rank 0's thread that sends, and calls MPI for the first time then. */
static void *sends(void *unused)
{
    struct timespec moment;
    char text[16];
    FILE *other;
    switch (kind) {
    case 'J': /* computes */
        computes(SECONDS);
        break;
    case 'S': /* sleeps */
        sleep(SECONDS);
        break;
    case 'T': /* waits with a time-out */
        clock_gettime(CLOCK_REALTIME, &moment);
        moment.tv_sec += SECONDS;
        pthread_mutex_lock(&mutex);
        while (pthread_cond_timedwait(&condition, &mutex, &moment) == 0)
            ;
        pthread_mutex_unlock(&mutex);
        break;
    case 'P': /* reads from a pipe */
        snprintf(text, sizeof text, "sleep %d", SECONDS);
        other = popen(text, "r");
        while (fgetc(other) != EOF)
            ;
        pclose(other);
        break;
    case 'X': /* waits for another process's word */
        awaits_a_process();
        break;
    }
    for (int other = 0; other < size; other++)
        MPI_Send(NULL, 0, MPI_BYTE, other, 9, MPI_COMM_WORLD);
    return unused;
}

int main(int argc, char **argv)
{
    int provided, slow;
    pthread_t helper, sender;
    thrd_t other;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    kind = argc > 1 ? argv[1][0] : 'j';
    slow = kind >= 'A' && kind <= 'Z';
    sem_init(&begun, 0, 0);
    if (rank == 0 && slow)
        pthread_create(&sender, NULL, sends, NULL);
    if (kind == 'o') {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 1)
                receive(9);
#pragma omp barrier
        }
    } else if (kind == 't') {
        thrd_create(&other, helps_in_c11, NULL);
        thrd_join(other, NULL);
    } else {
        pthread_create(&helper, NULL, helps, NULL);
        while (sem_wait(&begun))
            ;
        if (kind == 'b')
            receive(8);
        if (kind == 'c')
            pthread_mutex_lock(&mutex);
        while (kind == 'c' && !received)
            pthread_cond_wait(&condition, &mutex);
        if (kind == 'm')
            pthread_mutex_lock(&mutex);
        pthread_join(helper, NULL);
    }
    if (rank == 0 && slow)
        pthread_join(sender, NULL);
    if (rank == 0)
        printf("ended\n");
    MPI_Finalize();
    return 0;
}
