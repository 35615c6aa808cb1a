/* rows_tensor.c - the rows of tensor.h. */
#include "faults_memory/faults.h"

static const float data[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

/* The memory is the program's own. */
static void released(void *p, void *user)
{
    (void)p, (void)user;
}

#define ROWS "faults_memory/rows_tensor.h"
#define TABLE table_tensor
#define NAME "tensor"
#define PARTS 0
#include "faults_memory/table.h"
