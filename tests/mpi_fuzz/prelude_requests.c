/* Completion in all ways, checks of received data, and a run's frame. */
#include "prelude.h"

enum { MANY = 256 };

/* One pass over several requests by a call that may complete some; returns the count of completed
 * ones. */
static int complete_some(const char *how, int count, MPI_Request *open, MPI_Status *statuses,
                         int *done)
{
    MPI_Status found[MANY];
    int index = 0, flag = 0, many = 0, indices[MANY];
    if (strcmp(how, "Waitany") == 0 || strcmp(how, "Testany") == 0) {
        if (how[0] == 'W')
            MPI_Waitany(count, open, &index, found), flag = 1;
        else
            MPI_Testany(count, open, &index, &flag, found);
        if (!flag || index == MPI_UNDEFINED)
            return 0;
        many = 1, indices[0] = index;
    } else {
        if (how[0] == 'W')
            MPI_Waitsome(count, open, &many, indices, found);
        else
            MPI_Testsome(count, open, &many, indices, found);
        many = many == MPI_UNDEFINED ? 0 : many;
    }
    for (int one = 0; one < many; one++) {
        index = indices[one];
        if (index < 0 || index >= count || done[index])
            wrong("%s: request %d of %d completed twice", how, index, count);
        statuses[index] = found[one];
        done[index] = 1;
    }
    return many;
}

void finish(const char *how, int count, MPI_Request *requests, MPI_Status *statuses, int *codes)
{
    MPI_Request open[MANY];
    MPI_Status found[MANY];
    int from[MANY], done[MANY] = {0}, many = 0, flag = 0;
    for (int one = 0; one < count; one++)
        if (codes[one] < 0 && requests[one] != MPI_REQUEST_NULL)
            from[many] = one, open[many++] = requests[one];
    /* MPICH 5.0.2's MPI_Testall reports a single persistent collective operation as failed. */
    if (many == 1 && strcmp(how, "Testall") == 0)
        how = "Test";
    if (strcmp(how, "Waitall") == 0) {
        MPI_Waitall(many, open, found);
    } else if (strcmp(how, "Testall") == 0) {
        while (!flag)
            MPI_Testall(many, open, &flag, found);
    } else if (strcmp(how, "Wait") == 0) {
        for (int one = 0; one < many; one++)
            MPI_Wait(&open[one], &found[one]);
    } else if (strcmp(how, "Wait backwards") == 0) {
        for (int one = many - 1; one >= 0; one--)
            MPI_Wait(&open[one], &found[one]);
    } else if (strcmp(how, "Test") == 0) {
        for (int left = many; left > 0;)
            for (int one = 0; one < many; one++)
                if (!done[one]) {
                    MPI_Test(&open[one], &done[one], &found[one]);
                    left -= done[one] != 0;
                }
    } else if (strcmp(how, "Request_get_status") == 0) {
        /* MPICH 5.0.2 gives a persistent request's status only once. */
        for (int one = 0; one < many; one++) {
            for (flag = 0; !flag;)
                MPI_Request_get_status(open[one], &flag, &found[one]);
            MPI_Wait(&open[one], MPI_STATUS_IGNORE);
        }
    } else {
        for (int left = many; left > 0;)
            left -= complete_some(how, many, open, found, done);
    }
    for (int one = 0; one < many; one++) {
        requests[from[one]] = open[one];
        statuses[from[one]] = found[one];
        codes[from[one]] = MPI_SUCCESS;
    }
}

void finish_one(const char *how, MPI_Request *request)
{
    MPI_Status status;
    int code = -1;
    finish(how, 1, request, &status, &code);
}

static void *attached;

void attach(int messages, long bytes)
{
    /* MPI takes some more for each message than documented. */
    long size = bytes + (long)messages * (MPI_BSEND_OVERHEAD + 256) + 256;
    attached = malloc((size_t)size);
    if (!attached || size > INT32_MAX)
        MPI_Abort(MPI_COMM_WORLD, 8);
    MPI_Buffer_attach(attached, (int)size);
}

void detach(void)
{
    void *buffer;
    int size;
    MPI_Buffer_detach(&buffer, &size);
    free(attached);
}

void ready(int how, int partitions, MPI_Request *request)
{
    if (how % 3 == 0) {
        MPI_Pready_range(0, partitions - 1, *request);
        return;
    }
    for (int one = 0; one < partitions; one++)
        MPI_Pready(how % 3 == 1 ? one : partitions - 1 - one, *request);
}

void arrived(int how, int partitions, MPI_Request *request)
{
    if (how % 3 == 0)
        return;
    for (int one = 0; one < partitions; one++)
        for (int flag = 0; !flag;)
            MPI_Parrived(*request, how % 3 == 1 ? one : partitions - 1 - one, &flag);
}

