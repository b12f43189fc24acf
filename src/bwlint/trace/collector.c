/* What `bwlint trace` puts into the program that it runs, by CUDA_INJECTION64_PATH: the driver loads it at cuInit and
 * calls InitializeInjection. It asks CUPTI what ran and appends a line of JSON for each thing to a file of its own
 * process, so that what was seen is there however the program ends.
 *
 * No header of CUPTI is taken: the fields below lie at the same offsets in the records of CUPTI 12.0, 12.4, 12.8, 13.0
 * and 13.4 (CUpti_ActivityKernel9 to CUpti_ActivityKernel13, CUpti_ActivityJit2), and numbers of callbacks stay. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { KIND_KERNEL = 10, KIND_JIT = 52, DOMAIN_DRIVER = 1, DOMAIN_RESOURCE = 3, MODULE_LOADED = 6, FORCED = 1 };
enum { LAUNCH = 307, LAUNCH_PTSZ = 442, COOPERATIVE = 477, COOPERATIVE_PTSZ = 478, GRAPH = 514, GRAPH_PTSZ = 515,
       LAUNCH_EX = 652, LAUNCH_EX_PTSZ = 653 };
enum { BUFFER = 64 << 10, PERIOD_MS = 100, LONGEST_STACK = 16 << 10 };
static const size_t MOST_CUBINS = (size_t)1 << 30;

struct kernel { /* CUpti_ActivityKernel9, packed to 8 */
    uint32_t kind; uint8_t cache, shared; uint16_t registers; uint32_t carveout[2]; uint64_t start, end, completed;
    uint32_t device, context, stream; int32_t grid[3], block[3], fixed, dynamic; uint32_t local, local_total, correlation;
    int64_t grid_id; const char *name; void *reserved; uint64_t queued, submitted; uint8_t launch_type, more[7];
    uint64_t node; uint32_t carveout_used, graph; void *queue; uint32_t queue_id, channel; uint32_t cluster[3];
};
_Static_assert(offsetof(struct kernel, start) == 16 && offsetof(struct kernel, device) == 40, "CUpti_ActivityKernel9");
_Static_assert(offsetof(struct kernel, name) == 104 && offsetof(struct kernel, node) == 144, "CUpti_ActivityKernel9");
_Static_assert(offsetof(struct kernel, cluster) == 176, "CUpti_ActivityKernel9");
struct jit {
    uint32_t kind, entry, operation, device; uint64_t start, end; uint32_t correlation, padding; uint64_t unit, size;
    const char *path;
};
struct call { /* CUpti_CallbackData */
    int site; const char *function; const void *given; void *result; const char *symbol;
};
struct resource { void *context, *handle; void *described; };
struct module { uint32_t id; size_t size; const char *image; };

static struct {
    int (*Subscribe)(void **, void *, void *);
    int (*EnableCallback)(uint32_t, void *, int, uint32_t);
    int (*ActivityRegisterCallbacks)(void *, void *);
    int (*ActivityEnable)(int);
    int (*ActivityFlushAll)(uint32_t);
    int (*ActivityGetNextRecord)(uint8_t *, size_t, void **);
    int (*ActivityGetNumDroppedRecords)(void *, uint32_t, size_t *);
    int (*GetVersion)(uint32_t *);
} cupti;

static int out = -1, events, forked, over;
static pid_t owner;
static const char *folder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, flushing = PTHREAD_MUTEX_INITIALIZER;
static uint64_t launches, graph_launches;

/* Lines */

struct text { char *at; size_t size, room; };

static void grow(struct text *t, size_t more) {
    if (t->size + more <= t->room) return;
    size_t room = (t->size + more) * 2;
    char *at = realloc(t->at, room);
    if (at) t->at = at, t->room = room;
}

static void put(struct text *t, const char *form, ...) {
    va_list given;
    char small[256];
    va_start(given, form);
    int size = vsnprintf(small, sizeof small, form, given);
    va_end(given);
    grow(t, size);
    if (t->size + size <= t->room) memcpy(t->at + t->size, small, size), t->size += size;
}

