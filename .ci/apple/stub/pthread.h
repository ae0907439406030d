// pthread(3): what the C target uses of it is in the header of the Darwin module.
#include <darwin_stub.h>
