/* A plugin for private ABI 57, which is one release's. */
#include "takes.h"

TAKES(57)
