/* Strikes a process at its n-th operation on files below one folder. To be preloaded.
 *
 * Operations are those that change files: creating, writing, syncing, renaming, making and removing
 * folders, removing files. The effect at the n-th one, and after it:
 *
 *   KILL    half of a write is written, any other operation is not done; then the process is killed
 *   POWER   the same, and all unsynced data is lost: those files become empty
 *   FULL    from then on no file can be created or written (ENOSPC), after half of a write; all
 * else continues LOCKED  from then on no operation is allowed (EROFS) BROKEN  from then on no file
 * can be synced (EIO)
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KILL, POWER, FULL, LOCKED, BROKEN };
enum { CREATE, WRITE, SYNC, RENAME, REMOVE };

#define FILES 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static long strike_at, done;
static int how;
static char watched[FILES]; /* by the number of the open file: it is below the folder */
static struct { dev_t device; ino_t inode; int copy; } dirty[FILES];
static int many_dirty;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Arms the strike; at 0 it only counts. */
void strike_arm(const char *folder, long at, int manner)
{
    snprintf(root, sizeof root, "%s", folder);
    strike_at = at;
    how = manner;
    done = 0;
}

long strike_count(void)
{
    return done;
}

static void die(void)
{
    if (how == POWER)
        for (int i = 0; i < many_dirty; i++)
            if (ftruncate(dirty[i].copy, 0) != 0)
                abort();
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* An operation is about to be done. Returns 0, an error, or -1 if the process is to be killed after
 * half of a write. */
static int strike(int operation)
{
    pthread_mutex_lock(&lock);
    int struck = ++done >= strike_at && strike_at > 0, first = done == strike_at;
    if (struck && first && (how == KILL || how == POWER)) {
        if (operation == WRITE)
            return -1; /* with the lock: no other thread acts meanwhile */
        die();
    }
    pthread_mutex_unlock(&lock);
    if (!struck)
        return 0;
    if (how == FULL && (operation == CREATE || operation == WRITE))
        return ENOSPC;
    if (how == LOCKED && operation != SYNC)
        return EROFS;
    if (how == BROKEN && operation == SYNC)
        return EIO;
    return 0;
}

static int below(int folder, const char *path)
{
    if (!root[0])
        return 0;
    if (path[0] == '/' || folder == AT_FDCWD)
        return strncmp(path, root, strlen(root)) == 0;
    char link[64], real[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, real, sizeof real - 1);
    if (length < 0)
        return 0;
    real[length] = 0;
    return strncmp(real, root, strlen(root)) == 0;
}

static int mine(int file)
{
    return file >= 0 && file < FILES && watched[file];
}

static void note(int file)
{
    struct stat about;
    if (how != POWER || fstat(file, &about) != 0)
        return;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < many_dirty && (dirty[i].inode != about.st_ino || dirty[i].device != about.st_dev))
        i++;
    if (i == many_dirty && many_dirty < FILES) {
        dirty[i].device = about.st_dev;
        dirty[i].inode = about.st_ino;
        dirty[i].copy = dup(file);
        many_dirty++;
    }
    pthread_mutex_unlock(&lock);
}

static void forget(int file)
{
    struct stat about;
    if (how != POWER || fstat(file, &about) != 0)
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < many_dirty; i++)
        if (dirty[i].inode == about.st_ino && dirty[i].device == about.st_dev) {
            REAL(close)(dirty[i].copy);
            dirty[i] = dirty[--many_dirty];
            break;
        }
    pthread_mutex_unlock(&lock);
}

#define FAIL(operation) \
    do { \
        int error = strike(operation); \
        if (error > 0) { \
            errno = error; \
            return -1; \
        } \
    } while (0)

static int opened(int file, int is_below, int flags)
{
    if (file >= 0 && file < FILES)
        watched[file] = is_below && (flags & O_ACCMODE) != O_RDONLY;
    return file;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); \
        va_end(rest); \
        int is_below = below(AT_FDCWD, path); \
        if (is_below && flags & O_CREAT) \
            FAIL(CREATE); \
        return opened(REAL(name)(path, flags, mode), is_below, flags); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); \
        va_end(rest); \
        int is_below = below(folder, path); \
        if (is_below && flags & O_CREAT) \
            FAIL(CREATE); \
        return opened(REAL(name)(folder, path, flags, mode), is_below, flags); \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int file)
{
    if (file >= 0 && file < FILES)
        watched[file] = 0;
    return REAL(close)(file);
}

ssize_t write(int file, const void *bytes, size_t length)
{
    if (mine(file)) {
        int error = strike(WRITE);
        if (error != 0 && length > 1)
            REAL(write)(file, bytes, length / 2);
        if (error < 0)
            die();
        if (error > 0) {
            errno = error;
            return -1;
        }
        note(file);
    }
    return REAL(write)(file, bytes, length);
}

ssize_t writev(int file, const struct iovec *parts, int many)
{
    if (mine(file)) {
        int error = strike(WRITE);
        if (error < 0)
            die();
        if (error > 0) {
            errno = error;
            return -1;
        }
        note(file);
    }
    return REAL(writev)(file, parts, many);
}

int fsync(int file)
{
    char link[64], real[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, real, sizeof real - 1);
    if (length > 0) {
        real[length] = 0;
        if (below(AT_FDCWD, real)) {
            FAIL(SYNC);
            forget(file);
        }
    }
    return REAL(fsync)(file);
}

int rename(const char *from, const char *to)
{
    if (below(AT_FDCWD, to))
        FAIL(RENAME);
    return REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    if (below(AT_FDCWD, path))
        FAIL(CREATE);
    return REAL(mkdir)(path, mode);
}

int unlink(const char *path)
{
    if (below(AT_FDCWD, path))
        FAIL(REMOVE);
    return REAL(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    if (below(folder, path))
        FAIL(REMOVE);
    return REAL(unlinkat)(folder, path, flags);
}

int rmdir(const char *path)
{
    if (below(AT_FDCWD, path))
        FAIL(REMOVE);
    return REAL(rmdir)(path);
}
