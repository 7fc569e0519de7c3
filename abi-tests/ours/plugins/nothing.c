/* A shared object that registers nothing, but says that it was loaded. */
#include <stdio.h>

__attribute__((constructor)) static void load(void)
{
	fprintf(stderr, "nothing loaded\n");
}