static void quoted(struct text *t, const char *word, size_t size) {
    put(t, "\"");
    grow(t, size * 6);
    for (size_t i = 0; i < size && t->size + 6 <= t->room; i++) {
        unsigned char c = word[i];
        if (c == '"' || c == '\\') t->at[t->size++] = '\\', t->at[t->size++] = c;
        else if (c >= 0x20 && c < 0x7f) t->at[t->size++] = c;
        else t->size += sprintf(t->at + t->size, "\\u%04x", c < 0x80 ? c : 0xdc00 + c); /* as Python's surrogateescape */
    }
    put(t, "\"");
}

static void told(struct text *t, const char *key, const char *word) {
    put(t, "\"%s\": ", key);
    quoted(t, word, strlen(word));
}

/* One write for each batch of lines: the file is opened to append, so nothing of another thread comes between. */
static void flush(struct text *t) {
    for (size_t done = 0; done < t->size;) {
        ssize_t n = write(out, t->at + done, t->size - done);
        if (n <= 0) break;
        done += n;
    }
    free(t->at);
    memset(t, 0, sizeof *t);
}

static void wrong(const char *what, int code) {
    struct text t = {0};
    put(&t, "{"), told(&t, "error", what), put(&t, ", \"code\": %d}\n", code), flush(&t);
}

/* Kernels: one entry for each name, device, shape and shared memory */

struct row { struct kernel of; char *name; uint64_t count, ns, unsaid, unsaid_ns; int in_graph; };
static struct row *rows;
static uint32_t *slots, used, room;

static uint64_t mixed(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u ^ (h >> 29); }

static uint64_t key_of(const struct kernel *k) {
    uint64_t h = mixed((uintptr_t)k->name, (uint64_t)k->device << 32 | (uint32_t)k->dynamic);
    for (int i = 0; i < 3; i++)
        h = mixed(mixed(h, (uint64_t)(uint32_t)k->grid[i] << 32 | (uint32_t)k->block[i]), k->cluster[i]);
    return mixed(h, k->graph != 0);
}

static int same(const struct row *r, const struct kernel *k) {
    return r->of.device == k->device && r->of.dynamic == k->dynamic && r->of.fixed == k->fixed
        && !memcmp(r->of.grid, k->grid, sizeof k->grid) && !memcmp(r->of.block, k->block, sizeof k->block)
        && !memcmp(r->of.cluster, k->cluster, sizeof k->cluster) && r->in_graph == (k->graph != 0)
        && !strcmp(r->name, k->name);
}

static void place(uint32_t number) {
    uint64_t at = key_of(&rows[number].of);
    while (slots[at % (room * 2)]) at++;
    slots[at % (room * 2)] = number + 1;
}

static int widen(void) {
    uint32_t wide = room ? room * 2 : 1024;
    struct row *more = realloc(rows, wide * sizeof *rows);
    if (!more) return 0;
    rows = more;
    uint32_t *fresh = calloc(wide * 2, sizeof *slots);
    if (!fresh) return 0;
    free(slots), slots = fresh, room = wide;
    for (uint32_t i = 0; i < used; i++) place(i);
    return 1;
}

static void triple(struct text *t, const char *key, const int32_t *v) {
    put(t, ", \"%s\": [%d, %d, %d]", key, v[0], v[1], v[2]);
}

static struct row *row_of(const struct kernel *k, struct text *t) {
    if (used == room && !widen()) return NULL;
    for (uint64_t at = key_of(k); slots[at % (room * 2)]; at++) {
        struct row *r = &rows[slots[at % (room * 2)] - 1];
        if (same(r, k)) return r;
    }
    struct row *r = &rows[used];
    *r = (struct row){.of = *k, .name = strdup(k->name), .in_graph = k->graph != 0};
    if (!r->name) return NULL;
    place(used++);
    put(t, "{\"kernel\": %u, ", used - 1), told(t, "name", k->name), put(t, ", \"device\": %u", k->device);
    triple(t, "grid", k->grid), triple(t, "block", k->block), triple(t, "cluster", (const int32_t *)k->cluster);
    put(t, ", \"static_shared\": %d, \"dynamic_shared\": %d, \"registers\": %u, \"in_graph\": %s}\n", k->fixed,
        k->dynamic, k->registers, r->in_graph ? "true" : "false");
    return r;
}

/* Devices, by the driver that has loaded us */

