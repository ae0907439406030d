#ifndef DEFAULT_PAGES_H
#define DEFAULT_PAGES_H

/// Forgets the guarded memory of the parent, in a child made with `fork`, in which only one thread exists yet.
void default_forget_guarded_memory(void);

#endif