static int class_of(int code)
{
    int class = 0;
    MPI_Error_class(code, &class);
    return class;
}

static void check(int step, message *one, const MPI_Status *status, int code, const sent *expected)
{
    int elements = 0, counted = 0, cancelled = 0, basic = 1, before = 0;
    long space = one->in.count * one->in.size,
         bytes = expected->bytes < space ? expected->bytes : space;
    MPI_Datatype type = one->in.type;
    if (expected->bytes <= space) {
        MPI_Get_elements(status, type, &elements);
        MPI_Get_count(status, type, &counted);
    }
    MPI_Test_cancelled(status, &cancelled);
    if (status->MPI_SOURCE != expected->source || status->MPI_TAG != expected->tag)
        wrong("step %d, message %d: from %d with tag %d, not from %d with tag %d", step,
              expected->name, status->MPI_SOURCE, status->MPI_TAG, expected->source, expected->tag);
    if (class_of(code) != (expected->bytes > space ? MPI_ERR_TRUNCATE : MPI_SUCCESS))
        wrong("step %d, message %d: error class %d", step, expected->name, class_of(code));
    if (expected->bytes <= space && one->in.size > 0) {
        /* A datatype has elements with one size; the status counts all that have arrived. */
        basic = elements ? (int)(bytes / elements) : 1;
        if ((long)elements * basic != bytes || (bytes && !elements))
            wrong("step %d, message %d: %d elements for %ld bytes", step, expected->name, elements,
                  bytes);
        if (counted != (bytes % one->in.size ? MPI_UNDEFINED : (int)(bytes / one->in.size)))
            wrong("step %d, message %d: a count of %d for %ld bytes", step, expected->name, counted,
                  bytes);
    }
    if (one->is_probed) {
        if (expected->bytes <= space)
            MPI_Get_elements(&one->probed, type, &before);
        if (one->probed.MPI_SOURCE != status->MPI_SOURCE ||
            one->probed.MPI_TAG != status->MPI_TAG || before != elements)
            wrong("step %d, message %d: the probe saw source %d, tag %d, %d elements", step,
                  expected->name, one->probed.MPI_SOURCE, one->probed.MPI_TAG, before);
    }
    room picture = picture_of(&one->to);
    lay(&picture, &one->in, 0, bytes, expected->key);
    if (expected->bytes > space)
        take_actual(&picture, &one->to, &one->in, 0,
                    space); /* undefined after a truncated receive */
    uint64_t hash = compare(&one->to, &picture, "message", step, expected->name);
    fprintf(record, "%d message %d: from %d tag %d count %d elements %d class %d cancelled %d",
            step, expected->name, status->MPI_SOURCE, status->MPI_TAG, counted, elements,
            class_of(code), cancelled);
    if (expected->bytes <= space)
        fprintf(record, " hash %016llx", (unsigned long long)hash);
    fputc('\n', record);
}

void got(int step, message *one, const MPI_Status *status, int code, const sent *expected)
{
    check(step, one, status, code, expected);
}

void got_parts(int step, message *one, const sent *expected)
{
    room picture = picture_of(&one->to);
    lay(&picture, &one->in, 0, expected->bytes, expected->key);
    same(step, expected->name, "parts", &one->to, &picture);
}

void got_any(int step, int count, message *messages, const MPI_Status *statuses, const int *codes,
             const sent *expected)
{
    int slot_of[MANY], taken[MANY] = {0};
    for (int one = 0; one < count; one++)
        slot_of[one] = -1;
    /* A sender's messages arrive in order, so the first slot with its source and tag holds the
     * first of them. */
    for (int slot = 0; slot < count; slot++)
        for (int one = 0; one < count && !taken[slot]; one++)
            if (slot_of[one] < 0 && expected[one].source == statuses[2 * slot].MPI_SOURCE &&
                expected[one].tag == statuses[2 * slot].MPI_TAG)
                slot_of[one] = slot, taken[slot] = 1;
    for (int one = 0; one < count; one++) {
        int slot = slot_of[one];
        if (slot < 0)
            wrong("step %d, message %d: no receive has found it", step, expected[one].name);
        else
            check(step, &messages[slot], &statuses[2 * slot], codes[2 * slot], &expected[one]);
    }
}

void begin_all(int *argc, char ***argv, int needed)
{
    const char *folder = getenv("FUZZ_RECORDS");
    char name[4096];
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    record = stdout;
    if (ranks != needed) {
        fprintf(stderr, "there must be %d ranks, not %d\n", needed, ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (folder) {
        snprintf(name, sizeof name, "%s/%d", folder, rank);
        record = fopen(name, "w");
        if (!record) {
            fprintf(stderr, "cannot write %s\n", name);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
}

int end_all(void)
{
    fputs("all done\n", record);
    fflush(record);
    MPI_Finalize();
    return 0;
}