static void device(uint32_t ordinal, struct text *t) {
    static uint64_t known;
    if (ordinal > 63 || known >> ordinal & 1) return;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*get)(int *, int) = driver ? dlsym(driver, "cuDeviceGet") : NULL;
    int (*name)(char *, int, int) = driver ? dlsym(driver, "cuDeviceGetName") : NULL;
    int (*attribute)(int *, int, int) = driver ? dlsym(driver, "cuDeviceGetAttribute") : NULL;
    int found, major, minor;
    char word[256] = "";
    if (!get || !name || !attribute || get(&found, ordinal) || name(word, sizeof word - 1, found)) return;
    if (attribute(&major, 75, found) || attribute(&minor, 76, found)) return;
    known |= (uint64_t)1 << ordinal;
    put(t, "{\"device\": %u, ", ordinal), told(t, "name", word), put(t, ", \"capability\": \"%d.%d\"}\n", major, minor);
}

/* What CUPTI hands us */

static void requested(uint8_t **buffer, size_t *size, size_t *most) {
    *most = 0;
    *size = BUFFER;
    *buffer = aligned_alloc(8, BUFFER);
    if (!*buffer) *size = 0;
}

static void ran(const struct kernel *k, struct text *t) {
    if (!k->end) return; /* still running where the end of the program has the buffers back */
    device(k->device, t);
    struct row *r = row_of(k, t);
    if (!r) return;
    r->unsaid++;
    r->unsaid_ns += k->end - k->start;
    if (events)
        put(t, "{\"event\": %u, \"start\": %llu, \"end\": %llu, \"stream\": %u}\n", (unsigned)(r - rows),
            (unsigned long long)k->start, (unsigned long long)k->end, k->stream);
}

static void compiled(const struct jit *j, struct text *t) {
    static const char *const operations[] = {"", "load", "store", "compile"};
    put(t, "{\"jit\": \"%s\", \"from\": \"%s\", \"device\": %u, \"size\": %llu, \"ns\": %llu",
        operations[j->operation & 3], j->entry == 1 ? "ptx" : "nvvm", j->device, (unsigned long long)j->size,
        (unsigned long long)(j->end - j->start));
    put(t, "}\n");
}

static void counts(struct text *t) {
    put(t, "{\"launches\": %llu, ", (unsigned long long)__atomic_load_n(&launches, __ATOMIC_RELAXED));
    put(t, "\"graph_launches\": %llu}\n", (unsigned long long)__atomic_load_n(&graph_launches, __ATOMIC_RELAXED));
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)size;
    struct text t = {0};
    void *record = NULL;
    size_t dropped = 0;
    pthread_mutex_lock(&lock);
    while (valid && cupti.ActivityGetNextRecord(buffer, valid, &record) == 0) {
        uint32_t kind = *(uint32_t *)record;
        if (kind == KIND_KERNEL) ran(record, &t);
        if (kind == KIND_JIT) compiled(record, &t);
    }
    for (uint32_t i = 0; i < used; i++)
        if (rows[i].unsaid) {
            put(&t, "{\"ran\": %u, \"count\": %llu, \"ns\": %llu}\n", i, (unsigned long long)rows[i].unsaid,
                (unsigned long long)rows[i].unsaid_ns);
            rows[i].unsaid = rows[i].unsaid_ns = 0;
        }
    if (cupti.ActivityGetNumDroppedRecords(context, stream, &dropped) == 0 && dropped)
        put(&t, "{\"dropped\": %zu}\n", dropped);
    if (t.size) counts(&t);
    flush(&t);
    pthread_mutex_unlock(&lock);
    free(buffer);
}

static void loaded(const struct module *m) {
    static size_t kept;
    struct text t = {0};
    uint64_t h = 0xcbf29ce484222325u;
    char path[4096], part[4096];
    for (size_t i = 0; i < m->size / 8; i++) h = mixed(h, ((const uint64_t *)m->image)[i]);
    int fits = snprintf(path, sizeof path, "%s/%016llx-%zu.cubin", folder, (unsigned long long)h, m->size) < 4000;
    put(&t, "{\"module\": %u, \"size\": %zu", m->id, m->size);
    if (fits && __atomic_add_fetch(&kept, m->size, __ATOMIC_RELAXED) <= MOST_CUBINS) {
        put(&t, ", "), told(&t, "file", strrchr(path, '/') + 1);
        if (access(path, F_OK)) {
            snprintf(part, sizeof part, "%s.%d-%u", path, (int)owner, m->id);
            int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
            size_t done = 0;
            for (ssize_t n; fd >= 0 && done < m->size && (n = write(fd, m->image + done, m->size - done)) > 0;) done += n;
            if (fd >= 0) close(fd);
            if (done == m->size) rename(part, path); else unlink(part);
        }
    }
    put(&t, "}\n");
    flush(&t);
}

