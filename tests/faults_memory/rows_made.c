/* rows_made.c - the rows that tools/checks/check_memory_table generates from autograd.h, nn.h and
 * optim.h. */
#include "faults_memory/faults.h"

#define ROWS "memory_made.h"
#define TABLE table_made
#define NAME "made"
#define PARTS OPTIMIZERS
#include "faults_memory/table.h"
