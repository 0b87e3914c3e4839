/* What the test programs share: who is who, payloads that can be checked, messages, a digest of
 * what was received.
 *
 * Everything that is received is compared with what must have been sent, byte by byte. Rank 0
 * writes the lines of output, so that their order is that of the program. Whatever is wrong goes to
 * standard error and ends all ranks with exit code 1.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <stdint.h>

/* This process, and how many there are. */
extern int rank, ranks;

/* Whether lines are written that differ from run to run on real hardware: orders of arrival, times
 * (--no-order). */
extern int order_shown;

/* Starts MPI and reads the options; at least `least` processes. */
void check_begin(int *argc, char ***argv, int least);

/* Ends the program with 0. */
int check_end(void);

/* Ends all ranks with a message unless the condition holds. */
void require(int condition, const char *format, ...);

/* A line from rank 0. */
void say(const char *format, ...);

/* The same, if orders are shown. */
void say_order(const char *format, ...);

/* The name of a message: who sends to whom, and a number. */
uint64_t key_of(int from, int to, int number);

/* Writes the content that a key stands for; compares received content with it, and takes it into
 * this rank's digest. */
void fill(void *memory, size_t size, uint64_t key);
void expect(const void *memory, size_t size, uint64_t key, const char *what);

/* Takes data that was checked otherwise into this rank's digest. */
void digest(const void *memory, size_t size);

/* Ends a section: rank 0 writes its name and the digest of all ranks. */
void section(const char *name);

#endif