/* The Python frames of this thread, by the function of CPython that works in signal handlers: it takes no lock and
 * allocates nothing, so the GIL need not be held. */
static void stack(struct text *t) {
    void *(*here)(void) = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    void (*dump)(int, void *) = dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
    int (*running)(void) = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    void *thread = here && dump && running && running() ? here() : NULL;
    int fd = thread ? memfd_create("bwlint-stack", MFD_CLOEXEC) : -1;
    if (fd < 0) return;
    dump(fd, thread);
    char *words = malloc(LONGEST_STACK);
    ssize_t size = words ? pread(fd, words, LONGEST_STACK, 0) : 0;
    close(fd);
    if (size > 0) put(t, ", \"stack\": "), quoted(t, words, size);
    free(words);
}

/* Kernels are named before they run: whoever crashes in one, or hangs, has it in his receipt. */
static void asked(const void *function, const char *symbol) {
    enum { MOST = 1 << 16 };
    static const void *seen[MOST];
    static uint32_t many;
    uint64_t at = mixed(0, (uintptr_t)function);
    const void *here;
    while ((here = __atomic_load_n(&seen[at % MOST], __ATOMIC_RELAXED)) && here != function) at++;
    if (here) return;
    pthread_mutex_lock(&lock);
    while (seen[at % MOST] && seen[at % MOST] != function) at++;
    int is_new = !seen[at % MOST] && many < MOST / 2;
    if (is_new) __atomic_store_n(&seen[at % MOST], function, __ATOMIC_RELAXED), many++;
    pthread_mutex_unlock(&lock);
    if (!is_new) return;
    struct text t = {0};
    put(&t, "{"), told(&t, "asked", symbol ? symbol : ""), stack(&t), put(&t, "}\n"), flush(&t);
}

static void called(void *user, int domain, uint32_t id, const void *data) {
    (void)user;
    if (forked) return;
    if (domain == DOMAIN_RESOURCE) {
        if (id == MODULE_LOADED) loaded(((const struct resource *)data)->described);
        return;
    }
    const struct call *call = data;
    if (domain != DOMAIN_DRIVER || call->site != 0) return;
    if (id == GRAPH || id == GRAPH_PTSZ) {
        __atomic_add_fetch(&graph_launches, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    asked(((const void *const *)call->given)[id == LAUNCH_EX || id == LAUNCH_EX_PTSZ], call->symbol);
}

/* Shared objects */

static unsigned long long objects;

static int object(struct dl_phdr_info *info, size_t size, void *given) {
    (void)size;
    if (info->dlpi_adds == objects) return 1;
    if (info->dlpi_name && info->dlpi_name[0] == '/') {
        put(given, "{"), told(given, "library", info->dlpi_name), put(given, "}\n");
    }
    return 0;
}

static int adds(struct dl_phdr_info *info, size_t size, void *given) {
    (void)size;
    *(unsigned long long *)given = info->dlpi_adds;
    return 1;
}

/* Names come again where something was loaded since; the reader takes each once. */
static void libraries(void) {
    struct text t = {0};
    dl_iterate_phdr(object, &t);
    dl_iterate_phdr(adds, &objects);
    flush(&t);
}

/* The ends of it */

static void *periodic(void *nothing) {
    struct timespec pause = {0, PERIOD_MS * 1000000L};
    for (uint64_t said = 0;;) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&flushing);
        if (!over) cupti.ActivityFlushAll(0), libraries();
        pthread_mutex_unlock(&flushing);
        uint64_t now = __atomic_load_n(&launches, __ATOMIC_RELAXED) + __atomic_load_n(&graph_launches, __ATOMIC_RELAXED);
        if (now == said) continue;
        said = now;
        struct text t = {0};
        counts(&t), flush(&t);
    }
    return nothing;
}

