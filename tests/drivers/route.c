/* SPDX-License-Identifier: MIT */
/* Starts the driver on one of the ways to it, and prints the text of the code that cuInit returns. */
#include <stdio.h>
#include <string.h>

#if defined(ROUTE_TABLE)
#    include "cushim/cushim.h"
#    define INIT cushim_table()->Init_v1
#    define TEXT cushim_table()->GetErrorString_v1
#elif defined(ROUTE_LINKED)
int cuInit(unsigned flags);
int cuGetErrorString(int code, const char **text);
#    define INIT cuInit
#    define TEXT cuGetErrorString
#elif defined(ROUTE_FFNVCODEC)
#    include "ffnvcodec/dynlink_loader.h"
static CudaFunctions *cu;
#    define INIT cu->cuInit
#    define TEXT cu->cuGetErrorString
#else
#    include "cushim_untyped.h"
static int (*init)(unsigned flags);
static int (*get_text)(int code, const char **text);
#    define INIT init
#    define TEXT get_text
#endif

int main(void)
{
    const char *text = "";
#if defined(ROUTE_FFNVCODEC)
    if (cuda_load_functions(&cu, NULL) != 0)
        return 1;
#elif defined(ROUTE_POINTERS)
    cushim_fn found[] = {cushim_symbol_if_available("cuInit"), cushim_symbol_if_available("cuGetErrorString")};
    memcpy(&init, &found[0], sizeof init);
    memcpy(&get_text, &found[1], sizeof get_text);
#endif
    int code = (int)INIT(0);
    if (TEXT(code, &text) == 0)
        printf("%d %s\n", code, text);
    return 0;
}
