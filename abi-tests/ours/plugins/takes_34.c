/* A plugin for private ABI 34, of which nothing in the file says the release. */
#include "takes.h"

TAKES(34)