static void ended(void) {
    if (forked) return;
    pthread_mutex_lock(&flushing); /* CUPTI is taken down after us: the thread must be out of it */
    over = 1;
    cupti.ActivityFlushAll(0);
    cupti.ActivityFlushAll(FORCED);
    libraries();
    pthread_mutex_unlock(&flushing);
    struct text t = {0};
    counts(&t), put(&t, "{\"end\": true}\n"), flush(&t);
}

/* A child has no CUDA of ours, and must not end what it has not begun. */
static void in_child(void) { forked = 1; }

static void *library(void) {
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    void *found = NULL;
    const char *path = getenv("BWLINT_TRACE_CUPTI");
    for (int i = 0; !found && i < 3; i++) found = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD); /* the program's own */
    if (!found && path && *path) found = dlopen(path, RTLD_NOW);
    for (int i = 0; !found && i < 3; i++) found = dlopen(names[i], RTLD_NOW);
    return found;
}

static void begin(uint32_t version) {
    struct text t = {0};
    char word[4096];
    ssize_t size = readlink("/proc/self/exe", word, sizeof word - 1);
    put(&t, "{\"process\": %d, \"parent\": %d, \"cupti\": %u", (int)owner, (int)getppid(), version);
    if (size > 0) put(&t, ", \"program\": "), quoted(&t, word, size);
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size = fd < 0 ? 0 : read(fd, word, sizeof word);
    if (fd >= 0) close(fd);
    if (size > 0) put(&t, ", \"arguments\": "), quoted(&t, word, size - 1);
    put(&t, "}\n"), flush(&t);
}

static const char *start(void) {
    static const uint32_t launching[] = {LAUNCH, LAUNCH_PTSZ, COOPERATIVE, COOPERATIVE_PTSZ, GRAPH, GRAPH_PTSZ,
                                         LAUNCH_EX, LAUNCH_EX_PTSZ};
    uint32_t version = 0;
    void *subscriber = NULL;
    void *found = library();
    if (!found) {
        begin(0);
        return dlerror();
    }
#define FIND(name) if (!(cupti.name = dlsym(found, "cupti" #name))) return "CUPTI has no cupti" #name
    FIND(GetVersion);
    cupti.GetVersion(&version);
    begin(version);
    FIND(Subscribe);
    FIND(EnableCallback);
    FIND(ActivityRegisterCallbacks);
    FIND(ActivityEnable);
    FIND(ActivityFlushAll);
    FIND(ActivityGetNextRecord);
    FIND(ActivityGetNumDroppedRecords);
    int code = cupti.Subscribe(&subscriber, called, NULL);
    if (code) wrong("cuptiSubscribe: modules and launches are not seen", code);
    for (size_t i = 0; !code && i < sizeof launching / sizeof *launching; i++)
        if (cupti.EnableCallback(1, subscriber, DOMAIN_DRIVER, launching[i])) wrong("cuptiEnableCallback", launching[i]);
    if (!code && cupti.EnableCallback(1, subscriber, DOMAIN_RESOURCE, MODULE_LOADED)) wrong("no modules are seen", 0);
    if ((code = cupti.ActivityRegisterCallbacks(requested, completed))) wrong("cuptiActivityRegisterCallbacks", code);
    if ((code = cupti.ActivityEnable(KIND_KERNEL))) wrong("cuptiActivityEnable: kernels are not seen", code);
    if ((code = cupti.ActivityEnable(KIND_JIT))) wrong("cuptiActivityEnable: the JIT is not seen", code);
    return NULL;
}

__attribute__((visibility("default"))) int InitializeInjection(void) {
    static int done;
    folder = getenv("BWLINT_TRACE_FOLDER");
    if (done++ || !folder) return 1;
    char path[4096];
    owner = getpid();
    events = getenv("BWLINT_TRACE_EVENTS") != NULL;
    if (snprintf(path, sizeof path, "%s/%d.jsonl", folder, (int)owner) >= (int)sizeof path) return 1;
    out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (out < 0) return 1;
    const char *fault = start();
    if (fault) {
        wrong(fault, 0);
        return 1;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, periodic, NULL)) wrong("no thread: nothing is written before the end", 0);
    else pthread_detach(thread);
    pthread_atfork(NULL, NULL, in_child);
    atexit(ended);
    return 1;
}
