/* families.h - the tables of all public differentiable functions, composed and in-place ones too.
 *
 * Each family's file ends in its table. Tests walk the tables and fail where a function has no row
 * of its own. */
#ifndef HEED_OPS_FAMILIES_H
#define HEED_OPS_FAMILIES_H

typedef struct hd__op_family {
    const char *name;
    int n;
    const char *const *functions; /* "hd_mul" */
} hd__op_family;

#define HD__FAMILY(family, table)                                                                  \
    const hd__op_family family = {#family, (int)(sizeof(table) / sizeof(table)[0]), table}

extern const hd__op_family hd__ops_arith, hd__ops_inplace, hd__ops_unary, hd__ops_view,
    hd__ops_part, hd__ops_copy, hd__ops_index, hd__ops_reduce, hd__ops_softmax, hd__ops_matmul,
    hd__ops_random, hd__ops_loss, hd__ops_attention;
extern const hd__op_family *const hd__op_families[]; /* families.c */
extern const int hd__n_op_families;

#endif
