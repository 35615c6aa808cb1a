/* template_lex.h - the tokens of a template, one after the other. */
#ifndef HEED_HF_TEMPLATE_LEX_H
#define HEED_HF_TEMPLATE_LEX_H

#include "hf/template.h"

typedef enum hd__token {
    HD__TOKEN_END,    /* of the text; also after a failure */
    HD__TOKEN_TEXT,   /* between two tags */
    HD__TOKEN_OUTPUT, /* {{ */
    HD__TOKEN_STATEMENT, /* {% */
    HD__TOKEN_CLOSE,     /* }} or %} */
    HD__TOKEN_NAME,
    HD__TOKEN_CONSTANT, /* a string or a number */
    HD__TOKEN_SIGN      /* "(", "==", ... */
} hd__token;

typedef struct hd__lexer {
    hd__run *r;
    const char *text;
    size_t n;
    hd__token token; /* the current one, */
    hd__value value; /* what it says: a text, a name, a constant or a sign, */
    size_t at, end;  /* and where it stands */
    size_t last;     /* where the one before it ends */
    char closes;     /* in {{ }} '}', in {% %} '%', outside 0 */
    int brackets;    /* open in the tag */
} hd__lexer;

/* The next token becomes the current one; the first call gives the first one. */
void hd__lex(hd__lexer *l);
/* Fails with HD_FORMAT at the current token: "found 'x': expected ..." */
void hd__lex_fail(hd__lexer *l, const char *expected);
/* Is the current token this name or sign? */
bool hd__lex_is(const hd__lexer *l, const char *text);

#endif
