/* families.c - the tables of all differentiable functions, for the tests that walk them. */
#include "autograd/ops/families.h"

const hd__op_family *const hd__op_families[] = {
    &hd__ops_arith,  &hd__ops_inplace, &hd__ops_unary,     &hd__ops_view,    &hd__ops_part,
    &hd__ops_copy,   &hd__ops_index,   &hd__ops_reduce,    &hd__ops_softmax, &hd__ops_matmul,
    &hd__ops_random, &hd__ops_loss,    &hd__ops_attention,
};
const int hd__n_op_families = (int)(sizeof hd__op_families / sizeof hd__op_families[0]);
