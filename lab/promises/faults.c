/* Fail the n-th call of one kind: loaded with LD_PRELOAD, armed by the process itself. Linux with glibc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE, OPEN, READ, WRITE, SYNC, RENAME, MKDIR, UNLINK, LOCK, ALLOC };

static int kind, code, lasting;
static long nth;
static size_t smallest;
static long *seen; /* shared with the process that forked us */

__attribute__((constructor)) static void begin(void) {
    seen = mmap(0, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Fail call number `number` of a kind with an error, and with `from_then_on` every later one; −1 kills the process. */
void faults_arm(int of, long number, int error, int from_then_on, size_t bytes) {
    nth = number, code = error, lasting = from_then_on, smallest = bytes, *seen = 0;
    __sync_synchronize();
    kind = of;
}
void faults_disarm(void) { kind = NONE; }
long faults_seen(void) { return *seen; }
void faults_count(void) { ++*seen; } /* for calls that are counted elsewhere */

static int fails(int of) {
    if (kind != of) return 0;
    long me = __sync_add_and_fetch(seen, 1);
    if (me != nth && !(lasting && me > nth)) return 0;
    if (code < 0) kill(getpid(), SIGKILL);
    errno = code;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALL(type, name, of, parameters, ...) \
    type name parameters { return fails(of) ? (type)-1 : REAL(name)(__VA_ARGS__); }
#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        return fails(OPEN) ? -1 : REAL(name)(path, flags, mode); \
    }
#define OPENS_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        return fails(OPEN) ? -1 : REAL(name)(folder, path, flags, mode); \
    }

OPENS(open) OPENS(open64) OPENS_AT(openat) OPENS_AT(openat64)
CALL(ssize_t, read, READ, (int file, void *to, size_t size), file, to, size)
CALL(ssize_t, pread64, READ, (int file, void *to, size_t size, off64_t at), file, to, size, at)
ssize_t write(int file, const void *from, size_t size) { /* messages to standard error pass */
    return file != 2 && fails(WRITE) ? -1 : REAL(write)(file, from, size);
}
CALL(ssize_t, pwrite64, WRITE, (int file, const void *from, size_t size, off64_t at), file, from, size, at)
CALL(ssize_t, writev, WRITE, (int file, const struct iovec *parts, int count), file, parts, count)
CALL(int, ftruncate64, WRITE, (int file, off64_t size), file, size)
CALL(int, fsync, SYNC, (int file), file)
CALL(int, fdatasync, SYNC, (int file), file)
CALL(int, rename, RENAME, (const char *from, const char *to), from, to)
CALL(int, renameat, RENAME, (int a, const char *from, int b, const char *to), a, from, b, to)
CALL(int, mkdir, MKDIR, (const char *path, mode_t mode), path, mode)
CALL(int, mkdirat, MKDIR, (int folder, const char *path, mode_t mode), folder, path, mode)
CALL(int, unlink, UNLINK, (const char *path), path)
CALL(int, unlinkat, UNLINK, (int folder, const char *path, int flags), folder, path, flags)
CALL(int, rmdir, UNLINK, (const char *path), path)
CALL(int, flock, LOCK, (int file, int how), file, how)

/* Memory: blocks of at least `smallest` bytes. NumPy's iterators crash without their buffers (2.4: `a == a.T`), so its blocks of
   a buffer's size at most, 8,192 numbers of eight bytes, are left alone: its smaller arrays with them. */
#define BUFFER (8192 * 8)
static int counts(size_t size, const void *caller) {
    Dl_info found;
    if (kind != ALLOC || size < smallest) return 0;
    return size > BUFFER || !dladdr(caller, &found) || !found.dli_fname || !strstr(found.dli_fname, "_multiarray_umath");
}
#define WANTING(size) (counts(size, __builtin_return_address(0)) && fails(ALLOC))
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
void *malloc(size_t size) { return WANTING(size) ? 0 : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
    return WANTING(count * size) ? 0 : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) { return WANTING(size) ? 0 : __libc_realloc(old, size); }
int posix_memalign(void **to, size_t align, size_t size) {
    if (WANTING(size)) return ENOMEM;
    return (*to = __libc_memalign(align, size)) ? 0 : ENOMEM;
}
void *aligned_alloc(size_t align, size_t size) {
    return WANTING(size) ? 0 : __libc_memalign(align, size);
}
static void *maps(void *at, size_t size, int protect, int flags, int file, off64_t from) {
    static void *(*real)(void *, size_t, int, int, int, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "mmap64");
    return (flags & MAP_ANONYMOUS) && size >= smallest && fails(ALLOC) ? MAP_FAILED : real(at, size, protect, flags, file, from);
}
void *mmap(void *at, size_t size, int protect, int flags, int file, off_t from) {
    return maps(at, size, protect, flags, file, from);
}
void *mmap64(void *at, size_t size, int protect, int flags, int file, off64_t from) {
    return maps(at, size, protect, flags, file, from);
}
