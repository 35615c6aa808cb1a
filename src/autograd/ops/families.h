/* families.h - the tables of all public differentiable functions, composed and in-place ones too.
 *
 * Each family's file ends in its table, which the library itself never reads. Tests walk the tables
 * and fail where a function has no gradcheck row. */
#ifndef HEED_OPS_FAMILIES_H
#define HEED_OPS_FAMILIES_H

/* The only list of the families: hd__ops_<name> is the table here, rows_<name> are its gradcheck
 * rows in tests/ops/rows_<name>.c. */
#define HD__FAMILIES(X)                                                                            \
    X(arith)                                                                                       \
    X(inplace)                                                                                     \
    X(unary)                                                                                       \
    X(view)                                                                                        \
    X(part)                                                                                        \
    X(copy)                                                                                        \
    X(index)                                                                                       \
    X(reduce)                                                                                      \
    X(softmax)                                                                                     \
    X(matmul)                                                                                      \
    X(random)                                                                                      \
    X(loss)                                                                                        \
    X(attention)

typedef struct hd__op_family {
    int n;
    const char *const *functions; /* "hd_mul" */
} hd__op_family;

#define HD__FAMILY(family, table)                                                                  \
    const hd__op_family family = {(int)(sizeof(table) / sizeof(table)[0]), table}

#define HD__DECLARE_FAMILY(name) extern const hd__op_family hd__ops_##name;
HD__FAMILIES(HD__DECLARE_FAMILY)

#endif
