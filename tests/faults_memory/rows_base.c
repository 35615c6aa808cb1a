/* rows_base.c - the rows of base.h. */
#include "faults_memory/faults.h"

#define ROWS "faults_memory/rows_base.h"
#define TABLE table_base
#define NAME "base"
#define PARTS 0
#include "faults_memory/table.h"
