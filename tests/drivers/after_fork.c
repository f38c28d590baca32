/* SPDX-License-Identifier: MIT */
/* after_fork - starts CUDA, forks, and checks the errors in the child: a driver does not survive a fork. 77 without a
 * GPU. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cushim/cushim.h"

static int check_in_child(void)
{
    CUresult code = cushim_init();
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    printf("child: code %d, reason %s: %s %s\n", (int)code, diagnosis->reason_name, diagnosis->message,
           diagnosis->advice);
    fflush(stdout);
    return code == CUDA_ERROR_NOT_INITIALIZED && strcmp(diagnosis->reason_name, "forked") == 0 ? 0 : 1;
}

int main(void)
{
    int status = -1;
    CUresult code = cushim_init();
    if (code != CUDA_SUCCESS) {
        printf("no GPU here: %s\n", cushim_diagnosis_get()->message);
        return 77;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(check_in_child());
    waitpid(child, &status, 0);
    code = cushim_init();
    printf("parent: code %d, reason %s\n", (int)code, cushim_diagnosis_get()->reason_name);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && code == CUDA_SUCCESS ? 0 : 1;
}
