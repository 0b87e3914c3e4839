/* The parts of everything.c, each in the file of its name. */
#ifndef EVERYTHING_H
#define EVERYTHING_H

void collectives(void);
void messages_and_types(void);
void requests(void);
void onesided(void);

#endif
